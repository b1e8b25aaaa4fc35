"""A name that is never there keeps a gate closed: that is one fault."""

from collections.abc import Callable

import pytest


def workflow(condition: str) -> dict[str, str]:
    """The condition is in line 9."""
    return {
        "ci.yml": "on:\n  workflow_dispatch:\n    inputs:\n      debug: {type: boolean, default: false}\njobs:\n"
        "  a:\n    runs-on: x\n    steps:\n"
        f'      - if: "{condition}"\n        run: make\n      - run: echo ${{{{ inputs.debug }}}}\n'
    }


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        ("inputs.debog", "input-undeclared"),
        ("inputs.debug && steps.a.outputs.x == 'y'", "needs-undeclared"),
        ("github.event_name == 'pul_request'", "github-value-impossible"),
        ("inputs.debug || steps.a.outputs.x == 'y'", "needs-undeclared"),
    ],
)
def test_a_gate_that_a_wrong_name_closes_is_said_once(condition: str, rule: str, found: Callable) -> None:
    assert [(one.rule, one.severity, one.line) for one in found(workflow(condition))] == [(rule, "error", 9)]


def test_the_gate_is_said_where_the_name_is_not_asked_about(found: Callable) -> None:
    assert [one.rule for one in found(workflow("inputs.debog"), "gate-never-opens")] == ["gate-never-opens"]


def test_a_warning_does_not_stand_for_an_error(found: Callable) -> None:
    """With `|| …` a name that nothing is near to is warned of, and the gate is closed all the same."""
    rules = [one.rule for one in found(workflow("(inputs.other || false) && github.event_name == 'workflow_dispatch'"))]
    assert sorted(rules) == ["gate-never-opens", "input-undeclared"]
