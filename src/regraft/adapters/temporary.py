"""Folders and files that go away. `tempfile` is asked only where the first place is not fit: its import takes a cold gate
as long as two calls of git.
"""

import contextlib
import os
from pathlib import Path
from typing import BinaryIO

_PLACES = ("TMPDIR", "TEMP", "TMP")  # as in `tempfile`


class TemporaryFolder:
    """A private folder, from `folder()`; gone, with all that is in it, after `cleanup`."""

    def __init__(self, prefix: str) -> None:
        """Raises OSError where no temporary folder can be made."""
        self.path = folder(Path(_place()), prefix).resolve()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Raises OSError where something cannot be removed."""
        with contextlib.suppress(FileNotFoundError):
            _empty(os.fspath(self.path))


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
