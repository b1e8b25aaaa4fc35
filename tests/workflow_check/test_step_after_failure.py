"""Steps that ask for the failure of an earlier one."""

from collections.abc import Callable

import pytest

RULE = "step-after-failure"


def steps(condition: str, *, first: str = "", more: str = "") -> dict[str, str]:
    """The condition stands in line 8, or after what `first` says of the step that it asks for."""
    return {
        "ci.yml": f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - id: t\n        run: make\n{first}{more}"
        f"      - if: {condition}\n        run: make report\n"
    }


GOES_ON = "        continue-on-error: true\n"
SECOND = "      - id: u\n        run: make\n"


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (steps("steps.t.outcome == 'failure'"), 8),
        (steps("steps.t.conclusion == 'failure'"), 8),
        (steps("${{ steps.t.outcome == 'failure' && github.event_name == 'push' }}"), 8),
        (steps("steps.t.outcome == 'failure' || steps.u.outcome == 'failure'", more=SECOND), 10),
        (steps("steps.t.outcome != 'success'"), 8),
        (steps('contains(fromJSON(\'["failure", "cancelled"]\'), steps.t.outcome)'), 8),
        (steps("steps.t.conclusion == 'failure'", first=GOES_ON), 9),
        (steps("steps.t.outcome == 'failure'", first="        continue-on-error: false\n"), 9),
    ],
)
def test_a_step_that_the_failure_it_asks_for_skips(texts: dict[str, str], line: int, found: Callable) -> None:
    assert [(one.severity, one.line) for one in found(texts, RULE)] == [("error", line)]


def test_in_an_action_of_the_repository(found: Callable) -> None:
    action = (
        "runs:\n  using: composite\n  steps:\n    - id: t\n      run: make\n      shell: bash\n"
        "    - if: steps.t.outcome == 'failure'\n      run: make report\n      shell: bash\n"
    )
    user = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: ./.github/up\n"
    assert [one.line for one in found({".github/up/action.yml": action, "ci.yml": user}, RULE)] == [7]


@pytest.mark.parametrize(
    "texts",
    [
        steps("failure() && steps.t.outcome == 'failure'"),
        steps("always() && steps.t.outcome == 'failure'"),
        steps("steps.t.outcome == 'failure'", first=GOES_ON),
        steps("steps.t.outcome == 'failure'", first="        continue-on-error: ${{ matrix.loose }}\n"),
        steps("steps.t.outcome != 'success'", first="        if: vars.X\n"),
        steps("steps.t.outcome == 'success'"),
        steps("steps.t.outcome == 'failure' || github.event_name == 'push'"),
        steps("steps.t.outcome == 'failure' || vars.X"),
        steps("steps.t.outputs.failure == 'failure'"),
    ],
)
def test_a_step_that_can_run(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []
