"""The series that is left once a patch is dropped: whether each of the others still goes on as it did."""

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from regraft.core.patch_history import SeriesHistory
from regraft.core.plan import PatchState
from regraft.core.series_state import FITS, judge_series
from regraft.flows.patch_judging import Case, Judging, read_series, view_of

Judge = Callable[[Judging], SeriesHistory]


class Stopped(Struct, frozen=True):
    """A patch of the series that would stop a run without the dropped one. `first`: it can itself be dropped before that one."""

    called: str
    state: PatchState
    reason: str | None
    first: bool


def stopped_without(case: Case, index: int, judge: Judge) -> Iterator[Stopped]:
    """Those that fit, and would not without the patch at that place (and wherever else the series lists the same file)."""
    dropped = _places(case, index)
    for number, (state, reason) in _broken(case, dropped, judge).items():
        landed = case.history.patches[number].now.state == "already-there"
        first = landed and not _broken(case, _places(case, number), judge)
        yield Stopped(case.files[number].called, state, reason, first)


def _places(case: Case, index: int) -> frozenset[int]:
    return frozenset(at for at, file in enumerate(case.files) if file.path == case.files[index].path)


def _broken(case: Case, dropped: Collection[int], judge: Judge) -> dict[int, tuple[PatchState, str | None]]:
    left = [at for at in range(len(case.files)) if at not in dropped]
    touched = {path for at in dropped for path in case.texts[at].touched}
    if not any(case.texts[at].touched & touched for at in left):
        return {}
    texts = read_series([case.files[at] for at in left], case.upstream, case.tree)
    verdicts = judge_series(texts, view_of(case.upstream, case.tree, texts)).patches
    if _turned(case, left, [one.state for one in verdicts]):  # history may know of more that has landed
        found = judge(Judging(case.carrier, case.upstream, case.commit, texts))
        verdicts = tuple(one.now for one in found.patches)
    return {
        at: (verdicts[place].state, verdicts[place].reason)
        for place, at in _turned(case, left, [one.state for one in verdicts])
    }


def _turned(case: Case, left: Collection[int], states: Collection[PatchState]) -> list[tuple[int, int]]:
    """(place in what is left, place in the series) of those that fitted, and do not any more."""
    return [
        (place, at)
        for place, (at, state) in enumerate(zip(left, states, strict=True))
        if case.history.patches[at].now.state in FITS and state not in FITS
    ]
