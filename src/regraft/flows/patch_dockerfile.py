"""Where an image's Dockerfile runs `patch`: what that would do with a carried patch that does not fit, or has landed."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core.fuzz_guess import Guess, guesses
from regraft.core.patch_address import file_name
from regraft.core.patch_commands import Applied, Run, applied_by
from regraft.core.patch_health import Remark
from regraft.core.series_state import FITS
from regraft.core.trees import shown
from regraft.flows.patch_judging import Case
from regraft.flows.ports import ProjectFiles

LIMIT = 4 * 1024 * 1024  # bytes of a Dockerfile
SHOWN = 3


class Patching(Struct, frozen=True):
    """One patch at one ref (by its case and place in the series), and the commands that may apply it."""

    case: Case
    index: int
    place: str
    runs: tuple[Run, ...]

    @property
    def state(self) -> str:
        return self.case.history.patches[self.index].now.state

    @property
    def name(self) -> str:
        return file_name(self.case.files[self.index].path)

    @property
    def fuzzy(self) -> list[Run]:
        return [run for run in self.runs if run.fuzz]


class Said(Struct):
    """`remarks` are about the images; `of` one patch at one ref (the place of its case among those asked about, and its own)."""

    remarks: list[Remark]
    of: dict[tuple[int, int], list[Remark]]


def patch_runs(cases: Sequence[Case], files: ProjectFiles) -> Said:
    """What is to be said of each Dockerfile that runs `patch`."""
    known: dict[str, Applied] = {}
    every: dict[str, list[tuple[tuple[int, int], Patching]]] = {}
    for number, case in enumerate(cases):
        path = case.carrier.image.dockerfile
        if path is None:
            continue
        if path not in known:
            data = files.read(path, LIMIT)
            known[path] = applied_by(data or b"", {file_name(one) for one in case.carrier.baked.patches})
        for index in case.chosen:
            runs = tuple(known[path].on(file_name(case.files[index].path)))
            if runs:
                one = Patching(case, index, f"{files.place(path)}:{runs[0].line}", runs)
                every.setdefault(path, []).append(((number, index), one))
    said = Said([], {})
    for pairs in every.values():
        _say(pairs, said)
    return said


def _say(pairs: Sequence[tuple[tuple[int, int], Patching]], said: Said) -> None:
    fuzzy = [one for _, one in pairs if one.fuzzy]
    if fuzzy:
        most = max(run.fuzz for one in fuzzy for run in one.fuzzy)
        first = min(fuzzy, key=lambda one: one.fuzzy[0].line)
        place = f"{first.place.rpartition(':')[0]}:{first.fuzzy[0].line}"
        would = [*dict.fromkeys(_would(one.case, one.index, most) for one in fuzzy)]
        note = Remark("runs-patch", f"{place} runs `patch`, {_told([text for text in would if text], most)}")
        said.remarks.append(note)
        for key, one in pairs:
            if one.fuzzy and one.state not in FITS:
                said.of.setdefault(key, []).append(note)
    for key, one in pairs:
        if one.state == "already-there":
            note = _landed(one)
            said.of.setdefault(key, []).append(note)
            if note not in said.remarks:
                said.remarks.append(note)


def _landed(one: Patching) -> Remark:
    at = one.case.called(one.case.commit)
    head = f"{one.place} runs `patch` on {one.name}, which is there already at {at}"
    if any(run.batch for run in one.runs):
        return Remark("patch-on-landed", f"{head}: with `-t` it takes the change back out, and ends with exit code 0")
    what = (
        "`patch` ends with exit code 1 there (`Reversed (or previously applied) patch detected`), which stops the build"
    )
    return Remark("patch-on-landed", f"{head}: {what}")


def _told(would: Sequence[str], most: int) -> str:
    count = {1: "a line", 2: "two lines"}.get(most, f"{most} lines")
    unsafe = f"which leaves out up to {count} of context (fuzz) to make a hunk fit, and may put it in the wrong place"
    instead = "`git apply` takes exact context only"
    return "; ".join([unsafe, *(f"it would put {text}" for text in would), instead])


def _would(case: Case, index: int, most: int) -> str:
    """What `patch` would do with those hunks of a patch that do not fit, at this ref."""
    return ", ".join([*_guessed(case, index, most)][:SHOWN])


def _guessed(case: Case, index: int, most: int) -> Iterator[str]:
    source, text, one = case.upstream.source, case.texts[index], case.history.patches[index].now
    if one.state in FITS or text.problems:
        return
    for section, verdict in zip(text.sections, one.files, strict=False):
        failing = [hunk.index for hunk in verdict.hunks if hunk.state == "conflict"]
        version = source.version(case.tree, section.path) if failing else None
        content = source.blob(version.oid) if version is not None else None
        if content is not None:
            name = f"{file_name(case.files[index].path)} to {shown(section.path)}"
            for guess in guesses(content, section.hunks, failing, most):
                yield _guess(guess, name, case)


def _guess(guess: Guess, name: str, case: Case) -> str:
    others = f", one of {guess.places + 1} places" if guess.places else ""
    return f"hunk {guess.index} of {name}:{guess.line} with fuzz {guess.fuzz} at {case.called(case.commit)}{others}"
