import subprocess
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regraft.core.directive_reader import LONGEST_BODY, read_body
from regraft.core.directives import Vocabulary
from regraft.core.markdown_lines import TEXT, Place, Spot, find_places, plain_places, split_lines
from regraft.core.markdown_places import parsed_places
from regraft.core.raw_html import RawHtml

KEY = "ci-x-pr"


def spots_of(lines: list[str]) -> list[Spot]:
    return [Spot(number, line.index(KEY), KEY) for number, line in enumerate(lines) if KEY in line]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c", ""]),
        ("a\r\r\nb", ["a", "", "b"]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f", ["a\x0bb\x0cc\x1cd\x85e\u2028f"]),
    ],
)
def test_lines_end_where_markdown_ends_them(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    "text",
    [
        "ci-x-pr: main",
        "Text\nci-x-pr: main\nText",
        "- a\n- b\n\n| a |\n|---|\n\nci-x-pr: main\n\n```\n<!--\n",
        "# Head\nci-x-pr: https://github.com/o/r_s/pull/1",
        "ci-x-pr[rocm-6.4]: feature/a_b\n===",
        "> quote\n\nci-x-pr: main",
    ],
)
def test_the_common_texts_need_no_parser(text: str) -> None:
    lines = split_lines(text)
    assert plain_places(lines, spots_of(lines)) == [TEXT]


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("<!-- a\n\nci-x-pr: main\n-->\n# Head\n\nci-x-pr: main", ["in an HTML comment", ""]),
        ("<!-- ci-x-pr: main -->\nci-x-pr: main", ["in an HTML comment", ""]),
        ("Text\n<!-- a `b` <c> -->\nci-x-pr: main", [""]),
        ("```sh\n\nci-x-pr: main\n~~~\n ```\nci-x-pr: main", ["in a fenced code block", ""]),
        ("````\n```\n<!--\n`````\n- a\n```\nci-x-pr: main\n```", ["in a fenced code block"]),
        ("> ci-x-pr: main\n> a\n\nci-x-pr: main", ["in a quote", ""]),
        ("- [x] `a`\n  - b\n<!-- c -->\n> ci-x-pr: main", ["in a quote"]),
    ],
)
def test_a_fence_a_comment_and_a_quote_of_the_plainest_form_need_no_parser_either(
    text: str, reasons: list[str]
) -> None:
    lines = split_lines(text)
    expected = [Place("hidden", reason) if reason else TEXT for reason in reasons]
    assert plain_places(lines, spots_of(lines)) == expected
    assert parsed_places(lines, spots_of(lines)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\n\nci-x-pr: main",
        "```a`\nci-x-pr: main\n```",
        "```\nci-x-pr: main\n    ```",
        "````\nci-x-pr: main\n```",
        " ```\n\nci-x-pr: main\n```",
        "- ```\n\nci-x-pr: main",
        "<!-- a --> ci-x-pr: main",
        "<!--> ci-x-pr: main -->",
        "<!--->\nci-x-pr: main\n-->",
        "<!-- a --!>\nci-x-pr: main\n-->",
        "[^1]: a\n<!-- b -->\n\nci-x-pr: main",
        "> a\nci-x-pr: main\n> b",
        ">     ci-x-pr: main",
        "> `a\n> ci-x-pr: main`",
        f"{'>' * 60} a\n\nci-x-pr: main",
        "~~~\n\nci-x-pr: main",
        "<!--\n\nci-x-pr: main",
        "> a\nci-x-pr: main",
        "- a\nci-x-pr: main",
        "- a\n\n  ci-x-pr: main",
        "1. a\nci-x-pr: main",
        "    ci-x-pr: main",
        "   ci-x-pr: main",
        "\tci-x-pr: main",
        "a `b\nci-x-pr: main\nc`",
        "[a\nci-x-pr: main\nb](c)",
        "*a\nci-x-pr: main\nb*",
        "_a\nci-x-pr: main\nb_",
        "~a\nci-x-pr: main\nb~",
        "$$\nci-x-pr: main\n$$",
        "ci-x-pr: main\n:-",
        "ci-x-pr: main\n|-|",
        "[^1]: a\nci-x-pr: main",
        "a\x0b\nci-x-pr: main",
        "a\\\nci-x-pr: main",
    ],
)
def test_a_text_with_something_that_may_hide_goes_to_the_parser(text: str) -> None:
    lines = split_lines(text)
    assert plain_places(lines, spots_of(lines)) is None


LINES = [
    "ci-x-pr: a",
    "  ci-x-pr: a",
    " ci-x-pr[a]: b_c",
    "Text ci-x-pr: a",
    "",
    "",
    "",
    " ",
    "Text",
    "a_b",
    "# Head",
    "===",
    "---",
]
LINES += [
    "- item",
    "1. item",
    "> quote",
    "    code",
    "   x",
    "| a |",
    "|---|",
    ":-",
    "[a]: b",
    "[^a]: b",
    "x $5",
    "$$",
    "*a",
    "b*",
    "_a",
    "a_",
]
LINES += [
    "Text\\",
    "\ufeff",
    "\u00a0",
    "!",
    "&amp;",
    "https://a.b/c_d",
    "+",
    "2)",
    "-",
    "=",
    "\t",
    "ci-x-pr: a\t",
    "```",
    "~~~",
    "<b>",
    "`a",
]


LINES += [
    "```sh",
    "```a`",
    " ```",
    "    ```",
    "````",
    "<!--",
    "<!--",
    "-->",
    "-->",
    "--> ci-x-pr: a",
    "<!-- a -->",
    "<!-- ci-x-pr: a",
    "<!-- ci-x-pr: a -->",
    "<!-->",
    "--!>",
    "- <!-- a",
    "- ```",
    "> ```",
]
LINES += [
    ">",
    "> ci-x-pr: a",
    ">  ci-x-pr: a",
    ">      ci-x-pr: a",
    "> - a",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> a",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=9))
@example(["> ci-x-pr: a", "", "<!-- a", "", "ci-x-pr: a -->", "```sh", "ci-x-pr: a", "```", "ci-x-pr: a"])
def test_what_is_said_without_the_parser_is_what_the_parser_says(lines: list[str]) -> None:
    spots = spots_of(lines)
    plain = plain_places(lines, spots) if spots else None
    if plain is not None:
        assert parsed_places(lines, spots) == plain


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 19), st.integers(0, 2), st.lists(st.sampled_from(LINES), max_size=3))
def test_a_body_of_everyday_that_was_changed_somewhere_is_read_alike_too(at: int, gone: int, new: list[str]) -> None:
    lines = split_lines(
        "Text\n\n- [x] a\n- [ ] `b`\n  - c\n\n<!-- d\nci-x-pr: a\n-->\n\n# e\n\n```sh\nf <g> ci-x-pr: a\n```\n"
        "> ci-x-pr: a\n\nText:\n\nci-x-pr: a"
    )
    assert plain_places(lines, spots_of(lines)) is not None
    lines[at : at + gone] = new
    spots = spots_of(lines)
    plain = plain_places(lines, spots) if spots else None
    if plain is not None:
        assert parsed_places(lines, spots) == plain


def test_the_parser_is_not_imported_where_it_is_not_needed() -> None:
    program = (
        "import sys; from regraft.core.directive_reader import read_body; from regraft.core.directives import Vocabulary\n"
        "words = Vocabulary({'ci-x-pr': 'x'}, {}, {})\n"
        "assert len(read_body('ci-x-pr: #1\\n\\n<!-- `a` -->\\n', words).directives) == 1\n"
        "assert not read_body('<!-- `a` -->\\n', words).directives\n"
        "print([name for name in ('markdown_it', 'unicodedata', 'html') if name in sys.modules])\n"
        "read_body('`ci-x-pr: #1`', words)\n"
        "print('markdown_it' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue\n"


def test_a_byte_order_mark_hides_no_fence() -> None:
    lines = ["\ufeff~~~", "ci-x-pr: main", "~~~"]
    assert [place.reason for place in find_places(lines, spots_of(lines))] == ["in a fenced code block"]


@pytest.mark.parametrize(
    ("pieces", "hidden_in", "comment", "broken"),
    [
        (["<b>a</b>"], None, False, False),
        (["<PRE>"], "pre", False, False),
        (["<pre>", "</pre>"], None, False, False),
        (["<pre><code>", "</code>"], "pre", False, False),
        (["<blockquote><table></blockquote>"], "table", False, False),  # a browser ignores the end tag within the table
        (["<!-- <pre>", "-->"], None, False, False),
        (["<!-- a", "b"], None, True, False),
        (["<!-- a --!> b"], None, True, True),  # browsers end the comment there, Markdown does not
        (["<!-->"], None, False, True),
        (["<a title='<pre>'></a>"], None, False, False),
        (["<pre>", "<a title='</pre>'></a>"], "pre", False, False),
        (["<div title='"], None, False, True),
        (["<?php <pre> ?>"], None, False, True),
        (["1 < 2"], None, False, False),
    ],
)
def test_raw_html_hides(pieces: list[str], hidden_in: str | None, comment: bool, broken: bool) -> None:
    html = RawHtml()
    for piece in pieces:
        html.feed(piece)
    assert (html.hidden_in, html.broken) == (hidden_in, broken)
    assert bool(html.comment) == comment or broken


HOSTILE = [
    "[",
    "![",
    "*",
    "_",
    "*_",
    "`",
    "<",
    "<!--",
    "<!-- ",
    "<a x='",
    "<?",
    "<![CDATA[",
    "[a](",
    "[](",
    "](",
    "| a ",
    "~~",
    "~a ",
    "> ",
]
HOSTILE += [
    "- ",
    "- - a\n",
    "> a\nb\n",
    "[a]: b\n",
    "[a\n",
    "a\n",
    "\\",
    "&",
    "\t",
    "<div>\n\n",
    "ci-sglang-pr\n",
    "ci-sglang-",
    "\u200b",
    "(",
]
HOSTILE += [
    "```\nci-sglang-pr: a\n```\n",
    "x <b>\nci-sglang-pr: a\n",
    "$$~ ~a\nci-sglang-pr: a\n",
    "[^a]:\nci-sglang-pr: a\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("above", [True, False])
def test_a_hostile_body_is_answered_soon(unit: str, above: bool) -> None:
    """Processor time, not the clock's; a quarter of it is what a quiet machine takes for the worst of them."""
    words = Vocabulary({"ci-sglang-pr": "sglang"}, {}, {})
    noise = (unit * (LONGEST_BODY // len(unit)))[: LONGEST_BODY - 40]
    directive = "ci-sglang-pr: #12"
    begun = time.process_time()
    read_body(f"{noise}\n{directive}" if above else f"{directive}\n{noise}", words)
    assert time.process_time() - begun < 4
