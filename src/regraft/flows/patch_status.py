"""`regraft patch status`: each carried patch at each ref, with its state, who changed it, and what to do."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.baseline_document import decode_baseline, path_of
from regraft.core.document import LIMIT
from regraft.core.manifest import Image, Manifest
from regraft.core.patch_health import HunkState, Remark, Row
from regraft.core.patch_history import SeriesHistory
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.refs import Ref
from regraft.core.series_state import FITS
from regraft.core.trees import printable, shown
from regraft.flows.patch_advice import Adviser
from regraft.flows.patch_built import BuiltRefs
from regraft.flows.patch_dockerfile import patch_runs
from regraft.flows.patch_files import sha256
from regraft.flows.patch_judging import Carrier, Case, Judging, LookUp, Progress, baked_version, carriers, judged
from regraft.flows.patch_reading import PatchFile
from regraft.flows.ports import ProjectFiles

_SAID = ("bytes-differ", "judged-without", "carriage-returns", "commit-in-name", "looks-solved", "made-for")


class Asked(Struct, frozen=True):
    """What a command line names. Nothing of a kind: all of them; no ref: the branch that each dependency follows.

    `thorough`: look for what refers to the files that a patch edits also where they are there.
    """

    patches: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    image: str | None = None
    dependency: str | None = None
    thorough: bool = False


class Status(Struct, frozen=True):
    """`carried`: whether the manifest has any patch that was asked about. `remarks` are about images."""

    rows: tuple[Row, ...]
    remarks: tuple[Remark, ...] = ()
    cases: tuple[Case, ...] = ()

    @property
    def stops(self) -> bool:
        return any(row.stops for row in self.rows)


class Ports(Struct, frozen=True):
    """`committed` gives the bytes that the project's HEAD has at a path; None where there are none, or no repository."""

    files: ProjectFiles
    look_up: LookUp
    progress: Progress
    committed: Callable[[str], bytes | None] = lambda _: None


def status(
    manifest: Manifest, asked: Asked, ports: Ports, judge: Callable[[Judging], SeriesHistory] | None = None
) -> Status:
    """Raises InputError for names, refs and patch files; OutsideError where git, a server or the disk failed.

    `judge` walks history in another range than back to the last change of each state.
    """
    chosen = carriers(manifest, asked.patches, asked.image, asked.dependency)
    if not chosen:
        return Status(())
    deep = judge or (lambda one: one.deep_enough(ports.progress))
    cases = judged(chosen, asked.refs, ports.look_up, ports.files, deep)
    built = BuiltRefs(ports.files, ports.look_up, lambda one: one.deep_enough(ports.progress))
    adviser = Adviser(_baked(chosen, ports.files), ports.progress, asked.thorough, built)
    rows = tuple(_row(case, index, adviser, ports) for case in cases for index in case.chosen)
    runs = patch_runs(cases, ports.files)
    places = [(number, index) for number, case in enumerate(cases) for index in case.chosen]
    rows = tuple(_with_runs(row, runs.of.get(place, ())) for row, place in zip(rows, places, strict=True))
    return Status(rows, tuple(runs.remarks), tuple(cases))


def _with_runs(row: Row, said: Sequence[Remark]) -> Row:
    """Where `patch` is run on it, that concerns a patch that does not fit, or has landed."""
    return replace(row, advice=replace(row.advice, remarks=(*row.advice.remarks, *said))) if said else row


def hunks_of(verdict: PatchVerdict) -> Iterator[HunkState]:
    for file in verdict.files:
        for hunk in file.hunks:
            yield HunkState(shown(file.path), hunk.index, hunk.state, hunk.offset, hunk.reason, hunk.place)
        if not file.hunks:
            yield HunkState(shown(file.path), None, file.state, None, file.reason)


def _row(case: Case, index: int, adviser: Adviser, ports: Ports) -> Row:
    history = case.history.patches[index]
    advice = adviser.advise(case, index)
    if history.now.state not in FITS and (differs := _other_bytes(case.files[index], ports)) is not None:
        advice = replace(advice, remarks=(*advice.remarks, differs))
    said = [one.message for one in advice.remarks if one.code in _SAID]
    reason = "; ".join(filter(None, (history.now.reason, *said))) or None
    return Row(
        case.carrier.image.name,
        case.carrier.dependency.name,
        case.files[index].path,
        sha256(case.files[index]),
        printable(case.ref),
        case.commit,
        history.now.state,
        reason,
        tuple(hunks_of(history.now)),
        history.turns[0].culprit if history.turns else None,
        advice,
        history.turns,
        case.history.commits,
        case.history.reaches,
        case.called(case.commit) if case.upstream.releases else None,
        case.history.cut,
        case.history.lacks,
    )


def _other_bytes(file: PatchFile, ports: Ports) -> Remark | None:
    """Where the checkout has not what was committed, the upstream's ref is perhaps not to blame."""
    committed = ports.committed(file.path)
    if committed is None or committed == file.data:
        return None
    ends = file.data.replace(b"\r\n", b"\n") == committed.replace(b"\r\n", b"\n")
    why = ": only the line ends differ, the checkout rewrote them (see .gitattributes)" if ends else ""
    return Remark("bytes-differ", f"the patch's bytes are not those that HEAD has{why}")


def _baked(chosen: Sequence[tuple[Carrier, tuple[int, ...]]], files: ProjectFiles) -> dict[tuple[str, str], str | None]:
    """What the images hold, as far as their baselines say it. Raises InputError for a damaged one."""
    found: dict[tuple[str, str], str | None] = {
        (one.image.name, one.dependency.name): version for one, _ in chosen if (version := baked_version(one, files))
    }
    images: dict[str, Image] = {one.image.name: one.image for one, _ in chosen}
    for name in images:
        data = files.read(path_of(name), LIMIT)
        if data is not None:
            held = decode_baseline(data, name, files.place(path_of(name))).dependencies
            found.update({(name, dependency): one.commit for dependency, one in held.items()})
    return found
