"""What GNU `patch` would do with a hunk that fits nowhere: leave out lines of context until it does. That is a guess."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.patch_text import Hunk

FUZZ = 2  # lines of context at each end that `patch` leaves out unasked


class Guess(Struct, frozen=True):
    """Hunk `index` (from 1) would go to `line` (from 1, as `patch` says it: where all of the hunk would begin, in the file that it
    makes), with so many lines of context left out. `places`: how many other places are as good.
    """

    index: int
    line: int
    fuzz: int
    places: int


def guesses(content: bytes, hunks: Sequence[Hunk], failing: Sequence[int], most: int = FUZZ) -> Iterator[Guess]:
    """Of those hunks (by index) that `patch` would take in spite of their context, of which it leaves out `most` lines."""
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    grown = 0
    for number, hunk in enumerate(hunks, 1):
        guess = _guess(lines, hunk, number, most) if number in failing else None
        if guess is not None:
            yield Guess(guess.index, guess.line + grown, guess.fuzz, guess.places)
        if guess is not None or number not in failing:
            grown += sum(line.startswith(b"+") - line.startswith(b"-") for line in hunk.body)


def _guess(lines: Sequence[bytes], hunk: Hunk, number: int, most: int) -> Guess | None:
    """As `locate_hunk` of patch 2.7 does it: the end with less context gives way later, and before that must be the file's own."""
    old = [line[1:] for line in hunk.body if not line.startswith((b"+", b"\\"))]
    before, after = _context(hunk)
    context = max(before, after)
    for fuzz in range(1, min(most, context) + 1):
        first, last = fuzz + before - context, fuzz + after - context
        start, end = max(first, 0), len(old) - max(last, 0)
        part = old[start:end]
        if not part:
            continue
        found = [at - start for at in range(start, len(lines) - len(part) + 1) if lines[at : at + len(part)] == part]
        if first < 0 and hunk.start <= 1:
            found = [at for at in found if at == 0]
        if last < 0:
            found = [at for at in found if at + len(old) == len(lines)]
        if found:
            wanted = max(hunk.start - 1, 0)
            best = min(found, key=lambda at: (abs(at - wanted), at < wanted))
            return Guess(number, best + 1, fuzz, len(found) - 1)
    return None


def _context(hunk: Hunk) -> tuple[int, int]:
    """How many lines of context stand before the first change and after the last."""
    body = [line for line in hunk.body if not line.startswith(b"\\")]
    changed = [at for at, line in enumerate(body) if line.startswith((b"+", b"-"))]
    return (changed[0], len(body) - 1 - changed[-1]) if changed else (len(body), 0)
