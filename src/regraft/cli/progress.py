"""A progress bar on a terminal, for what takes longer than a second; elsewhere, and before that, nothing."""

import sys
import threading
from types import TracebackType
from typing import Any, Self

PATIENCE = 1.0  # seconds


class Bar:
    """`bar(what, done, of)` says how far it came. The line goes when the block is left, however that is."""

    def __init__(self) -> None:
        self._state = ("", 0, 0)
        self._progress: Any = None
        self._task: Any = None
        self._over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            if self._progress is not None:
                self._progress.stop()
            self._progress, self._over = None, True

    def __call__(self, what: str, done: int, of: int) -> None:
        self._state = (what, done, of)
        with self._lock:
            if self._progress is not None:
                self._progress.update(self._task, description=what, completed=done, total=of or None)

    def _begin(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - only what takes long, on a terminal, pays for it
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        progress = Progress(*columns, console=console, transient=True)
        with self._lock:
            if self._over:
                return
            what, done, of = self._state
            self._task = progress.add_task(what or "fetching", completed=done, total=of or None)
            progress.start()
            self._progress = progress
