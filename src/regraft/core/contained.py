"""Whether a larger change holds a patch's own: each run of lines that a hunk changes lies in a block that the file changed since.

That the same lines came in somewhere in such a block shows nothing: other functions of it may hold them, or a text that quotes them.
They must stand in what replaced the patch's own lines, next to a line of its context that stayed (or hardly apart from lines on both
sides that stayed), and within the same function; and what came in with them must not undo them at once. Where anything of that is in
doubt, it is not contained.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from regraft.core.enclosing import chain, header, indent, quoted
from regraft.core.line_diff import Block, split_lines, text_blocks
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

APART = 1  # lines that may stand between what a patch changes and the nearest line that stayed

_TELLING = regex(rb"\w{3}")
_WORD = regex(rb"[A-Za-z_]\w*")
_LEAVES = regex(
    rb"\s*[#%]?(return|raise|throw|goto|break|continue|exit|die|if|ifdef|ifndef|while|for|switch|elif|else)\b"
)
_EVERYWHERE = frozenset(
    (b"return", b"self", b"this", b"None", b"True", b"False", b"null", b"const", b"int", b"let", b"var")
)


class Run(Struct, frozen=True):
    """Lines `start` to `end` of the base (as in a slice) that a hunk replaces by `added`."""

    start: int
    end: int
    added: tuple[bytes, ...]


def contained(base: bytes, now: bytes, hunks: Sequence[Hunk]) -> frozenset[int]:
    """The hunks (indexes from 0) of which every run is proved to be in `now`. They must fit `base` at their own lines."""
    old, new, blocks = text_blocks(base, now)
    return frozenset(
        index for index, hunk in enumerate(hunks) if all(_proved(run, old, new, blocks) for run in runs_of(hunk))
    )


def runs_of(hunk: Hunk, at: int | None = None) -> Iterator[Run]:
    """What a hunk changes, where its old side begins at line `at` (from 0; by default where the hunk itself says)."""
    at = max(hunk.start - 1, 0) if at is None else at
    start = at
    added: list[bytes] = []
    for line in (*hunk.body, b" "):
        mark = line[:1]
        if mark == b"\\":
            if added:
                added[-1] = added[-1].removesuffix(b"\n")
        elif mark == b"+":
            added.append(line[1:] + b"\n")
        elif mark == b"-":
            at += 1
        else:
            if added or at > start:
                yield Run(start, at, tuple(added))
            at += 1
            start, added = at, []


def _proved(run: Run, old: Sequence[bytes], new: Sequence[bytes], blocks: Sequence[Block]) -> bool:
    removed = old[run.start : run.end]
    for block in blocks:
        i1, i2, j1, j2 = block
        if not (i1 <= run.start and run.end <= i2):
            continue
        if not run.added:
            return (i1, i2) == (run.start, run.end) and j1 == j2 and not _count(new, removed)
        telling = any(_TELLING.search(line) for line in run.added)
        came_in = telling and _in_place(run, old, new, block) and _count(new, run.added) > _count(old, run.added)
        stays = removed and _count(new[j1:j2], removed) > _count(run.added, removed)
        return bool(came_in and not stays)
    return False


def _in_place(run: Run, old: Sequence[bytes], new: Sequence[bytes], block: Block) -> bool:
    """Whether what the run adds stands in the block, at one place of it, where the patch puts it."""
    _, _, j1, j2 = block
    size = len(run.added)
    places = [at for at in range(j1, j2 - size + 1) if tuple(new[at : at + size]) == run.added]
    if len(places) != 1:
        return False
    [at] = places
    return (
        _beside(run, old, new, block, at)
        and _within(run, old, new, block, at)
        and quoted(old, run.start) == quoted(new, at)
        and not _undone(run.added, new[j1:at], new[at + size : j2], old[run.end : block[1]])
    )


def _beside(run: Run, old: Sequence[bytes], new: Sequence[bytes], block: Block, at: int) -> bool:
    """Whether the block replaced the run alone; or a line of the patch's context, which names one place, stayed next to it; or

    there is hardly a line between it and both ends of the block, one of which names one place.
    """
    i1, i2, j1, j2 = block
    end = at + len(run.added)
    if (i1, i2) == (run.start, run.end) and i1 and i2 < len(old):
        return True
    before = i1 > 0 and _names_one_place(old[i1 - 1], old, new)
    behind = i2 < len(old) and _names_one_place(old[i2], old, new)
    if (before and i1 == run.start and at == j1) or (behind and i2 == run.end and end == j2):
        return True
    return (before or behind) and max(run.start - i1, i2 - run.end, at - j1, j2 - end) <= APART


def _within(run: Run, old: Sequence[bytes], new: Sequence[bytes], block: Block, at: int) -> bool:
    """Whether that is the same function or section; or one whose first line was edited, and the block lies within it."""
    line = next((line for line in run.added if _TELLING.search(line)), run.added[0])
    if chain(old, run.start, line) == chain(new, at, line):
        return True
    inside = header(new, at, line)
    edited = inside is not None and inside < block[2] and new[inside] not in old
    return edited and (block[0], block[1]) == (run.start, run.end)


def _undone(
    added: Sequence[bytes], before: Iterable[bytes], behind: Iterable[bytes], replaced: Iterable[bytes]
) -> bool:
    """Whether what came in with it may take it back: a jump or a condition before it, or its own words again behind it.

    Behind it, edited lines of those that were `replaced` there are nothing new.
    """
    if any(_LEAVES.match(line) for line in before):
        return True
    own, known = _words(*added), [_words(line) for line in replaced]
    least = min(map(indent, filter(_TELLING.search, added)), default=0)
    within = takewhile(lambda line: indent(line) >= least or not _TELLING.search(line), behind)
    said = [_words(line) for line in within]
    return any(not own.isdisjoint(one) and not any(_alike(one, other) for other in known) for one in said)


def _words(*lines: bytes) -> frozenset[bytes]:
    return frozenset(word for line in lines for word in _WORD.findall(line)) - _EVERYWHERE


def _alike(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    return 2 * len(one & other) > len(one)


def _names_one_place(line: bytes, old: Sequence[bytes], new: Sequence[bytes]) -> bool:
    return bool(_TELLING.search(line)) and old.count(line) == 1 and new.count(line) == 1


def came_twice(run: Run, base: bytes, now: bytes, after: bytes) -> bool:
    """Whether what a run adds stands in `now` more often than in the base, and once more in `after`."""
    if not any(_TELLING.search(line) for line in run.added):
        return False
    before, there, then = (_count(split_lines(text), run.added) for text in (base, now, after))
    return before < there < then


def _count(lines: Sequence[bytes], block: Sequence[bytes]) -> int:
    """How often a block of lines, one at least, stands in a text."""
    wanted, found, at = tuple(block), 0, -1
    while True:
        try:
            at = lines.index(wanted[0], at + 1)
        except ValueError:
            return found
        found += tuple(lines[at : at + len(wanted)]) == wanted
