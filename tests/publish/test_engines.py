"""Which engine builds, and what it is told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.engines import find_engine
from regraft.core.engine_commands import Job
from regraft.errors import OutsideError, RefusedError


def program(folder: Path, name: str, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(["#!/bin/sh", *lines, ""]))
    (folder / name).chmod(0o755)


def test_the_first_engine_that_works_is_taken_and_a_client_alone_does_not(tmp_path: Path) -> None:
    program(tmp_path / "bin", "docker", "echo 'Cannot connect to the Docker daemon' >&2", "exit 1")
    program(tmp_path / "bin", "podman", "exit 0")
    assert find_engine(None, {"PATH": str(tmp_path / "bin")}, print).program == "podman"


def test_without_an_engine_each_one_says_why(tmp_path: Path) -> None:
    program(tmp_path / "bin", "docker", "echo 'Cannot connect to the Docker daemon' >&2", "exit 1")
    with pytest.raises(OutsideError) as caught:
        find_engine(None, {"PATH": str(tmp_path / "bin")}, print)
    assert caught.value.code == "no-engine"
    assert "docker: Cannot connect to the Docker daemon" in caught.value.message
    assert "buildah: " in caught.value.message


def test_a_build_that_fails_says_its_last_line_and_all_lines_are_handed_on(tmp_path: Path) -> None:
    program(
        tmp_path / "bin",
        "podman",
        '[ "$1" = version ] && exit 0',
        "echo step 1",
        "echo 'step 17: no patch' >&2",
        "exit 2",
    )
    said: list[str] = []
    engine = find_engine("podman", {"PATH": str(tmp_path / "bin")}, said.append)
    with pytest.raises(RefusedError) as caught:
        engine.build(Job("/c/Dockerfile", "/c", "localhost/x:1"))
    assert "ended with 2: step 17: no patch" in caught.value.message
    assert said == ["step 1", "step 17: no patch"]


def test_layers_that_are_no_digests_are_an_error(tmp_path: Path) -> None:
    program(tmp_path / "bin", "podman", '[ "$1" = version ] && exit 0', "echo what")
    with pytest.raises(OutsideError) as caught:
        find_engine("podman", {"PATH": str(tmp_path / "bin")}, print).layers("x")
    assert caught.value.code == "engine-shape"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_dry_run_prints_the_very_command_and_needs_no_engine(tmp_path: Path, form: str) -> None:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker/Dockerfile").write_text("FROM scratch\nARG A\nCOPY docker/a b /\n")
    for name in ("docker/a", "b"):
        (tmp_path / name).write_text("x")
    (tmp_path / "regraft.toml").write_text(
        '[project]\nname = "p"\n[images.i]\ndockerfile = "docker/Dockerfile"\nbuild-args = { A = "1 $(x)" }\n'
    )
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "--message", "m"]):
        subprocess.run(
            ["git", *words], cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        )
    argv = [
        sys.executable,
        "-m",
        "regraft",
        "image",
        "build",
        "--image",
        "i",
        "--dry-run",
        "--engine",
        "buildah",
        "--format",
        form,
    ]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    if form == "json":
        found: Any = json.loads(done.stdout)["argv"]
        assert found[:4] == ["buildah", "build", "--file", "docker/Dockerfile"]
        assert found[-3:] == ["--build-arg", "A=1 $(x)", "."]
    else:
        assert done.stdout.startswith("buildah build --file docker/Dockerfile --tag localhost/regraft-build/i:")
        assert done.stdout.endswith("--build-arg 'A=1 $(x)' .\n")
