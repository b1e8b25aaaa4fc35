"""Nothing that comes from outside moves a cursor, forges a workflow command, or becomes markup."""

import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from regraft.render import safe

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "a\nb",
    "a\r::set-output name=x::y",
    "::error::forged",
    "##[command]rm",
    "x ##[add-mask]y",
    "\u202eevil",
    "zero\u200bwidth",
    "\x9b2J",
    "\ud800",
    "\u2028line",
    "nul\0",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_line_stays_one_printable_line(value: str) -> None:
    shown = safe.text(value)
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)
    assert "##[" not in shown


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_text_makes_a_second_line_or_a_command(value: str) -> None:
    line = safe.log_line(value)
    assert len(line.splitlines()) <= 1
    assert not line.lstrip().startswith("::")
    assert "##[" not in line


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_workflow_command_has_one_line_and_keeps_its_properties(value: str) -> None:
    command = f"::error title={safe.command_property(value)}::{safe.command_data(value)}"
    assert len(command.splitlines()) == 1
    properties, _, _ = command.removeprefix("::error ").partition("::")
    assert "," not in properties
    assert ":" not in properties


MARKUP = ["**bold**", "<img src=x onerror=alert(1)>", "[a](javascript:b)", "@everyone", "| a | b |", "`code`", "# h",
          "https://evil.example", "&lt;b&gt;", "org/repo#12", "<!-- x"]  # fmt: skip


@pytest.mark.parametrize("value", MARKUP)
def test_markdown_shows_the_text_itself(value: str) -> None:
    page = MarkdownIt("gfm-like", {"linkify": False}).render(f"| {safe.markdown(value)} |\n|---|\n")
    inner = page.split("<th>")[1].split("</th>")[0]
    assert "<" not in inner
    assert html.unescape(inner) == value


def test_a_long_text_is_cut_and_says_so() -> None:
    assert safe.text("x" * 1000, 10) == "xxxxxxxxx…"
