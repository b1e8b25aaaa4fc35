"""What a caller passes against what the called file declares."""

from collections.abc import Callable

import pytest

CALLED = """\
on:
  workflow_call:
    inputs:
      image:
        type: string
        required: true
      retries:
        type: number
        default: 1
      debug:
        type: boolean
      tier:
        type: string
        required: true
        default: small
    secrets:
      TOKEN:
        required: true
      Other: {}
jobs:
  a:
    runs-on: x
    steps:
      - run: echo "$IMAGE"
        env:
          IMAGE: ${{ inputs.image }} ${{ inputs.retries }} ${{ inputs.debug }} ${{ inputs.tier }} ${{ secrets.TOKEN }} ${{ secrets.other }}
"""

ACTION = """\
name: set up
inputs:
  version:
    required: true
  cache:
    default: 'yes'
runs:
  using: composite
  steps:
    - run: echo "${{ inputs.version }} ${{ inputs.cache }}"
      shell: bash
"""


def caller(given: str, secrets: str = "inherit") -> dict[str, str]:
    text = f"on: push\njobs:\n  call:\n    uses: ./.github/workflows/called.yml\n    with:\n{given}    secrets: {secrets}\n"
    return {"ci.yml": text, "called.yml": CALLED}


def uses(given: str, before: str = "- uses: actions/checkout@v4") -> dict[str, str]:
    text = f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      {before}\n      - uses: ./.github/actions/up\n{given}"
    return {"ci.yml": text, ".github/actions/up/action.yml": ACTION}


GOOD = "      image: a\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (caller(f"{GOOD}      retrys: 2\n"), [("error", 7, "did you mean `retries`?")]),
        (caller(f"{GOOD}      nothing: 2\n"), [("error", 7, "declare it in .github/workflows/called.yml, or leave it out")]),
        (caller("      debug: true\n"), [("error", 4, "pass `image`, or give it a default")]),
        (caller(f"{GOOD}      debug: on\n"), [("error", 7, "pass `true` or `false`")]),
        (caller(f"{GOOD}      retries: many\n"), [("error", 7, "pass a number")]),
        (caller(GOOD, "{TOKEN: a, OTHERS: b}"), [("error", 7, "did you mean `Other`?")]),
        (caller(GOOD, "{Other: b}"), [("error", 4, "pass `TOKEN`, or `secrets: inherit`")]),
        ({"ci.yml": "on: push\njobs:\n  a:\n    uses: ./.github/workflows/none.yml\n"}, [("error", 4, "name a workflow that is there")]),
        ({**caller(GOOD), "called.yml": "on: push\njobs: {}\n"}, [("error", 4, "add `workflow_call` to its `on`")]),
        (uses("        with:\n          version: 1\n          cahce: no\n"), [("warning", 10, "did you mean `cache`?")]),
        (uses(""), [("warning", 7, "pass `version`, or give it a default")]),
    ],
    ids=[
        *("misspelt", "undeclared", "missing", "no-boolean", "no-number", "secret-misspelt", "secret-missing"),
        *("no-file", "not-callable", "action-misspelt", "action-missing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_found(found: Callable, texts: dict, expected: list) -> None:
    assert [(one.severity, one.line, one.fix) for one in found(texts, "call-mismatch")] == expected


@pytest.mark.parametrize(
    "texts",
    [
        caller(GOOD),
        caller("      IMAGE: a\n      Retries: '3'\n      debug: 'false'\n"),
        caller("      image: 1\n      debug: ${{ github.event_name == 'push' }}\n      retries: ${{ matrix.n }}\n"),
        caller("      image:\n      debug: ${{ 'true' }}\n"),
        caller(GOOD, "{token: a}"),
        uses("        with:\n          Version: 1\n          args: x\n"),
        uses("        with:\n          version: ''\n"),
        uses("        with:\n          x: 1\n", "- uses: actions/checkout@v4\n        with: {repository: o/r}"),
        {"ci.yml": "on: push\njobs:\n  a:\n    uses: o/r/.github/workflows/called.yml@v1\n    with: {x: 1}\n"},
        {**caller(GOOD), "called.yml": "on: [\n"},
    ],
    ids=[
        *("fits", "any-case-and-quoted", "expressions", "nothing-passed", "secret-in-any-case", "action", "action-empty"),
        *("another-repository-at-the-workspace", "elsewhere", "unreadable"),
    ],
)  # fmt: skip
def test_what_fits_or_is_not_known_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert [one for one in found(texts, "call-mismatch") if one.rule == "call-mismatch"] == []


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("${{ needs.a.outputs.debug }}", "pass `fromJSON(…)` of it, or compare it with a text"),
        ("${{ github.event.inputs['debug'] }}", "pass `fromJSON(…)` of it, or compare it with a text"),
        ("${{ format('{0}', true) }}", "pass `fromJSON(…)` of it, or compare it with a text"),
        ("${{ vars.DEBUG }}", "pass `fromJSON(…)` of it, or compare it with a text"),
        ("t${{ needs.a.result }}", "pass one expression, or compare it with a text"),
    ],
)
def test_a_text_is_passed_to_a_boolean(value: str, fix: str, found: Callable) -> None:
    """An output is a text, and GitHub does not make a boolean of it."""
    (one,) = found(caller(f'{GOOD}      debug: "{value}"\n'), "call-mismatch")
    assert (one.severity, one.line, one.fix) == ("error", 7, fix)


@pytest.mark.parametrize(
    "line",
    [
        "debug: ${{ needs.a.outputs.debug == 'true' }}",
        "debug: ${{ fromJSON(needs.a.outputs.debug) }}",
        "debug: ${{ inputs.debug }}",
        "debug: ${{ matrix.debug }}",
        "retries: ${{ needs.a.outputs.retries }}",
        "tier: ${{ needs.a.outputs.tier }}",
    ],
)
def test_what_may_be_a_boolean_is_no_finding(line: str, found: Callable) -> None:
    assert found(caller(f"{GOOD}      {line}\n"), "call-mismatch") == []


def test_the_declaration_is_the_witness(found: Callable) -> None:
    (one,) = found(caller("      debug: true\n"), "call-mismatch")
    assert [(w.path, w.line) for w in one.witnesses] == [(".github/workflows/called.yml", 4)]
