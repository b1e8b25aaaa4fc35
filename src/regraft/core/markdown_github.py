"""What GitHub's Markdown hides or strikes out inside a paragraph, beyond CommonMark and its specified extensions.

Seen with cmark-gfm, which renders GitHub's pages. Where a rule has finer conditions the coarser one is taken here:
too much counts as hidden, never too little.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from regraft.core.markdown_lines import Place
from regraft.core.patterns import regex

_RULER = regex(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_STRUCK = regex(r"(?<!\S)(~{1,2})(?=\w)[^~\n]*\w\1(?![^\s.,;:!?)])")
_TILDE_OPENS = regex(r"~(?=[^~\s])")
_TILDE_CLOSES = regex(r"(?<=[^~\s])~")
# GitHub makes these links as they stand, and so takes away what CommonMark would pair with a sign elsewhere.
_ADDRESS = regex(r"(?:://|www\.)[^\s<]*?(?:[`*~\\]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_)")
_CONTROL = regex("[\x01-\x08\x0b\x0c\x0e-\x1f]")
_QUOTE = regex(r"(?:[ \t*+-]|[0-9]{1,9}[.)])*>")
_FOOTNOTE = regex(r"(?:[ \t>*+-]|[0-9]{1,9}[.)])*\[\^[^\]]+\]:")


class GithubParagraph:
    """A paragraph's text, as the parser gives it; offsets are its own."""

    def __init__(self, text: str) -> None:
        self._formula = (text.find("$$"), text.rfind("$$"))
        self._address = _ADDRESS.search(text) is not None
        if not re.search(r"[`\\<]", text):  # pairs within one line strike out nothing else
            text = _STRUCK.sub(lambda pair: "x" * len(pair[0]), text)
        opening = _TILDE_OPENS.search(text)
        closing = [tilde.start() for tilde in _TILDE_CLOSES.finditer(text)]
        self._struck = (opening.start() if opening else -1, closing[-1] if closing else -1)

    def place(self, offset: int) -> Place | None:
        """How GitHub shows the text at `offset` other than as plain text, or None."""
        if -1 < self._formula[0] < offset < self._formula[1]:
            return Place("hidden", "in a formula")
        if -1 < self._struck[0] < offset < self._struck[1]:
            return Place("styled", "inside struck-out text")
        if self._address:
            return Place("entangled", "beside an address that holds signs of Markdown")
        return None


def line_places(lines: Sequence[str], opaque: AbstractSet[int]) -> dict[int, Place]:
    """Lines that GitHub does not show as plain text although CommonMark does. `opaque` are those of fences and raw HTML.

    A footnote goes on over the lines of its paragraph, as a quote does; a quote does so even after a link's definition.
    A table of one column needs no bar: `:-` under a line makes that line its header, and the lines below it cells.
    """
    found: dict[int, Place] = {}
    place, start, quoted = None, 0, False
    for number, line in enumerate(lines):
        if number in opaque or not line.strip(" \t"):
            place, start, quoted = None, number + 1, False
            continue
        quoted = quoted or _QUOTE.match(line) is not None
        if _CONTROL.search(line):
            place = Place("entangled", "beside a control character")
            found.update(dict.fromkeys(range(start, number), place))
        elif place is None:
            place = _begins(
                line, lines[number + 1] if number + 1 not in opaque and number + 1 < len(lines) else "", quoted
            )
        if place:
            found[number] = place
    return found


def footnote_lines(lines: Sequence[str]) -> set[int]:
    """Lines whose text GitHub moves to the end of the page, raw HTML included."""
    found: set[int] = set()
    inside = False
    for number, line in enumerate(lines):
        inside = bool(line.strip(" \t")) and (inside or _FOOTNOTE.match(line) is not None)
        if inside:
            found.add(number)
    return found


def _begins(line: str, below: str, quoted: bool) -> Place | None:
    if _FOOTNOTE.match(line):
        return Place("hidden", "in a footnote")
    if _is_ruler(below):
        return Place("hidden", "in a table")
    if quoted and "]:" in line:
        return Place("hidden", "in a quote")
    return None


def _is_ruler(line: str) -> bool:
    return (":" in line or "|" in line) and "-" in line and _RULER.fullmatch(line) is not None
