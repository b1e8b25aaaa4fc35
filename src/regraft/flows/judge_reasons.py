"""Why a file of a patch does not fit, as far as git lets it be found out."""

from typing import Literal

from regraft.core.patch_text import Hunk
from regraft.core.quoting import quoted
from regraft.core.trees import ApplyOutcome
from regraft.flows.patch_reading import FileChange, Reading
from regraft.flows.ports import ScratchIndex

SHOWN = 5

_NEARLY: tuple[tuple[Literal["final-newline", "whitespace"], str], ...] = (
    ("final-newline", "the newline at the end of the file"),
    ("whitespace", "white space"),
)


def why_not(file: FileChange, reading: Reading, index: ScratchIndex, outcome: ApplyOutcome) -> str:
    """One line. `outcome` is git's on this file alone."""
    hunks = [hunk for _, section in file.changes for hunk in section.hunks]
    number = next((number for number, hunk in enumerate(hunks, 1) if hunk.start == outcome.line), None)
    if number is None:
        return f"git says {quoted(outcome.message)}"
    said = f"hunk {number} of {len(hunks)} does not fit (line {outcome.line} of the file)"
    for lenient, words in _NEARLY:
        nearly = index.apply(reading.data, check_only=True, include=file.new_paths, lenient=lenient)
        if nearly.verdict == "fits":
            return f"{said}; it differs only in {words}{_stripped(hunks, reading)}"
    if not any(hunk.has_context for hunk in hunks):
        said += "; it has no lines of context (diff -U0), which git refuses"
    return said


def _stripped(hunks: list[Hunk], reading: Reading) -> str:
    """An editor or a hook that takes trailing blanks away turns an empty line of context into nothing."""
    lines = [
        line for line in reading.text.bare if any(hunk.line < line <= hunk.line + len(hunk.body) for hunk in hunks)
    ]
    if not lines:
        return ""
    more = ", …" if len(lines) > SHOWN else ""
    return f"; lines {', '.join(map(str, lines[:SHOWN]))}{more} of the patch lost their trailing blank"
