"""A change that came in, and that nothing has taken back since, however the lines beside it moved on.

Upstream takes a fix; three weeks later somebody edits the line after it, and no check of the patch's context finds it any more.
That it is still there is proved from where it came in: there the whole hunk was found at one place, and through every version
since its added lines are followed by the difference of the two, and none of them was touched. Besides, they stand together as
often as they did, what the hunk removed has not come back, and its old side stands nowhere.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from regraft.core.enclosing import header
from regraft.core.hunk_places import places, sides
from regraft.core.line_diff import Block, text_blocks
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

NEAR = 2  # lines

_TELLING = regex(rb"\w{3}")


class Mark(Struct, frozen=True):
    """A change in one version: the lines where it stands, as slices; and blocks of lines, with how often each stood when it came in."""

    content: bytes
    at: tuple[tuple[int, int], ...]
    added: tuple[tuple[bytes, int], ...]
    removed: tuple[tuple[bytes, int], ...]
    old_side: bytes


def mark(hunk: Hunk, landed: bytes) -> Mark | None:
    """Of a hunk that was found to be there already in `landed`; None where later versions could prove nothing.

    That is so for one that only removes lines, or adds none that tells it from others (braces, blank lines), or that may stand
    at several places.
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
    at = _where(hunk, landed)
    return Mark(landed, at, tuple(added), tuple(removed), old_side) if at and old_side not in text else None


def mark_made(hunk: Hunk, landed: bytes) -> Mark | None:
    """Of a hunk as a commit made it, at its own line (`core.patch_id.landed_hunks`); None where later versions could prove nothing.

    It may only remove lines: then the lines around them, which are neighbours now, have to stay so.
    """
    text = _framed(landed)
    added, removed, at = [], [], []
    line, count = hunk.new_start - 1, landed.count(b"\n") + (not landed.endswith(b"\n"))
    runs = list(_runs(hunk))
    for number, (sign, lines) in enumerate(runs):
        block = _block(lines)
        beside = {one for one, _ in (*runs[max(number - 1, 0) : number], *runs[number + 1 : number + 2])}
        if sign == b"+":
            added.append((block, _count(block, text)))
            at.append((line, line + len(lines)))
        elif sign == b"-":
            removed.append((block, _count(block, text)))
            if b"+" not in beside:
                at.append((line - 1, line + 1))
        line += len(lines) if sign != b"-" else 0
    old_side = _block([line for sign, lines in runs if sign != b"+" for line in lines])
    whole = all(start >= 0 and end <= count for start, end in at)
    return Mark(landed, tuple(at), tuple(added), tuple(removed), old_side) if whole and old_side not in text else None


def followed(found: Mark, content: bytes | None) -> Mark | None:
    """The change in the next version of the file (None: it is gone); None where it is not proved to be whole there."""
    if content is None:
        return None
    text = _framed(content)
    as_often = (
        all(_count(block, text) >= count for block, count in found.added)
        and all(_count(block, text) <= count for block, count in found.removed)
        and found.old_side not in text
    )
    moved = [_moved(at, found.content, content) for at in found.at] if as_often else [None]
    at = tuple(one for one in moved if one is not None)
    return Mark(content, at, found.added, found.removed, found.old_side) if len(at) == len(moved) else None


def _moved(at: tuple[int, int], before: bytes, after: bytes) -> tuple[int, int] | None:
    """Where untouched lines of `before` stand in `after`. A single line that all its neighbours left may be another place's."""
    start, end = at
    lines, then, blocks = text_blocks(before, after)
    first, last = _stayed(start, blocks), _stayed(end - 1, blocks)
    if first is None or last is None or last - first != end - 1 - start:
        return None
    if not _same_function(lines, then, blocks, start, first):
        return None
    if sum(bool(_TELLING.search(line)) for line in lines[start:end]) < 2:
        around = [*range(max(start - NEAR, 0), start), *range(end, min(end + NEAR, len(lines)))]
        stayed = [_stayed(one, blocks) for one in around if _TELLING.search(lines[one])]
        if not any(one is not None and first - NEAR <= one <= last + NEAR for one in stayed):
            return None
    return first, last + 1


def _same_function(
    lines: Sequence[bytes], then: Sequence[bytes], blocks: Sequence[Block], line: int, moved: int
) -> bool:
    """Whether the line in which they are nested is still that one, or was edited."""
    was, now = header(lines, line, lines[line]), header(then, moved, then[moved])
    if was is None or now is None:
        return was is now
    stays = _stayed(was, blocks)
    return stays == now or (stays is None and then[now] not in lines)


def _stayed(line: int, blocks: Sequence[Block]) -> int | None:
    """Where a line stands then; None where it was touched."""
    shift = 0
    for i1, i2, j1, j2 in blocks:
        if i2 <= line:
            shift += (j2 - j1) - (i2 - i1)
        elif i1 <= line:
            return None
    return line + shift


def _where(hunk: Hunk, landed: bytes) -> tuple[tuple[int, int], ...]:
    """The lines of each added run, where they stand at one place; nothing where that is not so."""
    both = sides(hunk)
    found = places(landed, both.post, both)
    if len(found) == 1:
        line = landed.count(b"\n", 0, found[0])
        at = []
        for sign, lines in _runs(hunk):
            if sign == b"+":
                at.append((line, line + len(lines)))
            line += len(lines) if sign != b"-" else 0
        return tuple(at)
    if found:
        return ()
    text = _framed(landed)
    alone = []
    for sign, lines in _runs(hunk):
        if sign == b"+":
            if _count(_block(lines), text) != 1:
                return ()
            line = text.count(b"\n", 0, text.find(_block(lines)))
            alone.append((line, line + len(lines)))
    return tuple(alone)


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
