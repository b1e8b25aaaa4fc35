"""Upstream repositories over git: what they list, and what they hand out."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from regraft.adapters.git import Git
from regraft.adapters.object_store import Seen
from regraft.adapters.scratch import Scratch, said
from regraft.core import remote_failures
from regraft.core.objects import Blob, Commit, Tree, parse_commit, parse_tree
from regraft.core.plan import Note
from regraft.core.repository_url import parse_repository_url, public
from regraft.core.resolution import Fetched, Reach, Remote, Tip, parse_head, parse_tips
from regraft.errors import OutsideError

BATCH = 10_000  # hashes on one command line
ATTEMPTS = 5  # fetches, where a server lacks files that would be a help only
STORE = "upstream.git"
FILES = "files.git"

_TIPS = ("heads/*", "tags/*")
_PULLS = ("pull/*/head",)
_NO_DEPTH = 2**31 - 1  # git's own number for it; also takes back what was shallow


class GitUpstream:
    """The port `Upstream`. `project` is what a relative path is relative to; `environ` holds the tokens by name.

    `store` is the bare repository that fetched commits are in, from the first call on. Files that a filter left out are
    missing there, as plain missing objects: nothing fetches them by itself.
    """

    def __init__(self, git: Git, project: Path, environ: Mapping[str, str]) -> None:
        self._folder = git.folder
        self._scratch = Scratch(git, project, environ)
        self._numbers: dict[str, int] = {}
        self.store: Path = git.folder / STORE
        self.seen = Seen()  # what is known to be in `store`

    def ls_remote(self, remote: Remote) -> tuple[Tip, ...]:
        completed = self._scratch.call(remote, ["ls-remote", "--quiet", "--heads", "--tags"], self._scratch.made(STORE))
        if completed.returncode != 0:
            raise self._scratch.failed(remote, completed)
        return parse_tips(completed.stdout)

    def head(self, remote: Remote) -> Commit | None:
        """The tip of its default branch; None where it has none."""
        completed = self._scratch.call(remote, ["ls-remote", "--quiet"], self._scratch.made(STORE), ["HEAD"])
        if completed.returncode != 0:
            raise self._scratch.failed(remote, completed)
        return parse_head(completed.stdout)

    def fetch(self, remote: Remote, wants: Sequence[str]) -> Fetched:
        """At most one fetch where the server has all of it; one more for each that it has not."""
        store = self._scratch.made(STORE)
        own = f"refs/regraft/{self._number(remote)}"
        pending = list(dict.fromkeys(wants))
        missing: set[str] = set()
        whole: tuple[str, ...] = ()  # what is fetched whole, from a server that hands out tips only
        filtered = True
        while pending:
            refspecs = [f"+refs/{name}:{own}/all/{name}" for name in whole]
            refspecs += [f"+{want}:{own}/{_under(want)}" for want in pending if _is_ref(want) or not whole]
            completed = self._scratch.fetch(remote, store, refspecs, depth=_NO_DEPTH if whole else 1)
            text = said(completed)
            gone = remote_failures.missing_object(text)
            if completed.returncode == 0:
                filtered = not remote_failures.filter_ignored(text)
                if whole != _TIPS or not self._lacks(store, pending):
                    break
                whole = (*_TIPS, *_PULLS)
            elif not whole and remote_failures.wants_no_hash(text):
                whole = _TIPS
            elif gone in pending:
                missing.add(gone)
                pending.remove(gone)
            else:
                raise self._scratch.failed(remote, completed)
        commits, others = self._look(
            store, {want: f"{own}/{_under(want)}" if _is_ref(want) else want for want in pending}
        )
        missing.update(set(pending) - commits.keys() - others.keys())
        return Fetched(
            commits,
            frozenset(missing),
            others,
            filtered,
            tuple(_notes(remote, filtered=filtered, tips_only=bool(whole))),
        )

    def reachable(self, remote: Remote, commits: Sequence[Commit]) -> Reach:
        """Judged in a store that holds nothing but what refs lead to: commits, and no trees where the server can do that."""
        store = self._scratch.made(f"history{self._number(remote)}.git")
        # From a shallow folder a git without GIT_NO_LAZY_FETCH (2.45, and what took it over) would start fetch after fetch for
        # the parents that it misses, if there were a filter.
        filters = (None,) if self._scratch.is_shallow(remote) else ("tree:0", "blob:none", None)
        notes: dict[Note, None] = {}
        for names in (_TIPS, _PULLS):
            refspecs = [f"+refs/{one}:refs/regraft/{one}" for one in names]
            completed = self._scratch.fetch(remote, store, refspecs, filters=filters)
            if completed.returncode != 0:
                raise self._scratch.failed(remote, completed)
            filtered = not remote_failures.filter_ignored(said(completed))
            notes.update(dict.fromkeys(_notes(remote, filtered=filtered, tips_only=False)))
            kinds = self._scratch.kinds(store, commits)
            found = frozenset(commit for commit in commits if kinds[commit][1] == "commit")
            if found == set(commits):
                break
        return Reach(found, tuple(notes))

    def fetch_blobs(self, url: str, token_env: str | None, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        """By one fetch, where the server has them all. `helpful` ones are gone without where it does not hand them out.

        They come into a repository without refs first: where it is told of a commit, a server leaves out all files of it.
        Raises OutsideError `missing-blobs` where the server does not hand out `blobs`, and what a fetch raises.
        """
        remote = Remote(url, token_env)
        wanted = list(dict.fromkeys(blobs))
        needed = frozenset(wanted)
        every = list(dict.fromkeys([*wanted, *helpful]))
        for start in range(0, len(every), BATCH):
            if not self._fetch_files(remote, every[start : start + BATCH], needed):
                if wanted:
                    self._fetch_whole(remote)
                break
        kinds = self._scratch.kinds(self._scratch.made(STORE), wanted) if wanted else {}
        lost = [blob for blob in wanted if kinds[blob][1] != "blob"]
        if lost:
            message = f"the server does not hand out {len(lost)} of {len(wanted)} files, {lost[0]} first"
            raise OutsideError("missing-blobs", message, where=public(url), hint="run again")
        self.seen.objects.update(wanted)

    def _fetch_files(self, remote: Remote, names: Sequence[Blob], needed: Collection[Blob]) -> bool:
        """False where the server hands out tips only. One that it does not have keeps it from handing out any."""
        left = list(names)
        for attempt in range(ATTEMPTS):
            if attempt == ATTEMPTS - 1:
                left = [one for one in left if one in needed]
            if not left:
                break
            completed = self._scratch.fetch(remote, self._scratch.made(FILES), left)
            text = said(completed)
            if remote_failures.wants_no_hash(text):
                return False
            gone = remote_failures.missing_object(text)
            if completed.returncode != 0 and gone is None:
                raise self._scratch.failed(remote, completed)
            self._join(FILES)
            if completed.returncode == 0 or gone in needed:
                break
            left = [one for one in left if one != gone]
        return True

    def _fetch_whole(self, remote: Remote) -> None:
        name = f"whole{self._number(remote)}.git"
        refspecs = [f"+refs/{one}:refs/regraft/{one}" for one in (*_TIPS, *_PULLS)]
        completed = self._scratch.fetch(remote, self._scratch.made(name), refspecs, filters=(None,))
        if completed.returncode != 0:
            raise self._scratch.failed(remote, completed)
        self._join(name)

    def _join(self, name: str) -> None:
        """Give the store what another repository holds."""
        packs = (self._folder / name / "objects" / "pack").iterdir()
        for pack in sorted(packs, key=lambda path: path.suffix == ".idx"):  # an index announces its pack
            target = self._scratch.made(STORE) / "objects" / "pack" / pack.name
            if not target.exists():
                os.link(pack, target)

    def _lacks(self, store: Path, wants: Sequence[str]) -> bool:
        kinds = self._scratch.kinds(store, [want for want in wants if not _is_ref(want)])
        return any(kind == "missing" for _, kind in kinds.values())

    def _look(self, store: Path, names: Mapping[str, str]) -> tuple[dict[str, tuple[Commit, Tree]], dict[str, str]]:
        """Commit and tree behind each name, or else the type of what is no commit."""
        asked = [f"{name}{part}" for name in names.values() for part in ("", "^{commit}", "^{tree}")]
        kinds = self._scratch.kinds(store, asked)
        commits: dict[str, tuple[Commit, Tree]] = {}
        others: dict[str, str] = {}
        for want, name in names.items():
            commit, tree = kinds[f"{name}^{{commit}}"], kinds[f"{name}^{{tree}}"]
            if commit[1] == "commit" and tree[1] == "tree":
                commits[want] = parse_commit(commit[0]), parse_tree(tree[0])
                self.seen.trees[commits[want][0]] = commits[want][1]
            elif kinds[name][1] != "missing":
                others[want] = kinds[name][1]
        return commits, others

    def _number(self, remote: Remote) -> int:
        return self._numbers.setdefault(remote.url, len(self._numbers))


def _is_ref(want: str) -> bool:
    return want.startswith("refs/")


def _under(want: str) -> str:
    return want.removeprefix("refs/")


def _notes(remote: Remote, *, filtered: bool, tips_only: bool) -> Iterator[Note]:
    url = public(remote.url)
    if not filtered and not parse_repository_url(remote.url).local:
        yield Note("notice", "no-filter", f"{url} knows no filters: whole trees with all files were fetched")
    if tips_only:
        yield Note("notice", "no-hash-wants", f"{url} hands out tips only: all branches and tags were fetched")
