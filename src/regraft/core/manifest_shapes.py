"""What a value of the manifest may look like. The walk judges by these, and the JSON schema is made of them.

Named tuples, not dataclasses: making a frozen dataclass costs three times as much at every start of the gate.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """What is wrong with a value. Neither text may repeat a value that can hold a secret."""

    message: str
    hint: str | None = None
    code: str = "bad-value"


class Text(NamedTuple):
    """A string. It is right where `pattern` matches the whole of it and `fault` finds nothing.

    `pattern` means the same in Python and in ECMA-262, so that the schema can carry it; it may accept more than `fault`.
    `clean` gives the form that the values hold.
    """

    says: str  # "an image tag: letters, digits ...": completes "must be ..."
    pattern: str
    fault: Callable[[str], Fault | None] | None = None
    clean: Callable[[str], str] | None = None
    longest: int = 255
    secret: bool = False  # may hold a credential: no message repeats it

    def judge(self, value: str) -> Fault | None:
        found = self.fault(value) if self.fault else None
        if found is None and len(value) > self.longest:
            found = Fault(f"is longer than {self.longest} characters")
        if found is None and not re.fullmatch(self.pattern, value):
            found = Fault(f"must be {self.says}")
        return found


class Choice(NamedTuple):
    words: tuple[str, ...]


class Number(NamedTuple):
    """A whole number from `least` to `most`, both of them included."""

    says: str  # "seconds, from 1 to 604800": completes "must be ..."
    least: int
    most: int


class TextOrTable(NamedTuple):
    """A string, or a table that says more; the string is the table's first key, which is required there."""

    text: Text
    table: "TableOf"


class ListOf(NamedTuple):
    """A list; `first` is another shape for its first item, `unique` compares cleaned values (of a table its first key).

    `mend` offers a better form of a value that has the wrong type.
    """

    item: "Text | Choice | ListOf | TextOrTable"
    first: Text | None = None
    at_least: int = 0
    unique: bool = False
    mend: Callable[[Any], str | None] | None = None


class MapOf(NamedTuple):
    """A table of free keys with strings, as environment variables are."""

    key: Text
    value: Text


class TableOf(NamedTuple):
    """A table with fixed keys. `needs` says which keys a key cannot do without; one of `either` has to be there, and no two.

    `forbids` says which keys a key cannot stand with.
    """

    fields: tuple["Field", ...]
    needs: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    either: tuple[str, ...] = ()
    forbids: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    mend: Callable[[Any], str | None] | None = None


class NamedTables(NamedTuple):
    """Tables under names of the project's own choice; `word` stands for a name in messages and docs."""

    name: Text
    table: TableOf
    word: str


Shape = Text | Choice | Number | ListOf | MapOf | TableOf | NamedTables | TextOrTable


class Field(NamedTuple):
    """One key. `default` is the value of an absent key as TOML would hold it; `default_text` says it where it is computed."""

    key: str
    shape: Shape
    text: str
    required: bool = False
    default: Any = None
    default_text: str | None = None
