"""What a checkout's objects say, and what its attributes and ignore files mean, under our own configuration."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters import temporary
from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.scratch_index import ScratchIndex, failure
from regraft.core import trees
from regraft.core.carried_text import read_change
from regraft.core.checkout_tree import Entry
from regraft.core.gitmodules import Module, RefusedModuleError, modules_by_path
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.observation import CarriedPatch
from regraft.core.patch_text import PatchText, bases_of
from regraft.core.patch_verdict import judge_patch, merges_of
from regraft.core.tree_view import TreeView
from regraft.core.trees import SUBMODULE, ApplyOutcome
from regraft.core.whole_diff import whole_diff
from regraft.errors import OutsideError

Answer = TypeVar("Answer")

ATTRIBUTES = ("text", "eol", "working-tree-encoding", "ident", "filter")


class Expected(Struct, frozen=True):
    """A commit with patches on it, in an index of its own. `applied` says for each patch whether it went on.

    `touched` are the paths that the patches change; that of a submodule ends in `/`.
    """

    tree: Tree
    entries: Mapping[str, Entry]
    touched: tuple[str, ...]
    applied: Mapping[str, bool]
    index: ScratchIndex
    sha256: bool


class CheckoutObjects:
    """The lender's configuration, hooks, index and refs play no part. `shallow` is its file of that name."""

    def __init__(self, git: Git, objects: Sequence[Path], shallow: Path | None) -> None:
        self._git = git
        self._shallow = shallow is not None
        self._store = ObjectStore.over(git, objects, shallow)
        self._expected: dict[tuple[Commit, tuple[CarriedPatch, ...]], Expected] = {}
        self._entries: dict[Commit, dict[str, Entry]] = {}

    def expect(self, commit: Commit, patches: Sequence[CarriedPatch]) -> Expected | None:
        """What the commit and those of the patches that have data make; None where the commit's trees are not at hand."""
        key = (commit, tuple(patches))
        known = self._expected.get(key)
        if known is not None:
            return known
        index = _if_here(lambda: self._store.read_tree(commit))
        if index is None:
            return None
        before = self._entries.setdefault(commit, _named(index.entries()))
        # In a clone without blobs a patch may not be tried: then the tree as a whole has to decide.
        there = {name.encode("utf-8", "surrogateescape") for name in before}
        outcomes = {
            patch.path: _if_here(partial(self._apply, patch, patch.data, index, there))
            for patch in patches
            if patch.data is not None
        }
        applied = {path: outcome.verdict == "fits" for path, outcome in outcomes.items() if outcome is not None}
        after = _named(index.entries()) if any(applied.values()) else before
        touched = [
            f"{path}/" if SUBMODULE in _modes(before.get(path), after.get(path)) else path
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        ]
        made = Expected(index.write_tree(), after, tuple(sorted(touched)), applied, index, len(commit) == 64)
        if None not in outcomes.values():
            self._expected[key] = made
        return made

    def _apply(self, patch: CarriedPatch, data: bytes, index: ScratchIndex, there: set[bytes]) -> ApplyOutcome:
        """By git; what the engine merges three-way, it merges. What the patch makes is there for the next one."""
        text = self._read(patch, data, there)
        there.update(section.path for section in text.sections)
        if text.substitutes:
            return self._substitute(text, index)
        if not patch.merges:
            return index.apply(data, names=text.git_arguments)
        text.merges = True
        merges = merges_of(text, judge_patch(text, self._view(text, index)))
        return index.apply(data, names=text.git_arguments, merges=merges)

    @staticmethod
    def _read(patch: CarriedPatch, data: bytes, there: set[bytes]) -> PatchText:
        root = patch.root.encode()
        return read_change(patch.path, data, strip=patch.strip, root=root, exists=there.__contains__)

    def _substitute(self, text: PatchText, index: ScratchIndex) -> ApplyOutcome:
        """What is no diff is made by us, and written by git."""
        view = self._view(text, index)
        verdict = judge_patch(text, view)
        if verdict.state != "applies":
            return ApplyOutcome("fails", verdict.reason or verdict.state)
        made = whole_diff(verdict.results, view)
        return index.apply(made, names=text.git_arguments) if made else ApplyOutcome("fits")

    def made_on(self, commit: Commit, patches: Sequence[CarriedPatch]) -> tuple[Blob, ...]:
        """What merging these patches needs besides the commit, as far as they tell its full name, and is not here."""
        there = {os.fsencode(name) for name in self.entries(commit) or {}}
        texts = [self._read(patch, patch.data, there) for patch in patches if patch.merges and patch.data is not None]
        return self._store.missing([Blob(name) for name in sorted(bases_of(texts))])

    def _view(self, text: PatchText, index: ScratchIndex) -> TreeView:
        """What an index holds. Raises OutsideError `missing-objects` where a file that the patch was made on is not here."""
        made_on = {one.old_oid for one in text.sections}

        def blob(name: str) -> bytes | None:
            found = self._store.find_blobs([name]).get(name)
            if found is None and name in made_on:
                raise OutsideError("missing-objects", f"{name}, which the patch was made on, is not here")
            return found

        def read(oid: str) -> bytes:
            return self._store.read_blob(Blob(oid))

        entries = {entry.path: entry for entry in index.entries()}
        return TreeView(entries, read, blob, sha256=any(len(one.oid) == 64 for one in entries.values()))

    def tree_of(self, commit: Commit) -> Tree | None:
        """None where the commit is not at hand."""
        return _if_here(lambda: self._store.commit_tree(commit))

    def entries(self, commit: Commit) -> dict[str, Entry] | None:
        """The entries of a commit, or None where its trees are not at hand."""
        if commit not in self._entries:
            found = _if_here(lambda: _named(self._store.list_tree(self._store.commit_tree(commit))))
            if found is None:
                return None
            self._entries[commit] = found
        return self._entries[commit]

    def blob(self, name: str) -> bytes | None:
        """None where it is not at hand."""
        return _if_here(lambda: self._store.read_blob(Blob(name)))

    def lost(self, commit: Commit, head: Commit | None) -> tuple[Blob, ...] | None:
        """The blobs of a commit that are not here, apart from those that HEAD has too; None: its trees are not here."""
        entries = self.entries(commit)
        if entries is None:
            return None
        known = {entry.hash for entry in ((self.entries(head) if head else None) or {}).values()}
        wanted = dict.fromkeys(one.hash for one in entries.values() if one.mode != trees.SUBMODULE)
        return self._store.missing([Blob(name) for name in wanted if name not in known])

    def each_blob(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The bytes of many blobs, a batch at a time. Raises OutsideError: missing-objects, too-large."""
        return self._store.each_blob([Blob(name) for name in names])

    def config_list(self, text: bytes) -> tuple[tuple[str, str], ...] | str:
        """The (key, value) pairs of a text in git's configuration format, or what git says is wrong with it."""
        return self._store.config_list(text)

    def fresh_index(self, commit: Commit, place: Path) -> bytes:
        """An index that holds the commit's tree, with the stats of those files at `place` that are as it says."""
        at = replace(self._store.read_tree(commit).at, work_tree=place, cwd=place)
        refreshed = self._git.run(["update-index", "-q", "--refresh"], at)
        if refreshed.returncode not in {0, 1} or at.index is None:
            raise failure(refreshed)
        return at.index.read_bytes()

    def changed_paths(self, old: Commit, new: Commit) -> tuple[str, ...] | None:
        """The paths that differ between two commits, without guessing at renames; None where one is not at hand.

        The path of a submodule ends in `/`.
        """
        return _if_here(lambda: self._store.changed_paths(old, new, ["**"])) if self._have(old, new) else None

    def is_ancestor(self, old: Commit, new: Commit) -> bool | None:
        """Whether `new` has `old` in its history; None where that history is not all there."""
        answer = _if_here(lambda: self._store.is_ancestor(old, new)) if self._have(old, new) else None
        return None if self._shallow and answer is False else answer

    def _have(self, *commits: Commit) -> bool:
        return not self._store.missing([Blob(commit) for commit in commits])

    def attributes(self, expected: Expected, paths: Sequence[str]) -> dict[str, dict[str, str]]:
        """Path -> attribute -> value, by the `.gitattributes` of the expected tree and no others."""
        stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
        arguments = ["check-attr", "-z", "--stdin", "--cached", *ATTRIBUTES]
        answer = self._git.run(arguments, expected.index.at, stdin=stdin)
        if answer.returncode != 0:
            raise failure(answer)
        fields = iter(_split(answer.stdout))
        found: dict[str, dict[str, str]] = {}
        for path, attribute, value in zip(fields, fields, fields, strict=True):
            found.setdefault(os.fsdecode(path), {})[attribute.decode("ascii")] = value.decode("utf-8", "replace")
        return found

    def ignored(self, paths: Sequence[str], expected: Expected, place: Path) -> frozenset[str]:
        """Those of the paths below `place` that git ignores by the expected tree's `.gitignore` files."""
        tree = self._ignore_files(expected) if paths else place
        return frozenset(self._ignoring(paths, tree))

    def ignoring(self, paths: Sequence[str], place: Path) -> dict[str, tuple[str, str]]:
        """What git ignores by the `.gitignore` files at `place`: path -> (file, line) of the pattern."""
        return self._ignoring(paths, place)

    def _ignoring(self, paths: Sequence[str], tree: Path) -> dict[str, tuple[str, str]]:
        if not paths:
            return {}
        # A leading ./ keeps a name like `:(top)` from being read as a pattern.
        stdin = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        at = At(git_dir=self._store.git_dir, index=self._git.folder / "no-index", work_tree=tree, cwd=tree)
        answer = self._git.run(["check-ignore", "--no-index", "--verbose", "-z", "--stdin"], at, stdin=stdin)
        if answer.returncode not in {0, 1}:
            raise failure(answer)
        fields = iter(_split(answer.stdout))
        return {
            os.fsdecode(path.removeprefix(b"./")): (os.fsdecode(file), line.decode("ascii"))
            for file, line, pattern, path in zip(fields, fields, fields, fields, strict=True)
            if not pattern.startswith(b"!")  # such a pattern says that it is not ignored
        }

    def modules(self, text: bytes) -> dict[str, Module]:
        """The sections of a `.gitmodules` file by their paths; none where it cannot be read."""
        listed = self._store.config_list(text)
        try:
            return {} if isinstance(listed, str) else modules_by_path(listed)
        except RefusedModuleError:
            return {}

    def _ignore_files(self, expected: Expected) -> Path:
        """A folder that holds the `.gitignore` files of a tree and nothing else."""
        folder = temporary.folder(self._git.folder, "ignore-")
        names = [path for path in expected.entries if path.rpartition("/")[2] == ".gitignore"]
        if names:
            stdin = b"".join(os.fsencode(name) + b"\0" for name in names)
            at = replace(expected.index.at, work_tree=folder, cwd=folder)
            made = self._git.run(["checkout-index", "--force", "-z", "--stdin"], at, stdin=stdin)
            if made.returncode != 0:
                raise failure(made)
        return folder


def _modes(*entries: Entry | None) -> list[str]:
    return [entry.mode for entry in entries if entry is not None]


def _named(entries: Iterable[trees.Entry]) -> dict[str, Entry]:
    return {entry.name: Entry(entry.mode, entry.oid) for entry in entries}


def _if_here(ask: Callable[[], Answer]) -> Answer | None:
    """The answer, or None where objects that it needs are not at hand."""
    try:
        return ask()
    except OutsideError as error:
        if error.code != "missing-objects":
            raise
        return None


def _split(data: bytes) -> Iterable[bytes]:
    return data.split(b"\0")[:-1]
