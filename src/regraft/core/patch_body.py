"""Bodies of hunks whose headers do not count them right, and headers whose line ends were rewritten."""

from collections.abc import Sequence

from regraft.core.patch_scan import Scan
from regraft.core.patterns import regex

_NEXT = regex(rb"@@ -|diff |Index: |From [0-9a-f]{40} |-- ?\r?\Z|GIT binary patch|Binary files ")
_BARE_HUNK = regex(rb"@@ -[^\r]*@@\r")


def body_end(lines: Sequence[bytes], at: int) -> int:
    """Where the body that begins at line `at` (an index) ends by the look of it: at the next header, signature or prose."""
    end = at
    while end < len(lines):
        line = lines[end]
        header = line.startswith(b"--- ") and end + 1 < len(lines) and lines[end + 1].startswith(b"+++ ")
        if header or _NEXT.match(line) or line.rstrip(b"\r")[:1] not in (b"", b" ", b"+", b"-", b"\\"):
            break
        end += 1
    while end > at and not lines[end - 1].rstrip(b"\r"):
        end -= 1  # empty lines at the end stand between sections, as far as anybody can tell
    return end


def body_counts(lines: Sequence[bytes], at: int) -> tuple[int, int]:
    """How many old and new lines that body has."""
    marks = [line[:1] for line in lines[at : body_end(lines, at)]]
    context = sum(mark in (b"", b" ", b"\r") for mark in marks)
    return context + marks.count(b"-"), context + marks.count(b"+")


def first_header_return(scan: Scan) -> int | None:
    """The number of the first header line that ends in a carriage return, which no tool writes."""
    for raw in scan.raws:
        if raw.first < raw.hunks_at:
            for at in range(raw.first, raw.hunks_at):
                if scan.lines[at].endswith(b"\r"):
                    return at + 1
        headers = [hunk.line for hunk in raw.hunks]
        for number in headers:
            if _BARE_HUNK.fullmatch(scan.lines[number - 1]):
                return number
    if scan.in_last and _BARE_HUNK.fullmatch(scan.line(scan.raws[-1].hunks_at)):
        return scan.raws[-1].hunks_at + 1
    return None
