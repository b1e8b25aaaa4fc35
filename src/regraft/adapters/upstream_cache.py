"""Upstreams, kept from run to run: objects only, never a checkout.

    CACHE/upstreams/NAME-DIGEST/      one for each URL
        lock                          held with flock(2) by whoever fetches
        commits.git                   what refs lead to; without files where the server can leave them out
        files.git                     files that were left out and then needed
        verdicts.sqlite               (adapters.verdict_memory)

A folder on this machine is read where it is, and never written to. What is read is read through a scratch repository, so that no
configuration in the cache counts and nothing is fetched by itself (adapters.object_store).
"""

import contextlib
import hashlib
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from regraft.adapters import files
from regraft.adapters.bare_repository import make_bare
from regraft.adapters.cache_folder import locked, own_folder, sweep
from regraft.adapters.git import At, Git
from regraft.adapters.git_folder import GitFolder, find
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.places import Places
from regraft.adapters.scratch import Scratch, said
from regraft.core import remote_failures
from regraft.core.objects import Blob, Commit, parse_commit
from regraft.core.repository_url import parse_repository_url, public
from regraft.core.resolution import Remote, Tip, parse_tips
from regraft.errors import InputError, OutsideError

BATCH = 10_000  # hashes on one command line
WAIT = 600.0  # seconds for another process that fetches the same


def cache_folder_of(environ: Mapping[str, str]) -> Path:
    """REGRAFT_CACHE, or `regraft` in the user's cache folder."""
    named = environ.get("REGRAFT_CACHE")
    if named:
        return Path(named).absolute()
    home = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    return Path(home, "regraft").absolute()


class CachedUpstream(Struct, frozen=True):
    """What there is of one upstream. `refs` are full names with the commits behind them.

    `partial`: files may be missing, and `UpstreamCache.fetch_blobs` brings them. `shallow` are commits whose parents were cut off.
    `folder` is its own in the cache: the place for what is remembered of it.
    """

    remote: Remote
    store: ObjectStore
    refs: Mapping[str, Commit]
    shallow: frozenset[str]
    partial: bool
    folder: Path

    @property
    def tips(self) -> tuple[Tip, ...]:
        """Branches and tags, for `core.resolution`."""
        wanted = (
            (name, commit) for name, commit in self.refs.items() if name.startswith(("refs/heads/", "refs/tags/"))
        )
        return tuple(Tip(name, commit, commit) for name, commit in wanted)


class UpstreamCache:
    """`project` is what a relative path is relative to; `environ` holds the tokens that `token-env` names."""

    def __init__(
        self, git: Git, folder: Path, project: Path, environ: Mapping[str, str], *, wait: float = WAIT
    ) -> None:
        self._git = git
        self._folder = folder
        self._project = project
        self._scratch = Scratch(git, project, environ)
        self._wait = wait

    def open(self, remote: Remote, *, refresh: bool = True, extra: Sequence[str] = ()) -> CachedUpstream:
        """The upstream as it is now, by one fetch of its branches, tags and `extra` full ref names; as it was, without `refresh`.

        Raises OutsideError: locked, what a fetch raises, `not-cached`. RefusedError `cache-not-ours`.
        """
        if parse_repository_url(remote.url).local:
            return self._local(remote, extra)
        folder = self._own(remote)
        if refresh:
            with locked(folder, self._wait):
                self._refresh(remote, folder, extra)
        elif not (folder / "commits.git").is_dir():
            raise OutsideError(
                "not-cached", "it was never fetched", where=public(remote.url), hint="run once with a network"
            )
        store = self._store(folder)
        return CachedUpstream(
            remote,
            store,
            self._refs(folder / "commits.git"),
            _shallow(folder / "commits.git"),
            partial=True,
            folder=folder,
        )

    def fetch_blobs(self, upstream: CachedUpstream, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        """Bring files that were left out into the upstream's store, by one fetch. `helpful` ones may be nobody's.

        Raises OutsideError `missing-blobs` ("cannot decide") where the server does not hand them out, and what a fetch raises.
        """
        self.ask_for_blobs(upstream, blobs, helpful)
        if blobs and (lost := upstream.store.missing(blobs)):
            raise undecided(lost, upstream.remote)

    def ask_for_blobs(self, upstream: CachedUpstream, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        """The same, and whether they came is the caller's to see."""
        remote = upstream.remote
        wanted = list(dict.fromkeys(blobs))
        if parse_repository_url(remote.url).local:
            if wanted:
                raise undecided(wanted, remote)
            return
        if not wanted and not helpful:
            return
        with locked(upstream.folder, self._wait):
            repository = self._made(upstream.folder / "files.git")
            refused = self._fetch_files(remote, repository, list(dict.fromkeys([*wanted, *helpful])))
            if refused and wanted and helpful:  # a server that lacks one hands out none
                self._fetch_files(remote, repository, wanted)

    def _fetch_files(self, remote: Remote, repository: Path, wanted: Sequence[str]) -> bool:
        """Whether the server refused to hand out some of them."""
        refused = False
        for start in range(0, len(wanted), BATCH):
            completed = self._scratch.fetch(remote, repository, wanted[start : start + BATCH])
            text = said(completed)
            if completed.returncode != 0:
                if not (remote_failures.wants_no_hash(text) or remote_failures.missing_object(text)):
                    raise self._scratch.failed(remote, completed)
                refused = True
        return refused

    def _store(self, folder: Path) -> ObjectStore:
        objects = [folder / name / "objects" for name in ("commits.git", "files.git")]
        return ObjectStore.over(self._git, objects, folder / "commits.git" / "shallow")

    def _local(self, remote: Remote, extra: Sequence[str]) -> CachedUpstream:
        path = self._scratch.folder_of(remote.url)
        assert path is not None
        places = Places(path)
        bare = (path / "objects").is_dir() and (path / "HEAD").is_file()
        found = GitFolder(path, path) if bare else find(path, places).git
        if found is None:
            raise InputError("not-a-repository", "there is no git repository here", where=str(path))
        shallow = found.common / "shallow"
        store = ObjectStore.over(self._git, found.object_folders(places), shallow)
        patterns = ["refs/heads/*", "refs/tags/*", *extra]
        completed = self._scratch.call(remote, ["ls-remote", "--quiet"], self._scratch.made("local-refs.git"), patterns)
        if completed.returncode != 0:
            raise self._scratch.failed(remote, completed)
        refs = {tip.name: tip.commit for tip in parse_tips(completed.stdout)}
        refs.update((name, commit) for commit, name in _listed(completed.stdout) if name in extra)
        partial = b"promisor" in found.config().lower() or b"partialclone" in found.config().lower()
        return CachedUpstream(remote, store, refs, _shallow(found.common), partial, self._own(remote))

    def _own(self, remote: Remote) -> Path:
        """The folder of one URL. Raises RefusedError `cache-not-ours` for one that others may write to."""
        local = self._scratch.folder_of(remote.url)
        text = str(local) if local is not None else public(remote.url)
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", text.rstrip("/").rpartition("/")[2].removesuffix(".git"))[:40].strip(
            ".-"
        )
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return own_folder(self._folder, "upstreams", f"{name or 'upstream'}-{digest}")

    def _refresh(self, remote: Remote, folder: Path, extra: Sequence[str]) -> None:
        self._made(folder / "files.git")  # before anybody reads: git looks once where else there are objects
        repository = self._made(folder / "commits.git")
        sweep(repository)
        refspecs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", *(f"+{name}:{name}" for name in extra)]
        completed = self._scratch.fetch(remote, repository, refspecs, prune=True)
        if completed.returncode != 0:
            raise self._scratch.failed(remote, completed)

    def _made(self, repository: Path) -> Path:
        """The bare repository, whole from the moment that it has its name. Only under the lock."""
        try:
            for old in repository.parent.glob(f".{repository.name}.*"):
                shutil.rmtree(old, ignore_errors=True)
            if not repository.is_dir():
                fresh = repository.parent / f".{repository.name}.{secrets.token_hex(6)}"
                make_bare(fresh)
                fresh.rename(repository)
        except OSError as error:
            raise files.outside(error, str(repository)) from None
        self._scratch.settle(repository)  # a killed fetch may have left its own settings
        return repository

    def _refs(self, repository: Path) -> dict[str, Commit]:
        arguments = ["for-each-ref", "--format=%(objectname) %(objecttype) %(*objectname) %(*objecttype) %(refname)"]
        completed = self._git.run(arguments, At(git_dir=repository))
        if completed.returncode != 0:
            raise OutsideError(
                "git-failed", f"the cache cannot be read: {said(completed)!r:.220}", where=str(repository)
            )
        refs: dict[str, Commit] = {}
        for line in completed.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]:
            oid, kind, inner, inner_kind, name = line.split(" ", 4)
            if "commit" in (kind, inner_kind):
                refs[name] = parse_commit(oid if kind == "commit" else inner)
        return refs


def _shallow(git_dir: Path) -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset((git_dir / "shallow").read_text("ascii", "replace").split())
    return frozenset()


def _listed(listing: bytes) -> Iterator[tuple[Commit, str]]:
    for line in listing.decode("utf-8", "surrogateescape").split("\n"):
        digits, tab, name = line.partition("\t")
        with contextlib.suppress(ValueError):
            if tab:
                yield parse_commit(digits), name


def undecided(blobs: Sequence[str], remote: Remote) -> OutsideError:
    local = parse_repository_url(remote.url).local
    why = (
        "this folder does not have them; fetch them there"
        if local
        else "the server does not hand them out by their names"
    )
    message = f"cannot decide: blob missing ({len(blobs)} of them, {blobs[0]} first); {why}"
    return OutsideError("missing-blobs", message, where=public(remote.url))
