"""What one text can make others read: so many of each kind are said, and then how many there are besides."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from regraft.core.directives import Reading
from regraft.core.plan import Note
from regraft.errors import InputError

MOST = 100  # of one kind: notes of a code, ignored lines, mistakes


def bounded(reading: Reading, name: str) -> Reading:
    """`reading` with the first of each kind, in the order that they have; `name` is the text's, for a mistake about it."""
    notes = _notes(reading.notes)
    if (more := len(reading.ignored) - MOST) > 0:
        notes.append(Note("notice", "more-ignored", f"... and {more} more lines are ignored"))
    return replace(
        reading, ignored=reading.ignored[:MOST], notes=tuple(notes), mistakes=tuple(_mistakes(reading.mistakes, name))
    )


def _notes(notes: Iterable[Note]) -> list[Note]:
    seen: Counter[str] = Counter()
    kept = []
    for note in notes:
        seen[note.code] += 1
        if seen[note.code] <= MOST:
            kept.append(note)
    kept += [
        Note("notice", code, f"... and {n - MOST} more such notes ({code})") for code, n in seen.items() if n > MOST
    ]
    return kept


def _mistakes(mistakes: Sequence[InputError], name: str) -> list[InputError]:
    if len(mistakes) <= MOST:
        return [*mistakes]
    message = f"there are {len(mistakes) - MOST} more mistakes than these {MOST}"
    return [*mistakes[:MOST], InputError("too-many-mistakes", message, where=name)]
