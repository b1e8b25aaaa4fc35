"""The files of a checkout, compared with a tree in raw bytes."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters import disk
from regraft.adapters.checkout_objects import CheckoutObjects, Expected
from regraft.adapters.disk import Disk
from regraft.adapters.git_folder import Found
from regraft.core.checkout_tree import (
    MODULES,
    Entry,
    Odd,
    clean_text,
    compare,
    object_hash,
    pointer,
    source_folders,
    stored_form,
)
from regraft.core.objects import Commit
from regraft.core.observation import Difference, Extra
from regraft.core.trees import EXECUTABLE, FILE, SUBMODULE

DEPTH = 8  # of submodules in submodules
POINTER_LIMIT = 1024  # bytes of a pointer, by the format of Git LFS
FILTER_LIMIT = 64 * 1024 * 1024  # bytes of a file that is tried with a filter

_FILES = (FILE, EXECUTABLE)


class Compared(Struct, frozen=True):
    """`stored` are the entries that git would make of what is on the disk, for the expected paths.

    `tracked` are the expected paths, and those inside submodules; `sources` the folders of modules, there as well.
    """

    differences: tuple[Difference, ...]
    extras: tuple[Extra, ...]
    stored: dict[str, Entry]
    tracked: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    pointers: tuple[str, ...] = ()


class ToChange(Struct, frozen=True):
    """Relative paths. `wrong` are to be written; the others are on the disk and not in the expected tree.

    `in_the_way` are folders of untracked repositories where the expected tree has something; what any such one holds is
    left out of the others, as git leaves it alone.
    """

    wrong: tuple[str, ...]
    left_over: tuple[str, ...]
    untracked: tuple[str, ...]
    ignored: tuple[str, ...]
    in_the_way: tuple[str, ...] = ()


class Content:
    """`open_repository` gives the repository of a submodule, and its objects."""

    def __init__(
        self,
        place: Path,
        objects: CheckoutObjects,
        open_repository: Callable[[Path], tuple[Found, CheckoutObjects]],
        memory: disk.Memory,
        depth: int = 0,
    ) -> None:
        self._place = place
        self._objects = objects
        self._open = open_repository
        self._entry_at = memory.entry_at
        self._memory = memory
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
        left_out = self._left_out(expected) if submodules - found.keys() else frozenset()
        differences = [
            replace(one, kind="filter", detail=filtered[one.path]) if one.path in filtered else one
            for one in compare(expected.entries, found)
            if one.kind != "submodule-empty" or one.path not in left_out
        ]
        outer = Compared(
            tuple(differences),
            tuple(self._extras(expected, tracked or {}, [one for one in there.files if one not in expected.entries])),
            _stored(expected, found, filtered),
            frozenset(map(clean_text, expected.entries)),
            frozenset(map(clean_text, source_folders(expected.entries))),
            self._pointers(expected, found),
        )
        at_commit = [path for path in sorted(submodules) if found.get(path) == expected.entries[path]]
        return joined(outer, [self._inside(path, expected.entries[path]) for path in at_commit])

    def to_change(self, expected: Expected, tracked: Mapping[str, Entry]) -> "ToChange":
        """What keeps the files from being the expected tree, submodules left out, by the paths' own bytes.

        A file that only a filter of git's changed is as it should be. `tracked` are the entries of the machine's HEAD.
        """
        submodules = frozenset(path for path, entry in expected.entries.items() if entry.mode == SUBMODULE)
        there = disk.walk(self._place, submodules)
        known = frozenset(there.files)
        plain = [path for path in expected.entries if path not in submodules]
        found = {
            path: one
            for path in plain
            if path in known and (one := self._entry_at(f"{self._place}/{path}", sha256=expected.sha256)) is not None
        }
        filtered = self._filtered(expected, found)
        wrong = [path for path in plain if found.get(path) != expected.entries[path]]
        nested = _repositories(there, tracked)
        extras = [path for path in there.files if path not in expected.entries and nested.isdisjoint(_above(path))]
        ignored = self._objects.ignored([path for path in extras if path not in tracked], expected, self._place)
        folders = {above for path in expected.entries for above in _above(path)} if nested else set()
        return ToChange(
            wrong=tuple(path for path in wrong if clean_text(path) not in filtered),
            left_over=tuple(path for path in extras if path in tracked),
            untracked=tuple(path for path in extras if path not in tracked and path not in ignored),
            ignored=tuple(path for path in extras if path in ignored),
            in_the_way=tuple(
                one
                for one in sorted(nested)
                if one in folders or any(path in expected.entries for path in (one, *_above(one)))
            ),
        )

    def _left_out(self, expected: Expected) -> frozenset[str]:
        """The submodules that git does not check out, since `.gitmodules` says `update = none`; clean paths."""
        entry = expected.entries.get(".gitmodules")
        text = self._objects.blob(entry.hash) if entry is not None and entry.mode in _FILES else None
        modules = self._objects.modules(text) if text is not None else {}
        return frozenset(clean_text(path) for path, one in modules.items() if one.update == "none")

    def _at(self, path: str, there: Disk, *, submodule: bool, sha256: bool) -> Entry | Odd | None:
        if not submodule or path not in there.folders:
            return self._entry_at(f"{self._place}/{path}", sha256=sha256)
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
            return Compared((Difference(clean_text(path), "unreadable", detail, clean_text(path)),), (), {})
        inner = Content(place, objects, self._open, self._memory, self._depth + 1).compare(expected, None)
        prefix = clean_text(path)
        return replace(
            inner,
            differences=tuple(replace(one, path=f"{prefix}/{one.path}", inside=prefix) for one in inner.differences),
            extras=tuple(replace(one, path=f"{prefix}/{one.path}") for one in inner.extras),
            tracked=frozenset(f"{prefix}/{one}" for one in inner.tracked),
            # As in the outer tree, a setup.py in the root does not make that a folder of modules; a package is one.
            sources=frozenset(
                f"{prefix}/{one}".rstrip("/") for one in inner.sources if one or "__init__.py" in inner.tracked
            ),
            pointers=tuple(f"{prefix}/{one}" for one in inner.pointers),
        )

    def _extras(self, expected: Expected, tracked: Mapping[str, Entry], paths: Sequence[str]) -> list[Extra]:
        ignored = self._objects.ignored([path for path in paths if path not in tracked], expected, self._place)
        return [
            Extra(clean_text(path), "left-over" if path in tracked else "ignored")
            if path in tracked or path in ignored
            else self._untracked(path)
            for path in paths
        ]

    def _untracked(self, path: str) -> Extra:
        return Extra(clean_text(path), "untracked", disk.digest(self._place / path) if path.endswith(MODULES) else None)

    def _pointers(self, expected: Expected, found: Mapping[str, Entry | Odd]) -> tuple[str, ...]:
        """The files that Git LFS keeps elsewhere, and that are still pointers on the disk; clean paths."""
        attributes = [one for path, one in expected.entries.items() if path.rpartition("/")[2] == ".gitattributes"]
        if not any(b"lfs" in (self._objects.blob(one.hash) or b"") for one in attributes if one.mode in _FILES):
            return ()
        same = [path for path, one in expected.entries.items() if one.mode in _FILES and found.get(path) == one]
        meant = [path for path in same if pointer(disk.read(self._place / path, POINTER_LIMIT) or b"") is not None]
        asked = self._objects.attributes(expected, meant) if meant else {}
        return tuple(clean_text(path) for path in meant if asked.get(path, {}).get("filter") == "lfs")

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


def joined(outer: Compared, inner: Iterable[Compared]) -> Compared:
    """The outer tree's answer with those of its submodules, whose entries are their own affair."""
    every = [outer, *inner]
    return replace(
        outer,
        differences=tuple(difference for one in every for difference in one.differences),
        extras=tuple(extra for one in every for extra in one.extras),
        tracked=frozenset().union(*(one.tracked for one in every)),
        sources=frozenset().union(*(one.sources for one in every)),
        pointers=tuple(path for one in every for path in one.pointers),
    )


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


def _repositories(there: Disk, tracked: Mapping[str, Entry]) -> frozenset[str]:
    """The folders of untracked repositories: those with a `.git` of their own below which HEAD tracks nothing."""
    if not there.nested:
        return frozenset()
    return there.nested - {above for path in tracked for above in _above(path)}


def _above(path: str) -> Iterator[str]:
    """The folders that a relative path lies in, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _sha256(path: Path) -> tuple[str, int] | None:
    """(digest, size) of a file's content."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell()
    except OSError:
        return None
