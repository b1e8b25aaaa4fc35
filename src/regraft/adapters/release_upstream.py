"""A package's releases as one upstream: `flows.ports.HistorySource` and `flows.patch_judging.PatchUpstream`.

A release stands where a commit does. Its name is a digest that no repository knows: of its file, and of the release before it.
Its tree is read when it is first looked at, so that nobody downloads what no question needs.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from regraft.adapters.first_parent import FirstParent, tree_changes
from regraft.adapters.git import Git
from regraft.adapters.object_reader import ObjectReader
from regraft.adapters.object_reads import ObjectReads
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.package_index import PackageIndex
from regraft.adapters.release_repository import ReleaseRepository, ReleaseTree
from regraft.adapters.scratch_index import ScratchIndex
from regraft.adapters.tree_grep import HITS, grep, grep_others
from regraft.adapters.verdict_memory import VerdictMemory, engine_digest
from regraft.core.manifest import Package
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.patch_history import CommitObject, Line, Touch, Version
from regraft.core.references import Hit
from regraft.core.refs import Ref
from regraft.core.release_versions import Release, Releases
from regraft.core.trees import shown
from regraft.errors import InputError, OutsideError, raise_all

EMPTY = Tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904")  # git's own


class ReleaseStore(ObjectStore):
    """A package's objects, with releases by the names that stand for their commits (`ReleaseSource.name`)."""

    def __init__(self, git: Git, git_dir: Path) -> None:
        super().__init__(git, git_dir)
        self.find: Callable[[Commit], Commit | None] = lambda _: None

    def commit_tree(self, commit: Commit) -> Tree:
        return super().commit_tree(self.find(commit) or commit)

    def read_tree(self, commit: Commit) -> ScratchIndex:
        return super().read_tree(self.find(commit) or commit)


class ReleaseSource(ObjectReads):
    """To be used within `reading`."""

    def __init__(
        self, git: Git, index: PackageIndex, releases: Releases, repository: ReleaseRepository, reader: ObjectReader
    ) -> None:
        self._git = git
        self._index = index
        self._releases = releases
        self._repository = repository
        super().__init__(reader, FirstParent(git, repository.store))
        self._trees: dict[str, ReleaseTree] = {}
        self._names: dict[str, Commit] = {}
        self._left_out: dict[str, frozenset[bytes]] = {}
        self.by_name = {self.name(one): one for one in releases.all}

    @classmethod
    @contextmanager
    def reading(
        cls, git: Git, index: PackageIndex, releases: Releases, repository: ReleaseRepository
    ) -> Iterator[Self]:
        with ObjectReader.over(git, repository.store) as reader:
            yield cls(git, index, releases, repository, reader)

    def name(self, release: Release) -> Commit:
        """What stands for its commit: another one as soon as its file, or a release before it, is another."""
        chain = [release]
        while chain[-1].version not in self._names:
            before = self._releases.before(chain[-1])
            if before is None:
                break
            chain.append(before)
        for one in reversed(chain):
            if one.version not in self._names:
                before = self._releases.before(one)
                parent = self._names[before.version] if before else ""
                said = "\0".join(
                    ("release", self._releases.package, one.version, one.file.sha256 or one.file.url, parent)
                )
                self._names[one.version] = Commit(hashlib.sha1(said.encode(), usedforsecurity=False).hexdigest())
        return self._names[release.version]

    def line(  # noqa: PLR0913 - keyword-only but for what is asked
        self,
        tip: Commit,
        paths: Collection[bytes],
        *,
        last: int | None = None,
        since: Commit | None = None,
        known: Collection[Commit] = (),
        oids: Collection[str] = (),
    ) -> Line:
        """The releases from `tip` on, each compared with the one before it, the first with nothing."""
        end = self.by_name[since].parsed if since is not None else None
        chosen: list[Release] = []
        beyond: Release | None = self.by_name[tip]
        while beyond is not None and (last is None or len(chosen) < last):
            if self.name(beyond) in known or (end is not None and beyond.parsed <= end):
                break
            chosen.append(beyond)
            beyond = self._releases.before(beyond)
        trees = [self.tree(one) for one in [*chosen, *([beyond] if beyond else [])]]
        pairs = list(zip([*trees[1:], EMPTY], trees, strict=True))[: len(chosen)]
        touches = []
        for position, changes in enumerate(tree_changes(self._git, self._repository.store, pairs, paths, oids)):
            if changes:
                one = self.commit(self.name(chosen[position]))
                touches.append(
                    Touch(position, one.commit, one.tree, one.date, one.subject, one.parents, changes, one.release)
                )
        return Line(tuple(map(self.name, chosen)), tuple(touches), self.name(beyond) if beyond else None)

    def tree(self, release: Release) -> Tree:
        """Its tree, from what was downloaded before or now. Raises what the index and the archive raise."""
        if release.version not in self._trees:
            file = release.file
            if file.sha256 is None:
                message = f"the index lists no sha256 of {file.filename!r:.150}, so what comes cannot be checked"
                raise OutsideError("no-digest", message, where=file.index, hint="use an index that lists digests")
            found = self._repository.tree(file.sha256, file.filename, lambda target: self._index.fetch(file, target))
            self._trees[release.version] = found
            self._left_out[found.tree] = found.left_out
        return self._trees[release.version].tree

    def held(self, oid: Commit) -> Commit | None:
        """The commit in the cache that holds a release."""
        release = self.by_name.get(oid)
        if release is None:
            return None
        self.tree(release)
        return self._trees[release.version].commit

    def complete(self, blobs: Collection[str], helpful: Collection[str] = ()) -> None:
        """A release is here whole."""

    def commit(self, oid: Commit) -> CommitObject:
        found = self.find(oid)
        if found is None:
            raise OutsideError("missing-objects", f"no release of {self._releases.package} is called {oid}")
        return found

    def find(self, oid: Commit) -> CommitObject | None:
        release = self.by_name.get(oid)
        if release is None:
            return None
        before = self._releases.before(release)
        subject = f"{self._releases.package} {release.version}"
        return CommitObject(
            oid, self.tree(release), (self.name(before),) if before else (), 0, subject, release.version
        )

    def version(self, tree: str, path: bytes) -> Version | None:
        self._here(tree, [path])
        return super().version(tree, path)

    def versions(self, tree: str, paths: Iterable[bytes]) -> dict[bytes, Version]:
        wanted = tuple(paths)
        self._here(tree, wanted)
        return super().versions(tree, wanted)

    def _here(self, tree: str, paths: Iterable[bytes]) -> None:
        for path in self._left_out.get(tree, frozenset()).intersection(paths):
            hint = "take this file out of the patch, or judge it by hand"
            raise OutsideError("too-large", f"cannot decide: {shown(path)} is larger than is read", hint=hint)


class ReleaseUpstream:
    """One package that was opened."""

    def __init__(
        self, git: Git, releases: Releases, repository: ReleaseRepository, source: ReleaseSource, recall: VerdictMemory
    ) -> None:
        self._git = git
        self._releases = releases
        self.source = source
        self.store = ReleaseStore.over(git, repository.objects)
        self.store.find = source.held
        self.recall = recall
        self.url = f"pkg:pypi/{releases.package}?files={releases.kind}"

    @cached_property
    def engine(self) -> bytes:
        return engine_digest()

    @cached_property
    def tags(self) -> Mapping[Commit, str]:
        """None: its versions are `releases`."""
        return {}

    @cached_property
    def releases(self) -> Mapping[Commit, Sequence[str]]:
        return {name: (one.version, *one.notes) for name, one in self.source.by_name.items()}

    def pick(self, text: str | None) -> tuple[Release, Commit]:
        """The release of that version; without one the newest. Raises InputError: no-such-version, no-release."""
        found = self._releases.newest() if text is None else self._releases.find(text)
        return found, self.source.name(found)

    def head(self, _branch: str | None) -> Commit | None:
        """The newest release."""
        return self.source.name(self._releases.newest())

    def find(self, _digits: str) -> Commit | None:
        """No release has a hash for a name."""
        return None

    def fetch_blobs(self, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        """A release is here whole."""

    def is_ancestor(self, old: Commit, new: Commit) -> bool:
        """Whether the one is the lower version."""
        return self.source.by_name[old].parsed <= self.source.by_name[new].parsed

    def grep(self, tree: Tree, words: Sequence[bytes], most: int = HITS) -> tuple[Hit, ...]:
        return grep(self._git, self.store, tree, words, most)

    def grep_others(self, tree: Tree, words: Sequence[bytes]) -> tuple[tuple[Hit, ...], int]:
        return grep_others(self._git, self.store, tree, words)


class ReleaseUpstreams:
    """Opens each package once, for as long as the block lasts; what was learned is then remembered."""

    def __init__(self, git: Git, cache: Path, index: PackageIndex) -> None:
        self._git = git
        self._cache = cache
        self._index = index
        self._opened: dict[tuple[str, str | None], ReleaseUpstream] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, tb)

    def look_up(
        self, wanted: Sequence[tuple[Package, Ref | None]]
    ) -> list[tuple[ReleaseUpstream, str, str | None, Commit]]:
        """Of each (package, version; None: the newest) the upstream, the version as written, no full name, and its commit.

        Raises all mistakes at once (InputError: no-such-package, no-such-version, no-release, bad-pip-config), and OutsideError.
        """
        found: list[tuple[ReleaseUpstream, str, str | None, Commit]] = []
        mistakes: list[InputError] = []
        for package, ref in wanted:
            try:
                upstream = self._open(package)
                release, commit = upstream.pick(ref.text if ref is not None else None)
            except InputError as mistake:
                mistakes.append(mistake)
            else:
                found.append((upstream, ref.text if ref is not None else release.version, None, commit))
        raise_all([*{(one.message, one.where): one for one in mistakes}.values()])
        return found

    def _open(self, package: Package) -> ReleaseUpstream:
        key = (package.package, package.files)
        if key not in self._opened:
            releases = Releases(package.package, self._index.files(package.package), package.files)
            repository = ReleaseRepository(self._git, self._cache, package.package)
            source = self._stack.enter_context(ReleaseSource.reading(self._git, self._index, releases, repository))
            recall = self._stack.enter_context(VerdictMemory.at(repository.folder / "verdicts.sqlite"))
            self._opened[key] = ReleaseUpstream(self._git, releases, repository, source, recall)
        return self._opened[key]
