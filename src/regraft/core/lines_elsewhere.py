"""Whether the lines that a patch edits stand in some other file, where their own is gone: which to look for, and which finds tell."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from regraft.core.patch_text import Section
from regraft.core.patterns import regex
from regraft.core.references import Hit

MOST = 60  # lines that are looked for
OF_ONE = 8  # of one hunk: those that it removes first, then the longest
COMMON = 8  # files; a line that more of them have tells nothing
LEAST = 2  # lines of a hunk that tell something

_TELLING = regex(rb"\w{3}")


class Sought(Struct, frozen=True):
    """The lines of one hunk, without what they are indented by. `number` is its section's place in the patch."""

    number: int
    lines: tuple[bytes, ...]


def sought(sections: Iterable[tuple[int, Section]]) -> tuple[Sought, ...]:
    """What to look for: of each hunk (or replacement) what it expects to be there."""
    found: list[Sought] = []
    left = MOST
    for number, section in sections:
        for lines in _old_lines(section):
            telling = [line for line in dict.fromkeys(lines) if _TELLING.search(line)]
            kept = tuple(telling[: min(OF_ONE, left)])
            left -= len(kept)
            if kept:
                found.append(Sought(number, kept))
    return tuple(found)


def stand_in(wanted: Iterable[Sought], hits: Iterable[Hit]) -> dict[bytes, set[int]]:
    """The files in which most lines of a hunk stand, each as a whole line, with the sections whose hunks these are."""
    having: dict[bytes, set[bytes]] = {}
    for hit in hits:
        having.setdefault(hit.text.strip(), set()).add(hit.path)
    found: dict[bytes, set[int]] = {}
    for one in wanted:
        lines = [line for line in one.lines if len(having.get(line, ())) <= COMMON]
        for path in sorted({path for line in lines for path in having.get(line, ())}):
            if _most(sum(path in having.get(line, ()) for line in lines), lines):
                found.setdefault(path, set()).add(one.number)
    return found


def stood_in(wanted: Iterable[Sought], number: int, content: bytes) -> bool:
    """Whether most lines of a hunk of that section stand in a text."""
    having = {line.strip() for line in content.split(b"\n")}
    return any(_most(sum(line in having for line in one.lines), one.lines) for one in wanted if one.number == number)


def _most(there: int, lines: Sequence[bytes]) -> bool:
    return len(lines) >= LEAST and there >= LEAST and 4 * there >= 3 * len(lines)


def _old_lines(section: Section) -> Iterator[list[bytes]]:
    for hunk in section.hunks:
        removed = [line[1:].strip() for line in hunk.body if line.startswith(b"-")]
        context = [line[1:].strip() for line in hunk.body if line.startswith(b" ")]
        yield [*removed, *sorted(context, key=len, reverse=True)]
    for one in section.substitutions:
        yield [line.strip() for line in one.old.split(b"\n")]
