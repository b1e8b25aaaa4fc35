"""Byte spans of a text, and edits by them: what no edit names stays as it is, byte for byte."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """From `start` up to `stop`, in bytes."""

    start: int
    stop: int

    def holds(self, other: "Span") -> bool:
        return self.start <= other.start and other.stop <= self.stop


class Edit(NamedTuple):
    """`text` in the place of what stands in `span`."""

    span: Span
    text: bytes = b""


class Places:
    """Line and column of an offset. Both start at 1; columns count characters, as editors do."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0]
        at = data.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = data.find(b"\n", at + 1)

    def of(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        before = self._data[self._starts[line - 1] : offset]
        return line, len(before.decode("utf-8", "replace")) + 1

    def line(self, number: int) -> bytes:
        """The text of a line, without its end."""
        stop = self._starts[number] if number < len(self._starts) else len(self._data)
        return self._data[self._starts[number - 1] : stop].rstrip(b"\r\n")


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The text with every edit made. Raises ValueError where two overlap or one lies outside."""
    pieces, at = [], 0
    for (start, stop), text in sorted(edits):
        if not at <= start <= stop <= len(data):
            raise ValueError(f"an edit at {start}..{stop} overlaps another, or lies outside of {len(data)} bytes")
        pieces += [data[at:start], text]
        at = stop
    return b"".join([*pieces, data[at:]])


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same bytes as spans that neither overlap nor touch, in order."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].stop:
            found[-1] = Span(found[-1].start, max(found[-1].stop, span.stop))
        else:
            found.append(span)
    return found


def line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def line_stop(data: bytes, offset: int) -> int:
    """After the end of the line in which `offset` stands."""
    at = data.find(b"\n", offset)
    return len(data) if at < 0 else at + 1


def whole_lines(data: bytes, span: Span) -> Span | None:
    """The lines in which `span` stands, if nothing but blanks stands beside it there; the last end of line included."""
    start = line_start(data, span.start)
    ends_line = span.stop > span.start and data[span.stop - 1 : span.stop] == b"\n"
    stop = span.stop if ends_line else line_stop(data, span.stop)
    if data[start : span.start].strip() or data[span.stop : stop].strip():
        return None
    return Span(start, stop)


def without_item(data: bytes, items: Sequence[Span], gone: Iterable[int], close: int) -> list[Span]:
    """What to take out of a list with commas between its items: those at the indexes `gone`, with one comma each.

    `close` is where the list's closing bracket stands. An item that has its line to itself goes with the line; a comment
    on that line stays.
    """
    out = sorted(set(gone))
    kept = [index for index in range(len(items)) if index not in out]
    found: list[Span] = []
    for index in out:
        after = items[index + 1].start if index + 1 < len(items) else close
        comma = _comma(data, items[index].stop, after)
        if comma is None and kept and kept[-1] < index:  # the last one, and no comma follows it: the one before goes
            before = _comma(data, items[kept[-1]].stop, items[index].start)
            span = Span(before if before is not None else items[index].start, items[index].stop)
            found.append(span)
            continue
        stop = comma + 1 if comma is not None else items[index].stop
        span = Span(items[index].start, stop)
        lines = whole_lines(data, span)
        if lines is not None and lines.start > 0:
            found.append(lines)
            continue
        while data[stop : stop + 1] in (b" ", b"\t"):
            stop += 1
        if data[stop : stop + 1] in (b"#", b"\r", b"\n"):
            stop = span.stop
        found.append(Span(span.start, stop))
    return merged(found)


def _comma(data: bytes, start: int, stop: int) -> int | None:
    """The comma between two items, not one in a comment."""
    at = start
    while at < stop:
        char = data[at : at + 1]
        if char == b",":
            return at
        if char == b"#":
            at = line_stop(data, at)
            continue
        at += 1
    return None
