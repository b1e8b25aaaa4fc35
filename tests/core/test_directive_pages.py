"""What the reader accepts stands on the page as plain text, says a renderer that is not the reader's own parser.

cmark-gfm renders GitHub's pages; markdown-it is the parser that the reader uses, here by its rendered page.
"""

import contextlib
import re
from collections.abc import Callable
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_block import table

from regraft.core.directive_reader import read_body
from regraft.core.directives import Vocabulary

WORDS = Vocabulary({"ci-x-pr": "x"}, {}, {"i": frozenset({"x"})})
CODE = {"code", "iframe", "noembed", "noframes", "pre", "script", "style", "template", "textarea", "title", "xmp"}
NOT_PLAIN = CODE | {"a", "blockquote", "del", "s", "table"}


class Page(HTMLParser):
    """The text outside everything that is not plain."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.inside: list[str] = []
        self.text = ""
        with contextlib.suppress(AssertionError):  # html.parser gives up at `<![x`; what it read until then counts
            self.feed(html)
            self.close()

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        if tag in NOT_PLAIN:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.text += data


def github(text: str) -> str:
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    extensions = ["table", "strikethrough", "autolink", "tasklist"]
    html: str = cmarkgfm.markdown_to_html_with_extensions(text, options=options, extensions=extensions)
    return html


def commonmark(text: str) -> str:
    """With tables, which are looked for after raw HTML, as GitHub does."""
    parser = MarkdownIt("commonmark", {"maxNesting": 60}).enable("strikethrough")
    parser.block.ruler.before("lheading", "late_table", table, {"alt": ["paragraph", "reference"]})
    html: str = parser.render(text.removeprefix("\ufeff"))
    return html


RENDERERS = pytest.mark.parametrize("render", [github, commonmark], ids=["GitHub", "CommonMark"])

BLOCKS = [
    "```\n",
    "~~~\n",
    "````\n",
    "> ",
    "> a\n",
    "- ",
    "- a\n",
    "* ",
    "+ ",
    "1. ",
    "# ",
    "- [ ] ",
    "---\n",
    "===\n",
    "[a]: u\n",
    "[^1]: ",
]
BLOCKS += [
    "|a|\n|-|\n",
    "|a|b|\n|-|-|\n",
    ":-\n",
    "|-|\n",
    "  ",
    "   ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\n\n",
    "a\n",
    "\r\n",
    "\ufeff",
]
SIGNS = [
    "`",
    "``",
    "*",
    "**",
    "_",
    "~",
    "~~",
    "[",
    "](u)",
    "](u '",
    "![",
    "[a]",
    "[^1]",
    "\\",
    "|",
    "$$",
    "'",
    '"',
    ")",
    "http://a.b/",
    "&lt;",
]
HTML = [
    "<!--",
    "-->",
    "<!-- a -->",
    "<div>",
    "</div>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<blockquote>",
    "</blockquote>",
]
HTML += [
    "<table>",
    "</table>",
    "<details>",
    "<b>",
    "</b>",
    "<a href='",
    "'>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<?",
    "?>",
]
HTML += ["<!D>", "<![CDATA[", "]]>", "<x:y>", "<", "<svg>", "</b", "\u00a0", "\x0b", "\x00", "a"]
LINES = ["\nci-x-pr: @\n", "\n\nci-x-pr: @\n\n", "\n  ci-x-pr: @\n", "ci-x-pr: @", " ci-x-pr: @\n", "\nci-x-pr[i]: @\n"]


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A few sorts of pieces, so that what opens has a chance to close, with directives that have values of their own."""
    sorts = draw(st.lists(st.sampled_from([*BLOCKS, *SIGNS, *HTML]), min_size=1, max_size=7))
    pieces = draw(st.lists(st.sampled_from([*sorts, *LINES, *LINES[:2]]), min_size=2, max_size=12))
    return "".join(piece.replace("@", f"v{number}v") for number, piece in enumerate(pieces))


@RENDERERS
@settings(max_examples=200, deadline=None)
@given(body=bodies())
@example(body="ci-x-pr: v1v\n:-\n")  # a table for GitHub
@example(body="<!-- a|b\n|-|-|\n\nci-x-pr: v1v\n-->")  # a comment for GitHub, a table for other parsers
@example(body="> [a]: u\nci-x-pr: v1v\n")  # the quote goes on, for GitHub
@example(body="http://a.b/`'><a href='`\nci-x-pr: v1v\n`<a href='`\n")  # the first backtick is part of the address
@example(body="~~```~~~~~~\nci-x-pr: v1v\n`~~``")
@example(body='~(u "~a~~\nci-x-pr: v1v\n(u "~b')
@example(body="**a\nci-x-pr: v1v\n\x0b**")
@example(body="|a|b|\n|-|-|\n</b>\na\n\t<pre>\nci-x-pr: v1v\n")  # raw HTML ends a table, for GitHub
@example(body="</b>\u00a0\n```\n\nci-x-pr: v1v\n")  # no raw HTML for GitHub: the fence is one
@example(body="http://a.b/\\<textarea>\nci-x-pr: v1v\n")  # nor is the tag escaped
@example(body="+ + + + + + + + + + + \n\nci-x-pr: v1v\n")
def test_what_is_accepted_is_plain_text_on_the_page(render: Callable[[str], str], body: str) -> None:
    accepted = [one.ref.text for one in read_body(body, WORDS).directives]
    if accepted:
        text = Page(render(body)).text
        assert [value for value in accepted if value not in text] == []


HIDING = [
    ("```\n", "\n```\n"),
    ("~~~~\n", "\n~~~~\n"),
    ("> a\n", "\n"),
    ("<!--\n", "\n-->\n"),
    ("a `b\n", "\nc` d\n"),
    ("    ", "\n"),
]
HIDING += [
    ("|a|\n|-|\n", "\n"),
    ("<pre>\n", "\n</pre>\n"),
    ("<blockquote>\n\n", "\n\n</blockquote>\n"),
    ("[a\n", "\nb](c)\n"),
]
HIDING += [
    ("[a]: b 'c\n", "\n'\n"),
    ("<table><tr><td>\n\n", "\n\n</td></tr></table>\n"),
    ("<code>\n\n", "\n\n</code>\n"),
]
AROUND = st.lists(
    st.sampled_from(["Text\n", "# Head\n", "- item\n", "\n", "---\n", "ci-x-pr: shown\n", "a_b *c*\n"]), max_size=4
)


@settings(max_examples=200, deadline=None)
@given(AROUND, st.sampled_from(HIDING), st.sampled_from(["ci-x-pr: hidden", "ci-x-pr[i]: hidden"]), AROUND)
def test_nothing_is_accepted_that_a_fence_quote_or_comment_hides(
    above: list[str], hiding: tuple[str, str], line: str, below: list[str]
) -> None:
    opening, closing = hiding
    body = "".join([*above, "\n", opening, line, closing, "\n", *below])
    reading = read_body(body, WORDS)
    assert [one for one in reading.directives if one.ref.text == "hidden"] == []
    assert "hidden" in "".join(one.text for one in reading.ignored) or "    " in opening


def test_the_page_tells_plain_text_from_the_rest() -> None:
    page = Page(github("plain `code` ~~struck~~\n\n> quote\n\n```\nfence\n```\n\n<!-- comment -->\n\n[link](x)\n"))
    assert re.findall(r"\w+", page.text) == ["plain"]
