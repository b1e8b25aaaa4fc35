"""Parts of conditions that are the same whatever comes, and those that are not."""

from collections.abc import Callable

import pytest

RULE = "condition-part-dead"


def workflow(condition: str, *, on: str = "[push, pull_request]") -> dict[str, str]:
    return {
        "ci.yml": f"on: {on}\njobs:\n  a:\n    runs-on: x\n    outputs: {{go: '${{{{ steps.s.outputs.go }}}}'}}\n"
        f"    steps: [{{id: s, run: ./x}}]\n  b:\n    needs: a\n    if: {condition}\n    runs-on: x\n    steps: [{{run: make}}]\n"
    }


@pytest.mark.parametrize(
    ("condition", "severity"),
    [
        ("github.event_name == 'schedule' || github.actor == 'x'", "note"),
        ("github.event_name != 'schedule' && github.actor == 'x'", "note"),
        ("needs.a.outputs.went == 'true' || github.actor == 'x'", "warning"),
        ("github.actor == 'x' && (needs.b.result == 'success' || needs.a.outputs.go == '1')", "warning"),
    ],
    ids=["an event that does not come", "an event that never comes", "an output that is not there", "nested"],
)
def test_a_part_that_is_the_same_whatever_comes_is_found(condition: str, severity: str, found: Callable) -> None:
    assert [(one.rule, one.severity, one.line) for one in found(workflow(condition), RULE)] == [(RULE, severity, 9)]


@pytest.mark.parametrize(
    "condition",
    [
        "github.event_name == 'push' || github.actor == 'x'",
        "needs.a.outputs.go == 'true' && github.actor == 'x'",
        "always() && needs.a.result != 'failure'",
        "vars.X == 'y' || startsWith(github.ref, 'refs/tags/')",
    ],
    ids=["an event that comes", "an output", "always()", "unknown"],
)
def test_a_part_that_depends_on_something_is_not(condition: str, found: Callable) -> None:
    assert found(workflow(condition), RULE) == []
