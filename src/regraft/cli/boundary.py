"""Where errors become exit codes: the only place that prints them."""

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from regraft.errors import MistakesError, OutsideError, RegraftError

BUG = 70
INTERRUPTED = 130


class Terminated(BaseException):
    """SIGTERM or SIGHUP, as an exception: every `with` block on the way ends as it should."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


def _terminate(number: int, _frame: object) -> None:
    raise Terminated(number)


class Boundary:
    """`with Boundary(words, environ) as edge: edge.code = ...`: afterwards `edge.code` is the exit code, whatever came."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        self.code = BUG
        self._closed = False
        self._words = words
        self._environ = environ

    def __enter__(self) -> Self:
        """A cancelled job gets SIGTERM first: what is private is taken away, and what was started is ended, then too."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _terminate)
        if sys.stdout is None:  # closed by the caller; what is printed there is lost, and that is no success
            self._closed = True
            sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        if sys.stderr is None:  # what is said there is lost as the caller wanted; it does not belong to the answer
            sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        swallowed = self._judge(error)
        self._settle()
        return swallowed

    def _judge(self, error: BaseException | None) -> bool:
        match error:
            case None:
                return self._flush()
            case SystemExit():  # argparse, after it printed a help text
                self.code = error.code if isinstance(error.code, int) else BUG
            case KeyboardInterrupt():
                self._stopped("interrupted", INTERRUPTED)
            case Terminated():
                self._stopped("terminated", 128 + error.signal)
            case BrokenPipeError():
                self._drop_output()
            case RegraftError():
                self._report(error)
            case OSError():
                from regraft.adapters.files import outside  # noqa: PLC0415

                self._report(outside(error, str(error.filename or "")))
            case RecursionError() | MemoryError():
                self._report(OutsideError("too-deep", "the input is nested deeper, or is larger, than can be read"))
            case Exception():
                self._bug(error)
            case _:
                return False
        return True

    def _flush(self) -> bool:
        try:
            sys.stdout.flush()
            if self._closed:
                self._report(OutsideError("closed-output", "standard output is closed: nobody saw the answer"))
        except BrokenPipeError:
            self._drop_output()
        except OSError as error:
            from regraft.adapters.files import outside  # noqa: PLC0415

            self._drop_output()
            self._report(outside(error, "standard output"))
        return False

    def _drop_output(self) -> None:
        """Nobody reads any more (`| head`): what was left unsaid is no success, and the interpreter's last flush is none."""
        _silence(sys.stdout)
        self.code = OutsideError.exit_code

    def _settle(self) -> None:
        """Nothing is left for the interpreter's last flush, whose failure would be an exit code of its own."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                _silence(stream)
                self.code = self.code or OutsideError.exit_code

    def _report(self, error: RegraftError) -> None:
        self.code = error.exit_code
        mistakes = error.mistakes if isinstance(error, MistakesError) else (error,)
        if self._json:
            document: dict[str, Any] = {"error": _plain(error)}
            if len(mistakes) > 1:
                document["error"]["mistakes"] = [_plain(one) for one in mistakes]
            self._answer(document)
        from regraft.render.errors import annotations, error_text  # noqa: PLC0415

        self._say(error_text(mistakes))
        if self._environ.get("GITHUB_ACTIONS") == "true":
            self._say(annotations(mistakes).rstrip("\n"))
            self._summarize(mistakes)

    def _summarize(self, mistakes: Sequence[RegraftError]) -> None:
        """A red run is read on its summary page first."""
        from regraft.adapters import files  # noqa: PLC0415 - only in Actions
        from regraft.render.errors import summary  # noqa: PLC0415

        if path := self._environ.get("GITHUB_STEP_SUMMARY"):
            try:
                files.append(Path(path), summary(mistakes).encode())
            except OutsideError as error:
                self._say(str(error))

    def _bug(self, error: Exception) -> None:
        from regraft.render.errors import bug_report  # noqa: PLC0415

        report = bug_report(error, self._words)
        if self._json:
            self._answer({"error": {"code": "bug", "message": report, "where": None, "hint": None}})
        self._say(report)
        self.code = BUG

    @property
    def _json(self) -> bool:
        pairs = zip(self._words, self._words[1:], strict=False)
        return "--format=json" in self._words or ("--format", "json") in pairs

    def _stopped(self, word: str, code: int) -> None:
        if self._json:
            self._answer({"error": {"code": word, "message": word, "where": None, "hint": None}})
        self._say(word)
        self.code = code

    def _answer(self, document: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # `_settle` finds it out again
            print(json.dumps(document, indent=2), flush=True)

    def _say(self, message: str) -> None:
        with contextlib.suppress(OSError):
            print(message, file=sys.stderr, flush=True)


def _silence(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _plain(error: RegraftError) -> dict[str, Any]:
    plain = {"code": error.code, "message": error.message, "where": error.where, "hint": error.hint}
    return plain | ({"outcome": error.outcome} if error.outcome is not None else {})
