"""One shape for what any check finds."""

from typing import Literal

from msgspec import Struct

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]


class Witness(Struct, frozen=True):
    """A place that proves a finding. Lines start at 1."""

    path: str
    line: int | None
    message: str


class Finding(Struct, frozen=True):
    """`rule` is a stable word; an `error` makes the answer no, a `warning` and a `note` do not.

    Lines and columns start at 1 and are None where the finding has no place in a text.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    confidence: Confidence = "high"
    witnesses: tuple[Witness, ...] = ()
    fix: str | None = None
