"""`regraft patch refresh`: the same change with new context, where that is proved at every ref that was asked about."""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core.drop_values import Change
from regraft.core.manifest import Manifest
from regraft.core.patch_health import Row
from regraft.core.refreshing import Stuck
from regraft.flows.judge import judge
from regraft.flows.patch_judging import Case
from regraft.flows.patch_reading import PatchFile
from regraft.flows.patch_renew import Renewed, renew
from regraft.flows.patch_status import Asked, Ports, status
from regraft.flows.patch_trials import other_place

FIRST = {
    "already-there": "its change is there already: drop it instead (`regraft patch drop`)",
    "partial": "a part of it is there already: take that part out by hand first",
    "unreadable": "it cannot be read",
}


class Refused(Struct, frozen=True):
    """Why nothing is written, at one ref. `stuck` are the places that conflict."""

    row: Row
    reason: str
    stuck: tuple[Stuck, ...] = ()


class Refresh(Struct, frozen=True):
    """`change` is None where the patch is as it should be, or where something is refused. `pinned`: the manifest has its sha256."""

    rows: tuple[Row, ...]
    refused: tuple[Refused, ...] = ()
    change: Change | None = None
    moved: tuple[tuple[str, str], ...] = ()
    pinned: bool = False


def refresh(manifest: Manifest, asked: Asked, ports: Ports) -> Refresh:
    """Nothing is written here. Raises what `status` raises, and OutsideError `engine-disagrees` where git takes the new text otherwise."""
    found = status(manifest, asked, ports)
    refused: list[Refused] = []
    made: Renewed | None = None
    for row, case in zip(found.rows, found.cases, strict=True):
        [index] = case.chosen
        if row.advice.action == "drop" or row.state in FIRST:
            refused.append(Refused(row, _first(row)))
            continue
        answer = renew(case, index)
        if isinstance(answer, tuple):
            refused.append(Refused(row, _unproved(case, index), answer))
        elif made is None:
            made = answer
    if made is None or refused:
        return Refresh(found.rows, tuple(refused))
    refused = [one for pair in zip(found.rows, found.cases, strict=True) if (one := _confirmed(*pair, made.file))]
    old = found.cases[0].files[found.cases[0].chosen[0]]
    change = Change(old.path, old.data, made.file.data) if made.file.data != old.data and not refused else None
    pinned = any(case.carrier.baked.format(old.path).sha256 for case in found.cases)
    return Refresh(found.rows, tuple(refused), change, made.moved, pinned=pinned)


def _unproved(case: Case, index: int) -> str:
    place = other_place(case, index)
    why = f"; {place}, but no commit moved it there: change the header by hand if it is the same code" if place else ""
    return f"it cannot be proved that the same change fits{why}"


def _first(row: Row) -> str:
    return FIRST.get(row.state) or f"it is dead: {row.advice.grounds[0]}; drop it instead (`regraft patch drop`)"


def _confirmed(row: Row, case: Case, file: PatchFile) -> Refused | None:
    """Git's own word on the new text, at each ref."""
    [index] = case.chosen
    series: Sequence[PatchFile] = [*case.files[:index], file]
    judged = judge(case.commit, series, case.upstream.store, case.upstream.fetch_blobs).patches[index]
    if judged.patch.state == "applies":
        return None
    return Refused(row, f"the new text is {judged.patch.state} there: {judged.reason}")
