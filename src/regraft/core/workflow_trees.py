"""Texts of a workflow as expressions: what a value means where an expression of another place reads it."""

from regraft.core.expression_numbers import number
from regraft.core.expression_tree import Call as Function
from regraft.core.expression_tree import Compare, Constant, Context, Expression, Key, Logic
from regraft.core.patterns import regex
from regraft.core.workflow_values import Text, Value

TRUE, FALSE, EMPTY = Constant(value=True), Constant(value=False), Constant("")

_NUMBER = regex(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+")
_WORDS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def scalar(text: Text) -> bool | float | str | None:
    """A scalar with the type that YAML 1.2 gives it."""
    if not text.plain:
        return text.value
    if text.value in _WORDS:
        return _WORDS[text.value]
    if text.value in _NULLS:
        return None
    return number(text.value) if _NUMBER.fullmatch(text.value) else text.value


def tree_of(value: Value, *, typed: bool = False) -> Expression | None:
    """A value as one expression; None where a part of it cannot be parsed. `typed`: a plain `true` is a boolean."""
    if all(part.literal for part in value.parts):
        return Constant(scalar(value.text) if typed else value.text.value)
    if len(value.parts) == 1:
        return value.parts[0].expression
    holes: list[Expression] = []
    shape = ""
    for part in value.parts:
        if part.literal:
            shape += part.text.replace("{", "{{").replace("}", "}}")
        elif part.expression is None:
            return None
        else:
            shape += f"{{{len(holes)}}}"
            holes.append(part.expression)
    return Function("format", (Constant(shape), *holes))


def reference(*path: str) -> Expression:
    """The opposite of `path_of`."""
    tree: Expression = Context(path[0])
    for name in path[1:]:
        tree = Key(tree, Constant(name))
    return tree


def both(*items: Expression) -> Expression:
    """`a && b && …` of those that are not simply true."""
    left = tuple(one for one in items if one != TRUE)
    return Logic("&&", left) if len(left) > 1 else (left[0] if left else TRUE)


def either(*items: Expression) -> Expression:
    """`a || b || …` of those that are not simply false."""
    left = tuple(one for one in items if one != FALSE)
    return Logic("||", left) if len(left) > 1 else (left[0] if left else FALSE)


def choose(condition: Expression, value: Expression, otherwise: Expression) -> Expression:
    """`condition && value || otherwise`: right where the value is not empty, or what is otherwise is."""
    return value if condition == TRUE else Logic("||", (Logic("&&", (condition, value)), otherwise))


def equals(left: Expression, text: str) -> Expression:
    return Compare("==", left, Constant(text))
