"""Values of which not all is known, and what a case is asked and tells."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import UNSET, Struct

from regraft.core.expression_classes import Class, Kind
from regraft.core.expression_cone import Variable
from regraft.core.expression_known import Known, Names, Path, Why
from regraft.core.expression_tree import Expression
from regraft.core.expression_value import Value
from regraft.core.expression_written import constant, written


class Leaf(Struct, frozen=True):
    """A name that was asked for, and the lines that say what it can be."""

    path: Path
    names: Names
    why: Why = ()


class Choice(Struct, frozen=True):
    """What a name, or an expression that depends on an unknown one, was taken to be: a literal, `a value` or `no value`."""

    names: Names
    text: str
    value: str


class Pending(Struct, frozen=True, eq=False):
    """A value that is not known, or not yet. `among`: all it can be. Two of the same variable are the same text or number."""

    of: Variable
    text: str
    kind: Kind = "any"
    among: tuple[Value, ...] = ()


class Listed(Struct, frozen=True, eq=False):
    """A filtered array of which some items are not known."""

    items: "tuple[Partly, ...]"


Partly = Value | Pending | Listed


class Named(Struct, frozen=True, eq=False):
    """A name at a place, and what is known of it. `value`: what it is, where it stands for no other expression."""

    of: Variable
    leaf: Leaf
    known: Known
    value: Partly


Constants = dict[tuple[Variable, bool], tuple[Partly, dict[Variable, Leaf]]]
"""What a name (or, with True, its truth) is in all cases, and the names that say so."""


class TooManyError(Exception):
    """Of expressions that were looked at."""


class CoarseError(Exception):
    """A class that was taken over from another search does not say whether it equals a constant."""


class Model(Struct, frozen=True, eq=False):
    """Classes under which an expression is true, whatever is chosen besides; and what names come to under them."""

    classes: Mapping[Variable, Class] = {}
    there: Mapping[tuple[Variable, bool], tuple[Partly, dict[Variable, Leaf]]] = {}


class Cases(Protocol):
    """Who goes through the cases, and remembers what does not differ between them."""

    constants: Constants

    def choose(self, position: int, of: int) -> int:
        """Which of so many classes the asker at a position gets in this case."""

    def named(self, tree: Expression, names: Names) -> Named | None:
        """What is known of a name; None where the expression is none."""

    def at_path(self, path: Path, names: Names) -> Named:
        """What is known of a name that stands in no expression."""

    def results(self, tree: Expression, names: Names) -> tuple[Path, ...] | None:
        """The names whose values make up `needs.*.result`, where all are known."""

    def classes(self, of: Pending) -> Sequence[Class]:
        """What a value can be."""


def pending(tree: Expression, names: Names, kind: Kind = "any") -> Pending:
    """What an expression is that nobody can know, by its text."""
    text = written(tree)
    return Pending((names, text), text, kind)


def shown(chosen: Class) -> str:
    """A class as it is said."""
    if chosen.exact is not UNSET:
        return constant(chosen.exact)
    return "a value" if chosen.truth else "no value"
