"""Folders and files that go away. `tempfile` is asked only where the first place is not fit: its import takes a cold gate
as long as two calls of git.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import BinaryIO

NEWBORN = 60.0  # seconds in which a folder may not be locked yet by who made it

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PLACES = ("TMPDIR", "TEMP", "TMP")  # as in `tempfile`


class TemporaryFolder:
    """A private folder, from `folder()`; gone, with all that is in it, after `cleanup`."""

    def __init__(self, prefix: str) -> None:
        """Raises OSError where no temporary folder can be made."""
        self.path = folder(Path(_place()), prefix).resolve()
        self._handle = os.open(self.path, _FOLDER)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Raises OSError where something cannot be removed. Ctrl-C does not leave half of it: it is raised when all is gone."""
        try:
            try:
                self._remove()
            except BaseException as error:
                if not isinstance(error, Exception):
                    self._remove()
                raise
        finally:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def _remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            _empty(os.fspath(self.path))


def sweep(*prefixes: str) -> None:
    """Remove what killed processes left of folders with these prefixes.

    The lock tells: a pid does not, where containers share the folder for temporary files.
    """
    with contextlib.suppress(OSError):
        place = _place()
        for name in os.listdir(place):
            if name.startswith(prefixes):
                _sweep(os.path.join(place, name))


def _sweep(path: str) -> None:
    with contextlib.suppress(OSError):  # somebody else's, no folder, held, or gone
        handle = os.open(path, _FOLDER)
        try:
            found = os.fstat(handle)
            if found.st_uid == os.geteuid() and found.st_mtime < time.time() - NEWBORN:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _empty(path)
        finally:
            os.close(handle)


def folder(parent: Path, prefix: str) -> Path:
    """A new folder in `parent` that is its owner's alone."""
    while True:
        path = parent / f"{prefix}{os.urandom(6).hex()}"
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return path


def file() -> BinaryIO:
    """A file without a name, to be written and read."""
    try:
        handle = os.open(_place(), os.O_TMPFILE | os.O_RDWR | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except (AttributeError, OSError):  # not Linux, or a file system that knows no such files
        import tempfile  # noqa: PLC0415

        return tempfile.TemporaryFile()
    return os.fdopen(handle, "w+b")


def _place() -> str:
    first = next((os.environ[name] for name in _PLACES if os.environ.get(name)), "/tmp")  # noqa: S108 - if that is all
    if os.path.isabs(first) and os.path.isdir(first) and os.access(first, os.W_OK | os.X_OK):
        return first
    import tempfile  # noqa: PLC0415

    return tempfile.gettempdir()


def _empty(path: str) -> None:
    """Remove a folder, and what is below it; a link is removed and not followed."""
    with os.scandir(path) as scan:
        entries = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in scan]
    for name, is_folder in entries:
        with contextlib.suppress(FileNotFoundError):  # somebody else was quicker
            if is_folder:
                _empty(name)
            else:
                os.unlink(name)
    os.rmdir(path)
