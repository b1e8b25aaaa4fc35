"""What an exact text that is not in a file lacks, where something next to it is."""

from bisect import bisect_left
from collections.abc import Sequence

from regraft.core.patterns import regex
from regraft.core.trees import printable

SHOWN = 80  # characters of a line
LEAST = 4  # characters of a line that tells
ALIKE = 0.5  # of the words of two lines
TELLING = 3  # words by which lines are found
MOST = 200  # lines of a word that are looked at

_BLANKS = b" \t\r\n\v\f"
_WORD = regex(rb"\w+")


def nearest_text(wanted: bytes, content: bytes) -> str:
    """Why it is not found, as far as a look at the file tells, with the line (from 1) of what is nearest."""
    return _but_for_blanks(wanted, content) or _by_lines(wanted, content)


def _but_for_blanks(wanted: bytes, content: bytes) -> str | None:
    bare = wanted.translate(None, _BLANKS)
    at = content.translate(None, _BLANKS).find(bare) if bare else -1
    if at < 0:
        return None
    start, last = _place(at, content), _place(at + len(bare) - 1, content)
    line = content.count(b"\n", 0, start) + 1
    have, want = content[start : last + 1], wanted.strip(_BLANKS)
    if have.replace(b"\r\n", b"\n") == want.replace(b"\r\n", b"\n") and (b"\r\n" in have) != (b"\r\n" in want):
        return f"it stands in line {line} with other line ends"
    ours, theirs = ([one for one in text.split(b"\n") if one.strip()] for text in (want, have))
    if ours == theirs:
        if have.count(b"\n") > want.count(b"\n"):
            return f"it stands in line {line}, split by a blank line"
        if have.count(b"\n") < want.count(b"\n"):
            return f"it stands in line {line}, without a blank line in it"
    return f"it differs only in white space from what stands in line {line}"


def _place(number: int, content: bytes) -> int:
    """Where the byte is that is no white space and has so many of them before it."""
    counts = range(len(content) + 1)
    return bisect_left(counts, number + 1, key=lambda end: len(content[:end].translate(None, _BLANKS))) - 1


def _by_lines(wanted: bytes, content: bytes) -> str:
    lines = [line.strip() for line in content.split(b"\n")]
    first = set(lines)
    telling = [line.strip() for line in wanted.split(b"\n") if len(line.strip()) >= LEAST] or [wanted.strip()]
    here = [line for line in telling if line in first]
    lost = next((line for line in telling if line not in first), telling[0])
    near = _alike(lost, content)
    nearest = f"; the nearest is line {near}, {_shown(lines[near - 1])}" if near is not None else ""
    if not here:
        return f"it is not there{nearest}"
    return (
        f"its line {_shown(lost)} is not there{nearest}, and line {lines.index(here[0]) + 1} has another of its lines"
    )


def _alike(line: bytes, content: bytes) -> int | None:
    """The number of the line that shares most words with it, and half of them at least: of those that have one of its longest."""
    wanted = set(_WORD.findall(line))
    best, found = 0.0, None
    for at in sorted(_lines_with(sorted(wanted, key=len)[-TELLING:], content)):
        end = content.find(b"\n", at)
        words = set(_WORD.findall(content[at : end if end >= 0 else len(content)]))
        share = len(wanted & words) / len(wanted | words)
        if share >= ALIKE and share > best:
            best, found = share, at
    return content.count(b"\n", 0, found) + 1 if found is not None else None


def _lines_with(words: Sequence[bytes], content: bytes) -> set[int]:
    """Where lines begin in which one of the words stands; not more than a few for each."""
    found: set[int] = set()
    for word in words:
        at = content.find(word)
        for _ in range(MOST):
            if at < 0:
                break
            found.add(content.rfind(b"\n", 0, at) + 1)
            at = content.find(word, at + 1)
    return found


def _shown(line: bytes) -> str:
    return "'" + printable(line.strip().decode("utf-8", "replace"), SHOWN) + "'"
