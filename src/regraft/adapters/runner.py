"""A throw-away runner: a home, a workspace, stubs and the runner's files below one folder that goes away.

No network is asked for, and what asks for it anyway is discouraged, not stopped: git has no transport but files, and the
proxies of the environment lead nowhere. A program that opens a connection by itself can.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from regraft.adapters import files, process
from regraft.adapters.git_folder import find
from regraft.adapters.leftover import end_marked
from regraft.adapters.places import Places
from regraft.adapters.runner_upstreams import Upstreams
from regraft.adapters.runner_workspace import ProjectCopy
from regraft.adapters.temporary import TemporaryFolder, sweep
from regraft.core.runner_shell import ShellLine
from regraft.core.runner_stubs import STDIN_LIMIT, programs, read_calls
from regraft.core.runner_values import Call, Ran, Stub, checked_stub
from regraft.errors import InputError, OutsideError

LOG_LIMIT = 4 * 1024 * 1024  # bytes of one step's log
FILE_LIMIT = 16 * 1024 * 1024  # bytes of one of the runner's files
NOWHERE = "http://127.0.0.1:9"

_SAID = ("output", "env", "path", "step_summary", "state")
_TRACKED = "RUNNER_TRACKING_ID"  # by which GitHub's runner knows what a job leaves
_USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Runner:
    """`regraft.flows.workflow_run.Machine`. `project` is the repository whose workflow runs."""

    def __init__(  # noqa: PLR0913 - what may outlive it is keyword-only
        self,
        project: Path,
        environ: Mapping[str, str],
        base: Path,
        stubs: Sequence[Stub],
        *,
        upstreams: Upstreams | None = None,
        copy: ProjectCopy | None = None,
    ) -> None:
        self._project = project
        self._copy = copy or ProjectCopy(project, environ)
        self._base = base
        self._files = base / "temp" / "_runner_file_commands"
        self._record = base / "record" / "calls"
        self._stubs = base / "stubs"
        self._count = 0
        name = Path(os.path.realpath(project)).name
        self.workspace = str(base / "work" / name / name)
        self.temp = str(base / "temp")
        self.tools = str(base / "tools")
        for folder in (self.workspace, self._files, self._record.parent, self._stubs, base / "home", self.tools):
            Path(folder).mkdir(parents=True, exist_ok=True)
        self.path = _path(environ)
        self.upstreams = upstreams or Upstreams(base / "upstreams", git_environment(environ, base))
        self.programs = self._lay(tuple(map(checked_stub, stubs)))

    @classmethod
    @contextmanager
    def over(
        cls,
        project: Path,
        environ: Mapping[str, str],
        stubs: Sequence[Stub],
        upstreams: Upstreams | None = None,
        copy: ProjectCopy | None = None,
    ) -> Iterator["Runner"]:
        """For as long as the block lasts. `upstreams` and `copy` may outlive it. Raises InputError `bad-stub`, OutsideError."""
        sweep("regraft-run-")
        try:
            folder = TemporaryFolder("regraft-run-")
        except OSError as error:
            raise files.outside(error, "a temporary folder") from None
        try:
            yield cls(project, environ, folder.path, stubs, upstreams=upstreams, copy=copy)
        finally:
            end_marked(_TRACKED, folder.path.name)
            _writable(folder.path)
            if copy is not None:
                copy.give_back()
            folder.cleanup()

    def _lay(self, stubs: Sequence[Stub]) -> dict[str, str]:
        """The stubs' place by their names."""
        names = [*(one.name for one in stubs), "python", "python3"]
        real = {name: place for name in names if (place := shutil.which(name, path=self.path))}
        real.setdefault("python", real.get("python3", sys.executable))
        real.setdefault("python3", real["python"])
        texts = programs(stubs, str(self._stubs), str(self._record), real)
        for name, text in texts.items():
            stub = self._stubs / name
            stub.write_text(text, "utf-8", "surrogateescape")
            stub.chmod(0o755)
        return {name: str(self._stubs / name) for name in texts}

    def environment(self) -> dict[str, str]:
        """What every step has, whatever the workflow says. Of the caller's environment there is PATH, and nothing else."""
        return {
            "PATH": f"{self._stubs}:{self.path}",
            "HOME": str(self._base / "home"),
            "CI": "true",
            _TRACKED: self._base.name,
            "LANG": "C.UTF-8",
            "TMPDIR": self.temp,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_TERMINAL_PROMPT": "0",
            "PIP_NO_INDEX": "1",
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE),
        }

    def in_front(self, paths: Sequence[str]) -> str:
        """PATH with the folders of `$GITHUB_PATH` in front, but behind the stubs."""
        return ":".join([str(self._stubs), *reversed(paths), self.path])

    def begin(self, event: bytes, secrets: Sequence[str]) -> str:
        """Write the event's payload and git's configuration; where the payload is."""
        config = self._base / "home" / ".gitconfig"
        config.write_text(self.upstreams.config(secrets), "utf-8")
        place = Path(self.temp) / "_github_workflow" / "event.json"
        place.parent.mkdir()
        place.write_bytes(event)
        return str(place)

    def bash(self) -> bool:
        return shutil.which("bash", path=self.path) is not None

    def exists(self, path: str) -> bool:
        return os.path.exists(path)  # noqa: PTH110 - does not raise, whatever is there

    def head(self) -> str | None:
        """The project's commit, where it is a git checkout."""
        found = find(self._project, Places(self._project)).git
        return found.head() if found is not None else None

    def checkout(self, path: str, edit: Callable[[str], str] | None = None) -> None:
        """What `actions/checkout` does with the project itself: its files, as they lie here, into the workspace.

        There is a `.git` with HEAD and the index, which borrows the objects of the project. `edit` is given the text
        of each shell script. Raises InputError, OutsideError.
        """
        target = Path(os.path.normpath(Path(self.workspace) / path))
        if not target.is_relative_to(self.workspace):
            raise InputError(
                "outside-workspace", f"{path!r:.200} is outside of the workspace", where="actions/checkout"
            )
        self._copy.put(str(target), edit)

    def clone(self, repository: str, ref: str, path: str) -> None:
        """What `actions/checkout` does with another repository. Raises OutsideError `git-failed`."""
        target = Path(os.path.normpath(Path(self.workspace) / path))
        if not target.is_relative_to(self.workspace):
            raise InputError(
                "outside-workspace", f"{path!r:.200} is outside of the workspace", where="actions/checkout"
            )
        target.mkdir(parents=True, exist_ok=True)
        env = self.environment()
        steps = [["init", "--quiet"], ["remote", "add", "origin", f"https://github.com/{repository}"]]
        steps += [["fetch", "--quiet", "--depth=1", "origin", ref or "HEAD"], ["checkout", "--quiet", "FETCH_HEAD"]]
        for words in steps:
            done = process.run(["git", *words], env=env, cwd=str(target), timeout=600)
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip()
                raise OutsideError("git-failed", f"git {words[0]} failed: {said!r:.300}", where=repository)

    def hash_files(self, patterns: Sequence[str]) -> str:
        """The sha256 of the sha256 of each file in the workspace that a pattern matches; nothing where none does."""
        import hashlib  # noqa: PLC0415 - few ask

        found: dict[str, None] = {}
        for pattern in "\n".join(patterns).split("\n"):
            taken = pattern.strip().removeprefix("!").removeprefix("./")
            if not taken or taken.startswith(("#", "/")) or ".." in taken.split("/"):
                continue
            names = [str(one) for one in sorted(Path(self.workspace).glob(taken)) if one.is_file()]
            for name in names:
                found.pop(name, None)
            if not pattern.strip().startswith("!"):
                found |= dict.fromkeys(names)
        digests = [hashlib.sha256(files.read(Path(one), FILE_LIMIT)).digest() for one in found]
        return hashlib.sha256(b"".join(digests)).hexdigest() if digests else ""

    def step_files(self) -> dict[str, str]:
        """New files by which the next script speaks to the runner: their paths, by the names of the `github` context."""
        self._count += 1
        found = {name: str(self._files / f"{name}_{self._count}") for name in _SAID}
        for place in found.values():
            Path(place).touch()
        return found

    def run(self, line: ShellLine, script: str, env: Mapping[str, str], folder: str, timeout: float) -> Ran:
        """Run one script to its end, or past `timeout` seconds to the end of its group.

        Raises OutsideError: missing-program, no-such-folder, no-permission.
        """
        self._record.unlink(missing_ok=True)
        place = Path(self.temp) / f"step-{self._count}{line.suffix}"
        place.write_text(line.script(script), "utf-8", "surrogateescape")
        argv = line.argv(str(place))
        argv[0] = shutil.which(argv[0], path=env["PATH"]) or argv[0]
        log = _Log()
        begun = time.monotonic()
        done = process.stream(argv, env=env, cwd=folder, timeout=timeout, on_start=lambda _: None, on_line=log.add)
        seconds = time.monotonic() - begun
        said, cut = {}, log.cut
        for name in _SAID:
            text = _start(self._files / f"{name}_{self._count}", FILE_LIMIT + 1)
            cut = cut or len(text) > FILE_LIMIT
            said[name] = text[:FILE_LIMIT].decode("utf-8", "surrogateescape")
        return Ran(done.returncode, log.text(), said, self._calls(), seconds, cut)

    def _calls(self) -> tuple[Call, ...]:
        record = _start(self._record, FILE_LIMIT)
        if not record:
            return ()
        places = [one for one in self._record.parent.iterdir() if one.name != self._record.name]
        return read_calls(record, {str(one): _start(one, STDIN_LIMIT) for one in places})


class _Log:
    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self.cut = False

    def add(self, line: bytes) -> None:
        self._size += len(line) + 1
        if self._size > LOG_LIMIT:
            self.cut = True
        else:
            self._lines.append(line)

    def text(self) -> str:
        return b"".join(b"%b\n" % one for one in self._lines).decode("utf-8", "replace")


def _start(place: Path, limit: int) -> bytes:
    """The first bytes of a file; none where the script took it away, or put something else there."""
    if place.is_symlink() or not place.is_file():
        return b""
    with place.open("rb") as stream:
        return stream.read(limit)


def git_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """For git that makes upstreams: nothing of anybody's configuration counts."""
    return {"PATH": _path(environ), "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def _path(environ: Mapping[str, str]) -> str:
    """The caller's PATH without what depends on where the caller is."""
    parts = [one for one in environ.get("PATH", "").split(":") if os.path.isabs(one)]  # noqa: PTH117 - text
    return ":".join(parts or [_USUAL])


def _writable(folder: Path) -> None:
    """A script may have taken from itself the right to remove what it made."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(place, name)  # noqa: PTH118 - names of any kind
            if not os.path.islink(path) and not os.access(path, os.W_OK | os.X_OK):  # noqa: PTH114 - likewise
                os.chmod(path, 0o700)  # noqa: PTH101 - likewise
