"""The world as it was after each commit that touched it, newest first, and where a verdict on it changed."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from regraft.core.patch_history import Line, Touch, Version, View

V = TypeVar("V")


class Moment(Struct, frozen=True):
    """What the paths held after `by`. `by` is None for what was there before the oldest commit of the range.

    `until` is the touch that ended it, None for the tip's own state.
    """

    by: Touch | None
    view: View
    until: Touch | None = None


class StateChange(Struct, Generic[V], frozen=True):
    """A commit before which one verdict held, and after which another one does."""

    by: Touch
    before: V
    after: V


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
    begins = line.beyond is None and not line.cut and bool(line.touches) and until is line.touches[-1] and not view
    if not begins:
        yield Moment(None, dict(view), until)


def touched_below(touch: Touch, paths: Sequence[bytes]) -> bool:
    """Whether a commit changed one of the paths, or what stands above or below one."""
    changed = {change.path for change in touch.changes}
    if not changed.isdisjoint(paths):
        return True
    return any(other.startswith(path + b"/") or path.startswith(other + b"/") for other in changed for path in paths)


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


def changes_of_state(
    versions: Iterable[Moment], judge: Callable[[Moment], V], key: Callable[[Moment], Hashable] | None = None
) -> Iterator[StateChange[V]]:
    """Each change of the verdict with the commit that made it, newest first."""
    newer: tuple[Moment, V] | None = None
    for moment, verdict in states(versions, judge, key):
        if newer is not None and newer[1] != verdict:
            assert newer[0].by is not None
            yield StateChange(newer[0].by, verdict, newer[1])
        newer = (moment, verdict)


def entries_of(view: View, paths: Iterable[bytes]) -> tuple[Version | None, ...]:
    return tuple(view.get(path) for path in paths)
