"""How the states of parts fold into the state of a whole."""

from collections.abc import Iterable

from regraft.core.plan import PatchState

_WORST_FIRST: tuple[PatchState, ...] = ("unreadable", "target-gone", "conflict", "partial")


def fold_patch(parts: Iterable[PatchState]) -> PatchState:
    """The state of a patch, from those of its files (of which there is at least one)."""
    states = set(parts)
    for state in _WORST_FIRST:
        if state in states:
            return state
    if len(states) == 2:
        return "partial"
    [state] = states
    return state


def fold_series(patches: Iterable[PatchState]) -> PatchState | None:
    """The state of a series, from those of its patches; None where it has none."""
    states = set(patches)
    for state in (*_WORST_FIRST, "applies", "already-there"):
        if state in states:
            return state
    return None
