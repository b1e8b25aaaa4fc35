"""What an expression is over all cases: constants that are really constant, and nothing else."""

from collections.abc import Mapping

import pytest

from regraft.core.expression_cases import decide, values
from regraft.core.expression_known import Defined, Exactly, Fields, Known, OneOf, Path, Unknown
from regraft.core.expression_models import is_open
from regraft.core.expression_search import Memo
from regraft.core.expression_text import parse_expression
from regraft.core.expression_value import value_of
from regraft.core.workflow_trees import reference


class Table:
    """Names from a table; whatever is not in it is unknown."""

    def __init__(self, **known: Known) -> None:
        self.table: Mapping[str, Known] = {name.replace("__", "."): one for name, one in known.items()}
        self.asked: list[str] = []

    def known(self, path: Path) -> Known:
        self.asked.append(".".join(path))
        return self.table.get(".".join(path).lower().removesuffix("()"), Unknown())


def value(text: str, **known: Known) -> bool | None:
    decision = decide(parse_expression(text), Table(**known))
    assert not decision.too_many
    assert decision.failed is None
    return decision.value


RESULTS = OneOf(("success", "failure", "cancelled", "skipped"))


@pytest.mark.parametrize(
    "text",
    [
        "a || !a",
        "a == 'x' || a != 'X'",
        "a == b || b != a",
        "a.*",
        "contains(github.event.pull_request.labels.*.name, 'x') || !contains(github.event.pull_request.labels.*.name, 'x')",
        "toJSON(needs) == '{}' || toJSON(needs) != '{}'",
        "(a == 1 && 'one' || 'none') != ''",
        "always() || a",
        "inputs.X || !inputs['x']",
        "a == 'x' && contains(a, 'X') || a != 'x'",
        "success() || !success()",
        "a != '' || !a",
        " && ".join(f"(a{one} == 'x' || a{one} != 'x')" for one in range(20)),
        "format('{0}', a) == format('{0}', a) || a",
    ],
)
def test_always_true(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "a && !a",
        "a == 'x' && a == 'y'",
        "a && b && fromJSON(c).d && false",
        "a == 'X' && a != 'x'",
        "startsWith(a, 'refs/tags/') && a == 'refs/heads/main'",
        "!a && a == 'x'",
        "a.*.name == 'x'",
        "a == 'x' && case(a == 'y', true, false)",
        "contains(fromJSON('[\"x\", \"y\"]'), a) && a == 'z'",
        "success() == 'true'",
        "(a || 'main') == ''",
        " && ".join(f"(a{one} || b{one})" for one in range(20)) + " && (c && !c)",
    ],
)
def test_never_true(text: str) -> None:
    assert value(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a == 'x'",
        "a == 0 && a",  # '0' is not empty, and equals 0
        "a == true && a != 1 || a",
        "a == '0xA' && a != 10",  # so is '0XA', which is no number
        "a == 'Infinity' && !(a > 1)",
        "a == b",
        "a == 'x' && b == 'x' && a != b || a",
        "a < 'x'",
        "contains(a, 'x')",
        "fromJSON(a || '{}').key",
        "a == a",  # not so if it is NaN
        "hashFiles('A') != '' && hashFiles('a') == ''",
        "a[b] && !a[c]",
        "format('{0}{1}', a, b) == 'xy'",
        "a == null && a",
        "success() && failure()",
        "fromJSON(a) == fromJSON(a)",
    ],
)
def test_either(text: str) -> None:
    assert value(text) is None


def test_text_equals_itself() -> None:
    assert value("a == a", a=Unknown(kind="text")) is True


def test_known_values() -> None:
    assert value("github.event_name == 'push' && a", github__event_name=Exactly("pull_request")) is False
    assert value("inputs.debug == true", inputs__debug=OneOf(("true", "false"))) is False
    assert value("inputs.debug == 'true'", inputs__debug=OneOf((True, False))) is False
    assert value("inputs.debug", inputs__debug=OneOf(("true", "false"))) is True
    assert value("fromJSON(x || '{}').key == 'a'", x=Exactly("")) is False
    assert value("fromJSON(x || '{}').key == 'a'", x=Exactly('{"KEY": "A"}')) is True
    assert value("a.b[0].c == 'd'", a__b=Exactly(value_of([{"c": "D"}]))) is True
    assert value("a > 1", a=OneOf((2.0, 3.0))) is True
    assert value('contains(fromJSON(\'["push", "schedule"]\'), e)', e=OneOf(("push", "schedule"))) is True


def test_results_of_needed_jobs() -> None:
    known: dict[str, Known] = {
        "needs": Fields(("a", "b")),
        "needs__a__result": Exactly("skipped"),
        "needs__b__result": RESULTS,
    }
    assert value("contains(needs.*.result, 'skipped')", **known) is True
    assert value("contains(needs.*.result, 'failure')", **known) is None
    assert value("contains(needs.*.result, 'failure') && needs.b.result == 'success'", **known) is False
    assert value("!contains(needs.*.result, 'none')", **known) is True
    assert value("contains(needs.*.result, 'failure')", needs=Fields(("a",))) is None
    assert value("contains(needs.*.outputs.x, '')", needs=Fields(("a",)), needs__a__outputs__x=Exactly("")) is None
    assert value("join(needs.*.result, ',') == 'skipped,success'", **known) is None


def test_not_cancelled() -> None:
    known: dict[str, Known] = {"needs__a__result": Exactly("failure"), "success": Exactly(value=False)}
    assert value("success() && needs.a.result == 'failure'", **known) is False
    assert value("!cancelled() && needs.a.result == 'failure'", **known) is None
    assert value("!cancelled() && needs.a.result == 'failure'", cancelled=Exactly(value=False), **known) is True


def test_one_thing_is_one_variable_in_all_its_places() -> None:
    outer = Table(github__event_name=Exactly("push"))
    inner = Table(
        inputs__a=Defined(parse_expression("inputs.run"), outer),
        inputs__b=Defined(parse_expression("!inputs.run"), outer),
        inputs__c=Defined(parse_expression("github.event_name == 'push' && 'x' || 'y'"), outer),
    )
    assert decide(parse_expression("inputs.a || inputs.b"), inner).value is True
    assert decide(parse_expression("inputs.a && inputs.b"), inner).value is False
    assert decide(parse_expression("inputs.a || inputs.run"), inner).value is None
    assert decide(parse_expression("inputs.c == 'x'"), inner).value is True


def test_a_constant_behind_names_is_a_case_of_its_own() -> None:
    outer = Table()
    inner = Table(a=Defined(parse_expression("x || 'main'"), outer), b=Defined(parse_expression("'release'"), outer))
    assert decide(parse_expression("a == b && a == 'main'"), inner).value is False
    assert decide(parse_expression("a == b && a == 'release'"), inner).value is None


def test_what_leads_back_to_itself_is_unknown() -> None:
    names = Table()
    names.table = {"a": Defined(parse_expression("b"), names), "b": Defined(parse_expression("!a"), names)}
    assert (
        decide(parse_expression("a || !a"), names).value is None
        or decide(parse_expression("a || !a"), names).value is True
    )
    assert decide(parse_expression("a"), names).value is None


def test_a_long_way_is_unknown_and_no_mistake() -> None:
    names = Table()
    names.table = {f"a{at}": Defined(parse_expression(f"!!!a{at + 1} || a{at + 1}"), names) for at in range(200)}
    assert decide(parse_expression("a0 && !a0"), names).value is not True


def test_what_is_not_in_the_cone_is_not_asked_for() -> None:
    names = Table(a=Exactly(value=False))
    decision = decide(parse_expression("a && b.c == d.e"), names)
    assert decision.value is False
    assert [leaf.path for leaf in decision.leaves] == [("a",)]
    assert decision.cases == 1


def test_a_name_is_asked_for_once() -> None:
    memo, names = Memo(), Table(a=Exactly(value=True))
    for _ in range(3):
        for text in ("a && b == 'x'", "A || b"):
            assert decide(parse_expression(text), names, memo).cases <= 3
    assert sorted(names.asked) == ["a", "b"]


def test_what_decides_is_told() -> None:
    decision = decide(
        parse_expression("x && github.event_name == 'push' && y"), Table(github__event_name=Exactly("schedule"))
    )
    assert [leaf.path for leaf in decision.leaves] == [("github", "event_name")]
    inner = Table(a=Defined(parse_expression("b == 'x'"), outer := Table(b=Exactly("y"))))
    decision = decide(parse_expression("c || a"), inner)
    assert decision.value is None
    decision = decide(parse_expression("c && a"), inner)
    assert [(leaf.path, leaf.names) for leaf in decision.leaves] == [(("a",), inner), (("b",), outer)]


def test_a_case_of_each_kind_is_told() -> None:
    decision = decide(parse_expression("a == 'run' && !b"), Table())
    assert decision.true is not None
    assert [(one.text, one.value) for one in decision.true] == [("a", "'run'"), ("b", "no value")]
    assert decision.false is not None
    assert decide(parse_expression("a || true"), Table()).false is None


def test_a_failing_evaluation_is_no_constant() -> None:
    assert decide(parse_expression("fromJSON('{')"), Table()).failed == "Error parsing JSON when evaluating fromJson"
    assert decide(parse_expression("fromJSON('{') || a || true"), Table()).value is None
    assert decide(parse_expression("a || fromJSON('{')"), Table(a=Exactly("x"))).value is True
    assert decide(parse_expression("case(a, 1, 2)"), Table(a=Exactly("x"))).failed is not None


def test_too_many_cases_are_said() -> None:
    text = " && ".join(f"(a{one} || b{one})" for one in range(12))
    decision = decide(parse_expression(f"({text}) && ({text.replace('(a', '!(a')})"), Table())
    assert decision.too_many
    assert decision.value is None


@pytest.mark.slow
def test_hostile_expressions_end() -> None:
    names = Table()
    names.table = {
        f"a{at}": Defined(parse_expression(f"a{at + 1} && a{at + 1} == b || a{at + 1}"), names) for at in range(60)
    }
    assert decide(parse_expression("a0 && !a0"), names).value is not True
    long = " || ".join(f"contains(a{one}, b{one})" for one in range(500))
    assert decide(parse_expression(f"{long} && false"), Table()).value is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("github.event_name == 'push' && 'a' || 'b'", ("a", "b")),
        ("format('x-{0}', os)", ("x-u", "x-w")),
        ("os == 'u'", (True, False)),
        ("github.ref", None),
        ("github.ref == 'x' && github.ref || 'y'", ("x", "y")),
        ("fromJSON('[')", None),
    ],
)
def test_all_values(text: str, found: object) -> None:
    assert values(parse_expression(text), Table(os=OneOf(("u", "w")))) == found


def test_many_values_are_not_listed() -> None:
    many = Table(a=OneOf(tuple(map(str, range(65)))))
    assert values(parse_expression("a"), many) is None
    assert values(parse_expression("a"), many, most=65) == tuple(map(str, range(65)))


def opens(given: str, text: str) -> bool:
    """Whether `text` is seen to be open inside of a place that `given` is the condition of."""
    outside, inside = Table(), Table()
    inside.table = {one: Defined(reference(one), outside) for one in "abc"} | {
        "#given": Defined(parse_expression(given), outside)
    }
    return is_open(parse_expression(text), reference("#given"), inside)


@pytest.mark.parametrize(
    ("given", "text"),
    [("a", "a == 'y'"), ("a && b == 'x'", "c"), ("a || b", "contains(a, 'x')"), ("a", "b && c")],
)
def test_a_few_cases_show_that_it_is_open_where_something_is_given(given: str, text: str) -> None:
    assert opens(given, text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("a && b", "a"),
        ("a && b", "a == 'y' && a == 'z'"),
        ("b && a == 'x'", "a == 'x' || c"),
        ("b && a != 'x'", "a == 'x'"),
    ],
)
def test_what_is_constant_where_something_is_given_is_not_open(given: str, text: str) -> None:
    """Also where more is asked than of what is given: `a` is not two texts at once."""
    assert not opens(given, text)
