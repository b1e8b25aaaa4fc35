"""Takes for there what came in once within a range and was never taken back, where no single version shows it any more."""

from collections.abc import Sequence

from regraft.core.file_state import FileVerdict
from regraft.core.history_walk import Moment
from regraft.core.hunk_state import HunkVerdict
from regraft.core.landed import Mark, mark, stands
from regraft.core.patch_text import PatchText, Section
from regraft.core.patch_verdict import PatchVerdict, folded
from regraft.core.plan import PatchState
from regraft.flows.ports import HistorySource

REASON = "it came in with {}, and nothing has taken it back since, though the lines beside it moved on"

Verdicts = list[tuple[PatchVerdict, ...]]


def kept(texts: Sequence[PatchText], versions: Sequence[Moment], verdicts: Verdicts, source: HistorySource) -> Verdicts:
    """The verdicts on each version (newest first), mended."""
    mended = list(verdicts)
    for number, text in enumerate(texts):
        for place, section in enumerate(text.sections if not text.problems else ()):
            if section.kind in ("edit", "rename") and _worth(number, place, verdicts):
                _follow((number, place), text, section, versions, mended, source)
    return mended


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
            marks = tuple(one if one is not None and stands(one, content) else None for one in marks)
            better = _with_marks(verdict, marks, REASON.format(origin))
            if better is not None:
                changed = (*files[:place], better, *files[place + 1 :])
                row = mended[index]
                mended[index] = (*row[:patch], folded(changed, text), *row[patch + 1 :])
        elif verdict.state == "applies":
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
