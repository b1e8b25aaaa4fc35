"""What a job passes to a workflow of the repository, or a step to an action of it, that is not what is declared there.

GitHub refuses to start a run whose call does not fit (`Invalid input, x is not defined in the referenced workflow`). Of an
action it says so in the log and goes on.
"""

import posixpath
from collections.abc import Iterator, Mapping

from regraft.core.expression_cone import path_of
from regraft.core.expression_tree import Call as Function
from regraft.core.expression_tree import Expression
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.spelling import nearest
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_repository import FOLDER
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_trees import scalar
from regraft.core.workflow_values import Action, Data, Declared, Event, Job, Place, Step, Text, Value, Workflow

NAME = "call-mismatch"

_OF_ANY_ACTION = frozenset({"args", "entrypoint"})


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            yield from _called(graph, job)
            for step in job.steps:
                yield from _used(graph, step, job.steps)
    for action in graph.repository.actions.values():
        for step in action.steps:
            yield from _used(graph, step, action.steps)


def _called(graph: Graph, job: Job) -> Iterator[Finding]:
    if job.uses is None or not job.uses.value.startswith("./"):
        return
    workflow, at = graph.called(job), job.uses.place
    path = posixpath.normpath(job.uses.value)
    if workflow is None:
        if posixpath.dirname(path) == FOLDER:
            near = nearest(path, graph.repository.workflows)
            fix = f"did you mean `./{near}`?" if near else "name a workflow that is there"
            yield _finding("error", f"the job `{job.name}` calls `{path[:120]}`, which is not there", at, fix)
        return
    event = workflow.events.get(CALL)
    if event is None:
        if workflow.events or not workflow.problems:
            message = f"the job `{job.name}` calls {path}, which has no `{CALL}`: GitHub refuses the run"
            yield _finding("error", message, at, f"add `{CALL}` to its `on`")
        return
    yield from _inputs(workflow, event, job, at)
    if isinstance(job.secrets, Mapping) and not _is_text(job.data.get("secrets")):
        yield from _secrets(workflow, event, job, at)


def _inputs(workflow: Workflow, event: Event, job: Job, at: Place) -> Iterator[Finding]:
    for name, value in job.arguments.items():
        place = _key(job.data, "with", name, value)
        declared = named(event.inputs, name)
        if declared is None:
            message = f"`{name}` is no input of {workflow.path}: GitHub refuses the run"
            witness = Witness(workflow.path, event.place.line, f"it declares {_listed(event.inputs)}")
            yield _finding("error", message, place, _fix(name, event.inputs, workflow.path), witness)
        elif (wanted := _misfit(declared, value)) is not None:
            said = " ".join(value.text.value.split())[:60]
            message = f"`{name}` is a {declared.type}, and gets the text `{said}`: GitHub refuses the run"
            yield _finding("error", message, value.text.place, f"pass {wanted}", _declared(declared))
    for declared in event.inputs.values():
        if declared.required and declared.default is None and named(job.arguments, declared.name) is None:
            message = f"the job `{job.name}` calls {workflow.path} without `{declared.name}`, which it requires: GitHub refuses the run"
            yield _finding("error", message, at, f"pass `{declared.name}`, or give it a default", _declared(declared))


def _secrets(workflow: Workflow, event: Event, job: Job, at: Place) -> Iterator[Finding]:
    assert isinstance(job.secrets, Mapping)  # the caller has looked
    for name, value in job.secrets.items():
        if named(event.secrets, name) is None and name.upper() != "GITHUB_TOKEN":
            message = f"`{name}` is no secret of {workflow.path}: GitHub refuses the run"
            place = _key(job.data, "secrets", name, value)
            witness = Witness(workflow.path, event.place.line, f"it declares {_listed(event.secrets)}")
            yield _finding("error", message, place, _fix(name, event.secrets, workflow.path), witness)
    for declared in event.secrets.values():
        if declared.required and named(job.secrets, declared.name) is None:
            message = f"the job `{job.name}` calls {workflow.path} without the secret `{declared.name}`, which it requires: GitHub refuses the run"
            fix = f"pass `{declared.name}`, or `secrets: inherit`"
            yield _finding("error", message, at, fix, _declared(declared))


def _used(graph: Graph, step: Step, steps: tuple[Step, ...]) -> Iterator[Finding]:
    action = graph.action(step)
    if action is None or step.uses is None or action.problems or _is_replaced(step, steps):
        return
    for name, value in step.arguments.items():
        if named(action.inputs, name) is None and name.lower() not in _OF_ANY_ACTION:
            message = f"`{name}` is no input of {action.path}, which never declares it"
            fix, witness = _fix(name, action.inputs, action.path), _top(action)
            yield _finding("warning", message, _key(step.data, "with", name, value), fix, witness)
    for declared in action.inputs.values():
        if declared.required and declared.default is None and named(step.arguments, declared.name) is None:
            message = f"{action.path} is used without `{declared.name}`, which it requires: it will be empty"
            fix = f"pass `{declared.name}`, or give it a default"
            yield _finding("warning", message, step.uses.place, fix, _declared(declared))


def _is_replaced(step: Step, steps: tuple[Step, ...]) -> bool:
    """Whether another repository may stand at the workspace when the step runs."""
    return any(
        one.uses is not None
        and one.uses.value.startswith("actions/checkout")
        and "repository" in one.arguments
        and "path" not in one.arguments
        for one in steps[: step.index]
    )


def _misfit(declared: Declared, value: Value) -> str | None:
    """What it should be, where a text cannot be made into it. What an expression gives is not made into anything."""
    text = value.text.value.strip()
    if not text or declared.type not in ("boolean", "number"):
        return None
    if not all(part.literal for part in value.parts):
        is_text = declared.type == "boolean" and (len(value.parts) > 1 or _gives_text(value.parts[0].expression))
        as_it_is = "`fromJSON(…)` of it" if len(value.parts) == 1 else "one expression"
        return f"{as_it_is}, or compare it with a text" if is_text else None
    if declared.type == "boolean":
        return None if text.lower() in ("true", "false") else "`true` or `false`"
    if declared.type == "number":
        return None if isinstance(scalar(Text(text, value.text.place, plain=True)), bool | float) else "a number"
    return None


def _gives_text(tree: Expression | None) -> bool:
    """Whether it is a text whatever happens: https://github.com/ShokoAnime/Shoko-WebUI/pull/1356"""
    if isinstance(tree, Function):
        return tree.function in ("format", "join", "tojson")
    path = tuple(one.lower() for one in path_of(tree) or ()) if tree is not None else ()
    if path[:1] == ("needs",):
        return len(path) == 4 and path[2] == "outputs"
    return (len(path) == 4 and path[:3] == ("github", "event", "inputs")) or (len(path) == 2 and path[0] == "vars")


def _finding(severity: Severity, message: str, at: Place, fix: str, *witnesses: Witness) -> Finding:
    return Finding(NAME, severity, message, at.path, at.line, at.column, witnesses=witnesses, fix=fix)


def _key(data: Data, owner: str, name: str, value: Value) -> Place:
    held = data.get(owner)
    return held.keys[name].place if held is not None and name in held.keys else value.text.place


def _fix(name: str, known: Mapping[str, Declared], path: str) -> str:
    near = nearest(name, known)
    return f"did you mean `{near}`?" if near else f"declare it in {path}, or leave it out"


def _listed(known: Mapping[str, Declared]) -> str:
    names = ", ".join(f"`{name}`" for name in list(known)[:8])
    return f"{names}{', …' if len(known) > 8 else ''}" if names else "none"


def _declared(one: Declared) -> Witness:
    return Witness(one.place.path, one.place.line, f"`{one.name}` is declared here")


def _top(action: Action) -> Witness:
    return Witness(action.path, action.data.place.line, f"it declares {_listed(action.inputs)}")


def _is_text(data: Data | None) -> bool:
    return data is not None and isinstance(data.value, Text) and bool(data.value.value)


RULE = Rule(NAME, "a call whose `with` or `secrets` is not what the called file declares", find)
