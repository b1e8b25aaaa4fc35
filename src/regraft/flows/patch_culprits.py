"""Who made each change of a patch's state, through merges, and what that commit did to the file that decided."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from regraft.core.culprit import descend, likely_moved, rewritten
from regraft.core.history_view import HistoryView
from regraft.core.history_walk import Moment
from regraft.core.objects import Tree
from regraft.core.patch_history import CommitObject, Culprit, Renamed, Touch, Turn, Version, View
from regraft.core.patch_memo import Series
from regraft.core.patch_text import Section
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.plan import PatchState
from regraft.core.pull_numbers import pull_number
from regraft.core.tree_view import kind_of
from regraft.core.trees import printable, shown
from regraft.errors import OutsideError
from regraft.flows.ports import HistorySource

SUBJECT = 400


class _Case(Struct, frozen=True):
    """One change of one patch's state. `section` decided, by its number."""

    patch: int
    index: int  # of the version after it
    section: int
    by: Touch
    before: PatchVerdict
    after: PatchVerdict


class _Made(Struct, frozen=True):
    """The commit that made a change, its first parent, and what both hold at the old path of the section that decided."""

    commit: CommitObject
    parent: CommitObject | None
    old: Version | None
    new: Version | None

    @property
    def trees(self) -> tuple[Tree, Tree] | None:
        """What to compare in order to see where the file went; None where none went."""
        if self.parent is None or self.old is None or self.new is not None:
            return None
        return self.parent.tree, self.commit.tree


Renames = Mapping[tuple[Tree, Tree], Sequence[Renamed]]


def culprits(
    series: Series,
    versions: Sequence[Moment],
    worlds: Sequence[HistoryView],
    verdicts: Sequence[Sequence[PatchVerdict]],
    source: HistorySource,
) -> list[tuple[Turn, ...]]:
    """Per patch its changes of state, newest first. What was moved is asked for all of them at once.

    What the past made is remembered: it does not change.
    """
    cases = _cases(series, versions, verdicts)
    found = [_remembered(case, series) for case in cases]
    fresh = [case for case, one in zip(cases, found, strict=True) if one is None]
    made = [_made(case, series, worlds[case.index], source) for case in fresh]
    renames = _renames({one.trees for one in made if one.trees is not None}, source)
    turns: list[list[Turn]] = [[] for _ in series.texts]
    waiting = iter(made)
    for case, known in zip(cases, found, strict=True):
        culprit = known
        if culprit is None:
            section = series.texts[case.patch].sections[case.section]
            culprit = _told(case, section, next(waiting), renames, source)
            if series.recall is not None and (renames is not None or culprit.deleted is None):
                series.recall.put(_key(case, series), msgspec.msgpack.encode(culprit))
        turns[case.patch].append(Turn(case.by, case.before, case.after, culprit))
    return [tuple(some) for some in turns]


def _key(case: _Case, series: Series) -> bytes:
    sides = [
        (one.state, [file.hunks for file in one.files[case.section : case.section + 1]])
        for one in (case.before, case.after)
    ]
    said = (case.patch, case.section, case.by.commit, sides)
    return hashlib.sha256(b"culprit\0" + series.digest + msgspec.msgpack.encode(said)).digest()


def _remembered(case: _Case, series: Series) -> Culprit | None:
    data = series.recall.get(_key(case, series)) if series.recall is not None else None
    try:
        return msgspec.msgpack.decode(data, type=Culprit) if data is not None else None
    except msgspec.DecodeError:
        return None


def _renames(pairs: set[tuple[Tree, Tree]], source: HistorySource) -> Renames | None:
    try:
        return source.renames(sorted(pairs)) if pairs else {}
    except OutsideError as error:
        if error.code != "missing-objects":
            raise
        return None  # a clone without files: what was moved where is not said


def _cases(series: Series, versions: Sequence[Moment], verdicts: Sequence[Sequence[PatchVerdict]]) -> list[_Case]:
    found = []
    for index in range(len(versions) - 1):
        by = versions[index].by
        for patch in range(len(series.texts)):
            after, before = verdicts[index][patch], verdicts[index + 1][patch]
            if after.state != before.state and by is not None:
                section = _deciding(series, patch, by, before, after)
                found.append(_Case(patch, index, section, by, before, after))
    return found


def _deciding(series: Series, patch: int, by: Touch, before: PatchVerdict, after: PatchVerdict) -> int:
    """The section whose change of state is the patch's: of a file that was touched, and with the new state if there is one."""
    touched = {change.path for change in by.changes}
    sections = series.texts[patch].sections
    ranked = [
        (
            one.state != after.state,
            touched.isdisjoint((sections[number].path, sections[number].old_path)),
            number,
        )
        for number, (one, old) in enumerate(zip(after.files, before.files, strict=True))
        if one.state != old.state or one.hunks != old.hunks
    ]
    return min(ranked)[2] if ranked else 0


def _made(case: _Case, series: Series, world: HistoryView, source: HistorySource) -> _Made:
    section = series.texts[case.patch].sections[case.section]
    paths = tuple(dict.fromkeys((section.old_path, section.path)))
    others = {path: one for path, one in world.known.items() if path not in paths}

    def state(view: View) -> PatchState:
        there = HistoryView({**others, **view}, world.wanted, source)
        return series.judge(there).patches[case.patch].files[case.section].state

    commit = source.commit(descend(case.by.commit, paths, state, source))
    parent = source.find(commit.parents[0]) if commit.parents else None
    old = source.version(parent.tree, section.old_path) if parent else None
    return _Made(commit, parent, old, source.version(commit.tree, section.old_path))


def _told(case: _Case, section: Section, made: _Made, renames: Renames | None, source: HistorySource) -> Culprit:
    commit, through = made.commit, case.by.commit
    messages = (commit.subject, source.commit(through).message, commit.message)  # a merge may bring many pull requests
    pull = next((number for one in messages if (number := pull_number(one)) is not None), None)
    subject = printable(commit.subject[: 4 * SUBJECT], SUBJECT)
    plain = Culprit(
        commit.commit, subject, commit.date, pull, through if through != commit.commit else None, release=commit.release
    )
    old, new, path = made.old, made.new, shown(section.old_path)
    if old is None:
        return plain
    if new is None:
        return _gone(msgspec.structs.replace(plain, deleted=path), section, made, renames, source)
    if kind_of(old.mode) != kind_of(new.mode):
        return msgspec.structs.replace(plain, retyped=(path, kind_of(new.mode)))
    before, after = source.blob(old.oid), source.blob(new.oid)
    lines = rewritten(before, after, _near(section, case)) if before is not None and after is not None else None
    return msgspec.structs.replace(plain, rewrote=(path, *lines)) if lines else plain


def _gone(culprit: Culprit, section: Section, made: _Made, renames: Renames | None, source: HistorySource) -> Culprit:
    """With where the file went, if that is believed."""
    for one in (renames or {}).get(made.trees, ()) if made.trees else ():
        if one.old != section.old_path:
            continue
        there = source.version(made.commit.tree, one.new)
        content = source.blob(there.oid) if there is not None else None
        if content is not None and likely_moved(one, section.hunks, content):
            return msgspec.structs.replace(culprit, renamed_to=shown(one.new), similarity=one.similarity)
    return culprit


def _near(section: Section, case: _Case) -> tuple[int, int] | None:
    """The lines, in the file before the change, of the first hunk whose state changed; None where they are not known."""
    before, after = (one.files[case.section].hunks for one in (case.before, case.after))
    for old, new in zip(before, after, strict=False):
        if old.state != new.state and old.state == "applies":
            if old.place is not None:
                return old.place, old.place + section.substitutions[old.index - 1].old.rstrip(b"\n").count(b"\n")
            hunk = section.hunks[old.index - 1]
            start = max(hunk.start, 1) + (old.offset or 0)
            length = sum(not line.startswith((b"+", b"\\")) for line in hunk.body)
            return start, start + max(length, 1) - 1
    return None
