"""Files of the project, read without leaving it."""

import errno
import os
import stat
from pathlib import Path

from regraft.errors import InputError, OutsideError

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_ODD = frozenset({errno.ELOOP, errno.ENXIO})  # links in a circle; a socket


class ProjectFolder:
    """`regraft.flows.ports.ProjectFiles` over a folder; InputError where `root` is none."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(
                "no-project", f"{_quoted(str(root))} is not a folder", hint="name the project's folder with --project"
            )
        self._root = Path(os.path.realpath(root))

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file, or None where there is none.

        `path` is relative, POSIX. InputError: it leaves the project (itself or through a link), is no regular file, or
        holds more than `limit` bytes. OutsideError: the system does not let us read it.
        """
        if "\0" in path or path.startswith("/") or ".." in path.split("/"):
            raise InputError("outside-project", f"{_quoted(path)} is not a path inside the project")
        try:
            return self._read(path, limit)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            if error.errno in _ODD:
                raise InputError("not-a-file", "not a regular file", where=path) from error
            raise OutsideError("cannot-read", f"cannot read it: {error.strerror}", where=path) from error

    def _read(self, path: str, limit: int) -> bytes:
        real = Path(os.path.realpath(self._root / path))
        if not real.is_relative_to(self._root):
            raise InputError(
                "outside-project", "a link leads out of the project", where=path, hint="put the file itself there"
            )
        # NONBLOCK: opening a named pipe must not wait for its writer. NOFOLLOW: `real` holds no link, unless one came since.
        handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("not-a-file", "not a regular file", where=path)
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(handle)
        if len(data) > limit:
            raise InputError("too-large", f"larger than {limit:,} bytes", where=path)
        return data


def _quoted(text: str) -> str:
    return repr(text[:200])
