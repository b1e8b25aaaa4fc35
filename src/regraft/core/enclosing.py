"""What a line of a text stands in: the lines above it that are indented less, as a function's or a class's first line, or a `[section]`.

Two places with the same lines are told apart by it, whatever the language. Nothing is parsed.
"""

from collections.abc import Sequence

from regraft.core.patterns import regex

MOST = 5_000  # lines that are looked through upwards

_TELLING = regex(rb"\w{3}")
_SECTION = regex(rb"\[{1,2}[^\]\n]+\]{1,2}\s*")
_LABEL = regex(rb"\s*[\w ]+:\s*")  # `else:`, `out:`, `public:`
_QUOTES = (b'"""', b"'''", b"/*", b"*/", b"<!--", b"-->")


def header(lines: Sequence[bytes], at: int, line: bytes) -> int | None:
    """The index of the nearest line above `at` in which `line`, which stands there or is to, is nested. None: in nothing."""
    own = indent(line)
    for index in range(min(at, len(lines)) - 1, max(at - MOST, 0) - 1, -1):
        one = lines[index]
        if _SECTION.fullmatch(one) and not own:
            return index
        if indent(one) >= own or not _TELLING.search(one) or one.lstrip().startswith((b"#", b"//", b"*")):
            continue
        if not _LABEL.fullmatch(one):
            return index
    return None


def chain(lines: Sequence[bytes], at: int, line: bytes) -> tuple[bytes, ...]:
    """All the lines in which it is nested, innermost first, without white space around them."""
    found: list[bytes] = []
    index = header(lines, at, line)
    while index is not None:
        found.append(lines[index].strip())
        index = header(lines, index, lines[index])
    return tuple(found)


def quoted(lines: Sequence[bytes], at: int) -> tuple[bool, bool, int, int]:
    """Whether line `at` stands within a text of several lines or a comment, as far as counting their marks tells."""
    above = b"".join(lines[:at])
    double, single, opened, closed, begun, ended = map(above.count, _QUOTES)
    return double % 2 == 1, single % 2 == 1, opened - closed, begun - ended


def indent(line: bytes) -> int:
    """How many blanks and tabs it begins with."""
    return len(line) - len(line.lstrip(b" \t"))
