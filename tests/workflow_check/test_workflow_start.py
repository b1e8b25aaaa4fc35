"""What a cold `workflow check` and `workflow run` import: not what they can do without."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("markdown_it", "packaging", "httpx2", "gidgethub", "rich", "difflib", "sqlite3", "ssl", "pytest", "xml.etree"),
    *(
        "hashlib",
        "tomllib",
        "regraft.core.manifest_reader",
        "regraft.adapters.registry",
        "asyncio",
        "typing_extensions",
    ),
}
WORKFLOW = """\
on: push
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - id: resolve
        run: echo "ref=main" >>"$GITHUB_OUTPUT"
      - run: echo "${{ steps.resolve.outputs.ref }}"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project/.github/workflows/ci.yml"
    path.parent.mkdir(parents=True)
    path.write_text(WORKFLOW)
    return tmp_path / "project"


def loaded(project: Path, *words: str) -> set[str]:
    """The modules that there are after a command in a fresh interpreter."""
    code = "import sys; from regraft.cli.main import main; main(sys.argv[1:]); print('\\n', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=project, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("check",), ("run", "ci.yml", "test")], ids=["check", "run"])
def test_a_repository_without_a_manifest_pays_for_nothing_it_does_not_use(
    project: Path, words: tuple[str, ...]
) -> None:
    modules = loaded(project, "workflow", *words)
    assert "yaml" in modules
    assert sorted(modules & HEAVY) == []


def test_a_manifest_brings_its_reader(project: Path) -> None:
    (project / "regraft.toml").write_text('[project]\nname = "own"\n')
    assert {"tomllib", "regraft.core.manifest_reader"} <= loaded(project, "workflow", "check")


def test_a_check_brings_no_runner_and_a_run_no_rule(project: Path) -> None:
    check, run = loaded(project, "workflow", "check"), loaded(project, "workflow", "run", "ci.yml", "test")
    assert "regraft.adapters.runner" in run - check
    assert "regraft.core.workflow_rules" in check - run
    assert "regraft.core.workflow_judge" in check - run
