"""Five fields of POSIX cron as GitHub takes them: https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule

Where a day of the month and a day of the week are both restricted, either will do.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from regraft.core.patterns import regex

_YEAR = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: at for at, name in enumerate(_YEAR, 1)}
_DAYS = {name: at for at, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_NUMBER = regex(r"[0-9]{1,40}")


class _Field(NamedTuple):
    what: str
    least: int
    most: int
    names: Mapping[str, int] = {}


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)


class CronError(Exception):
    """Why GitHub refuses it."""


class Cron(Struct, frozen=True):
    """`weekdays`: 0 is Sunday. `any_day`, `any_weekday`: the field begins with `*`. `remarks`: steps that lead nowhere."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool
    remarks: tuple[str, ...] = ()

    def comes(self) -> bool:
        """Whether any year has such a day."""
        return not self.any_weekday or any(min(self.days) <= _LENGTHS[month - 1] for month in self.months)

    def shortest(self) -> int | None:
        """The fewest minutes between two starts within an hour or two in a row; None where there is one an hour."""
        minutes = sorted(self.minutes)
        gaps = [after - before for before, after in pairwise(minutes)]
        if any((hour + 1) % 24 in self.hours for hour in self.hours):
            gaps.append(minutes[0] + 60 - minutes[-1])
        return min(gaps, default=None)

    def week(self) -> float:
        """On how many days of a usual week it starts."""
        if not self.any_weekday and not self.any_day:
            share = min(7.0, len(self.weekdays) + len(self.days) / 4.35)
        elif not self.any_weekday:
            share = float(len(self.weekdays))
        else:
            share = len(self.days) * 7 / 31
        return share * len(self.months) / 12


def read_cron(text: str) -> Cron:
    """Raises CronError."""
    fields = text.split()
    if text.strip().startswith("@"):
        raise CronError("GitHub does not know this short form: five fields are needed")
    if len(fields) != 5:
        raise CronError(f"{len(fields)} fields, and five are needed: minute, hour, day, month, day of the week")
    remarks: list[str] = []
    minutes, hours, days, months, weekdays = (
        _values(field, one, remarks) for field, one in zip(_FIELDS, fields, strict=True)
    )
    any_day, any_weekday = fields[2].startswith("*"), fields[4].startswith("*")
    return Cron(
        minutes, hours, days, months, frozenset(one % 7 for one in weekdays), any_day, any_weekday, tuple(remarks)
    )


def _values(field: _Field, text: str, remarks: list[str]) -> frozenset[int]:
    found: set[int] = set()
    for part in dict.fromkeys(text.split(",")):
        span, slash, step = part.partition("/")
        first, last = _span(field, span, stepped=bool(slash))
        size = 1
        if slash:
            if _NUMBER.fullmatch(step) is None or int(step) == 0:
                raise CronError(f"`{step[:20]}` is no step for the {field.what}")
            size = int(step)
            if size > field.most - field.least:
                remarks.append(
                    f"the step `/{step[:20]}` is longer than the {field.what} goes: it starts at {first} alone"
                )
        found.update(range(first, last + 1, size))
    return frozenset(found)


def _span(field: _Field, text: str, *, stepped: bool) -> tuple[int, int]:
    if text == "*":
        return field.least, min(field.most, 6) if field.names is _DAYS else field.most
    first, dash, last = text.partition("-")
    begin = _number(field, first)
    if not dash:
        return begin, field.most if stepped else begin
    end = _number(field, last)
    if end < begin:
        raise CronError(f"`{text[:20]}` goes backwards in the {field.what}")
    return begin, end


def _number(field: _Field, text: str) -> int:
    named = field.names.get(text.lower())
    if named is not None:
        return named
    if _NUMBER.fullmatch(text) is None:
        raise CronError(f"`{text[:20]}` is no {field.what}")
    if not field.least <= int(text) <= field.most:
        raise CronError(f"`{text[:20]}` is no {field.what}: {field.least} to {field.most}")
    return int(text)
