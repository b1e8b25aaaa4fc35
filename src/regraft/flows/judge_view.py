"""A commit's tree in a store, as judging looks at it: what the patches touch is read in one go, what they were made on when it is asked for."""

from collections.abc import Iterable, Sequence

from regraft.core.objects import Blob
from regraft.core.patch_text import PatchText
from regraft.core.removal import blob_oid
from regraft.core.tree_view import TreeView
from regraft.core.trees import Tracked
from regraft.flows.ports import GateStore

CONTENT_LIMIT = 64 * 1024 * 1024


class StoreView(TreeView):
    """`touched` are the paths of all patches. Raises OutsideError where their content cannot be read."""

    def __init__(
        self, tracked: Tracked, store: GateStore, touched: Iterable[bytes], texts: Sequence[PatchText]
    ) -> None:
        self._store = store
        self._texts = texts
        self._found: dict[str, bytes] | None = None
        sha256 = any(len(entry.oid) == 64 for entry in tracked.values())
        here = [tracked[path] for path in touched if path in tracked]
        names = [Blob(entry.oid) for entry in here if entry.kind == "blob"]
        self._contents: dict[str, bytes] = {str(oid): data for oid, data in store.each_blob(names)}
        super().__init__(tracked, self._content, self._named, sha256=sha256)

    def _content(self, oid: str) -> bytes:
        if oid not in self._contents:
            self._contents[oid] = self._store.read_blob(Blob(oid), CONTENT_LIMIT)
        return self._contents[oid]

    def _named(self, begin: str) -> bytes | None:
        """All that the patches name is looked up at the first question."""
        if self._found is None:
            self._found = self._store.find_blobs(sorted(self._names()), CONTENT_LIMIT)
        if begin not in self._found:
            self._found |= self._store.find_blobs([begin], CONTENT_LIMIT)
        return self._found.get(begin)

    def _names(self) -> set[str]:
        sections = [section for text in self._texts if not text.problems for section in text.sections]
        names = {name for one in sections for name in (one.old_oid, one.new_oid) if name and name.strip("0")}
        return names | {
            blob_oid(one.hunks, sha256=self.sha256) for one in sections if one.kind == "delete" and one.hunks
        }
