"""Reads objects one after the other through a single `git cat-file --batch`, for as long as a block lasts.

Objects are asked for by name only, never by `commit:path`: a path may hold a line end. Trees are read as they are stored.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Self

from msgspec import Struct

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.process import Piped
from regraft.core.objects import Commit, Tree, parse_commit, parse_tree
from regraft.core.patch_history import Version
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


class CommitObject(Struct, frozen=True):
    commit: Commit
    tree: Tree
    parents: tuple[Commit, ...]
    date: int
    message: str

    @property
    def subject(self) -> str:
        """The first paragraph in one line, as git has it."""
        return " ".join(self.message.lstrip("\n").partition("\n\n")[0].split("\n")).strip()


class ObjectReader:
    """Blobs, trees and commits by name. Each method raises OutsideError where git itself failed."""

    def __init__(self, pipe: Piped) -> None:
        self._pipe = pipe
        self._trees: OrderedDict[str, dict[bytes, Version]] = OrderedDict()
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._held = 0
        self._commits: dict[str, CommitObject] = {}

    @classmethod
    @contextmanager
    def over(cls, git: Git, store: ObjectStore) -> Iterator[Self]:
        """A reader of what the store has. One process."""
        with git.piped(["cat-file", "--batch"], At(git_dir=store.git_dir)) as pipe:
            yield cls(pipe)

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Each of the objects with its bytes, or None where it is not here."""
        waiting = list(names)
        for start in range(0, len(waiting), CHUNK):
            some = waiting[start : start + CHUNK]
            self._ask(some)
            for name in some:
                found = self._answer()
                yield name, found[1] if found else None

    def blob(self, oid: str) -> bytes | None:
        """The bytes of a blob, or None where it is not here. The latest ones are remembered."""
        if oid in self._blobs:
            self._blobs.move_to_end(oid)
            return self._blobs[oid]
        found = self._one(oid, b"blob")
        if found is not None:
            self._blobs[oid] = found
            self._held += len(found)
            while self._held > CONTENTS and len(self._blobs) > 1:
                self._held -= len(self._blobs.popitem(last=False)[1])
        return found

    def blob_named(self, prefix: str) -> bytes | None:
        """The bytes of the only blob whose name begins so, or None."""
        found = self._get(prefix)
        return found[1] if found is not None and found[0] == b"blob" else None

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
        found = _entries(self._must(oid, b"tree"), len(oid) // 2)
        self._trees[oid] = found
        if len(self._trees) > TREES:
            self._trees.popitem(last=False)
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
        """Every path of a tree, folders walked through."""
        for name, (mode, oid) in self.tree(tree).items():
            if mode == FOLDER:
                yield from self.listing(oid, prefix + name + b"/")
            else:
                yield Entry(mode, "commit" if mode == SUBMODULE else "blob", oid, prefix + name)

    def _one(self, oid: str, kind: bytes) -> bytes | None:
        found = self._get(oid)
        if found is not None and found[0] != kind:
            raise OutsideError("not-that-kind", f"{oid} is a {found[0].decode()} and no {kind.decode()}")
        return None if found is None else found[1]

    def _must(self, oid: str, kind: bytes) -> bytes:
        found = self._one(oid, kind)
        if found is None:
            raise _missing(oid)
        return found

    def _get(self, name: str) -> tuple[bytes, bytes] | None:
        self._ask([name])
        return self._answer()

    def _ask(self, names: list[str]) -> None:
        try:
            self._pipe.stdin.write("".join(f"{name}\n" for name in names).encode("ascii"))
            self._pipe.stdin.flush()
        except BrokenPipeError:
            self._failed()

    def _answer(self) -> tuple[bytes, bytes] | None:
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
        return fields[1], data[:-1]

    def _failed(self) -> None:
        code, said = self._pipe.end()
        line = (said.decode("utf-8", "replace").strip() or f"exit code {code}").split("\n", 1)[0]
        raise OutsideError("git-failed", f"git cat-file failed: {line!r:.220}")


def _missing(oid: str) -> OutsideError:
    hint = "fetch them first (a clone with little history lacks them)"
    return OutsideError("missing-objects", f"objects are not here: {oid}", hint=hint)


def _entries(data: bytes, size: int) -> dict[bytes, Version]:
    """A tree object: `mode name NUL oid`, one after the other."""
    pattern = _SHORT if size == 20 else _LONG
    return {name: Version(mode.decode("ascii"), oid.hex()) for mode, name, oid in pattern.findall(data)}


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
