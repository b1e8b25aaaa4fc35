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
