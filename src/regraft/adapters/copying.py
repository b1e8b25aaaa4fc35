"""Copies of files' content, each kept once under its digest: shared with the original where the file system can."""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from regraft.adapters import effects
from regraft.adapters.tree_walk import bytes_of, entry_of
from regraft.core.tree_record import Entry

PIECE = 1024 * 1024
TRIES = 3

_FICLONE = 0x40049409  # linux/fs.h: _IOW(0x94, 9, int)
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # NONBLOCK: a pipe may have taken the file's place


class ChangingError(OSError):
    """A file is being written while it is read."""


def clone(source: int, target: int) -> bool:
    """Let an empty file share the content of another. False: this file system cannot, or not these two."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def pieces(handle: int) -> Iterator[bytes]:
    while piece := os.read(handle, PIECE):
        yield piece


def digest_of(path: str) -> str:
    """The sha256 of a regular file. Raises OSError."""
    handle = open_file(path)
    try:
        return _digest(handle)
    finally:
        os.close(handle)


def _digest(handle: int) -> str:
    digest = hashlib.sha256()
    for piece in pieces(handle):
        digest.update(piece)
    return digest.hexdigest()


def open_file(path: str) -> int:
    """A regular file, open for reading. Raises OSError; a link is not followed."""
    handle = os.open(bytes_of(path), _READ)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "no regular file any more", path)
    return handle


class Contents:
    """The folder of copies. `shared` counts the bytes that needed no space."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._good: dict[str, bool] = {}

    def path(self, sha256: str) -> str:
        return f"{self._folder}/{sha256}"

    def put(self, path: str) -> Entry:
        """Copy a file in, and return its entry with the digest. Raises OSError; ChangingError if it does not hold still."""
        for _ in range(TRIES):
            handle = open_file(path)
            try:
                before = os.fstat(handle)
                digest = self._put(handle, before.st_size)
                after = os.fstat(handle)
            finally:
                os.close(handle)
            if _times(before) == _times(after):
                return entry_of(bytes_of(path), after, digest)
        raise ChangingError(errno.EBUSY, "it changes while it is copied", path)

    def _put(self, source: int, size: int) -> str:
        if size <= PIECE:
            data = b"".join(pieces(source))
            digest = hashlib.sha256(data).hexdigest()
            self._keep(digest, lambda handle: effects.write_all(handle, data))
            return digest
        digest = _digest(source)
        self._keep(digest, lambda handle: copy(source, handle))
        return digest

    def _keep(self, digest: str, fill: Callable[[int], None]) -> None:
        """One that is there already may be half of one, of a copying that was killed."""
        target = self.path(digest)
        if not os.path.lexists(target):
            effects.create(target, fill)
        elif not self.is_good(digest):
            effects.unlink(target)
            effects.create(target, fill)
        self._good[digest] = True

    def is_good(self, sha256: str) -> bool:
        """Whether the copy is there and still has its digest. Read once."""
        if sha256 not in self._good:
            try:
                self._good[sha256] = digest_of(self.path(sha256)) == sha256
            except OSError:
                self._good[sha256] = False
        return self._good[sha256]

    def take_out(self, sha256: str, target: int) -> None:
        """Fill an empty open file with a copy's content. Raises OSError."""
        source = open_file(self.path(sha256))
        try:
            copy(source, target)
        finally:
            os.close(source)

    def hand_over(self, sha256: str, path: str, times: tuple[int, int]) -> bool:
        """Put the copy itself at `path`, with these times, for want of room for another: it keeps its name here as well.

        False: it is on another file system, or was handed over before; two files must not become one.
        """
        source = self.path(sha256)
        try:
            if os.lstat(source).st_nlink != 1:
                return False
            os.utime(source, ns=times, follow_symlinks=False)
            effects.hard_link(bytes_of(path), source)
        except OSError:
            return False
        return True


def copy(source: int, target: int) -> None:
    """The whole of one open file into another, empty one: shared where that can be, else written."""
    if clone(source, target):
        return
    os.lseek(source, 0, os.SEEK_SET)
    for piece in pieces(source):
        effects.write_all(target, piece)


def can_clone(path: str, folder: Path) -> bool:
    """Whether copies of a file into a folder would share its content."""
    trial = effects.temporary_name(os.fspath(folder / "clone"))
    shared = False
    try:
        source = open_file(path)
    except OSError:
        return False

    def fill(target: int) -> None:
        nonlocal shared
        shared = clone(source, target)

    try:
        effects.create(trial, fill)
        effects.unlink(trial)
    except OSError:
        return False
    finally:
        os.close(source)
    return shared


def _times(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
