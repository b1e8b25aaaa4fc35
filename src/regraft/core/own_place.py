"""Whether the result of a hunk stands where the patch puts it, and not where a twin of the lines has got the same change.

Of two equal functions upstream fixes the first and rewrites the second, which the patch is about: its result stands in the file,
context and all, and came in since. Told from the file as it was before: the place is the hunk's if it is in the same function, and no
other lines of that were equal to the hunk's; or if it lies between the images of the lines that stayed before and behind the hunk.
"""

from collections.abc import Sequence

from regraft.core.enclosing import chain
from regraft.core.hunk_places import places, sides
from regraft.core.line_diff import Block, split_lines, text_blocks
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

ELSEWHERE = "its result stands in another place than the patch's own, which other lines may have got"

_TELLING = regex(rb"\w{3}")


def stands_in_own_place(hunk: Hunk, base: bytes, now: bytes, lines: Sequence[int]) -> bool:
    """`lines`: those of `now` (from 0) at which the hunk's new side begins. Its old side stands in the base at its own line."""
    start, both = max(hunk.start - 1, 0), sides(hunk)
    above, below, text = _first_change(hunk)
    old, new = split_lines(base), split_lines(now)
    around = chain(old, start + above, text)
    equals = [base.count(b"\n", 0, place) for place in places(base, both.pre, both)]
    alone = around and all(at == start or chain(old, at + above, text) != around for at in equals)
    if alone and any(chain(new, line + below, text) == around for line in lines):
        return True
    size, length = len(split_lines(both.pre)), len(split_lines(both.post))
    first, end = _window(start, start + size, text_blocks(base, now)[2], len(old), len(new))
    inside = [line for line in lines if first <= line and line + length <= end]
    still = around and any(line.strip() == around[0] for line in new)
    return any(not still or chain(new, line + below, text)[:1] == around[:1] for line in inside)


def new_lines(hunk: Hunk, content: bytes) -> list[int]:
    """The lines (from 0) at which the hunk's new side begins."""
    both = sides(hunk)
    return [content.count(b"\n", 0, place) for place in places(content, both.post, both)]


def made_on(hunk: Hunk, content: bytes) -> bool:
    """Whether the hunk's old side stands at its own line."""
    both = sides(hunk)
    own = max(hunk.start - 1, 0)
    return any(content.count(b"\n", 0, place) == own for place in places(content, both.pre, both))


def _first_change(hunk: Hunk) -> tuple[int, int, bytes]:
    """The first added line that tells something, or a removed one where none is added: how many lines of the old and of the

    new side stand above it, and its text.
    """
    above = below = 0
    found: list[tuple[int, int, int, int, bytes]] = []
    for line in hunk.body:
        mark = line[:1]
        if mark in (b"+", b"-"):
            rank = 2 * (mark == b"-") + (not _TELLING.search(line[1:]))
            found.append((rank, len(found), above, below, line[1:]))
        above += mark not in (b"+", b"\\")
        below += mark not in (b"-", b"\\")
    return min(found, default=(0, 0, 0, 0, b""))[2:]


def _window(start: int, end: int, blocks: Sequence[Block], old: int, new: int) -> tuple[int, int]:
    """Between which lines of the new text the base's lines `start` to `end` went: those that stayed next to them are its borders."""
    first, last, shift = 0, new, 0
    before = behind = False
    for i1, i2, j1, j2 in blocks:
        if not before and i2 > start - 1:
            first, before = (j1 if i1 <= start - 1 else start + shift), True
        if not behind and i2 > end:
            last, behind = (j2 if i1 <= end else end + shift), True
        shift += (j2 - j1) - (i2 - i1)
    if not before:
        first = start + shift
    if not behind:
        last = new if end >= old else end + shift
    return first if start else 0, last
