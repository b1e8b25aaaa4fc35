"""Where places of a Markdown source end up on the page, by a CommonMark parser and what GitHub's does beyond it."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from regraft.core.markdown_github import GithubParagraph, footnote_lines, line_places
from regraft.core.markdown_lines import TEXT, Place, Spot
from regraft.core.patterns import regex
from regraft.core.raw_html import RawHtml

if TYPE_CHECKING:
    from markdown_it.token import Token

_DEEPEST = 60  # the parser drops what is nested deeper than this, blocks or brackets
_DEEP = _DEEPEST - 2
_NESTED = "behind something that is nested too deeply, or raw HTML that is not well formed"
_BLOCKS = {"fence": "in a fenced code block", "code_block": "in an indented code block", "table_open": "in a table"}
_OPAQUE = ("fence", "html_block")
_SHOWN = ("text", "styled")
_MAY_BE_HTML = regex(r"(?:[ \t>*+-]|[0-9]{1,9}[.)])*<")
_ODD_BLANK = regex(r"[^\S \t]")
_STYLES = ("em", "strong", "s")


def parsed_places(lines: Sequence[str], spots: Sequence[Spot]) -> list[Place]:
    """The place of each spot, in their order: by line, and at most one in a line."""
    return _Finder(_parser(), lines, spots).find()


def _parser() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - its import costs some 90 ms
    from markdown_it.rules_block import table  # noqa: PLC0415 - likewise

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("strikethrough")
    # GitHub's parser asks for raw HTML before it asks for a table: `<!-- a|b` is a comment, whatever the next line is.
    parser.block.ruler.before("lheading", "github_table", table, {"alt": ["paragraph", "reference"]})
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class _Finder:
    """One walk over the document's tokens in their order. Lines are read in full first, inline text where it matters."""

    def __init__(self, parser: Any, lines: Sequence[str], spots: Sequence[Spot]) -> None:
        self.parser = parser
        self.source = lines
        self.lines = [_as_github_reads(line) for line in lines]
        self.spots = [Spot(spot.line, spot.column, spot.word.replace("\0", "\ufffd")) for spot in spots]
        self.spot_lines = [spot.line for spot in self.spots]
        self.moved = footnote_lines(self.lines)
        self.opaque: set[int] = set()  # lines of fences and raw HTML
        self.found: dict[int, Place] = {}  # by line
        self.comments: dict[int, int] = {}  # line -> serial of the comment that hides it
        self.html = RawHtml()
        self.containers: list[str] = []
        self.env: dict[str, Any] = {}
        text = "\n".join(self.lines)
        self.mark = next(mark for mark in (f"q{n}x" for n in range(len(text) + 1)) if mark not in text)

    def find(self) -> list[Place]:
        for token in self.parser.parse("\n".join(self.lines), self.env):
            self._token(token)
        for line, serial in self.comments.items():
            if serial == self.html.comment:
                self.found[line] = Place("hidden", "behind an HTML comment that nothing closes", unclosed=True)
        for line, place in line_places(self.source, self.opaque).items():
            if line in self.found and self.found[line].kind in _SHOWN:
                self.found[line] = place
        return [self.found.get(spot.line) or self._nowhere() for spot in self.spots]

    def _nowhere(self) -> Place:
        """Of a line that came into no token at all."""
        if self.html.broken:
            return Place("entangled", _NESTED)
        return Place(
            "hidden", "in a link's definition" if self.env.get("references") else "where Markdown shows no text"
        )

    def _token(self, token: "Token") -> None:
        if token.level >= _DEEP:
            self.html.broken = True
        if token.nesting == 1:
            self.containers.append(token.type)
            self.html.open(token.tag)
        elif token.nesting == -1:
            self.containers.pop()
            self.html.close(token.tag)
        if token.type in _OPAQUE:
            self.opaque.update(range(*(token.map or (0, 0))))
        if reason := _BLOCKS.get(token.type):
            self._hide(token, reason)
        elif token.type == "html_block":
            self._moved(token)
            self._html_block(token)
        elif token.type == "inline":
            self._inline(token)

    def _inside(self, token: "Token") -> list[Spot]:
        """The spots within a token's lines that nothing around it has claimed."""
        start, end = token.map or (0, 0)
        first, last = bisect_left(self.spot_lines, start), bisect_left(self.spot_lines, end)
        return [spot for spot in self.spots[first:last] if spot.line not in self.found]

    def _moved(self, token: "Token") -> None:
        """Raw HTML of a footnote opens and closes nothing where it is written, but who knows what at the page's end."""
        self.html.broken = self.html.broken or bool(token.map and token.map[0] in self.moved)

    def _hide(self, token: "Token", reason: str) -> None:
        for spot in self._inside(token):
            self.found[spot.line] = Place("hidden", reason)

    def _html_block(self, token: "Token") -> None:
        done = 0
        spots = self._inside(token)
        for spot, offset in zip(spots, self._offsets(token, spots), strict=True):
            self.html.feed(token.content[done:offset])
            done = offset
            quoted = "blockquote_open" in self.containers
            self._put(spot, Place("hidden", "in a quote") if quoted else Place("html", "inside raw HTML"))
        self.html.feed(token.content[done:])

    def _offsets(self, token: "Token", spots: Sequence[Spot]) -> list[int]:
        """Where spots are in a token's content. The parser takes away what stands before and after, never within: so
        the word at a spot is the same one in source and content, counted from the end.
        """
        start, end = token.map or (0, 0)
        source = "\n".join(self.lines[start:end])
        starts = [0]
        for line in self.lines[start:end]:
            starts.append(starts[-1] + len(line) + 1)
        found: dict[str, tuple[list[int], list[int]]] = {}
        offsets = []
        for spot in spots:
            if spot.word not in found:
                found[spot.word] = (_all(spot.word, source), _all(spot.word, token.content))
            there, here = found[spot.word]
            offsets.append(here[bisect_left(there, starts[spot.line - start] + spot.column) - len(there)])
        return offsets

    def _put(self, spot: Spot, place: Place) -> None:
        """Record where a spot is, unless the raw HTML before it says otherwise."""
        if self.html.broken:
            place = Place(
                "entangled", "behind something that is nested too deeply, or raw HTML that is not well formed"
            )
        elif self.html.comment:
            self.comments[spot.line] = self.html.comment
            place = Place("hidden", "in an HTML comment")
        elif place.kind != "hidden" and (element := self.html.hidden_in):
            place = Place("hidden", f"inside an open <{element}> tag" if element != "blockquote" else "in a quote")
        self.found[spot.line] = place

    def _inline(self, token: "Token") -> None:
        spots = self._inside(token)
        if not spots and "<" not in token.content:
            return
        if _bracket_depth(token.content) > _DEEP - 10:
            self.html.broken = self.html.broken or "<" in token.content
            for spot in spots:
                self.found[spot.line] = Place("entangled", "among brackets that are nested too deeply")
            return
        offsets = self._offsets(token, spots)
        cuts = [0, *offsets, len(token.content)]
        pieces = [token.content[start:end] for start, end in pairwise(cuts)]
        marked = pieces[0] + "".join(f"{self.mark}{n}x{piece}" for n, piece in enumerate(pieces[1:]))
        children: list[Token] = []
        self.parser.inline.parse(marked if spots else token.content, self.parser, self.env, children)
        if any(child.type == "html_inline" for child in children):
            self._moved(token)
        self._children(children, spots)
        if spots:
            self._githubs(spots, offsets, GithubParagraph(token.content))

    def _githubs(self, spots: Sequence[Spot], offsets: Sequence[int], paragraph: GithubParagraph) -> None:
        for spot, offset in zip(spots, offsets, strict=True):
            place = self.found.setdefault(spot.line, Place("hidden", "in a link's address or title"))
            if place.kind in _SHOWN and (otherwise := paragraph.place(offset)):
                self.found[spot.line] = otherwise

    def _children(self, children: "Sequence[Token]", spots: Sequence[Spot]) -> None:
        """Find the marks; a mark is made of letters and digits, as a key is, so that it parses alike."""
        mark = re.compile(f"{self.mark}([0-9]+)x")
        link = style = 0
        for child in children:
            kind = child.type.partition("_")[0]
            if kind == "link":
                link += child.nesting
            elif kind in _STYLES:
                style += child.nesting
            done = 0
            for found in mark.finditer(child.content):
                if child.type == "html_inline":
                    self.html.feed(child.content[done : found.start()])
                    done = found.start()
                self._put(spots[int(found[1])], self._shown(child.type, link, style))
            if child.type == "html_inline":
                self.html.feed(child.content[done:])

    def _shown(self, kind: str, link: int, style: int) -> Place:
        if "blockquote_open" in self.containers:
            return Place("hidden", "in a quote")
        if kind == "code_inline":
            return Place("hidden", "in inline code")
        if kind == "html_inline":
            return Place("hidden", "inside an HTML tag")
        if kind == "image":
            return Place("hidden", "in an image's text")
        if link:
            return Place("hidden", "in a link's text")
        in_list = "list_item_open" in self.containers
        if style:
            return Place("styled", "inside bold, italic or struck-out text", in_list=in_list)
        return Place("text", in_list=True) if in_list else TEXT


def _as_github_reads(line: str) -> str:
    """No NUL; and where a line may begin raw HTML, no blank that is one for this parser and none for GitHub's."""
    plain = line.replace("\0", "\ufffd")
    return _ODD_BLANK.sub("\ufffd", plain) if _MAY_BE_HTML.match(plain) else plain


def _all(word: str, text: str) -> list[int]:
    found, place = [], text.find(word)
    while place >= 0:
        found.append(place)
        place = text.find(word, place + 1)
    return found


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]]", text):
        depth = depth + 1 if bracket == "[" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest
