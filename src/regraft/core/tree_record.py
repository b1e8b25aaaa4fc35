"""What stood at a set of paths at one moment, and how two such moments differ. Pure: `adapters.snapshot` looks.

Paths are absolute text; bytes that are not UTF-8 stand in them as surrogates (`surrogateescape`), in files as `%XX`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

Kind = Literal["file", "folder", "link", "fifo", "socket", "device"]
ChangeKind = Literal["new", "gone", "type", "mode", "owner", "content", "target", "touched"]

SLACK_NS = 2_000_000_000  # the coarsest time stamps of file systems in use, and a bit

_ESCAPED = re.compile("[%\udc80-\udcff]")
_ESCAPE = re.compile(r"%([0-9A-F]{2})")


class Entry(NamedTuple):
    """One path. A tuple, since an environment has a hundred thousand of them. `mode` is the permission bits (07777)."""

    path: str
    kind: Kind
    mode: int
    uid: int
    gid: int
    size: int  # of a file, in bytes; else 0
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    target: str | None  # of a link, with the same escapes as a path
    sha256: str | None  # of a file's bytes, where they were read


class Record(Struct, frozen=True):
    """`since` is when the looking began, in nanoseconds of the machine's clock."""

    entries: Mapping[str, Entry]
    since: int


class Change(Struct, frozen=True):
    """How one path differs. "touched": a file was written or replaced, and what it held before was not read."""

    path: str
    kind: ChangeKind


def changes(before: Record, after: Record) -> tuple[Change, ...]:
    """Every path that differs, sorted. Times alone are no difference, and no proof of sameness either."""
    found = []
    for path, old in before.entries.items():
        new = after.entries.get(path)
        if new == old and not is_young(old, before.since):  # nearly all of them
            continue
        kind = "gone" if new is None else difference(old, new, before.since)
        if kind is not None:
            found.append(Change(path, kind))
    found += [Change(path, "new") for path in after.entries if path not in before.entries]
    return tuple(sorted(found, key=lambda change: change.path))


def difference(old: Entry, new: Entry, since: int) -> ChangeKind | None:
    """How an entry that was looked at from `since` on differs from a later one of the same path."""
    if old.kind != new.kind:
        return "type"
    if old.target != new.target:
        return "target"
    if old.kind == "file":
        if old.size != new.size:
            return "content"
        if not is_untouched(old, new, since):
            if old.sha256 is None or new.sha256 is None:
                return "touched"
            if old.sha256 != new.sha256:
                return "content"
    if old.kind != "link" and old.mode != new.mode:
        return "mode"
    return "owner" if (old.uid, old.gid) != (new.uid, new.gid) else None


def is_untouched(old: Entry, new: Entry, since: int) -> bool:
    """Whether a file's bytes are the same for certain, by its stat alone.

    The change time cannot be set by a program. It is not trusted where the file was changed so shortly before it was looked
    at that a further change could have the same time, nor where the clock says that it was changed afterwards.
    """
    same = (old.size, old.mtime_ns, old.ctime_ns, old.inode, old.device) == (
        *(new.size, new.mtime_ns, new.ctime_ns, new.inode, new.device),
    )
    return same and not is_young(old, since)


def is_young(entry: Entry, since: int) -> bool:
    """Whether an entry that was looked at from `since` on could have been changed later without a new change time."""
    return entry.ctime_ns >= since - SLACK_NS or entry.mtime_ns >= since - SLACK_NS


def is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def parents(path: str) -> Iterator[str]:
    """The folders above an absolute path, the nearest first, without the root."""
    while (path := path.rpartition("/")[0]) != "":
        yield path


def escape(path: str) -> str:
    """Text that a JSON document can hold, whatever bytes the path has."""
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]) & 0xFF:02X}", path)


def unescape(text: str) -> str:
    """The path that `escape` was given. Raises ValueError: it made no such text."""
    path = _ESCAPE.sub(_original, text)
    if escape(path) != text:
        raise ValueError(f"{text[:200]!r} is not the escaped form of a path")
    return path


def _original(match: re.Match[str]) -> str:
    byte = int(match[1], 16)
    return chr(0xDC00 + byte) if byte >= 0x80 else chr(byte)


def clean(path: str) -> str:
    """The path for people: an escape for each byte that is not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def without_inner(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that lie below none of the others, in their order, once each."""
    unique = tuple(dict.fromkeys(paths))
    return tuple(one for one in unique if not any(parent in unique for parent in parents(one)))
