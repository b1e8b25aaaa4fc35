"""A bypass that is passed to a called workflow by a job that is skipped exactly when it is asked for, and its neighbours."""

from collections.abc import Callable

import pytest

LABEL = "contains(github.event.pull_request.labels.*.name, 'bypass')"
CALLED = """\
on:
  workflow_call:
    inputs:
      bypass: {type: boolean}
jobs:
  t1:
    runs-on: x
    if: GATE
    steps: [{run: make}]
  t2:
    runs-on: x
    steps:
      - if: GATE
        run: make
"""
BETWEEN = """\
on:
  workflow_call:
    inputs:
      skip: {type: boolean}
jobs:
  u:
    uses: ./.github/workflows/b.yml
    with:
      bypass: ${{ inputs.skip }}
"""


def caller(asked: str = LABEL, *, lint: str = "", condition: str = "", given: str = "", to: str = "b.yml") -> str:
    """`s` waits for `lint`, which is skipped when the bypass is asked for, and passes it on."""
    own = f"    if: {condition}\n" if condition else ""
    name = "bypass" if to == "b.yml" else "skip"
    return f"""\
on: {{pull_request: {{types: [opened, labeled, synchronize]}}}}
jobs:
  lint:
    if: {lint or f'"!{asked}"'}
    runs-on: x
    steps: [{{run: make}}]
  s:
    needs: lint
{own}    uses: ./.github/workflows/{to}
    with:
      {name}: ${{{{ {given or asked} }}}}
"""


def called(gate: str = "inputs.bypass") -> str:
    return CALLED.replace("GATE", gate)


def shown(findings: list) -> list[tuple[str, str, str, int]]:
    return [(one.rule, one.severity, one.path.rpartition("/")[2], one.line) for one in findings]


DEAD = [("gate-never-opens", "error", "b.yml", 8), ("gate-never-opens", "error", "b.yml", 13)]


@pytest.mark.parametrize(
    "asked",
    [LABEL, "(vars.BYPASS == 'yes')", "(github.event.pull_request.title == 'bypass')"],
    ids=["label", "variable", "title"],
)
def test_gates_that_a_skipped_caller_would_have_to_open_are_found(asked: str, found: Callable) -> None:
    files = {"a.yml": caller(asked), "b.yml": called()}
    assert shown(found(files, "gate-never-opens")) == DEAD


def test_the_lines_that_prove_it_name_the_skipped_job_and_what_is_passed(found: Callable) -> None:
    first, *_ = found({"a.yml": caller(), "b.yml": called()}, "gate-never-opens")
    assert [(one.path.rpartition("/")[2], one.line) for one in first.witnesses] == [
        ("a.yml", 1),
        ("a.yml", 9),
        ("a.yml", 4),
        ("a.yml", 11),
        ("b.yml", 8),
    ]


def test_gates_two_calls_away_are_found(found: Callable) -> None:
    files = {"a.yml": caller(to="c.yml"), "c.yml": BETWEEN, "b.yml": called()}
    assert shown(found(files, "gate-never-opens")) == DEAD


def test_an_alternative_that_it_would_open_is_dead(found: Callable) -> None:
    files = {"a.yml": caller(), "b.yml": called("inputs.bypass || github.actor == 'x'")}
    assert [(one.severity, one.line) for one in found(files, "condition-part-dead")] == [
        ("warning", 8),
        ("warning", 13),
    ]


@pytest.mark.parametrize("condition", ["always()", '"!cancelled()"', '"!failure()"'])
def test_a_caller_that_a_skip_does_not_skip_opens_them(condition: str, found: Callable) -> None:
    assert found({"a.yml": caller(condition=condition), "b.yml": called()}) == []


@pytest.mark.parametrize(
    "source",
    [
        caller(lint="github.actor != 'bot'"),
        caller(lint="contains(github.event.pull_request.labels.*.name, 'lint')"),
        caller(lint=LABEL),
        caller()
        + "  other:\n    uses: ./.github/workflows/b.yml\n    with:\n      bypass: ${{ github.actor == 'x' }}\n",
    ],
    ids=["asks something else", "asks another label", "runs when it is asked for", "another caller passes more"],
)
def test_a_caller_that_can_run_with_it_opens_them(source: str, found: Callable) -> None:
    assert shown(found({"a.yml": source, "b.yml": called()}, "gate-never-opens")) == []


def test_what_is_asked_for_without_it_is_not_spoken_of(found: Callable) -> None:
    assert found({"a.yml": caller(), "b.yml": called('"!inputs.bypass"')}, "gate-always-open") == []
    assert found({"a.yml": caller(), "b.yml": called('"!inputs.bypass"')}, "gate-never-opens") == []
