"""What is left of the programs that were started, as /proc tells it: in their group, or out of it."""

import contextlib
import os
import signal
import time
from pathlib import Path

_ROUNDS = 20  # one that is being killed may start another
_PROC = Path("/proc")


def end_marked(name: str, value: str) -> None:
    """Kill each program that began with this variable, as GitHub's runner ends what a job leaves. Nothing where there is no /proc.

    The value is the run's own: whoever has it was started by the run, and is nobody else's.
    """
    mark = f"{name}={value}".encode()
    for _ in range(_ROUNDS):
        found = _marked(mark)
        for number in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        if not found:
            return
        time.sleep(0.002)


def anybody_runs(group: int) -> bool:
    """Whether somebody of a process group still runs; one that ended, and whose parent took no note of it, does not.

    In many a container nobody takes note of orphans. True where /proc does not tell.
    """
    try:
        folders = [one for one in _PROC.iterdir() if one.name.isdecimal()]
    except OSError:
        return True
    return not folders or any(_runs_in(one, group) for one in folders)


def _runs_in(folder: Path, group: int) -> bool:
    try:
        state, _, found, *_ = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    except (OSError, ValueError):  # it is gone
        return False
    return int(found) == group and state not in (b"Z", b"X")


def _marked(mark: bytes) -> list[int]:
    try:
        folders = [one for one in _PROC.iterdir() if one.name.isdecimal()]
    except OSError:
        return []
    return [int(one.name) for one in folders if mark in _environment(one)]


def _environment(folder: Path) -> list[bytes]:
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:  # it is gone, or somebody else's
        return []
