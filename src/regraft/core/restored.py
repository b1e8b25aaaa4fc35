"""What came of giving a baseline back."""

from typing import Literal

from msgspec import Struct

from regraft.core.journal import Journal

Outcome = Literal["nothing", "unchanged", "given-back", "incomplete", "no-snapshot", "forgotten"]


class Kept(Struct, frozen=True):
    """What was made or changed after an apply, and is copied to `folder` before it goes: the paths where it was."""

    folder: str = ""
    paths: tuple[str, ...] = ()


class Restored(Struct, frozen=True):
    """`named` is what could not be given back, a line each. `journal` says what had been applied, or was on its way."""

    outcome: Outcome
    journal: Journal | None = None
    named: tuple[str, ...] = ()
    kept: Kept = Kept()

    @property
    def whole(self) -> bool:
        """Whether the machine holds the baseline, as far as regraft ever changed it."""
        return self.outcome in {"nothing", "unchanged", "given-back"}
