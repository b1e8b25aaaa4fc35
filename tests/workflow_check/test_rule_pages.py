"""Every rule has a page whose bad example it finds, and in whose good example nothing is found."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.core.workflow_rules import RULES

PAGES = Path(__file__).resolve().parent.parent.parent / "docs/rules"
EXAMPLE = re.compile(r"^```\S+ (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def example(rule: str, section: str) -> dict[str, str]:
    """The files of one section of a rule's page, by path."""
    text = (PAGES / f"{rule}.md").read_text("utf-8")
    _, _, rest = text.partition(f"\n## {section}\n")
    files = dict(EXAMPLE.findall(rest.partition("\n## ")[0]))
    assert files, f"the page of {rule} has no example under {section}"
    return files


@pytest.mark.parametrize("rule", [one.name for one in RULES])
def test_the_bad_example_of_each_rule_is_found_by_it(rule: str, found: Callable) -> None:
    assert rule in {one.rule for one in found(example(rule, "Bad"))}


@pytest.mark.parametrize("rule", [one.name for one in RULES])
def test_nothing_is_found_in_the_good_example_of_each_rule(rule: str, found: Callable) -> None:
    assert [(one.rule, one.line, one.message) for one in found(example(rule, "Good"))] == []


def test_each_page_is_of_a_rule_and_each_name_stands_for_one() -> None:
    names = [one.name for one in RULES]
    assert sorted(names) == sorted(set(names))
    assert {page.stem for page in PAGES.glob("*.md")} == set(names)
