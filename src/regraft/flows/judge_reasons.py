"""Why a file of a patch does not fit, as far as git and a look at the file tell."""

from regraft.core.nearly import differs_only_in
from regraft.core.patch_text import Hunk
from regraft.core.quoting import quoted
from regraft.core.trees import ApplyOutcome
from regraft.flows.patch_reading import FileChange, Reading

SHOWN = 5


def why_not(file: FileChange, reading: Reading, content: bytes | None, outcome: ApplyOutcome) -> str:
    """One line. `outcome` is git's on this file alone, `content` what the file holds now."""
    hunks = [hunk for _, section in file.changes for hunk in section.hunks]
    number = next((number for number, hunk in enumerate(hunks, 1) if hunk.start == outcome.line), None)
    if number is None:
        return f"git says {quoted(outcome.message)}"
    hunk = hunks[number - 1]
    said = f"hunk {number} of {len(hunks)} does not fit (line {outcome.line} of the file)"
    if content is not None and (words := differs_only_in(hunk, content)):
        return f"{said}; it differs only in {words}{_stripped(hunk, reading)}"
    if not hunk.has_context:
        said += "; it has no lines of context (diff -U0), which git refuses"
    return said


def _stripped(hunk: Hunk, reading: Reading) -> str:
    """An editor or a hook that takes trailing blanks away turns an empty line of context into nothing."""
    lines = [line for line in reading.text.bare if hunk.line < line <= hunk.line + len(hunk.body)]
    if not lines:
        return ""
    more = ", …" if len(lines) > SHOWN else ""
    return f"; lines {', '.join(map(str, lines[:SHOWN]))}{more} of the patch lost their trailing blank"
