"""An input of `workflow_dispatch`, `workflow_call` or a composite action that nothing reads: who sets it changes nothing."""

from collections.abc import Iterator

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_by import plans, reads_event_inputs, run_by
from regraft.core.workflow_uses import uses
from regraft.core.workflow_values import Data, Declared, Event, Step, Workflow
from regraft.core.workflow_yaml import text

NAME = "input-unread"

DISPATCH = "workflow_dispatch"

_FOR_PEOPLE = regex(
    r"(?i)(?:.*[-_])?(?:reason|comments?|notes?|description|message|why|remind(?:er)?|acknowledge(?:ment)?|confirm(?:ation)?)(?:[-_].*)?"
)
_GIVEN_UP = regex(r"(?i)deprecated|unused|no longer|not used|ignored|does nothing|obsolete")


def find(graph: Graph) -> Iterator[Finding]:
    unread = [(workflow, event, one) for workflow, event in _events(graph) for one in _unread(graph, workflow, event)]
    shared: dict[str, set[str]] = {}
    for workflow, event, one in unread:
        if event.name == DISPATCH:
            shared.setdefault(one.name.lower(), set()).add(workflow.path)
    told: set[tuple[str, str]] = set()
    for workflow, event, one in unread:
        if (workflow.path, one.name.lower()) in told:
            continue
        told.add((workflow.path, one.name.lower()))
        if event.name == CALL:
            yield _finding(graph, f"the input `{one.name}` is read nowhere in this workflow", one, event.data)
            continue
        many = len(shared[one.name.lower()])
        also = f"; {many} workflows declare it, and none of them reads it" if many > 1 else ""
        known = not any(map(_is_foreign, (step for job in workflow.jobs.values() for step in job.steps)))
        effect = (
            "sets it changes nothing" if known else "sets it changes nothing, unless an action reads the event itself"
        )
        message = f"the input `{one.name}` is read nowhere: whoever starts this by hand and {effect}{also}"
        yield _finding(graph, message, one, event.data, "high" if known else "medium")
    for action in graph.repository.actions.values():
        using = text(action.data.get("runs", "using"))
        if using is None or using.value != "composite" or uses(graph, action.path).unread is not None:
            continue
        for one in action.inputs.values():
            if uses(graph, action.path).read("inputs", one.name.lower()) is None:
                yield _finding(graph, f"the input `{one.name}` is read nowhere in this action", one, action.data)


def _is_foreign(step: Step) -> bool:
    """An action of somebody's, which may well read `$GITHUB_EVENT_PATH`."""
    return step.uses is not None and not step.uses.value.startswith(("./", "actions/"))


def _finding(graph: Graph, message: str, one: Declared, owner: Data | None, confidence: Confidence = "high") -> Finding:
    at = one.place
    said = text(owner.get("inputs", one.name, "description")) if owner is not None else None
    meant = _FOR_PEOPLE.fullmatch(one.name) or (said is not None and _GIVEN_UP.search(said.value))
    severity: Severity = "note" if meant else "warning"
    fix = "read it where it was meant to decide, or take it out"
    return Finding(NAME, severity, message, at.path, at.line, at.column, confidence, _callers(graph, one), fix)


def _events(graph: Graph) -> Iterator[tuple[Workflow, Event]]:
    for workflow in graph.repository.workflows.values():
        for event in sorted(workflow.events.values(), key=lambda one: one.name != DISPATCH):
            if event.name in (CALL, DISPATCH) and event.inputs:
                yield workflow, event


def _unread(graph: Graph, workflow: Workflow, event: Event) -> Iterator[Declared]:
    own = uses(graph, workflow.path)
    if own.unread is not None or not workflow.jobs:
        return
    left = [one for one in event.inputs.values() if own.read("inputs", one.name.lower()) is None]
    if not left:
        return
    if event.name == DISPATCH or DISPATCH in workflow.events:
        reached = [uses(graph, one.path) for one in run_by(graph, workflow.path)]
        if any(one.unread is not None for one in reached) or reads_event_inputs(graph, workflow.path):
            return
        left = [one for one in left if not any(use.read(*_typed(one)) for use in reached)]
        taken = _taken(graph)
        if any(one.name.lower() in taken for one in left) and plans(graph, workflow.path):
            left = [one for one in left if one.name.lower() not in taken]
    yield from left


def _taken(graph: Graph) -> frozenset[str]:
    """The inputs that `regraft plan` takes from the event by itself, as the manifest has them."""
    manifest = graph.repository.manifest
    if manifest is None:
        return frozenset()
    named = [one.directive for one in manifest.dependencies.values()]
    named += [one.directive for one in manifest.packages.values()]
    named += [one.tag_directive for one in manifest.images.values() if one.tag_directive is not None]
    return frozenset(one.lower().replace("-", "_") for one in named)


def _typed(one: Declared) -> tuple[str, ...]:
    return "github", "event", "inputs", one.name.lower()


def _callers(graph: Graph, one: Declared) -> tuple[Witness, ...]:
    """Those that pass it."""
    found = []
    for call in graph.callers(one.place.path):
        by = call.step if call.step is not None else call.job
        value = named(by.arguments, one.name) if by is not None else None
        if value is not None:
            place = value.text.place
            found.append(Witness(place.path, place.line, f"passes `{one.name}` for nothing"))
    return tuple(found[:12])


RULE = Rule(NAME, "an input that nothing reads", find)
