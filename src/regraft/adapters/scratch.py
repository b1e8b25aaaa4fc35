"""Scratch repositories for what is fetched, and the calls that fill them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from regraft.adapters.bare_repository import make_bare
from regraft.adapters.git import At, Git
from regraft.adapters.process import Completed
from regraft.core import remote_failures
from regraft.core.repository_url import parse_repository_url, public
from regraft.core.resolution import Remote
from regraft.errors import InputError, OutsideError, RegraftError

# The repository's own settings win over a user's, also where git is too old (before 2.32) to ignore those for a remote call.
_SETTINGS = """\
[core]
\trepositoryFormatVersion = 0
\tbare = true
\thooksPath = /dev/null
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[fetch]
\tprune = false
\tpruneTags = false
\tfsckObjects = false
\trecurseSubmodules = false
\twriteCommitGraph = false
\tunpackLimit = 1
[transfer]
\tfsckObjects = false
\tunpackLimit = 1
[protocol]
\tversion = 2
"""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-gc")


def said(completed: Completed) -> str:
    return completed.stderr.decode("utf-8", "replace")


class Scratch:
    """Makes bare repositories in git's private folder, and talks to remotes from within them.

    `project` is what a relative path is relative to; `environ` holds the tokens that `token-env` names.
    """

    def __init__(self, git: Git, project: Path, environ: Mapping[str, str]) -> None:
        self._git = git
        self._project = project
        self._environ = environ
        self._checked = False

    def made(self, name: str) -> Path:
        """The bare repository of that name, made where it is not there yet. Raises OutsideError, old-git among them."""
        store = self._git.folder / name
        if not self._checked:
            self._git.version()
            self._checked = True
        if not store.exists():
            make_bare(store)
            self.settle(store)
        return store

    def settle(self, store: Path) -> None:
        """Write the settings again: git notes down where a filtered fetch came from, to fetch from there what is missing."""
        (store / "config").write_text(_SETTINGS, encoding="utf-8")

    def call(self, remote: Remote, arguments: Sequence[str], store: Path, refspecs: Sequence[str] = ()) -> Completed:
        """`git ARGUMENTS -- URL REFSPECS`; the return code is the caller's. Raises OutsideError `upstream-slow`."""
        address = self._address(remote.url)
        argv = [*arguments, "--", address, *refspecs]
        try:
            return self._git.run_remote(argv, At(git_dir=store), url=address, token=self._token(remote))
        except OutsideError as error:
            if error.code != "timed-out":
                raise
            hint = "look whether the server answers, then run again"
            where = public(remote.url)
            raise OutsideError("upstream-slow", "the server gave no answer in time", where=where, hint=hint) from None

    def fetch(  # noqa: PLR0913 - keyword-only but for what is fetched into where
        self,
        remote: Remote,
        store: Path,
        refspecs: Sequence[str],
        *,
        depth: int | None = None,
        filters: Sequence[str | None] = ("blob:none", None),
        prune: bool = False,
    ) -> Completed:
        """One fetch with the first filter; a further one only where the server refuses that filter outright."""
        for name in filters:
            options = [f"--depth={depth}"] if depth else ["--update-shallow"]
            options += [f"--filter={name}"] if name else []
            options += ["--prune"] if prune else []
            try:
                completed = self.call(remote, [*_FETCH, *options], store, refspecs)
            finally:
                self.settle(store)
            if not (name and remote_failures.filter_refused(said(completed))):
                break
        return completed

    def kinds(self, store: Path, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Hash and type of each object name; the type is "missing" where the store does not have it."""
        arguments = ["cat-file", "--batch-check=%(objectname) %(objecttype)"]
        completed = self._git.run(arguments, At(git_dir=store), stdin="".join(f"{name}\n" for name in names).encode())
        lines = [line.partition(" ") for line in completed.stdout.decode("utf-8", "replace").splitlines()]
        if completed.returncode != 0 or len(lines) != len(names):
            raise OutsideError("git-failed", f"what was fetched cannot be read: {_tail(completed)}")
        return {name: (found, kind) for name, (found, _, kind) in zip(names, lines, strict=True)}

    def failed(self, remote: Remote, completed: Completed) -> RegraftError:
        """The error that a call which did not succeed stands for."""
        known = remote_failures.failure(said(completed))
        kind = InputError if known.code == "sha256-repository" else OutsideError
        hint = known.hint or self._login_hint(remote)
        return kind(
            known.code,
            f"{known.message}; git says {self._clean(remote, completed)}",
            where=public(remote.url),
            hint=hint,
        )

    def _login_hint(self, remote: Remote) -> str:
        if remote.token_env is None:
            return "look at the URL; for a private repository name a variable that holds a token in `token-env`"
        if self._token(remote) is None:
            return f"look at the URL; {remote.token_env}, which `token-env` names, is not set here"
        return f"look at the URL, and whether the token in {remote.token_env} is valid and may read this repository"

    def _clean(self, remote: Remote, completed: Completed) -> str:
        token = self._token(remote)
        text = said(completed)
        return remote_failures.tail(text.replace(token, "***") if token else text)

    def _token(self, remote: Remote) -> str | None:
        return (self._environ.get(remote.token_env) or "").strip() or None if remote.token_env else None

    def is_shallow(self, remote: Remote) -> bool:
        """Whether it is a folder on this machine whose history is cut off."""
        folder = self.folder_of(remote.url)
        return folder is not None and any((folder / name).exists() for name in ("shallow", ".git/shallow"))

    def _address(self, url: str) -> str:
        """What git is given. A path becomes a file URL, because git fetches from a path without a filter."""
        folder = self.folder_of(url)
        if folder is None:
            return public(url)
        from urllib.parse import quote  # noqa: PLC0415 - a server needs neither of the two

        self._git.trust(folder)
        return f"file://{quote(os.fsencode(folder))}"

    def folder_of(self, url: str) -> Path | None:
        """The folder on this machine that a URL names, absolute; None for one elsewhere."""
        parsed = parse_repository_url(url)
        if not parsed.local:
            return None
        from urllib.parse import unquote  # noqa: PLC0415

        path = self._project / parsed.path if parsed.text == parsed.path else Path(unquote(parsed.path))
        return Path(os.path.abspath(path))  # noqa: PTH100 - takes out `..`, keeps links


def _tail(completed: Completed) -> str:
    return remote_failures.tail(said(completed))
