"""Exact values: what is not among GitHub's own cases, or must hold where those are not at hand."""

from collections.abc import Sequence

import pytest

from regraft.core.expression_evaluate import evaluate
from regraft.core.expression_text import parse_expression
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_value import (
    Object,
    Value,
    equal,
    folded,
    greater,
    kind_of,
    object_of,
    plain_of,
    text_of,
    truthy,
    value_of,
)


def result(text: str, **contexts: object) -> object:
    return plain_of(evaluate(parse_expression(text), {name: value_of(one) for name, one in contexts.items()}))


def failure(text: str, **contexts: object) -> str:
    with pytest.raises(ExpressionError) as caught:
        result(text, **contexts)
    assert caught.value.kind == "evaluation"
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'Push' == 'pUSH'", True),
        ("true == 'true'", False),
        ("true == '1'", True),
        ("'' == false", True),
        ("null == ''", True),
        ("'0' == false && !!'0'", True),
        ("false == 'false'", False),
        ("fromJSON('[]') == ''", False),
        ("!fromJSON('{}')", False),
        ("a.b == a.b", True),
        ("fromJSON('{}') == fromJSON('{}') || 'differs'", True),
        ("'ab' < 'B'", True),
        ("'straße' == 'STRASSE'", False),
        ("1 < 'x' || 1 >= 'x'", False),
        ("contains(a.*.c, 'D')", True),
        ("format('{0}-{1}-{0}', 1e15, 0.1)", "1E+15-0.1-1E+15"),
        ("a['B']['c']", "d"),
        ("toJSON(a.b.c)", '"d"'),
        ("0xffffffff", -1.0),
        ("case(a.b.c == 'd', 'yes', fromJSON(''))", "yes"),
    ],
)
def test_values(text: str, value: object) -> None:
    found = result(text, a={"b": {"c": "d"}})
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "false && fromJSON('')",
        "true || fromJSON('')",
        "format('x', fromJSON(''))",
        "contains(fromJSON('[]'), fromJSON(''))",
    ],
)
def test_what_is_not_needed_is_not_evaluated(text: str) -> None:
    result(text)


@pytest.mark.parametrize(
    "text", ["fromJSON('')", "fromJSON('{')", "github.ref", "success()", "case(1, 2, 3)", "format('{1}', 1)"]
)
def test_what_fails(text: str) -> None:
    assert failure(text)


def test_status_functions_and_hash_files_are_given() -> None:
    def hashed(values: Sequence[Value]) -> Value:
        return "+".join(str(one) for one in values)

    tree = parse_expression("!cancelled() && hashFiles('a', 'b')")
    assert evaluate(tree, {}, {"cancelled": lambda _: False, "hashfiles": hashed}) == "a+b"


def test_hostile_json_is_a_mistake() -> None:
    assert "MaxDepth" in failure("fromJSON(a)", a="[" * 65 + "]" * 65)
    assert failure("fromJSON(a)", a="[" * 100_000)
    assert result("fromJSON(a)", a="[" * 64 + "]" * 64)
    assert result("fromJSON(a)", a="9" * 10_000) == float("inf")


def test_memory_is_bounded() -> None:
    assert "maximum allowed memory" in failure("format('{0}{0}{0}', a)", a="x" * 200_000)
    assert failure("format(format('{0}{0}{0}{0}{0}', a), a)", a="x" * 110_000)
    assert result("format('{0}', a) == a && format('{0}', a) == a", a="x" * 110_000) is True


def test_of_keys_that_differ_in_case_the_first_counts() -> None:
    found = object_of({"Key": 1.0, "KEY": 2.0, "": None})
    assert found.get("key") == 1.0
    assert found.has("")
    assert not Object().has("")


def test_a_whole_number_is_a_number() -> None:
    assert [kind_of(1), text_of(1), truthy(0), equal(1, "1"), greater(2, 1.5)] == ["Number", "1", False, True, True]


def test_case_is_folded_letter_by_letter() -> None:
    assert folded("straße ıſ ς") == "STRAßE ıſ Σ"
