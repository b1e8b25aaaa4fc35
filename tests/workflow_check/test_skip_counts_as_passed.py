"""Jobs that answer for others: which take a skip for a pass, and which do not."""

from collections.abc import Callable

import pytest

RULE = "skip-counts-as-passed"


def workflow(last: str, *, suite: str = "") -> dict[str, str]:
    return {
        "ci.yml": f"""on: [push, pull_request]
jobs:
  build:
    runs-on: x
    steps: [{{run: make}}]
  suite:
    needs: build
    {suite}
    runs-on: x
    steps: [{{run: make test}}]
  all:
{last}
"""
    }


def collecting(script: str, *, needs: str = "[build, suite]", condition: str = "always()") -> str:
    return f"    needs: {needs}\n    if: {condition}\n    runs-on: x\n    steps:\n      - {script}"


FAILED = "{if: \"contains(needs.*.result, 'failure')\", run: exit 1}"
ON_PULL = "if: github.event_name == 'pull_request'"


@pytest.mark.parametrize(
    ("texts", "severity"),
    [
        (workflow(collecting(FAILED, needs="suite")), "error"),
        (workflow(collecting(FAILED), suite=ON_PULL), "warning"),
        (
            workflow(
                collecting("{if: needs.suite.result == 'failure', run: exit 1}", condition="'!cancelled()'"),
                suite=ON_PULL,
            ),
            "warning",
        ),
        (workflow("    needs: [build, suite]\n    runs-on: x\n    steps: [{run: echo all is well}]"), "warning"),
    ],
    ids=["a failure that shows as a skip", "a condition skips one", "one result", "is skipped itself"],
)
def test_a_job_that_takes_a_skip_for_a_pass_is_found(texts: dict, severity: str, found: Callable) -> None:
    assert [(one.rule, one.severity) for one in found(texts, RULE)] == [(RULE, severity)]


@pytest.mark.parametrize(
    "texts",
    [
        workflow(collecting("{if: \"needs.suite.result != 'success'\", run: exit 1}"), suite=ON_PULL),
        workflow(
            collecting(
                "{if: \"contains(needs.*.result, 'failure') || contains(needs.*.result, 'skipped')\", run: exit 1}"
            ),
            suite=ON_PULL,
        ),
        workflow(collecting(FAILED)),
        workflow(collecting("{run: './gate.py', env: {N: '${{ toJSON(needs) }}'}}"), suite=ON_PULL),
        workflow(
            collecting("{uses: re-actors/alls-green@release/v1, with: {jobs: '${{ toJSON(needs) }}'}}"), suite=ON_PULL
        ),
        workflow(collecting("{run: '[ \"${{ needs.suite.result }}\" = success ]'}"), suite=ON_PULL),
        workflow("    needs: [build, suite]\n    runs-on: x\n    steps: [{run: make publish}]"),
        workflow(collecting("{run: echo done}"), suite=ON_PULL),
    ],
    ids=[
        "asks for success",
        "asks for skipped too",
        "nothing can be skipped",
        "a program reads all",
        "an action reads all",
        "in the shell",
        "does work",
        "answers for nobody",
    ],
)
def test_a_job_that_knows_a_skip_or_does_not_answer_for_others_is_not(texts: dict, found: Callable) -> None:
    assert found(texts, RULE) == []
