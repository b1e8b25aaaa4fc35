"""The source lines of a Markdown text, and where on the page a place in one of them ends up.

What counts is what the page shows. A parser answers that, at the cost of its import; `plain_places` answers it without
one for texts in which nothing near the places in question could hide them.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.patterns import regex

_BYTE_ORDER_MARK = "\ufeff"
LINE_END = regex(r"\r\n|\n|\r")


class Spot(Struct, frozen=True):
    """A place in the source: line and column from 0, and the run of characters without blanks that begins there."""

    line: int
    column: int
    word: str


class Place(Struct, frozen=True):
    """Where a spot is on the page.

    text: plain text of a paragraph or heading, in a list if `in_list`. styled: shown, but bold, italic or struck out.
    html: shown, but inside a raw HTML block. hidden: in code, a quote, a table, a comment, a definition …: `reason` says
    in which. entangled: too deeply nested to say. `unclosed`: hidden by a comment that nothing closes.
    """

    kind: Literal["text", "styled", "html", "hidden", "entangled"]
    reason: str = ""
    in_list: bool = False
    unclosed: bool = False


TEXT = Place("text")


def split_lines(text: str) -> list[str]:
    """Lines as Markdown counts them: LF, CR LF or CR ends one, and no other character does."""
    return LINE_END.split(text)


def find_places(lines: Sequence[str], spots: Sequence[Spot]) -> list[Place]:
    """The place of each spot, in their order: by line, and at most one in a line."""
    if not spots:
        return []
    if lines[0].startswith(_BYTE_ORDER_MARK):  # GitHub's parser skips it
        lines = [lines[0][1:], *lines[1:]]
        spots = [Spot(0, max(0, spot.column - 1), spot.word) if spot.line == 0 else spot for spot in spots]
    if (places := plain_places(lines, spots)) is not None:
        return places
    from regraft.core.markdown_places import parsed_places  # noqa: PLC0415 - the parser's import costs some 90 ms

    return parsed_places(lines, spots)


def plain_places(lines: Sequence[str], spots: Sequence[Spot]) -> list[Place] | None:
    """Without a parser: each spot in a plain paragraph outside any list, in a fence, a comment or a quote of the plainest
    form; or None where that takes a parser to say.

    Why it holds. A fence of backticks and a comment are seen where they begin in column 0: that ends whatever is open,
    save another of the two, and each ends before anything else of the page counts. No other line up to the last spot has
    three backticks or tildes, a `<`, or many marks of lists and quotes, and no line a footnote's mark, which would move
    what follows. So everything else is a paragraph, a list, a quote, a table or indented code, and ends at a blank line or
    where a fence or comment begins, save a list or footnote that goes on with an indented line. The block of a spot is its
    run of lines between those, and begins in column 0 (or at the top): so it belongs to nothing earlier. Nothing later
    reaches back but a link's definition, and that needs brackets. Inside the block every line is in a quote or none is,
    and no line is indented by three, begins a list or a table's ruler, or holds a character that begins or ends code, a
    link, a table's cell, emphasis, HTML or a formula.
    """
    opaque = _opaque_lines(lines, spots[-1].line)
    if opaque is None:
        return None
    places: list[Place] = []
    end, around = 0, TEXT
    for spot in spots:
        if place := opaque.get(spot.line):
            places.append(place)
            continue
        if spot.line >= end:
            start, end = _block(lines, spot.line, opaque)
            form = next((form for form in _FORMS if all(map(form[0].fullmatch, lines[start:end]))), None)
            if form is None or (start and lines[start][0] == " "):
                return None
            around = form[1]
        places.append(around)
    return places


_FENCED = Place("hidden", "in a fenced code block")
_COMMENT = Place("hidden", "in an HTML comment")
_FENCE = regex(r"(`{3,})[^`]*")
_MANY_MARKS = regex(r"[ \t>*+.)0-9-]{20}")
_PLAIN = (
    r"[ ]{0,2}"
    r"(?![ \t]|[-+:]|[0-9]+[.)])"
    r"(?:[A-Za-z][A-Za-z0-9-]*\[[A-Za-z0-9][A-Za-z0-9.-]*\]:)?"  # a key with its scope
    r"(?:[^\x00-\x08\x0a-\x1f`<>|~*\[\]\\$_]|\$(?!\$)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*"
)
_FORMS = ((regex(_PLAIN), TEXT), (regex(rf">[ ]?{_PLAIN}"), Place("hidden", "in a quote")))


def _opaque_lines(lines: Sequence[str], last: int) -> dict[int, Place] | None:
    """The lines of fences and comments, up to the end of the block of line `last`; None where a line needs a parser."""
    found: dict[int, Place] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        end: int | None = number
        if line.startswith("```"):
            end = _fence_end(lines, number)
        elif line.startswith("<!--"):
            end = _comment_end(lines, number)
        elif number > last and _blank(line):
            break
        elif "<" in line or "```" in line or "~~~" in line or _MANY_MARKS.match(line):
            return None
        if end is None or any("[^" in one for one in lines[number : end + 1]):
            return None
        if line.startswith(("```", "<!--")):
            if number > last:
                break
            found.update(dict.fromkeys(range(number, end + 1), _FENCED if line[0] == "`" else _COMMENT))
        number = end + 1
    return found


def _fence_end(lines: Sequence[str], start: int) -> int | None:
    """The line that closes a fence, or None where none does, or where the first line begins no fence."""
    if not (fence := _FENCE.fullmatch(lines[start])):
        return None
    for number in range(start + 1, len(lines)):
        line = lines[number].rstrip(" \t")
        bare = line.lstrip(" ")
        if bare.startswith(fence[1]) and not bare.strip("`") and len(line) - len(bare) < 4:
            return number
    return None


def _comment_end(lines: Sequence[str], start: int) -> int | None:
    """The line that ends a comment, and nothing beside it; None where Markdown and a browser might see another end."""
    text = lines[start][4:]
    if text.startswith((">", "->")):
        return None
    for number in range(start, len(lines)):
        inside, end, rest = (text if number == start else lines[number]).partition("-->")
        if "--!>" in inside:
            return None
        if end:
            return number if _blank(rest) else None
    return None


def _block(lines: Sequence[str], line: int, opaque: Collection[int]) -> tuple[int, int]:
    """The run of lines around one, up to a blank line, a fence or a comment: its first line, and the one after its last."""
    start, end = line, line + 1
    while start > 0 and not (_blank(lines[start - 1]) or start - 1 in opaque):
        start -= 1
    while end < len(lines) and not (_blank(lines[end]) or lines[end].startswith(("```", "<!--"))):
        end += 1
    return start, end


def _blank(line: str) -> bool:
    return not line.strip(" \t")
