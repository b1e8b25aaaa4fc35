"""What is below the guarded paths: lstat alone, no link followed, whatever bytes a name has."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from regraft.core.journal import Subject
from regraft.core.tree_record import Entry, Kind

# Of a repository: objects are only ever added; the other worktrees are not ours.
UNSAVED = frozenset({b"objects", b"lfs", b"worktrees"})

_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}

Trouble = Callable[[str, OSError], None]


def text_of(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def look(path: str) -> Entry | None:
    """The entry of one path, without a digest; None where nothing is. Raises OSError."""
    try:
        return entry_of(bytes_of(path), os.lstat(bytes_of(path)))
    except (FileNotFoundError, NotADirectoryError):
        return None


def entry_of(path: bytes, found: os.stat_result, sha256: str | None = None) -> Entry:
    mode = found.st_mode
    kind = _KINDS.get(mode & 0o170000, "device")
    return Entry(
        path.decode("utf-8", "surrogateescape"),
        kind,
        mode & 0o7777,
        found.st_uid,
        found.st_gid,
        found.st_size if kind == "file" else 0,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_ino,
        found.st_dev,
        text_of(os.readlink(path)) if kind == "link" else None,
        sha256,
    )


def walk(
    roots: Iterable[Subject],
    *,
    leave_out: Sequence[str] = (),
    closed: Iterable[str] = (),
    trouble: Trouble | None = None,
) -> dict[str, Entry]:
    """Every path at and below `roots`, by its absolute path; a root that is not there has none.

    `leave_out` are paths that are passed over. Not entered: `closed`, and of a repository what is not saved.
    A path that cannot be looked at is told to `trouble`, or else raises its OSError; one that vanishes meanwhile is not there.
    """
    skipped = frozenset(map(bytes_of, leave_out))
    shut = frozenset(map(bytes_of, closed))
    found: dict[str, Entry] = {}
    for root in roots:
        place = bytes_of(root.path)
        entry = look(root.path)
        if entry is None or place in skipped:
            continue
        found.setdefault(entry.path, entry)
        if entry.kind == "folder" and root.recursive:
            _below(_Start(place, root.kind == "git-dir"), found, skipped, shut, trouble)
    return found


class _Start(Struct, frozen=True):
    top: bytes
    in_repository: bool


def _below(
    start: _Start,
    found: dict[str, Entry],
    skipped: frozenset[bytes],
    shut: frozenset[bytes],
    trouble: Trouble | None,
) -> None:
    waiting = [(start.top, start.in_repository)]
    while waiting:
        folder, inside = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                for one in scan:
                    if one.path in skipped:
                        continue
                    try:
                        entry = entry_of(one.path, one.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        continue
                    found.setdefault(entry.path, entry)
                    if entry.kind != "folder":
                        continue
                    is_shut = one.path in shut or (inside and _is_unsaved(folder, one.name))
                    if not is_shut:
                        waiting.append((one.path, inside or one.name == b".git"))
        except FileNotFoundError:
            continue
        except OSError as error:
            if trouble is None:
                raise
            trouble(text_of(folder), error)


def _is_unsaved(folder: bytes, name: bytes) -> bool:
    """A repository is known by HEAD and refs: a branch, too, may be called `objects`."""
    return name in UNSAVED and all(os.path.lexists(os.path.join(folder, one)) for one in (b"HEAD", b"refs"))
