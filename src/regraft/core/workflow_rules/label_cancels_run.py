"""A concurrency group in which any label cancels what runs: https://github.com/thunder-id/thunderid/pull/2423"""

from collections.abc import Iterator

from regraft.core.expression_cone import path_of
from regraft.core.expression_text import value_parts
from regraft.core.expression_tree import Expression, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_glance import decide_at
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_names import names_at
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Data, Event, Job, Text, Workflow

NAME = "label-cancels-run"

_LABELLED = frozenset({"labeled", "unlabeled"})
_TELLS_APART = frozenset(
    {
        ("github", "event", "label", "name"),
        ("github", "event", "label"),
        ("github", "event", "action"),
        ("github", "event"),
        ("github", "run_id"),
        ("github", "run_number"),
        ("github",),
    }
)


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        event = next((one for one in workflow.events.values() if _mixes(one)), None)
        group = workflow.data.get("concurrency", "group")
        cancels = workflow.data.get("concurrency", "cancel-in-progress")
        if event is None or group is None or cancels is None or not any(map(_works, workflow.jobs.values())):
            continue
        if not _is_true(graph, workflow, event, _text(cancels)) or _tells_apart(_text(group)):
            continue
        asks = _asks_for_a_label(workflow)
        severity: Severity = "error" if asks is not None else "warning"
        message = (
            "any label cancels what runs for the pull request: a label starts a run in the same concurrency group, and "
            + (
                "that run skips the jobs that ask for another label"
                if asks is not None
                else "the one before it is ended"
            )
        )
        witnesses = (
            Witness(event.place.path, event.place.line, "a label starts a run"),
            Witness(cancels.place.path, cancels.place.line, "which cancels the one before it"),
            *((asks,) if asks is not None else ()),
        )
        fix = "put what a label changes into the group (`github.event.label.name` where it is one of yours), or cancel for pushes only"
        yield Finding(
            NAME, severity, message, group.place.path, group.place.line, group.place.column, "high", witnesses, fix
        )


def _mixes(event: Event) -> bool:
    """Whether labels and other things that happen to a pull request start it."""
    types = set(event.types or ())
    return event.name in ("pull_request", "pull_request_target") and bool(types & _LABELLED) and bool(types - _LABELLED)


def _works(job: Job) -> bool:
    """Whether it does more than look at the labels by some action: there the newest run says it all."""
    return job.uses is not None or any(
        one.run is not None or (one.uses is not None and "checkout" in one.uses.value) for one in job.steps
    )


def _text(data: Data) -> str:
    return data.value.value if isinstance(data.value, Text) else ""


def _is_true(graph: Graph, workflow: Workflow, event: Event, text: str) -> bool:
    """Whether it is true in every run that this event starts."""
    found = value_parts(text)
    if len(found) != 1 or found[0].expression is None:
        return text.strip().lower() == "true"
    scope = next((one for one in graph.scopes(workflow.path) if one.caller is None and one.event is event), None)
    return scope is not None and decide_at(found[0].expression, names_at(graph, scope)).value is True


def _tells_apart(group: str) -> bool:
    waiting: list[Expression] = [one.expression for one in value_parts(group) if one.expression is not None]
    while waiting:
        tree = waiting.pop()
        path = path_of(tree)
        if path is None:
            waiting += parts(tree)
        elif tuple(one.lower() for one in path) in _TELLS_APART:
            return True
    return False


def _asks_for_a_label(workflow: Workflow) -> Witness | None:
    """The condition by which a run for another label skips what it would have tested."""
    for job in workflow.jobs.values():
        condition = job.condition
        text = condition.text.value if condition is not None else ""
        if condition is not None and "github.event.label.name" in text and ".labels" not in text:
            place = condition.text.place
            return Witness(place.path, place.line, f"`{job.name}` runs for one label, and is skipped for another")
    return None


RULE = Rule(NAME, "a concurrency group in which any label cancels the tests that run", find)
