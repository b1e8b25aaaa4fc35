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


def script(text: str) -> str:
    lines = "".join(f"          {line}\n" for line in text.splitlines())
    return "run: |\n" + lines.rstrip("\n")


ALLOWED = "{uses: re-actors/alls-green@release/v1, with: {jobs: '${{ toJSON(needs) }}', allowed-skips: NAMES}}"
TAKES = 'r="${{ needs.suite.result }}"\nif [ "$r" != success ] && [ "$r" != skipped ]; then\n  exit 1\nfi'
CASE = 'case "${{ needs.suite.result }}" in\n  success|skipped) echo fine ;;\n  *) exit 1 ;;\nesac'
EITHER = 'needs.suite.result != "success" && needs.suite.result != "skipped"'.replace('"', "''")
JQ = "echo '${{ toJSON(needs) }}' | jq -r '.[].result' | while read -r r; do\n  if [ \"$r\" = failure ]; then exit 1; fi\ndone"


@pytest.mark.parametrize(
    ("collector", "severity"),
    [
        (collecting(ALLOWED.replace("NAMES", "suite"), needs="suite"), "error"),
        (collecting(script(JQ), needs="suite"), "error"),
        (collecting("{run: 'jq -e \".[].result != \\\"failure\\\"\" <<< $N', env: {N: '${{ toJSON(needs) }}'}}", needs="suite"), "error"),
        (collecting(script(TAKES), needs="suite"), "warning"),
        (collecting(script(CASE), needs="suite"), "warning"),
        (collecting(f"{{if: '{EITHER}', run: exit 1}}", needs="suite"), "warning"),
    ],
    ids=["alls-green", "a loop over jq", "jq -e", "the shell", "case", "an expression"],
)  # fmt: skip
def test_a_build_that_fails_is_seen_as_a_skip_of_the_suite(collector: str, severity: str, found: Callable) -> None:
    assert [(one.rule, one.severity) for one in found(workflow(collector), RULE)] == [(RULE, severity)]


@pytest.mark.parametrize("condition", ["success()", "github.event_name == 'push'", ""])
def test_a_collector_that_lost_its_always_never_sees_a_failure(condition: str, found: Callable) -> None:
    texts = workflow(collecting(FAILED, condition=condition).replace("    if: \n", ""))
    assert [(one.severity, one.confidence) for one in found(texts, RULE)] == [("warning", "high")]


@pytest.mark.parametrize("condition", ["'!failure()'", "success()", "'!failure() && !cancelled()'"])
def test_a_collector_that_no_failure_lets_run_is_skipped_itself(condition: str, found: Callable) -> None:
    texts = workflow(collecting("{run: echo all is well}", condition=condition))
    assert [one.severity for one in found(texts, RULE)] == ["warning"]


@pytest.mark.parametrize(
    "collector",
    [
        collecting("{if: \"needs.suite.result == 'failure'\", run: curl -d bad https://example.org}", needs="suite"),
        collecting(script('if [ "${{ needs.suite.result }}" = failure ]; then\n  curl -d bad https://example.org\nfi'), needs="suite"),
        collecting("{if: \"contains(needs.*.result, 'failure')\", uses: some/message@v1, with: {text: bad}}", needs="suite"),
        collecting(ALLOWED.replace("NAMES", "suite")),
        collecting(ALLOWED.replace("NAMES", "build"), needs="suite"),
        collecting(script(TAKES)),
        collecting("{run: make publish}", condition="'!failure()'"),
    ],
    ids=[
        *("tells", "tells in the shell", "tells by an action", "alls-green needs both", "alls-green allows another"),
        *("the shell asks both", "work that a failure stops"),
    ],
)  # fmt: skip
def test_who_only_tells_or_needs_all_is_no_finding(collector: str, found: Callable) -> None:
    assert found(workflow(collector), RULE) == []


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
