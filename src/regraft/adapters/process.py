"""The only module that starts processes."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regraft.adapters import effects
from regraft.errors import OutsideError

OUTPUT_LIMIT = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Completed:
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
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _start(argv, env=env, cwd=cwd, stdout=out.fileno(), stderr=err.fileno(), keep=keep)
        try:
            with effects.running(process.pid):
                process.communicate(stdin, timeout=timeout)
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


def _start(  # noqa: PLR0913 - keyword-only, as for `run`
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdout: int,
    stderr: int,
    keep: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    try:
        with effects.effect("start"):
            return subprocess.Popen(
                list(argv),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
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
