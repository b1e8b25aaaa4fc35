"""Where the files went that a patch edits: move by move, and to how many places."""

from collections.abc import Iterator

from regraft.core.culprit import likely_moved
from regraft.core.objects import Tree
from regraft.core.patch_history import Change, CommitObject
from regraft.core.patch_text import Section
from regraft.core.section_fit import state_on
from regraft.flows.patch_judging import Case
from regraft.flows.ports import HistorySource

MOVES = 16
COPIES = 200  # files that came in with a move, and are looked at


def moves(case: Case, index: int, tree: Tree) -> dict[bytes, bytes]:
    """Where files that the patch edits went: from the commits that changed its state on, move by move, to where they are now."""
    source = case.upstream.source
    gone = {one.old_path: one for one in case.texts[index].sections if source.version(tree, one.old_path) is None}
    found: dict[bytes, bytes] = {}
    for turn in case.history.patches[index].turns:
        for path, section in [*gone.items()] if turn.culprit.deleted is not None else ():
            first = _moved_by(source.commit(turn.culprit.commit), path, section, source)
            last = _went_on(case, first, section, tree) if first is not None else None
            if last is not None:
                found[path] = last
                del gone[path]
    return found


def _moved_by(commit: CommitObject, path: bytes, section: Section, source: HistorySource) -> bytes | None:
    """Where a commit moved a file to, if that is believed."""
    parent = source.find(commit.parents[0]) if commit.parents else None
    if parent is None:
        return None
    pair = parent.tree, commit.tree
    for one in source.renames([pair]).get(pair, ()):
        there = source.version(commit.tree, one.new) if one.old == path else None
        if there is None:
            continue
        source.complete([there.oid])
        content = source.blob(there.oid)
        if content is not None and likely_moved(one, section.hunks, content):
            return one.new
    return None


def _went_on(case: Case, path: bytes, section: Section, tree: Tree) -> bytes | None:
    """Where a file is now that a commit moved to `path`, however often it was moved since; None where it is lost."""
    source, seen = case.upstream.source, {section.old_path}
    while source.version(tree, path) is None and path not in seen and len(seen) <= MOVES:
        seen.add(path)
        line = source.line(case.commit, [path], last=max(case.history.commits, 1))
        took = (touch for touch in line.touches if any(_takes(change, path) for change in touch.changes))
        touch = next(took, None)  # the newest
        next_path = _moved_by(source.commit(touch.commit), path, section, source) if touch is not None else None
        if next_path is None:
            return None
        path = next_path
    return path if source.version(tree, path) is not None else None


def _takes(change: Change, path: bytes) -> bool:
    return change.path == path and change.old is not None and change.new is None


def copies(case: Case, index: int, path: bytes) -> list[bytes]:
    """The files that came in with the commit that took `path` away, and that the patch's change to it fits."""
    source = case.upstream.source
    section = next(one for one in case.texts[index].sections if one.old_path == path)
    for turn in case.history.patches[index].turns:
        commit = source.commit(turn.culprit.commit) if turn.culprit.deleted is not None else None
        parent = source.find(commit.parents[0]) if commit is not None and commit.parents else None
        if commit is not None and parent is not None and source.version(parent.tree, path) is not None:
            return [*_fitting(section, parent.tree, commit.tree, source)]
    return []


def _fitting(section: Section, before: Tree, after: Tree, source: HistorySource) -> Iterator[bytes]:
    ending = section.old_path.rpartition(b"/")[2].partition(b".")[2]
    alike = [one for one in source.listing(after) if one.kind == "blob" and one.path.endswith(ending)]
    old = source.versions(before, [one.path for one in alike])
    came = [one for one in alike if one.path not in old][:COPIES]
    source.complete({one.oid for one in came})
    for one in came:
        content = source.blob(one.oid)
        if content is not None and state_on(section, content) == "applies":
            yield one.path
