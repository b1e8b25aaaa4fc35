"""Reads files, and writes whole ones. What changes an image goes through `effects`, which counts."""

import os
import tempfile
from pathlib import Path

from regraft.adapters.effects import effect
from regraft.errors import InputError, OutsideError


def read(path: Path, limit: int) -> bytes:
    """The whole of a regular file, at most `limit` bytes. Raises InputError (no-such-file, not-a-file, too-large)
    and OutsideError (no-permission, unreadable).
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise InputError("no-such-file", "there is no such file", where=str(path)) from None
    except IsADirectoryError:
        raise InputError("not-a-file", "this is a folder, not a file", where=str(path)) from None
    except PermissionError:
        raise OutsideError("no-permission", "the file may not be read", where=str(path)) from None
    except OSError as error:
        raise OutsideError("unreadable", f"the file cannot be read: {error.strerror}", where=str(path)) from None
    if len(data) > limit:
        raise InputError("too-large", f"the file has more than {limit} bytes", where=str(path))
    return data


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all: a reader, and a kill, sees the old file or the new one.

    Missing folders above it are made. Raises OutsideError (no-permission, disk-full, not-written).
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with effect("create"):
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            os.fchmod(stream.fileno(), 0o644)
        with effect("rename"):
            os.replace(temporary, path)  # noqa: PTH105 - the path is a string here
        temporary = None
    except OSError as error:
        raise outside(error, str(path)) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def append(path: Path, data: bytes) -> None:
    """Add `data` to the end of a file, in one write: the way in which GitHub's runner takes outputs and summaries."""
    try:
        with path.open("ab", buffering=0) as stream:
            stream.write(data)
    except OSError as error:
        raise outside(error, str(path)) from None


def outside(error: OSError, where: str) -> OutsideError:
    """The error of the outside world that an `OSError` is, with its remedy."""
    import errno  # noqa: PLC0415 - only where something went wrong

    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return OutsideError("disk-full", "no space is left", where=where, hint="free some space, then run again")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            reason = os.strerror(error.errno)
            return OutsideError(
                "no-permission", reason, where=where, hint="run as a user who may, or choose another place"
            )
        case _:
            return OutsideError("system", error.strerror or str(error), where=where)
