"""What GitHub's Markdown hides or strikes out inside a paragraph, beyond CommonMark and its specified extensions.

Seen with cmark-gfm, which renders GitHub's pages. Where a rule has finer conditions the coarser one is taken here:
too much counts as hidden, never too little.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from regraft.core.markdown_lines import Place

_RULER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_TILDE_OPENS = re.compile(r"(?<!~)~(?=[^~\s])")
_TILDE_CLOSES = re.compile(r"(?<=[^~\s])~(?!~)")
_FOOTNOTE = re.compile(r"(?:[ \t>*+-]|[0-9]{1,9}[.)])*\[\^[^\]]+\]:")


class GithubParagraph:
    """A paragraph's text, as the parser gives it; offsets are its own."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._ruler = next((n for n, line in enumerate(lines) if n and _is_ruler(line)), len(lines) + 1)
        self._formula = (text.find("$$"), text.rfind("$$"))
        self._struck = (_first(_TILDE_OPENS, text), max((m.start() for m in _TILDE_CLOSES.finditer(text)), default=-1))

    def place(self, offset: int) -> Place | None:
        """How GitHub shows the text at `offset` other than as plain text, or None."""
        # A table of one column needs no bar: `:-` under a line makes it a header, and the lines below it cells.
        if bisect_right(self._starts, offset) >= self._ruler:
            return Place("hidden", "in a table")
        if -1 < self._formula[0] < offset < self._formula[1]:
            return Place("hidden", "in a formula")
        if -1 < self._struck[0] < offset < self._struck[1]:
            return Place("styled", "inside struck-out text")
        return None


def footnote_lines(lines: Sequence[str]) -> list[bool]:
    """Which lines may belong to a footnote, which like a quote goes on over the lines of its paragraph."""
    inside, found = False, []
    for line in lines:
        inside = bool(line.strip(" \t")) and (inside or _FOOTNOTE.match(line) is not None)
        found.append(inside)
    return found


def _is_ruler(line: str) -> bool:
    return (":" in line or "|" in line) and "-" in line and _RULER.fullmatch(line) is not None


def _first(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return found.start() if found else -1
