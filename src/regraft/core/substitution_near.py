"""What an exact text that is not in a file lacks, where something next to it is."""

import re
from collections.abc import Sequence

from regraft.core.patterns import regex
from regraft.core.trees import printable

SHOWN = 80  # characters of a line
LEAST = 4  # characters of a line that tells
LARGEST = 8 * 1024  # bytes of a text that is looked for without its white space
ALIKE = 0.5  # of the words of two lines

_BLANKS = b" \t\r\n\v\f"
_WORD = regex(rb"\w+")


def nearest_text(wanted: bytes, content: bytes) -> str:
    """Why it is not found, as far as a look at the file tells, with the line (from 1) of what is nearest."""
    return _but_for_blanks(wanted, content) or _by_lines(wanted, content)


def _but_for_blanks(wanted: bytes, content: bytes) -> str | None:
    bare = wanted.translate(None, _BLANKS)
    if not bare or len(bare) > LARGEST or bare not in content.translate(None, _BLANKS):
        return None
    found = re.search(rb"\s*".join(re.escape(bytes((byte,))) for byte in bare), content)
    if found is None:
        return None
    line = content.count(b"\n", 0, found.start()) + 1
    have, want = found[0], wanted.strip(_BLANKS)
    if have.replace(b"\r\n", b"\n") == want.replace(b"\r\n", b"\n") and (b"\r\n" in have) != (b"\r\n" in want):
        return f"it stands in line {line} with other line ends"
    ours, theirs = ([one for one in text.split(b"\n") if one.strip()] for text in (want, have))
    if ours == theirs:
        if have.count(b"\n") > want.count(b"\n"):
            return f"it stands in line {line}, split by a blank line"
        if have.count(b"\n") < want.count(b"\n"):
            return f"it stands in line {line}, without a blank line in it"
    return f"it differs only in white space from what stands in line {line}"


def _by_lines(wanted: bytes, content: bytes) -> str:
    lines = content.split(b"\n")
    first: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        first.setdefault(line.strip(), number)
    telling = [line.strip() for line in wanted.split(b"\n") if len(line.strip()) >= LEAST] or [wanted.strip()]
    here = [line for line in telling if line in first]
    lost = next((line for line in telling if line not in first), telling[0])
    near = _alike(lost, lines)
    nearest = f"; the nearest is line {near}, {_shown(lines[near - 1])}" if near is not None else ""
    if not here:
        return f"it is not there{nearest}"
    return f"its line {_shown(lost)} is not there{nearest}, and line {first[here[0]]} has another of its lines"


def _alike(line: bytes, lines: Sequence[bytes]) -> int | None:
    """The number of the line that shares most words with it, and half of them at least."""
    wanted = set(_WORD.findall(line))
    best, found = ALIKE, None
    for number, other in enumerate(lines, 1):
        words = set(_WORD.findall(other))
        share = len(wanted & words) / len(wanted | words) if wanted & words else 0.0
        if share > best or (found is None and share >= best):
            best, found = share, number
    return found


def _shown(line: bytes) -> str:
    return "'" + printable(line.strip().decode("utf-8", "replace"), SHOWN) + "'"
