"""Conditions that keep nothing out, how sure it is that nobody meant that, and those that do keep something out."""

from collections.abc import Callable

import pytest

RULE = "gate-always-open"


def called(condition: str, *, kind: str = "string", passes: str = '"false"') -> dict[str, str]:
    return {
        "pr.yml": f"on: pull_request\njobs:\n  a:\n    uses: ./.github/workflows/stage.yml\n    with:\n      debug: {passes}\n",
        "stage.yml": "on:\n  workflow_call:\n    inputs:\n"
        f"      debug: {{type: {kind}}}\n"
        f"jobs:\n  a:\n    runs-on: x\n    steps:\n      - if: {condition}\n        run: make\n",
    }


@pytest.mark.parametrize(
    ("texts", "severity"),
    [
        (called("inputs.debug"), "warning"),
        (called("inputs.debug && github.actor"), None),
        (called("inputs.debug != ''"), "note"),
        (called("inputs.debug", kind="boolean", passes="true"), "warning"),
        (called("github.event_name == 'pull_request'"), "note"),
        (called("github.event.action != 'closed'"), "note"),
    ],
    ids=[
        "a text that says false",
        "an actor may be nobody",
        "compared",
        "a constant flag",
        "the only event",
        "an action that is not asked for",
    ],
)
def test_a_condition_that_is_always_true_is_found(texts: dict, severity: str | None, found: Callable) -> None:
    assert [one.severity for one in found(texts, RULE)] == ([severity] if severity else [])


@pytest.mark.parametrize(
    "texts",
    [
        called("always()"),
        called("'true'"),
        called("success() || failure()"),
        called("inputs.debug", kind="boolean", passes="${{ github.event.pull_request.draft }}"),
        called("inputs.debug == 'true'"),
    ],
    ids=["always()", "a constant", "status", "a draft", "false text"],
)
def test_a_condition_that_keeps_something_out_or_asks_nothing_is_not(texts: dict, found: Callable) -> None:
    assert found(texts, RULE) == []
