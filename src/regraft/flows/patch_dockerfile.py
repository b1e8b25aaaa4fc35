"""Where an image's Dockerfile runs `patch`: what that would do with hunks that do not fit, and why it is not safe."""

from collections.abc import Iterator, Sequence

from regraft.core.dockerfile_text import read_dockerfile
from regraft.core.drop_command import bare_words
from regraft.core.fuzz_guess import FUZZ, Guess, guesses
from regraft.core.patch_address import file_name
from regraft.core.patch_health import Remark
from regraft.core.patterns import regex
from regraft.core.series_state import FITS
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import commands_of
from regraft.core.trees import shown
from regraft.flows.patch_judging import Case
from regraft.flows.ports import ProjectFiles

LIMIT = 4 * 1024 * 1024  # bytes of a Dockerfile
SHOWN = 3
MOST = 9  # lines of context that are left out in a guess

_FUZZ = regex(r"(?:-F|--fuzz=)(.+)")
_NUMBER = regex(r"[0-9]{1,9}")


def patch_runs(cases: Sequence[Case], files: ProjectFiles) -> Iterator[tuple[str, Remark]]:
    """(Dockerfile, remark) for each that runs `patch` with fuzz."""
    told: set[str] = set()
    for case in cases:
        path = case.carrier.image.dockerfile
        if path is None or path in told:
            continue
        told.add(path)
        data = files.read(path, LIMIT)
        runs = [(line, fuzz) for line, fuzz in _runs(data) if fuzz] if data is not None else []
        if runs:
            place, most = f"{files.place(path)}:{runs[0][0]}", max(fuzz for _, fuzz in runs)
            what = [*dict.fromkeys(_would(one, most) for one in cases if one.carrier.image.dockerfile == path)]
            yield path, Remark("runs-patch", f"{place} runs `patch`, {_told([text for text in what if text], most)}")


def _told(would: Sequence[str], most: int) -> str:
    count = {1: "a line", 2: "two lines"}.get(most, f"{most} lines")
    unsafe = f"which leaves out up to {count} of context (fuzz) to make a hunk fit, and may put it in the wrong place"
    instead = "`git apply` takes exact context only"
    return "; ".join([unsafe, *(f"it would put {text}" for text in would), instead])


def _runs(data: bytes) -> Iterator[tuple[int, int]]:
    """(line, the most lines that are left out) of each instruction that runs `patch`."""
    for one in read_dockerfile(data).instructions:
        if one.keyword != "RUN":
            continue
        scripts = [one.text] if not one.heredocs else [data[doc.body.start : doc.body.stop] for doc in one.heredocs]
        words = one.strings
        if words is not None:
            if words and words[0].text.rpartition("/")[2] == "patch":
                yield one.line, _fuzz([word.text for word in words[1:]])
            continue
        blocks = [block for block in map(read_shell, scripts) if block is not None]
        found = (bare_words(command.words) for block in blocks for command in commands_of(block))
        fuzz = [
            _fuzz([word.text for word in words[1:]])
            for words in found
            if words and words[0].text.rpartition("/")[2] == "patch"
        ]
        if fuzz:
            yield one.line, max(fuzz)


def _fuzz(options: Sequence[str]) -> int:
    """What `-F` says, in each of its forms, the last of them; what cannot be read counts as what is done unasked."""
    value = None
    for at, text in enumerate(options):
        if text in ("-F", "--fuzz"):
            value = options[at + 1] if at + 1 < len(options) else None
        elif match := _FUZZ.fullmatch(text):
            value = match[1]
    return min(int(value), MOST) if value is not None and _NUMBER.fullmatch(value) else FUZZ


def _would(case: Case, most: int) -> str:
    """What `patch` would do with hunks of these patches that do not fit, at this ref."""
    source, tree = case.upstream.source, case.tree
    found: list[str] = []
    for index in case.chosen:
        text, one = case.texts[index], case.history.patches[index].now
        if one.state in FITS or text.problems:
            continue
        for section, verdict in zip(text.sections, one.files, strict=False):
            failing = [hunk.index for hunk in verdict.hunks if hunk.state == "conflict"]
            version = source.version(tree, section.path) if failing else None
            content = source.blob(version.oid) if version is not None else None
            if content is not None:
                name = f"{file_name(case.files[index].path)} to {shown(section.path)}"
                found += [_guess(guess, name, case) for guess in guesses(content, section.hunks, failing, most)]
    return ", ".join(found[:SHOWN])


def _guess(guess: Guess, name: str, case: Case) -> str:
    others = f", one of {guess.places + 1} places" if guess.places else ""
    return f"hunk {guess.index} of {name}:{guess.line} with fuzz {guess.fuzz} at {case.called(case.commit)}{others}"
