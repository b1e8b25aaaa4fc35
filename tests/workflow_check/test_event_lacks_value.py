"""Values of an event that the events of the file do not have."""

from collections.abc import Callable

import pytest

RULE = "event-lacks-value"


def checkout(events: str, ref: str) -> dict[str, str]:
    """The ref stands in line 8."""
    return {
        "ci.yml": f"on: {events}\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n"
        f"        with:\n          ref: {ref}\n      - run: make\n"
    }


def run(events: str, script: str, env: str = "{}") -> dict[str, str]:
    """The script stands in line 6."""
    return {
        "ci.yml": f"on: {events}\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: {script}\n        env: {env}\n"
    }


CALLED = "on: workflow_call\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo ${{ github.event.pull_request.number }}\n"
CALLER = "jobs:\n  c:\n    uses: ./.github/workflows/called.yml\n"
PULL = "${{ github.event.pull_request.head.sha }}"


@pytest.mark.parametrize(
    ("texts", "severity", "line"),
    [
        (checkout("issue_comment", PULL), "error", 8),
        (checkout("[issue_comment, workflow_dispatch]", PULL), "error", 8),
        (checkout("push", "${{ github.head_ref }}"), "error", 8),
        (run("push", "echo ${{ github.event.pull_request.number }}"), "warning", 6),
        (run("[push, schedule]", "make", "{BASE: '${{ github.base_ref }}'}"), "warning", 7),
        (run("pull_request", "echo ${{ github.event.comment.body }}"), "warning", 6),
        ({"called.yml": CALLED, "ci.yml": f"on: push\n{CALLER}"}, "warning", 6),
    ],
)
def test_a_comment_has_no_pull_request_and_a_checkout_takes_the_default_branch(
    texts: dict[str, str], severity: str, line: int, found: Callable
) -> None:
    (finding,) = found(texts, RULE)
    assert (finding.severity, finding.line) == (severity, line)
    assert ("default branch" in finding.message) == (severity == "error")


@pytest.mark.parametrize(
    "texts",
    [
        checkout("[issue_comment, pull_request]", PULL),
        checkout("pull_request_review", PULL),
        checkout("push", "${{ github.head_ref || github.ref }}"),
        checkout("push", "${{ github.event_name == 'pull_request' && github.event.pull_request.head.sha || '' }}"),
        checkout("issue_comment", "refs/pull/${{ github.event.issue.number }}/head"),
        run("push", "echo ${{ toJSON(github.event) }}"),
        run("repository_dispatch", "echo ${{ github.event.client_payload.number }}"),
        run("a_new_event", "echo ${{ github.event.pull_request.number }}"),
        {"called.yml": CALLED},  # nobody in the repository calls it
        {"called.yml": CALLED, "ci.yml": f"on: pull_request\n{CALLER}"},
        {"ci.yml": "on: push\nconcurrency: ${{ github.head_ref }}\n" + run("push", "make")["ci.yml"].split("\n", 1)[1]},
    ],
)
def test_what_an_event_has_or_may_have(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []
