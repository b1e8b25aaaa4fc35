"""A runner that cancels a job sends SIGINT, then SIGTERM, and kills some seconds later: time enough to give a baseline back.

The first signal interrupts. Whatever comes after it waits, since the one thing that is left to do must not be broken off.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Signals:
    """Whether the next signal interrupts, and what is told to who sends one that has to wait: once, on standard error."""

    def __init__(self) -> None:
        self.waiting = False
        self._line = "stopping; wait, or kill -9 and `regraft restore`"
        self._said = ""

    def hold(self, line: str) -> None:
        """From now on no signal interrupts any more."""
        self.waiting = True
        self._line = line

    def take(self, _number: int, _frame: FrameType | None) -> None:
        if not self.waiting:
            self.waiting = True
            raise KeyboardInterrupt
        if self._said != self._line:
            self._said = self._line
            with contextlib.suppress(OSError):  # past the buffer, which the interrupted code may be filling
                os.write(sys.stderr.fileno(), f"{self._line}\n".encode())


@contextmanager
def interrupting() -> Iterator[Signals]:
    """SIGINT, SIGTERM and SIGHUP are interruptions meanwhile; what is ignored (nohup) stays ignored.

    Where they have come to wait they wait to the end of the process, until the last word is said.
    """
    signals = Signals()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    wanted = [one for one in numbers if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, signals.take) for one in wanted}
    try:
        yield signals
    finally:
        for number, handler in before.items() if not signals.waiting else ():
            signal.signal(number, handler)
