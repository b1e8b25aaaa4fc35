"""Workflows that others than maintainers start, and that run a pull request's code."""

from collections.abc import Callable
from textwrap import indent

import pytest

RULE = "comment-runs-pull-code"
PULL = "- uses: actions/checkout@v4\n  with:\n    ref: refs/pull/${{ github.event.issue.number }}/head\n"
HEAD = "- uses: actions/checkout@v4\n  with:\n    ref: ${{ github.event.pull_request.head.sha }}\n"
TEST = "- run: |\n    pip install -e .\n    pytest\n"
ASKED = "if: github.event.issue.pull_request && contains(github.event.comment.body, '/test')\n"


def workflow(steps: str, head: str = "", on: str = "issue_comment", before: str = "") -> dict[str, str]:
    text = f"on: {on}\njobs:\n{indent(before, '  ')}  a:\n    runs-on: ubuntu-latest\n{indent(head, '    ')}    steps:\n{indent(steps, '      ')}"
    return {"ci.yml": text}


ERRORS = {
    "a pull's ref": workflow(PULL + TEST),
    "a pull's ref that a comment asks for": workflow(PULL + TEST, ASKED),
    "gh": workflow(
        "- uses: actions/checkout@v4\n- run: gh pr checkout ${{ github.event.issue.number }}\n- run: make test\n", ASKED
    ),
    "git": workflow(
        '- uses: actions/checkout@v4\n- run: |\n    git fetch origin "pull/${N}/head:pr"\n    git checkout pr\n    ./ci/run.sh\n'
    ),
    "an action of the pull": workflow(PULL + "- uses: ./.github/actions/test\n"),
    "an action that runs what is there": workflow(PULL + "- uses: pre-commit/action@v3.0.1\n", ASKED),
    "a check that comes after": workflow(PULL + TEST + "- if: github.actor == 'x'\n  run: ls\n", ASKED),
    "a called workflow": {
        "ci.yml": "on: issue_comment\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n",
        "b.yml": f"on: workflow_call\njobs:\n  b:\n    runs-on: x\n    steps:\n{indent(PULL + TEST, '      ')}",
    },
}
BY_REF = PULL.replace("refs/pull/${{ github.event.issue.number }}/head", "${{ inputs.ref }}")
REF = "refs/pull/${{ github.event.issue.number }}/head"


def passed(ref: str, inner: str = "${{ inputs.ref }}") -> dict[str, str]:
    """A ref that goes through two calls."""
    call = "{}jobs:\n  {}:\n    uses: ./.github/workflows/{}.yml\n    with: {{ref: '{}'}}\n"
    declared = "on: {workflow_call: {inputs: {ref: {type: string}}}}\n"
    return {
        "ci.yml": call.format("on: issue_comment\n", "a", "b", ref),
        "b.yml": call.format(declared, "b", "c", inner),
        "c.yml": f"{declared}jobs:\n  c:\n    runs-on: x\n    steps:\n{indent(BY_REF + TEST, '      ')}",
    }


ERRORS["a ref that is passed on"] = passed(REF)
WARNINGS = {
    "a pull_request_target": workflow(HEAD + TEST, on="pull_request_target"),
    "a workflow_run": workflow(
        "- uses: actions/checkout@v4\n  with:\n    ref: ${{ github.event.workflow_run.head_sha }}\n" + TEST,
        on="{workflow_run: {workflows: [x]}}",
    ),
    "a ref that a step has found": workflow(
        "- uses: x/find@v1\n  id: pr\n- uses: actions/checkout@v4\n  with:\n    ref: ${{ steps.pr.outputs.head_sha }}\n"
        + TEST
    ),
}
ALLOWED = "github.event.comment.author_association"
SILENT = {
    "another ref that is passed on": passed("main"),
    "another ref on the way": passed(REF, "main"),
    "a pull request": workflow(HEAD + TEST, on="pull_request"),
    "a push": workflow(PULL + TEST, on="push"),
    "its own code": workflow("- uses: actions/checkout@v4\n" + TEST, ASKED),
    "nothing is run": workflow(PULL + "- run: |\n    git diff --stat\n    echo done\n"),
    "run before": workflow("- uses: actions/checkout@v4\n" + TEST + "- run: gh pr checkout 1\n"),
    "the author's role": workflow(PULL + TEST, f"if: contains(fromJSON('[\"MEMBER\"]'), {ALLOWED})\n"),
    "a list of names": workflow(PULL + TEST, "if: contains('a b', github.actor)\n"),
    "a login": workflow(PULL + TEST, "if: github.event.comment.user.login == 'x'\n"),
    "an environment": workflow(PULL + TEST, "environment: approved\n"),
    "a permission that a script asks for": workflow(
        "- run: gh api repos/o/r/collaborators/$USER/permission\n" + PULL + TEST
    ),
    "a permission that an action asks for": workflow("- uses: actions-cool/check-user-permission@v2\n" + PULL + TEST),
    "a permission that github-script asks for": workflow(
        "- uses: actions/github-script@v7\n  with:\n    script: await github.rest.repos.getCollaboratorPermissionLevel({})\n"
        + PULL
        + TEST
    ),
    "a job before that checks": workflow(
        PULL + TEST,
        "needs: gate\n",
        before=f"gate:\n  if: {ALLOWED} == 'OWNER'\n  runs-on: x\n  steps:\n    - run: ls\n",
    ),
    "a step's condition": workflow(PULL.replace("- uses", f"- if: {ALLOWED} == 'MEMBER'\n  uses") + TEST),
    "a label": workflow(
        HEAD + TEST, "if: contains(github.event.pull_request.labels.*.name, 'ok')\n", on="pull_request_target"
    ),
    "no forks": workflow(
        HEAD + TEST,
        "if: github.event.pull_request.head.repo.full_name == github.repository\n",
        on="pull_request_target",
    ),
    "a program that checks": {
        **workflow("- uses: actions/checkout@v4\n- run: python ci/gate.py\n" + PULL + TEST),
        "ci/gate.py": "import os\nassert os.environ['ACTOR'] in open('MAINTAINERS').read()\n",
    },
    "a call that checks": {
        "ci.yml": f"on: issue_comment\njobs:\n  a:\n    if: {ALLOWED} == 'OWNER'\n    uses: ./.github/workflows/b.yml\n",
        "b.yml": f"on: workflow_call\njobs:\n  b:\n    runs-on: x\n    steps:\n{indent(PULL + TEST, '      ')}",
    },
    "another event of the same file": workflow(
        HEAD + TEST, "if: github.event_name == 'pull_request'\n", on="[issue_comment, pull_request]"
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, found: Callable) -> None:
    assert [one.severity for one in found(ERRORS[name], RULE)] == ["error"]


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings(name: str, found: Callable) -> None:
    assert [one.severity for one in found(WARNINGS[name], RULE)] == ["warning"]


@pytest.mark.parametrize("name", SILENT)
def test_what_is_checked_or_runs_nothing(name: str, found: Callable) -> None:
    assert [(one.line, one.message) for one in found(SILENT[name], RULE)] == []


def test_the_place_and_its_witnesses(found: Callable) -> None:
    (one,) = found(ERRORS["a pull's ref"], RULE)
    assert (one.path, one.line) == (".github/workflows/ci.yml", 6)
    assert [two.line for two in one.witnesses] == [1, 10]
