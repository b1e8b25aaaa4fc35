"""What a history is asked about its objects: the part of `flows.ports.HistorySource` that is the same for all of them."""

from collections.abc import Collection, Iterable, Iterator

from regraft.adapters.first_parent import FirstParent
from regraft.adapters.object_reader import ObjectReader
from regraft.core.objects import Tree
from regraft.core.patch_history import Renamed, Version
from regraft.core.trees import Entry


class ObjectReads:
    """Answered by one long-lived reader, and by one more process for what a reader of single objects is slow at."""

    def __init__(self, reader: ObjectReader, first_parent: FirstParent) -> None:
        self._reader = reader
        self._first_parent = first_parent

    def renames(self, pairs: Collection[tuple[Tree, Tree]]) -> dict[tuple[Tree, Tree], tuple[Renamed, ...]]:
        return self._first_parent.renames(pairs)

    def version(self, tree: str, path: bytes) -> Version | None:
        return self._reader.version(tree, path)

    def versions(self, tree: str, paths: Iterable[bytes]) -> dict[bytes, Version]:
        return self._reader.versions(tree, paths)

    def prefetch(self, blobs: Collection[str]) -> None:
        self._reader.prefetch(blobs)

    def folder(self, tree: str, path: bytes) -> str | None:
        return self._reader.folder(tree, path)

    def listing(self, tree: str, prefix: bytes = b"") -> Iterator[Entry]:
        return self._reader.listing(tree, prefix)

    def named(self, tree: str, names: Collection[bytes]) -> Iterator[Entry]:
        return self._first_parent.named(tree, names)

    def blob(self, oid: str) -> bytes | None:
        return self._reader.blob(oid)

    def blob_named(self, prefix: str) -> bytes | None:
        return self._reader.blob_named(prefix)
