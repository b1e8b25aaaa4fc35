"""Brings a commit into a checkout's repository, without a git command that reads the checkout's own configuration.

The fetch runs in a scratch repository that borrows the checkout's objects and refs. What arrives there is then put into
the checkout as plain files: packs, a ref of our own, new tags, and the file `shallow`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from regraft.adapters import effects
from regraft.adapters.checkout_objects import CheckoutObjects
from regraft.adapters.git_folder import GitFolder
from regraft.adapters.object_store import write_alternates
from regraft.adapters.scratch import Scratch, said
from regraft.core import remote_failures
from regraft.core.objects import Blob, Commit
from regraft.core.repository_url import public
from regraft.core.resolution import Remote
from regraft.errors import OutsideError

PIECE = 1024 * 1024
BATCH = 10_000  # hashes on one command line
REF = "refs/regraft/{}"
BASELINE_REF = "refs/regraft-baseline/{}"

_FETCH = ("fetch", "--quiet", "--no-recurse-submodules", "--no-auto-gc")
_EVERYTHING = ("heads/*", "tags/*", "pull/*/head")


class Repository(Struct, frozen=True):
    """A checkout's repository, the folders that its objects are in, its own first, and what they say."""

    git: GitFolder
    folders: tuple[Path, ...]
    objects: CheckoutObjects

    @property
    def shallow(self) -> Path | None:
        return self.git.common / "shallow" if self.git.shallow() else None


class CheckoutFetch:
    """Each fetch has a scratch repository of its own, in git's private folder."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._count = 0

    def bring(self, repository: Repository, remote: Remote, commit: Commit, name: str) -> bool:
        """Have the commit with all its files in the checkout, under `refs/regraft/NAME`; False where it was there.

        Raises OutsideError: commit-gone where the server does not hand it out, what a fetch raises, and of the disk.
        """
        if (common := repository.git.common / "reftable").is_dir():
            message = "the checkout keeps its refs in a reftable, which regraft cannot write"
            raise OutsideError("ref-storage", message, where=str(common.parent))
        fetched = not self.has(repository, commit)
        if fetched:
            store = self._borrowing(repository)
            self._fetch(store, repository, remote, commit)
            self._hand_over(store, repository)
            self._fill(repository, remote, commit)
        self._keep_baseline(repository, name)
        _put(repository.git.common / REF.format(ref_name(name)), f"{commit}\n".encode(), 0o644)
        return fetched

    def _keep_baseline(self, repository: Repository, name: str) -> None:
        """A detached HEAD that no ref holds would be swept away by the next `git gc`, and could not be given back."""
        head = repository.git.head()
        kept = repository.git.common / BASELINE_REF.format(ref_name(name))
        if head is not None and not kept.exists():
            _put(kept, f"{head}\n".encode(), 0o644)

    def has(self, repository: Repository, commit: Commit) -> bool:
        """Whether the commit is there with all files that the one at hand has not."""
        return repository.objects.lost(commit, repository.git.head()) == ()

    def _borrowing(self, repository: Repository) -> Path:
        self._count += 1
        store = self._scratch.made(f"into-checkout{self._count}.git")
        write_alternates(store, repository.folders)
        if repository.shallow is not None:
            (store / "shallow").write_bytes(repository.shallow.read_bytes())
        refs = {f"refs/tags/{name}": one for name, one in repository.git.tags().items()}
        head = repository.git.head()
        if head is not None:
            refs["refs/regraft-has/head"] = head
        kinds = self._scratch.kinds(store, list(refs.values())) if refs else {}
        there = sorted((name, one) for name, one in refs.items() if kinds[one][1] != "missing")
        (store / "packed-refs").write_bytes(os.fsencode("".join(f"{one} {name}\n" for name, one in there)))
        return store

    def _fetch(self, store: Path, repository: Repository, remote: Remote, commit: Commit) -> None:
        shallow = repository.shallow is not None
        options = ["--depth=1", "--no-tags"] if shallow else ["--update-shallow"]
        refspecs = [f"+{commit}:refs/regraft/wanted"]
        completed = self._scratch.call(remote, [*_FETCH, *options], store, refspecs)
        if completed.returncode != 0 and remote_failures.wants_no_hash(said(completed)):
            options = ["--update-shallow", "--no-tags"]
            refspecs = [f"+refs/{one}:refs/regraft/all/{one}" for one in _EVERYTHING]
            completed = self._scratch.call(remote, [*_FETCH, *options], store, refspecs)
        text = said(completed)
        gone = remote_failures.missing_object(text) is not None
        if completed.returncode != 0 and not gone:
            raise self._scratch.failed(remote, completed)
        if gone or self._scratch.kinds(store, [commit])[commit][1] != "commit":
            raise OutsideError(
                "commit-gone",
                f"the server does not hand out {commit}, which was planned",
                where=public(remote.url),
                hint="plan again; nothing else is put in its place",
            )

    def _fill(self, repository: Repository, remote: Remote, commit: Commit) -> None:
        """The files that a clone without blobs lacks: a server leaves out what it takes the clone to have."""
        head = repository.git.head()
        lost = repository.objects.lost(commit, head) or ()
        for start in range(0, len(lost), BATCH):
            self._count += 1
            store = self._scratch.made(f"files-of-checkout{self._count}.git")
            completed = self._scratch.fetch(remote, store, lost[start : start + BATCH])
            if completed.returncode != 0:
                raise self._scratch.failed(remote, completed)
            self._hand_over(store, repository, refs=False)
        if lost and (still := repository.objects.lost(commit, head)):
            message = f"the server does not hand out {len(still)} files of {commit}, {still[0]} first"
            raise OutsideError("missing-blobs", message, where=public(remote.url), hint="run again")

    def bring_files(self, repository: Repository, remote: Remote, blobs: Sequence[Blob]) -> None:
        """Files that no commit at hand has. Where the server does not hand them out, they are missing."""
        self._count += 1
        store = self._scratch.made(f"files-of-checkout{self._count}.git")
        completed = self._scratch.fetch(remote, store, blobs)
        if completed.returncode == 0:
            self._hand_over(store, repository, refs=False)

    def _hand_over(self, store: Path, repository: Repository, *, refs: bool = True) -> None:
        common = repository.git.common
        packs = [path for path in (store / "objects/pack").iterdir() if path.suffix in {".pack", ".idx"}]
        for pack in sorted(packs, key=lambda path: path.suffix == ".idx"):  # an index announces its pack
            target = common / "objects/pack" / pack.name
            if not target.exists():
                _put(target, pack, 0o444)
        if not refs:
            return
        known = repository.git.tags()
        for name, one in GitFolder(store, store).tags().items():
            if name not in known:
                _put(common / "refs/tags" / name, f"{one}\n".encode(), 0o644)
        _follow(store / "shallow", common / "shallow")


def ref_name(name: str) -> str:
    """The manifest's name, in a form that git takes as the last part of a ref."""
    safe = re.sub(r"\.\.+", "-", name)
    return re.sub(r"\.(?=lock$|$)", "-", safe)


def _follow(source: Path, target: Path) -> None:
    """Where the history ends, as the fetch left it."""
    if source.is_file():
        data = source.read_bytes()
        if not target.is_file() or target.read_bytes() != data:
            _put(target, data, 0o644)
    elif target.is_file():
        effects.unlink(str(target))


def _put(path: Path, content: bytes | Path, mode: int) -> None:
    missing: list[Path] = []
    for folder in path.parents:
        if folder.is_dir():
            break
        missing.append(folder)
    for folder in reversed(missing):
        effects.mkdir(str(folder))
    pieces: Sequence[bytes] | Iterator[bytes] = [content] if isinstance(content, bytes) else _pieces(content)
    effects.write(str(path), pieces, mode)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece
