"""Inputs that may be left out and are parsed all the same."""

from collections.abc import Callable

import pytest

RULE = "optional-parsed"

INPUT = "    inputs:\n      matrix:\n        type: string\n"
CALL = f"on:\n  workflow_call:\n{INPUT}"
DISPATCH = f"on:\n  workflow_dispatch:\n{INPUT}"
PUSH = f"on:\n  push:\n  workflow_dispatch:\n{INPUT}"


def workflow(on: str, parse: str = "fromJSON(inputs.matrix)", job: str = "", step: str = "") -> str:
    return f"{on}jobs:\n  a:\n    runs-on: x\n{job}    strategy:\n      matrix:\n        x: ${{{{ {parse} }}}}\n    steps:\n      - run: make\n{step}"


def caller(given: str = "") -> str:
    return f"on: push\njobs:\n  a:\n    uses: ./.github/workflows/called.yml\n{given}"


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        ({"a.yml": caller(), "called.yml": workflow(CALL)}, "error", 11),
        (
            {"a.yml": caller("    with: {matrix: '[1]'}\n"), "b.yml": caller(), "called.yml": workflow(CALL)},
            "error",
            11,
        ),
        ({"a.yml": workflow(PUSH)}, "error", 12),
        ({"a.yml": workflow(PUSH, "fromJSON(github.event.inputs.matrix)")}, "error", 12),
        ({"a.yml": workflow(DISPATCH)}, "warning", 11),
        ({"called.yml": workflow(CALL)}, "warning", 11),
        ({"a.yml": workflow(PUSH, "github.event_name == 'push' && fromJSON(inputs.matrix) || 1")}, "error", 12),
        ({"a.yml": caller("    with: {matrix: ''}\n"), "called.yml": workflow(CALL)}, "error", 11),
    ],
    ids=[
        "not-passed",
        "one-does-not",
        "other-event",
        "event-inputs",
        "typed",
        "unknown-callers",
        "wrong-guard",
        "empty",
    ],
)
def test_what_is_parsed_and_can_be_empty_is_found(found: Callable, texts: dict, severity: str, line: int) -> None:
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [(severity, line)]


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": caller("    with: {matrix: '[1]'}\n"), "called.yml": workflow(CALL)},
        {"a.yml": caller(), "called.yml": workflow(CALL, "fromJSON(inputs.matrix || '[]')")},
        {"a.yml": caller(), "called.yml": workflow(CALL + "        default: '[]'\n")},
        {"a.yml": workflow(DISPATCH + "        required: true\n")},
        {"a.yml": caller(), "called.yml": workflow(CALL, "inputs.matrix && fromJSON(inputs.matrix) || 1")},
        {"a.yml": caller(), "called.yml": workflow(CALL, job="    if: inputs.matrix != ''\n")},
        {"a.yml": workflow(PUSH, job="    if: github.event_name == 'workflow_dispatch' && inputs.matrix\n")},
        {"a.yml": workflow(PUSH + "        required: true\n", job="    if: github.event_name == 'workflow_dispatch'\n")},
        {"a.yml": workflow(PUSH + "        required: true\n", "github.event_name == 'workflow_dispatch' && fromJSON(inputs.matrix) || 1")},
        {"a.yml": caller(), "called.yml": workflow(CALL.replace("string", "boolean"))},
        {"a.yml": caller(), "called.yml": workflow(CALL, "contains(inputs.matrix, 'x')")},
    ],
    ids=[
        *("passed", "falls-back", "default", "required", "guarded", "guarded-job", "guarded-event-and-input"),
        *("only-typed", "only-typed-in-value", "boolean", "not-parsed"),
    ],
)  # fmt: skip
def test_what_cannot_be_empty_there_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def test_the_way_that_leaves_it_empty_is_the_witness(found: Callable) -> None:
    (one,) = found({"a.yml": caller(), "called.yml": workflow(CALL)}, RULE)
    assert {(w.path[-10:].rpartition("/")[2], w.line) for w in one.witnesses} >= {("a.yml", 4)}
