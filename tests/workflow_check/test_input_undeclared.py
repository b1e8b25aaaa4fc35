"""Inputs that are read and that nothing declares."""

from collections.abc import Callable

import pytest

RULE = "input-undeclared"


def workflow(on: str, line: str) -> str:
    return f"on:\n{on}jobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make {line}\n"


DISPATCH = "  workflow_dispatch:\n    inputs:\n      target:\n        type: string\n"
CALL = "  workflow_call:\n    inputs:\n      target:\n        type: string\n"
STEP = "  steps:\n    - run: echo ${{ inputs.versoin }}\n      shell: bash\n"
ACTION = f"inputs:\n  version: {{}}\nruns:\n  using: composite\n{STEP}"
CALLER = "on:\n{on}jobs:\n  a:\n    uses: ./.github/workflows/called.yml\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"a.yml": workflow(DISPATCH, "${{ inputs.tagret }}")}, [("error", 10, "did you mean `target`?")]),
        ({"a.yml": workflow(CALL, "${{ inputs.tagret || 'all' }}")}, [("error", 10, "did you mean `target`?")]),
        ({"a.yml": workflow("  push:\n", "${{ inputs.dry }}")}, [("error", 7, "declare `dry` under `workflow_dispatch` or `workflow_call`, or take it out")]),
        ({"a.yml": workflow("  push:\n", "${{ inputs.dry || 'no' }}")}, [("warning", 7, "declare `dry` under `workflow_dispatch` or `workflow_call`, or take it out")]),
        ({"a.yml": workflow(DISPATCH, "${{ github.event.inputs.tagret }}")}, [("error", 10, "did you mean `target`?")]),
        ({"a.yml": workflow("  push:\n  schedule:\n    - cron: '0 0 * * *'\n", "${{ github.event.inputs.x }}")}, [("error", 9, "declare `x` under `workflow_dispatch`, or take it out")]),
        (
            {"a.yml": CALLER.format(on="  push:\n"), "called.yml": workflow(CALL, "${{ inputs.target }} ${{ github.event.inputs.other }}")},
            [("error", 10, "declare `other` under `workflow_dispatch`, or take it out")],
        ),
        ({"up/action.yml": ACTION}, [("error", 6, "did you mean `version`?")]),
    ],
    ids=["misspelt", "misspelt-with-default", "none", "none-with-default", "event", "no-dispatch", "called", "action"],
)  # fmt: skip
def test_an_input_that_nothing_declares_is_found(found: Callable, texts: dict, expected: list) -> None:
    assert [(one.severity, one.line, one.fix) for one in found(texts, RULE)] == expected


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": workflow(DISPATCH, "${{ inputs.Target }} ${{ inputs['TARGET'] }} ${{ github.event.inputs.target }}")},
        {"a.yml": workflow(DISPATCH + "  workflow_call:\n", "${{ inputs.target }} ${{ toJSON(inputs) }}")},
        {"a.yml": workflow(DISPATCH, "${{ inputs[matrix.x] }} ${{ github.event.inputs }} ${{ inputs.* }}")},
        {"a.yml": CALLER.format(on=DISPATCH), "called.yml": workflow(CALL, "${{ github.event.inputs.target }}")},
        {"called.yml": workflow(CALL, "${{ github.event.inputs.anything }}")},
        {"a.yml": workflow("  release:\n", "${{ github.event.inputs_of.x }}")},
        {"a.yml": workflow("  some_event:\n", "${{ github.event.inputs.x }}")},
        {
            "up/action.yml": ACTION,
            "a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: ./up\n        with: {versoin: 1}\n",
        },
        {"a.yml": workflow(CALL.replace("type: string", "description: as ${{ inputs.old }}"), "x")},
    ],
    ids=[
        *("any-case-and-index", "of-one-event", "whole", "of-the-entry", "of-unknown-callers", "no-input", "unknown-event"),
        *("action-is-passed-it", "description"),
    ],
)  # fmt: skip
def test_an_input_that_is_declared_or_may_be_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def test_a_name_is_found_once_with_its_other_places(found: Callable) -> None:
    (one,) = found({"a.yml": workflow(DISPATCH, "${{ inputs.tagret }}\n      - run: echo ${{ inputs.tagret }}")}, RULE)
    assert (one.line, one.column, [w.line for w in one.witnesses]) == (10, 23, [11])
