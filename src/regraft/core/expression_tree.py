"""An expression of GitHub Actions as a tree. `expression_text` reads it; `at` is the character where a part begins.

The language: https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

from collections.abc import Callable
from functools import wraps
from typing import Literal, TypeVar

from msgspec import Struct

MOST_KEPT = 65_536  # answers of one function
T = TypeVar("T")

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


def once(find: Callable[[Expression], T]) -> Callable[[Expression], T]:
    """A function that asks nothing but the tree, and is asked again and again for the same one: its answers are kept."""
    kept: dict[int, tuple[Expression, T]] = {}  # with the tree, so that its id stays its own

    @wraps(find)
    def asked(tree: Expression) -> T:
        found = kept.get(id(tree))
        if found is None:
            answer = find(tree)
            if len(kept) >= MOST_KEPT:
                kept.clear()
            found = kept[id(tree)] = tree, answer
        return found[1]

    return asked
