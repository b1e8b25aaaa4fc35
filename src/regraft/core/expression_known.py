"""What can be known of a name in an expression without running anything. Whoever knows the names answers with these."""

from typing import Literal, Protocol

from msgspec import Struct

from regraft.core.expression_tree import Expression
from regraft.core.expression_value import Value
from regraft.core.findings import Witness

Path = tuple[str, ...]
Why = tuple[Witness, ...]


class Exactly(Struct, frozen=True, eq=False):
    """One value. `why`: the lines that prove it."""

    value: Value
    why: Why = ()


class OneOf(Struct, frozen=True, eq=False):
    """Any of these values, and no other."""

    values: tuple[Value, ...]
    why: Why = ()


class Defined(Struct, frozen=True, eq=False):
    """What an expression of another place says."""

    tree: Expression
    names: "Names"
    why: Why = ()


class Fields(Struct, frozen=True, eq=False):
    """An object that has these keys and no other: `needs`. Its values are asked for one by one."""

    keys: tuple[str, ...]
    why: Why = ()


class Unknown(Struct, frozen=True, eq=False):
    """Anything of a kind. `text`: a text, or null where there is none."""

    why: Why = ()
    kind: Literal["any", "text", "number", "boolean"] = "any"


Known = Exactly | OneOf | Defined | Fields | Unknown


class Names(Protocol):
    """The names at one place in one scope. Two places are the same only where they are the same object."""

    def known(self, path: Path) -> Known:
        """What a name can be: ("needs", "a", "result"); a function of status is ("success()",). Never asked for `*`.

        In one case a name has one value, wherever it recurs: of what differs between the jobs of a matrix, a name of another
        place must be Unknown.
        """
