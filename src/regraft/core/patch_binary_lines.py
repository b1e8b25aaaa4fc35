"""The encoded lines of a binary change, and whether git can read them."""

from collections.abc import Sequence
from typing import Literal, cast

from regraft.core.patch_text import BinaryPart
from regraft.core.patterns import regex

_HEADER = regex(rb"(literal|delta) [ \t]*\+?(\d*)")


class BinaryFault(Exception):  # noqa: N818 - it says where, and the reader makes a problem of it
    """A line (an index, and what it holds) that git calls corrupt."""

    def __init__(self, at: int, line: bytes) -> None:
        super().__init__(at)
        self.at = at
        self.line = line


def read_part(lines: Sequence[bytes], at: int, *, ended: bool) -> BinaryPart | None:
    """The part whose header is line `at` (an index), or None where no part begins there. Raises BinaryFault.

    It takes its header, its encoded lines, and the empty line after them.
    """
    match = _HEADER.match(lines[at]) if at < len(lines) else None
    if match is None:
        return None
    end = at + 1
    while True:
        whole = end + 1 < len(lines) or (end + 1 == len(lines) and ended)
        line = lines[end] if end < len(lines) else b""
        if whole and not line:
            break
        if not whole or not _reads(line):
            raise BinaryFault(end, line)
        end += 1
    method = "literal" if match[1] == b"literal" else "delta"
    part = BinaryPart(
        at + 1, cast("Literal['literal', 'delta']", method), int(match[2][:20] or b"0"), tuple(lines[at + 1 : end])
    )
    if not _holds_together(part):
        raise BinaryFault(end, b"")
    return part


def _holds_together(part: BinaryPart) -> bool:
    from regraft.core.binary_patch import decode  # noqa: PLC0415 - only a patch with binary content needs it

    try:
        decode(part)
    except ValueError:
        return False
    return True


def _reads(line: bytes) -> bool:
    """Whether it is an encoded line: a letter that says how many bytes, then groups of five characters for four of them."""
    from base64 import b85decode  # noqa: PLC0415 - only a patch with binary content needs it

    length, text = _length(line[:1]), line[1:]
    room = len(text) // 5 * 4
    if not text or len(text) % 5 or not room - 4 < length <= room:
        return False
    try:
        b85decode(text)
    except ValueError:
        return False
    return True


def _length(mark: bytes) -> int:
    if b"A" <= mark <= b"Z":
        return mark[0] - ord("A") + 1
    return mark[0] - ord("a") + 27 if b"a" <= mark <= b"z" else 0
