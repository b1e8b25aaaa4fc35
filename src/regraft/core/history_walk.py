"""The world as it was after each commit that touched it, newest first, and the verdicts on it."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from msgspec import Struct

from regraft.core.patch_history import Line, Touch, View

V = TypeVar("V")


class Moment(Struct, frozen=True):
    """What the paths held after `by`. `by` is None for what was there before the oldest commit of the range.

    `until` is the touch that ended it, None for the tip's own state.
    """

    by: Touch | None
    view: View
    until: Touch | None = None


def moments(tip: View, line: Line) -> Iterator[Moment]:
    """The versions of the world in a range, newest first. Paths besides those of `tip` (above and below them) are not kept.

    The last one is what stood before the range, unless history begins within it.
    """
    view = dict(tip)
    until: Touch | None = None
    for touch in line.touches:
        yield Moment(touch, dict(view), until)
        for change in touch.changes:
            if change.old is None:
                view.pop(change.path, None)
            else:
                view[change.path] = change.old
        until = touch
    root = until is not None and until.position == len(line.commits) - 1 and line.beyond is None and not line.cut
    begins = root and not view
    if not begins:
        yield Moment(None, dict(view), until)


def states(
    versions: Iterable[Moment], judge: Callable[[Moment], V], key: Callable[[Moment], Hashable] | None = None
) -> Iterator[tuple[Moment, V]]:
    """The verdict on each version. `judge` is called once for versions of the same `key` (the entries, if none is given)."""
    known: dict[Hashable, V] = {}
    for moment in versions:
        name = key(moment) if key else frozenset(moment.view.items())
        if name not in known:
            known[name] = judge(moment)
        yield moment, known[name]
