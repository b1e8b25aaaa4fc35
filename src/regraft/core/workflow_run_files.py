"""Which files of the repository a step's script runs, by the commands that it has, seen from where its checkouts stand."""

import posixpath
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from regraft.core.dockerfile_args import Scope
from regraft.core.patterns import regex
from regraft.core.shell_kinds import is_python, stripped
from regraft.core.shell_options import Shell
from regraft.core.shell_values import Word
from regraft.core.shell_walk import Seen, walk
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_scripts import Script, file_script, kept, scripts
from regraft.core.workflow_shells import options
from regraft.core.workflow_values import Job, Step, Value

WORKSPACE = "/__w"  # stands for the folder in which a job begins
UNKNOWN = "$?"

_OWN = regex(r"\$\{\{\s*(?:github\.repository|github\.event\.pull_request\.head\.repo\.full_name)\s*\}\}")
_OWN_REF = regex(
    r"\$\{\{\s*(?:github\.(?:sha|ref|ref_name|head_ref|event\.(?:pull_request|workflow_run)\.\S+)|inputs\.\S+)\s*\}\}"
    r"|refs/pull/\$\{\{.*|main|master"
)
_MAY_RUN = regex(rb"\./|\.sh\b|\.bash\b|\.py\b|\bsource\s|(?m:^\s*\.\s)|\s-m\s|\b(?:bash|sh)\s")
_WORKSPACE = regex(r"\$\{\{\s*github\.workspace\s*\}\}")

Kind = Literal["program", "shell", "python", "module", "source"]


class Layout(Struct, frozen=True):
    """What stands in the workspace before a step: `own` are folders with this repository, `others` with something else.

    Folders are relative, "" for the workspace itself. `sure`: this repository was checked out, and nothing that nobody knows.
    """

    own: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    sure: bool = True

    def tracked(self, path: str) -> str | None:
        """A path of the workspace as one of the repository; None where it is not in a checkout of it."""
        found = [one for one in (*self.own, *self.others) if one in ("", path) or path.startswith(f"{one}/")]
        deepest = max(found, key=len, default=None)
        if deepest is None or deepest not in self.own or deepest in self.others:
            return None
        return path[len(deepest) :].lstrip("/")


class Ran(Struct, frozen=True):
    """A file that a command runs, by its path in the repository, be it there or not.

    `options`: what a shell was told; None where the file's first line tells.
    """

    seen: Seen
    word: Word
    path: str
    kind: Kind
    layout: Layout
    options: Shell | None = None


def layout(job: Job | None, step: Step | None) -> Layout:
    """The checkouts before a step. In an action, nobody knows whose repository the workspace holds."""
    if job is None or step is None:
        return Layout(sure=False)
    own: list[str] = []
    others: list[str] = []
    sure = True
    for one in job.steps[: step.index]:
        if one.uses is None or not one.uses.value.startswith("actions/checkout@"):
            continue
        said = {key.lower(): value.text.value for key, value in one.arguments.items()}
        folder = posixpath.normpath(said.get("path", "") or ".")
        folder = "" if folder == "." else folder
        if "${{" in folder or folder.startswith(".."):
            sure = False
            continue
        repository, ref = said.get("repository", "").strip(), said.get("ref", "").strip()
        is_own = not repository or _OWN.fullmatch(repository) is not None
        if is_own and ref and _OWN_REF.fullmatch(ref) is None:
            is_own = False
        (own if is_own else others).append(folder)
    return Layout(tuple(own), tuple(others), sure and bool(own))


def folder_of(graph: Graph, script: Script) -> str:
    """The folder in which a step's script begins; it begins with `$` where that is not known."""
    workflow = graph.repository.workflows.get(script.path)
    places: tuple[Value | None, ...] = (
        script.step.working_directory if script.step is not None else None,
        script.job.working_directory if script.job is not None else None,
        workflow.working_directory if workflow is not None else None,
    )
    value = next((one for one in places if one is not None), None)
    return WORKSPACE if value is None else working_folder(value)


def working_folder(value: Value) -> str:
    """What a `working-directory` names, below WORKSPACE; it begins with `$` where that is not known."""
    text = _WORKSPACE.sub(WORKSPACE, value.text.value)
    if "${{" in text or text.startswith("~"):
        return UNKNOWN
    return posixpath.normpath(posixpath.join(WORKSPACE, text))


def walked(graph: Graph, script: Script) -> tuple[Seen, ...]:
    """The commands of a step's script, in their order, each with the folder in which it runs. Literal `env` is known."""

    def go() -> tuple[Seen, ...]:
        known = Scope({}, {"GITHUB_WORKSPACE": WORKSPACE, "PWD": None, **_literals(graph, script)}, open=True)
        return tuple(walk(script.block, folder_of(graph, script), known))

    found: tuple[Seen, ...] = kept(graph, ("walked", script), go)
    return found


def _literals(graph: Graph, script: Script) -> dict[str, str | None]:
    workflow = graph.repository.workflows.get(script.path)
    found: dict[str, str | None] = {}
    for values in (
        workflow.env if workflow is not None else {},
        script.job.env if script.job is not None else {},
        script.step.env if script.step is not None else {},
    ):
        for name, value in values.items():
            text = _WORKSPACE.sub(WORKSPACE, value.text.value)
            found[name] = None if "${{" in text or "$" in text else text
    return found


def written(script: Script, seen: Seen, word: Word) -> str:
    """A word with what is known put in; `$` stays where something is not."""
    text = word.text
    if script.value is not None and "$_" in text:
        raw = script.value.text.value[script.chars(word.span.start) : script.chars(word.span.stop)]
        text = _WORKSPACE.sub(WORKSPACE, raw).strip("\"'")
        if "${{" in text:
            return f"${text}"
    return seen.text(text)


def ran(graph: Graph, script: Script) -> tuple[Ran, ...]:
    """The files of this repository that a step's script runs."""
    found: tuple[Ran, ...] = kept(graph, ("ran", script), lambda: tuple(_ran(graph, script)))
    return found


def run_files(graph: Graph) -> tuple[tuple[Script, Script, Ran], ...]:
    """(file as a script, the first script that runs it so, how) for each shell script of the repository that a step runs."""

    def find() -> tuple[tuple[Script, Script, Ran], ...]:
        held: dict[int, tuple[Script, Script, Ran]] = {}
        for script in scripts(graph):
            for one in ran(graph, script):
                if one.kind in ("program", "shell") and one.path in graph.repository.tracked:
                    file = file_script(graph, one.path, one.options)
                    if file is not None:
                        held.setdefault(id(file), (file, script, one))
        return tuple(held.values())

    found: tuple[tuple[Script, Script, Ran], ...] = kept(graph, "run files", find)
    return found


def _ran(graph: Graph, script: Script) -> Iterator[Ran]:
    if _MAY_RUN.search(script.data) is None:
        return
    here = layout(script.job, script.step)
    for seen in walked(graph, script):
        words = stripped(seen.command)
        if not words:
            continue
        for word, kind, told, text in _named(script, seen, words):
            path = seen.path(text)
            if path.startswith(f"{WORKSPACE}/") and "$" not in path and not word.glob:
                tracked = here.tracked(path[len(WORKSPACE) + 1 :])
                if tracked is not None:
                    yield Ran(seen, word, tracked, kind, here, told)


def _named(script: Script, seen: Seen, words: tuple[Word, ...]) -> Iterator[tuple[Word, Kind, Shell | None, str]]:
    name = words[0].text
    base = name.rpartition("/")[2]
    if base in ("bash", "sh", "dash"):
        told: list[str] = []
        rest = iter(words[1:])
        for word in rest:
            if word.text.startswith(("-", "+")):
                told.append(word.text)
                if "c" in word.text[1:] and not word.text.startswith("--"):
                    return
                if word.text.endswith("o") and not word.text.startswith("--"):
                    told.append(next(rest, word).text)
            else:
                yield word, "shell", options(told), written(script, seen, word)
                return
    elif name in ("source", ".") and len(words) > 1:
        yield words[1], "source", None, written(script, seen, words[1])
    elif is_python(name):
        yield from _python(script, seen, words[1:])
    elif "/" in name:
        yield words[0], "program", None, written(script, seen, words[0])


def _python(script: Script, seen: Seen, words: tuple[Word, ...]) -> Iterator[tuple[Word, Kind, Shell | None, str]]:
    rest = iter(words)
    for word in rest:
        if word.text in ("-W", "-X"):
            next(rest, None)
        elif word.text == "-m":
            module = next(rest, None)
            if module is not None and module.plain:
                yield module, "module", None, module.text.replace(".", "/") + ".py"
            return
        elif word.text.startswith("-"):
            if word.text in ("-", "-c"):
                return
        else:
            yield word, "python", None, written(script, seen, word)
            return
