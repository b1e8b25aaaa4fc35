"""A checkout that was moved away, and a link left in its place: its objects, which no snapshot has, are still there.

    snapshot/moved-DIGEST         a link to where the link led, by the digest of the root's path

They are brought back as further names of the same files; the folder that was moved is left as it is.
"""

import hashlib
import os
import stat
from collections.abc import Sequence

from regraft.adapters import effects
from regraft.adapters.record_file import Stored
from regraft.adapters.tree_walk import bytes_of, look
from regraft.core.journal import Subject
from regraft.core.tree_record import Entry, is_at_or_below


class Moved:
    """Made before anything is given back: the links are gone afterwards. What lies outside of `top` is not taken."""

    def __init__(self, stored: Stored, folder: str, top: str | None) -> None:
        self._folder = folder
        self._top = top
        self._places = {root.path: place for root in _folders(stored) if (place := self._place(root.path)) is not None}

    def bring(self, old: Entry) -> bool:
        """Make a folder out of the one that was moved, whole or not at all; False where there is none. Raises OSError."""
        for root, place in self._places.items():
            source = bytes_of(place + old.path[len(root) :])
            if is_at_or_below(old.path, root) and os.path.isdir(source):
                temporary = effects.temporary_name(bytes_of(old.path))
                _names(source, temporary)
                effects.rename(temporary, bytes_of(old.path))
                return True
        return False

    def _place(self, root: str) -> str | None:
        """Where a root went, by the link in its place or by the note of one: a restore may have been killed."""
        note = f"{self._folder}/moved-{hashlib.sha256(bytes_of(root)).hexdigest()[:16]}"
        try:
            if os.path.islink(bytes_of(root)):
                effects.link(note, os.path.realpath(bytes_of(root)))
            place = os.readlink(note)
        except OSError:
            return None
        return place if self._top is None or is_at_or_below(os.path.realpath(place), self._top) else None


def _folders(stored: Stored) -> Sequence[Subject]:
    entries = stored.record.entries
    return [one for one in stored.head.roots if (old := entries.get(one.path)) and old.kind == "folder"]


def _names(source: bytes, target: bytes) -> None:
    """The folder, with every regular file in it by a second name. Links and whatever else are left out."""
    found = look(os.fsdecode(source))
    effects.mkdir(target, (found.mode if found else 0o755) | stat.S_IRWXU)
    with os.scandir(source) as scan:
        entries = list(scan)
    for one in entries:
        place = os.path.join(target, one.name)
        if one.is_dir(follow_symlinks=False):
            _names(one.path, place)
        elif one.is_file(follow_symlinks=False):
            effects.second_name(one.path, place)
