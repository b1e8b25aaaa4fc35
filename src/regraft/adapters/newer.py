"""What an apply left, noted down when it has come to its end; what was made since; and copies of that, which stay.

snapshot/left         what stood at each path then, in the form of the snapshot's record
kept/RUN/PATH         copies of what was newer, by the word of the apply's run: yours, and never removed
"""

import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from regraft.adapters import copying, effects, files, record_file
from regraft.adapters.record_file import SCHEMA, Head, Stored
from regraft.adapters.tree_walk import bytes_of, look, walk
from regraft.core import newer
from regraft.core.journal import Subject
from regraft.core.restored import Kept
from regraft.core.tree_record import Change, Entry, Record, clean, is_untouched, is_young
from regraft.errors import OutsideError


class Left:
    """In the state folder `state`. Each method raises OutsideError where the disk failed, and what `record_file` raises."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._path = Path(state, "snapshot/left")

    def note(self, base: Stored) -> None:
        """With the digest of each file: by its stat alone a later look could not tell what it held."""
        since = time.time_ns()
        entries = {}
        for path, entry in self._walk(base.head.roots).items():
            old = base.record.entries.get(path)
            if entry.kind != "file":
                entries[path] = entry
            elif old is not None and old.kind == "file" and is_untouched(old, entry, base.record.since):
                entries[path] = entry._replace(sha256=old.sha256)
            elif (digest := _digest(path)) is not None:
                entries[path] = entry._replace(sha256=digest)
        files.write(
            self._path, record_file.encode(Stored(Head(SCHEMA, since, base.head.roots), Record(entries, since)))
        )

    def newer(self, base: Stored) -> tuple[Change, ...] | None:
        """What is neither as the apply left it nor as in the baseline. None: no apply has come to its end here."""
        left = record_file.read(self._path)
        if left is None:
            return None
        found = self._walk(base.head.roots)
        now = Record(compared(left.record, found), 0)
        candidates = newer.candidates(left.record, now)
        open_ones = {one.path: now.entries[one.path] for one in candidates if one.path in now.entries}
        now = Record(compared(base.record, open_ones), 0)
        return tuple(newer.newer(base.record, now, candidates, base.head.roots))

    def forget(self) -> None:
        try:
            if os.path.lexists(self._path):
                effects.unlink(str(self._path))
        except OSError as error:
            raise files.outside(error, str(self._path)) from None

    def _walk(self, roots: Sequence[Subject]) -> dict[str, Entry]:
        try:
            return walk(roots, leave_out=[self._state])
        except OSError as error:
            raise files.outside(error, clean(os.fsdecode(error.filename or b""))) from None


def keep(state: str, found: Sequence[Change], run: str) -> Kept:
    """Copy what is there of these paths, and say what is kept of that run altogether: a restore may have been killed.

    Nothing of the image is changed. Raises OutsideError.
    """
    folder = f"{state}/kept/{re.sub(r'[^0-9A-Za-z]', '_', run)[:64]}"
    there = [one.path for one in found if one.kind != "gone"]
    for path in there:
        try:
            _copy(path, folder)
        except OSError as error:
            message = f"what was made since the apply cannot be copied to {clean(folder)}: {error.strerror or error}"
            hint = "make room, or move it away yourself; nothing was given back"
            raise OutsideError("not-kept", message, where=clean(path), hint=hint) from None
    try:
        kept = [
            path.removeprefix(folder) for path, one in walk([Subject("also", folder)]).items() if one.kind != "folder"
        ]
    except OSError as error:
        raise files.outside(error, folder) from None
    paths = tuple(map(clean, sorted({*there, *kept})))
    return Kept(clean(folder), paths) if paths else Kept()


def _copy(path: str, folder: str) -> None:
    entry = look(path)
    if entry is None or entry.kind not in {"file", "link"}:
        return  # a socket, pipe or device holds nothing
    target = folder + path
    number = 0
    while (there := look(target)) is not None:
        if _is_same(entry, there):
            return
        number += 1
        target = f"{folder}{path}.{number}"
    for parent in reversed(Path(target).parents):
        if not parent.is_dir():
            effects.mkdir(os.fsencode(parent), 0o700)
    if entry.target is not None:
        effects.link(bytes_of(target), bytes_of(entry.target))
        return
    source = copying.open_file(path)
    try:

        def fill(handle: int) -> None:
            copying.copy(source, handle)
            os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns))

        mode = entry.mode & 0o777 | stat.S_IRUSR | stat.S_IWUSR
        effects.write(bytes_of(target), (), mode, before_rename=fill)
    finally:
        os.close(source)


def _is_same(entry: Entry, there: Entry) -> bool:
    if (entry.kind, entry.size, entry.target) != (there.kind, there.size, there.target):
        return False
    return entry.kind == "link" or copying.digest_of(entry.path) == copying.digest_of(there.path)


def compared(before: Record, found: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries of `found`, with digests where the stat alone does not prove that a file is the one of `before`.

    Raises OSError.
    """
    entries = dict(found)
    for path, entry in found.items():
        old = before.entries.get(path)
        if old is None or (old == entry and not is_young(old, before.since)):  # nearly all of them
            continue
        is_open = old.kind == entry.kind == "file" and old.size == entry.size
        if is_open and not is_untouched(old, entry, before.since):
            entries[path] = entry._replace(sha256=copying.digest_of(path))
    return entries


def _digest(path: str) -> str | None:
    try:
        return copying.digest_of(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise files.outside(error, clean(path)) from None
