"""Makes what is on the disk what a record says. May be ended at any moment, and run again.

First what is in the way goes, then what is missing comes, from the top down, then folders get their permissions; at last
everything is looked at once more, and what still differs is the answer. A folder is never renamed.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Sequence
from functools import partial

from regraft.adapters import copying, effects
from regraft.adapters.copying import Contents
from regraft.adapters.tree_walk import UNSAVED, Trouble, bytes_of, look, walk
from regraft.core.journal import Subject
from regraft.core.tree_record import (
    Change,
    Entry,
    Record,
    changes,
    clean,
    difference,
    is_at_or_below,
    is_untouched,
    parents,
)

_REASONS = {
    "new": "it was not there before, and cannot be removed",
    "gone": "it was there before, and cannot be made",
    "type": "it was a {kind} before",
    "mode": "its permissions were {mode} before",
    "owner": "it belonged to {owner} before",
    "content": "its content was another",
    "target": "it led elsewhere before",
    "touched": "whether its content is the old one cannot be told",
}
_MADE = {"file", "folder", "link"}
_FULL = {errno.ENOSPC, errno.EDQUOT}


class GivingBack:
    """One run. `leave_out` is the state folder; `bring` makes a folder whose content was not saved, where it can."""

    def __init__(
        self,
        record: Record,
        roots: Sequence[Subject],
        contents: Contents,
        leave_out: str,
        bring: Callable[[Entry], bool],
    ) -> None:
        self._record = record
        self._roots = roots
        self._contents = contents
        self._leave_out = leave_out
        self._bring = bring
        self._reasons: dict[str, str] = {}
        self._opened: set[str] = set()
        self._unsaved = {path for path in record.entries if self._is_unsaved(path)}

    def run(self) -> tuple[str, ...]:
        """What could not be given back, a line each."""
        moved = self._leave_moved_roots()
        found = self._walk()
        gone: set[str] = set()
        for path in sorted(found):
            if gone.isdisjoint(parents(path)) and self._is_in_the_way(path, found[path]):
                self._try(path, partial(self._remove, path))
                gone.add(path)
        for path, old in sorted(self._record.entries.items()):
            self._try(path, partial(self._make, old))
        for path, old in sorted(self._record.entries.items(), reverse=True):
            if old.kind == "folder":
                self._try(path, partial(self._finish_folder, old))
        return (*moved, *(self._line(change) for change in changes(self._record, self._look_again())))

    def _leave_moved_roots(self) -> tuple[str, ...]:
        """Nothing is written through a link that came to stand above a root since."""
        moved = [root for root in self._roots if not _leads_straight(root.path)]
        if not moved:
            return ()
        self._roots = [root for root in self._roots if root not in moved]
        kept = {
            path: entry
            for path, entry in self._record.entries.items()
            if not any(is_at_or_below(path, root.path) for root in moved)
        }
        self._record = Record(kept, self._record.since)
        return tuple(f"{clean(root.path)}: a folder above it is a link now, which is not followed" for root in moved)

    def _walk(self) -> dict[str, Entry]:
        """What is there. A folder that its owner may not read is opened; its old permissions come back at the end."""
        closed: list[str] = []

        def trouble(path: str, error: OSError) -> None:
            self._reasons[path] = error.strerror or str(error)
            closed.append(path)

        found = self._walk_once(trouble)
        for path in closed:
            self._open_folder(path)
        return self._walk_once(_pass) if closed else found

    def _walk_once(self, trouble: Trouble) -> dict[str, Entry]:
        """A repository may have lost the files by which it is known: what was not saved of it is not ours to remove."""
        return walk(self._roots, leave_out=[self._leave_out], closed=self._unsaved, trouble=trouble)

    def _is_in_the_way(self, path: str, found: Entry) -> bool:
        """A file or link that becomes a file or link again is replaced in one step, and not removed before."""
        old = self._record.entries.get(path)
        if old is None:
            return True
        if old.kind == found.kind or old.kind not in _MADE:
            return False
        if old.kind != "folder" and found.kind != "folder":
            return False
        return old.kind != "file" or self._has_copy(old)

    def _remove(self, path: str) -> None:
        self._in_folder(path, lambda: effects.remove_tree(bytes_of(path)))

    def _make(self, old: Entry) -> None:
        now = look(old.path)
        if now is not None and now.kind == old.kind:
            self._mend(old, now)
        elif old.kind == "folder":
            self._make_folder(old)
        elif old.kind == "file":
            if now is None or now.kind != "folder":
                self._write(old)
        elif old.kind == "link":
            if now is None or now.kind != "folder":
                self._link(old)
        else:
            self._reasons[old.path] = f"a {old.kind} is not made again"

    def _mend(self, old: Entry, now: Entry) -> None:
        """Of the same kind already."""
        if old.kind == "file" and not is_untouched(old, now, self._record.since):
            if old.size == now.size:
                with contextlib.suppress(OSError):
                    now = now._replace(sha256=copying.digest_of(old.path))
            if now.sha256 != old.sha256:
                self._write(old)
                return
        kind = difference(old, now, self._record.since)
        if kind == "target":
            self._link(old)
        elif kind in {"mode", "owner"}:
            _own(old, now)
            if old.kind not in {"link", "folder"}:
                _set_mode(old)

    def _make_folder(self, old: Entry) -> None:
        place = bytes_of(old.path)
        if old.path in self._unsaved:
            if not self._bring(old):
                self._reasons[old.path] = "what was in it was not saved"
            return
        missing = [one for one in parents(old.path) if not os.path.lexists(bytes_of(one))]
        for one in reversed(missing):
            self._in_folder(one, partial(effects.mkdir, bytes_of(one)))
        self._in_folder(old.path, lambda: effects.mkdir(place, old.mode | stat.S_IRWXU))
        self._opened.add(old.path)

    def _is_unsaved(self, path: str) -> bool:
        parent, _, name = path.rpartition("/")
        is_repository = f"{parent}/HEAD" in self._record.entries and f"{parent}/refs" in self._record.entries
        return is_repository and bytes_of(name) in UNSAVED

    def _finish_folder(self, old: Entry) -> None:
        now = look(old.path)
        if now is not None and now.kind == "folder" and (now.mode, now.uid, now.gid) != (old.mode, old.uid, old.gid):
            _own(old, now)
            _set_mode(old)

    def _write(self, old: Entry) -> None:
        if not self._has_copy(old):
            return

        def fill(handle: int) -> None:
            self._contents.take_out(str(old.sha256), handle)
            with contextlib.suppress(PermissionError):
                os.fchown(handle, old.uid, old.gid)
            os.fchmod(handle, old.mode)  # after the owner: changing that takes set-user-id away
            # The old time, so that byte code that was made of this very content counts again.
            os.utime(handle, ns=(old.mtime_ns, old.mtime_ns))

        try:
            self._in_folder(old.path, lambda: effects.write(bytes_of(old.path), (), old.mode, before_rename=fill))
        except OSError as error:
            if error.errno not in _FULL or not self._hand_over(old):
                raise

    def _hand_over(self, old: Entry) -> bool:
        """Owner and mode come last: until then whoever restores again can read the copy."""
        if not self._contents.hand_over(str(old.sha256), old.path, (old.mtime_ns, old.mtime_ns)):
            return False
        now = look(old.path)
        if now is not None:
            _own(old, now)
            _set_mode(old)
        return True

    def _link(self, old: Entry) -> None:
        self._in_folder(old.path, lambda: effects.link(bytes_of(old.path), bytes_of(str(old.target))))
        with contextlib.suppress(PermissionError):
            os.chown(bytes_of(old.path), old.uid, old.gid, follow_symlinks=False)

    def _has_copy(self, old: Entry) -> bool:
        if old.sha256 is not None and self._contents.is_good(old.sha256):
            return True
        self._reasons[old.path] = "its copy in the snapshot is missing or damaged"
        return False

    def _in_folder(self, path: str, act: Callable[[], None]) -> None:
        """Act in a folder, which is made writable for that where it is ours and is not."""
        try:
            act()
        except PermissionError:
            if not self._open_folder(os.path.dirname(path)):
                raise
            act()

    def _open_folder(self, path: str) -> bool:
        now = look(path)
        if now is None or now.kind != "folder" or path in self._opened or path not in self._record.entries:
            return False
        with contextlib.suppress(OSError):
            effects.chmod(bytes_of(path), now.mode | stat.S_IRWXU)
            self._opened.add(path)
            return True
        return False

    def _try(self, path: str, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError as error:
            self._reasons[path] = error.strerror or str(error)

    def _look_again(self) -> Record:
        found: dict[str, Entry] = {}
        for path, entry in self._walk_once(_pass).items():
            old = self._record.entries.get(path)
            if (
                old is not None
                and old.kind == entry.kind == "file"
                and not is_untouched(old, entry, self._record.since)
            ):
                with contextlib.suppress(OSError):
                    entry = entry._replace(sha256=copying.digest_of(path))  # noqa: PLW2901 - the same, completed
            found[path] = entry
        return Record(found, self._record.since)

    def _line(self, change: Change) -> str:
        old = self._record.entries.get(change.path)
        text = _REASONS[change.kind]
        if old is not None:
            text = text.format(kind=old.kind, mode=f"{old.mode:04o}", owner=f"{old.uid}:{old.gid}")
        reason = self._reasons.get(change.path)
        return f"{clean(change.path)}: {text}" + (f": {reason}" if reason else "")


def _pass(path: str, error: OSError) -> None:
    """What cannot be looked at is not there, and so will be named."""


def _leads_straight(path: str) -> bool:
    parent = os.path.dirname(path)
    return os.path.realpath(parent) == parent


def _own(old: Entry, now: Entry) -> None:
    if (old.uid, old.gid) != (now.uid, now.gid):
        with contextlib.suppress(PermissionError), effects.effect("chown"):
            os.chown(bytes_of(old.path), old.uid, old.gid, follow_symlinks=False)


def _set_mode(old: Entry) -> None:
    now = look(old.path)
    if now is not None and now.mode != old.mode:
        effects.chmod(bytes_of(old.path), old.mode)
