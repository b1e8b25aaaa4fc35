"""Everything that regraft raises on purpose. One boundary, `regraft.cli.main`, maps these to exit codes.

A patch that does not fit, a failing `verify`, a finding are results, not errors.
"""

from collections.abc import Sequence
from typing import Literal

Outcome = Literal["applied", "unchanged", "rolled-back", "changed"]  # what an apply made of the machine


class RegraftError(Exception):
    """What went wrong, where, and what to do next.

    `code` is a stable word for machines (`unknown-key`), `where` is `file:line:column`, `repository@ref` or None,
    `hint` is the next step in the imperative, or None. All three may hold hostile text: renderers escape it.
    `outcome` is there where an apply was at work.
    """

    exit_code = 70

    def __init__(self, code: str, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint
        self.outcome: Outcome | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class RefusedError(RegraftError):
    """Exit 1: the question was understood and the answer is no."""

    exit_code = 1


class InputError(RegraftError):
    """Exit 2: editing the body, the manifest or the arguments mends it."""

    exit_code = 2


class OutsideError(RegraftError):
    """Exit 3: no answer from a server, disk, permission, a missing program, a lock that somebody holds."""

    exit_code = 3


class StoppedError(RegraftError):
    """Exit 130: a signal. What that leaves behind is in the message."""

    exit_code = 130


class MistakesError(InputError):
    """Exit 2: every mistake of a file, a body or an argument list at once, in the order in which they stand there."""

    def __init__(self, mistakes: Sequence[InputError]) -> None:
        if not mistakes:
            raise ValueError("no mistakes to report")
        first = mistakes[0]
        super().__init__(first.code, first.message, where=first.where, hint=first.hint)
        self.mistakes = tuple(mistakes)

    def __str__(self) -> str:
        return "\n".join(str(mistake) for mistake in self.mistakes)


def raise_all(mistakes: Sequence[InputError]) -> None:
    """Raise one mistake as itself, several as a `MistakesError`, none not at all."""
    if len(mistakes) == 1:
        raise mistakes[0]
    if mistakes:
        raise MistakesError(mistakes)
