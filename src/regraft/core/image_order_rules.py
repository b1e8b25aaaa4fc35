"""The rules of `image check` about what comes after what: a patch applied again, and one after the install that it changes."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from regraft.core.dockerfile_steps import Stage
from regraft.core.findings import Finding
from regraft.core.git_clones import clones
from regraft.core.image_applies import Applied
from regraft.core.image_rules import finding
from regraft.core.image_scripts import Script
from regraft.core.image_values import Place
from regraft.core.image_view import View
from regraft.core.patterns import regex
from regraft.core.shell_programs import started
from regraft.core.shell_values import Chain, If, Nested
from regraft.core.shell_walk import UNKNOWN, Seen, at
from regraft.core.trees import printable

Read = Callable[[str], bytes | None]
Order = tuple[int, ...]

_TARGET = regex(rb"(?m)^\+\+\+ (?:[^/\s]+/)?([^\t\r\n]+)")
_BUILDS = regex(
    r"(?:.*/)?(?:setup\.py|setup\.cfg|pyproject\.toml|CMakeLists\.txt|Cargo\.toml|[^/]*\.(?:cu|cuh|c|cc|cpp|cxx|h|hpp|hip|pyx|rs|cmake))"
)
_BACK = frozenset({"restore", "stash"})
_AFTER_PATH = ("-r", "-c", "--requirement", "--constraint", "-t", "--target", "-f", "-w", "--wheel-dir", "--find-links")
_BUILT = (".whl", ".txt", ".gz", ".zip")


class _Event(Struct, frozen=True):
    """Something that happens to a folder. `kind`: `reset`, `install` (which copies what it takes) or `build`."""

    order: Order
    folder: str
    stage: Stage
    place: Place
    kind: str


def _order(one: _Event) -> Order:
    return one.order


def twice(view: View, applied: Sequence[Applied], started_with: Sequence[Applied]) -> Iterator[Finding]:
    """The same patch in the same folder, at two places that both run, with nothing in between that takes it back."""
    resets = [*_resets(view), *_taken_back((*applied, *started_with))]
    before: dict[tuple[str, str], list[Applied]] = {}
    for one in (*applied, *started_with):
        if one.apply.asks or one.apply.back or one.folder.startswith(UNKNOWN):
            continue
        for path in one.paths:
            others = before.setdefault((path, one.folder), [])
            first = next((each for each in others if _again(view, each, one, resets)), None)
            others.append(one)
            if first is not None:
                when = "when a container starts" if one in started_with else "again"
                message = f"{printable(path)} is applied {when}, and was applied before"
                yield finding("patch-twice", one.place, message, "apply it once", ((first.place, "applied here"),))


def _again(view: View, first: Applied, one: Applied, resets: Iterable[_Event]) -> bool:
    if first.place == one.place or _alternatives(first, one):
        return False
    if not _inherits(view, one.script.stage, first.script.stage, one.folder):
        return False
    start, end = _when(first), _when(one)
    return not any(
        start < each.order < end
        and _within(one.folder, each.folder)
        and _inherits(view, one.script.stage, each.stage, one.folder)
        for each in resets
    )


def _when(one: Applied) -> Order:
    return one.script.order(one.seen.command.span.start)


def _alternatives(one: Applied, other: Applied) -> bool:
    """Whether they stand in one statement that chooses between them."""
    if one.script is not other.script:
        return False
    around = {id(node) for node in one.seen.inside if isinstance(node, Chain | If | Nested)}
    return any(id(node) in around for node in other.seen.inside)


def _inherits(view: View, stage: Stage, before: Stage, folder: str) -> bool:
    """Whether a stage has what another made in a folder: it is built on it, or copies that from it."""
    stages, waiting, seen = view.stages.stages, [stage], set[int]()
    while waiting:
        one = waiting.pop()
        if one.index == before.index:
            return True
        if one.index in seen:
            continue
        seen.add(one.index)
        if one.base.kind == "stage":
            waiting += (stages[index] for index in (one.base.stage, *one.base.stages))
        for step in one.steps:
            words = [at("/", word.text) for word in step.instruction.words]
            if step.keyword == "COPY" and step.sources and step.sources[0].kind == "stage":
                whole = any(_within(folder, path) or _within(path, folder) for path in words)
                waiting += [stages[step.sources[0].stage]] if whole else []
    return False


def _resets(view: View) -> Iterator[_Event]:
    """Where a checkout is set back, taken away or made anew."""
    for script in (*view.followed.scripts, *view.started.scripts):
        if b"git" not in script.text and b"rm" not in script.text:
            continue
        for seen in script.commands():
            for folder in _reset(seen):
                start = seen.command.span.start
                yield _Event(script.order(start), folder, script.stage, script.place(start), "reset")


def _reset(seen: Seen) -> Iterator[str]:
    words = [seen.text(word.text) for word in started(seen.command.words, {"git", "rm"})]
    if not words:
        return
    if words[0].rpartition("/")[2] == "rm":
        yield from (seen.path(word) for word in words[1:] if not word.startswith("-"))
        return
    folder, index = seen.folder, 1
    while index < len(words) and words[index].startswith("-"):
        if words[index] == "-C" and index + 1 < len(words):
            folder = seen.path(words[index + 1])
        index += 2 if words[index] in ("-C", "-c") else 1
    verb, rest = (words[index], words[index + 1 :]) if index < len(words) else ("", [])
    forced = verb == "checkout" and {"--", ".", "-f", "--force"} & set(rest)
    if forced or verb in _BACK or (verb == "reset" and "--hard" in rest):
        yield folder
    if verb == "clone" and rest:
        last = rest[-1]
        yield at(folder, last.rstrip("/").rpartition("/")[2].removesuffix(".git") if ":" in last else last)


def _taken_back(applied: Iterable[Applied]) -> Iterator[_Event]:
    for one in applied:
        if one.apply.back and not one.apply.asks:
            yield _Event(_when(one), one.folder, one.script.stage, one.place, "reset")


def after_install(view: View, applied: Sequence[Applied], read: Read) -> Iterator[Finding]:
    """Patches of what an install has already taken, where no later install takes it again."""
    scripts = view.followed.scripts
    found = (one for script in scripts for seen in script.commands() for one in _installs(seen, script))
    installs = [one for one in found if one.folder != "/"]
    checkouts = [one.folder for one in clones(scripts)] if installs else []
    for one in applied:
        if one.apply.asks or one.apply.back or one.folder.startswith(UNKNOWN):
            continue
        mine = _when(one)
        for path in one.paths:
            names = [match[1].decode("utf-8", "replace") for match in _TARGET.finditer(read(path) or b"")]
            for name in names:
                target = at(one.folder, name)
                related = [
                    each
                    for each in installs
                    if _takes(each, target, name, checkouts)
                    and _inherits(view, one.script.stage, each.stage, one.folder)
                ]
                before = [each for each in related if each.order < mine]
                if before and not any(each.order > mine for each in related):
                    last = max(before, key=_order)
                    how = "the install has copied" if last.kind == "install" else "the build has read"
                    message = f"{printable(path)} changes {printable(name)}, which {how} already"
                    fix = "apply the patch before the install"
                    yield finding("patch-after-install", one.place, message, fix, ((last.place, "installed here"),))
                    break


def _takes(one: _Event, target: str, name: str, checkouts: Iterable[str]) -> bool:
    """Whether an install takes a file: it lies below what is installed, and in no other checkout."""
    if not _within(target, one.folder) or (one.kind != "install" and not _BUILDS.fullmatch(name)):
        return False
    return not any(each != one.folder and _within(each, one.folder) and _within(target, each) for each in checkouts)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _installs(seen: Seen, script: Script) -> Iterator[_Event]:
    words = [seen.text(word.text) for word in seen.command.words]
    if not words:
        return
    start = seen.command.span.start

    def event(folder: str, kind: str) -> _Event:
        return _Event(script.order(start), folder, script.stage, script.place(start), kind)

    names = [posixpath.basename(word) for word in words[:5]]
    verb = next((one for one in ("install", "wheel") if one in words), None)
    if "setup.py" in words and ({"install", "develop", "build_ext", "bdist_wheel"} & set(words)):
        yield event(seen.folder, "install" if {"install", "bdist_wheel"} & set(words) else "build")
    elif verb is not None and {"pip", "pip3"} & set(names):
        yield from (event(seen.path(path), kind) for path, kind in _pip(words[words.index(verb) + 1 :]))
    elif "-m" in words and "build" in words[words.index("-m") + 1 :][:1]:
        rest = words[words.index("-m") + 1 :]
        given = [b for a, b in pairwise(rest) if b.startswith(("/", ".")) and a not in ("-o", "--outdir")]
        yield event(seen.path(given[0]) if given else seen.folder, "install")
    elif names[0] in ("make", "ninja"):
        folder = next((b for a, b in pairwise(words) if a == "-C"), ".")
        yield event(_above_build(seen.path(folder)), "build")
    elif names[0] == "cmake" and "--build" in words[:-1]:
        yield event(_above_build(seen.path(words[words.index("--build") + 1])), "build")


def _pip(rest: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is installed from a folder, and whether the install copies it or only builds it."""
    for index, word in enumerate(rest):
        before = rest[index - 1] if index else ""
        path = word.removeprefix("--editable=").partition("#")[0].removeprefix("file://").partition("[")[0]
        if path.startswith((".", "/")) and not path.endswith(_BUILT) and not before.startswith(_AFTER_PATH):
            editable = before in ("-e", "--editable") or word.startswith("--editable=")
            yield path, "build" if editable else "install"


def _above_build(folder: str) -> str:
    """The sources of a folder to build in."""
    parent, _, name = folder.rpartition("/")
    return parent if name.startswith("build") and parent else folder
