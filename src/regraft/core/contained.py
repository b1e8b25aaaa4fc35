"""Whether a larger change holds a patch's own: each run of lines that a hunk changes lies in a block that the file changed since.

That the same lines came in somewhere in such a block shows nothing: other functions of it may hold them. They must stand where
the patch puts them: next to a line of its context that names one place, or hardly apart from lines on both sides that stayed.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.line_diff import Block, split_lines, text_blocks
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

APART = 1  # lines that may stand between what a patch changes and the nearest line that stayed

_TELLING = regex(rb"\w{3}")


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
    for i1, i2, j1, j2 in blocks:
        if not (i1 <= run.start and run.end <= i2):
            continue
        if not run.added:
            return (i1, i2) == (run.start, run.end) and j1 == j2 and not _count(new, removed)
        telling = any(_TELLING.search(line) for line in run.added)
        came_in = _count(new, run.added) > _count(old, run.added) and _anchored(run, old, new, (i1, i2, j1, j2))
        stays = removed and _count(new[j1:j2], removed) > _count(run.added, removed)
        return bool(telling and came_in and not stays)
    return False


def _anchored(run: Run, old: Sequence[bytes], new: Sequence[bytes], block: Block) -> bool:
    """Whether what the run adds stands in the block where the run is: by the lines next to it, or by how near the block's ends are."""
    i1, i2, j1, j2 = block
    size = len(run.added)
    near = run.start - i1 <= APART and i2 - run.end <= APART
    before, behind = old[run.start - 1 : run.start] if run.start else [], old[run.end : run.end + 1]
    for at in range(j1, j2 - size + 1):
        end = at + size
        if tuple(new[at:end]) != run.added:
            continue
        sides = ((before, new[at - 1 : at] if at else []), (behind, new[end : end + 1]))
        if any(one and one == other and _names_one_place(one[0], old, new) for one, other in sides):
            return True
        ends = [*old[max(i1 - 1, 0) : i1], *old[i2 : i2 + 1]]
        if near and at - j1 <= APART and j2 - end <= APART and any(_names_one_place(one, old, new) for one in ends):
            return True
    return False


def _names_one_place(line: bytes, old: Sequence[bytes], new: Sequence[bytes]) -> bool:
    return bool(_TELLING.search(line)) and old.count(line) == 1 and new.count(line) == 1


def came_twice(run: Run, base: bytes, now: bytes, after: bytes) -> bool:
    """Whether what a run adds stands in `now` more often than in the base, and once more in `after`."""
    if not any(_TELLING.search(line) for line in run.added):
        return False
    before, there, then = (_count(split_lines(text), run.added) for text in (base, now, after))
    return before < there < then


def _count(lines: Sequence[bytes], block: Sequence[bytes]) -> int:
    size = len(block)
    return sum(list(lines[at : at + size]) == list(block) for at in range(len(lines) - size + 1))
