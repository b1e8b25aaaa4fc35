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


TAGS = "{push: {tags: ['v*']}}"
BRANCHES = "{push: {branches: ['release/**']}, pull_request: {}}"


@pytest.mark.parametrize(
    ("condition", "on"),
    [
        ("github.ref == 'refs/heads/main'", TAGS),
        ("startsWith(github.ref, 'refs/heads/')", TAGS),
        ("github.ref_type == 'branch'", TAGS),
        ("startsWith(github.ref, 'refs/tags/v')", BRANCHES),
        ("github.ref_type == 'tag'", "{push: {branches-ignore: ['wip/**']}}"),
    ],
)
def test_what_the_filters_let_through_is_never_that(condition: str, on: str, found: Callable) -> None:
    """https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax: with `tags` alone no branch starts it."""
    (one,) = found(workflow(f"${{{{ {condition} }}}}", on=on), RULE)
    assert (one.severity, one.line, one.column) == ("warning", 4, condition.index("github") + 13)


@pytest.mark.parametrize(
    ("condition", "on"),
    [
        ("startsWith(github.ref, 'refs/tags/')", TAGS),
        ("github.ref_type == 'branch'", "{push: {tags: ['v*']}, pull_request: {}}"),
        ("github.ref == 'refs/heads/main'", "{push: {tags: ['v*']}, workflow_dispatch: {}}"),
        ("github.ref == 'refs/heads/main'", "{push: {tags: ['v*'], branches: ['m*']}}"),
        ("github.ref == 'refs/heads/main'", "{push: {tags: ['v*']}, workflow_call: {}}"),
        ("github.ref == 'refs/heads/main'", "{push: {tags: ['v*']}, pull_request: {types: [closed]}}"),
        ("github.ref == 'refs/tags/v1'", "{push: {paths: ['src/**']}}"),
        ("startsWith(github.ref, 'refs/')", TAGS),
    ],
)
def test_what_the_filters_may_let_through_is_not(condition: str, on: str, found: Callable) -> None:
    assert found(workflow(f"${{{{ {condition} }}}}", on=on), RULE) == []
