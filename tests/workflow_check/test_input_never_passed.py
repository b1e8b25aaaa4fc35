"""Inputs that every caller leaves to their default."""

from collections.abc import Callable

import pytest

RULE = "input-never-passed"


def called(line: str, default: str = "skip", more: str = "") -> str:
    given = f"        default: {default}\n" if default else ""
    return (
        f"on:\n  workflow_call:\n    inputs:\n      mode:\n        type: string\n{given}{more}"
        f"jobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make\n        {line}\n"
    )


def caller(given: str = "", file: str = "./.github/workflows/called.yml") -> str:
    return f"on: push\njobs:\n  a:\n    uses: {file}\n{given}"


ASKS = "if: inputs.mode == 'full' || github.ref == 'refs/heads/main'"
SAYS = "env: {MODE: '${{ inputs.mode }}'}"


@pytest.mark.parametrize(
    ("texts", "severity"),
    [
        ({"a.yml": caller(), "called.yml": called(ASKS)}, "warning"),
        ({"a.yml": caller(), "b.yml": caller(), "called.yml": called(SAYS)}, "note"),
        (
            {"a.yml": caller(), "called.yml": called("env: {M: \"${{ inputs.mode == 'full' && 'a' || 'b' }}\"}")},
            "warning",
        ),
        ({"a.yml": caller(), "called.yml": called(ASKS, "")}, "warning"),
        ({"a.yml": caller(), "called.yml": called("env: {M: \"${{ inputs.mode || 'a' }}\"}")}, "note"),
        ({"a.yml": caller(), "called.yml": called("env: {M: \"${{ inputs.mode && 'a' }}\"}")}, "warning"),
    ],
    ids=["decides", "is-said", "decides-in-a-value", "no-default", "falls-back", "asks-whether"],
)
def test_an_input_that_no_caller_passes_is_found(found: Callable, texts: dict, severity: str) -> None:
    (one,) = found(texts, RULE)
    assert (one.severity, one.path[-10:], one.line) == (severity, "called.yml", 4)
    assert {w.path for w in one.witnesses} >= {
        path and f".github/workflows/{path}" for path in texts if path != "called.yml"
    }


@pytest.mark.parametrize(
    "texts",
    [
        {"a.yml": caller("    with: {mode: full}\n"), "b.yml": caller(), "called.yml": called(ASKS)},
        {"a.yml": caller("    with: {MODE: '${{ github.ref }}'}\n"), "called.yml": called(ASKS)},
        {"called.yml": called(ASKS)},
        {"a.yml": caller(), "called.yml": called("if: inputs.mode == 'full'")},
        {"a.yml": caller(), "called.yml": called(ASKS, more="  workflow_dispatch:\n    inputs:\n      mode: {}\n")},
        {"a.yml": caller(), "b.yml": caller(file="o/r/.github/workflows/called.yml@main"), "called.yml": called(ASKS)},
        {"a.yml": caller(), "called.yml": called("env: {A: b}")},
        {"a.yml": caller(), "called.yml": called(ASKS).replace("type: string", "type: string\n        required: true", 1).replace("        default: skip\n", "")},
        {"a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: ./up\n", "up/action.yml": "inputs:\n  mode: {default: a}\nruns:\n  using: composite\n  steps:\n    - if: inputs.mode == 'b'\n      run: make\n      shell: bash\n"},
    ],
    ids=[
        *("one-passes", "passes-an-expression", "no-caller", "gate-is-shut", "dispatch-too", "called-elsewhere", "unread", "refused-anyway"),
        "action",
    ],
)  # fmt: skip
def test_an_input_that_may_be_passed_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []
