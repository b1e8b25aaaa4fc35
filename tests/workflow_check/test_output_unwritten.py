"""Outputs of steps that are read, and that the step does not write."""

from collections.abc import Callable

import pytest

RULE = "output-unwritten"


def workflow(script: str, read: str, key: str = "run") -> dict[str, str]:
    """The script is a block of one line or more, from line 9 on."""
    lines = "".join(f"          {one}\n" for one in script.split("\n"))
    text = f"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - id: s\n        {key}: |\n{lines}      - run: echo {read}\n"
    return {"a.yml": text}


VERSION = 'echo "version=v1" >> "$GITHUB_OUTPUT"'
TAG = 'echo "tag=v1" >> "$GITHUB_OUTPUT"'
LITERAL = "import os\nwith open(os.environ['GITHUB_OUTPUT'], 'a') as out:\n    out.write(f'image={image}\\n')\n"
ACTION = "outputs:\n  digest:\n    value: x\nruns:\n  using: {using}\n  main: x.js\n  steps: []\n"
USES = {
    "a.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - id: s\n        uses: ./up\n      - run: echo ${{ steps.s.outputs.digset }}\n"
}


@pytest.mark.parametrize(
    ("texts", "severity", "line", "fix"),
    [
        (workflow(TAG, "${{ steps.s.outputs.tags }}"), "error", 10, "did you mean `tag`?"),
        (workflow(TAG, "${{ steps.s.outputs.version }}"), "error", 10, "write `version` to `$GITHUB_OUTPUT` in the step `s`"),
        (workflow(TAG, "${{ steps.s.outputs.version || 'x' }}"), "warning", 10, "write `version` to `$GITHUB_OUTPUT` in the step `s`"),
        (workflow("tag=$(git describe)\necho $tag", "${{ steps.s.outputs.tag }}"), "error", 11, "write `tag` to `$GITHUB_OUTPUT` in the step `s`"),
        (workflow('echo "tag=v1" >> "$GITHUB_ENV"', "${{ steps.s.outputs.tag }}"), "error", 10, "write it to `$GITHUB_OUTPUT`, or read `env.tag`"),
        (workflow(f"./tool\n{VERSION}", "${{ steps.s.outputs.verison }}"), "warning", 11, "did you mean `version`?"),
        (workflow("python ci/out.py", "${{ steps.s.outputs.digest }}") | {"ci/out.py": LITERAL}, "warning", 10, "write `digest` to `$GITHUB_OUTPUT` in the step `s`"),
        ({**USES, "up/action.yml": ACTION.format(using="composite")}, "error", 8, "did you mean `digest`?"),
        (workflow(TAG, "${{ env.tag }}"), "error", 10, "read `steps.s.outputs.tag`, or write it to `$GITHUB_ENV`"),
    ],
    ids=["misspelt", "never", "with-default", "nothing", "to-env", "near-miss", "program", "action", "read-from-env"],
)  # fmt: skip
def test_an_output_that_is_not_written_is_found(
    found: Callable, texts: dict, severity: str, line: int, fix: str
) -> None:
    assert [(one.severity, one.line, one.fix) for one in found(texts, RULE)] == [(severity, line, fix)]


@pytest.mark.parametrize(
    "texts",
    [
        workflow(TAG, "${{ steps.s.outputs.Tag }} ${{ steps.s.outcome }} ${{ toJSON(steps.s.outputs) }}"),
        workflow("./tool", "${{ steps.s.outputs.tag }}"),
        workflow("cat x >> $GITHUB_OUTPUT", "${{ steps.s.outputs.tag }}"),
        workflow(f"./tool\n{TAG}", "${{ steps.s.outputs.tags }} ${{ steps.s.outputs.tag }}"),
        workflow("python ci/out.py", "${{ steps.s.outputs.tag }}") | {"ci/out.py": "print(f'tag=1', file=open(os.environ['GITHUB_OUTPUT']))"},
        workflow("python ci/out.py", "${{ steps.s.outputs.image }}") | {"ci/out.py": LITERAL},
        workflow("python ci/out.py", "${{ steps.s.outputs.other }}") | {"ci/out.py": LITERAL.replace("'image=", "'{name}=")},
        workflow("python ci/out.py >> $GITHUB_OUTPUT", "${{ steps.s.outputs.tag }}") | {"ci/out.py": "print('tag=1')"},
        workflow(f"#!/bin/x\n{TAG}", "${{ steps.s.outputs.other }}").copy() | {"a.yml": workflow(TAG, "${{ steps.s.outputs.other }}")["a.yml"].replace("run: |", "shell: pwsh\n        run: |")},
        {**USES, "up/action.yml": ACTION.format(using="node20")},
        {"a.yml": USES["a.yml"].replace("./up", "o/r@v1")},
        workflow(TAG, "${{ env.tag }}") | {"a.yml": "env:\n  TAG: x\n" + workflow(TAG, "${{ env.tag }}")["a.yml"]},
        workflow(f"{TAG}\necho tag=v1 >> $GITHUB_ENV", "${{ env.tag }}"),
        workflow("cat <<EOF >> $GITHUB_OUTPUT\ntag=1\nEOF", "${{ steps.s.outputs.tag }}"),
    ],
    ids=[
        *("written", "unknown-program", "file", "near-but-both-read", "program", "program-literal", "program-any-name", "program-to-output", "other-shell"),
        *("node-action", "action-elsewhere", "env-is-set", "both", "here"),
    ],
)  # fmt: skip
def test_an_output_that_is_or_may_be_written_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def javascript(script: str, read: str) -> dict[str, str]:
    """The script is a block from line 10 on; what is read stands in the line after it."""
    lines = "".join(f"            {one}\n" for one in script.split("\n"))
    head = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - id: s\n        uses: actions/github-script@v7\n        with:\n          script: |\n"
    return {"a.yml": f"{head}{lines}      - run: echo {read}\n"}


DRAFT = "core.setOutput('is_draft', true)"


def test_an_output_that_a_github_script_does_not_set(found: Callable) -> None:
    (one,) = found(javascript(DRAFT, "${{ steps.s.outputs.is_drafts }}"), RULE)
    assert (one.severity, one.line, one.fix) == ("error", 11, "did you mean `is_draft`?")


@pytest.mark.parametrize(
    ("script", "read"),
    [
        (DRAFT, "${{ steps.s.outputs.is_draft }} ${{ steps.s.outputs.result }}"),
        ("for (const [name, value] of all) core.setOutput(name, value)", "${{ steps.s.outputs.draft }}"),
        (f"{DRAFT}\nawait require('./x.js')({{github, context, core}})", "${{ steps.s.outputs.draft }}"),
        ("const {setOutput} = core\nsetOutput('draft', 1)", "${{ steps.s.outputs.draft }}"),
        ("core?.setOutput(`x-${kind}`, 1)", "${{ steps.s.outputs.x-a }}"),
    ],
    ids=["set, and the result", "any name", "handed on", "by another name", "a name that is put together"],
)
def test_an_output_that_a_github_script_may_set(script: str, read: str, found: Callable) -> None:
    assert found(javascript(script, read), RULE) == []
