"""Runs git the same way on every machine: with a configuration that regraft writes, and an environment it chose.

Nothing of the user's, the system's or a checkout's configuration changes a verdict. Calls to a remote carry over what
is needed to reach it (`url.*.insteadOf`, proxies, certificate authorities, credential helpers) and nothing else.
"""

import base64
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from regraft.adapters import process
from regraft.adapters.process import Completed
from regraft.errors import OutsideError

FLOOR = (2, 25)

_KEPT_ENVIRONMENT = frozenset(
    {
        *("PATH", "TMPDIR", "TMP", "TEMP", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSH_AGENT_PID"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)

_CARRIED = re.compile(
    r"url\..+\.(?:insteadof|pushinsteadof)"
    r"|http\.(?:.+\.)?(?:proxy|proxyauthmethod|sslcainfo|sslcapath|sslcert|sslkey|sslverify|schannelusesslcainfo)"
    r"|https?\.proxy"
    r"|credential\.(?:.+\.)?(?:helper|username|usehttppath)"
    r"|core\.(?:sshcommand|gitproxy)"
    r"|safe\.directory",
    re.DOTALL,
)

_NEUTRAL = """\
[core]
\tautocrlf = false
\tsafecrlf = false
\tfileMode = true
\tsymlinks = true
\tquotePath = true
\tfsmonitor = false
\tuntrackedCache = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tpager = cat
\tprecomposeUnicode = false
[apply]
\twhitespace = nowarn
\tignoreWhitespace = no
[user]
\tname = regraft
\temail = regraft@localhost
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[rerere]
\tenabled = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
[init]
\tdefaultBranch = main
[protocol "ext"]
\tallow = never
[protocol "fd"]
\tallow = never
[transfer]
\tfsckObjects = false
"""


@dataclass(frozen=True, slots=True)
class At:
    """Which repository, files, index and folder a git command is about; None leaves it to git's private folder."""

    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    cwd: Path | None = None


class Git:
    """One git program and one private configuration, for as long as the `with` block lasts.

    `safe` are the paths at hand, whoever owns them. `machine` is the environment that was found (`os.environ`).
    """

    def __init__(self, machine: Mapping[str, str], *, program: str = "git", timeout: float | None = 600) -> None:
        self._machine = dict(machine)
        self._program = program
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="regraft-git-")
        self._safe: list[str] = []
        self._carried: str | None = None
        self._files: dict[tuple[str, ...], Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """A private folder that goes away with this object: the place for scratch repositories and indexes."""
        return Path(self._folder.name)

    def trust(self, path: Path) -> None:
        """Let git read the repository at `path`, whoever owns it."""
        if str(path) not in self._safe:
            self._safe.append(str(path))

    def version(self) -> tuple[int, ...]:
        """For example (2, 39, 5). Raises OutsideError: missing-program, old-git, not-git."""
        completed = self.run(["--version"])
        match = re.match(rb"git version (\d+)\.(\d+)(?:\.(\d+))?", completed.stdout)
        if match is None:
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
        at: At = At(),
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        """`git ARGUMENTS`, locally: with no credentials, and without the user's configuration.

        The return code is the caller's to judge. Raises what `process.run` raises.
        """
        config = self._config()
        environment = {**self._environment(config), "HOME": str(config.parent.parent), **(env or {})}
        return self._run(arguments, at, environment, stdin)

    def run_remote(
        self,
        arguments: Sequence[str],
        at: At = At(),
        *,
        url: str,
        token: str | None = None,
    ) -> Completed:
        """`git ARGUMENTS` with what the machine has to reach remotes, and `token` for `url`'s host.

        The token goes into the private configuration (mode 0600), never on a command line.
        """
        return self._run(arguments, at, self._environment(self._remote_config(url, token)), b"")

    def _run(self, arguments: Sequence[str], at: At, environment: dict[str, str], stdin: bytes) -> Completed:
        for name, path in (("GIT_DIR", at.git_dir), ("GIT_WORK_TREE", at.work_tree), ("GIT_INDEX_FILE", at.index)):
            if path is not None:
                environment[name] = str(path)
        argv = [self._program, *arguments]
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
            "GIT_SSH_COMMAND": self._machine.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
            "LC_ALL": "C",
            "LANGUAGE": "",
        }

    def _config(self) -> Path:
        return self._write(("local", *self._safe), _NEUTRAL + self._safe_section())

    def _remote_config(self, url: str, token: str | None) -> Path:
        text = _NEUTRAL + self._safe_section() + self._carried_sections()
        text += "[http]\n\tlowSpeedLimit = 1000\n\tlowSpeedTime = 60\n"
        host = re.match(r"https?://[^/]+/", url)
        if token and host:
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
            text += f"[http {_quoted(host[0])}]\n\textraHeader = {_quoted(f'Authorization: Basic {basic}')}\n"
        return self._write(("remote", host[0] if host else "", token or "", *self._safe), text)

    def _safe_section(self) -> str:
        return "".join(f"[safe]\n\tdirectory = {_quoted(path)}\n" for path in self._safe)

    def _carried_sections(self) -> str:
        if self._carried is None:
            environment = {**self._machine, "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(self.folder)}
            for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
                environment.pop(name, None)
            argv = [self._program, "config", "--list", "--null", "--includes"]
            listing = process.run(argv, env=environment, cwd=str(self.folder), timeout=self._timeout)
            self._carried = "".join(map(_carried_entry, listing.stdout.decode("utf-8", "replace").split("\0")))
        return self._carried

    def _write(self, key: tuple[str, ...], text: str) -> Path:
        path = self._files.get(key)
        if path is None:
            folder = self.folder / f"config{len(self._files)}" / "git"
            folder.mkdir(parents=True, mode=0o700)
            path = folder / "config"
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            self._files[key] = path
        return path


def _carried_entry(entry: str) -> str:
    key, _, value = entry.partition("\n")
    if not _CARRIED.fullmatch(key.lower()):
        return ""
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    header = f"[{section} {_quoted(subsection)}]" if subsection else f"[{section}]"
    return f"{header}\n\t{name} = {_quoted(value)}\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
