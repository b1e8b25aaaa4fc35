"""Schedules that start green runs of nothing, and those that do start something."""

from collections.abc import Callable

import pytest

RULE = "nightly-runs-nothing"
HEAD = 'on:\n  pull_request:\n  schedule:\n    - cron: "0 3 * * *"\njobs:\n'


def job(name: str, *, needs: str = "", condition: str = "", output: str = "") -> str:
    lines = [f"  {name}:", "    runs-on: x"]
    lines += [f"    outputs: {{{output}: '${{{{ steps.s.outputs.x }}}}'}}"] if output else []
    lines += [f"    needs: {needs}"] if needs else []
    lines += [f"    if: {condition}"] if condition else []
    return "\n".join([*lines, "    steps: [{id: s, run: make}]", ""])


ON_PULL = "github.event_name == 'pull_request'"


@pytest.mark.parametrize(
    "jobs",
    [
        job("a", condition=ON_PULL),
        job("a", condition=ON_PULL) + job("b", needs="a"),
        job("a", condition=ON_PULL) + job("b", needs="a", condition="always()") + job("c", needs="b"),
        job("a", condition="contains(github.event.pull_request.labels.*.name, 'x')"),
        job("a", condition="github.event.action == 'labeled'") + job("b", needs="a"),
    ],
    ids=["one job", "a chain", "the gate alone runs", "asks a label", "asks an action"],
)
def test_a_schedule_that_starts_nothing_but_gates_is_found(jobs: str, found: Callable) -> None:
    assert [(one.rule, one.severity, one.line) for one in found({"ci.yml": HEAD + jobs}, RULE)] == [(RULE, "error", 3)]


@pytest.mark.parametrize(
    "jobs",
    [
        job("a"),
        job("a", condition=ON_PULL) + job("b", condition="github.event_name == 'schedule'"),
        job("a", condition=ON_PULL) + job("b", needs="a", condition="always()"),
        job("a") + job("b", needs="a", condition=ON_PULL),
        job("a", condition="vars.NIGHTLY == 'on'"),
        job("a", output="go") + job("b", needs="a", condition="needs.a.outputs.go == 'true'"),
    ],
    ids=["no condition", "a job of its own", "always()", "a last job that says so itself", "a variable", "an output"],
)
def test_a_schedule_on_which_something_can_run_is_not(jobs: str, found: Callable) -> None:
    assert found({"ci.yml": HEAD + jobs}, RULE) == []


def test_a_workflow_without_a_schedule_is_not_asked(found: Callable) -> None:
    assert found({"ci.yml": "on: push\njobs:\n" + job("a", condition=ON_PULL)}, RULE) == []
