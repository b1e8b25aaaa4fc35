"""Gates that are written off are notes; those that nobody can open are errors."""

from collections.abc import Callable

import pytest

RULE = "gate-never-opens"


def workflow(condition: str) -> str:
    return f"on: [push, pull_request]\njobs:\n  a:\n    if: {condition}\n    runs-on: x\n    steps: [{{run: make}}]\n"


@pytest.mark.parametrize(
    "condition",
    ["false", "${{ false }}", "false && github.event_name == 'push'", "(github.ref == 'x' || true) && false"],
)
def test_what_is_written_as_false_was_meant(condition: str, found: Callable) -> None:
    assert [(one.severity, one.line) for one in found({"ci.yml": workflow(condition)}, RULE)] == [("note", 4)]


@pytest.mark.parametrize(
    "condition",
    ["github.event_name == 'schedule'", "inputs.x == 'y'", "false || github.event_name == 'release'"],
)
def test_what_no_event_opens_is_an_error(condition: str, found: Callable) -> None:
    assert [(one.severity, one.line) for one in found({"ci.yml": workflow(condition)}, RULE)] == [("error", 4)]
