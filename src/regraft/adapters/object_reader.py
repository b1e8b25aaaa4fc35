"""Reads objects one after the other through a single `git cat-file --batch`, for as long as a block lasts.

Objects are asked for by name only, never by `commit:path`: a path may hold a line end. Trees are read as they are stored.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.process import Piped
from regraft.core.objects import Commit, parse_commit, parse_tree
from regraft.core.patch_history import CommitObject, Version
from regraft.core.patterns import regex
from regraft.core.trees import SUBMODULE, Entry
from regraft.errors import OutsideError

LIMIT = 64 * 1024 * 1024  # of one object
CHUNK = (
    64  # names that are asked for at a time: fewer bytes than a pipe holds, so that neither side waits for the other
)
TREES = 4_096  # remembered
CONTENTS = 32 * 1024 * 1024  # bytes of blobs remembered

FOLDER = "40000"

_SHORT = regex(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_LONG = regex(rb"([0-7]+) ([^\0]+)\0(.{32})", re.DOTALL)


class _Answer(NamedTuple):
    oid: str
    kind: bytes
    data: bytes


class ObjectReader:
    """Blobs, trees and commits by name. Each method raises OutsideError where git itself failed."""

    def __init__(self, pipe: Piped) -> None:
        self._pipe = pipe
        self._trees: OrderedDict[str, dict[bytes, Version]] = OrderedDict()
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._held = 0
        self._full: dict[str, str] = {}  # names by their beginnings
        self._commits: dict[str, CommitObject] = {}

    @classmethod
    @contextmanager
    def over(cls, git: Git, store: ObjectStore) -> Iterator[Self]:
        """A reader of what the store has. One process."""
        with git.piped(["cat-file", "--batch"], At(git_dir=store.git_dir)) as pipe:
            yield cls(pipe)

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Each of the objects with its bytes, or None where it is not here."""
        waiting = [*names]
        for start in range(0, len(waiting), CHUNK):
            some = waiting[start : start + CHUNK]
            self._ask(some)
            for name in some:
                found = self._answer()
                yield name, found.data if found else None

    def blob(self, oid: str) -> bytes | None:
        """The bytes of a blob, or None where it is not here. The latest ones are remembered."""
        if oid in self._blobs:
            self._blobs.move_to_end(oid)
            return self._blobs[oid]
        found = self._one(oid, b"blob")
        if found is not None:
            self._keep(oid, found)
        return found

    def prefetch(self, oids: Iterable[str]) -> None:
        """Have blobs at hand, asked for in one go; more than is remembered of them at all do not help."""
        for oid, data in self.each(oid for oid in dict.fromkeys(oids) if oid not in self._blobs):
            if data is not None:
                self._keep(oid, data)

    def _keep(self, oid: str, data: bytes) -> None:
        self._blobs[oid] = data
        self._held += len(data)
        while self._held > CONTENTS and len(self._blobs) > 1:
            self._held -= len(self._blobs.popitem(last=False)[1])

    def blob_named(self, prefix: str) -> bytes | None:
        """The bytes of the only blob whose name begins so, or None. It is remembered too."""
        oid = self._full.get(prefix, prefix)
        if oid in self._blobs:
            return self.blob(oid)
        self._ask([prefix])
        found = self._answer()
        if found is None or found.kind != b"blob":
            return None
        self._full[prefix] = found.oid
        self._keep(found.oid, found.data)
        return found.data

    def commit(self, oid: Commit) -> CommitObject:
        """Raises OutsideError `missing-objects`."""
        found = self.find(oid)
        if found is None:
            raise _missing(oid)
        return found

    def find(self, oid: Commit) -> CommitObject | None:
        """The commit, or None where it is not here (history may be cut off)."""
        if oid not in self._commits:
            found = self._one(oid, b"commit")
            if found is None:
                return None
            self._commits[oid] = _parsed(oid, found)
        return self._commits[oid]

    def tree(self, oid: str) -> dict[bytes, Version]:
        """The names in one folder; a sub-folder has the mode "40000". Raises OutsideError `missing-objects`."""
        if oid in self._trees:
            self._trees.move_to_end(oid)
            return self._trees[oid]
        found = _entries(self._must(oid, b"tree"), len(oid))
        self._keep_tree(oid, found)
        return found

    def _keep_tree(self, oid: str, found: dict[bytes, Version]) -> None:
        self._trees[oid] = found
        if len(self._trees) > TREES:
            self._trees.popitem(last=False)

    def _prefetch_trees(self, oids: Iterable[str]) -> None:
        for oid, data in self.each(oid for oid in dict.fromkeys(oids) if oid not in self._trees):
            if data is not None:
                self._keep_tree(oid, _entries(data, len(oid)))

    def versions(self, tree: str, paths: Iterable[bytes]) -> dict[bytes, Version]:
        """What stands at those of the paths where a file does. Folders of one level are asked for in one go."""
        found: dict[bytes, Version] = {}
        waiting = [(tree, path.split(b"/"), path) for path in paths]
        while waiting:
            self._prefetch_trees(oid for oid, _, _ in waiting)
            below = []
            for oid, parts, path in waiting:
                one = self.tree(oid).get(parts[0])
                if one is None:
                    continue
                if len(parts) == 1 and one.mode != FOLDER:
                    found[path] = one
                elif len(parts) > 1 and one.mode == FOLDER:
                    below.append((one.oid, parts[1:], path))
            waiting = below
        return found

    def version(self, tree: str, path: bytes) -> Version | None:
        """What stands at a path; None where nothing does, or a folder."""
        *above, name = path.split(b"/")
        for part in above:
            found = self.tree(tree).get(part)
            if found is None or found.mode != FOLDER:
                return None
            tree = found.oid
        found = self.tree(tree).get(name)
        return None if found is None or found.mode == FOLDER else found

    def folder(self, tree: str, path: bytes) -> str | None:
        """The tree of the folder at a path, or None where there is none."""
        for part in path.split(b"/"):
            found = self.tree(tree).get(part)
            if found is None or found.mode != FOLDER:
                return None
            tree = found.oid
        return tree

    def listing(self, tree: str, prefix: bytes = b"") -> Iterator[Entry]:
        """Every path of a tree, folders walked through, in no order."""
        waiting = [(tree, prefix)]
        while waiting:
            self._prefetch_trees(oid for oid, _ in waiting)
            below = []
            for oid, above in waiting:
                for name, (mode, inner) in self.tree(oid).items():
                    if mode == FOLDER:
                        below.append((inner, above + name + b"/"))
                    else:
                        yield Entry(mode, "commit" if mode == SUBMODULE else "blob", inner, above + name)
            waiting = below

    def _one(self, oid: str, kind: bytes) -> bytes | None:
        self._ask([oid])
        found = self._answer()
        if found is not None and found.kind != kind:
            raise OutsideError("not-that-kind", f"{oid} is a {found.kind.decode()} and no {kind.decode()}")
        return None if found is None else found.data

    def _must(self, oid: str, kind: bytes) -> bytes:
        found = self._one(oid, kind)
        if found is None:
            raise _missing(oid)
        return found

    def _ask(self, names: list[str]) -> None:
        try:
            self._pipe.stdin.write("".join(f"{name}\n" for name in names).encode("ascii"))
            self._pipe.stdin.flush()
        except BrokenPipeError:
            self._failed()

    def _answer(self) -> _Answer | None:
        head = self._pipe.stdout.readline()
        if head.endswith((b" missing\n", b" ambiguous\n")):
            return None
        fields = head.split()
        if len(fields) != 3:
            self._failed()
        size = int(fields[2])
        if size > LIMIT:
            message = f"an object that is needed holds {size} bytes; at most {LIMIT} are read"
            raise OutsideError("too-large", message, where=fields[0].decode("ascii"))
        data = self._pipe.stdout.read(size + 1)
        if len(data) != size + 1:
            self._failed()
        return _Answer(fields[0].decode("ascii"), fields[1], data[:-1])

    def _failed(self) -> None:
        code, said = self._pipe.end()
        line = (said.decode("utf-8", "replace").strip() or f"exit code {code}").split("\n", 1)[0]
        raise OutsideError("git-failed", f"git cat-file failed: {line!r:.220}")


def _missing(oid: str) -> OutsideError:
    hint = "fetch them first (a clone with little history lacks them)"
    return OutsideError("missing-objects", f"objects are not here: {oid}", hint=hint)


def _entries(data: bytes, digits: int) -> dict[bytes, Version]:
    """A tree object: `mode name NUL oid`, one after the other."""
    return {name: Version(mode.decode("ascii"), oid.hex()) for mode, name, oid in _pattern(digits).findall(data)}


def _pattern(digits: int) -> re.Pattern[bytes]:
    return _SHORT if digits == 40 else _LONG


def _parsed(oid: Commit, data: bytes) -> CommitObject:
    head, _, message = data.partition(b"\n\n")
    tree = parents = None
    found: list[Commit] = []
    date = 0
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        match key:
            case b"tree":
                tree = parse_tree(value.decode("ascii"))
            case b"parent":
                found.append(parse_commit(value.decode("ascii")))
            case b"committer":
                date = _seconds(value)
    parents = tuple(found)
    if tree is None:
        raise OutsideError("git-failed", f"the commit {oid} names no tree")
    return CommitObject(oid, tree, parents, date, message.decode("utf-8", "replace"))


def _seconds(committer: bytes) -> int:
    """From `name <mail> 1700000000 +0000`; 0 where there is no date that can be read."""
    fields = committer.rpartition(b">")[2].split()
    try:
        return int(fields[0])
    except (IndexError, ValueError):
        return 0
