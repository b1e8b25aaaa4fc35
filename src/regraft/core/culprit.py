"""Which commit really made a change that a merge brought to the followed branch, and what it did to a file."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from regraft.core.line_diff import text_blocks
from regraft.core.objects import Commit, Tree
from regraft.core.patch_history import Renamed, Version, View
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

S = TypeVar("S")

_TELLING = regex(rb"\w{3}")

STEPS = 10_000  # commits that are looked at on both sides of one merge
DEPTH = 32  # merges within merges


class CommitLike(Protocol):
    @property
    def commit(self) -> Commit: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def parents(self) -> tuple[Commit, ...]: ...
    @property
    def date(self) -> int: ...


class Objects(Protocol):
    """Commits, and what a tree holds at a path. None: not here, or nothing there."""

    def find(self, oid: Commit, /) -> CommitLike | None: ...
    def version(self, tree: Tree, path: bytes, /) -> Version | None: ...


def descend(commit: Commit, paths: Sequence[bytes], judge: Callable[[View], S], objects: Objects) -> Commit:
    """The commit that made what `commit` brought: itself, or one of the side branch that it merged.

    `judge` tells a world by the paths given. A side is followed where its tip has the same verdict as the merge, down its own
    first-parent line to the newest commit before which it had another one. A merge that no side explains made it itself.
    """
    for _ in range(DEPTH):
        here = objects.find(commit)
        if here is None or len(here.parents) < 2:
            return commit
        wanted = judge(_view(here, paths, objects))
        made = (_made_by(side, here.parents[0], paths, judge, wanted, objects) for side in here.parents[1:])
        found = next((one for one in made if one is not None), None)
        if found is None:
            return commit
        commit = found
    return commit


def _made_by(  # noqa: PLR0913, PLR0917 - the question, and who answers it
    side: Commit, main: Commit, paths: Sequence[bytes], judge: Callable[[View], S], wanted: S, objects: Objects
) -> Commit | None:
    candidate: Commit | None = None
    line = side_line(side, main, objects)
    if line is None:
        return None
    known: dict[tuple[Version | None, ...], bool] = {}
    for one in line:
        view = _view(one, paths, objects)
        key = tuple(view.get(path) for path in paths)
        if key not in known:
            known[key] = judge(view) == wanted
        if not known[key]:
            return candidate
        candidate = one.commit
    return None  # it was so before the two parted


def side_line(side: Commit, main: Commit, objects: Objects) -> list[CommitLike] | None:
    """The first-parent line of a merged side, newest first, down to where it parted from the main line, which is the last.

    What the main line merged before counts as its own. None where that place is not found: history is cut off, or too long.
    """
    ours: set[Commit] = {main}
    theirs: dict[Commit, CommitLike] = {}
    a, b = objects.find(main), objects.find(side)
    for _ in range(STEPS):  # the younger of the two first, so that neither runs far beyond where they parted
        if b is not None and (a is None or b.date >= a.date):
            theirs[b.commit] = b
            if b.commit in ours:
                break
            b = objects.find(b.parents[0]) if b.parents else None
        elif a is not None:
            ours.update(a.parents)
            if not theirs.keys().isdisjoint(a.parents):
                break
            a = objects.find(a.parents[0]) if a.parents else None
        else:
            break
    line: list[CommitLike] = []
    for commit, found in theirs.items():
        line.append(found)
        if commit in ours:
            return line
    return None


def _view(commit: CommitLike, paths: Sequence[bytes], objects: Objects) -> View:
    found = ((path, objects.version(commit.tree, path)) for path in paths)
    return {path: version for path, version in found if version is not None}


def likely_moved(renamed: Renamed, hunks: Sequence[Hunk], content: bytes) -> bool:
    """Whether a file went there, for what git finds below its usual similarity (50): the name is the same, or most of the
    telling lines that the patch expects are in it.
    """
    if renamed.similarity >= 50 or renamed.old.rpartition(b"/")[2] == renamed.new.rpartition(b"/")[2]:
        return True
    wanted = {line[1:].strip() for hunk in hunks for line in hunk.body if not line.startswith((b"+", b"\\"))}
    telling = [line for line in wanted if _TELLING.search(line)]
    there = {line.strip() for line in content.split(b"\n")}
    return bool(telling) and 2 * sum(line in there for line in telling) > len(telling)


def rewritten(old: bytes, new: bytes, near: tuple[int, int] | None) -> tuple[int, int] | None:
    """The first and last line (from 1, in `old`) of what is no longer there, or where lines came in between.

    `near` are the first and last line of the place of interest: only changes there count, if there are any.
    None where nothing changed.
    """
    blocks = [(start + 1, max(end, start + 1)) for start, end, _, _ in text_blocks(old, new)[2]]
    if not blocks:
        return None
    inside = [(start, end) for start, end in blocks if near is None or (start <= near[1] and end >= near[0])]
    chosen = inside or blocks
    return min(start for start, _ in chosen), max(end for _, end in chosen)
