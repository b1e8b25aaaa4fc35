"""Files of the project, read without leaving it."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from regraft.core.patch_address import in_short, is_address
from regraft.errors import InputError, OutsideError

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_ODD = frozenset({errno.ELOOP, errno.ENXIO})  # links in a circle; a socket


class ProjectFolder:
    """`regraft.flows.ports.ProjectFiles` over a folder; InputError where `root` is none.

    `pinned` brings the patches that are given by their address (`adapters.pinned_patches`); without it there are none.
    """

    def __init__(self, root: Path, pinned: Callable[[str, int], bytes | None] | None = None) -> None:
        if not root.is_dir():
            raise InputError(
                "no-project", f"{_quoted(str(root))} is not a folder", hint="name the project's folder with --project"
            )
        self._root = Path(os.path.realpath(root))
        self._shown = _from_here(root)
        self._pinned = pinned

    def place(self, path: str) -> str:
        """Relative to the working directory where the project is in it, else below the root as it was given."""
        if is_address(path):
            return in_short(path)
        return path if self._shown == "." else f"{self._shown.rstrip('/')}/{path}"

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file, or None where there is none.

        `path` is relative, POSIX. InputError: it leaves the project (itself or through a link), is no regular file, or
        holds more than `limit` bytes. OutsideError: the system does not let us read it.
        """
        if is_address(path):
            return self._pinned(path, limit) if self._pinned is not None else None
        if "\0" in path or path.startswith("/") or ".." in path.split("/"):
            raise InputError("outside-project", f"{_quoted(path)} is not a path inside the project")
        try:
            return self._read(path, limit)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            if error.errno in _ODD:
                raise InputError("not-a-file", "not a regular file", where=self.place(path)) from error
            raise OutsideError("cannot-read", f"cannot read it: {error.strerror}", where=self.place(path)) from error

    def names(self, folder: str) -> tuple[str, ...]:
        """The names of the regular files in a folder, sorted; none where there is no such folder, or it lies outside.

        OutsideError: the system does not let us list it.
        """
        real = Path(os.path.realpath(self._root / folder.replace("\0", "")))
        if "\0" in folder or not real.is_relative_to(self._root):
            return ()
        try:
            with os.scandir(real) as entries:
                return tuple(sorted(entry.name for entry in entries if _is_file(entry)))
        except OSError as error:
            if error.errno in _ABSENT:
                return ()
            raise OutsideError("cannot-read", f"cannot list it: {error.strerror}", where=self.place(folder)) from error

    def _read(self, path: str, limit: int) -> bytes:
        real = Path(os.path.realpath(self._root / path))
        if not real.is_relative_to(self._root):
            hint = "put the file itself there"
            raise InputError("outside-project", "a link leads out of the project", where=self.place(path), hint=hint)
        # NONBLOCK: opening a named pipe must not wait for its writer. NOFOLLOW: `real` holds no link, unless one came since.
        handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("not-a-file", "not a regular file", where=self.place(path))
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(handle)
        if len(data) > limit:
            raise InputError("too-large", f"larger than {limit:,} bytes", where=self.place(path))
        return data


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself, or to where nobody may look
        return False


def _from_here(root: Path) -> str:
    here, shown = Path.cwd(), Path(os.path.normpath(root))
    if shown.is_absolute() and shown.is_relative_to(here):
        shown = shown.relative_to(here)
    return shown.as_posix()


def _quoted(text: str) -> str:
    return repr(text[:200])
