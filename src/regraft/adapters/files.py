"""Reads files, and writes whole ones. What changes an image goes through `effects`, which counts."""

import os
import stat
import sys
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


def read_standard_input(limit: int) -> bytes:
    """All of it, at most `limit` bytes and one more. Raises InputError `no-input` where it is closed."""
    if sys.stdin is None:
        raise InputError("no-input", "it is closed", where="standard input", hint="pipe the text in, or name a file")
    return sys.stdin.buffer.read(limit + 1)


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all: a reader, and a kill, sees the old file or the new one.

    Missing folders above it are made. A link is followed, a file keeps its mode, and what is no regular file (a pipe, a
    terminal) is written to instead of being replaced. Raises OutsideError (no-permission, disk-full, system).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data, mode)
    except OSError as error:
        raise outside(error, str(path)) from None


def check_writable(path: Path) -> None:
    """Find out beforehand whether `write` could put a file there. Missing folders above it are made, and nothing is left.

    Raises InputError `not-a-file` for a folder, and what `write` raises.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(path)
        if mode is None or stat.S_ISREG(mode):
            place = path.resolve()
            trial = place.with_name(f".{place.name[:100]}.{os.urandom(6).hex()}")
            with effect("create"):
                os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
            trial.unlink()
        elif not stat.S_ISDIR(mode) and not os.access(path, os.W_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise outside(error, str(path)) from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError("not-a-file", "this is a folder, not a file", where=str(path), hint="name a file in it")


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    """A temporary file beside it, then a rename; a new file's mode is what the umask leaves."""
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}")
    with effect("create"):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
            os.fsync(stream.fileno())
        with effect("rename"):
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def append(path: Path, data: bytes) -> None:
    """Add `data` to the end of a file, in one write: the way in which GitHub's runner takes outputs and summaries."""
    try:
        with path.open("ab", buffering=0) as stream:
            stream.write(data)
    except OSError as error:
        raise outside(error, str(path)) from None


def remove(path: Path) -> None:
    """Take one file away; a link goes, and not what it names. Raises OutsideError (no-permission, system)."""
    try:
        with effect("remove"):
            path.unlink()
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
