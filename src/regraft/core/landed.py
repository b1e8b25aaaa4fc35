"""A change that came in, and that nothing has taken back since, however the lines beside it moved on.

Upstream takes a fix; three weeks later somebody edits the line after it, and no check of the patch's context finds it any more.
That it is still there is proved from where it came in: there the whole hunk was found, and in every version since its added
lines stand together as often as they did, what it removed has not come back, and its old side stands nowhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

_TELLING = regex(rb"\w{3}")


class Mark(Struct, frozen=True):
    """What to look for in later versions: blocks of lines, with how often each stood there when the change came in."""

    added: tuple[tuple[bytes, int], ...]
    removed: tuple[tuple[bytes, int], ...]
    old_side: bytes


def mark(hunk: Hunk, landed: bytes) -> Mark | None:
    """Of a hunk that was found to be there already in `landed`; None where later versions could prove nothing.

    That is so for one that only removes lines, or adds none that tells it from others (braces, blank lines).
    """
    text = _framed(landed)
    added, removed = [], []
    for sign, lines in _runs(hunk):
        block = _block(lines)
        if sign == b"+":
            added.append((block, _count(block, text)))
        elif sign == b"-":
            removed.append((block, _count(block, text)))
    if not any(_TELLING.search(block) for block, _ in added) or any(not count for _, count in added):
        return None
    old_side = _block([line for sign, lines in _runs(hunk) if sign != b"+" for line in lines])
    return None if old_side in text else Mark(tuple(added), tuple(removed), old_side)


def stands(found: Mark, content: bytes | None) -> bool:
    """Whether the change is still whole in a later version of the file (None: it is gone)."""
    if content is None:
        return False
    text = _framed(content)
    return (
        all(_count(block, text) >= count for block, count in found.added)
        and all(_count(block, text) <= count for block, count in found.removed)
        and found.old_side not in text
    )


def landed_and_kept(hunk: Hunk, landed: bytes, later: Iterable[bytes | None]) -> bool:
    """Whether a hunk that was wholly there in `landed` is there in each of the `later` versions too. Never from a deletion."""
    found = mark(hunk, landed)
    return found is not None and all(stands(found, content) for content in later)


def _runs(hunk: Hunk) -> Iterator[tuple[bytes, list[bytes]]]:
    """Neighbouring lines of one kind: b"+", b"-" or b" "."""
    body = [line for line in hunk.body if not line.startswith(b"\\")]
    for sign, lines in groupby(body, _sign):
        yield sign, [line[1:] for line in lines]


def _sign(line: bytes) -> bytes:
    return line[:1] if line[:1] in (b"+", b"-") else b" "


def _block(lines: Sequence[bytes]) -> bytes:
    return b"\n" + b"\n".join(lines) + b"\n"


def _framed(content: bytes) -> bytes:
    return b"\n" + content + (b"" if content.endswith(b"\n") else b"\n")


def _count(block: bytes, text: bytes) -> int:
    count, at = 0, text.find(block)
    while at >= 0:
        count, at = count + 1, text.find(block, at + 1)
    return count
