"""The tracked files of a project: of one commit, or as they lie in the work tree. Paths are relative to the project.

Both are `regraft.flows.image_inputs.SourceFiles`. No hook, filter or file watcher of the repository runs.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from regraft.adapters.commits_between import commits_between
from regraft.adapters.git import At, Git
from regraft.adapters.object_reader import ObjectReader
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.places import Places
from regraft.adapters.project_files import ProjectFolder
from regraft.adapters.project_tree import Enclosing, enclosing
from regraft.core.between import Between
from regraft.core.objects import Commit, parse_commit
from regraft.core.trees import LINK, SUBMODULE, Entry
from regraft.errors import InputError, OutsideError

LIMIT = 16 * 1024 * 1024  # bytes of one file

_NEUTRAL = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false")


class Revisions:
    """The commits of a project's repository, for as long as one reader lasts."""

    def __init__(self, git: Git, found: Enclosing, store: ObjectStore, reader: ObjectReader, option: str) -> None:
        self._git = git
        self._option = option
        self._found = found
        self._store = store
        self._reader = reader

    @classmethod
    @contextmanager
    def over(cls, git: Git, root: Path, option: str = "--at") -> Iterator[Self]:
        """`option` is what names revisions on the command line. Raises InputError `not-a-repository`."""
        found = enclosing(root)
        shallow = found.git.common / "shallow"
        folders = found.git.object_folders(Places(found.top))
        store = ObjectStore.over(git, folders, shallow if shallow.is_file() else None)
        with ObjectReader.over(git, store) as reader:
            yield cls(git, found, store, reader, option)

    def at(self, revision: str) -> "CommittedFiles":
        """The files of a commit, which may be named as git names one. Raises InputError `no-such-revision`."""
        return CommittedFiles(self.commit(revision), self._store, self._reader, self._found.root)

    def between(self, old: Commit, new: Commit) -> Between | None:
        """The commits from one to the other; None where this repository cannot count them."""
        shallow = (self._found.git.common / "shallow").read_text().split() if self._found.git.shallow() else ()
        return commits_between(self._git, self._store, frozenset(shallow), old, new)

    def commit(self, revision: str) -> Commit:
        """The commit that a name means. Raises InputError `no-such-revision`."""
        said = b""
        if revision and not any(char in revision for char in "\0\n\r"):
            stdin = f"{revision}^{{commit}}\n".encode("utf-8", "surrogateescape")
            at = At(git_dir=self._found.git.folder)
            said = self._git.run(
                [*_NEUTRAL, "cat-file", "--batch-check=%(objectname) %(objecttype)"], at, stdin=stdin
            ).stdout
        oid, _, kind = said.decode("utf-8", "replace").strip().partition(" ")
        if kind != "commit" and revision == "HEAD":
            hint = "commit the files: what is not committed does not count here"
            raise InputError("no-such-revision", "there is no commit yet", hint=hint)
        if kind != "commit":
            hint = "name a commit, a branch or a tag that is here; a shallow checkout has few"
            raise InputError("no-such-revision", f"{revision!r:.120} is no commit here", where=self._option, hint=hint)
        return parse_commit(oid)

    def merge_bases(self, one: Commit, other: Commit) -> tuple[Commit, ...]:
        """Their best common ancestors, as far as history is here."""
        said = self._run(["merge-base", "--all", one, other], expected=(0, 1))
        return tuple(parse_commit(line) for line in said.split())

    def last_change(self, path: str, at: Commit, since: Sequence[Commit]) -> Commit | None:
        """The newest commit of those that `since` does not lead to that changed a path."""
        said = self._run(
            [
                "rev-list",
                "--max-count=1",
                at,
                *(f"^{one}" for one in since),
                "--",
                f":(top,literal){self._found.root}{path}",
            ]
        )
        return parse_commit(said.strip()) if said.strip() else None

    def _run(self, arguments: Sequence[str], expected: Sequence[int] = (0,)) -> str:
        done = self._git.run([*_NEUTRAL, *arguments], At(git_dir=self._found.git.folder))
        if done.returncode not in expected:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise OutsideError("git-failed", f"git {arguments[0]} failed: {said!r:.300}")
        return done.stdout.decode("ascii")


class CommittedFiles:
    """What one commit tracks."""

    def __init__(self, commit: Commit, store: ObjectStore, reader: ObjectReader, root: str = "") -> None:
        """`root` is the project's folder in the repository, with a slash at its end, or ""."""
        self.commit = commit
        self.top = not root
        self._reader = reader
        entries = store.list_tree(store.commit_tree(commit))
        self.tree: Mapping[str, Entry] = _within(root, entries)

    def read(self, path: str) -> bytes | None:
        entry = self.tree.get(path)
        if entry is None or entry.mode == SUBMODULE:
            return None
        data = self._reader.blob(entry.oid)
        if data is None:
            raise OutsideError("missing-objects", "the repository does not have this file's content", where=path)
        if len(data) > LIMIT:
            raise InputError("too-large", f"larger than {LIMIT:,} bytes", where=path)
        return data


class IndexedFiles:
    """What the index lists, in the bytes that are on the disk; what was deleted there is not tracked any more."""

    def __init__(self, git: Git, root: Path) -> None:
        """Raises InputError: not-a-repository, unmerged; OutsideError."""
        found = enclosing(root)
        self._root = root
        self._files = ProjectFolder(root)
        self.top = not found.root
        self.commit = found.git.head() or Commit("0" * 40)
        listing = git.run([*_NEUTRAL, "ls-files", "-z", "--stage"], At(git_dir=found.git.folder))
        if listing.returncode:
            raise OutsideError("git-failed", f"git ls-files failed: {listing.stderr.decode('utf-8', 'replace')!r:.300}")
        entries = _within(found.root, self._entries(listing.stdout))
        self.tree: Mapping[str, Entry] = {path: one for path, one in entries.items() if os.path.lexists(root / path)}

    def _entries(self, listing: bytes) -> Iterator[Entry]:
        for record in listing.split(b"\0")[:-1]:
            meta, _, path = record.partition(b"\t")
            mode, oid, stage = meta.decode().split(" ")
            if stage != "0":
                raise InputError("unmerged", "a merge is not finished", where=os.fsdecode(path), hint="finish it first")
            yield Entry(mode, "commit" if mode == SUBMODULE else "blob", oid, path)

    def read(self, path: str) -> bytes | None:
        entry = self.tree.get(path)
        if entry is None or entry.mode == SUBMODULE:
            return None
        if entry.mode == LINK:
            try:
                return os.fsencode((self._root / path).readlink())
            except OSError:
                return None
        return self._files.read(path, LIMIT)


def _within(root: str, entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries below the project's folder, by their paths from there."""
    cut = len(os.fsencode(root))
    inside = (one for one in entries if one.name.startswith(root))
    found = (Entry(one.mode, one.kind, one.oid, one.path[cut:]) for one in inside) if root else inside
    return {one.name: one for one in found}
