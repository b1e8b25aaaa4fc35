"""Concurrency groups in which a label ends the run before it, and those that keep labels apart."""

from collections.abc import Callable

import pytest

RULE = "label-cancels-run"


def workflow(
    types: str = "[opened, synchronize, labeled]",
    group: str = "ci-${{ github.ref }}",
    cancels: str = "true",
    condition: str = "github.event.pull_request.draft == false",
) -> dict[str, str]:
    return {
        "ci.yml": f"""on:
  pull_request:
    types: {types}
concurrency:
  group: {group}
  cancel-in-progress: {cancels}
jobs:
  a:
    if: {condition}
    runs-on: x
    steps: [{{run: make}}]
"""
    }


@pytest.mark.parametrize(
    ("texts", "severity"),
    [
        (workflow(), "warning"),
        (workflow(types="[synchronize, unlabeled]"), "warning"),
        (workflow(cancels="${{ github.event_name == 'pull_request' }}"), "warning"),
        (workflow(condition="github.event.label.name == 'gpu' || github.event.action == 'opened'"), "error"),
        (
            workflow(
                condition="github.event.label.name == 'gpu' || contains(github.event.pull_request.labels.*.name, 'gpu')"
            ),
            "warning",
        ),
    ],
    ids=[
        "labels and pushes",
        "labels taken off",
        "cancels for pull requests",
        "a job asks for the label",
        "or for one that is there",
    ],
)
def test_a_group_in_which_a_label_cancels_the_run_is_found(texts: dict, severity: str, found: Callable) -> None:
    assert [(one.rule, one.severity, one.line) for one in found(texts, RULE)] == [(RULE, severity, 5)]


def of_a_job(condition: str, group: str = "ci-${{ github.ref }}") -> dict[str, str]:
    texts = workflow(group=group, condition=condition)["ci.yml"]
    top, held = texts.split("concurrency:\n")[0], texts.split("jobs:\n")[1]
    inner = f"    concurrency:\n      group: {group}\n      cancel-in-progress: true\n"
    return {"ci.yml": f"{top}jobs:\n{held}{inner}"}


ONE = "github.event.label.name == 'run-gpu'"


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        (workflow(group="${{ github.workflow }}-${{ github.head_ref || github.run_id }}"), "warning", 5),
        (workflow(group="ci-${{ github.event.pull_request.number || github.run_id }}"), "warning", 5),
        (workflow(group="${{ github.event_name == 'push' && github.run_id || github.ref }}"), "warning", 5),
        (workflow(types="[labeled]", condition=ONE), "error", 5),
        (of_a_job("always()"), "warning", 10),
    ],
    ids=["head_ref or run_id", "number or run_id", "run_id for pushes", "labels only, and a job for one", "of a job"],
)
def test_any_label_cancels_the_running_tests(texts: dict, severity: str, line: int, found: Callable) -> None:
    """https://github.com/open-metadata/OpenMetadata/pull/28737"""
    assert [(one.rule, one.severity, one.line) for one in found(texts, RULE)] == [(RULE, severity, line)]


@pytest.mark.parametrize(
    "texts",
    [
        workflow(group="ci-${{ vars.GROUP || github.run_id }}"),
        workflow(group="ci-${{ github.run_id || github.head_ref }}"),
        workflow(group="${{ github.event_name == 'pull_request' && github.run_id || github.ref }}"),
        workflow(types="[labeled]", condition=ONE, group="ci-${{ github.ref }}-${{ github.event.label.name }}"),
        of_a_job(ONE),
        of_a_job("always()", "ci-${{ github.run_id }}"),
    ],
    ids=["unknown", "run_id first", "run_id for pull requests", "the label in the key", "of a job for one label", "of a run"],
)  # fmt: skip
def test_runs_of_one_pull_request_that_are_kept_apart(texts: dict, found: Callable) -> None:
    assert found(texts, RULE) == []


@pytest.mark.parametrize(
    "texts",
    [
        workflow(types="[opened, synchronize]"),
        workflow(types="[labeled]"),
        workflow(group="ci-${{ github.ref }}-${{ github.event.label.name }}"),
        workflow(group="ci-${{ github.event['action'] == 'labeled' && github.run_id }}"),
        {"ci.yml": workflow()["ci.yml"].replace("{run: make}", "{uses: o/enforce-label@v2}")},
        workflow(cancels="false"),
        workflow(cancels="${{ github.event.action == 'synchronize' }}"),
    ],
    ids=[
        "no labels",
        "labels only",
        "the label in the key",
        "index syntax",
        "only looks at labels",
        "cancels nothing",
        "cancels for pushes",
    ],
)
def test_a_group_that_keeps_labels_apart_or_cancels_nothing_is_not(texts: dict, found: Callable) -> None:
    assert found(texts, RULE) == []
