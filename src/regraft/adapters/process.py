"""The only module that starts processes."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from msgspec import Struct

from regraft.errors import OutsideError

OUTPUT_LIMIT = 256 * 1024 * 1024


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
) -> Completed:
    """Run one program to its end, in a process group of its own, and return what it said.

    `timeout` is in seconds; past it the whole group is killed. At most `limit` bytes of each stream are taken.
    Raises OutsideError: missing-program, no-permission, timed-out, too-much-output, no-such-folder.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        process = _start(argv, env=env, cwd=cwd, streams=(given.fileno(), out.fileno(), err.fileno()))
        try:
            _wait(process, timeout)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            raise OutsideError(
                "timed-out",
                f"{_name(argv)} gave no answer within {timeout:g} seconds",
                hint="look whether the server or the disk behind it answers, then run again",
            ) from None
        except BaseException:
            _kill_group(process)
            raise
        streams = []
        for stream in (out, err):
            size = stream.seek(0, os.SEEK_END)
            if size > limit:
                raise OutsideError("too-much-output", f"{_name(argv)} wrote {size} bytes; at most {limit} are read")
            stream.seek(0)
            streams.append(stream.read())
    return Completed(tuple(argv), process.returncode, streams[0], streams[1])


def _start(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str | None, streams: tuple[int, int, int]
) -> "subprocess.Popen[bytes]":
    stdin, stdout, stderr = streams
    try:
        return subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
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


def _wait(process: "subprocess.Popen[bytes]", timeout: float | None) -> None:
    """Wait without polling: the standard library sleeps between looks, which is half of what a gate would wait for."""
    if timeout is None or not hasattr(os, "pidfd_open"):
        process.wait(timeout)
        return
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:  # a kernel before 5.3, or a sandbox that refuses the call
        process.wait(timeout)
        return
    try:
        if not select.select([handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(process.args, timeout)
    finally:
        os.close(handle)
    process.wait()


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _name(argv: Sequence[str]) -> str:
    return " ".join(argv[:2])[:200]
