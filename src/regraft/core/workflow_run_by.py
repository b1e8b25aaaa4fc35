"""Which files of the repository the scripts of a step run, as far as their texts name them.

It takes too many rather than too few: a file counts as run wherever its name stands, in a script or in another such file.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_repository import FOLDER
from regraft.core.workflow_values import Action, Job, Step, Workflow

DEEPEST = 4  # files that name each other
MOST = 40  # files of one step
COMMON = 50  # files of one name, above which the name says nothing
LARGEST = 256 * 1024  # bytes of a program that is looked at

_WORD = regex(r"[A-Za-z0-9_@+.-]+(?:/[A-Za-z0-9_@+.-]+)*")
_UPWARD = regex(r"^(?:\.{1,2}/)+")
_MODULE = regex(r"(?m)(?:-m|^[ \t]*from|^[ \t]*import)[ \t]+([A-Za-z_][\w.]*)")
_EXPRESSION = regex(r"\$\{\{[^}]*\}\}")
_PAYLOAD = regex(r"context\.payload(?!\w)(?!\??\.(?!inputs)\w)|getPayload")
_PLAN = regex(r"(?<![\w-])regraft(?:[ \t]|\\\n)+plan(?![\w-])")
_OWN_ACTION = regex(r"[^/@\s]+/regraft@\S+")
_NODE = (".js", ".mjs", ".cjs", ".ts")
_KINDS = (".sh", ".bash", ".py", *_NODE, ".rb", ".pl", ".ps1", ".mk", "")
_TARGETS = {"make": ("Makefile", "makefile", "GNUmakefile"), "just": ("justfile",), "npm": ("package.json",)}


def programs(graph: Graph, step: Step) -> tuple[str, ...]:
    """The paths of the files that a step runs, in the order in which they are met. An action of the repository has its own."""
    key = ("programs", step.place)
    found = graph.memo.get(key)
    if found is None:
        script = step.run.text.value if step.run is not None else ""
        found = graph.memo[key] = _closure(graph, _named(graph, script))
    return found  # type: ignore[return-value]  # the memo holds anything


def program_text(graph: Graph, path: str) -> str:
    """A program as a text; nothing where it is too large or no text."""
    key = ("program text", path)
    found = graph.memo.get(key)
    if found is None:
        data = graph.repository.read(path) or b""
        found = graph.memo[key] = "" if len(data) > LARGEST or b"\0" in data else data.decode("utf-8", "replace")
    return str(found)


def run_by(graph: Graph, path: str) -> tuple[Workflow | Action, ...]:
    """A workflow or action, and every one of the repository that it calls or uses, over any number of calls."""
    key = ("run by", path)
    found = graph.memo.get(key)
    if found is None:
        files: dict[str, Workflow | Action] = {}
        waiting = [_file(graph, path)]
        while waiting:
            one = waiting.pop()
            if one is None or one.path in files:
                continue
            files[one.path] = one
            jobs: Sequence[Job] = tuple(one.jobs.values()) if isinstance(one, Workflow) else ()
            waiting += [graph.called(job) for job in jobs]
            waiting += [graph.action(step) for step in steps_of(one)]
        found = graph.memo[key] = tuple(files.values())
    return found  # type: ignore[return-value]  # likewise


def steps_of(file: Workflow | Action) -> Iterator[Step]:
    if isinstance(file, Action):
        yield from file.steps
        return
    for job in file.jobs.values():
        yield from job.steps


def reads_event_inputs(graph: Graph, path: str) -> bool:
    """Whether something that a file runs may read the event's inputs itself: `$GITHUB_EVENT_PATH`, `context.payload`."""
    key = ("reads event", path)
    found = graph.memo.get(key)
    if found is None:
        steps = [step for file in run_by(graph, path) for step in steps_of(file)]
        texts = [_EXPRESSION.sub("", text) for text in _texts(graph, steps)]
        named = any("GITHUB_EVENT_PATH" in text or "eventPath" in text for text in texts)
        asked = any("inputs" in text for text in texts)
        found = graph.memo[key] = (named and asked) or any(_PAYLOAD.search(text) for text in texts)
    return bool(found)


def plans(graph: Graph, path: str) -> bool:
    """Whether something that a file runs is `regraft plan`, as a command or by regraft's action."""
    key = ("plans", path)
    found = graph.memo.get(key)
    if found is None:
        steps = [step for file in run_by(graph, path) for step in steps_of(file)]
        found = graph.memo[key] = any(map(_plans, steps)) or any(map(_PLAN.search, _texts(graph, steps)))
    return bool(found)


def _plans(step: Step) -> bool:
    command = step.arguments.get("command")
    named = step.uses is not None and _OWN_ACTION.fullmatch(step.uses.value)
    return bool(named) and command is not None and command.text.value.strip() == "plan"


def _texts(graph: Graph, steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if step.run is not None:
            yield step.run.text.value
        yield from (value.text.value for value in step.arguments.values())
        yield from (program_text(graph, path) for path in programs(graph, step))
        action = graph.action(step)
        main = action.data.get("runs", "main") if action is not None else None
        if action is not None and main is not None:
            yield from (program_text(graph, path) for path in _below(graph, action.folder))


def _below(graph: Graph, folder: str) -> list[str]:
    """The programs of an action that is one."""
    start = f"{folder}/" if folder else ""
    return sorted(one for one in graph.repository.tracked if one.startswith(start) and one.endswith(_NODE))[:MOST]


def _closure(graph: Graph, first: Sequence[str]) -> tuple[str, ...]:
    found = dict.fromkeys(first)
    waiting = list(found)
    for _ in range(DEEPEST):
        inner = [other for path in waiting for other in _of_program(graph, path)]
        waiting = [one for one in dict.fromkeys(inner) if one not in found][: max(0, MOST - len(found))]
        found.update(dict.fromkeys(waiting))
    return tuple(found)


def _of_program(graph: Graph, path: str) -> tuple[str, ...]:
    key = ("named by", path)
    found = graph.memo.get(key)
    if found is None:
        found = graph.memo[key] = _named(graph, program_text(graph, path))
    return found  # type: ignore[return-value]  # likewise


def _named(graph: Graph, text: str) -> tuple[str, ...]:
    """The programs whose names stand in a text: with their folders as far as they are written."""
    if not text:
        return ()
    found: dict[str, None] = {}
    for word in dict.fromkeys(_WORD.findall(text)):
        tail = word.rpartition("/")[2]
        if tail in _TARGETS:
            found.update(dict.fromkeys(path for name in _TARGETS[tail] for path in _ending(graph, name)))
        elif "." in tail or "/" in word:
            found.update(dict.fromkeys(_ending(graph, _UPWARD.sub("", word))))
    for module in dict.fromkeys(_MODULE.findall(text)):
        inside = module.replace(".", "/")
        for written in (f"{inside}.py", f"{inside}/__main__.py", f"{inside}/__init__.py"):
            found.update(dict.fromkeys(_ending(graph, written)))
    return tuple(found)[:MOST]


def _ending(graph: Graph, written: str) -> list[str]:
    """The programs whose paths end so; of a name that very many have, only the one at this very path."""
    paths = _index(graph).get(written.rpartition("/")[2], [])
    if len(paths) > COMMON:
        return [written] if written in graph.repository.tracked else []
    return [path for path in paths if path == written or path.endswith(f"/{written}")]


def _index(graph: Graph) -> Mapping[str, list[str]]:
    """Programs by their last name."""
    found = graph.memo.get("program index")
    if found is None:
        index: dict[str, list[str]] = {}
        for path in sorted(graph.repository.tracked):
            name = posixpath.basename(path)
            kind = posixpath.splitext(name)[1]
            if (kind in _KINDS or name == "package.json") and not path.startswith(f"{FOLDER}/"):
                index.setdefault(name, []).append(path)
        found = graph.memo["program index"] = index
    return found  # type: ignore[return-value]  # likewise


def _file(graph: Graph, path: str) -> Workflow | Action | None:
    workflow = graph.repository.workflows.get(path)
    return workflow or next((one for one in graph.repository.actions.values() if one.path == path), None)
