"""`regraft restore` as a program: exit codes, words, and a kill at each of its own effects."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraft.adapters.snapshot import Snapshot
from regraft.adapters.state_folder import StateDirectory
from regraft.core.journal import SCHEMA, Journal, Subject

Pictures = Callable[..., dict[bytes, tuple[object, ...]]]


@dataclasses.dataclass
class Image:
    """A root with one folder that is guarded, and its state folder. `env` is what programs get."""

    root: Path
    env: dict[str, str]

    @property
    def tree(self) -> Path:
        return self.root / "opt/tree"

    @property
    def state(self) -> StateDirectory:
        return StateDirectory(self.root / "var/lib/regraft")

    def applied(self, *, snapshot: bool = True) -> None:
        """Leave what an apply leaves when it is killed after its snapshot."""
        subjects = (Subject("checkout", str(self.tree)),)
        journal = Journal(
            SCHEMA,
            "r1",
            "recorded",
            "a" * 64,
            "rocm",
            str(self.root),
            snapshot,
            "2026-01-02T03:04:05Z",
            subjects=subjects,
        )
        with self.state.lock(0):
            self.state.write(journal)
            if snapshot:
                Snapshot(self.state.folder, str(self.root)).take(subjects)

    def damage(self) -> None:
        (self.tree / "edited").write_text("two")
        (self.tree / "gone").unlink()
        (self.tree / "folder/inside").unlink()
        (self.tree / "folder").rmdir()
        (self.tree / "folder").write_text("a file now")
        (self.tree / "link").unlink()
        (self.tree / "link").symlink_to("edited")
        (self.tree / "new/deep").mkdir(parents=True)
        (self.tree / "new/deep/file").write_text("")
        (self.tree / "closed").chmod(0o700)

    def regraft(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "regraft", "restore", "--root", str(self.root), *arguments]
        return subprocess.run(
            argv, env={**self.env, **env}, capture_output=True, text=True, check=False, start_new_session=True
        )


@pytest.fixture
def image(tmp_path: Path, machine: dict[str, str]) -> Image:
    one = Image(tmp_path / "image", machine)
    (one.tree / "folder").mkdir(parents=True)
    (one.tree / "folder/inside").write_text("i")
    (one.tree / "edited").write_text("one")
    (one.tree / "gone").write_text("g")
    (one.tree / "link").symlink_to("gone")
    (one.tree / "closed").mkdir(mode=0o555)
    return one


def test_the_baseline_comes_back_and_that_is_said(image: Image, picture: Pictures) -> None:
    before = picture(image.tree)
    image.applied()
    image.damage()
    done = image.regraft()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "the baseline is back",
        "  it was the apply of plan aaaaaaaaaaa… for rocm, begun 2026-01-02T03:04:05Z",
    ]
    assert picture(image.tree) == before
    again = image.regraft()
    assert (again.returncode, again.stdout) == (
        0,
        "nothing to restore: no apply left anything to give back here\n",
    )


def test_where_nothing_was_applied_nothing_is_made(image: Image) -> None:
    done = image.regraft()
    assert done.returncode == 0
    assert done.stdout.startswith("nothing to restore")
    assert not (image.root / "var").exists()


def test_what_cannot_be_given_back_is_exit_1_and_named(image: Image) -> None:
    os.mkfifo(image.tree / "pipe")
    image.applied()
    (image.tree / "pipe").unlink()
    image.damage()
    done = image.regraft()
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith(f"{image.tree}/pipe: it was there before, and cannot be made")
    assert (image.tree / "edited").read_text() == "one"
    as_json = image.regraft("--format", "json")
    assert as_json.returncode == 1
    document = json.loads(as_json.stdout)
    assert (document["outcome"], document["ok"], len(document["not_given_back"])) == ("incomplete", False, 1)
    forgotten = image.regraft("--forget")
    assert forgotten.returncode == 1
    assert "forgotten" in forgotten.stdout
    assert image.regraft().returncode == 0


def test_without_a_snapshot_it_is_exit_1(image: Image) -> None:
    image.applied(snapshot=False)
    done = image.regraft()
    assert done.returncode == 1
    assert "thrown away" in done.stdout


def test_a_damaged_snapshot_is_exit_1_with_its_hint(image: Image) -> None:
    image.applied()
    image.damage()
    (image.state.folder / "snapshot/record").write_text("{}")
    done = image.regraft("--format", "json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "damaged-snapshot"
    assert "--forget" in error["hint"]
    assert (image.tree / "edited").read_text() == "two"


def test_a_held_lock_is_exit_3(image: Image) -> None:
    image.applied()
    with image.state.lock(0):
        done = image.regraft("--wait", "0.2", "--format=json")
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "locked"
    assert f"process {os.getpid()}" in error["message"]


@pytest.mark.parametrize("value", ["-1", "soon", "nan", "inf", "1e9", ""])
def test_a_wait_that_is_no_number_of_seconds_is_exit_2(image: Image, value: str) -> None:
    done = image.regraft(f"--wait={value}")
    assert done.returncode == 2
    assert "between 0 and 86400" in done.stderr


def test_a_root_that_is_not_there_is_exit_2(image: Image) -> None:
    done = image.regraft("--root", str(image.root / "no"))
    assert done.returncode == 2
    assert "[no-root]" in done.stderr


def test_a_name_that_is_a_command_of_the_runner_is_printed_harmless(image: Image) -> None:
    name = "x\n::error::boo"
    os.mkfifo(image.tree / name)
    image.applied()
    (image.tree / name).unlink()
    done = image.regraft(GITHUB_ACTIONS="true")
    assert done.returncode == 1
    assert not any(line.startswith("::error::boo") for line in (done.stdout + done.stderr).splitlines())
    assert done.stderr.startswith("::error title=regraft%3A incomplete::")


@pytest.mark.slow
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_restore_that_is_killed_at_any_effect_can_be_run_again(
    image: Image, picture: Pictures, side: str, tmp_path: Path
) -> None:
    before = picture(image.tree)
    image.applied()
    subprocess.run(["cp", "-a", str(image.root), str(tmp_path / "kept")], check=True)
    image.damage()
    subprocess.run(["cp", "-a", str(image.root), str(tmp_path / "damaged")], check=True)
    log = tmp_path / "effects"
    assert image.regraft(REGRAFT_EFFECTS=str(log)).returncode == 0
    names = log.read_text().split()
    assert {"create", "rename", "unlink", "rmdir", "mkdir", "chmod", "link"} <= set(names)
    for number in range(1, len(names) + 1):
        subprocess.run(["rm", "-rf", str(image.root)], check=True)
        subprocess.run(["cp", "-a", str(tmp_path / "damaged"), str(image.root)], check=True)
        killed = image.regraft(REGRAFT_KILL_AT=f"{side}:{number}")
        assert killed.returncode == -signal.SIGKILL, (number, names[number - 1])
        done = image.regraft()
        assert done.returncode == 0, (number, names[number - 1], done.stdout, done.stderr)
        assert picture(image.tree) == before, (number, names[number - 1])
        assert not (image.state.folder / "snapshot").exists()
