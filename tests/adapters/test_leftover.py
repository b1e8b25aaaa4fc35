"""Who of a group still runs, and who has only not been taken note of."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraft.adapters import process

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the state of others is told by /proc")


@pytest.fixture
def group() -> Iterator[int]:
    """A group in which everybody has ended, and nobody took note of one of them, as where a container's first process never does."""
    leader = subprocess.Popen(["sleep", "60"], process_group=0)
    member = subprocess.Popen(["true"], process_group=leader.pid)
    leader.kill()
    leader.wait()
    while b") Z " not in Path(f"/proc/{member.pid}/stat").read_bytes():
        time.sleep(0.005)
    yield leader.pid
    member.wait()


def test_who_has_ended_is_not_waited_for_and_not_said_to_run(group: int) -> None:
    begun = time.monotonic()
    assert process.end_group(group, wait=lambda: None) is False
    assert time.monotonic() - begun < process.GRACE / 2


def test_who_runs_beside_one_that_has_ended_is_ended(group: int) -> None:
    running = subprocess.Popen(["sleep", "60"], process_group=group)
    assert process.end_group(group, wait=lambda: None) is True
    assert running.wait(5) == -15
