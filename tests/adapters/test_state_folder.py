"""Who holds the lock, who inherits it, what is refused, and what outlives what."""

import contextlib
import dataclasses
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.adapters import proc
from regraft.adapters.state_folder import StateDirectory, state_folder_of
from regraft.core.journal import SCHEMA, Journal, Subject
from regraft.errors import InputError, OutsideError, RefusedError

JOURNAL = Journal(SCHEMA, "r1", "installing", "a" * 64, "rocm", "", snapshot=True, started="2026-01-02T03:04:05Z")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")

# Takes the lock, starts a child that inherits it (`keep`) or not, says so, and waits to be killed.
PARENT = """
import subprocess, sys, time
from pathlib import Path
from regraft.adapters.state_folder import StateDirectory
with StateDirectory(Path(sys.argv[1])).lock(0) as lock:
    if sys.argv[2] != "alone":
        keep = (lock.fd,) if sys.argv[2] == "keep" else ()
        child = subprocess.Popen(["sleep", sys.argv[3]], pass_fds=keep, start_new_session=True)
        print(child.pid, flush=True)
    else:
        print(0, flush=True)
    time.sleep(60)
"""


@dataclasses.dataclass
class Parent:
    process: subprocess.Popen[str]
    child: int

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


Start = Callable[..., Parent]


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


@pytest.fixture
def start(state: StateDirectory) -> Iterator[Start]:
    started: list[Parent] = []

    def run(what: str, seconds: float = 60) -> Parent:
        argv = [sys.executable, "-c", PARENT, str(state.folder), what, str(seconds)]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        started.append(Parent(process, int(process.stdout.readline())))
        return started[-1]

    yield run
    for one in started:
        one.kill()
        assert one.process.stdout is not None
        one.process.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            if one.child:
                os.kill(one.child, signal.SIGKILL)


def is_free(state: StateDirectory) -> bool:
    with (state.folder / "lock").open("r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


# The reserve.


def test_the_reserve_takes_space_and_goes_with_the_state(state: StateDirectory) -> None:
    place = state.folder / "reserve"
    with state.lock(0):
        state.write(JOURNAL)
        state.reserve()
        first = place.stat()
        assert first.st_blocks * 512 >= 256 * 1024
        state.reserve()
        assert place.stat().st_ino == first.st_ino, "it is taken once"
        state.release()
        assert not place.exists()
        state.release()
        state.reserve()
        state.clear()
        assert not place.exists()


# The lock.


def test_the_lock_is_held_inside_and_free_afterwards(state: StateDirectory) -> None:
    with state.lock(0):
        assert not is_free(state)
    assert is_free(state)


@pytest.mark.parametrize("end_orphans", [False, True])
def test_a_running_one_is_named_and_never_ended(state: StateDirectory, start: Start, end_orphans: bool) -> None:
    parent = start("alone")
    with pytest.raises(OutsideError) as caught, state.lock(0, end_orphans=end_orphans):
        pytest.fail("it was taken")
    assert caught.value.code == "locked"
    assert f"process {parent.process.pid}" in caught.value.message
    assert "since 20" in caught.value.message
    assert parent.process.poll() is None


def test_the_command_of_a_running_one_is_not_ended(state: StateDirectory, start: Start) -> None:
    parent = start("keep")
    with pytest.raises(OutsideError) as caught, state.lock(0, end_orphans=True):
        pytest.fail("it was taken")
    assert f"process {parent.process.pid}" in caught.value.message
    assert proc.start_ticks(parent.child) is not None


def test_a_command_that_still_runs_holds_the_lock_after_its_parent_let_go(state: StateDirectory) -> None:
    with state.lock(0) as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.fd,))
    try:
        assert not is_free(state)
    finally:
        child.kill()
        child.wait()
    assert is_free(state)


def test_another_one_that_waits_too_is_not_ended(state: StateDirectory, start: Start) -> None:
    """It has the file open, as an orphan has, and does not hold the lock."""
    parent = start("keep")
    parent.kill()
    program = "import sys, time\nwith open(sys.argv[1], 'r+b'): print(flush=True); time.sleep(60)"
    argv = [sys.executable, "-c", program, str(state.folder / "lock")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as waiter:
        assert waiter.stdout is not None
        waiter.stdout.readline()
        with state.lock(0, end_orphans=True):
            assert waiter.poll() is None
        waiter.kill()


def test_waiting_lasts_until_it_is_free(state: StateDirectory, start: Start) -> None:
    parent = start("keep", 0.5)
    parent.kill()
    began = time.monotonic()
    with state.lock(30):
        assert 0.1 < time.monotonic() - began < 20


def test_waiting_ends_when_it_was_told_to(state: StateDirectory, start: Start) -> None:
    start("alone")
    began = time.monotonic()
    with pytest.raises(OutsideError), state.lock(0.3):
        pytest.fail("it was taken")
    assert 0.3 <= time.monotonic() - began < 5


def test_a_child_holds_the_lock_when_its_parent_was_killed(state: StateDirectory, start: Start) -> None:
    parent = start("keep")
    parent.kill()
    with pytest.raises(OutsideError) as caught, state.lock(0):
        pytest.fail("it was taken")
    assert caught.value.code == "locked"
    assert f"process {parent.child} (sleep 60)" in caught.value.message
    assert proc.start_ticks(parent.child) is not None


def test_a_child_that_was_not_given_the_lock_does_not_hold_it(state: StateDirectory, start: Start) -> None:
    start("drop").kill()
    with state.lock(0):
        pass


def test_a_restore_ends_the_child(state: StateDirectory, start: Start) -> None:
    parent = start("keep")
    parent.kill()
    with state.lock(0, end_orphans=True):
        assert proc.start_ticks(parent.child) is None


def test_a_restore_waits_before_it_ends_the_child(state: StateDirectory, start: Start) -> None:
    parent = start("keep")
    parent.kill()
    began = time.monotonic()
    with state.lock(0.5, end_orphans=True):
        assert time.monotonic() - began >= 0.5


@pytest.mark.slow
def test_a_child_that_ignores_being_asked_is_ended(state: StateDirectory) -> None:
    program = """
import subprocess, sys
from pathlib import Path
from regraft.adapters.state_folder import StateDirectory
with StateDirectory(Path(sys.argv[1])).lock(0) as lock:
    child = subprocess.Popen(["sh", "-c", "trap '' TERM; echo; sleep 60 & wait; sleep 60"], pass_fds=(lock.fd,),
                             start_new_session=True, stdout=subprocess.PIPE)
    child.stdout.readline()
    print(child.pid, flush=True)
    __import__("os").kill(__import__("os").getpid(), 9)
"""
    argv = [sys.executable, "-c", program, str(state.folder)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=False)
    group = int(done.stdout)
    with state.lock(0, end_orphans=True):
        pass
    listing = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()]
    assert [row for row in rows if row[0] == str(group) and not row[1].startswith("Z")] == []


@pytest.fixture
def straggler(state: StateDirectory) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """A command that dropped the lock, in a group and a session of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def run(mark: str) -> subprocess.Popen[bytes]:
        env = {"PATH": os.environ["PATH"], "REGRAFT_RUN": mark}
        one = subprocess.Popen(["sleep", "60"], env=env, start_new_session=True)
        started.append(one)
        state.write(JOURNAL)
        return one

    yield run
    for one in started:
        one.kill()
        one.wait()


def test_a_command_that_dropped_the_lock_is_found_by_its_mark(
    state: StateDirectory, straggler: Callable[..., subprocess.Popen[bytes]]
) -> None:
    one = straggler("r1")
    with pytest.raises(OutsideError) as caught, state.lock(0):
        pytest.fail("it was taken")
    assert caught.value.code == "locked"
    assert one.poll() is None
    with state.lock(0, end_orphans=True):
        assert one.wait() == -signal.SIGTERM


def test_the_command_of_another_run_is_left_alone(
    state: StateDirectory, straggler: Callable[..., subprocess.Popen[bytes]]
) -> None:
    one = straggler("another-run")
    with state.lock(0, end_orphans=True):
        assert one.poll() is None


# The folder.


def test_it_is_its_owners_alone(state: StateDirectory) -> None:
    assert not state.exists()
    with state.lock(0):
        assert state.folder.stat().st_mode & 0o777 == 0o700
        assert (state.folder / "lock").stat().st_mode & 0o777 == 0o600
    assert state.exists()


@pytest.mark.parametrize("name", ["", "lock", "journal.json", "snapshot"])
@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_no_part_of_it_is_a_link(state: StateDirectory, tmp_path: Path, name: str, target: str) -> None:
    (tmp_path / "there").mkdir()
    if name:
        state.folder.mkdir(mode=0o700)
    path = state.folder / name
    path.symlink_to(tmp_path / target)
    with pytest.raises(RefusedError) as caught, state.lock(0):
        pytest.fail("it was taken")
    assert caught.value.code == "state-not-ours"
    assert list((tmp_path / "there").iterdir()) == []
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_one_that_others_may_write_is_refused(state: StateDirectory, mode: int) -> None:
    state.folder.mkdir()
    state.folder.chmod(mode)
    with pytest.raises(RefusedError, match="others may write"), state.lock(0):
        pytest.fail("it was taken")


@needs_root
@pytest.mark.parametrize("name", ["", "journal.json"])
def test_one_that_belongs_to_somebody_else_is_refused(state: StateDirectory, name: str) -> None:
    state.write(JOURNAL)
    os.chown(state.folder / name, 12345, 12345)
    with pytest.raises(RefusedError, match="belongs to user 12345"), state.lock(0):
        pytest.fail("it was taken")


def test_a_file_in_its_place_is_refused(state: StateDirectory) -> None:
    state.folder.write_text("")
    with pytest.raises(RefusedError), state.lock(0):
        pytest.fail("it was taken")


# The journal.


def test_what_is_written_is_read(state: StateDirectory) -> None:
    assert state.read() is None
    state.write(JOURNAL)
    assert state.read() == JOURNAL
    assert sorted(path.name for path in state.folder.iterdir()) == ["journal.json"]


def test_the_journal_of_another_version_is_refused_by_that_name(state: StateDirectory) -> None:
    state.write(JOURNAL)
    (state.folder / "journal.json").write_text('{"schema": "regraft.journal/2", "stages": [{}]}')
    with state.lock(0), pytest.raises(RefusedError, match=r"its format is regraft\.journal/2") as caught:
        state.read()
    assert caught.value.code == "other-version"


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"{" * 100_000, b'{"schema": "regraft.plan/1"}'])
def test_a_damaged_journal_is_refused_and_still_lets_the_lock_be_taken(state: StateDirectory, data: bytes) -> None:
    state.write(JOURNAL)
    (state.folder / "journal.json").write_bytes(data)
    with state.lock(0), pytest.raises(RefusedError) as caught:
        state.read()
    assert caught.value.code == "damaged-journal"
    assert caught.value.hint is not None
    assert "--forget" in caught.value.hint


def test_clearing_leaves_the_lock_and_what_is_not_ours(state: StateDirectory) -> None:
    state.write(JOURNAL)
    (state.folder / "snapshot/content").mkdir(parents=True)
    (state.folder / "aside").mkdir()
    (state.folder / "aside/file").write_text("")
    (state.folder / ".journal.json.abc").write_text("half")
    (state.folder / "notes").write_text("somebody's")
    (state.folder / "kept").mkdir()
    with state.lock(0):
        assert (state.folder / "snapshot").exists()
        state.clear()
    assert sorted(path.name for path in state.folder.iterdir()) == ["kept", "lock", "notes"]


def test_a_snapshot_without_a_journal_is_of_a_restore_that_was_killed_at_its_end(state: StateDirectory) -> None:
    (state.folder / "snapshot").mkdir(parents=True)
    state.folder.chmod(0o700)
    with state.lock(0):
        assert not (state.folder / "snapshot").exists()


# Where it is.


def test_where_it_is(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert state_folder_of(root, {}) == tmp_path / "var/lib/regraft"
    assert state_folder_of(root, {"REGRAFT_STATE": "/elsewhere/x"}) == Path("/elsewhere/x")
    if os.geteuid() == 0:
        assert state_folder_of(None, {"HOME": "/h"}) == Path("/var/lib/regraft")


@needs_root
def test_where_it_is_for_a_user() -> None:
    program = """
import os, sys
from regraft.adapters.state_folder import state_folder_of
os.setuid(65534)
print(state_folder_of(None, {"HOME": "/h"}), state_folder_of(None, {"HOME": "/h", "XDG_STATE_HOME": "/x"}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["/h/.local/state/regraft", "/x/regraft"]


def test_a_link_does_not_lead_out_of_the_root(tmp_path: Path) -> None:
    (tmp_path / "var").symlink_to("/var")
    with pytest.raises(RefusedError) as caught:
        state_folder_of(str(tmp_path), {})
    assert caught.value.code == "state-leaves-root"


def test_a_link_within_the_root_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real/lib").mkdir(parents=True)
    (tmp_path / "var").symlink_to("real")
    assert state_folder_of(str(tmp_path), {}) == tmp_path / "var/lib/regraft"


def test_the_lock_says_who_holds_it(state: StateDirectory) -> None:
    with state.lock(0):
        note = json.loads((state.folder / "lock").read_text())
    assert note["pid"] == os.getpid()
    assert note["command"].split(" ")[0] == "regraft"


def test_a_journal_that_could_not_be_read_back_is_never_written(state: StateDirectory) -> None:
    wrong = replace(JOURNAL, subjects=(Subject("checkout", "/img/../etc"),))
    with state.lock(0):
        with pytest.raises(InputError):
            state.write(wrong)
        assert state.read() is None
