"""An expression as a text again: in one way for all that mean the same, so that the text can stand for it."""

from regraft.core.expression_numbers import number_text
from regraft.core.expression_tree import Call, Compare, Constant, Context, Every, Expression, Key, Logic, Not
from regraft.core.expression_value import Value
from regraft.core.once import once
from regraft.core.patterns import regex

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_CALLS = {
    "endswith": "endsWith",
    "fromjson": "fromJSON",
    "hashfiles": "hashFiles",
    "startswith": "startsWith",
    "tojson": "toJSON",
}


@once
def written(tree: Expression) -> str:
    """`needs.a.result == 'success'`: dots where they can be, and no more parentheses than are needed."""
    match tree:
        case Constant(value=value):
            return constant(value)
        case Context(name=name):
            return name
        case Key(item=item, index=Constant(value=str(name))) if _NAME.fullmatch(name):
            return f"{_item(item)}.{name}"
        case Key(item=item, index=index):
            return f"{_item(item)}[{written(index)}]"
        case Every(item=item):
            return f"{_item(item)}.*"
        case Call(function=function, arguments=arguments):
            return f"{_CALLS.get(function, function)}({', '.join(written(one) for one in arguments)})"
        case Not(item=item):
            return f"!{_inner(item)}"
        case Compare(operator=operator, left=left, right=right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case Logic(operator=operator, items=items):
            return f" {operator} ".join(_operand(one, operator) for one in items)


def constant(value: Value) -> str:
    """A value as a literal of the language; arrays and objects by their kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        short = number_text(float(value))
        return short if value in (float(short), 0) or value != value else repr(value)  # noqa: PLR0124 - not a number
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else type(value).__name__


def _item(tree: Expression) -> str:
    text = written(tree)
    return text if isinstance(tree, Context | Key | Every | Call) else f"({text})"


def _inner(tree: Expression) -> str:
    text = written(tree)
    return f"({text})" if isinstance(tree, Compare | Logic) else text


def _operand(tree: Expression, operator: str) -> str:
    text = written(tree)
    return f"({text})" if isinstance(tree, Logic) and operator in ("&&", tree.operator) else text
