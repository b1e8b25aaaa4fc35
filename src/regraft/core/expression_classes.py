"""What an unknown value can be, as far as an expression can tell: a few classes that together hold every value there is.

Two values are in one class if both are true or both false, and both equal the same of the constants that they are compared with.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from regraft.core.expression_numbers import number
from regraft.core.expression_value import Value, equal, folded, number_of, truthy

Kind = Literal["any", "text", "number", "boolean", "collection"]
Mark = str | float


class Class(Struct, frozen=True, eq=False):
    """`exact`: the only value in it (a text in any case: nothing that compares texts can tell)."""

    truth: bool
    equals: Mapping[Mark, bool]
    exact: Value | UnsetType = UNSET


def mark(constant: Value) -> Mark | None:
    """A constant as it matters to `==`: null and booleans are numbers. None for what equals nothing."""
    if isinstance(constant, str):
        return constant
    found = number_of(constant)
    return found if found == found else None  # noqa: PLR0124 - not a number


@lru_cache(1024)
def classes(kind: Kind, constants: frozenset[Mark]) -> tuple[Class, ...]:
    """All classes, those first that equal a constant."""
    if kind == "boolean":
        return tuple(Class(truth, {}, truth) for truth in (True, False))
    marks = sorted(constants, key=lambda one: (isinstance(one, float), one))
    if kind == "collection":
        return (Class(truth=True, equals=dict.fromkeys(marks, False)),)
    groups: dict[tuple[bool, tuple[bool, ...]], list[Value]] = {}
    for value in _values(kind, marks):
        groups.setdefault((truthy(value), tuple(equal(value, one) for one in marks)), []).append(value)
    found = [_class(truth, dict(zip(marks, same, strict=True)), values) for (truth, same), values in groups.items()]
    return tuple(sorted(found, key=lambda one: (not any(one.equals.values()), not one.truth)))


def _class(truth: bool, equals: Mapping[Mark, bool], values: list[Value]) -> Class:
    texts = [one for one in values if isinstance(one, str)]
    if len(texts) == len(values):
        same = next((one for one, holds in equals.items() if holds and isinstance(one, str) and _steady(one)), None)
        if same is not None or texts == [""]:
            return Class(truth, equals, same or "")
    elif values == [None] or (len(values) == 1 and isinstance(values[0], float) and equals.get(values[0])):
        return Class(truth, equals, values[0])
    return Class(truth, equals)


def _values(kind: Kind, marks: list[Mark]) -> Iterator[Value]:
    """Values of each class that there can be: whatever there is, is like one of these in all that matters."""
    texts = [one for one in marks if isinstance(one, str)]
    numbers = {one for one in marks if isinstance(one, float)}
    known = numbers | {found for one in texts for spelt in _spellings(one) if (found := number(spelt)) == found}
    if kind != "number":
        yield from (spelt for one in texts for spelt in _spellings(one))
        taken = {folded(one) for one in texts}
        yield from (_numeric(one, taken) for one in sorted(numbers))
        yield "\0" * (1 + max(map(len, texts), default=0))
        yield ""
        yield None
    if kind == "any":
        yield from (True, False)
    if kind != "text":
        yield from sorted(known)
        yield next(one for one in map(float, range(1, len(known) + 2)) if one not in known)
        yield from (0.0, float("nan"))


def _spellings(text: str) -> tuple[str, ...]:
    """A text, and what it is in other case, where the case decides which number it is: `0xA` and `0XA`."""
    spellings = (text, text.lower(), text.upper(), text.lower().replace("infinity", "Infinity"))
    return spellings if any(number(one) == number(one) for one in spellings) else (text,)


def _steady(text: str) -> bool:
    first, *others = {one if one == one else None for one in map(number, _spellings(text))}  # noqa: PLR0124
    return not others or first in others


def _numeric(value: float, taken: set[str]) -> str:
    """A text of a number that is none of the texts that are taken."""
    text = repr(value) if abs(value) != float("inf") else f"{'-' * (value < 0)}Infinity"
    while folded(text) in taken:
        text += " "
    return text
