"""`regraft demo`, as a newcomer runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def demo(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "regraft", "demo", *arguments]
    environment = {"PATH": os.environ["PATH"], **env}
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_command_of_the_story_ends_as_announced_and_nothing_is_left(tmp_path: Path) -> None:
    done = demo(TMPDIR=str(tmp_path))
    assert "!!!" not in done.stdout, done.stdout
    assert done.stdout.splitlines()[-1].endswith("commands ended as announced.")
    assert done.stderr == ""
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_nothing_of_the_caller_changes_the_story(tmp_path: Path) -> None:
    """A workflow run's variables, a hostile git configuration and a pip index that answers nothing."""
    (tmp_path / ".gitconfig").write_text(
        "[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgSign = true\n[user]\n\tname = X\n"
    )
    world = tmp_path / "world"
    done = demo(
        "--keep", str(world), "--format", "json",
        HOME=str(tmp_path), GITHUB_ACTIONS="true", GITHUB_OUTPUT=str(tmp_path / "output"), GITHUB_STEP_SUMMARY=str(tmp_path / "sum"),
        GIT_DIR="/nowhere", PIP_INDEX_URL="http://127.0.0.1:9/", PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert [one for one in answer["steps"] if one["surprises"]] == []
    assert answer["ok"] is True
    assert done.returncode == 0
    assert not (tmp_path / "output").exists()
    receipt = json.loads((world / "tinyrl/receipt.json").read_text())
    assert receipt["verdict"] == "yes"
    stopped = json.loads((world / "tinyrl/stopped.json").read_text())
    assert stopped["verdict"] == "no"


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    done = demo("--keep", str(tmp_path))
    assert done.returncode == 2
    assert "the demo needs a new or empty folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_without_git_it_says_what_is_missing(tmp_path: Path) -> None:
    done = demo(PATH=str(tmp_path), TMPDIR=str(tmp_path))
    assert done.returncode == 3
    assert "there is no program 'git'" in done.stderr
