"""Runs git the same way on every machine: with a configuration that regraft writes, and an environment it chose.

Nothing of the user's, the system's or a checkout's configuration changes a verdict. Calls to a remote carry over what
is needed to reach it (`url.*.insteadOf`, proxies, certificate authorities, credential helpers) and nothing else. What
may hold a secret is handed to git in the environment, and stands in no file that a kill would leave.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from regraft.adapters import process
from regraft.adapters.git_settings import (
    NEUTRAL,
    REMOTE,
    SSH,
    is_carried,
    login,
    only_in_a_file,
    parameter,
    quoted,
    section,
)
from regraft.adapters.process import Completed, Piped
from regraft.adapters.temporary import TemporaryFolder, sweep
from regraft.errors import OutsideError

FLOOR = (2, 25)

_KEPT_ENVIRONMENT = frozenset(
    {
        *("PATH", "TMPDIR", "TMP", "TEMP", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSH_AGENT_PID"),
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)


class At(Struct, frozen=True):
    """Which repository, files, index and folder a git command is about; None leaves it to git's private folder."""

    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    cwd: Path | None = None


NOWHERE = At()


class Git:
    """One git program and one private configuration, for as long as the `with` block lasts.

    `safe` are the paths at hand, whoever owns them. `machine` is the environment that was found (`os.environ`).
    """

    def __init__(self, machine: Mapping[str, str], *, program: str = "git", timeout: float | None = 600) -> None:
        self._machine = dict(machine)
        self._program = program
        self._timeout = timeout
        self._folder = _temporary_folder()
        self._safe: list[str] = []
        self._carried: tuple[str, ...] | None = None
        self._files: dict[tuple[str, ...], Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """A private folder that goes away with this object: the place for scratch repositories and indexes."""
        return self._folder.path

    def trust(self, path: Path) -> None:
        """Let git read the repository at `path`, whoever owns it.

        Git compares the path that it finds, links resolved: the work tree's for most commands, the `.git` folder's or the
        bare repository's for an upload-pack (2.45 and newer), which may have added the suffix `.git` itself.
        """
        for found in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):  # noqa: PTH100 - keeps links
            for name in (found, f"{found}/.git", f"{found}.git", f"{found}.git/.git"):
                if name not in self._safe:
                    self._safe.append(name)

    def version(self) -> tuple[int, ...]:
        """For example (2, 39, 5). Raises OutsideError: missing-program, old-git, not-git."""
        completed = self.run(["--version"])
        match = re.match(rb"git version (\d+)\.(\d+)(?:\.(\d+))?", completed.stdout)
        if completed.returncode != 0 or match is None:
            raise OutsideError("not-git", f"{self._program!r} does not answer like git")
        version = tuple(int(part or 0) for part in match.groups())
        if version < FLOOR:
            found, floor = ".".join(map(str, version)), ".".join(map(str, FLOOR))
            raise OutsideError(
                "old-git", f"git {found} is too old", hint=f"install git {floor} or newer, or put one first on PATH"
            )
        return version

    def run(
        self,
        arguments: Sequence[str],
        at: At = NOWHERE,
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        """`git ARGUMENTS`, locally: with no credentials, without the user's configuration, and without any transport.

        A missing object of a partial clone is missing: it is not fetched behind the caller's back.
        The return code is the caller's to judge. Raises what `process.run` raises.
        """
        config = self._config()
        local = {"HOME": str(config.parent.parent), "GIT_ALLOW_PROTOCOL": "none"}
        return self._run(arguments, at, {**self._environment(config), **local, **(env or {})}, stdin)

    def piped(self, arguments: Sequence[str], at: At = NOWHERE) -> AbstractContextManager[Piped]:
        """`git ARGUMENTS`, locally as with `run`, to be talked to over pipes: for what says more than memory should hold."""
        config = self._config()
        local = {"HOME": str(config.parent.parent), "GIT_ALLOW_PROTOCOL": "none"}
        environment = {**self._environment(config), **local, **_variables(at)}
        argv = [self._program, *arguments]
        return process.piped(argv, env=environment, cwd=str(at.cwd or self.folder), timeout=self._timeout)

    def run_remote(
        self,
        arguments: Sequence[str],
        at: At = NOWHERE,
        *,
        url: str,
        token: str | None = None,
    ) -> Completed:
        """`git ARGUMENTS` with what the machine has to reach remotes, and `token` for `url`'s host.

        The token is in git's environment alone: on no command line, and in no file.
        """
        environment = self._environment(self._remote_config())
        entries = (*self._carried_entries(), *login(url, token))
        given = [parameter(entry) for entry in entries if not only_in_a_file(entry)]
        if given:
            environment["GIT_CONFIG_PARAMETERS"] = " ".join(given)
        return self._run(arguments, at, environment, b"")

    def _run(self, arguments: Sequence[str], at: At, environment: dict[str, str], stdin: bytes) -> Completed:
        argv = [self._program, *arguments]
        environment.update(_variables(at))
        cwd = str(at.cwd or self.folder)
        return process.run(argv, env=environment, cwd=cwd, stdin=stdin, timeout=self._timeout)

    def _environment(self, config: Path) -> dict[str, str]:
        kept = {name: value for name, value in self._machine.items() if name in _KEPT_ENVIRONMENT}
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            **kept,
            # 2.32 and newer read these; what is older finds the same file through XDG_CONFIG_HOME below.
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "XDG_CONFIG_HOME": str(config.parent.parent),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS": "true",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",  # 2.45 and newer; for what is older, `run` allows no transport
            "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            "LC_ALL": "C",
            "LANGUAGE": "",
        }

    def _config(self) -> Path:
        return self._write(("local", *self._safe), NEUTRAL + self._safe_section())

    def _remote_config(self) -> Path:
        ssh = "" if "GIT_SSH" in self._machine else SSH  # the setting would win over that variable
        carried = "".join(map(section, filter(only_in_a_file, self._carried_entries())))
        return self._write(("remote", *self._safe), NEUTRAL + REMOTE + ssh + carried + self._safe_section())

    def _safe_section(self) -> str:
        return "".join(f"[safe]\n\tdirectory = {quoted(path)}\n" for path in self._safe)

    def _carried_entries(self) -> tuple[str, ...]:
        """What is carried over, each as `git config --list --null` says it: KEY, a new line and the value, or KEY alone."""
        if self._carried is None:
            environment = {**self._machine, "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
            for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_CONFIG"):
                environment.pop(name, None)
            argv = [self._program, "config", "--list", "--null", "--includes"]
            listing = process.run(argv, env=environment, cwd=str(self.folder), timeout=self._timeout)
            if listing.returncode != 0:
                said = listing.stderr.decode("utf-8", "replace").strip()
                raise OutsideError(
                    "bad-git-config",
                    f"this machine's git configuration cannot be read: {said!r:.200}",
                    hint="mend it; `git config --list --show-origin` names the file",
                )
            entries = listing.stdout.decode("utf-8", "surrogateescape").split("\0")
            self._carried = tuple(filter(is_carried, entries))
        return self._carried

    def _write(self, key: tuple[str, ...], text: str) -> Path:
        path = self._files.get(key)
        if path is None:
            folder = self.folder / f"config{len(self._files)}" / "git"
            folder.mkdir(parents=True, mode=0o700)
            path = folder / "config"
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            self._files[key] = path
        return path


def _variables(at: At) -> dict[str, str]:
    places = (("GIT_DIR", at.git_dir), ("GIT_WORK_TREE", at.work_tree), ("GIT_INDEX_FILE", at.index))
    return {name: str(path) for name, path in places if path is not None}


def _temporary_folder() -> TemporaryFolder:
    sweep("regraft-git-", "regraft-probe-")
    try:
        return TemporaryFolder("regraft-git-")
    except OSError as error:
        raise OutsideError(
            "no-temporary-folder",
            f"no temporary folder can be made: {error.strerror or 'none is writable'}",
            hint="make room, or name a writable folder in TMPDIR",
        ) from None
