"""What a three-way merge makes of a file that a patch does not fit, from the very file that the patch was made on.

Only for a dependency whose own build applies its patches so (`apply = "3way"`). Nothing is guessed, and no side is taken.
"""

from collections.abc import Sequence

from regraft.core import three_way
from regraft.core.contained import Run, came_twice, runs_of
from regraft.core.hunk_state import HunksVerdict, HunkVerdict, judge_hunks
from regraft.core.patch_text import Section

SAID = "by a three-way merge"
BESIDE = "ambiguous: it fits, and its result is there as well"

_BINARY = 8000  # bytes in which git looks for a NUL


def merged(section: Section, content: bytes, verdict: HunksVerdict, base: bytes) -> bytes | str:
    """The merged file, or why there is none. `base` is what the hunks fit at their own lines; `verdict` is on `content`."""
    if any(b"\0" in text[:_BINARY] for text in (base, content)):
        return "it holds binary content, which no merge of lines can be trusted with"
    if any((hunk.reason or "").startswith(BESIDE) for hunk in verdict.hunks):
        return "its result is there as well, and a merge would make it twice"
    theirs = judge_hunks(base, section.hunks, base=base).content
    if theirs is None or theirs == base:
        return "it changes nothing in the file that it was made on"
    result = three_way.merge(base, content, theirs)
    if isinstance(result, three_way.Conflict):
        return f"nor does it merge: both sides changed what was line {result.start + 1}"
    if not three_way.settled(base, content, theirs, result):
        return "lines that repeat can be merged in several ways"
    if result == content:
        return "a merge changes nothing, and that does not show that it is there"
    if any(came_twice(run, base, content, result) for run in _runs(section)):
        return "what it adds came in elsewhere, and a merge would make it twice"
    return result


def by_merge(hunks: Sequence[HunkVerdict]) -> tuple[HunkVerdict, ...]:
    """The verdicts on the hunks of a file that merges."""
    return tuple(
        HunkVerdict(hunk.index, hunk.line, "applies", None, SAID) if hunk.state == "conflict" else hunk
        for hunk in hunks
    )


def _runs(section: Section) -> list[Run]:
    return [run for hunk in section.hunks for run in runs_of(hunk)]
