"""The files of a checkout, compared with a tree in raw bytes."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters import disk
from regraft.adapters.checkout_objects import CheckoutObjects, Expected
from regraft.adapters.disk import Disk
from regraft.adapters.git_folder import Found
from regraft.core.checkout_tree import (
    Entry,
    Odd,
    clean_text,
    compare,
    object_hash,
    pointer,
    stored_form,
)
from regraft.core.objects import Commit
from regraft.core.observation import Difference, Extra
from regraft.core.trees import EXECUTABLE, FILE, SUBMODULE

DEPTH = 8  # of submodules in submodules
FILTER_LIMIT = 64 * 1024 * 1024  # bytes of a file that is tried with a filter

_FILES = (FILE, EXECUTABLE)


class Compared(Struct, frozen=True):
    """`stored` are the entries that git would make of what is on the disk, for the expected paths.

    `tracked` are the expected paths, and those inside submodules.
    """

    differences: tuple[Difference, ...]
    extras: tuple[Extra, ...]
    stored: dict[str, Entry]
    tracked: frozenset[str] = frozenset()


class Content:
    """`open_repository` gives the repository of a submodule, and its objects."""

    def __init__(
        self,
        place: Path,
        objects: CheckoutObjects,
        open_repository: Callable[[Path], tuple[Found, CheckoutObjects]],
        depth: int = 0,
    ) -> None:
        self._place = place
        self._objects = objects
        self._open = open_repository
        self._depth = depth

    def compare(self, expected: Expected, tracked: Mapping[str, Entry] | None) -> Compared:
        """`tracked` are the entries of the machine's HEAD: what of them the expected tree has not was left over."""
        submodules = frozenset(path for path, entry in expected.entries.items() if entry.mode == SUBMODULE)
        there = disk.walk(self._place, submodules)
        known = frozenset(there.files) | there.folders
        found: dict[str, Entry | Odd] = {}
        for path in expected.entries:
            one = self._at(path, there, submodule=path in submodules, sha256=expected.sha256) if path in known else None
            if one is not None:
                found[path] = one
        filtered = self._filtered(expected, found)
        differences = [
            replace(one, kind="filter", detail=filtered[one.path]) if one.path in filtered else one
            for one in compare(expected.entries, found)
        ]
        extras = self._extras(expected, tracked or {}, [path for path in there.files if path not in expected.entries])
        tracked_paths = set(map(clean_text, expected.entries))
        for path in submodules:
            if found.get(path) == expected.entries[path]:
                inner = self._inside(path, expected.entries[path])
                differences += inner.differences
                extras += inner.extras
                tracked_paths |= inner.tracked
        stored = _stored(expected, found, filtered)
        return Compared(tuple(differences), tuple(extras), stored, frozenset(tracked_paths))

    def all_files(self, *, sha256: bool) -> tuple[dict[str, Entry], tuple[Extra, ...]]:
        """The entries that git would make of all files which the checkout's own `.gitignore` files do not name."""
        there = disk.walk(self._place, self._nested(disk.walk(self._place)))
        stored: dict[str, Entry] = {}
        ignored = self._objects.ignored(there.files, None, self._place)
        for path in there.files:
            one = disk.entry_at(self._place / path, sha256=sha256) if path not in ignored else None
            if isinstance(one, Entry):
                stored[path] = one
        for path in there.nested:
            one = self._submodule(path)
            if isinstance(one, Entry):
                stored[path] = one
        return stored, tuple(Extra(clean_text(path), "ignored") for path in sorted(ignored))

    def tracked(self, stored: Mapping[str, Entry]) -> frozenset[str]:
        """The clean paths of `all_files`, with what the repositories inside track."""
        paths = set(map(clean_text, stored))
        for path, entry in stored.items():
            if entry.mode == SUBMODULE:
                _, objects = self._open(self._place / path)
                paths |= {clean_text(f"{path}/{inner}") for inner in objects.entries(Commit(entry.hash)) or ()}
        return frozenset(paths)

    def _nested(self, there: Disk) -> frozenset[str]:
        """The outermost folders that are repositories of their own."""
        return frozenset(
            path for path in there.nested if not any(path.startswith(f"{other}/") for other in there.nested)
        )

    def _at(self, path: str, there: Disk, *, submodule: bool, sha256: bool) -> Entry | Odd | None:
        if not submodule or path not in there.folders:
            return disk.entry_at(self._place / path, sha256=sha256)
        return self._submodule(path)

    def _submodule(self, path: str) -> Entry | Odd | None:
        """A submodule's HEAD. None where its folder is empty: git leaves it so where it does not check one out."""
        if not any((self._place / path).iterdir()):
            return None
        repository, _ = self._open(self._place / path)
        head = repository.git.head() if repository.git else None
        if head is None:
            return Odd(f"and its commit cannot be read: {repository.trouble or 'HEAD names none'}", readable=False)
        return Entry(SUBMODULE, head)

    def _inside(self, path: str, entry: Entry) -> Compared:
        """What differs inside a submodule that is at its commit."""
        place = self._place / path
        _, objects = self._open(place)
        expected = objects.expect(Commit(entry.hash), ()) if self._depth < DEPTH else None
        if expected is None:
            detail = "its objects are not at hand: its files could not be compared"
            return Compared((Difference(clean_text(path), "unreadable", detail),), (), {})
        inner = Content(place, objects, self._open, self._depth + 1).compare(expected, None)
        prefix = clean_text(path)
        return replace(
            inner,
            differences=tuple(replace(one, path=f"{prefix}/{one.path}") for one in inner.differences),
            extras=tuple(replace(one, path=f"{prefix}/{one.path}") for one in inner.extras),
            tracked=frozenset(f"{prefix}/{one}" for one in inner.tracked),
        )

    def _extras(self, expected: Expected, tracked: Mapping[str, Entry], paths: Sequence[str]) -> list[Extra]:
        ignored = self._objects.ignored([path for path in paths if path not in tracked], expected, self._place)
        return [
            Extra(clean_text(path), "left-over" if path in tracked else "ignored" if path in ignored else "untracked")
            for path in paths
        ]

    def _filtered(self, expected: Expected, found: Mapping[str, Entry | Odd]) -> dict[str, str]:
        """Clean path -> which filter of git's makes the expected blob of the file that is there."""
        changed = [path for path, entry in expected.entries.items() if _content_differs(entry, found.get(path))]
        if not changed:
            return {}
        attributes = self._objects.attributes(expected, changed)
        explained = {}
        for path in changed:
            why = self._why(path, expected, attributes.get(path, {}))
            if why is not None:
                explained[clean_text(path)] = why
        return explained

    def _why(self, path: str, expected: Expected, attributes: Mapping[str, str]) -> str | None:
        wanted = expected.entries[path].hash
        if attributes.get("filter") == "lfs":
            data = self._objects.blob(wanted)
            meant = pointer(data) if data is not None and len(data) < 2048 else None
            if meant is not None and _sha256(self._place / path) == meant:
                return "the content that the git-lfs pointer in the tree stands for"
        raw = disk.read(self._place / path, FILTER_LIMIT)
        stored = stored_form(raw, attributes) if raw is not None else None
        if stored is None or object_hash("blob", len(stored), [stored], sha256=expected.sha256).hex() != wanted:
            return None
        asked = [f"{name}={value}" for name, value in attributes.items() if value not in {"unspecified", "unset"}]
        return f"the same after git's conversion ({', '.join(asked)})"


def _content_differs(expected: Entry, found: Entry | Odd | None) -> bool:
    return (
        isinstance(found, Entry)
        and expected.mode in _FILES
        and found.mode == expected.mode
        and found.hash != expected.hash
    )


def _stored(expected: Expected, found: Mapping[str, Entry | Odd], filtered: Iterable[str]) -> dict[str, Entry]:
    """A file that only a filter changed counts in its stored form, a submodule that is not checked out by its commit."""
    there = {path: one for path, one in found.items() if isinstance(one, Entry)}
    meant = {
        path: entry
        for path, entry in expected.entries.items()
        if clean_text(path) in filtered or (entry.mode == SUBMODULE and path not in found)
    }
    return {**there, **meant}


def _sha256(path: Path) -> tuple[str, int] | None:
    """(digest, size) of a file's content."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell()
    except OSError:
        return None
