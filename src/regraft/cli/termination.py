"""A runner that cancels a job sends SIGTERM, some seconds before it kills: time enough to give the baseline back."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupting() -> Iterator[None]:
    """SIGTERM and SIGHUP are interruptions meanwhile, as Ctrl-C is; what is ignored (nohup) stays ignored."""
    wanted = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, _interrupt) for one in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
