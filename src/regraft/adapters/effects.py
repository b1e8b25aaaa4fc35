"""The verbs that change what is on the machine, each of them counted, so that a test can kill regraft around every one.

A test hook, and nothing else, reads three variables of the environment:

    REGRAFT_EFFECTS=FILE          append the name of each effect to FILE, a line each, and whether a process runs meanwhile
    REGRAFT_KILL_AT=before:N      SIGKILL this process before its Nth effect (from 1); after:N, after it
    REGRAFT_KILL_GROUP=1          also the groups of the processes that it has started and that still run, and its own

Paths may be text or bytes; the last part of a path is never followed where it is a link. Each verb raises OSError.
"""

import contextlib
import os
import signal
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import Self

AnyPath = str | bytes

_KILL = os.environ.get("REGRAFT_KILL_AT", "")
_LOG = os.environ.get("REGRAFT_EFFECTS", "")
_GROUP = os.environ.get("REGRAFT_KILL_GROUP") == "1"

_children: set[int] = set()
_count = 0


class effect:  # noqa: N801 - it reads as a verb: `with effect("write"):`
    """Stands around one change: `with effect("rename"): ...`. Does nothing unless a test asks for it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> Self:
        if _KILL or _LOG:
            _begin(self._name)
        return self

    def __exit__(self, *_: object) -> None:
        if f"after:{_count}" == _KILL:
            _kill()


def _begin(name: str) -> None:
    global _count  # noqa: PLW0603 - the count is the process's own
    _count += 1
    if f"before:{_count}" == _KILL:
        _kill()
    if _LOG:
        name += " while a process runs" if _children else ""
        handle = os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(handle, f"{name}\n".encode())
        finally:
            os.close(handle)


def _kill() -> None:
    if _GROUP:
        for group in _children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def running(group: int) -> Iterator[None]:
    """For as long as a process that leads a group of its own runs."""
    _children.add(group)
    try:
        yield
    finally:
        _children.discard(group)


def temporary_name(path: AnyPath) -> bytes:
    """A name beside `path` that nobody has."""
    folder, name = os.path.split(os.fsencode(path))
    return os.path.join(folder, b".regraft-" + os.urandom(6).hex().encode() + b"-" + name[:120])


def write(
    path: AnyPath, pieces: Iterable[bytes], mode: int, *, before_rename: Callable[[int], None] | None = None
) -> None:
    """Put a regular file with these permission bits at `path`, whole or not at all, in place of a file or link there.

    `before_rename` is given the open file: owner and times are its business.
    """
    temporary = temporary_name(path)
    with effect("create"):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            for piece in pieces:
                write_all(handle, piece)
            os.fchmod(handle, mode)
            if before_rename is not None:
                before_rename(handle)
        finally:
            os.close(handle)
        rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def create(path: AnyPath, fill: Callable[[int], None]) -> None:
    """Make a file that is its owner's alone where none is; `fill` is given it open. A kill leaves it half filled."""
    with effect("create"):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fill(handle)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def link(path: AnyPath, target: AnyPath) -> None:
    """Put a symbolic link at `path`, in place of a file or link there."""
    temporary = temporary_name(path)
    with effect("link"):
        os.symlink(os.fsencode(target), temporary)
    try:
        rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def second_name(old: AnyPath, new: AnyPath) -> None:
    """One file by two names. Of what is no link."""
    with effect("second name"):
        os.link(old, new, follow_symlinks=False)


def hard_link(path: AnyPath, source: AnyPath) -> None:
    """Let `path`, in place of a file or link there, be another name of the file `source`: that takes no space."""
    temporary = temporary_name(path)
    with effect("hard-link"):
        os.link(os.fsencode(source), temporary, follow_symlinks=False)
    try:
        rename(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # a rename between two names of one file does nothing
            os.unlink(temporary)


def rename(old: AnyPath, new: AnyPath) -> None:
    with effect("rename"):
        os.replace(os.fsencode(old), os.fsencode(new))


def unlink(path: AnyPath) -> None:
    with effect("unlink"):
        os.unlink(path)


def mkdir(path: AnyPath, mode: int = 0o755) -> None:
    """Make one folder with these permission bits, whatever the umask."""
    with effect("mkdir"):
        os.mkdir(path, mode)
        os.chmod(path, mode)


def rmdir(path: AnyPath) -> None:
    with effect("rmdir"):
        os.rmdir(path)


def chmod(path: AnyPath, mode: int) -> None:
    """Of what is no link."""
    with effect("chmod"):
        os.chmod(path, mode)


def remove_tree(path: AnyPath) -> None:
    """Remove what is at `path`, with everything below it where it is a folder; nothing where nothing is there.

    A folder that may not be written is made writable first, where it is ours.
    """
    place = os.fsencode(path)
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        unlink(place)
        return
    if found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with contextlib.suppress(PermissionError):
            chmod(place, stat.S_IMODE(found.st_mode) | stat.S_IRWXU)
    with os.scandir(place) as scan:
        names = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in scan]
    for name, is_folder in names:
        if is_folder:
            remove_tree(name)
        else:
            unlink(name)
    rmdir(place)
