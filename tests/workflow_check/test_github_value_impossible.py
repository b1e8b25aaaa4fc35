"""Comparisons of what `github` says with what it never is, and those with what it can be."""

from collections.abc import Callable

import pytest

RULE = "github-value-impossible"


def workflow(condition: str, *, on: str = "[push, pull_request]") -> dict[str, str]:
    return {"ci.yml": f"on: {on}\njobs:\n  a:\n    if: {condition}\n    runs-on: x\n    steps: [{{run: make}}]\n"}


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("github.ref == 'main'", 13),
        ("github.actor == 'x' || github.ref != 'refs/head/main'", 36),
        ("'v1' == github.ref", None),
        ("startsWith(github.ref, 'ref/tags/')", None),
        ("github.event_name == 'pull_requst'", None),
        ("github.ref_type == 'tags'", None),
        ("github.event.name == 'push'", None),
    ],
)
def test_a_text_that_it_never_is_is_found(condition: str, column: int | None, found: Callable) -> None:
    (one,) = found(workflow(f"${{{{ {condition} }}}}"), RULE)
    assert (one.severity, one.line) == ("error", 4)
    assert column is None or one.column == column


@pytest.mark.parametrize(
    "condition",
    [
        "github.ref == 'refs/heads/main'",
        "github.ref == 'REFS/Heads/main'",
        "github.ref != ''",
        "startsWith(github.ref, 'refs/')",
        "startsWith(github.ref, 'refs/tags/v')",
        "contains(github.ref, 'release')",
        "github.ref_name == 'main'",
        "github.event_name == 'merge_group'",
        "github.event_name == 'Push'",
        "github.ref == inputs.ref",
    ],
)
def test_a_text_that_it_may_be_is_not(condition: str, found: Callable) -> None:
    assert found(workflow(f"${{{{ {condition} }}}}"), RULE) == []


def test_a_status_has_a_name(found: Callable) -> None:
    assert found(workflow("${{ github.event.name == 'push' }}", on="[status, push]"), RULE) == []
