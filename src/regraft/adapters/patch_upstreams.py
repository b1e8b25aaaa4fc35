"""The upstreams that patches are judged on, each opened once: refs looked up, objects read, verdicts remembered."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Self

from regraft.adapters.git import At, Git
from regraft.adapters.scratch_index import failure
from regraft.adapters.tree_grep import HITS, grep, grep_others
from regraft.adapters.upstream_cache import CachedUpstream, UpstreamCache
from regraft.adapters.upstream_history import UpstreamHistory
from regraft.adapters.verdict_memory import VerdictMemory, engine_digest
from regraft.core.manifest import Dependency
from regraft.core.objects import Blob, Commit, Tree, parse_commit
from regraft.core.references import Hit
from regraft.core.refs import HashRef, NameRef, PullRef, Ref
from regraft.core.repository_url import public
from regraft.core.resolution import Pick, Place, Remote, pick_hash, pick_name, tip_of, unreachable
from regraft.core.which_repository import url_of
from regraft.errors import InputError, OutsideError, raise_all


class PatchUpstream:
    """One opened upstream: `flows.patch_judging.PatchUpstream`."""

    def __init__(
        self,
        git: Git,
        cache: UpstreamCache,
        upstream: CachedUpstream,
        source: UpstreamHistory,
        recall: VerdictMemory,
    ) -> None:
        self._git = git
        self._cache = cache
        self._upstream = upstream
        self.source = source
        self.store = upstream.store
        self.recall = recall
        self.url = public(upstream.remote.url)

    @cached_property
    def engine(self) -> bytes:
        return engine_digest()

    @cached_property
    def tags(self) -> Mapping[Commit, str]:
        """Of several tags of a commit the last one by name."""
        found = sorted((name, commit) for name, commit in self._upstream.refs.items() if name.startswith("refs/tags/"))
        return {commit: name.removeprefix("refs/tags/") for name, commit in found}

    @property
    def releases(self) -> Mapping[Commit, Sequence[str]]:
        """Its commits are commits."""
        return {}

    def head(self, branch: str | None) -> Commit | None:
        return self._upstream.refs.get(f"refs/heads/{branch}")

    def find(self, digits: str) -> Commit | None:
        """The commit whose hash begins so, where it is here and the only one."""
        arguments = ["cat-file", "--batch-check=%(objectname) %(objecttype)"]
        completed = self._git.run(arguments, At(git_dir=self.store.git_dir), stdin=f"{digits}\n".encode("ascii"))
        oid, _, kind = completed.stdout.decode("ascii", "replace").strip().partition(" ")
        return parse_commit(oid) if kind == "commit" else None

    def fetch_blobs(self, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        self._cache.fetch_blobs(self._upstream, blobs, helpful)

    def is_ancestor(self, old: Commit, new: Commit) -> bool:
        return self.store.is_ancestor(old, new)

    def grep(self, tree: Tree, words: Sequence[bytes], most: int = HITS) -> tuple[Hit, ...]:
        """The lines of a tree's text files in which one of the words stands as a whole. No checkout.

        Raises OutsideError `missing-blobs`: not all files are here and the rest cannot be fetched.
        """
        if not words:
            return ()
        self.source.complete({one.oid for one in self.source.listing(tree) if one.kind == "blob"})
        return grep(self._git, self.store, tree, words, most)

    def grep_others(self, tree: Tree, words: Sequence[bytes]) -> tuple[tuple[Hit, ...], int]:
        """The same in what is no text, and how many such files were not looked into. After `grep`, which brings what is missing."""
        return grep_others(self._git, self.store, tree, words)

    def pick(self, ref: Ref, place: Place, branch: str | None) -> tuple[str | None, Commit]:
        """The full name and the commit. Raises InputError as `resolve` does."""
        match ref.target:
            case PullRef() as pull:
                return self._pull(pull, place)
            case NameRef() as named:
                found = pick_name(named, self._upstream.tips, place)
                return found.name, Commit(found.source)
            case HashRef() as digits:
                pick = self._hash(digits, place)
                commit = Commit(pick.source)
                if not pick.listed and (self.source.find(commit) is None or not self._reached(commit)):
                    raise unreachable(commit, tip_of(branch, self._upstream.tips), place)
                return pick.name, commit

    def is_no_commit(self, oid: Commit) -> bool:
        """A tag may name a tree or a blob."""
        try:
            self.source.find(oid)
        except OutsideError as error:
            if error.code != "not-that-kind":
                raise
            return True
        return False

    def _pull(self, pull: PullRef, place: Place) -> tuple[str, Commit]:
        name = f"refs/pull/{pull.number}/head"
        commit = self._upstream.refs.get(name)
        if commit is None:
            message = f"refs for #{pull.number} could not be fetched: {place.url} has no {name}"
            raise place.error("no-such-ref", message, "look whether the number and the repository are right")
        if not commit.startswith(pull.head or ""):
            message = f"the head of #{pull.number} in {place.url} is {commit}, and not {pull.head}"
            raise place.error("stale-hash", message, f"look at what was pushed, then write #{pull.number}@{commit}")
        return name, commit

    def _hash(self, ref: HashRef, place: Place) -> Pick:
        """A short hash need not be a tip's here: all commits that refs lead to are at hand."""
        try:
            return pick_hash(ref, self._upstream.tips, place)
        except InputError as mistake:
            found = self.find(ref.digits) if mistake.code == "write-full-hash" else None
            if found is None:
                raise
            return Pick(found, None, listed=False)

    def _reached(self, commit: Commit) -> bool:
        """Whether a branch, a tag or a pull request that was fetched leads there."""
        asked = "".join(f"{one}\n" for one in (commit, *(f"^{tip}" for tip in {*self._upstream.refs.values()})))
        arguments = ["rev-list", "--max-count=1", "--ignore-missing", "--stdin"]
        completed = self._git.run(arguments, At(git_dir=self.store.git_dir), stdin=asked.encode("ascii"))
        if completed.returncode != 0:
            raise failure(completed)
        return not completed.stdout.strip()


class PatchUpstreams:
    """Opens each repository once, for as long as the block lasts; what was learned is then remembered.

    Nothing is remembered where the block ends with an error.
    """

    def __init__(self, git: Git, cache: UpstreamCache) -> None:
        self._git = git
        self._cache = cache
        self._opened: dict[str, PatchUpstream] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, tb)

    def look_up(
        self, wanted: Sequence[tuple[Dependency, Ref | None]]
    ) -> list[tuple[PatchUpstream, str, str | None, Commit]]:
        """Of each (dependency, ref; None: its branch) the upstream, the ref as written, its full name, and the commit.

        Raises all mistakes at once (InputError: no-branch, not-allowed, no-such-ref, ambiguous-ref, stale-hash, write-full-hash,
        unreachable), and OutsideError.
        """
        questions, mistakes = _questions(wanted)
        pulls: dict[Remote, dict[str, None]] = {}
        for remote, ref in questions:
            names = pulls.setdefault(remote, {})
            if isinstance(ref.target, PullRef):
                names[f"refs/pull/{ref.target.number}/head"] = None
        raise_all(mistakes)
        opened: dict[Remote, PatchUpstream] = {}
        for remote, names in pulls.items():
            try:
                opened[remote] = self._open(remote, tuple(names))
            except InputError as mistake:
                mistakes.append(mistake)
        raise_all(mistakes)
        found = []
        for (dependency, asked), (remote, ref) in zip(wanted, questions, strict=True):
            place = Place("--at" if asked else f"dependencies.{dependency.name}.branch", public(remote.url))
            try:
                name, commit = opened[remote].pick(ref, place, dependency.branch)
                if opened[remote].is_no_commit(commit):
                    raise place.error(
                        "no-commit", f"{ref.text!r:.200} names no commit", "name a branch, a tag or a hash of one"
                    )
            except InputError as mistake:
                mistakes.append(mistake)
            else:
                found.append((opened[remote], ref.text, name, commit))
        raise_all([*{(one.message, one.where): one for one in mistakes}.values()])
        return found

    def _open(self, remote: Remote, extra: Sequence[str]) -> PatchUpstream:
        key = remote.url
        if key not in self._opened:
            try:
                cached = self._cache.open(remote, extra=extra)
            except OutsideError as error:
                if "couldn't find remote ref" not in error.message:
                    raise
                number = next((one.split("/")[2] for one in extra if one in error.message), "?")
                message = f"refs for #{number} could not be fetched: {public(remote.url)} has none"
                hint = "look whether the number and the repository are right"
                raise InputError("no-such-ref", message, where="--at", hint=hint) from None
            source = self._stack.enter_context(UpstreamHistory.reading(self._git, self._cache, cached))
            recall = self._stack.enter_context(VerdictMemory.at(cached.folder / "verdicts.sqlite"))
            self._opened[key] = PatchUpstream(self._git, self._cache, cached, source, recall)
        return self._opened[key]


def _questions(wanted: Iterable[tuple[Dependency, Ref | None]]) -> tuple[list[tuple[Remote, Ref]], list[InputError]]:
    questions: list[tuple[Remote, Ref]] = []
    mistakes: list[InputError] = []
    for dependency, ref in wanted:
        try:
            if ref is not None:
                questions.append((Remote(url_of(ref, dependency, "--at"), dependency.token_env), ref))
            elif dependency.branch is not None:
                own = Ref(dependency.branch, NameRef(dependency.branch, "branch"))
                questions.append((Remote(dependency.url, dependency.token_env), own))
            else:
                message = f"{dependency.name} follows no branch, so there is no head to take"
                hint = "name a ref with --at, or a `branch` in the manifest"
                mistakes.append(InputError("no-branch", message, where="--at", hint=hint))
        except InputError as mistake:
            mistakes.append(mistake)
    return questions, mistakes
