"""The only module that starts processes."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from typing import IO, BinaryIO

from msgspec import Struct

from regraft.adapters import effects, temporary
from regraft.adapters.leftover import anybody_runs
from regraft.errors import OutsideError

OUTPUT_LIMIT = 256 * 1024 * 1024
LINE = 64 * 1024
GRACE = 5.0  # seconds between asking a group to end and killing it


class Completed(Struct, frozen=True):
    argv: tuple[str, ...]
    returncode: int  # negative: minus the signal that ended it
    stdout: bytes
    stderr: bytes


def run(  # noqa: PLR0913 - keyword-only, and each one is a limit that a caller may need
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    stdin: bytes = b"",
    timeout: float | None = None,
    limit: int = OUTPUT_LIMIT,
    keep: Sequence[int] = (),
) -> Completed:
    """Run one program to its end, in a process group of its own, and return what it said.

    `timeout` is in seconds; past it the whole group is killed. At most `limit` bytes of each stream are taken.
    `keep` are open files that the program inherits: a lock that is to live as long as the program does.
    Raises OutsideError: missing-program, no-permission, timed-out, too-much-output, no-such-folder.
    """
    with begun(argv, env=env, cwd=cwd, stdin=stdin, timeout=timeout, limit=limit, keep=keep) as end:
        return end()


@contextlib.contextmanager
def begun(  # noqa: PLR0913 - as for `run`
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    stdin: bytes = b"",
    timeout: float | None = None,
    limit: int = OUTPUT_LIMIT,
    keep: Sequence[int] = (),
) -> Iterator[Callable[[], Completed]]:
    """`run` in two steps: the program runs while the caller does something else, and what is yielded waits for its end.

    It is killed with its group where the caller leaves without having waited.
    """
    deadline = time.monotonic() + timeout if timeout is not None else None
    with temporary.file() as out, temporary.file() as err, _given(stdin) as given:
        streams = {"stdin": given, "stdout": out.fileno(), "stderr": err.fileno()}
        process = _start(argv, env=env, cwd=cwd, keep=keep, **streams)

        def end() -> Completed:
            try:
                _await(process, None if deadline is None else max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise OutsideError(
                    "timed-out",
                    f"{_name(argv)} gave no answer within {timeout:g} seconds",
                    hint="look whether the server or the disk behind it answers, then run again",
                ) from None
            return Completed(tuple(argv), process.returncode, *(_said(argv, one, limit) for one in (out, err)))

        try:
            with effects.running(process.pid):
                yield end
        finally:
            if process.returncode is None:
                _kill_group(process)


def _said(argv: Sequence[str], stream: BinaryIO, limit: int) -> bytes:
    size = stream.seek(0, os.SEEK_END)
    if size > limit:
        raise OutsideError("too-much-output", f"{_name(argv)} wrote {size} bytes; at most {limit} are read")
    stream.seek(0)
    return stream.read()


@contextlib.contextmanager
def _given(data: bytes) -> Iterator[int]:
    """A standard input that holds these bytes."""
    if not data:
        yield subprocess.DEVNULL
        return
    with temporary.file() as stream:
        stream.write(data)
        stream.seek(0)
        yield stream.fileno()


def _await(process: "subprocess.Popen[bytes]", timeout: float | None) -> None:
    """Like `process.wait`, which looks at growing intervals and so sees the end of a short process late."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or before 5.3
        process.wait(timeout)
        return
    try:
        if not select.select([handle], [], [], timeout)[0]:
            assert timeout is not None
            raise subprocess.TimeoutExpired(process.args, timeout)
    finally:
        os.close(handle)
    process.wait()


class Piped(Struct):
    """A program that is being talked to. `returncode` and `stderr` are there once `end` has been called."""

    name: str
    process: "subprocess.Popen[bytes]"
    err: IO[bytes]
    late: bool = False

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> BufferedReader:
        assert isinstance(self.process.stdout, BufferedReader)
        return self.process.stdout

    def end(self) -> tuple[int, bytes]:
        """Close its input, wait for its end, and tell (return code, what it said on stderr). Raises OutsideError `timed-out`."""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        returncode = self.process.wait()
        if self.late:
            raise OutsideError("timed-out", f"{self.name} gave no answer in time")
        self.err.seek(0)
        return returncode, self.err.read(LINE)


@contextlib.contextmanager
def piped(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, timeout: float | None) -> Iterator[Piped]:
    """Talk to one program over pipes. Past `timeout` seconds, and when the block is left, its group is killed.

    Raises OutsideError: missing-program, no-permission, no-such-folder, not-started.
    """
    with temporary.file() as err:
        pipe = subprocess.PIPE
        process = _start(argv, env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=err.fileno())
        found = Piped(_name(argv), process, err)

        def give_up() -> None:
            found.late = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, give_up) if timeout is not None else None
        try:
            with effects.running(process.pid):
                if timer is not None:
                    timer.daemon = True
                    timer.start()
                yield found
        finally:
            if timer is not None:
                timer.cancel()
            if process.returncode is None:
                _kill_group(process)
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    assert stream is not None
                    stream.close()


class Streamed(Struct, frozen=True):
    """`returncode` is None where the time was up. `left_running`: others of its group were still there, and were ended."""

    returncode: int | None
    left_running: bool


def stream(  # noqa: PLR0913 - keyword-only, as for `run`
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    timeout: float,
    on_start: Callable[[int], None],
    on_line: Callable[[bytes], None],
    keep: Sequence[int] = (),
) -> Streamed:
    """Run one program in a process group of its own, and hand on what it says, stdout and stderr together, line by line.

    `on_start` is given its process id, which is the group's. A line is at most `LINE` bytes; a longer one comes in pieces.
    When this returns or raises, nobody of the group is left. Raises OutsideError: missing-program, no-permission,
    no-such-folder, not-started.
    """
    source, sink = os.pipe()
    try:
        process = _start(argv, env=env, cwd=cwd, stdout=sink, stderr=sink, keep=keep, stdin=subprocess.DEVNULL)
    except BaseException:
        os.close(source)
        raise
    finally:
        os.close(sink)
    with effects.running(process.pid), os.fdopen(source, "rb", buffering=0):
        try:
            on_start(process.pid)
            in_time = _follow(process, source, time.monotonic() + timeout, on_line)
            if not in_time:
                end_group(process.pid, wait=process.poll)
            process.wait()
        except BaseException:
            end_group(process.pid, wait=process.poll)
            process.wait()
            raise
        left = end_group(process.pid, wait=process.poll)
    return Streamed(process.returncode if in_time else None, left and in_time)


def _follow(process: "subprocess.Popen[bytes]", source: int, deadline: float, on_line: Callable[[bytes], None]) -> bool:
    """Whether the program came to its end in time. A child of it that keeps the pipe open is not waited for."""
    rest = b""
    quiet = False  # since it ended
    while time.monotonic() < deadline:
        ready, _, _ = select.select([source], [], [], min(0.1, max(0.0, deadline - time.monotonic())))
        if not ready:
            if quiet:
                break
            quiet = process.poll() is not None
            continue
        piece = os.read(source, 65536)
        if not piece:
            break
        *lines, rest = (rest + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        while len(rest) > LINE:
            lines.append(rest[:LINE])
            rest = rest[LINE:]
        for line in lines:
            on_line(line)
    if rest:
        on_line(rest)
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def end_group(group: int, *, wait: Callable[[], object]) -> bool:
    """Ask what is left of a group to end, and kill it after `GRACE` seconds; False where nobody was left.

    `wait` is called in between: it takes note of children that have ended.
    """
    if not _remains(group):
        return False
    _signal(group, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline:
        wait()
        if not _remains(group):
            return True
        time.sleep(0.02)
    _signal(group, signal.SIGKILL)
    return True


def _remains(group: int) -> bool:
    return _signal(group, 0) and anybody_runs(group)


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _start(  # noqa: PLR0913 - keyword-only, as for `run`
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdout: int,
    stderr: int,
    stdin: int,
    keep: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    try:
        with effects.effect("start"):
            return subprocess.Popen(
                list(argv),
                env=dict(env),
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=tuple(keep),
            )
    except FileNotFoundError as error:
        if cwd is not None and error.filename == cwd:
            raise OutsideError("no-such-folder", f"there is no folder {cwd!r}") from None
        raise OutsideError(
            "missing-program", f"there is no program {argv[0]!r}", hint="install it, or put it on PATH"
        ) from None
    except PermissionError:
        raise OutsideError("no-permission", f"{argv[0]!r} may not be run here") from None
    except OSError as error:
        raise OutsideError("not-started", f"{argv[0]!r} could not be started: {error.strerror}") from None


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _name(argv: Sequence[str]) -> str:
    return " ".join(argv[:2])[:200]
