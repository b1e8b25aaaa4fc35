"""Carried patches along an upstream's first-parent history: their states, each change of one, and the commit that made it."""

from collections.abc import Callable, Collection, Iterable, Sequence

from regraft.core.history_view import HistoryView
from regraft.core.history_walk import Moment, moments
from regraft.core.objects import Commit
from regraft.core.partners import together
from regraft.core.patch_history import PatchHistory, SeriesHistory
from regraft.core.patch_memo import Recall, Series, deleted_in, paths_of
from regraft.core.patch_state import fold_series
from regraft.core.patch_text import PatchText, bases_of
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.trees import SUBMODULE, Entry
from regraft.errors import OutsideError
from regraft.flows.patch_culprits import culprits
from regraft.flows.patch_kept import kept
from regraft.flows.patch_line import ground_of
from regraft.flows.ports import HistorySource

AHEAD = 64  # versions whose files are asked for in one go

Progress = Callable[[int, int], None]
"""Called with (versions judged, versions to judge)."""


def walk(  # noqa: PLR0913 - keyword-only but for what is judged where
    texts: Sequence[PatchText],
    tip: Commit,
    source: HistorySource,
    *,
    last: int | None = None,
    since: Commit | None = None,
    recall: Recall | None = None,
    engine: bytes = b"",
    progress: Progress = lambda _done, _all: None,
) -> SeriesHistory:
    """Every patch of a series at `tip`, and through the `last` first-parent commits, or those that `since` does not lead to.

    A hunk that came in within the range and that nothing has taken back since counts as `already-there`.
    Raises OutsideError: missing-objects, missing-blobs (cannot decide), and what git fails with. That is never a state.
    """
    paths, deleted = paths_of(texts), deleted_names(texts)
    ground = ground_of(source, tip, paths, deleted, last=last, since=since, recall=recall)
    line, fresh = ground.line, ground.fresh
    versions, lacks = _here(list(moments(ground.known, line)), source, bases_of(texts))
    series = Series(texts, engine, recall)
    namesakes = Namesakes(source, source.commit(tip).tree, paths)
    worlds: list[HistoryView] = []
    verdicts: list[tuple[PatchVerdict, ...]] = []
    for number, moment in enumerate(versions):
        if number % AHEAD == 0:
            source.prefetch(
                _ahead(versions[number : number + AHEAD], fresh, whole=number == 0 and fresh == len(line.commits))
            )
        world = HistoryView(moment.view, frozenset(paths), source, namesakes if number == 0 else None)
        worlds.append(world)
        verdicts.append(series.judge(world).patches)
        progress(number + 1, len(versions))
    verdicts = kept(texts, versions, verdicts, source, recall, engine)
    turns = culprits(series, versions, worlds, verdicts, source)
    now = together(texts, verdicts[0])
    oldest = versions[-1].by
    commits = oldest.position + 1 if lacks and oldest is not None else len(line.commits)
    patches = tuple(PatchHistory(now[number], turns[number]) for number in range(len(texts)))
    return SeriesHistory(
        tip,
        commits,
        sum(touch.position < commits for touch in line.touches),
        line.beyond is None and not line.cut and lacks is None,
        fold_series(one.now.state for one in patches),
        patches,
        series.judged,
        line.commits[-1] if line.cut and lacks is None else None,
        lacks,
    )


def _here(versions: list[Moment], source: HistorySource, bases: Collection[str]) -> tuple[list[Moment], str | None]:
    """The newest versions of which every file is here, and the name of what is missing of the next one.

    A partial clone has the files of what was checked out, and may lack those of older commits; where it lacks one of the newest
    version, nothing can be decided.
    """
    try:
        source.complete(_needed(versions), bases)
    except OutsideError as error:
        if error.code != "missing-blobs" or len(versions) == 1:
            raise
    else:
        return versions, None
    source.complete(_needed(versions[:1]), bases)
    for number, moment in enumerate(versions):
        lost = [oid for oid in _needed([moment]) if source.blob(oid) is None]
        if lost:
            return versions[:number], lost[0]
    return versions, None


def _ahead(some: Sequence[Moment], fresh: int, *, whole: bool) -> dict[str, None]:
    """The files that are going to be judged in these versions, as far as can be told: those of new commits, or all of the tip."""
    first = [one.oid for one in some[0].view.values()] if whole else []
    by = [moment.until for moment in some if moment.until is not None and moment.until.position < fresh]
    older = [change.old.oid for touch in by for change in touch.changes if change.old is not None]
    return dict.fromkeys([*first, *older])


class Listing:
    """The tip's whole tree, listed when a hint first asks for it."""

    def __init__(self, source: HistorySource, tree: str) -> None:
        self._source = source
        self._tree = tree
        self._entries: dict[bytes, Entry] | None = None

    def __call__(self) -> dict[bytes, Entry]:
        if self._entries is None:
            self._entries = {entry.path: entry for entry in self._source.listing(self._tree)}
        return self._entries


class Namesakes:
    """The files of a tree that are called like one that patches name, looked up when a hint first asks for it."""

    def __init__(self, source: HistorySource, tree: str, paths: Iterable[bytes]) -> None:
        self._source = source
        self._tree = tree
        self._names = frozenset(path.rpartition(b"/")[2] for path in paths)
        self._entries: dict[bytes, Entry] | None = None

    def __call__(self) -> dict[bytes, Entry]:
        if self._entries is None:
            self._entries = {entry.path: entry for entry in self._source.named(self._tree, self._names)}
        return self._entries


def deleted_names(texts: Iterable[PatchText]) -> frozenset[str]:
    """The names of the blobs that patches delete: one that stands elsewhere means that the file was moved."""
    return deleted_in(section for text in texts if not text.problems for section in text.sections)


def _needed(versions: Iterable[Moment]) -> dict[str, None]:
    """The files that a judgement may read: what the paths hold in each version."""
    held = (one.oid for moment in versions for one in moment.view.values() if one.mode != SUBMODULE)
    return dict.fromkeys(held)
