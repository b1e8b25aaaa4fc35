"""The workflows that are ours or that we show: `workflow check` finds nothing in them, but in the one that is shown for its faults."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/shell-to-regraft"
RUNGS = sorted(path.name for path in (EXAMPLE / "ladder").iterdir())


def check(folder: Path) -> list[dict[str, Any]]:
    words = [sys.executable, "-m", "regraft", "workflow", "check", "--format", "json", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    said = json.loads(done.stdout)["findings"]
    assert isinstance(said, list)
    return said


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example's project, without workflows."""
    shutil.copytree(EXAMPLE, tmp_path / "project", ignore=shutil.ignore_patterns("ladder"))
    return tmp_path / "project"


def test_nothing_is_found_in_our_own() -> None:
    assert check(ROOT) == []


def test_nothing_is_found_in_our_action_where_it_is_used(tmp_path: Path) -> None:
    workflow = tmp_path / ".github/workflows/use.yml"
    workflow.parent.mkdir(parents=True)
    shutil.copy(ROOT / "action.yml", tmp_path / "action.yml")
    use = "      - uses: ./\n        with:\n          command: verify\n          plan: ${{ vars.PLAN }}\n"
    workflow.write_text(
        "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n"
        "      - uses: actions/checkout@v5\n" + use
    )
    assert check(tmp_path) == []
    workflow.write_text(workflow.read_text().replace("command: verify", "comand: verify"))
    assert "call-mismatch" in {one["rule"] for one in check(tmp_path)}


@pytest.mark.parametrize("rung", RUNGS)
def test_a_rung_of_the_ladder_has_the_faults_that_it_is_shown_for(project: Path, rung: str) -> None:
    shutil.copytree(EXAMPLE / "ladder" / rung, project / ".github/workflows")
    found = [(one["severity"], one["rule"]) for one in check(project)]
    shell = [("error", "swallowed-failure"), ("warning", "directive-grammar")]
    assert sorted(found) == (shell if rung == "0-shell" else [])
