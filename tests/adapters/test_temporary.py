import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from regraft.adapters import temporary
from regraft.adapters.git import Git
from regraft.adapters.temporary import TemporaryFolder


def test_a_folder_is_private_and_goes_away_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("kept")
    with TemporaryFolder("x-") as folder:
        assert folder.parent == tmp_path.resolve()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "a/b").mkdir(parents=True)
        (folder / "a/b/file").write_text("x")
        (folder / "a/link").symlink_to(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept/file").read_text() == "kept"


def test_a_folder_that_is_gone_already_is_no_trouble() -> None:
    with TemporaryFolder("x-") as folder:
        folder.rmdir()


@pytest.mark.parametrize("place", ["nowhere", "file", "relative"])
def test_a_place_that_is_not_fit_is_not_taken(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", "./relative" if place == "relative" else str(tmp_path / place))
    monkeypatch.chdir(tmp_path)
    expected = tempfile.gettempdir()
    with TemporaryFolder("x-") as folder:
        assert folder.parent == Path(expected).resolve()


def test_a_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with temporary.file() as stream:
        stream.write(b"text")
        stream.seek(0)
        assert stream.read() == b"text"
        assert os.listdir(tmp_path) == []


HOLD = """\
import sys, time
from regraft.adapters.temporary import TemporaryFolder
folder = TemporaryFolder("x-")
(folder.path / "deep").mkdir()
(folder.path / "deep/file").write_text("left")
print(folder.path, flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_holds_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    long_ago = time.time() - temporary.NEWBORN - 1
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}
    )
    try:
        assert held.stdout is not None
        left = Path(held.stdout.readline().strip())
        (tmp_path / "x-file").write_text("no folder")
        (tmp_path / "x-link").symlink_to(tmp_path / "y-other")
        (tmp_path / "y-other").mkdir()
        (tmp_path / "x-new").mkdir()
        for path in (left, tmp_path / "y-other"):
            os.utime(path, (long_ago, long_ago))
        temporary.sweep("x-")
        assert (left / "deep/file").exists()
    finally:
        held.kill()
        held.communicate()
    temporary.sweep("x-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x-file", "x-link", "x-new", "y-other"]


def test_git_begins_with_sweeping_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    long_ago = time.time() - temporary.NEWBORN - 1
    for name in ("regraft-git-0", "regraft-probe-0"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (long_ago, long_ago))
    with Git({"PATH": "/usr/bin:/bin"}) as git:
        assert list(tmp_path.iterdir()) == [git.folder]


INTERRUPTED = """\
import os, signal, sys
from regraft.adapters.temporary import TemporaryFolder

sent = []

def interrupt(event, args):
    if event == "os.rmdir" and not sent:
        sent.append(event)
        os.kill(os.getpid(), signal.SIGINT)

with TemporaryFolder("x-") as folder:
    for name in ("a/b", "c/d", "e"):
        (folder / name).mkdir(parents=True)
    sys.addaudithook(interrupt)
"""


def test_an_interrupt_while_a_folder_is_removed_leaves_nothing_of_it(tmp_path: Path) -> None:
    """The run was over, and the last that it had to do was to clear up."""
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], env=environment, capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr
    assert os.listdir(tmp_path) == []
