"""The steps of a build, each green or the last one."""

from collections.abc import Callable

from regraft.core.image_build import Step, StepName
from regraft.errors import RefusedError


class RedError(Exception):
    """A step that ends the build; why is in the steps."""


class Steps:
    """`done` are in their order; `notes` say what went on beside them, a line each."""

    def __init__(self, notes: list[str]) -> None:
        self.done: list[Step] = []
        self.notes = notes

    def did(self, name: StepName, detail: str) -> None:
        self.done.append(Step(name, ok=True, detail=detail))

    def red(self, name: StepName, why: str) -> None:
        """Raises RedError."""
        self.done.append(Step(name, ok=False, detail=why))
        raise RedError

    def act(self, name: StepName, act: Callable[[], object], detail: str = "done") -> None:
        """Raises RedError where it was refused."""
        try:
            act()
        except RefusedError as error:
            self.red(name, error.message)
        self.did(name, detail)
