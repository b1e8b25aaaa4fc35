"""Carried patches against one upstream commit: git's own verdict on a temporary index, file by file, folded as the design says."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from regraft.core import hashing
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.patch_state import fold_patch, fold_series
from regraft.core.plan import PatchState, PlannedPatch
from regraft.core.quoting import quoted
from regraft.core.trees import Tracked, printable
from regraft.errors import OutsideError
from regraft.flows.judge_file import FileVerdict, Ground, judge_file
from regraft.flows.patch_reading import PatchFile, Reading, read_patch
from regraft.flows.ports import GateStore

__all__ = ["Judged", "PatchFile", "Series", "judge"]

SHOWN = 5


class Judged(Struct, frozen=True):
    """`reason` is one line: why it does not fit, or what is to be known where it does."""

    patch: PlannedPatch
    reason: str | None


class Series(Struct, frozen=True):
    """`state` is None for a series without patches. `tree` is the commit's, with those patches that apply."""

    patches: tuple[Judged, ...]
    state: PatchState | None
    tree: Tree


def judge(
    commit: Commit,
    patches: Sequence[PatchFile],
    store: GateStore,
    fetch_blobs: Callable[[Sequence[Blob]], None] | None,
) -> Series:
    """Judge every patch, each on the tree that those before it leave; what does not fit is left out, and that is said.

    `fetch_blobs` is called at most once, with all that the patches touch and the store lacks.
    Raises OutsideError where git or the store failed: `missing-objects` among others. That is never a state.
    """
    tree = store.commit_tree(commit)
    if not patches:
        return Series((), None, tree)
    readings = [read_patch(patch, store) for patch in patches]
    tracked: Tracked = {entry.path: entry for entry in store.list_tree(tree)}
    _complete(readings, tracked, store, fetch_blobs)
    ground = Ground(store, store.read_tree(commit), tracked)
    judged: list[Judged] = []
    left_out: list[str] = []
    for patch, reading in zip(patches, readings, strict=True):
        state, reason = _judge_patch(reading, ground)
        if state == "applies":
            reason = _apply(reading, ground, last=patch is patches[-1])
        if left_out:
            reason = "; ".join(
                filter(None, (reason, f"judged on the tree without {_some(left_out)}, which does not fit"))
            )
        if state not in ("applies", "already-there"):
            left_out.append(printable(patch.path))
        sha256 = hashing.sha256(patch.data)
        judged.append(Judged(PlannedPatch(patch.path, sha256, state), reason))
    states = [one.patch.state for one in judged if one.patch.state is not None]
    return Series(tuple(judged), fold_series(states), ground.index.write_tree())


def _complete(
    readings: Iterable[Reading],
    tracked: Tracked,
    store: GateStore,
    fetch_blobs: Callable[[Sequence[Blob]], None] | None,
) -> None:
    """Have everything that the patches touch in the store, by one batch."""
    touched = sorted({path for reading in readings for path in reading.touched} & tracked.keys())
    wanted = [Blob(tracked[path].oid) for path in touched if tracked[path].kind == "blob"]
    missing = store.missing(wanted)
    if missing and fetch_blobs is not None:
        fetch_blobs(missing)
        missing = store.missing(missing)
    if missing:
        raise OutsideError(
            "missing-objects",
            f"{len(missing)} files that the patches touch are not here, {missing[0]} among them",
            hint="fetch them first (a clone without blobs lacks them)",
        )


def _judge_patch(reading: Reading, ground: Ground) -> tuple[PatchState, str | None]:
    if reading.trouble is not None:
        return "unreadable", reading.trouble + _without_returns(reading, ground)
    whole = ground.index.apply(reading.data, check_only=True)
    if whole.verdict == "unreadable":
        return "unreadable", f"git says {quoted(whole.message)}"
    files = [judge_file(file, reading, ground, fits=whole.verdict == "fits") for file in reading.files]
    state = fold_patch(file.state for file in files)
    if state == "applies" and whole.verdict != "fits":
        return "conflict", f"each file fits, all together do not: git says {quoted(whole.message)}"
    return state, _reason(state, files)


def _without_returns(reading: Reading, ground: Ground) -> str:
    if not reading.mended:
        return ""
    fits = ground.index.apply(reading.data, check_only=True).verdict == "fits"
    return f"; without the carriage returns it would {'fit' if fits else 'not fit either'}"


def _reason(state: PatchState, files: Sequence[FileVerdict]) -> str | None:
    """What decided: the files in that state, or for a mixture both kinds."""
    if state in ("applies", "already-there"):
        return None
    if state == "partial":
        there = _some([file.name for file in files if file.state == "already-there"])
        fits = _some([file.name for file in files if file.state == "applies"])
        inside = [file.reason for file in files if file.reason and file.state == "partial"]
        sides = [f"{there} there already" if there else "", f"{fits} still to be changed" if fits else ""]
        return "; ".join(filter(None, (*sides, *inside)))
    deciding = [file.reason or file.name for file in files if file.state == state]
    fitting = sum(file.state == "applies" for file in files)
    more = f"; {fitting} of {len(files)} files would fit" if fitting else ""
    return _some(deciding, "; ") + more


def _apply(reading: Reading, ground: Ground, *, last: bool) -> str | None:
    """Apply what was judged to apply. The reason names the hunks that fit away from their own line."""
    outcome = ground.index.apply(reading.data)
    if outcome.verdict != "fits":
        raise OutsideError("git-failed", f"git applies a patch when asked, and then does not: {outcome.message!r:.200}")
    if not last:
        ground.tracked = {entry.path: entry for entry in ground.index.entries()}
    if not outcome.offsets:
        return None
    lines = ", ".join(f"{offset:+d}" for offset in outcome.offsets[:SHOWN])
    more = ", …" if len(outcome.offsets) > SHOWN else ""
    return f"{len(outcome.offsets)} hunks fit away from their own lines ({lines}{more})"


def _some(texts: Sequence[str], separator: str = ", ") -> str:
    more = f"{separator}and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return separator.join(texts[:SHOWN]) + more
