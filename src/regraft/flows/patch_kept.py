"""What history shows of a change, and no single version does.

What came in once and was never taken back is there, where the lines beside it moved on. And what looks like the change, and stood
there as often before the commit that made it look so, is another one's: a twin function of which only the other was rewritten.
"""

from collections.abc import Mapping, Sequence

from regraft.core.file_state import FileVerdict
from regraft.core.history_walk import Moment
from regraft.core.hunk_places import places, sides
from regraft.core.hunk_state import HunkVerdict
from regraft.core.landed import Mark, followed, mark
from regraft.core.patch_text import Hunk, PatchText, Section
from regraft.core.patch_verdict import PatchVerdict, folded
from regraft.core.plan import PatchState
from regraft.flows.ports import HistorySource

REASON = "it came in with {}, and nothing has taken it back since, though the lines beside it moved on"

DOUBT = "its result stood there before {} changed the file"

Verdicts = list[tuple[PatchVerdict, ...]]


def kept(texts: Sequence[PatchText], versions: Sequence[Moment], verdicts: Verdicts, source: HistorySource) -> Verdicts:
    """The verdicts on each version (newest first), mended."""
    mended = list(verdicts)
    for number, text in enumerate(texts):
        for place, section in enumerate(text.sections if not text.problems else ()):
            if section.kind == "edit" and section.hunks:
                _doubt((number, place), text, section, versions, mended, source)
            if section.kind in ("edit", "rename") and _worth(number, place, mended):
                _follow((number, place), text, section, versions, mended, source)
    return mended


def _doubt(  # noqa: PLR0913, PLR0917 - one section through all versions
    at: tuple[int, int],
    text: PatchText,
    section: Section,
    versions: Sequence[Moment],
    mended: Verdicts,
    source: HistorySource,
) -> None:
    """Takes hunks whose new side stands there for conflicts, where it stood as often in the version before it counted as there."""
    patch, place = at
    without: dict[int, str | None] = {}  # by hunk: the file's last version in which it was not there
    came: dict[int, str] = {}
    proved: set[int] = set()
    for index in range(len(versions) - 1, -1, -1):  # oldest first
        files = mended[index][patch].files
        held, by = versions[index].view.get(section.path), versions[index].by
        hunks = files[place].hunks if files else ()
        there = {hunk.index for hunk in hunks if hunk.state == "already-there"} if held is not None else set()
        for number in set(range(1, len(section.hunks) + 1)) - there:
            without[number] = held.oid if held is not None else None
            came.pop(number, None)
            proved.discard(number)
        asked = [number for number in sorted(there - proved) if number in without]
        by_base = bool(files) and files[place].state == "already-there" and files[place].reason is not None
        if held is None or by_base or not asked:
            continue
        doubted = {}
        for number in asked:
            came.setdefault(number, by.called if by is not None else "the history before")
            now, before = (_standing(section.hunks[number - 1], oid, source) for oid in (held.oid, without[number]))
            if 0 < now <= before:
                doubted[number] = DOUBT.format(came[number])
            else:
                proved.add(number)
        if doubted:
            row = mended[index]
            changed = (*files[:place], _doubted(files[place], section, doubted), *files[place + 1 :])
            mended[index] = (*row[:patch], folded(changed, text), *row[patch + 1 :])


def _standing(hunk: Hunk, oid: str | None, source: HistorySource) -> int:
    content = source.blob(oid) if oid is not None else None
    both = sides(hunk)
    return len(places(content, both.post, both)) if content is not None else 0


def _doubted(verdict: FileVerdict, section: Section, doubted: Mapping[int, str]) -> FileVerdict:
    hunks = tuple(
        HunkVerdict(hunk.index, hunk.line, "conflict", None, doubted[hunk.index]) if hunk.index in doubted else hunk
        for hunk in verdict.hunks
    )
    number, why = next(iter(doubted.items()))
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


def _follow(  # noqa: PLR0913, PLR0917 - one section through all versions
    at: tuple[int, int],
    text: PatchText,
    section: Section,
    versions: Sequence[Moment],
    mended: Verdicts,
    source: HistorySource,
) -> None:
    patch, place = at
    marks: tuple[Mark | None, ...] = ()
    origin = ""
    for index in range(len(versions) - 1, -1, -1):  # oldest first
        files = mended[index][patch].files
        verdict = files[place] if files else None
        held = versions[index].view.get(section.path)
        if verdict is None or held is None:
            marks = ()
            continue
        if verdict.state == "already-there":
            content = source.blob(held.oid)
            marks = tuple(mark(hunk, content) for hunk in section.hunks) if content is not None else ()
            by = versions[index].by
            origin = by.called if by is not None else "the history before"
        elif marks and verdict.state in ("conflict", "partial"):
            content = source.blob(held.oid)
            marks = tuple(followed(one, content) if one is not None else None for one in marks)
            better = _with_marks(verdict, marks, REASON.format(origin))
            if better is not None:
                changed = (*files[:place], better, *files[place + 1 :])
                row = mended[index]
                mended[index] = (*row[:patch], folded(changed, text), *row[patch + 1 :])
        else:
            marks = ()


def _with_marks(verdict: FileVerdict, marks: Sequence[Mark | None], reason: str) -> FileVerdict | None:
    """The file's verdict with the hunks that are proved to have stayed; None where that changes nothing."""
    if len(marks) != len(verdict.hunks):
        return None
    hunks = tuple(
        HunkVerdict(hunk.index, hunk.line, "already-there", None, reason)
        if hunk.state == "conflict" and found is not None
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
