"""Texts that are asked for their truth, and are true when they say `false`."""

from collections.abc import Callable

import pytest

RULE = "text-as-boolean"


def dispatch(condition: str, kind: str = "boolean") -> dict[str, str]:
    text = f"on:\n  workflow_dispatch:\n    inputs:\n      debug:\n        type: {kind}\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make\n        {condition}\n"
    return {"a.yml": text}


def action(condition: str, default: str = "false", given: str = "") -> dict[str, str]:
    return {
        ".github/actions/up/action.yml": f"inputs:\n  cache:\n    default: '{default}'\nruns:\n  using: composite\n  steps:\n    - run: make\n      shell: bash\n      {condition}\n",
        "a.yml": f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: ./.github/actions/up\n{given}",
    }


def output(condition: str, script: str = "echo changed=false >> $GITHUB_OUTPUT") -> dict[str, str]:
    text = f"on: push\njobs:\n  a:\n    runs-on: x\n    outputs: {{changed: '${{{{ steps.s.outputs.changed }}}}'}}\n    steps:\n      - id: s\n        run: {script}\n  b:\n    needs: a\n    runs-on: x\n    {condition}\n    steps:\n      - run: make\n"
    return {"a.yml": text}


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        (dispatch("if: github.event.inputs.debug"), "error", 11),
        (dispatch("if: github.event.inputs.debug && github.ref == 'refs/heads/main'"), "error", 11),
        (dispatch("env: {X: \"${{ github.event.inputs.debug && '-v' || '' }}\"}"), "error", 11),
        (dispatch("env: {X: \"${{ inputs.debug == 'true' && '-v' || '' }}\"}"), "error", 11),
        (action("if: inputs.cache"), "error", 9),
        (action("if: ${{ !inputs.cache }}"), "error", 9),
        (action("if: inputs.cache", "true", "        with: {cache: false}\n"), "error", 9),
        (action("if: inputs.cache == true"), "error", 9),
        (action("if: inputs.cache", "true"), "warning", 9),
        (output("if: needs.a.outputs.changed"), "error", 12),
        (output("if: ${{ !needs.a.outputs.changed }}"), "error", 12),
    ],
    ids=[
        *("event", "event-and", "event-in-a-value", "boolean-is-no-text", "action", "action-not", "action-passed-false"),
        *("action-compared", "action-true", "output", "output-not"),
    ],
)  # fmt: skip
def test_a_text_that_says_false_and_is_true_is_found(found: Callable, texts: dict, severity: str, line: int) -> None:
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [(severity, line)]


@pytest.mark.parametrize(
    "texts",
    [
        dispatch("if: inputs.debug"),
        dispatch("if: github.event.inputs.debug == 'true'"),
        dispatch("if: github.event.inputs.debug", "string"),
        dispatch("if: fromJSON(github.event.inputs.debug || 'false')"),
        dispatch("env: {X: '${{ github.event.inputs.debug }} ${{ github.event.inputs.debug || false }}'}"),
        dispatch("env: {X: \"${{ inputs.debug && '-v' || '' }} ${{ inputs.debug == true && 'a' || 'b' }}\"}"),
        action("if: inputs.cache == 'true'"),
        action("if: inputs.cache && inputs.cache != 'false'"),
        action("if: inputs.cache", ""),
        action("if: inputs.cache", "some/folder"),
        action("if: fromJSON(inputs.cache)"),
        output("if: needs.a.outputs.changed == 'true'"),
        output("if: needs.a.outputs.changed", "echo changed=$(git diff --name-only) >> $GITHUB_OUTPUT"),
        output("if: needs.a.result"),
    ],
    ids=[
        *("boolean", "compared", "string", "parsed", "handed-on", "boolean-in-a-value", "action-compared", "action-both"),
        *("action-empty", "action-text", "action-parsed", "output-compared", "output-text", "result"),
    ],
)  # fmt: skip
def test_a_text_that_is_compared_or_a_boolean_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


@pytest.mark.parametrize(
    ("read", "declared", "severities"),
    [
        ("github.event.inputs.debug", "{default: false}", ["error"]),
        ("inputs.debug", "{default: false}", ["error"]),
        ("inputs.debug", "{type: string, default: 'true'}", ["warning"]),
        ("inputs.debug", "{default: ''}", []),
        ("inputs.debug", "{type: boolean, default: false}", []),
        ("github.event.inputs.debug", "{type: boolean, default: false}", ["error"]),
    ],
)
def test_an_input_of_no_type_is_a_text(read: str, declared: str, severities: list[str], found: Callable) -> None:
    text = f"""on:
  workflow_dispatch:
    inputs:
      debug: {declared}
jobs:
  a:
    runs-on: x
    steps:
      - if: github.event_name == 'workflow_dispatch' && {read}
        run: make
"""
    assert [one.severity for one in found({"ci.yml": text}, "text-as-boolean")] == severities
