"""Which state a machine is in after an apply, in one sentence."""

from regraft.core.restored import Restored
from regraft.errors import InputError, MistakesError, Outcome, OutsideError, RefusedError, RegraftError, StoppedError

SHOWN = 5

_WHERE = "in its checkouts, its environment and what `also-writes` names (nothing else is looked at)"


def state_of(restored: Restored) -> tuple[Outcome, str]:
    """What came of a roll-back, for the outcome and for the message."""
    if restored.outcome == "nothing" and restored.journal is not None:
        return (
            "unchanged",
            f"nothing was changed now: the apply of the plan {restored.journal.plan[:12]} stays as it was",
        )
    if restored.outcome in {"nothing", "unchanged"}:
        return "rolled-back", "nothing was changed: the machine is at its baseline"
    if restored.outcome == "given-back":
        return "rolled-back", f"it was given back: the machine is at its baseline, {_WHERE}"
    if restored.outcome == "no-snapshot":
        return "changed", "THE MACHINE IS CHANGED, and not given back (--no-snapshot): throw this container away"
    listed = "; ".join(restored.named[:SHOWN])
    more = f"; and {len(restored.named) - SHOWN} more" if len(restored.named) > SHOWN else ""
    return "changed", f"THE MACHINE IS CHANGED, and this could not be given back: {listed}{more}"


def with_state(error: RegraftError, outcome: Outcome | None, state: str) -> RegraftError:
    """The same error, with the machine's state in its message: in that of the last mistake, where it has several."""
    told: RegraftError
    if isinstance(error, MistakesError):
        *others, last = error.mistakes
        hint = last.hint
        told = MistakesError((*others, InputError(last.code, _told(last, state), where=last.where, hint=hint)))
    else:
        kinds = (RefusedError, InputError, OutsideError, StoppedError)
        kind = next((one for one in kinds if isinstance(error, one)), RegraftError)
        told = kind(error.code, _told(error, state), where=error.where, hint=error.hint)
    told.outcome = outcome
    return told


def interrupted(outcome: Outcome | None, state: str) -> RegraftError:
    return with_state(StoppedError("interrupted", "interrupted"), outcome, state)


def _told(error: RegraftError, state: str) -> str:
    return f"{error.message}. {state[0].upper()}{state[1:]}"
