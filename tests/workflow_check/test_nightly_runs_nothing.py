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
        job("a") + job("b", needs="a", condition="needs.a.result == 'failure'"),
        job("a") + job("b", needs="a", condition="failure()&& false"),
    ],
    ids=[
        "no condition",
        "a job of its own",
        "always()",
        "a last job that says so itself",
        "a variable",
        "an output",
        "an alarm that is dead",
        "an alarm that is off",
    ],
)
def test_a_schedule_on_which_something_can_run_is_not(jobs: str, found: Callable) -> None:
    assert found({"ci.yml": HEAD + jobs}, RULE) == []


CALL = "  c:\n    uses: ./.github/workflows/called.yml\n"
STEP = "  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n      - run: make test\n        if: {}\n{}"
LABEL = "contains(github.event.pull_request.labels.*.name, 'full')"


def called(condition: str) -> str:
    return f"on:\n  workflow_call:\n    inputs:\n      gpu: {{type: boolean}}\njobs:\n{job('t', condition=condition)}"


@pytest.mark.parametrize(
    "texts",
    [
        {"ci.yml": HEAD + CALL, "called.yml": called("inputs.gpu")},
        {"ci.yml": HEAD + job("g") + CALL + "    needs: g\n", "called.yml": called(ON_PULL)},
        {"ci.yml": HEAD + STEP.format(LABEL, "")},
        {"ci.yml": HEAD + job("a", output="go").replace("{id: s,", "{id: s, if: github.event_name == 'push',") + job("b", needs="a", condition="needs.a.outputs.go == 'true'")},
    ],
    ids=["no input for the called file", "a gate, and nothing in the called file", "the only step", "an output of a step that is skipped"],
)  # fmt: skip
def test_a_nightly_whose_only_tests_can_be_skipped(texts: dict[str, str], found: Callable) -> None:
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [("error", 3)]


@pytest.mark.parametrize(
    "texts",
    [
        {"ci.yml": HEAD + CALL + "    with: {gpu: true}\n", "called.yml": called("inputs.gpu")},
        {"ci.yml": HEAD + STEP.format(LABEL, "      - run: make lint\n")},
        {"ci.yml": HEAD + STEP.format(LABEL, "      - uses: some/action@v1\n")},
        {"ci.yml": HEAD + STEP.format("vars.FULL", "")},
        {"ci.yml": HEAD + CALL.replace("./", "other/repository/").replace(".yml", ".yml@main")},
    ],
    ids=["the input is passed", "another step", "an action", "a variable", "a file of another repository"],
)
def test_a_nightly_in_which_tests_can_run(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []


def test_a_workflow_without_a_schedule_is_not_asked(found: Callable) -> None:
    assert found({"ci.yml": "on: push\njobs:\n" + job("a", condition=ON_PULL)}, RULE) == []
