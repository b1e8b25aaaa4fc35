"""Back to the baseline, from whatever state an apply was left in. Needs no plan, no manifest and no network."""

from collections.abc import Callable

from msgspec.structs import replace

from regraft.core.journal import Journal
from regraft.core.restored import Kept, Outcome, Restored
from regraft.core.tree_record import Change, clean
from regraft.errors import InputError, OutsideError, RefusedError
from regraft.flows.ports import Snapshots, StateFolder

GIVING_BACK = "giving the baseline back; wait, or kill -9 and `regraft restore`"


def _nothing(_line: str) -> None:
    """Nobody sends signals here."""


def restore(  # noqa: PLR0913 - keyword-only but for the ports
    state: StateFolder,
    snapshots: Snapshots,
    *,
    wait: float,
    root: str = "",
    forget: bool = False,
    hold: Callable[[str], None] = _nothing,
) -> Restored:
    """Give the baseline back, under the lock; commands that a killed apply left running are waited for, then ended.

    `wait` is in seconds. With `forget` the state is dropped even where something could not be given back. `root` is the
    absolute path of `--root`. `hold` is called when signals have to wait, with what is told to who sends one.
    Raises what the ports raise, and InputError `other-root`.
    """
    if not state.exists():
        return Restored("nothing")
    with state.lock(wait, end_orphans=True):
        try:
            journal = state.read()
        except RefusedError:
            if not forget:
                raise
            state.clear()
            return Restored("forgotten")
        if journal is None:
            return Restored("nothing")
        if journal.root != root:
            raise InputError(
                "other-root",
                f"this state is of the image below {clean(journal.root) or '/'!r:.200}",
                where="--root",
                hint="name that root, or unset REGRAFT_STATE",
            )
        hold(GIVING_BACK)
        return give_back(state, snapshots, journal, forget=forget)


def give_back(state: StateFolder, snapshots: Snapshots, journal: Journal, *, forget: bool = False) -> Restored:
    """The same, for who holds the lock and has the journal: an apply that failed."""
    if not journal.changed:
        state.clear()
        return Restored("unchanged", journal)
    if not journal.snapshot:
        if forget:
            state.clear()
        line = "no copy of the baseline was made (--no-snapshot), so nothing can be given back"
        return Restored("forgotten" if forget else "no-snapshot", journal, (line,))
    kept, noted = Kept(), True
    restoring = replace(journal, phase="restoring", process=None)
    state.release()
    try:
        kept = snapshots.keep(newer_than(journal, snapshots), journal.run)
        noted = _note(state, restoring)
        named = snapshots.give_back()
    except RefusedError as error:
        if not forget:
            raise
        named = (error.message,)
    if not named or forget:
        state.clear()
    elif not noted:
        _note(state, restoring)
    outcome: Outcome = "given-back" if not named else "forgotten" if forget else "incomplete"
    return Restored(outcome, journal, named, kept)


def _note(state: StateFolder, journal: Journal) -> bool:
    """Whether it could be written. Without it the older one leads back too, and a full disk has room when much is gone."""
    try:
        state.write(journal)
    except OutsideError as error:
        if error.code != "disk-full":
            raise
        return False
    return True


def newer_than(journal: Journal, snapshots: Snapshots) -> tuple[Change, ...]:
    """What was made or changed since the apply came to its end, if it did. RefusedError `damaged-snapshot`."""
    found = snapshots.newer()
    if found is None and journal.phase == "applied":
        message = (
            "the note of what the apply left is gone, so what was made since cannot be told; nothing was given back"
        )
        hint = "make the image anew; `regraft restore --forget` drops the note of what was done to it"
        raise RefusedError("damaged-snapshot", message, hint=hint)
    return found or ()
