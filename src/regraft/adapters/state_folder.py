"""The folder in which an apply writes down how far it came: a lock, a journal, and the snapshot.

    lock            held with flock(2) by whoever applies or restores, and by the commands that it started
    journal.json    how far it came
    snapshot/       the baseline (adapters.snapshot)
    reserve         some blocks that a full disk still has for giving back
    aside/          files that were moved out of the way
    kept/           copies of what was made after an apply, and went with a restore (adapters.newer); never removed

The folder is its owner's alone. No part of it may be a link: what it says is done, with the rights of whoever restores.
"""

import contextlib
import fcntl
import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from regraft.adapters import effects, files, proc
from regraft.core.document import LIMIT
from regraft.core.journal import SCHEMA, Journal, decode_journal, encode_journal, other_version
from regraft.core.observation import quoted
from regraft.errors import InputError, OutsideError, RefusedError

VARIABLE = "REGRAFT_RUN"

_POLL = 0.05
_RESERVE = 256 * 1024  # bytes: a journal, some temporary files, and the names of what is put back


def state_folder_of(root: str | None, environ: Mapping[str, str]) -> Path:
    """Where the state of the image below `root` is. REGRAFT_STATE names another place.

    Raises RefusedError `state-leaves-root`: a link leads out of the root.
    """
    named = environ.get("REGRAFT_STATE")
    if named:
        return Path(os.path.abspath(named))
    if root is not None:
        top = os.path.realpath(root)
        folder = os.path.join(top, "var/lib/regraft")
        if not (os.path.realpath(os.path.dirname(folder)) + "/").startswith(top.rstrip("/") + "/"):
            hint = "name another place in REGRAFT_STATE"
            raise RefusedError("state-leaves-root", "a link leads out of the root", where=folder, hint=hint)
        return Path(folder)
    if os.geteuid() == 0:
        return Path("/var/lib/regraft")
    home = environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local/state")
    return Path(os.path.abspath(os.path.join(home, "regraft")))


class Held(Struct, frozen=True):
    """The lock, for as long as `fd` is open here or in a child."""

    fd: int


class StateDirectory:
    """`flows.ports.StateFolder` on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def aside(self) -> str:
        return str(self.folder / "aside")

    @property
    def snapshot(self) -> Path:
        return self.folder / "snapshot"

    @property
    def _journal(self) -> Path:
        return self.folder / "journal.json"

    def exists(self) -> bool:
        return os.path.lexists(self.folder)

    @contextmanager
    def lock(self, wait: float, *, end_orphans: bool = False) -> Iterator[Held]:
        self._make()
        handle = self._open_lock()
        deadline = time.monotonic() + wait
        try:
            self._acquire(handle, deadline, end_orphans=end_orphans)
            self._sign(handle)
            self._wait_for_commands(deadline, end_orphans=end_orphans)
            self._sweep()
            yield Held(handle)
        finally:
            os.close(handle)  # never LOCK_UN: that would take it from the children too

    def read(self) -> Journal | None:
        try:
            data = files.read(self._journal, LIMIT)
        except InputError as error:
            if error.code == "no-such-file":
                return None
            raise self._damaged(error) from None
        try:
            return decode_journal(data, str(self._journal))
        except InputError as error:
            version = other_version(data)
            if version is not None:
                message = f"another version of regraft wrote this: its format is {version}, and this one reads {SCHEMA}"
                hint = (
                    "restore with the version that applied; `regraft restore --forget` drops the note of what was done"
                )
                raise RefusedError("other-version", message, where=str(self._journal), hint=hint) from None
            raise self._damaged(error) from None

    def _damaged(self, error: InputError) -> RefusedError:
        hint = "`regraft restore --forget` drops it; the image is then as it is, and best made anew"
        return RefusedError("damaged-journal", error.message, where=str(self._journal), hint=hint)

    def write(self, journal: Journal) -> None:
        self._make()
        data = encode_journal(journal)
        decode_journal(data, str(self._journal))  # before anything is changed: what cannot be read cannot be given back
        files.write(self._journal, data)

    def reserve(self) -> None:
        place = self.folder / "reserve"
        if not os.path.lexists(place):
            files.write(place, os.urandom(_RESERVE))  # nothing that a file system could store in less

    def release(self) -> None:
        with contextlib.suppress(OSError):
            effects.unlink(str(self.folder / "reserve"))

    def clear(self) -> None:
        try:
            with contextlib.suppress(FileNotFoundError):
                effects.unlink(str(self._journal))
            self._sweep()
        except OSError as error:
            raise files.outside(error, str(self.folder)) from None

    def _sweep(self) -> None:
        """Without a journal nothing is left to be given back: what lies about is of an apply that was cleared."""
        if self._journal.exists():
            return
        for name in os.listdir(self.folder):
            if name in {"snapshot", "aside", "reserve"} or name.startswith((".journal.json.", ".reserve.")):
                effects.remove_tree(str(self.folder / name))

    def _make(self) -> None:
        try:
            if not os.path.lexists(self.folder):
                for parent in reversed(self.folder.parents):
                    if not parent.is_dir():
                        with contextlib.suppress(FileExistsError):
                            effects.mkdir(str(parent))
                with contextlib.suppress(FileExistsError):
                    effects.mkdir(str(self.folder), 0o700)
            self._check(self.folder, stat.S_ISDIR, "folder")
            for name, test, word in (("journal.json", stat.S_ISREG, "file"), ("snapshot", stat.S_ISDIR, "folder")):
                if os.path.lexists(self.folder / name):
                    self._check(self.folder / name, test, word)
        except OSError as error:
            raise files.outside(error, str(self.folder)) from None

    def _check(self, path: Path, test: object, word: str) -> None:
        found = os.lstat(path)
        hint = "take it away, or name another place in REGRAFT_STATE"
        if not callable(test) or not test(found.st_mode):
            raise RefusedError(
                "state-not-ours", f"this is no {word}; a link is not followed", where=str(path), hint=hint
            )
        if found.st_uid != os.geteuid():
            message = f"it belongs to user {found.st_uid}, and this is user {os.geteuid()}"
            raise RefusedError("state-not-ours", message, where=str(path), hint=hint)
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise RefusedError("state-not-ours", "others may write here", where=str(path), hint=hint)

    def _open_lock(self) -> int:
        path = str(self.folder / "lock")
        try:
            with effects.effect("open-lock"):
                return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as error:
            if os.path.islink(path):
                hint = "take it away, or name another place in REGRAFT_STATE"
                raise RefusedError("state-not-ours", "a link is not followed", where=path, hint=hint) from None
            raise files.outside(error, path) from None

    def _acquire(self, handle: int, deadline: float, *, end_orphans: bool) -> None:
        found = os.fstat(handle)
        rounds = 0
        while not _taken(handle):
            if time.monotonic() < deadline:
                time.sleep(_POLL)
                continue
            takers, heirs = proc.lock_holders(found.st_dev, found.st_ino)
            if not takers and not heirs and _taken(handle):
                return
            if takers or not heirs or not end_orphans or rounds == proc.ROUNDS:
                raise self._locked(handle, takers | heirs)
            proc.end(heirs)
            rounds += 1

    def _wait_for_commands(self, deadline: float, *, end_orphans: bool) -> None:
        """The children of an install's own children may have dropped the lock; the mark in their environment tells them."""
        try:
            journal = self.read()
        except RefusedError:
            return
        if journal is None:
            return
        mark = f"{VARIABLE}={journal.run}"
        while pids := proc.marked(mark):
            if time.monotonic() < deadline:
                time.sleep(_POLL)
                continue
            if not end_orphans:
                raise self._locked(None, pids)
            _, left = proc.end_all(lambda: proc.marked(mark))
            if left:
                raise self._locked(None, left)

    def _sign(self, handle: int) -> None:
        """Who holds it, for the message of the next one."""
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        note = {"pid": os.getpid(), "since": since, "command": " ".join(["regraft", *sys.argv[1:]])[:300]}
        with contextlib.suppress(OSError), effects.effect("sign"):  # on a full disk it stays unsaid
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(note).encode(), 0)

    def _locked(self, handle: int | None, pids: set[int]) -> OutsideError:
        note = _note(handle) if handle is not None else {}
        if pids and note.get("pid") not in pids:
            pid = min(pids)
            who = f"process {pid} ({quoted(proc.command_line(pid))}), left over from one that was killed,"
            hint = "wait for it with --wait SECONDS; `regraft restore` ends it"
        else:
            who = f"process {note.get('pid', 'unknown')} ({quoted(str(note.get('command', 'unknown')))})"
            hint = "wait for it with --wait SECONDS"
        since = f" since {quoted(str(note['since']))}" if "since" in note else ""
        return OutsideError("locked", f"{who} is at work here{since}", where=str(self.folder), hint=hint)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note(handle: int) -> dict[str, object]:
    try:
        found = json.loads(os.pread(handle, 4096, 0))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("pid", 0), int) else {}
