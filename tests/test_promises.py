"""With a promise's check taken out, its test is red: each row of promises.toml is tried on a copy of the project."""

import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROWS = tomllib.loads((ROOT / "tests/promises.toml").read_text("utf-8"))["promise"]


def shadow(folder: Path) -> tuple[Path, Path]:
    """(a copy of the project, an interpreter that has the copy in place of the project)."""
    copy = folder / "copy"
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    venv.create(folder / "venv", symlinks=True)
    paths = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    site = Path(sysconfig.get_path("purelib", "venv", paths))
    (site / "shadow.pth").write_text(f"{copy / 'src'}\n{sysconfig.get_path('purelib')}\n")
    return copy, folder / "venv/bin/python"


def run(copy: Path, python: Path, test: str) -> subprocess.CompletedProcess[str]:
    argv = [str(python), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", test]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(copy)}
    return subprocess.run(argv, cwd=copy, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[row["says"] for row in ROWS])
def test_without_its_check_a_promise_is_red(row: dict[str, str], tmp_path: Path) -> None:
    copy, python = shadow(tmp_path)
    module = copy / row["check"]
    text = module.read_text("utf-8")
    assert text.count(row["text"]) == 1, "the check is not there any more, or not once"
    before = run(copy, python, row["test"])
    assert before.returncode == 0, before.stdout + before.stderr
    module.write_text(text.replace(row["text"], row["without"]))
    after = run(copy, python, row["test"])
    assert after.returncode == 1, after.stdout + after.stderr
    assert " failed" in after.stdout.splitlines()[-1], "red by an error outside the test"


def test_every_check_stands_where_the_table_says() -> None:
    """Quick, so that a check that moved is not first missed by the slow test."""
    assert [row["says"] for row in ROWS if (ROOT / row["check"]).read_text("utf-8").count(row["text"]) != 1] == []


def test_the_table_for_people_is_the_same() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    lines = [f"| {row['says']} | `{row['check']}` | `{row['test']}` |" for row in ROWS]
    assert [line for line in lines if line not in page] == []


def test_python_is_the_shadows(tmp_path: Path) -> None:
    copy, python = shadow(tmp_path)
    found = subprocess.run(
        [python, "-c", "import regraft; print(regraft.__file__)"], capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).is_relative_to(copy)
    assert sys.prefix not in found.stdout
