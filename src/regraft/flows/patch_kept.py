"""What history shows of a change, and no single version does.

What came in once and was never taken back is there, where the lines beside it moved on. And what looks like the change, and stood
there as often before the commit that made it look so, is another one's: a twin function of which only the other was rewritten.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from regraft.core.content_state import LEAST_DIGITS
from regraft.core.file_state import UNSHOWN, UNTOLD, FileVerdict
from regraft.core.history_walk import Moment
from regraft.core.hunk_places import places, sides
from regraft.core.hunk_state import HunkVerdict
from regraft.core.landed import Mark, followed, mark, mark_made
from regraft.core.own_place import ELSEWHERE, made_on, new_lines, stands_in_own_place
from regraft.core.patch_history import Version
from regraft.core.patch_id import file_patch_id, landed_hunks
from regraft.core.patch_memo import Recall
from regraft.core.patch_text import Hunk, PatchText, Section, Substitution
from regraft.core.patch_verdict import PatchVerdict, folded
from regraft.core.plan import PatchState
from regraft.flows.patch_others import OtherChanges
from regraft.flows.patch_went import RENAMED, Went
from regraft.flows.ports import HistorySource

REASON = "it came in with {}, and nothing has taken it back since, though the lines beside it moved on"
SAME = "{} made the same change to it (patch-id {}), and nothing has taken it back since"
BEFORE = "the history before"
DOUBT = "its result stood there before {} changed the file"

Verdicts = list[tuple[PatchVerdict, ...]]


def kept(  # noqa: PLR0913, PLR0917 - once, in `patch_history.walk`
    texts: Sequence[PatchText],
    versions: Sequence[Moment],
    verdicts: Verdicts,
    source: HistorySource,
    recall: Recall | None = None,
    engine: bytes = b"",
) -> Verdicts:
    """The verdicts on each version (newest first), mended. `recall` spares a later run what two versions had to be read for."""
    mended = list(verdicts)
    for number, text in enumerate(texts):
        for place, section in enumerate(text.sections if not text.problems else ()):
            if all(patches[number].files[place].state == "applies" for patches in verdicts if patches[number].files):
                continue
            one = _Section(number, place, text, section, versions, mended, source, recall, engine)
            if section.kind == "edit" and (section.hunks or section.substitutions):
                one.doubt()
            if section.kind in ("edit", "rename", "create") and _worth(number, place, mended):
                one.follow()
            if section.kind == "delete":
                one.deleted()
            if section.kind == "rename" and not (section.changes_content or section.changes_mode):
                one.renamed()
            if one.alone and _in_conflict(number, place, mended):
                one.made()
    return mended


class _Section(Struct):
    """One section of one patch through all versions, whose verdicts are mended in place."""

    patch: int
    place: int
    text: PatchText
    section: Section
    versions: Sequence[Moment]
    mended: Verdicts
    source: HistorySource
    recall: Recall | None
    engine: bytes

    def doubt(self) -> None:
        """Takes hunks whose new side stands there for conflicts, where it stood as often in the version before it counted as there."""
        hunks_of = self.section.hunks or self.section.substitutions
        without: dict[int, str | None] = {}  # by hunk: the file's last version in which it was not there
        came: dict[int, str] = {}
        proved: set[int] = set()
        for index in range(len(self.versions) - 1, -1, -1):  # oldest first
            verdict, held, by = self._verdict(index), self._held(index), self.versions[index].by
            hunks = verdict.hunks if verdict else ()
            there = {hunk.index for hunk in hunks if hunk.state == "already-there"} if held is not None else set()
            for number in set(range(1, len(hunks_of) + 1)) - there:
                without[number] = held.oid if held is not None else None
                came.pop(number, None)
                proved.discard(number)
            asked = [number for number in sorted(there - proved) if number in without]
            by_base = verdict is not None and verdict.state == "already-there" and verdict.reason is not None
            if verdict is None or held is None or by_base or not asked:
                continue
            doubted = {}
            for number in asked:
                came.setdefault(number, by.called if by is not None else BEFORE)
                now, before = (_standing(hunks_of[number - 1], oid, self.source) for oid in (held.oid, without[number]))
                if 0 < now <= before:
                    doubted[number] = DOUBT.format(came[number])
                elif not self._own(index, number, held.oid):
                    doubted[number] = ELSEWHERE
                else:
                    proved.add(number)
            if doubted:
                self._replace(index, _doubted(verdict, self.section, doubted))

    def follow(self) -> None:
        """Takes hunks for there that came in whole, and whose lines nothing has touched since."""
        marks: tuple[Mark | None, ...] = ()
        origin = mode = ""
        for index in range(len(self.versions) - 1, -1, -1):  # oldest first
            verdict, held, by = self._verdict(index), self._held(index), self.versions[index].by
            if verdict is None or held is None:
                marks = ()
            elif verdict.state == "already-there":
                content = self.source.blob(held.oid)
                marks = tuple(mark(hunk, content) for hunk in self.section.hunks) if content is not None else ()
                origin, mode = by.called if by is not None else BEFORE, held.mode
            elif marks and verdict.state in ("conflict", "partial"):
                content = self.source.blob(held.oid)
                marks = tuple(followed(one, content) if one is not None else None for one in marks)
                if self.section.kind == "create":
                    verdict = _as_hunks(verdict, self.section) if held.mode == mode else verdict
                better = _with_marks(verdict, marks, REASON.format(origin))
                if better is not None:
                    self._replace(index, better)
            else:
                marks = ()

    def deleted(self) -> None:
        """Takes a deletion for there where a commit took the file away and put its lines nowhere else."""
        told: tuple[bool, str] | None = None
        for index in range(len(self.versions) - 1, -1, -1):  # oldest first
            verdict, held, by, old = (
                self._verdict(index),
                self._held(index),
                self.versions[index].by,
                self._held(index + 1),
            )
            untold = held is None and verdict is not None and verdict.reason == UNTOLD
            if held is not None:
                told = None
            elif old is not None and by is not None:
                told = Went(self.source, self.recall, self.engine).told(by, self.section.path, old) if untold else None
            if untold and told is not None:
                hunks = self.section.hunks if told[0] else ()
                there = tuple(HunkVerdict(number, one.line, "already-there") for number, one in enumerate(hunks, 1))
                state: PatchState = "already-there" if told[0] else "conflict"
                self._replace(index, FileVerdict(self.section.path, state, told[1], there))

    def renamed(self) -> None:
        """Takes a rename without a change for there where a commit moved the very content."""
        reason: str | None = None
        for index in range(len(self.versions) - 1, -1, -1):  # oldest first
            verdict, by = self._verdict(index), self.versions[index].by
            new, old = self._held(index), self._held(index, self.section.old_path)
            was = self._held(index + 1, self.section.old_path)
            if old is not None or new is None:
                reason = None
            elif was is not None and by is not None:
                moved = was == new and self._held(index + 1) != new
                reason = RENAMED.format(by.called) if moved else None
            if reason and verdict is not None and UNSHOWN in (verdict.reason or ""):
                self._replace(index, FileVerdict(self.section.path, "already-there", reason))

    @property
    def alone(self) -> bool:
        """Whether it is an edit, and the patch says nothing else of the file."""
        return self.section.kind == "edit" and sum(one.path == self.section.path for one in self.text.sections) == 1

    def made(self) -> None:
        """Takes hunks for there where a commit made just this change to the file, and whose lines nothing has touched since.

        That finds what no version shows: a hunk that only removes lines, one that came in with other white space.
        """
        marks: tuple[Mark | None, ...] = ()
        reason, others = "", OtherChanges(self.section, self.recall, self.engine)
        for index in range(len(self.versions) - 1, -1, -1):  # oldest first
            verdict, held, by = self._verdict(index), self._held(index), self.versions[index].by
            if verdict is None or held is None or verdict.state not in ("conflict", "partial", "already-there"):
                marks = ()
            elif marks:
                content = self.source.blob(held.oid)
                marks = tuple(one and followed(one, content) for one in marks)
            elif by is not None and self._held(index + 1) not in (None, held):
                marks = self._made_by(index, others)
                reason = SAME.format(by.called, file_patch_id(self.section)[:12]) if marks else ""
            if not any(marks):
                marks = ()
            elif (
                verdict
                and verdict.state != "already-there"
                and (better := _with_marks(verdict, marks, reason)) is not None
            ):
                self._replace(index, better)
        others.keep()

    def _made_by(self, index: int, others: OtherChanges) -> tuple[Mark | None, ...]:
        """A mark for each hunk, where the commit behind a version made them all and did nothing else to the file."""
        new, old = self._held(index), self._held(index + 1)
        if new is None or old is None or {new.mode[:3], old.mode[:3]} != {"100"}:
            return ()
        if others.has(old, new):
            return ()
        before, after = self.source.blob(old.oid), self.source.blob(new.oid)
        if before is None or after is None:
            return ()
        hunks = landed_hunks(self.section, before, after)
        if hunks is None:
            others.add(old, new)
        places = enumerate(hunks or (), 1)
        if not all(self._own(index, number, new.oid, hunk.new_start - 1) for number, hunk in places):
            return ()
        return tuple(mark_made(hunk, after) for hunk in hunks or ())

    def _own(self, index: int, number: int, oid: str, line: int | None = None) -> bool:
        """Whether a hunk's result stands in its own place in that blob (at that line, from 0), which came in with version `index`.

        Taken for granted where no version is known that has the hunk's old side at its own line.
        """
        hunk = self.section.hunks[number - 1] if self.section.hunks else None
        base, now = self._base(index, number, hunk) if hunk else None, self.source.blob(oid)
        if hunk is None or base is None or now is None:
            return True
        lines = new_lines(hunk, now) if line is None else [line]
        return not lines or stands_in_own_place(
            hunk, base, now, lines
        )  # none: later patches of the series are there on top

    def _base(self, index: int, number: int, hunk: Hunk) -> bytes | None:
        """A version with the hunk's old side at its own line: the one that the patch names, else the last before `index`."""
        name = self.section.old_oid or ""
        named = self.source.blob_named(name) if len(name) >= LEAST_DIGITS and name.strip("0") else None
        if named is not None and made_on(hunk, named):
            return named
        for older in range(index + 1, len(self.versions)):
            verdict, held = self._verdict(older), self._held(older)
            one = verdict.hunks[number - 1] if verdict and len(verdict.hunks) >= number else None
            if held is not None and one is not None and one.state == "applies" and one.offset == 0:
                content = self.source.blob(held.oid)
                return content if content is not None and made_on(hunk, content) else None
        return None

    def _verdict(self, index: int) -> FileVerdict | None:
        files = self.mended[index][self.patch].files
        return files[self.place] if files else None

    def _held(self, index: int, path: bytes | None = None) -> Version | None:
        if index >= len(self.versions):
            return None
        return self.versions[index].view.get(self.section.path if path is None else path)

    def _replace(self, index: int, verdict: FileVerdict) -> None:
        row = self.mended[index]
        files = row[self.patch].files
        changed = (*files[: self.place], verdict, *files[self.place + 1 :])
        self.mended[index] = (*row[: self.patch], folded(changed, self.text), *row[self.patch + 1 :])


def _standing(hunk: Hunk | Substitution, oid: str | None, source: HistorySource) -> int:
    content = source.blob(oid) if oid is not None else None
    if content is None:
        return 0
    if isinstance(hunk, Substitution):
        return content.count(hunk.new) if hunk.new else 0
    both = sides(hunk)
    return len(places(content, both.post, both))


def _doubted(verdict: FileVerdict, section: Section, doubted: Mapping[int, str]) -> FileVerdict:
    hunks = tuple(
        HunkVerdict(hunk.index, hunk.line, "conflict", None, doubted[hunk.index]) if hunk.index in doubted else hunk
        for hunk in verdict.hunks
    )
    number, why = next(iter(doubted.items()))
    if section.substitutions:
        line = section.substitutions[number - 1].line
        return FileVerdict(verdict.path, "conflict", f"{why} (entry {number}, declared in line {line})", hunks)
    start = section.hunks[number - 1].start
    reason = f"hunk {number} of {len(hunks)} does not fit (line {start} of the file); {why}"
    return FileVerdict(verdict.path, "conflict", reason, hunks)


def _worth(number: int, place: int, verdicts: Verdicts) -> bool:
    """Whether the file was there already in one version, and in conflict in a newer one."""
    seen_conflict = False
    for patches in verdicts:
        files = patches[number].files
        if not files:
            continue
        if files[place].state == "conflict":
            seen_conflict = True
        elif files[place].state == "already-there" and seen_conflict:
            return True
    return False


def _in_conflict(number: int, place: int, verdicts: Verdicts) -> bool:
    """Whether the file's change neither applies nor is there in some version."""
    states = (patches[number].files[place].state for patches in verdicts if patches[number].files)
    return any(state in ("conflict", "partial") for state in states)


def _as_hunks(verdict: FileVerdict, section: Section) -> FileVerdict:
    """A new file that exists with other content is judged as a whole; here as hunks that may have stayed in it."""
    hunks = tuple(HunkVerdict(number, one.line, "conflict") for number, one in enumerate(section.hunks, 1))
    return FileVerdict(verdict.path, verdict.state, verdict.reason, hunks)


def _with_marks(verdict: FileVerdict, marks: Sequence[Mark | None], reason: str) -> FileVerdict | None:
    """The file's verdict with the hunks that are proved to have stayed; None where that changes nothing."""
    if len(marks) != len(verdict.hunks):
        return None
    hunks = tuple(
        HunkVerdict(hunk.index, hunk.line, "already-there", None, reason)
        if hunk.state == "conflict" and found is not None and not (hunk.reason or "").startswith("ambiguous: it fits")
        else hunk
        for hunk, found in zip(verdict.hunks, marks, strict=True)
    )
    if hunks == verdict.hunks:
        return None
    states = {hunk.state for hunk in hunks}
    if "conflict" in states:
        state: PatchState = "conflict"
    else:
        state = "already-there" if states == {"already-there"} else "partial"
    return FileVerdict(verdict.path, state, reason if state != "conflict" else verdict.reason, hunks)
