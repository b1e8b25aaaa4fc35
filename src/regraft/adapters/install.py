"""Runs install commands: each in a group of its own, under the lock, for a bounded time.

What one says is told where it failed: its last lines.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping

from regraft.adapters import proc, process
from regraft.adapters.places import Places
from regraft.adapters.state_folder import VARIABLE
from regraft.core import apply_install
from regraft.core.apply_values import Ran, Step
from regraft.core.journal import Running
from regraft.core.manifest import Image
from regraft.errors import OutsideError

TAIL = 40  # lines


class InstallCommands:
    """`flows.ports.Commands`. `environ` is the environment that regraft was started with; `say` is given a line."""

    def __init__(self, environ: Mapping[str, str], places: Places, say: Callable[[str], None]) -> None:
        self._environ = environ
        self._places = places
        self._say = say

    def run(  # noqa: PLR0913 - keyword-only but for what is run
        self,
        step: Step,
        image: Image,
        *,
        run: str,
        externally_managed: bool,
        lock: int,
        started: Callable[[Running], None],
    ) -> Ran:
        folder = str(self._places.project if step.path is None else self._places.of(step.path))
        program = self._places.interpreter(image) if step.argv[0] == "python" else step.argv[0]
        argv = (program, *step.argv[1:])
        env = apply_install.environment(
            self._environ,
            image,
            run=run,
            folder=folder,
            own_prefix=sys.prefix,
            externally_managed=externally_managed,
        )
        tail: deque[str] = deque(maxlen=TAIL)

        begin = time.time_ns()
        try:
            done = process.stream(
                argv,
                env=env,
                cwd=folder,
                timeout=image.install_timeout,
                on_start=lambda pid: started(Running(pid, pid, proc.start_ticks(pid) or 0, argv)),
                on_line=lambda line: tail.append(line.decode("utf-8", "backslashreplace")[:2000]),
                keep=(lock,),
            )
        finally:
            ended = _end_left_over(argv, lock, run)
        if done.returncode != 0:
            for line in tail:
                self._say(line)
        return Ran(argv, done.returncode, tuple(tail), begin, time.time_ns(), done.left_running or ended)


def _end_left_over(argv: tuple[str, ...], lock: int, run: str) -> bool:
    """End who left the command's group, and say whether there was anybody. OutsideError `still-running`."""
    ended, left = proc.end_all(lambda: proc.left_over(lock, f"{VARIABLE}={run}"))
    if left:
        pid = min(left)
        message = (
            f"`{apply_install.shown(argv)}` left process {pid} ({proc.command_line(pid)!r:.200}), which cannot be ended"
        )
        raise OutsideError("still-running", message, hint="end it, and look what it wrote, before you use this machine")
    return bool(ended)
