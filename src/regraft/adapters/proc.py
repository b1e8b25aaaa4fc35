"""Who is who among the processes of this machine, as /proc tells it: proc(5)."""

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

GRACE = 5.0  # seconds between SIGTERM and SIGKILL
ROUNDS = 3  # how often processes that start others are ended

_PROC = Path("/proc")
_LOCK = re.compile(rb"^lock:\t\d+: FLOCK\s+\S+\s+\S+\s+(\d+)\s", re.MULTILINE)


def start_ticks(pid: int) -> int | None:
    """When a process began, in clock ticks since the machine did; with the pid it names a process. None: it is gone."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in {"Z", "X"} else None


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third, the state, on: the second may hold anything."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("ascii", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def lock_holders(device: int, inode: int) -> tuple[set[int], set[int]]:
    """(takers, heirs) of a flock on a file: the processes that took it, and those that inherited it.

    One that only has the file open, because it waits for the lock, is neither.
    """
    takers: set[int] = set()
    heirs: set[int] = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            for name in os.listdir(_PROC / str(pid) / "fd"):
                owner = _lock_of(pid, name, device, inode)
                if owner is not None:
                    (takers if owner == pid else heirs).add(pid)
    return takers, heirs - takers


def _lock_of(pid: int, name: str, device: int, inode: int) -> int | None:
    with contextlib.suppress(OSError):
        found = os.stat(_PROC / str(pid) / "fd" / name)
        if (found.st_dev, found.st_ino) == (device, inode):
            match = _LOCK.search((_PROC / str(pid) / "fdinfo" / name).read_bytes())
            return int(match[1]) if match else None
    return None


def marked(variable: str) -> set[int]:
    """The processes that have `NAME=value` in the environment that they were started with, in whatever group they are."""
    mark = b"\0" + variable.encode() + b"\0"
    found = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            if mark in b"\0" + (_PROC / str(pid) / "environ").read_bytes() and start_ticks(pid) is not None:
                found.add(pid)
    return found


def end_all(find: Callable[[], set[int]]) -> tuple[set[int], set[int]]:
    """(those that were found and ended, those that are there in spite of that)."""
    ended: set[int] = set()
    for _ in range(ROUNDS):
        found = find()
        if not found:
            return ended, set()
        end(found)
        ended |= found
    return ended, find()


def left_over(lock: int, variable: str) -> set[int]:
    """Who came of a command, by the lock that it was given or by the mark in its environment."""
    found = os.fstat(lock)
    return lock_holders(found.st_dev, found.st_ino)[1] | marked(variable)


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        for name in os.listdir(_PROC):
            if name.isdecimal() and int(name) != os.getpid():
                yield int(name)


def command_line(pid: int) -> str:
    """For people; empty where it is gone."""
    try:
        data = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    return b" ".join(data.split(b"\0")).decode("utf-8", "backslashreplace").strip()[:300]


def end(pids: set[int]) -> None:
    """End processes with the groups that they lead or are in, first asked, then not. Our own group is spared."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                group = os.getpgid(pid)
                os.kill(pid, number) if group == os.getpgrp() else os.killpg(group, number)
        deadline = time.monotonic() + GRACE
        while any(start_ticks(pid) is not None for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.02)
        if not any(start_ticks(pid) is not None for pid in pids):
            return
