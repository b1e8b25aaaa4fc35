"""Throw-away upstreams: bare repositories with branches, tags and pull refs, which git in a run finds under their real URLs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from regraft.adapters import files, process
from regraft.core.patterns import regex
from regraft.core.ref_names import parse_repository
from regraft.core.runner_given import Made
from regraft.errors import InputError, OutsideError

BEGIN = 1_767_225_600  # when the first commit was made: 2026-01-01

Files = Mapping[str, str | bytes | None]
"""By path; None takes one away."""

_URL = regex(r"https?://([A-Za-z0-9.-]+(?::[0-9]+)?)/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+?)(?:\.git)?/?")
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""


class Upstream:
    """A repository as a forge serves it. Every hash is the same on each machine."""

    def __init__(self, name: str, path: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self.path = path
        self._env = env
        self._heads: dict[str, str] = {}
        self._made = 0
        for folder in ("objects", "refs"):
            (path / folder).mkdir(parents=True)
        files.write(path / "HEAD", b"ref: refs/heads/main\n")
        files.write(path / "config", _CONFIG.encode())

    def commit(self, branch: str, changes: Files, *, parent: str | None = None, message: str | None = None) -> str:
        """A commit with these changes on a branch (or a full ref), after `parent` or what is there; its hash."""
        ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
        self._made += 1
        text = (message or f"Change {self._made}").encode()
        who = f"Upstream <upstream@example.org> {BEGIN + 60 * self._made} +0000"
        lines = [f"commit {ref}".encode(), b"mark :1", f"committer {who}".encode(), _data(text)]
        parent = parent or self._heads.get(ref)
        if parent:
            lines.append(f"from {parent}".encode())
        for path, content in changes.items():
            if content is None:
                lines.append(f"D {_path(path)}".encode())
            else:
                data = content.encode() if isinstance(content, str) else content
                lines += [f"M 100644 inline {_path(path)}".encode(), _data(data)]
        stream = b"\n".join([*lines, b"", b"get-mark :1", b""])
        self._heads[ref] = self.git("fast-import", "--quiet", "--force", stdin=stream)
        return self._heads[ref]

    def pull(self, number: int, changes: Files, *, parent: str | None = None) -> str:
        """A pull request: `refs/pull/NUMBER/head`, after `parent` or the default branch; its hash."""
        return self.commit(f"refs/pull/{number}/head", changes, parent=parent or self._heads.get("refs/heads/main"))

    def branch(self, name: str, commit: str) -> None:
        self._ref(f"refs/heads/{name}", commit)

    def tag(self, name: str, commit: str) -> None:
        self._ref(f"refs/tags/{name}", commit)

    def _ref(self, ref: str, commit: str) -> None:
        self.git("update-ref", ref, commit)
        self._heads[ref] = commit

    def head(self, branch: str = "main") -> str:
        """The commit that a branch (or a full ref) names."""
        return self._heads[branch if branch.startswith("refs/") else f"refs/heads/{branch}"]

    def has(self, ref: str) -> bool:
        return ref in self._heads

    def clone(self, folder: Path, commit: str) -> None:
        """A checkout of a commit with its history, HEAD detached, and `origin` at the repository's real URL."""
        folder.mkdir(parents=True, exist_ok=True)
        run_git(["init", "--quiet"], folder, self._env)
        run_git(["fetch", "--quiet", "--no-tags", str(self.path), commit], folder, self._env)
        run_git(["checkout", "--quiet", "--detach", commit], folder, self._env)
        url = self.name if "://" in self.name else f"https://github.com/{self.name}.git"
        run_git(["remote", "add", "origin", url], folder, self._env)

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """What git says in the repository. Raises OutsideError `git-failed`."""
        return run_git(arguments, self.path, self._env, stdin)


class Upstreams:
    """Those of one run, below one folder."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = env
        self._names: list[str] = []

    def add(self, name: str) -> Upstream:
        """An empty one: `owner/name` on github.com, or `https://HOST/owner/name`. Raises InputError."""
        return Upstream(name, self._place(name), self._env)

    def make(self, name: str, made: Made) -> Upstream:
        """One that holds this. Raises InputError: bad-path, no-such-branch."""
        upstream = self.add(name)
        first = None
        for branch, changes in made.branches.items():
            first = first or upstream.commit(branch, changes)
            if branch != next(iter(made.branches)):
                upstream.commit(branch, changes, parent=first)
        for number, changes in made.pulls.items():
            if not number.isdecimal():
                raise InputError("usage", f"{number!r:.80} is no number of a pull request", where=name)
            upstream.pull(int(number), changes, parent=first)
        for tag, target in made.tags.items():
            ref = f"refs/{target}/head" if target.startswith("pull/") else f"refs/heads/{target}"
            if not upstream.has(ref):
                raise InputError("no-such-branch", f"the tag {tag!r:.80} is to name {target!r:.80}", where=name)
            upstream.tag(tag, upstream.head(ref))
        return upstream

    def lend(self, name: str, path: Path) -> None:
        """Let a repository that is here stand for `owner/name`. Raises InputError `no-such-folder`."""
        if not path.is_dir():
            raise InputError("no-such-folder", f"there is no repository {str(path)!r:.200}", where="--upstream")
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.realpath(path))

    def _place(self, name: str) -> Path:
        host, repository = "github.com", name
        if match := _URL.fullmatch(name):
            host, repository = match[1], match[2]
        owner, _, rest = repository.partition("/")
        found = f"{host}/{parse_repository(owner, rest)}"
        if found in self._names:
            raise InputError("twice", f"{found} is given twice", where="--upstream")
        self._names.append(found)
        return self._folder / f"{found}.git"

    def config(self, secrets: Iterable[str]) -> str:
        """Lines for git's configuration: each way to write a repository's URL leads to the one that is here."""
        lines = ["[safe]", "\tdirectory = *"]
        keys = [one for one in secrets if one and all(char.isalnum() or char in "-_." for char in one)]
        logins = [f"{user}{key}@" for key in keys for user in ("", "x-access-token:", "oauth2:")]
        for name in self._names:
            host, _, repository = name.partition("/")
            ways = [
                f"{begins}{name}" for begins in ("https://", "ssh://git@", "http://", *map("https://{}".format, logins))
            ]
            lines.append(f'[url "file://{self._folder}/{name}"]')
            lines += [f"\tinsteadOf = {one}" for one in (*ways, f"git@{host}:{repository}")]
        return "\n".join([*lines, ""])


def run_git(arguments: Sequence[str], folder: Path, env: Mapping[str, str], stdin: bytes = b"") -> str:
    """What git says, trimmed. Raises OutsideError `git-failed`."""
    done = process.run(["git", *arguments], env=env, cwd=str(folder), stdin=stdin, timeout=600)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise OutsideError("git-failed", f"git {arguments[0]!r:.40} failed: {said!r:.300}", where=str(folder))
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def _data(data: bytes) -> bytes:
    return b"data %d\n%b" % (len(data), data)


def _path(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/") or "\n" in path or not path:
        raise InputError("bad-path", f"{path!r:.200} is no path of a repository", where="--upstream")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
