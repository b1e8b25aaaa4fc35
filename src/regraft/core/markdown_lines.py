"""The source lines of a Markdown text, and where on the page a place in one of them ends up.

What counts is what the page shows. A parser answers that, at the cost of its import; `plain_places` answers it without
one for texts in which nothing near the places in question could hide them.
"""

from collections.abc import Sequence
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
    """Without a parser: every spot is plain text outside any list, or None where that takes a parser to say.

    Why it holds. The block of a spot is its run of lines without a blank one. A paragraph ends at a blank line, and so
    does everything that begins in an earlier block, save a fence, raw HTML, and a list or footnote that goes on with an
    indented line. Up to the last spot there is no run of three backticks or tildes and no `<`, and a spot's block begins at
    column 0 (or at the top): so it belongs to nothing earlier. Nothing later reaches back past a blank line but a link's
    definition, and that needs brackets. Inside the block no line is indented by three, begins a list, a quote or a table's
    ruler, or holds a character that begins or ends code, a link, a table's cell, emphasis, HTML or a formula.
    """
    blocks = _blocks(lines, spots)
    for line in lines[: blocks[-1][1]]:
        if "<" in line or "```" in line or "~~~" in line:
            return None
    for start, end in blocks:
        if start and lines[start][0] == " ":
            return None
        if not all(_PLAIN_LINE.fullmatch(line) for line in lines[start:end]):
            return None
    return [TEXT for _ in spots]


_PLAIN_LINE = regex(
    r"[ ]{0,2}"
    r"(?![ \t]|[-+:]|[0-9]+[.)])"
    r"(?:[A-Za-z][A-Za-z0-9-]*\[[A-Za-z0-9][A-Za-z0-9.-]*\]:)?"  # a key with its scope
    r"(?:[^\x00-\x08\x0a-\x1f`<>|~*\[\]\\$_]|\$(?!\$)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*"
)


def _blocks(lines: Sequence[str], spots: Sequence[Spot]) -> list[tuple[int, int]]:
    """The runs of lines without a blank one around the spots: for each its first line, and the one after its last."""
    blocks: list[tuple[int, int]] = []
    for spot in spots:
        if blocks and spot.line < blocks[-1][1]:
            continue
        start, end = spot.line, spot.line + 1
        while start > 0 and not _blank(lines[start - 1]):
            start -= 1
        while end < len(lines) and not _blank(lines[end]):
            end += 1
        blocks.append((start, end))
    return blocks


def _blank(line: str) -> bool:
    return not line.strip(" \t")
