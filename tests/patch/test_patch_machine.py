"""The `patch` commands on a machine: over HTTP with files left out, on a terminal, interrupted, and for the second time."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lines = Callable[..., str]
ARGV = [sys.executable, "-m", "regraft", "patch"]


@pytest.fixture
def carried(lab: Any, lines: Lines) -> Any:
    """One patch whose file is gone upstream, one that fits."""
    lab.upstream.commit({"a.py": lines(), "fused.py": lines(), "b.py": "import fused\n"}, "Begin")
    before = {"a.py": lines(), "fused.py": lines()}
    fits, gone = (lab.diff(before, {name: lines(l20="mine")}) for name in ("a.py", "fused.py"))
    lab.carry({"fits.patch": fits, "gone.patch": gone})
    lab.upstream.commit({"fused.py": None, "b.py": "pass\n", "c.py": "c\n"}, "Remove it (#4)")
    return lab


def environment(lab: Any, **more: str) -> dict[str, str]:
    (lab.root / "tmp").mkdir(exist_ok=True)
    folders = {
        "HOME": str(lab.root / "home"),
        "REGRAFT_CACHE": str(lab.root / "cache"),
        "TMPDIR": str(lab.root / "tmp"),
    }
    return {"PATH": os.environ["PATH"], **folders, **more}


def slow_git(lab: Any, seconds: float) -> str:
    """A PATH whose git takes that long for `log`."""
    folder = lab.root / "bin"
    folder.mkdir()
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    (folder / "git").write_text(f'#!/bin/sh\nfor one; do [ "$one" = log ] && sleep {seconds}; done\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_over_http_files_are_fetched_when_they_are_needed(carried: Any, git_server: Any) -> None:
    """The clone has no files at first: those that the patches touch come in one batch, the others when somebody has to look for words."""
    target = git_server.root / "o/r"
    target.parent.mkdir(parents=True)
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", carried.upstream.path, target], check=True, capture_output=True
    )
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", "-C", target, "config", setting, "true"], check=True)
    subprocess.run(["git", "-C", target, "update-ref", "refs/pull/9/head", carried.upstream.heads["main"]], check=True)
    manifest = (carried.project / "regraft.toml").read_text()
    (carried.project / "regraft.toml").write_text(manifest.replace("../upstream.git", f"{git_server.url}/o/r"))
    rows = carried.json("status")
    assert [(row["patch"], row["state"], row["action"]) for row in rows] == [
        ("fits.patch", "applies", "nothing"),
        ("gone.patch", "target-gone", "drop"),
    ]
    assert carried.row("status", "fits.patch", "--at", "#9")["commit"] == carried.upstream.heads["main"]
    code, _, err = carried.run("status", "--at", "#10")
    assert (code, "refs for #10 could not be fetched" in err) == (2, True)
    before = len(git_server.authorizations)
    assert carried.json("status") == rows
    assert len(git_server.authorizations) - before <= 2  # what is remembered is not fetched again


def test_the_second_run_says_the_same(carried: Any) -> None:
    first = carried.run("status", "--hunks")
    assert carried.run("status", "--hunks") == first
    assert [*(carried.root / "cache").rglob("verdicts.sqlite")] != []


@pytest.mark.slow
def test_a_bar_on_a_terminal_after_a_second_and_nothing_of_it_stays(carried: Any) -> None:
    ours, theirs = pty.openpty()
    env = environment(carried, PATH=slow_git(carried, 2.5), TERM="xterm", COLUMNS="100")
    done = subprocess.Popen([*ARGV, "status"], cwd=carried.project, env=env, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    out, _ = done.communicate(timeout=60)
    os.set_blocking(ours, False)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:
        pass
    os.close(ours)
    assert done.returncode == 1
    assert out.decode().splitlines()[-1] == "2 patches at 1 commit: applies 1, target-gone 1"
    assert "━".encode() in said
    assert said.rstrip().endswith((b"\x1b[2K", b"\x1b[?25h"))  # the line is wiped, the cursor is back


@pytest.mark.slow
def test_no_bar_where_there_is_no_terminal(carried: Any) -> None:
    env = environment(carried, PATH=slow_git(carried, 1.5))
    done = subprocess.run([*ARGV, "status"], cwd=carried.project, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["status"], ["history", "--last", "3"], ["why", "gone.patch"], ["refresh", "fits.patch"]]
)
def test_an_interrupt_leaves_nothing_behind(carried: Any, command: list[str]) -> None:
    env = environment(carried, PATH=slow_git(carried, 30))
    kept = {path.name: path.read_bytes() for path in carried.project.iterdir()}
    process = subprocess.Popen(
        [*ARGV, *command], cwd=carried.project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 30
    while not _sleeps(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")
    assert [*(carried.root / "tmp").iterdir()] == []
    assert {path.name: path.read_bytes() for path in carried.project.iterdir()} == kept
    assert carried.run("status")[0] == 1  # the cache is as good as before


def _sleeps(pid: int) -> bool:
    """Whether the git that takes so long was started."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    for child in children.read_text().split() if children.exists() else []:
        line = Path(f"/proc/{child}/cmdline")
        if line.exists() and b"\0log\0" in line.read_bytes():
            return True
    return False


def test_json_is_all_that_a_machine_reads(carried: Any) -> None:
    env = environment(carried)
    for command in (["status"], ["history", "--last", "3"], ["why", "gone.patch"], ["refresh", "gone.patch"]):
        argv = [*ARGV, *command, "--format", "json"]
        done = subprocess.run(
            argv, cwd=carried.project, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 1
        assert json.loads(done.stdout)
        assert done.stderr == b""
