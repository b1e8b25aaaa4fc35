"""Expressions as they are written: trees, places, GitHub's limits, and `${{ }}` in a text."""

import pytest

from regraft.core.expression_text import condition_mistake, mistakes, parse_expression, read_condition, value_parts
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Constant, Context, Every, Expression, Key, Logic, Not
from regraft.core.workflow_values import Place, Text


def text(value: str, *, plain: bool = True) -> Text:
    return Text(value, Place("w.yml", 1), plain=plain)


def refused(written: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(written)
    return caught.value


def test_dots_and_brackets_are_one_thing() -> None:
    dotted = parse_expression("needs.build-x.result")
    indexed = parse_expression("NEEDS['build-x'][ 'result' ]")
    assert dotted == Key(Key(Context("needs", 0), Constant("build-x", 6), 5), Constant("result", 14), 13)
    assert indexed == Key(Key(Context("needs", 0), Constant("build-x", 6), 5), Constant("result", 18), 16)


def test_a_star_is_every_item() -> None:
    assert parse_expression("a.*.b") == Key(Every(Context("a", 0), 1), Constant("b", 4), 3)
    assert parse_expression("a[*]") == Every(Context("a", 0), 1)


def test_precedence() -> None:
    tree = parse_expression("!a || b && c == d < e")
    assert isinstance(tree, Logic)
    assert tree.operator == "||"
    assert isinstance(tree.items[0], Not)
    both = tree.items[1]
    assert isinstance(both, Logic)
    assert both.operator == "&&"
    equal = both.items[1]
    assert isinstance(equal, Compare)
    assert equal.operator == "=="
    assert isinstance(equal.right, Compare)


def test_a_chain_is_one_tree() -> None:
    tree = parse_expression("a && b && (c && d)")
    assert isinstance(tree, Logic)
    assert len(tree.items) == 3


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0xFF", 255),
        ("0o17", 15),
        ("-1.5e-2", -0.015),
        (".5", 0.5),
        ("+.5", 0.5),
        ("2.", 2),
        ("-Infinity", float("-inf")),
        ("'it''s ''x'''", "it's 'x'"),
        ("''", ""),
        ("null", None),
        ("  true\n", True),
        ("", None),
    ],
)
def test_literals(written: str, value: Expression) -> None:
    tree = parse_expression(written)
    assert isinstance(tree, Constant)
    assert tree.value == value
    assert type(tree.value) is type(value) or isinstance(tree.value, float)


def test_functions_are_known_in_any_case_and_have_their_arity() -> None:
    assert parse_expression("toJSON(x)") == Call("tojson", (Context("x", 7),), 0)
    assert "Unrecognized function: 'nope'" in refused("nope()").message
    assert "Too few parameters supplied: 'hashFiles'" in refused("hashFiles()").message
    assert "Too many parameters supplied: 'always'" in refused("always(1)").message


@pytest.mark.parametrize(
    ("written", "at"),
    [("f(1,)", 4), ("'a'.b", 3), ("a.", 1), ("foo*", 0), ("True 1", 5), ("contains(a", 9), ("[1]", 0), ("1 'a'", 2)],
)
def test_what_is_refused_has_a_place(written: str, at: int) -> None:
    assert refused(written).at == at


def test_what_githubs_limits_refuse() -> None:
    assert refused("a" * 21_001).message == "Exceeded max expression length 21000"
    assert parse_expression("a" * 21_000) == Context("a" * 21_000)
    assert refused("(" * 50 + "1" + ")" * 50).message == "Exceeded max expression depth 50"
    assert isinstance(parse_expression("(" * 49 + "1" + ")" * 49), Constant)
    assert refused("(" * 20_000).message == "Exceeded max expression depth 50"
    assert refused("!" * 20_000).message == "Exceeded max expression depth 50"


def test_parts_of_a_text() -> None:
    value = "a ${{ 'x }} y' }}${{b}} c"
    parts = value_parts(value)
    assert [part.text for part in parts] == ["a ", " 'x }} y' ", "b", " c"]
    assert [value[part.at : part.at + len(part.text)] for part in parts] == [part.text for part in parts]
    assert [part.literal for part in parts] == [True, False, False, True]
    assert [part.expression for part in parts] == [None, Constant("x }} y", 1), Context("b"), None]
    assert list(mistakes(value, parts)) == []
    assert value_parts("") == ()


@pytest.mark.parametrize(
    ("value", "at", "message"),
    [
        ("echo ${{ a", 5, "The expression is not closed"),
        ("echo ${{ 'a }}", 5, "The expression is not closed"),
        ("echo ${{ }}", 8, "An expression was expected"),
        ("echo ${{ a b }}", 11, "Unexpected symbol: 'b'"),
    ],
)
def test_mistakes_in_a_text_have_its_places(value: str, at: int, message: str) -> None:
    found = list(mistakes(value, value_parts(value)))
    assert [error.at for error in found] == [at]
    assert found[0].message.startswith(message)


@pytest.mark.parametrize("value", ["${{ a.b }}", "a.b", " a.b "])
def test_a_condition_with_and_without_braces(value: str) -> None:
    condition = read_condition(text(value))
    assert isinstance(condition.expression, Key)
    assert not condition.padded


@pytest.mark.parametrize("value", ["${{ a }}\n", "!${{ a }}", "${{ a }} == 'x'", "${{ a }} && ${{ b }}", " ${{ a }}"])
def test_text_around_braces_pads_a_condition(value: str) -> None:
    condition = read_condition(text(value))
    assert condition.expression is None
    assert condition.padded
    assert condition_mistake(condition) is None


@pytest.mark.parametrize("value", ["", "  ", "~", "null"])
def test_no_condition_is_success(value: str) -> None:
    assert read_condition(text(value)).expression == Call("success", ())


def test_yaml_booleans_are_booleans_and_quoted_ones_are_names() -> None:
    assert read_condition(text("True")).expression == Constant(value=True)
    assert read_condition(text("True", plain=False)).expression == Context("true")


@pytest.mark.parametrize(("value", "at"), [("a b", 2), ("${{ a b }}", 6), ("${{ }}", 3), ("x ${{ a b }}", 8)])
def test_a_condition_that_cannot_be_read(value: str, at: int) -> None:
    condition = read_condition(text(value))
    assert condition.expression is None
    assert not condition.padded
    mistake = condition_mistake(condition)
    assert mistake is not None
    assert mistake.at == at
