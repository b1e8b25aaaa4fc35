"""Real git repositories, a real git server and a git that keeps a record, quick enough to make one for each test."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

GIT = shutil.which("git") or "git"
NOBODY = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}


# Under nohup, or as a job of a shell without job control, what tests start would inherit that these are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass
class Repository:
    """A bare repository. Each method is one git process."""

    path: Path
    heads: dict[str, str] = field(default_factory=dict)
    stamp: int = 1_700_000_000

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            [GIT, *arguments], cwd=self.path, env=NOBODY, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return done.stdout.decode().strip()

    def commit(self, ref: str, files: dict[str, str] | None = None, *, parent: str | None = None) -> str:
        """A commit on `ref` (full, or a branch), after `parent` or where the ref is; returns its hash."""
        ref = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
        parent = parent or self.heads.get(ref)
        self.stamp += 60
        lines = [f"commit {ref}", "mark :1", f"committer A <a@example.org> {self.stamp} +0000", "data 1", "m"]
        lines += [f"from {parent}"] if parent else []
        for path, text in (files or {"file.txt": f"{self.stamp}\n"}).items():
            lines += [f"M 100644 inline {path}", f"data {len(text.encode())}", text]
        stream = "\n".join([*lines, "", "get-mark :1", ""])
        self.heads[ref] = self.git("fast-import", "--quiet", "--force", stdin=stream.encode())
        return self.heads[ref]

    def ref(self, name: str, target: str) -> None:
        self.git("update-ref", name, target)
        self.heads[name] = target

    def drop(self, name: str) -> None:
        """Delete a ref and every object that nothing leads to any more."""
        self.git("update-ref", "-d", name)
        self.heads.pop(name, None)
        self.prune()

    def prune(self) -> None:
        self.git("gc", "--quiet", "--prune=now")

    def tree(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^{{tree}}")


@pytest.fixture(scope="session")
def bare_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "bare.git"
    subprocess.run([GIT, "init", "--quiet", "--bare", "--template=", str(path)], env=NOBODY, check=True)
    subprocess.run([GIT, "symbolic-ref", "HEAD", "refs/heads/main"], cwd=path, env=NOBODY, check=True)
    with (path / "config").open("a") as config:
        config.write("[uploadpack]\n\tallowFilter = true\n")
    return path


MakeRepository = Callable[..., Repository]


@pytest.fixture
def make_repository(tmp_path: Path, bare_template: Path) -> MakeRepository:
    """`make_repository("owner/name")`: an empty bare repository below `tmp_path / "srv"`, which a server may show."""

    def make(name: str = "sgl-project/sglang") -> Repository:
        path = tmp_path / "srv" / name
        shutil.copytree(bare_template, path)
        return Repository(path)

    return make


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose user has an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": NOBODY["PATH"], "HOME": str(home)}


@dataclass
class RecordingGit:
    """A program in git's place that writes down how it was called. `calls` are argument lists without the program."""

    program: str
    log: Path

    @property
    def calls(self) -> list[list[str]]:
        text = self.log.read_text() if self.log.exists() else ""
        return [call.split("\x1f")[:-1] for call in text.split("\x1e")[:-1]]

    def count(self, command: str) -> int:
        return sum(call[0] == command for call in self.calls)


@pytest.fixture
def recording_git(tmp_path: Path) -> RecordingGit:
    log = tmp_path / "calls.log"
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{{ printf '%s\\037' \"$@\"; printf '\\036'; }} >>'{log}'\nexec '{GIT}' \"$@\"\n")
    program.chmod(0o755)
    return RecordingGit(str(program), log)


@pytest.fixture
def old_git(tmp_path: Path) -> str:
    """A git that does not know the variables that came with 2.32 and 2.45: it finds its configuration as 2.25 does."""
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nunset GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_NO_LAZY_FETCH\nexec '{GIT}' \"$@\"\n")
    program.chmod(0o755)
    return str(program)


@dataclass
class GitServer:
    """`git http-backend` on 127.0.0.1. What a server may be like is switched by assignment, between two calls."""

    root: Path
    url: str
    protocol: int = 2
    require: str | None = None  # the Authorization header to ask for
    status: int | None = None  # answer everything with this
    delay: float = 0.0
    before_fetch: Callable[[], object] | None = None  # called once, when objects are about to be handed out
    before_second: Callable[[], object] | None = None  # called once, when a second git process comes
    comers: int = 0
    authorizations: list[str | None] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def git_server(tmp_path: Path) -> Iterator[GitServer]:
    """Serves what `make_repository` makes, at `url/owner/name`."""
    root = tmp_path / "srv"
    root.mkdir(exist_ok=True)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    server = GitServer(root, f"http://127.0.0.1:{httpd.server_address[1]}")
    httpd.state = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.stopping.set()
    httpd.shutdown()
    httpd.server_close()
    thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and content are two writes: 40 ms each time otherwise

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _serve(self, body: bytes) -> None:
        state: GitServer = self.server.state  # type: ignore[attr-defined]
        state.authorizations.append(self.headers.get("Authorization"))
        if state.delay and state.stopping.wait(state.delay):
            return
        if state.require and self.headers.get("Authorization") != state.require:
            self._answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
        elif state.status:
            self._answer(state.status, [], b"<html>\n\t<p>a page</p>\n</html>\n")
        else:
            if self.command == "GET":
                state.comers += 1
                if state.comers == 2 and state.before_second:
                    state.before_second()
            if state.before_fetch and self.command == "POST" and b"want " in body:
                act, state.before_fetch = state.before_fetch, None
                act()
            self._backend(state, body)

    def _backend(self, state: GitServer, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            **NOBODY,
            "GIT_PROJECT_ROOT": str(state.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "REMOTE_ADDR": "127.0.0.1",
        }
        if state.protocol == 2:
            environment["GIT_PROTOCOL"] = self.headers.get("Git-Protocol") or ""
        done = subprocess.run([GIT, "http-backend"], env=environment, input=body, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        pairs = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for name, value in pairs if name == "Status"), 200)
        self._answer(status, [pair for pair in pairs if pair[0] != "Status"], content)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)


class GitHubApi(ThreadingHTTPServer):
    """Answers every GET with `status`, `headers` and `body`: at first with an open pull request, `pull`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ApiHandler)
        self.status = 200
        self.pull = {
            "number": 7,
            "body": "ci-sglang-pr: #1\r\n",
            "head": {"sha": "1" * 40},
            "base": {"ref": "main"},
            "state": "open",
            "merged": False,
        }
        self.body = json.dumps(self.pull).encode()
        self.headers: dict[str, str] = {"content-type": "application/json; charset=utf-8"}
        self.seen: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _ApiHandler(BaseHTTPRequestHandler):
    server: GitHubApi

    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers["authorization"]))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def api() -> Iterator[GitHubApi]:
    server = GitHubApi()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


Picture = dict[bytes, tuple[object, ...]]


def _picture(*tops: str | Path) -> Picture:
    """Every path at and below `tops`: type and permissions, owner, and bytes or target. Looks with its own eyes.

    What a repository has stored, and the other worktrees of one, are left out.
    """
    found: Picture = {}
    waiting = [os.fsencode(top) for top in tops]
    while waiting:
        path = waiting.pop()
        if not os.path.lexists(path):
            continue
        state = os.lstat(path)
        what: object = None
        if stat.S_ISLNK(state.st_mode):
            what = os.readlink(path)
        elif stat.S_ISREG(state.st_mode):
            with open(path, "rb") as stream:
                what = hashlib.sha1(stream.read()).hexdigest()
        elif stat.S_ISDIR(state.st_mode):
            is_store = path.endswith((b"/objects", b"/lfs", b"/worktrees")) and os.path.exists(path + b"/../HEAD")
            waiting += [] if is_store else [os.path.join(path, name) for name in os.listdir(path)]
        found[path] = (oct(state.st_mode), state.st_uid, state.st_gid, what)
    return found


@pytest.fixture
def picture() -> Callable[..., Picture]:
    return _picture
