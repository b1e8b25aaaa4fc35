"""Every example of the page for people who write pull requests comes out as the page says."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regraft.core.directive_reader import read_body
from regraft.core.directives import Reading, Vocabulary
from regraft.core.ref_parser import parse_ref

PAGE = (Path(__file__).parents[2] / "docs/directives.md").read_text("utf-8")
EXAMPLE = re.compile(r"^````markdown\n(.*?)^````\n\n^````text\n(.*?)^````$", re.DOTALL | re.MULTILINE)


def examples() -> Iterator[object]:
    for found in EXAMPLE.finditer(PAGE):
        yield pytest.param(found[1], found[2], id=f"line {PAGE.count(chr(10), 0, found.start()) + 1}")


@pytest.mark.parametrize(("body", "said"), list(examples()))
def test_an_example_comes_out_as_shown(
    body: str, said: str, grammar: Vocabulary, outcomes: Callable[[Reading], list[str]]
) -> None:
    assert outcomes(read_body(body, grammar)) == said.splitlines()


def test_no_example_is_left_out() -> None:
    assert len(list(examples())) == len(re.findall("^````markdown$", PAGE, re.MULTILINE)) > 10


def test_the_values_of_the_table_are_read() -> None:
    rows = [cell for row in re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE) for cell in re.findall(r"`([^`]+)`", row)]
    forms = [form.replace("HASH", "0a1b2c3").replace("NAME", "fix/a") for form in rows]
    assert len(forms) == 13
    assert [parse_ref(form).text for form in forms] == forms
