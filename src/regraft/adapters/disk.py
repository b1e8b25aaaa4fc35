"""What files are on the disk, as git would name their bytes: raw, and without following a link."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from regraft.core.checkout_tree import Entry, Odd, object_hash
from regraft.core.objects import Sha256
from regraft.core.trees import EXECUTABLE, FILE, LINK

PIECE = 1024 * 1024
SLACK_NS = 2_000_000_000  # the coarsest time stamps of file systems in use, and a bit

Stamp = tuple[int, ...]


class Disk(Struct, frozen=True):
    """Relative paths below one folder. `files` are all that is no folder, `nested` the folders that hold a `.git`."""

    files: tuple[str, ...]
    folders: frozenset[str]
    nested: frozenset[str]


def walk(folder: Path, stop: frozenset[str] = frozenset()) -> Disk:
    """Everything below `folder`, sorted. What is named `.git` is left out wherever it is, and the folders in `stop`
    are not entered; nor is what a link points to. Raises OSError where a folder cannot be read.
    """
    files: list[str] = []
    folders: set[str] = set()
    nested: set[str] = set()
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with os.scandir(folder / place) as scan:
            for entry in scan:
                path = f"{place}/{entry.name}" if place else entry.name
                if entry.name == ".git":
                    nested.add(place)
                elif entry.is_dir(follow_symlinks=False):
                    folders.add(path)
                    if path not in stop:
                        waiting.append(path)
                else:
                    files.append(path)
    return Disk(tuple(sorted(files)), frozenset(folders), frozenset(nested - {""}))


class Memory:
    """`entry_at`, which reads a file again only where its stat says that it may be another one.

    The change time cannot be set by a program. It is not trusted where the file was changed so shortly before it was read
    that a further change could have the same one, nor where the clock says that it was changed afterwards.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Stamp, Entry]] = {}

    def entry_at(self, path: str, *, sha256: bool) -> Entry | Odd | None:
        try:
            found = os.lstat(path)
        except OSError:
            return entry_at(path, sha256=sha256)
        stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, found.st_mode, sha256)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        now = time.time_ns()
        entry = entry_at(path, sha256=sha256)
        if isinstance(entry, Entry) and max(found.st_mtime_ns, found.st_ctime_ns) < now - SLACK_NS:
            self._known[path] = (stamp, entry)
        return entry


def stamp(path: str) -> Stamp | None:
    """What a stat says of a file: where it is equal later, so is the content. None where that is no proof, as in `Memory`."""
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    if max(found.st_mtime_ns, found.st_ctime_ns) >= time.time_ns() - SLACK_NS:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, found.st_mode)


def entry_at(path: str | Path, *, sha256: bool) -> Entry | Odd | None:
    """The entry that git would make of what is at `path`, or None where nothing is. Its last part is not followed."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - bytes are wanted, whatever they are
            return Entry(LINK, object_hash("blob", len(target), [target], sha256=sha256).hex())
        if stat.S_ISDIR(found.st_mode):
            return Odd("a folder on the disk")
        if not stat.S_ISREG(found.st_mode):
            return Odd("no regular file on the disk")
        return _file(path, sha256=sha256)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Odd("replaced by a link while it was read")
        return Odd(f"and cannot be read: {error.strerror}", readable=False)


def _file(path: str | Path, *, sha256: bool) -> Entry | Odd:
    # NONBLOCK: a pipe that took the file's place must not keep us waiting.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if found.st_size < PIECE:
            data = os.read(handle, found.st_size + 1)
            if len(data) == found.st_size:
                return Entry(_mode(found), object_hash("blob", found.st_size, (data,), sha256=sha256).hex())
            os.lseek(handle, 0, os.SEEK_SET)
        seen = 0

        def pieces() -> Iterator[bytes]:
            nonlocal seen
            while piece := os.read(handle, min(PIECE, found.st_size - seen + 1)):
                seen += len(piece)
                yield piece
                if seen > found.st_size:
                    return

        name = object_hash("blob", found.st_size, pieces(), sha256=sha256).hex()
        if seen != found.st_size:
            return Odd("and changed its size while it was read", readable=False)
        return Entry(_mode(found), name)
    finally:
        os.close(handle)


def _mode(found: os.stat_result) -> str:
    return EXECUTABLE if found.st_mode & stat.S_IXUSR else FILE


def read(path: str | Path, limit: int, *, follow: bool = False) -> bytes | None:
    """A regular file's bytes, or None where it is no such file or has more than `limit`. A link is followed if `follow`."""
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        handle = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        return stream.read(limit)


def names(folder: str | Path) -> tuple[str, ...]:
    """What lies in a folder; nothing where there is none that can be read."""
    try:
        return tuple(os.listdir(folder))  # noqa: PTH208 - names are wanted
    except (OSError, ValueError):
        return ()


def digest(path: str | Path) -> Sha256 | None:
    """The sha256 of a regular file, or of a link's target as text; None where it is neither or cannot be read."""
    import hashlib  # noqa: PLC0415 - brings OpenSSL, and whoever only looks for a checkout digests nothing

    try:
        if os.path.islink(path):  # noqa: PTH114 - os.readlink below
            return Sha256(hashlib.sha256(b"link " + os.fsencode(os.readlink(path))).hexdigest())  # noqa: PTH115 - bytes
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            return Sha256(hashlib.file_digest(stream, "sha256").hexdigest())
    except OSError:
        return None
