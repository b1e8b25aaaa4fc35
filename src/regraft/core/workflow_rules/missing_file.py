"""A file that a workflow names and the repository does not have."""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal

from regraft.core.findings import Finding, Severity
from regraft.core.path_filters import filter_expression, glob_expression
from regraft.core.patterns import regex
from regraft.core.shell_kinds import stripped
from regraft.core.shell_places import commands_at, is_asked
from regraft.core.shell_values import Command
from regraft.core.spelling import nearest
from regraft.core.workflow_given_files import given_files
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_files import WORKSPACE, Layout, Ran, layout, ran, walked, working_folder
from regraft.core.workflow_scripts import Script, job_scripts, kept, lines_of, scripts
from regraft.core.workflow_values import Data, Job, Place, Step, Text, Workflow

NAME = "missing-file"
MOST = 50  # files of one script that are looked for

_SUFFIXES = (".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl")
_MOVES = frozenset({"checkout", "switch", "reset", "pull", "merge", "apply", "am", "stash", "cherry-pick", "worktree"})
_UNPACKS = ("actions/download-artifact", "actions/cache", "dawidd6/action-download-artifact")
_FILTERED = ("push", "pull_request", "pull_request_target")
_HASH = regex(r"hashFiles\(([^()]*)\)")
_LITERALS = regex(r"\s*'(?:[^']|'')*'\s*(?:,\s*'(?:[^']|'')*'\s*)*")
_LITERAL = regex(r"'((?:[^']|'')*)'")
_FOREIGN = regex(r"\s*repository:\s*(?!\$\{\{\s*github\.repository\s*\}\})\S")
_SPECIAL = regex(r"[*?+\[\]!]")
_MODULE_PATH = regex(r"(?m)^\s*path\s*=\s*(.+?)\s*$")


def find(graph: Graph) -> Iterator[Finding]:
    here = _Tracked(graph)
    for script in scripts(graph):
        yield from _of_script(graph, here, script)
    for workflow in graph.repository.workflows.values():
        yield from _filters(here, workflow)
        yield from _keys(graph, here, workflow)
        for job in workflow.jobs.values():
            yield from _used(graph, here, job)


class _Tracked:
    """The files of the repository, and what lies between them."""

    def __init__(self, graph: Graph) -> None:
        self.files = graph.repository.tracked
        modules = (graph.repository.read(".gitmodules") or b"").decode("utf-8", "replace")
        self.modules = frozenset(_MODULE_PATH.findall(modules))
        self.ignored = (graph.repository.read(".gitignore") or b"").decode("utf-8", "replace").split("\n")
        self._graph = graph

    @property
    def sorted(self) -> list[str]:
        found: list[str] = kept(self._graph, "files in order", lambda: sorted(self.files))
        return found

    @property
    def folders(self) -> frozenset[str]:
        def find() -> frozenset[str]:
            found: set[str] = {""}
            for path in self.files:
                folder = posixpath.dirname(path)
                while folder not in found:
                    found.add(folder)
                    folder = posixpath.dirname(folder)
            return frozenset(found)

        found: frozenset[str] = kept(self._graph, "folders", find)
        return found

    def near(self, path: str) -> str | None:
        """The file that was probably meant: of the same folder, or of the same name elsewhere."""

        def index() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
            folders: dict[str, list[str]] = {}
            names: dict[str, list[str]] = {}
            for one in self.sorted:
                folder, name = posixpath.split(one)
                folders.setdefault(folder, []).append(one)
                names.setdefault(name, []).append(one)
            return folders, names

        folders, names = kept(self._graph, "files by folder and name", index)
        folder, name = posixpath.split(path)
        beside: str | None = nearest(path, folders.get(folder, ()))
        moved: list[str] = names.get(name, [])
        return beside or (moved[0] if len(moved) == 1 else None)

    def matches(self, pattern: str) -> bool:
        """Whether a pattern of GitHub's matches a file; only those are looked at that begin as it does."""
        found = filter_expression(pattern)
        special = _SPECIAL.search(pattern)
        if special is None:
            return pattern in self.files or pattern in self.modules
        if found is None:  # it cannot be told what it matches
            return True
        stop = special.start() - (1 if special[0] in "?+" and special.start() else 0)
        start = bisect_left(self.sorted, pattern[:stop])
        for at in range(start, len(self.sorted)):
            if not self.sorted[at].startswith(pattern[:stop]):
                break
            if found.fullmatch(self.sorted[at]):
                return True
        return any(map(found.fullmatch, self.modules))

    def is_ignored(self, path: str) -> bool:
        for line in self.ignored:
            pattern = line.strip()
            if not pattern or pattern.startswith(("#", "!")):
                continue
            anchored = "/" in pattern.rstrip("/")
            pattern = pattern.strip("/")
            parts = path.split("/")
            tops = ["/".join(parts[: at + 1]) for at in range(len(parts))] if anchored else parts
            found = glob_expression(pattern)
            if found is None or any(map(found.fullmatch, tops)):
                return True
        return False

    def is_in_module(self, path: str) -> bool:
        return any(path == one or path.startswith(f"{one}/") for one in self.modules)


def _of_script(graph: Graph, here: _Tracked, script: Script) -> Iterator[Finding]:
    around = layout(script.job, script.step)
    if not around.sure or script.job is None or script.step is None:
        return
    said: set[str] = set()
    asked: set[int] | None = None
    for one in (*ran(graph, script), *given_files(graph, script, around)):
        severity = _severity(here, one)
        if severity is None or one.path in said or len(said) >= MOST:
            continue
        said.add(one.path)
        if asked is None:
            asked = {id(at.command) for at in commands_at(script.block) if is_asked(at)}
        if id(one.seen.command) in asked or _is_made(graph, script, one.word.span.start, one.path):
            continue
        place = script.place(one.word.span.start)
        yield _finding(
            severity,
            f"`{one.path}` is no file of this repository, and nothing before makes it",
            place,
            here.near(one.path),
        )
    yield from _folder(graph, here, script, around)


def _severity(here: _Tracked, one: Ran) -> Severity | None:
    """None where it is there, or may well be made."""
    path = one.path
    folder, name = posixpath.split(path)
    if path in here.files or path in here.folders or folder not in here.folders:
        return None
    if here.is_ignored(path) or here.is_in_module(path):
        return None
    if one.kind == "module":
        return None
    if one.kind in ("program", "shell", "python") and name.endswith(_SUFFIXES):
        return "error"
    return (
        "warning"
        if one.kind == "source" and (name.endswith((*_SUFFIXES, ".txt", ".yml", ".yaml")) or "ockerfile" in name)
        else None
    )


def _is_made(graph: Graph, script: Script, at: int, path: str) -> bool:
    """Whether something before names it, or may change which files there are."""
    assert script.job is not None  # asked of steps only
    assert script.step is not None  # likewise
    names = {posixpath.basename(path)}
    earlier = [script.data[:at].decode("utf-8", "replace")]
    for step in script.job.steps[: script.step.index]:
        if step.run is not None:
            earlier.append(step.run.text.value)
        if step.uses is not None and step.uses.value.startswith(_UNPACKS):
            folder = step.arguments.get("path")
            under = "" if folder is None else posixpath.normpath(folder.text.value.strip() or ".").lstrip("./")
            if "\n" in under or "$" in under or path.startswith(under):
                return True
        if step.uses is not None:
            earlier += [value.text.value for value in step.arguments.values()]
    if any(name in text for name in names for text in earlier):
        return True
    return any(_moves(one) for one in _before(graph, script, at))


def _before(graph: Graph, script: Script, at: int) -> Iterator[Command]:
    assert script.step is not None  # asked of steps only
    for one in job_scripts(graph, script.path, script.job):
        if one.step is not None:
            if one.step.index < script.step.index:
                yield from (seen.command for seen in walked(graph, one))
            elif one is script:
                yield from (seen.command for seen in walked(graph, one) if seen.command.span.start < at)


def _moves(command: Command) -> bool:
    words = [one.text for one in stripped(command)]
    return bool(words) and ((words[0] == "git" and bool(_MOVES & {*words[1:5]})) or words[0] == "patch")


def _folder(graph: Graph, here: _Tracked, script: Script, around: Layout) -> Iterator[Finding]:
    value = script.step.working_directory if script.step is not None else None
    if value is None:
        return
    path = working_folder(value)
    if not path.startswith(f"{WORKSPACE}/"):
        return
    folder = around.tracked(path[len(WORKSPACE) + 1 :])
    if folder is None or folder in here.folders or here.is_ignored(folder) or here.is_in_module(folder):
        return
    top = folder.partition("/")[0]
    if _is_made(graph, script, 0, folder) or (top not in here.folders and _is_made(graph, script, 0, top)):
        return
    message = f"`{folder}` is no folder of this repository, and nothing before makes it"
    yield _finding("warning", message, value.text.place, nearest(folder, here.folders - {""}))


def _used(graph: Graph, here: _Tracked, job: Job) -> Iterator[Finding]:
    """Actions. That a called workflow is not there is said by `call-mismatch`."""
    for step in job.steps:
        if step.uses is None or not step.uses.value.startswith("./") or graph.action(step) is not None:
            continue
        around = layout(job, step)
        path = posixpath.normpath(step.uses.value)
        own = around.tracked("" if path == "." else path) if around.sure else None
        if own is None or any(
            f"{own}/{name}".lstrip("/") in here.files for name in ("action.yml", "action.yaml", "Dockerfile")
        ):
            continue
        if here.is_in_module(own) or _is_mentioned(job, step, own):
            continue
        message = f"`{own}` is no action of this repository: it has no `action.yml`"
        yield _finding("error", message, step.uses.place, nearest(own, graph.repository.actions), "write `./{}`")


def _is_mentioned(job: Job, step: Step, path: str) -> bool:
    """Whether a script before may put an action there."""
    top = path.partition("/")[0]
    texts = [one.run.text.value for one in job.steps[: step.index] if one.run is not None]
    return any(path in text or (not top.startswith(".") and top in text) or "git checkout" in text for text in texts)


def _filters(here: _Tracked, workflow: Workflow) -> Iterator[Finding]:
    for event in workflow.events.values():
        if event.name not in _FILTERED or event.data is None:
            continue
        for key in ("paths", "paths-ignore"):
            for text in _texts(event.data.get(key)):
                yield from _filter(here, text, key)


def _filter(here: _Tracked, text: Text, key: str) -> Iterator[Finding]:
    pattern = text.value
    if pattern.startswith("!") or "${{" in pattern or not pattern:
        return
    if here.matches(pattern):
        return
    literal = _SPECIAL.search(pattern) is None
    fixed = _SPECIAL.split(pattern)[0].rpartition("/")[0]
    severity: Severity = "warning" if key == "paths" and (literal or fixed) else "note"
    if pattern.strip("/") in here.folders:
        fix = f"write `{pattern.strip('/')}/**`"
        message = f"`{pattern}` matches no file: it is a folder, and a filter is compared with whole paths"
    else:
        near = here.near(pattern) if literal else None
        fix = f"write `{near}`" if near is not None else "take it out, or name what is there"
        message = f"`{pattern}` of `{key}` matches no file of this repository"
    yield Finding(NAME, severity, message, text.place.path, text.place.line, text.place.column, "medium", (), fix)


def _keys(graph: Graph, here: _Tracked, workflow: Workflow) -> Iterator[Finding]:
    lines = lines_of(graph, workflow.path)
    for number, line in enumerate(lines, 1):
        if "hashFiles" not in line or line.lstrip().startswith("#"):
            continue
        for call in _HASH.finditer(line):
            if _LITERALS.fullmatch(call[1]) is None:
                continue
            patterns = [one for one in _LITERAL.findall(call[1]) if not one.startswith("!")]
            if patterns and not any(_hashes(here, one, lines, number) for one in patterns):
                named = ", ".join(f"`{one}`" for one in patterns)[:120]
                message = f"no file of this repository matches {named}: `hashFiles` gives an empty text"
                near = here.near(patterns[0]) if _SPECIAL.search(patterns[0]) is None else None
                yield _finding("warning", message, Place(workflow.path, number, call.start() + 1), near)


def _hashes(here: _Tracked, pattern: str, lines: tuple[str, ...], number: int) -> bool:
    """Whether something matches, or may once a step has made it."""
    pattern = pattern.removeprefix("./")
    if pattern.startswith(("/", "~", "..")) or "$" in pattern:
        return True
    if here.matches(pattern):
        return True
    name = posixpath.basename(pattern)
    rest = [line for at, line in enumerate(lines, 1) if at != number and "hashFiles" not in line]
    made = any(name in line for line in rest) or (pattern.startswith("**/") and any(map(_FOREIGN.match, rest)))
    below = pattern.partition("/")[0]
    elsewhere = (
        any(regex(rf"^\s*path:\s*['\"]?{re.escape(below)}(?:/|['\"\s]|$)").search(line) for line in rest)
        if _SPECIAL.search(below) is None
        else False
    )
    return made or elsewhere or here.is_ignored(pattern) or here.is_in_module(pattern)


def _texts(data: Data | None) -> Iterator[Text]:
    if data is not None and isinstance(data.value, Text):
        yield data.value
    elif data is not None and isinstance(data.value, tuple):
        yield from (one.value for one in data.value if isinstance(one.value, Text))


def _finding(severity: Severity, message: str, place: Place, near: str | None, write: str = "write `{}`") -> Finding:
    fix = write.format(near) if near is not None else "add it, or take what names it out"
    confidence: Literal["high", "medium"] = "high" if severity == "error" else "medium"
    return Finding(NAME, severity, message, place.path, place.line, place.column, confidence, (), fix)


RULE = Rule(NAME, "a file that a script, a filter, a key or a `uses` names and that does not exist", find)
