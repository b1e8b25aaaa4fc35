"""An expression of GitHub Actions as a tree. `expression_text` reads it; `at` is the character where a part begins.

The language: https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

from typing import Literal

from msgspec import Struct

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]


class Constant(Struct, frozen=True):
    """null, a boolean, a number or a string as it is written."""

    value: "bool | float | str | None"
    at: int = 0


class Context(Struct, frozen=True):
    """A context by its name, in lower case: `github`, `inputs`, `needs`."""

    name: str
    at: int = 0


class Key(Struct, frozen=True):
    """`item.name` or `item[index]`: both are a Key, and `.name` has a Constant string as its index."""

    item: "Expression"
    index: "Expression"
    at: int = 0


class Every(Struct, frozen=True):
    """`item.*` or `item[*]`."""

    item: "Expression"
    at: int = 0


class Call(Struct, frozen=True):
    """A function by its name in lower case."""

    function: str
    arguments: "tuple[Expression, ...]"
    at: int = 0


class Not(Struct, frozen=True):
    item: "Expression"
    at: int = 0


class Compare(Struct, frozen=True):
    operator: Comparison
    left: "Expression"
    right: "Expression"
    at: int = 0


class Logic(Struct, frozen=True):
    """`a && b && c`, or the same of `||`: two items or more."""

    operator: Literal["&&", "||"]
    items: "tuple[Expression, ...]"
    at: int = 0


Expression = Constant | Context | Key | Every | Call | Not | Compare | Logic


def parts(tree: Expression) -> "tuple[Expression, ...]":
    """The expressions right below one."""
    match tree:
        case Key(item=item, index=index):
            return (item, index)
        case Every(item=item) | Not(item=item):
            return (item,)
        case Call(arguments=items) | Logic(items=items):
            return items
        case Compare(left=left, right=right):
            return (left, right)
        case _:
            return ()
