"""Runs install commands: each in a group of its own, under the lock, for a bounded time, heard line by line."""

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping

from regraft.adapters import proc, process
from regraft.adapters.places import Places
from regraft.core import apply_install
from regraft.core.apply_values import Ran, Step
from regraft.core.journal import Running
from regraft.core.manifest import Image

TAIL = 40  # lines


class InstallCommands:
    """`flows.ports.Commands`. `environ` is the environment that regraft was started with; `say` is given each line."""

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
        program = self._places.program(image.python) if step.argv[0] == "python" else step.argv[0]
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

        def heard(line: bytes) -> None:
            text = line.decode("utf-8", "backslashreplace")
            tail.append(text[:2000])
            self._say(text)

        begin = time.time_ns()
        done = process.stream(
            argv,
            env=env,
            cwd=folder,
            timeout=image.install_timeout,
            on_start=lambda pid: started(Running(pid, pid, proc.start_ticks(pid) or 0, argv)),
            on_line=heard,
            keep=(lock,),
        )
        return Ran(argv, done.returncode, tuple(tail), begin, time.time_ns(), done.left_running)
