"""The baseline, copied into the state folder before the first change.

    snapshot/record       what stood at each path: a JSON line each, a head before them, their digest at the end
    snapshot/content/     each file's bytes once, under their sha256
    snapshot/left         what stood there when the apply had come to its end (adapters.newer)

The record is written last, and whole: without one nothing was changed yet.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from regraft.adapters import copying, effects, files, held, moved, newer, record_file
from regraft.adapters.giving_back import GivingBack
from regraft.adapters.record_file import SCHEMA, Head, Stored
from regraft.adapters.tree_walk import walk
from regraft.core.journal import Subject
from regraft.core.restored import Kept
from regraft.core.tree_record import Change, Entry, Record, clean, is_at_or_below, is_young
from regraft.errors import OutsideError, RefusedError


class Snapshot:
    """`flows.ports.Snapshots` in one folder, which lies in the state folder `state`.

    `root` is what `--root` named: nothing outside it is copied or given back.
    """

    def __init__(self, state: Path, root: str | None = None) -> None:
        self._state = str(state)
        self._folder = state / "snapshot"
        self._root = os.path.realpath(root) if root is not None else None
        self._contents = copying.Contents(self._folder / "content")
        self._left = newer.Left(self._state)

    def take(self, subjects: Sequence[Subject]) -> Record:
        old = self._load()
        known = old.head.roots if old else ()
        roots = [one for one in self._roots(subjects) if one not in known]
        since = time.time_ns()
        try:
            found = walk(roots, leave_out=[self._state])
        except OSError as error:
            raise files.outside(error, clean(os.fsdecode(error.filename or b""))) from None
        fresh = {path: entry for path, entry in found.items() if not any(_covers(one, path) for one in known)}
        self._check_space(fresh)
        saved = self._save(fresh)
        entries = {**old.record.entries, **saved} if old else saved
        stored = Stored(Head(SCHEMA, old.head.since if old else since, (*known, *roots)), Record(entries, 0))
        os.sync()  # the copies are on the disk before the record says that they are
        files.write(self._folder / "record", record_file.encode(stored))
        return Record(entries, stored.head.since)

    def scan(self, subjects: Sequence[Subject], *, content: bool) -> Record:
        since = time.time_ns()
        try:
            found = walk(self._roots(subjects), leave_out=[self._state])
            # Of a file as young as that, no later stat can prove that it is the same.
            asked = {path: _digested(one) for path, one in found.items() if content or is_young(one, since)}
            return Record({**found, **asked}, since)
        except OSError as error:
            raise files.outside(error, clean(os.fsdecode(error.filename or b""))) from None

    def changed_since(self, before: Record, subjects: Sequence[Subject]) -> Record:
        found = self.scan(subjects, content=False)
        try:
            return Record(newer.compared(before, found.entries), found.since)
        except OSError as error:
            raise files.outside(error, clean(os.fsdecode(error.filename or b""))) from None

    def hold(self, subjects: Sequence[Subject]) -> Callable[[], tuple[str, ...]]:
        """An open folder keeps its identity, also on a file system that makes inodes up as they are asked for."""
        try:
            return held.hold([one.path for one in self._roots(subjects)])
        except OSError as error:
            raise files.outside(error, clean(os.fsdecode(error.filename or b""))) from None

    def give_back(self) -> tuple[str, ...]:
        stored = self._load()
        if stored is None:
            raise RefusedError(
                "no-snapshot",
                "there is no copy of the baseline, so nothing can be given back",
                where=self._state,
                hint="make the image anew; `regraft restore --forget` drops the note of what was done to it",
            )
        self._check_inside(stored)
        gone = moved.Moved(stored, str(self._folder), self._root)
        named = GivingBack(stored.record, stored.head.roots, self._contents, self._state, gone.bring).run()
        if not named:
            self._left.forget()
        return named

    def note(self) -> None:
        stored = self._load()
        if stored is not None:
            self._left.note(stored)

    def newer(self) -> tuple[Change, ...] | None:
        stored = self._load()
        if stored is None:
            return None
        self._check_inside(stored)
        return self._left.newer(stored)

    def keep(self, found: Sequence[Change], run: str) -> Kept:
        return newer.keep(self._state, found, run)

    def _check_inside(self, stored: "Stored") -> None:
        """An install ran as this user, and may have written in the record: what it names is looked at again."""
        roots = stored.head.roots
        top = self._root
        outside = any(one.path == "/" or (top is not None and not is_at_or_below(one.path, top)) for one in roots)
        if outside or not all(any(_covers(one, path) for one in roots) for path in stored.record.entries):
            raise RefusedError(
                "not-guarded",
                "the record of the snapshot names places that no apply here has recorded: it was written by somebody else",
                where=self._state,
                hint="make the image anew; `regraft restore --forget` drops the note of what was done to it",
            )

    def exists(self) -> bool:
        return (self._folder / "record").exists()

    def _roots(self, subjects: Sequence[Subject]) -> list[Subject]:
        """The subjects by the paths that lead through no link, and what a subject that is a link itself leads to."""
        found: dict[Subject, None] = {}
        for subject in subjects:
            parent, name = os.path.split(os.path.abspath(subject.path))
            path = os.path.join(os.path.realpath(parent), name)
            places = [path, os.path.realpath(path)] if os.path.islink(path) else [path]
            for place in places:
                if place == "/" or (self._root is not None and not is_at_or_below(place, self._root)):
                    reason = (
                        "it is the whole machine"
                        if place == "/"
                        else f"it leads to {clean(place)!r:.200}, outside the root"
                    )
                    raise RefusedError("not-guarded", f"this cannot be saved: {reason}", where=clean(subject.path))
                found[Subject(subject.kind, place, subject.recursive)] = None
        return list(found)

    def _check_space(self, entries: dict[str, Entry]) -> None:
        content = self._folder / "content"
        try:
            for folder in (self._folder, content):
                if not folder.is_dir():
                    effects.mkdir(str(folder), 0o700)
            space = os.statvfs(content)
        except OSError as error:
            raise files.outside(error, str(content)) from None
        needed = sum(entry.size for entry in entries.values())
        free = space.f_bavail * space.f_frsize
        largest = max((one for one in entries.values() if one.kind == "file"), key=lambda one: one.size, default=None)
        if needed > free and largest is not None and not copying.can_clone(largest.path, content):
            raise OutsideError(
                "disk-full",
                f"the copy of the baseline needs {_size(needed)}, and {_size(free)} is free",
                where=str(self._folder),
                hint="free some space, name another place in REGRAFT_STATE, or use --no-snapshot where the image is thrown away",
            )

    def _save(self, entries: dict[str, Entry]) -> dict[str, Entry]:
        saved = {}
        for path, entry in entries.items():
            if entry.kind != "file":
                saved[path] = entry
                continue
            try:
                saved[path] = self._contents.put(path)
            except FileNotFoundError:
                continue
            except copying.ChangingError:
                message = "somebody writes this file while it is copied; nothing was changed"
                raise OutsideError(
                    "not-saved", message, where=clean(path), hint="end who does, then run again"
                ) from None
            except OSError as error:
                raise files.outside(error, clean(path)) from None
        return saved

    def _load(self) -> Stored | None:
        return record_file.read(self._folder / "record")


def _digested(entry: Entry) -> Entry:
    if entry.kind != "file":
        return entry
    return entry._replace(sha256=copying.digest_of(entry.path))


def _covers(root: Subject, path: str) -> bool:
    return is_at_or_below(path, root.path) if root.recursive else path == root.path


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
