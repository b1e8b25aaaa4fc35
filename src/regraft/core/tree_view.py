"""A tree that patches are judged on: which entries it has, and what they hold. An overlay holds what patches made of it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from regraft.core.checkout_tree import object_hash
from regraft.core.trees import EXECUTABLE, FILE, LINK, SUBMODULE, Entry, shown

LINK_LIMIT = 64 * 1024
_KINDS = {LINK: "symbolic link", SUBMODULE: "submodule"}
_SUBPROJECT = b"Subproject commit "


class Made(Struct, frozen=True):
    """A file as a patch leaves it. The content of a submodule is the line that git's diffs show of it."""

    mode: str
    content: bytes


class View(Protocol):
    """What judging needs of a tree. Paths are bytes from its root; folders are no entries."""

    @property
    def sha256(self) -> bool:
        """Whether its objects have sha256 names."""

    def entry(self, path: bytes) -> Entry | None:
        """What stands at a path."""

    def content(self, entry: Entry) -> bytes:
        """The bytes of an entry (of a submodule the line that git's diffs show). OutsideError where they are not here."""

    def blob(self, oid: str) -> bytes | None:
        """The blob of that name, or the only one whose name begins so; None where it is not here."""

    def is_folder(self, path: bytes) -> bool:
        """Whether entries stand below a path."""

    def paths(self) -> Iterable[bytes]:
        """Every path. Asked for hints only."""


class TreeView:
    """A tree of which all entries are listed. `read` gives a blob by its full name, `blob` by the beginning of one."""

    def __init__(
        self,
        entries: Mapping[bytes, Entry],
        read: Callable[[str], bytes],
        blob: Callable[[str], bytes | None] = lambda _: None,
        *,
        sha256: bool = False,
    ) -> None:
        self._entries = entries
        self._read = read
        self._blob = blob
        self._folders: frozenset[bytes] | None = None
        self.sha256 = sha256

    def entry(self, path: bytes) -> Entry | None:
        return self._entries.get(path)

    def content(self, entry: Entry) -> bytes:
        return subproject(entry.oid) if entry.kind == "commit" else self._read(entry.oid)

    def blob(self, oid: str) -> bytes | None:
        return self._blob(oid)

    def is_folder(self, path: bytes) -> bool:
        if self._folders is None:
            parents = {path.rpartition(b"/")[0] for path in self._entries}
            above: set[bytes] = set()
            for parent in parents:
                folder = parent
                while folder and folder not in above:
                    above.add(folder)
                    folder = folder.rpartition(b"/")[0]
            self._folders = frozenset(above)
        return path in self._folders

    def paths(self) -> Iterable[bytes]:
        return self._entries.keys()


class Overlay:
    """Another view, and what patches made of it: None where they took a file away. `made` is theirs alone."""

    def __init__(self, under: View) -> None:
        self.under = under
        self.made: dict[bytes, Made | None] = {}
        self.sha256 = under.sha256

    def put(self, results: Mapping[bytes, Made | None]) -> None:
        self.made.update(results)

    def entry(self, path: bytes) -> Entry | None:
        if path not in self.made:
            return self.under.entry(path)
        made = self.made[path]
        return None if made is None else made_entry(path, made)

    def content(self, entry: Entry) -> bytes:
        made = self.made.get(entry.path)
        return self.under.content(entry) if made is None else made.content

    def blob(self, oid: str) -> bytes | None:
        return self.under.blob(oid)

    def is_folder(self, path: bytes) -> bool:
        below = path + b"/"
        if any(made is not None and other.startswith(below) for other, made in self.made.items()):
            return True
        if not self.under.is_folder(path):
            return False
        gone = {other for other, made in self.made.items() if made is None and other.startswith(below)}
        return not gone or any(other.startswith(below) and other not in gone for other in self.under.paths())

    def paths(self) -> Iterable[bytes]:
        yield from (path for path in self.under.paths() if path not in self.made)
        yield from (path for path, made in self.made.items() if made is not None)


def made_entry(path: bytes, made: Made) -> Entry:
    """An entry for what a patch made. Its name is "" until it is asked for (`oid_of`)."""
    if made.mode == SUBMODULE:
        oid = made.content.removeprefix(_SUBPROJECT).strip().decode("ascii", "replace")
        return Entry(SUBMODULE, "commit", oid, path)
    return Entry(made.mode, "blob", "", path)


def oid_of(view: View, entry: Entry) -> str:
    """The full name of what an entry holds."""
    if entry.oid:
        return entry.oid
    content = view.content(entry)
    return object_hash("blob", len(content), [content], sha256=view.sha256).hex()


def subproject(oid: str) -> bytes:
    return _SUBPROJECT + oid.encode("ascii") + b"\n"


def canonical(mode: str) -> str:
    """A mode as git's index keeps it."""
    bits = int(mode, 8)
    if bits & 0o170000 in (0o120000, 0o160000):
        return LINK if bits & 0o170000 == 0o120000 else SUBMODULE
    return EXECUTABLE if bits & 0o100 else FILE


def odd(mode: str | None) -> bool:
    """Whether no entry has a mode of this type."""
    return mode is not None and int(mode, 8) & 0o170000 not in (0o100000, 0o120000, 0o160000)


def kind_of(mode: str) -> str:
    return _KINDS.get(mode, "file")


def occupied(path: bytes, view: View, vacated: frozenset[bytes] = frozenset()) -> str | None:
    """What stands at an absent path, or above it, instead of a file. `vacated` are paths that the same patch takes away."""
    if view.is_folder(path) and not (vacated and _emptied(path, view, vacated)):
        return "is a folder now"
    parts = path.split(b"/")
    for length in range(1, len(parts)):
        above = view.entry(b"/".join(parts[:length]))
        if above is not None and above.path not in vacated:
            return f"is not there: {shown(above.path)} is a {kind_of(above.mode)} now"
    return None


def _emptied(path: bytes, view: View, vacated: frozenset[bytes]) -> bool:
    return all(other in vacated for other in view.paths() if other.startswith(path + b"/"))
