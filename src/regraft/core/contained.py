"""Whether a larger change holds a patch's own: each run of lines that a hunk changes lies in a block that the file changed since."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.line_diff import Block, split_lines, text_blocks
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

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
        came_in = _count(new[j1:j2], run.added) and _count(new, run.added) > _count(old, run.added)
        stays = removed and _count(new[j1:j2], removed) > _count(run.added, removed)
        return bool(telling and came_in and not stays)
    return False


def came_twice(run: Run, base: bytes, now: bytes, after: bytes) -> bool:
    """Whether what a run adds stands in `now` more often than in the base, and once more in `after`."""
    if not any(_TELLING.search(line) for line in run.added):
        return False
    before, there, then = (_count(split_lines(text), run.added) for text in (base, now, after))
    return before < there < then


def _count(lines: Sequence[bytes], block: Sequence[bytes]) -> int:
    size = len(block)
    return sum(list(lines[at : at + size]) == list(block) for at in range(len(lines) - size + 1))
