"""`regraft workflow run`: what it is told, what it prints, how it ends."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.workflow_testing import Runs

MakeRuns = Callable[..., Runs]
Command = Callable[..., subprocess.CompletedProcess[str]]

WORKFLOW = """
    on: {pull_request: , workflow_dispatch: {inputs: {ref: {default: ""}}}}
    jobs:
      gate: {runs-on: x, steps: [{run: echo}]}
      test:
        needs: gate
        if: needs.gate.outputs.go != 'no'
        runs-on: x
        outputs: {ref: "${{ steps.resolve.outputs.ref }}"}
        steps:
          - id: resolve
            env: {BODY: "${{ github.event.pull_request.body }}", REF: "${{ inputs.ref }}"}
            run: |
              echo "ref=${REF:-$BODY}" >>"$GITHUB_OUTPUT"
          - id: install
            if: steps.resolve.outputs.ref
            env: {REF: "${{ steps.resolve.outputs.ref }}"}
            run: |
              git clone --quiet https://github.com/acme/engine
              cd engine
              git fetch --quiet origin "$REF"
              git checkout --quiet FETCH_HEAD
              cat note
              gh pr view 5 >labels
              pip install -e .
              grep -q urgent labels
"""


@pytest.fixture
def regraft(project: MakeRuns, tmp_path: Path) -> Command:
    project(WORKFLOW)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
        argv = [sys.executable, "-m", "regraft", "workflow", "run", *words]
        return subprocess.run(argv, cwd=tmp_path / "project", env=env, capture_output=True, text=True, check=False)

    return run


def test_a_document_says_it_all(regraft: Command, tmp_path: Path) -> None:
    given = {
        "event": {"pull_request": {"number": 5, "body": "refs/pull/12/head"}},
        "stubs": [{"name": "gh", "answers": [{"arguments": ["pr", "view"], "stdout": "urgent\n"}]}],
        "upstreams": {
            "acme/engine": {
                "branches": {"main": {"note": "main\n"}, "topic": {"note": "topic\n"}},
                "pulls": {"12": {"note": "pull\n"}},
                "tags": {"v1": "topic"},
            }
        },
    }
    (tmp_path / "given.json").write_text(json.dumps(given))
    done = regraft("tests.yml", "test", "--given", "../given.json", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert (said["result"], said["outputs"]) == ("success", {"ref": "refs/pull/12/head"})
    install = said["steps"][1]
    assert install["log"] == "pull\n"
    assert [call["program"] for call in install["calls"]] == ["gh", "pip"]
    done = regraft(
        "tests.yml", "test", "--given", "../given.json", "--input", "ref=v1", "--event-name=workflow_dispatch"
    )
    assert done.returncode == 0
    assert not list(tmp_path.glob("regraft-run-*"))


def test_a_step_that_fails_ends_with_1_and_shows_its_log(regraft: Command) -> None:
    done = regraft("tests.yml", "test", "--input", "ref=x", "--event-name", "workflow_dispatch")
    assert done.returncode == 1
    assert "FAILED  install: Run git clone" in done.stdout
    assert "transport 'https' not allowed" in done.stdout


def test_a_job_that_does_not_run_is_no_success(regraft: Command) -> None:
    done = regraft("tests.yml", "test", "--need", "gate.go=no")
    assert done.returncode == 1
    assert done.stdout.endswith("note: the job's condition does not hold\n")


def test_an_output_of_a_step_that_does_not_run(regraft: Command) -> None:
    done = regraft("tests.yml", "test", "install", "--step-output", "resolve.ref=", "--format=json")
    assert [step["outcome"] for step in json.loads(done.stdout)["steps"]] == ["skipped"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tests.yml", "tset"), "did you mean test?"),
        (("test.yml", "test"), "no such workflow"),
        (("tests.yml", "test", "resolv"), "no step 'resolv'"),
        (("tests.yml", "test", "--input", "reff=x"), "no input 'reff'"),
        (("tests.yml", "test", "--input", "ref"), "no NAME=VALUE"),
        (("tests.yml", "test", "--need", "other=success"), "does not come after 'other'"),
        (("tests.yml", "test", "--stub", "cd"), "built in"),
        (("tests.yml", "test", "--stub", "gh=x"), "no exit code"),
        (("tests.yml", "test", "--map", "root=/tmp"), "no absolute path"),
        (("tests.yml", "test", "--map", "/root=nowhere"), "no folder"),
        (("tests.yml", "test", "--upstream", "acme/engine=nowhere"), "no repository"),
        (("tests.yml", "test", "--event", "tests.yml"), "no such file"),
    ],
)
def test_what_is_wrong_is_said(regraft: Command, words: tuple[str, ...], said: str) -> None:
    done = regraft(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_document_with_another_key_is_refused(regraft: Command, tmp_path: Path) -> None:
    (tmp_path / "given.json").write_text('{"input": {}}')
    done = regraft("tests.yml", "test", "--given", "../given.json")
    assert done.returncode == 2
    assert "unknown field `input`" in done.stderr


def test_hostile_text_is_not_printed_raw(regraft: Command, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 1, "body": "\x1b[31m::error::x"}}))
    done = regraft("tests.yml", "test", "resolve", "--event", "../event.json")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert not any(line.lstrip().startswith("::") for line in done.stdout.splitlines())


@pytest.mark.parametrize("body", ["a\0b", "\ud800", "x" * 200_000])
def test_text_that_no_variable_can_hold_fails_the_step(regraft: Command, tmp_path: Path, body: str) -> None:
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 1, "body": body}}))
    done = regraft("tests.yml", "test", "resolve", "--event", "../event.json", "--format", "json")
    assert done.returncode == int(body != "\ud800"), done.stderr
    assert json.loads(done.stdout)["steps"][0]["outcome"] == ("success" if body == "\ud800" else "failure")
