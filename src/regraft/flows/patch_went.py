"""What became of a file that a patch deletes or renames, by the commit that took it away: no tree alone can tell."""

import hashlib
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from regraft.core.objects import Tree
from regraft.core.patch_history import Touch, Version
from regraft.core.patch_memo import Recall
from regraft.core.trees import shown
from regraft.core.went import taken_up
from regraft.errors import OutsideError
from regraft.flows.ports import HistorySource

MOST = 2_000  # files of one commit that are looked into

DELETED = "{} deleted it, and its lines went nowhere"
MOVED = "it is not there, and with {} most of its lines came into {}: moved? decide by hand"
UNKNOWN = "it is not there, and where it went with {} cannot be told"
RENAMED = "{} renamed it"


class Went(Struct, frozen=True):
    source: HistorySource
    recall: Recall | None
    engine: bytes

    def told(self, by: Touch, path: bytes, old: Version) -> tuple[bool, str]:
        """Whether a commit deleted the file and put its lines nowhere else; and what is to be said of it."""
        key = hashlib.sha256(b"went\0" + self.engine + msgspec.msgpack.encode((by.commit, path, old.oid))).digest()
        data = self.recall.get(key) if self.recall is not None else None
        if data is not None:
            return msgspec.msgpack.decode(data, type=tuple[bool, str])
        told = self._look(by, old)
        if self.recall is not None and told is not None:
            self.recall.put(key, msgspec.msgpack.encode(told))
        return told or (False, UNKNOWN.format(by.called))

    def _look(self, by: Touch, old: Version) -> tuple[bool, str] | None:
        """None: files are missing, or too many were changed at once."""
        gone = self.source.blob(old.oid)
        parent = self.source.find(by.parents[0]) if by.parents else None
        if gone is None or parent is None:
            return None
        before = self._files(parent.tree)
        after = self._files(by.tree)
        changed = [(one, before.get(one), oid) for one, oid in sorted(after.items()) if before.get(one) != oid]
        if len(changed) > MOST:
            return None
        try:
            self.source.complete({oid for _, *both in changed for oid in both if oid is not None})
        except OutsideError as error:
            if error.code not in ("missing-blobs", "missing-objects"):
                raise
            return None
        place = taken_up(gone, self._contents(changed))
        return (True, DELETED.format(by.called)) if place is None else (False, MOVED.format(by.called, shown(place)))

    def _files(self, tree: Tree) -> dict[bytes, str]:
        return {one.path: one.oid for one in self.source.listing(tree) if one.kind == "blob"}

    def _contents(self, changed: list[tuple[bytes, str | None, str]]) -> Iterator[tuple[bytes, bytes, bytes]]:
        for path, was, oid in changed:
            yield path, (self.source.blob(was) or b"") if was else b"", self.source.blob(oid) or b""
