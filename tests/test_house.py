"""What the house promises of itself: sizes, rooms, words, and that a clean checkout can be set up."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import regraft

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/regraft"
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if "data" not in path.relative_to(SOURCE).parts]
OURS = [*MODULES, *sorted((ROOT / "scripts").glob("*.py")), *sorted((ROOT / "bench").glob("*.py"))]

WRITES = frozenset(
    {
        *("write_text", "write_bytes", "touch", "mkdir", "makedirs", "symlink_to", "copytree", "chmod"),
        *("unlink", "remove", "rename", "replace", "rmdir", "rmtree"),
    }
)
WRITERS = {
    "adapters/files.py",  # the only module that writes what others read
    "adapters/effects.py",  # the only module that changes an image
    "adapters/checkout_fetch.py",  # a scratch repository in git's private folder
    "adapters/git.py",  # its private configuration, in a folder that goes away
    "adapters/machine.py",  # the neutral folder of a probe, which goes away
    "adapters/bare_repository.py",  # a scratch repository in git's private folder
    "adapters/checkout_objects.py",  # ignore files of a tree, in git's private folder
    "adapters/temporary.py",  # what goes away
    "adapters/scratch.py",  # a scratch repository in git's private folder
    "adapters/index_merge.py",  # the sides of a merge, in git's private folder
    "adapters/object_store.py",  # a scratch repository in git's private folder
    "adapters/cache_folder.py",  # folders of the cache, and what a killed git left there
    "adapters/runner.py",  # a throw-away runner
    "adapters/runner_upstreams.py",  # throw-away repositories
    "adapters/runner_workspace.py",  # copies of a project that are thrown away
    "adapters/release_repository.py",  # a bare repository in the cache folder
    "adapters/upstream_cache.py",  # bare repositories in the cache folder
    "demo/upstreams.py",  # throw-away repositories
    "demo/world.py",
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in listing.decode().split("\0") if name and (ROOT / name).is_file()]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def writing_calls(source: str) -> list[str]:
    """The calls in a module that change the file system: `path.mkdir()`, `open(path, "w")`, `os.remove(path)`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="effects"))):
                continue  # by the module that counts them
            case ast.Call(func=ast.Attribute(attr="replace" | "remove", value=value)) if ast.unparse(value) != "os":
                continue  # of a string or a list
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in WRITES:
                found.append(attr)
            case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open")):
                modes = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                found += [
                    f"open {mode!r}"
                    for mode in modes
                    if isinstance(mode, str) and re.fullmatch("[rwaxbt+]*[wax+][bt]?", mode)
                ]
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_holds_one_idea(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 350


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    assert [one for one in functions(path) if one[1] > 60] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_one_module_writes_files(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() not in WRITERS:
        assert writing_calls(path.read_text("utf-8")) == []


def test_the_writing_calls_are_seen() -> None:
    seen = writing_calls(
        "p.mkdir()\nopen(p, 'wb')\nq.open('a')\nos.replace(a, b)\nopen(p)\nq.open('rb')\n'x'.replace(a, b)\neffects.mkdir(p)\n"
    )
    assert seen == ["mkdir", "open 'wb'", "open 'a'", "replace"]


def test_no_tracked_file_names_the_place_where_it_was_written() -> None:
    """Paths and numbers that mean something in one workplace only."""
    words = re.compile(r"/wo(?:rk)/|/opt/(?:pypi|wheels)|\bfield-reports?\b|\bR(?:6[4-9]|[7-9]\d|10\d)\b")
    found = []
    for name in tracked():
        data = (ROOT / name).read_bytes()
        if name != name_of(Path(__file__)) and b"\0" not in data:
            text = data.decode("utf-8", "replace")
            found += [f"{name}: {match[0]}" for match in words.finditer(text)]
    assert found == []


def test_fakes_stand_at_the_ports() -> None:
    patched = re.compile(r"mock\.patch|monkeypatch\.setattr\(.?regraft|from unittest import mock")
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__).resolve()]
    assert [name_of(path) for path in tests if patched.search(path.read_text("utf-8"))] == []


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == regraft.__version__


def test_constraints_pin_every_dependency_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=!~\[; ]", one, maxsplit=1)[0].lower().replace("_", "-") for one in wanted}
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==\S+", line) for line in lines)
    assert names - {line.partition("==")[0].lower().replace("_", "-") for line in lines} == set()


def venv_script(tmp_path: Path, python: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "PYTHON": python}
    argv = ["sh", str(ROOT / "scripts/venv.sh"), str(tmp_path / "venv")]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


def program(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_setting_up_without_python_says_so(tmp_path: Path) -> None:
    done = venv_script(tmp_path, "no-such-python")
    assert done.returncode == 1
    assert "there is no program 'no-such-python'" in done.stderr


def test_setting_up_with_an_old_python_names_it(tmp_path: Path) -> None:
    old = program(tmp_path / "python3", '[ "$1" = --version ] && echo "Python 3.8.10" && exit 0', "exit 1")
    done = venv_script(tmp_path, old)
    assert done.returncode == 1
    assert "is Python 3.8.10, and 3.11 is needed" in done.stderr


def test_setting_up_without_ensurepip_says_what_to_install(tmp_path: Path) -> None:
    bare = program(tmp_path / "python3", "case $2 in *ensurepip*) exit 1;; esac", f'exec "{sys.executable}" "$@"')
    done = venv_script(tmp_path, bare)
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_make_alone_lists_the_targets() -> None:
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    for target in ("demo", "test", "check", "bench"):
        assert f"make {target} " in done.stdout


def clean_machine(folder: Path, test_prints: str) -> subprocess.CompletedProcess[str]:
    """`.ci/run` in a project whose `make test` and `make check` print this, and whose README has the four commands."""
    (folder / "scripts").mkdir(parents=True)
    (folder / ".ci").mkdir()
    for name in (".ci/run", "scripts/readme_commands.py"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / ".ci/run").chmod(0o755)
    (folder / "README.md").write_text("```sh\nmake demo\nmake test\nmake check\nmake example\nmake bench\n```\n")
    recipes = {"demo": "env", "test": f"echo '{test_prints}'", "check": "echo 3 passed in 1s"}
    recipes |= {"example": "true", "bench": "true"}
    makefile = "".join(f"{target}:\n\t@{recipe}\n" for target, recipe in recipes.items())
    (folder / "Makefile").write_text(f".PHONY: demo test check example bench\n{makefile}")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_CERT": "/a.pem", "SECRET": "a b", "PYTHONPATH": "/x"}
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for argv in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", *argv], cwd=folder, env=env, check=True)
    return subprocess.run([str(folder / ".ci/run")], env=env, capture_output=True, text=True, check=False)


def test_ci_is_green_where_tests_ran_and_has_nothing_of_the_callers(tmp_path: Path) -> None:
    done = clean_machine(tmp_path / "project", "12 passed in 3s")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 passed in 3s" in done.stdout
    assert "PIP_CERT=/a.pem" in done.stdout
    assert "SECRET" not in done.stdout
    assert "PYTHONPATH" not in done.stdout


@pytest.mark.parametrize("printed", ["no tests ran in 0.01s", "0 passed in 1s", "3 skipped in 1s", ""])
def test_ci_is_red_where_no_test_ran(tmp_path: Path, printed: str) -> None:
    done = clean_machine(tmp_path / "project", printed)
    assert done.returncode == 1
    assert "'make test' ran no test" in done.stderr
