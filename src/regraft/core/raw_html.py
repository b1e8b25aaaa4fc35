"""What raw HTML in a Markdown text does to the text after it: comments and elements that hide or quote it.

A stack of the elements that are open, not a page: where a browser would be lenient this is not, so that it may hold text
for hidden that a page shows, and never the reverse.
"""

from regraft.core.patterns import regex

# Elements whose text a reader does not take for the author's own plain words.
_HIDING = regex(
    "a|blockquote|code|del|iframe|kbd|listing|math|noembed|noframes|noscript|object|option|plaintext|pre|q|s|samp|script"
    "|select|strike|style|svg|table|template|textarea|title|tt|var|xmp"
)
_BLANK = r"[ \t\n]"  # a no-break blank ends no name of a tag
_VALUE = r"""(?:[^\s"'=<>`]+|'[^']*'|"[^"]*")"""
_ATTRIBUTE = rf"{_BLANK}+[A-Za-z_:][A-Za-z0-9:._-]*(?:{_BLANK}*={_BLANK}*{_VALUE})?"
_TAG = regex(rf"<(?:(/)([A-Za-z][A-Za-z0-9-]*){_BLANK}*|([A-Za-z][A-Za-z0-9-]*)(?:{_ATTRIBUTE})*{_BLANK}*/?)>")
_MARKUP = regex(r"<(?=[A-Za-z/!?])")


class RawHtml:
    """Fed with the raw HTML of a document in its order; says at each point whether text is shown there."""

    def __init__(self) -> None:
        self.broken = False  # something stood there that is no well-formed tag: what follows may be part of it
        self.comment = 0  # the serial of the comment that is open, 0 for none
        self._comments = 0
        self._open: list[str] = []

    @property
    def hidden_in(self) -> str | None:
        """The innermost open element that hides text, by its name."""
        return self._open[-1] if self._open else None

    def open(self, element: str) -> None:
        if _HIDING.fullmatch(element):
            self._open.append(element)

    def close(self, element: str) -> None:
        """Only the innermost closes: a browser may ignore an end tag that crosses another element, or is in a comment."""
        if not self.comment and self._open and self._open[-1] == element:
            self._open.pop()

    def feed(self, html: str) -> None:
        """Read on; a comment may begin in one piece and end in a later one, a tag may not."""
        place = 0
        while not self.broken and place < len(html):
            if self.comment:
                place = self._comment(html, place)
            elif not (found := _MARKUP.search(html, place)):
                return
            elif html.startswith("<!--", found.start()):
                self._comments += 1
                self.comment = self._comments
                place = self._comment(html, found.start() + 4)
            elif tag := _TAG.match(html, found.start()):
                place = tag.end()
                if tag[1]:
                    self.close(tag[2].lower())
                else:
                    self.open(tag[3].lower())
            else:
                self.broken = True

    def _comment(self, html: str, place: int) -> int:
        end = html.find("-->", place)
        inside = html[place : end if end >= 0 else len(html)]
        # Where these end a comment, Markdown and the readers of a page do not agree.
        self.broken = "--!>" in inside or html.startswith((">", "->"), place)
        if end < 0:
            return len(html)
        self.comment = 0
        return end + 3
