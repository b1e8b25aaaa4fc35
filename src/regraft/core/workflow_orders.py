"""What a job does to checkouts, in order: move them, patch them, install them."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.dockerfile_args import Scope
from regraft.core.shell_apply import apply_of
from regraft.core.shell_kinds import is_python, stripped
from regraft.core.shell_places import Around, commands_at
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, If, Nested, Word
from regraft.core.shell_walk import Seen, walk
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_run_files import UNKNOWN, WORKSPACE, ran, walked
from regraft.core.workflow_scripts import Script, file_script, job_scripts, scripts
from regraft.core.workflow_values import Job, Place, Workflow

What = Literal["moves", "wipes", "patches", "commits", "installs", "installs in place"]
_VALUED = frozenset({"-C", "-c"})
_FILES = (".whl", ".tar.gz", ".zip")
_NO_PATH = ("git+", "http:", "https:", "file:")


class Act(Struct, frozen=True):
    """`folder` is absolute, the workspace being /__w. `branches`: the branches of scripts, and the `if`, that it stands in."""

    what: What
    folder: str
    place: Place
    text: str
    words: tuple[str, ...]
    branches: tuple[tuple[int, int], ...]
    condition: str


Installs = Mapping[str, tuple[tuple[str, ...], ...]]


def acts(graph: Graph, workflow: Workflow, job: Job, declared: Installs) -> Iterator[Act]:
    """Of a job's own steps and of the repository's actions that they use, in order. `declared`: install commands, by folder."""
    own = {one.step.index: one for one in job_scripts(graph, workflow.path, job) if one.step is not None}
    uses = any(step.uses is not None and step.uses.value.startswith("./") for step in job.steps)
    files = [file for one in own.values() for file in _files(graph, one).values()]
    if not uses and not _may_act(b"\n".join(one.data for one in (*own.values(), *files)), declared):
        return
    for step in job.steps:
        condition = step.condition.text.value.strip() if step.condition is not None else ""
        action = graph.action(step)
        found = [own[step.index]] if step.index in own else []
        if action is not None:
            found = [one for one in scripts(graph) if one.path == action.path]
        for script in found:
            yield from _of_script(graph, script, condition, declared)


def _may_act(data: bytes, declared: Installs) -> bool:
    """Whether it has two kinds of what matters at all."""
    patches = any(one in data for one in (b"git apply", b"git am", b"patch ")) or (b"apply" in data and b"git" in data)
    moves = any(one in data for one in (b"checkout", b"switch", b"reset", b"stash"))
    return (patches and moves) or ((patches or moves) and (b"install" in data or bool(declared)))


def _of_script(graph: Graph, script: Script, condition: str, declared: Installs) -> Iterator[Act]:
    files = _files(graph, script) if script.job is not None else {}
    may_act = declared or any(one in script.data for one in (b"git", b"patch", b"install"))
    if not may_act and not files:
        return
    above: dict[int, tuple[Around, ...]] = {}
    for seen in walked(graph, script):
        start, stop = seen.command.span
        if id(seen.command) in files:
            above = above or {id(at.command): at.above for at in commands_at(script.block)}
            around = tuple(_branches(above[id(seen.command)]))
            for act in _of_script(graph, files[id(seen.command)], condition, declared):
                yield replace(act, branches=(*around, *act.branches))
        for one in _within(seen):
            words = tuple(word.text for word in stripped(one.command))
            known = [
                at for at, commands in declared.items() if f"{one.folder}/".startswith(f"{at}/") and words in commands
            ]
            told: Iterable[tuple[What, str]] = [("installs", known[0])] if known and "-e" not in words else _judged(one)
            for what, folder in told:
                above = above or {id(at.command): at.above for at in commands_at(script.block)}
                branches = tuple(_branches(above[id(seen.command)]))
                yield Act(what, folder, script.place(start), script.text(start, stop), words, branches, condition)


def _files(graph: Graph, script: Script) -> dict[int, Script]:
    """The scripts of the repository that commands run in the workspace, by the command; what those run is not followed."""
    found: dict[int, Script] = {}
    for one in ran(graph, script):
        if one.kind in ("program", "shell") and one.path in graph.repository.tracked and one.seen.folder == WORKSPACE:
            file = file_script(graph, one.path, one.options)
            if file is not None:
                found[id(one.seen.command)] = file
    return found


def _branches(above: tuple[Around, ...]) -> Iterator[tuple[int, int]]:
    for one in above:
        if isinstance(one.node, If):
            parts = [0 if condition is None else 1 for condition, _ in one.node.branches]
            ends = [sum(1 + two for two in parts[: at + 1]) for at in range(len(parts))]
            yield id(one.node), next(at for at, end in enumerate(ends) if one.part < end)
        elif isinstance(one.node, Nested) and one.node.kind == "case":
            yield id(one.node), one.part


def _within(seen: Seen) -> Iterator[Seen]:
    """The command itself, or those that `docker exec` runs."""
    words = stripped(seen.command)
    if len(words) < 3 or words[0].text not in ("docker", "podman") or words[1].text != "exec":
        yield seen
        return
    folder = UNKNOWN
    for at, word in enumerate(words[:-1]):
        if word.text in ("-w", "--workdir"):
            folder = seen.text(words[at + 1].text)
        elif (
            word.text.rpartition("/")[2] in ("bash", "sh") and at + 2 < len(words) and words[at + 1].text.endswith("c")
        ):
            block = read_shell(words[at + 2].text.encode("utf-8", "surrogateescape"))
            if block is not None:
                yield from walk(block, folder, Scope({}, dict(seen.scope.environment), open=True))
            return
    for at, word in enumerate(words):
        if word.text in ("git", "pip", "pip3", "patch", "make") or is_python(word.text):
            yield Seen(Command(seen.command.span, words[at:]), folder, seen.scope, seen.loops, seen.inside)
            return


def _judged(seen: Seen) -> Iterator[tuple[What, str]]:
    found = apply_of(seen.command)
    if found is not None:
        if not found.asks and not found.back and found.tool in ("git apply", "git am", "patch"):
            folder = seen.path(seen.text(found.folder.text)) if found.folder is not None else seen.folder
            yield ("commits" if found.tool == "git am" else "patches"), folder
        return
    words = stripped(seen.command)
    if not words:
        return
    name = words[0].text.rpartition("/")[2]
    if name == "git":
        yield from _git(seen, words[1:])
    elif "install" in [one.text for one in words[1:5]]:
        yield from _install(seen, name, words[1:])


def _git(seen: Seen, words: tuple[Word, ...]) -> Iterator[tuple[What, str]]:
    folder = seen.folder
    while words and words[0].text.startswith("-"):
        if words[0].text == "-C" and len(words) > 1:
            folder = seen.path(seen.text(words[1].text))
        words = words[2 if words[0].text in _VALUED else 1 :]
    verb, rest = (words[0].text, [one.text for one in words[1:]]) if words else ("", [])
    names = [one for one in rest if not one.startswith("-")]
    if verb == "reset" and "--hard" in rest:
        yield "wipes", folder
    elif verb in ("checkout", "switch"):
        if {"-f", "--force", "--discard-changes"} & {*rest} or names == ["."]:
            yield "wipes", folder
        elif names and "--" not in rest:
            yield "moves", folder
    elif verb == "stash" and not names:
        yield "wipes", folder


def _install(seen: Seen, name: str, words: tuple[Word, ...]) -> Iterator[tuple[What, str]]:
    texts = [one.text for one in words]
    pip = (
        name in ("pip", "pip3")
        or (name == "uv" and texts[:1] == ["pip"])
        or (is_python(name) and texts[:2] == ["-m", "pip"])
    )
    if not pip:
        return
    rest = iter(words[texts.index("install") + 1 :])
    for word in rest:
        text = word.text
        if text in ("-e", "--editable"):
            target = next(rest, None)
            if target is not None and not target.text.startswith(_NO_PATH):
                yield "installs in place", _folder(seen, target.text)
        elif text in (
            "-r",
            "-c",
            "-i",
            "-t",
            "--target",
            "--index-url",
            "--extra-index-url",
            "--find-links",
            "-f",
            "--prefix",
        ):
            next(rest, None)
        elif (
            not text.startswith(("-", *_NO_PATH))
            and not text.endswith(_FILES)
            and (text.startswith((".", "/")) or "/" in text)
        ):
            yield "installs", _folder(seen, text)


def _folder(seen: Seen, text: str) -> str:
    return posixpath.normpath(seen.path(seen.text(text.partition("[")[0])))
