"""What GNU `patch` would do with a hunk that fits nowhere: leave out lines of context until it does. That is a guess."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.patch_text import Hunk

FUZZ = 2  # lines of context at each end that `patch` leaves out unasked


class Guess(Struct, frozen=True):
    """Hunk `index` (from 1) would go to `line` (from 1; of what is left of it) of the file, with so many lines of context left out.

    `places`: how many other places are as good.
    """

    index: int
    line: int
    fuzz: int
    places: int


def guesses(content: bytes, hunks: Sequence[Hunk], failing: Sequence[int], most: int = FUZZ) -> Iterator[Guess]:
    """Of those hunks (by index) that `patch` would take in spite of their context, of which it leaves out `most` lines."""
    lines = content.split(b"\n")
    for index in failing if hunks else ():  # what is no diff has none
        hunk = hunks[index - 1]
        old = [line[1:] for line in hunk.body if not line.startswith((b"+", b"\\"))]
        before, after = _context(hunk)
        for fuzz in range(1, most + 1):
            start, end = min(fuzz, before), len(old) - min(fuzz, after)
            part = old[start:end]
            if not part or (start, end) == (0, len(old)):
                continue
            found = [at for at in range(len(lines) - len(part) + 1) if lines[at : at + len(part)] == part]
            if found:
                wanted = max(hunk.start - 1, 0) + start
                best = min(found, key=lambda at: abs(at - wanted))
                yield Guess(index, best + 1, fuzz, len(found) - 1)
                break


def _context(hunk: Hunk) -> tuple[int, int]:
    """How many lines of context stand before the first change and after the last."""
    body = [line for line in hunk.body if not line.startswith(b"\\")]
    changed = [at for at, line in enumerate(body) if line.startswith((b"+", b"-"))]
    return (changed[0], len(body) - 1 - changed[-1]) if changed else (len(body), 0)
