"""A tree of which only what patches can touch is known: what history is judged on, where no whole tree is ever listed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from regraft.core.patch_history import Version, View
from regraft.core.tree_view import subproject
from regraft.core.trees import SUBMODULE, Entry
from regraft.errors import OutsideError


class Blobs(Protocol):
    def blob(self, oid: str, /) -> bytes | None: ...
    def blob_named(self, prefix: str, /) -> bytes | None: ...


class HistoryView:
    """`core.tree_view.View` over some paths. `known` has the wanted ones that are there, and besides them

    whatever stands above or below an absent one, and files anywhere that hold what a patch deletes.
    `listing` gives the tree's entries, or those that are called like a wanted one, where hints are wanted at all. `missed` are blobs that were looked for in vain.
    """

    sha256 = False

    def __init__(
        self,
        known: View,
        wanted: frozenset[bytes],
        blobs: Blobs,
        listing: Callable[[], Mapping[bytes, Entry]] | None = None,
    ) -> None:
        self.known = known
        self.wanted = wanted
        self._blobs = blobs
        self._listing = listing
        self.missed: set[str] = set()
        self.extras = frozenset(item for item in known.items() if item[0] not in wanted)

    @property
    def hints(self) -> bool:
        return self._listing is not None

    def entry(self, path: bytes) -> Entry | None:
        found = self.known.get(path)
        if found is None:
            return self._listing().get(path) if self._listing is not None and path not in self.wanted else None
        return Entry(found.mode, "commit" if found.mode == SUBMODULE else "blob", found.oid, path)

    def content(self, entry: Entry) -> bytes:
        if entry.kind == "commit":
            return subproject(entry.oid)
        found = self._blobs.blob(entry.oid)
        if found is None:
            hint = "fetch it first (a clone without blobs lacks it)"
            raise OutsideError("missing-objects", f"cannot decide: blob missing ({entry.oid})", hint=hint)
        return found

    def blob(self, oid: str) -> bytes | None:
        found = self._blobs.blob_named(oid)
        if found is None:
            self.missed.add(oid)
        return found

    def is_folder(self, path: bytes) -> bool:
        below = path + b"/"
        return any(other.startswith(below) for other, _ in self.extras)

    def paths(self) -> Iterable[bytes]:
        """In order: what is found first is named, and that must not depend on how a set is laid out."""
        return sorted(self.known if self._listing is None else self.known.keys() | self._listing().keys())


class Tree(Protocol):
    """What the tip's tree is asked for."""

    def version(self, tree: str, path: bytes, /) -> Version | None: ...
    def versions(self, tree: str, paths: Iterable[bytes], /) -> dict[bytes, Version]: ...
    def folder(self, tree: str, path: bytes, /) -> str | None: ...
    def listing(self, tree: str, prefix: bytes = b"", /) -> Iterator[Entry]: ...


def known_at(tree: str, wanted: Iterable[bytes], deleted: frozenset[str], objects: Tree) -> dict[bytes, Version]:
    """What a `HistoryView` must know of a tree. `deleted`: names of blobs, or beginnings of them, that patches delete."""
    paths = tuple(wanted)
    known = objects.versions(tree, paths)
    for path in [path for path in paths if path not in known]:
        inside = objects.folder(tree, path)
        if inside is not None:
            known.update((one.path, Version(one.mode, one.oid)) for one in objects.listing(inside, path + b"/"))
        at = path.rfind(b"/")
        while at > 0:
            above = objects.version(tree, path[:at])
            if above is not None:
                known[path[:at]] = above
            at = path.rfind(b"/", 0, at)
    if deleted:
        beginnings = tuple(deleted)
        known.update(
            (one.path, Version(one.mode, one.oid)) for one in objects.listing(tree) if one.oid.startswith(beginnings)
        )
    return known
