"""The baseline, copied into the state folder before the first change.

    snapshot/record       what stood at each path: a JSON line each, a head before them, their digest at the end
    snapshot/content/     each file's bytes once, under their sha256

The record is written last, and whole: without one nothing was changed yet.
"""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from regraft.adapters import copying, effects, files
from regraft.adapters.giving_back import GivingBack
from regraft.adapters.tree_walk import walk
from regraft.core.journal import Subject
from regraft.core.tree_record import Entry, Record, clean, escape, is_at_or_below, is_untouched, is_young, unescape
from regraft.errors import OutsideError, RefusedError

SCHEMA = "regraft.snapshot/1"


class Head(Struct, frozen=True):
    schema: str
    since: int
    roots: tuple[Subject, ...]  # as they were found: through no link, and what a link led to as well


class Stored(Struct, frozen=True):
    head: Head
    record: Record


class Snapshot:
    """`flows.ports.Snapshots` in one folder, which lies in the state folder `state`.

    `root` is what `--root` named: nothing outside it is copied or given back.
    """

    def __init__(self, state: Path, root: str | None = None) -> None:
        self._state = str(state)
        self._folder = state / "snapshot"
        self._root = os.path.realpath(root) if root is not None else None
        self._contents = copying.Contents(self._folder / "content")

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
        files.write(self._folder / "record", _encode(stored))
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
            return Record(compared(before, found.entries), found.since)
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
        return GivingBack(stored.record, stored.head.roots, self._contents, self._state).run()

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
            held = os.statvfs(content)
        except OSError as error:
            raise files.outside(error, str(content)) from None
        needed = sum(entry.size for entry in entries.values())
        free = held.f_bavail * held.f_frsize
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
        path = self._folder / "record"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise files.outside(error, str(path)) from None
        try:
            return _decode(data)
        except (ValueError, msgspec.MsgspecError) as error:
            hint = "make the image anew; `regraft restore --forget` drops the note of what was done to it"
            message = f"the list of what was saved is damaged, so nothing was given back: {str(error)[:200]}"
            raise RefusedError("damaged-snapshot", message, where=str(path), hint=hint) from None


def compared(before: Record, found: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries of `found`, with digests where the stat alone does not prove that a file is the one of `before`."""
    entries = {}
    for path, entry in found.items():
        old = before.entries.get(path)
        is_open = old is not None and old.kind == entry.kind == "file" and old.size == entry.size
        if is_open and old is not None and not is_untouched(old, entry, before.since):
            entry = _digested(entry)  # noqa: PLW2901 - the same entry, completed
        entries[path] = entry
    return entries


def _digested(entry: Entry) -> Entry:
    if entry.kind != "file":
        return entry
    return entry._replace(sha256=copying.digest_of(entry.path))


def _covers(root: Subject, path: str) -> bool:
    return is_at_or_below(path, root.path) if root.recursive else path == root.path


def _encode(stored: Stored) -> bytes:
    head = msgspec.json.encode(
        Head(
            stored.head.schema,
            stored.head.since,
            tuple(Subject(one.kind, escape(one.path), one.recursive) for one in stored.head.roots),
        )
    )
    lines = [head]
    for entry in stored.record.entries.values():
        target = None if entry.target is None else escape(entry.target)
        lines.append(msgspec.json.encode(entry._replace(path=escape(entry.path), target=target)))
    body = b"\n".join(lines) + b"\n"
    return body + hashlib.sha256(body).hexdigest().encode() + b"\n"


def _decode(data: bytes) -> Stored:
    body, _, digest = data[:-1].rpartition(b"\n")
    body += b"\n"
    if data[-1:] != b"\n" or hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("it does not have its digest")
    first, *lines = body[:-1].split(b"\n")
    head = msgspec.json.decode(first, type=Head)
    if head.schema != SCHEMA:
        raise ValueError(f"its schema is {head.schema!r:.80}")
    roots = tuple(Subject(one.kind, unescape(one.path), one.recursive) for one in head.roots)
    decoder = msgspec.json.Decoder(Entry)
    entries = {}
    for line in lines:
        entry = decoder.decode(line)
        target = None if entry.target is None else unescape(entry.target)
        entry = entry._replace(path=unescape(entry.path), target=target)
        entries[entry.path] = entry
    return Stored(Head(head.schema, head.since, roots), Record(entries, head.since))


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
