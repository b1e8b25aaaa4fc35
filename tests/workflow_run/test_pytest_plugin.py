"""The plugin in a pytest run of its own: what it shows, that it is cheap, and that the page's example does what it says."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "src/regraft/demo/data"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n")
    argv = [sys.executable, "-m", "pytest", "-p", "regraft.pytest", "-p", "no:cacheprovider", "-q", *arguments]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def lay(folder: Path) -> Path:
    """A project with the demo's workflow, and the tests of the page."""
    (folder / ".github").mkdir()
    shutil.copytree(DATA / "workflows", folder / ".github/workflows")
    shutil.copytree(DATA / "project/patches", folder / "patches")
    page = (ROOT / "docs/how-to/test-workflows.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (folder / "test_workflows.py").write_text(block)
    return folder


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return lay(tmp_path)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of the page's example."""
    return run(lay(tmp_path_factory.mktemp("example"))).stdout


def test_the_example_of_the_page_finds_the_chain_and_nothing_else(shown: str) -> None:
    assert re.search(r"^1 failed, 7 passed", shown, re.MULTILINE), shown
    (said,) = re.findall(r"^E +(AssertionError: .*)$", shown, re.MULTILINE)
    page = (ROOT / "docs/how-to/test-workflows.md").read_text("utf-8")
    assert f"```text\n{said}\n```" in page
    assert "FAILED test_workflows.py::TestEngine::test_an_unresolvable_ref_fails_this_step" in shown


def test_a_failed_test_shows_what_ran(shown: str) -> None:
    assert "ok      install: Run cd /opt/stack/engine  [bash -e {0}]" in shown
    assert "call pip install --no-deps -e .  (in /opt/stack/engine)" in shown


@pytest.mark.slow
def test_mended_it_is_green(example: Path) -> None:
    path = example / ".github/workflows/suite.yml"
    text = path.read_text()
    assert text.count(" &&\n            git ") == 2
    path.write_text(text.replace(" &&\n            git ", "\n          git "))
    done = run(example)
    assert re.search(r"^8 passed", done.stdout, re.MULTILINE), done.stdout


def test_workflows_may_be_another_repositorys(example: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(example / "test_workflows.py", elsewhere / "test_workflows.py")
    done = run(elsewhere, f"--workflows-root={example}", "-k", "names_the_ref or never_code")
    assert re.search(r"^2 passed", done.stdout, re.MULTILINE), done.stdout


def test_a_run_that_does_not_use_it_imports_nothing_else() -> None:
    code = "import pytest, sys; before = set(sys.modules); import regraft.pytest; print(*sorted(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["regraft", "regraft.pytest"]


def test_pytest_finds_it_once_however_it_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"regraft.pytest": "regraft.pytest"}
