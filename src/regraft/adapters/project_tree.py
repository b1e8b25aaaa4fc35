"""The files that a project's repository tracks: as they are in its work tree, or as HEAD has them; and changes to them.

No hook, filter or file watcher of the repository runs.
"""

import os
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from regraft.adapters import files, process
from regraft.adapters.git import At, Git
from regraft.adapters.git_folder import GitFolder, find
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.places import Places
from regraft.adapters.process import Completed
from regraft.adapters.project_files import ProjectFolder
from regraft.core.drop_values import Change
from regraft.core.objects import Blob, Commit
from regraft.core.patterns import regex
from regraft.core.trees import EXECUTABLE, FILE, LINK
from regraft.errors import InputError, OutsideError, RegraftError

LINKS = 40  # one after another, as Linux follows them

_IDENTITY = regex(r"(.*) <([^<>]*)> \d+ [-+]\d{4}")
_NEUTRAL = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false")
_IGNORED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG")


class Enclosing(NamedTuple):
    """`top` is the checkout's; `root` the project's folder in it, with a slash at its end, or ""."""

    git: GitFolder
    top: Path
    root: str


def enclosing(project: Path) -> Enclosing:
    """The nearest repository: the project's own, or that of a folder above it. Raises InputError `not-a-repository`."""
    real = Path(os.path.realpath(project))
    for top in (real, *real.parents):
        found = find(top, Places(top))
        if found.git is not None:
            below = real.relative_to(top).as_posix()
            return Enclosing(found.git, top, "" if below == "." else f"{below}/")
        if found.state != "no-repository":
            break
    message = f"the project is in no git checkout: {found.trouble or found.state}"
    hint = "run it in a checkout of the project, or name one with --project"
    raise InputError("not-a-repository", message, where=str(project), hint=hint)


def _followed(targets: Mapping[str, str], files: Collection[str]) -> dict[str, str]:
    """Each link, and the file that it leads to in the end. A link through another folder's link is not followed."""
    found = {}
    for link in targets:
        path, steps = link, 0
        while path in targets and steps < LINKS:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), targets[path]))
            steps += 1
        if path in files:
            found[link] = path
    return found


def _store(git: Git, found: GitFolder, root: Path) -> ObjectStore:
    shallow = found.common / "shallow"
    return ObjectStore.over(git, found.object_folders(Places(root)), shallow if shallow.is_file() else None)


class WorkTree:
    """`flows.patch_drop.TrackedFiles` over the work tree: what its index lists, in the bytes that are on the disk."""

    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        self._found, self._top, self.root = enclosing(root)
        self._files = ProjectFolder(self._top)

    def paths(self) -> tuple[str, ...]:
        """Raises InputError `unmerged`, OutsideError."""
        return tuple(path for path, mode in self._index() if mode in (FILE, EXECUTABLE))

    def links(self) -> dict[str, str]:
        """Those that are links on the disk, too. Raises what `paths` raises."""
        index = self._index()
        links = [path for path, mode in index if mode == LINK and (self._top / path).is_symlink()]
        targets = {path: str((self._top / path).readlink()) for path in links}
        return _followed(targets, {path for path, mode in index if mode in (FILE, EXECUTABLE)})

    def _index(self) -> list[tuple[str, str]]:
        """(path, mode) of each entry."""
        at = At(git_dir=self._found.folder)
        listing = _done(self._git.run([*_NEUTRAL, "ls-files", "-z", "--stage"], at)).stdout
        found = []
        for record in listing.split(b"\0")[:-1]:
            meta, _, path = record.partition(b"\t")
            mode, _, stage = meta.split(b" ")
            if stage != b"0":
                raise InputError("unmerged", "a merge is not finished", where=os.fsdecode(path), hint="finish it first")
            found.append((path.decode("utf-8", "surrogateescape"), mode.decode()))
        return found

    def each(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            if (self._top / path).is_symlink():
                continue
            try:
                data = self._files.read(path, limit)
            except InputError:  # larger, or another kind of thing by now
                continue
            if data is not None:
                yield path, data

    def write(self, changes: Sequence[Change]) -> None:
        """Make every change, or none: what was written is put back where one fails.

        Raises OutsideError; `changed-meanwhile` where a file is no longer what it was read as.
        """
        for change in changes:
            if not self._is(change.path, change.before):
                hint = "run again"
                raise OutsideError("changed-meanwhile", "the file is not what it was", where=change.path, hint=hint)
        done: list[Change] = []
        try:
            for change in changes:
                done.append(change)
                if change.after is None:
                    files.remove(self._top / change.path)
                else:
                    files.write(self._top / change.path, change.after)
        except BaseException:
            for change in reversed(done):
                self._put_back(change)
            raise

    def _is(self, path: str, data: bytes) -> bool:
        try:
            return self._files.read(path, len(data)) == data
        except InputError:  # larger, or another kind of thing by now
            return False

    def _put_back(self, change: Change) -> None:
        """As far as the disk lets us; the error that is on its way says the rest."""
        try:
            if not self._is(change.path, change.before):
                files.write(self._top / change.path, change.before)
        except RegraftError:
            return


class Committed:
    """The same over HEAD; a change becomes a commit on a new branch, and neither work tree nor index sees it."""

    def __init__(self, git: Git, root: Path, machine: Mapping[str, str]) -> None:
        self._git = git
        self._root = root
        self._machine = machine
        self._found, top, self.root = enclosing(root)
        self._store = _store(git, self._found, top)
        head = self._found.head()
        if head is None:
            raise InputError("no-commit", "HEAD names no commit", where=str(root), hint="commit something first")
        self.head: Commit = head
        entries = self._store.list_tree(self._store.commit_tree(head))
        self._entries = {one.name: one for one in entries if one.mode in (FILE, EXECUTABLE)}
        self._links = {one.name: Blob(one.oid) for one in entries if one.mode == LINK}

    def paths(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def links(self) -> dict[str, str]:
        """Raises OutsideError."""
        texts = self._store.read_blobs([*self._links.values()])
        targets = {path: texts[oid].decode("utf-8", "surrogateescape") for path, oid in self._links.items()}
        return _followed(targets, self._entries)

    def each(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes]]:
        named: dict[str, list[str]] = {}
        for path in paths:
            named.setdefault(self._entries[path].oid, []).append(path)
        for oid, data in self._store.each_blob([Blob(one) for one in named]):
            if len(data) <= limit:
                yield from ((path, data) for path in named[oid])

    def check_branch(self, branch: str) -> None:
        """Raise InputError (bad-branch, branch-exists) unless a new branch may be called that."""
        name = f"refs/heads/{branch}"
        checked = self._run(["check-ref-format", name], expected=(0, 1))
        if checked.returncode or branch.startswith("-"):
            raise InputError("bad-branch", f"{branch!r:.120} is no name for a branch", where="--commit")
        there = self._run(["show-ref", "--verify", "--quiet", "--", name], expected=(0, 1))
        if there.returncode == 0:
            hint = "name another: --commit NAME"
            raise InputError("branch-exists", f"there is a branch {branch!r:.120} already", where="--commit", hint=hint)

    def identity(self) -> Mapping[str, str]:
        """Who commits: what git itself would say for this user, here. InputError `no-identity`."""
        found: dict[str, str] = {}
        environment = {name: value for name, value in self._machine.items() if name not in _IGNORED}
        for who in ("AUTHOR", "COMMITTER"):
            argv = ["git", "-c", "user.useConfigOnly=true", "var", f"GIT_{who}_IDENT"]
            said = process.run(argv, env={**environment, "LC_ALL": "C"}, cwd=str(self._root), timeout=60)
            match = _IDENTITY.fullmatch(said.stdout.decode("utf-8", "surrogateescape").strip())
            if said.returncode or match is None or not match[1]:
                hint = "git config user.name 'Your Name' && git config user.email you@example.org"
                raise InputError("no-identity", "git does not know who commits", where="--commit", hint=hint)
            found |= {f"GIT_{who}_NAME": match[1], f"GIT_{who}_EMAIL": match[2]}
            if date := environment.get(f"GIT_{who}_DATE"):
                found[f"GIT_{who}_DATE"] = date
        return found

    def commit(self, changes: Sequence[Change], branch: str, message: str) -> Commit:
        """A commit with these changes after HEAD, on a new branch. The branch comes last: before that, nothing is seen.

        Raises what `check_branch` and `identity` raise, and OutsideError.
        """
        self.check_branch(branch)
        who = self.identity()
        index = self._git.folder / "drop-index"
        self._run(["read-tree", self.head], index=index)
        lines = [self._index_line(change) for change in changes]
        self._run(["update-index", "-z", "--index-info"], index=index, stdin=b"".join(lines))
        tree = self._run(["write-tree"], index=index).stdout.decode().strip()
        text = message.encode("utf-8", "surrogateescape")
        made = self._run(["commit-tree", tree, "-p", self.head], stdin=text, env=who).stdout.decode().strip()
        self._run(["update-ref", f"refs/heads/{branch}", made, "0" * len(made)], env=who)
        return Commit(made)

    def _index_line(self, change: Change) -> bytes:
        path = change.path.encode("utf-8", "surrogateescape")
        if change.after is None:
            return b"0 " + b"0" * len(self.head) + b"\t" + path + b"\0"
        oid = self._run(["hash-object", "-w", "--stdin"], stdin=change.after).stdout.strip()
        return self._entries[change.path].mode.encode() + b" " + oid + b"\t" + path + b"\0"

    def _run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        index: Path | None = None,
        env: Mapping[str, str] | None = None,
        expected: Sequence[int] = (0,),
    ) -> Completed:
        at = At(git_dir=self._found.folder, index=index)
        return _done(self._git.run([*_NEUTRAL, *arguments], at, stdin=stdin, env=env), expected)


def _done(completed: Completed, expected: Sequence[int] = (0,)) -> Completed:
    if completed.returncode not in expected:
        said = completed.stderr.decode("utf-8", "replace").strip()
        raise OutsideError("git-failed", f"git {completed.argv[1]!r:.40} failed: {said!r:.300}")
    return completed
