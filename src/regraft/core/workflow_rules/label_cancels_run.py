"""A concurrency group in which any label cancels what runs: https://github.com/thunder-id/thunderid/pull/2423"""

from collections.abc import Iterator, Sequence

from regraft.core.expression_cone import path_of
from regraft.core.expression_known import Path
from regraft.core.expression_text import value_parts
from regraft.core.expression_tree import Expression, Logic, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_events import PULL
from regraft.core.workflow_glance import decide_at
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_known import Names
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

_SET = frozenset(
    {
        ("github", "head_ref"),
        ("github", "ref"),
        ("github", "event", "number"),
        ("github", "event", "pull_request", "number"),
        ("github", "event", "pull_request", "head", "ref"),
    }
)
"""Never empty for a pull request."""


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        jobs = [one for one in workflow.jobs.values() if _works(one)]
        if jobs and (found := _of(graph, workflow, workflow.data, _asks_for_a_label(jobs))) is not None:
            yield found
        for job in jobs:
            if _asks_for_a_label([job]) is None:  # a job that is skipped enters no group
                found = _of(graph, workflow, job.data, None)
                if found is not None:
                    yield found


def _of(graph: Graph, workflow: Workflow, holder: Data, asks: Witness | None) -> Finding | None:
    """Of the group of a workflow or of a job; `asks`: a condition by which a run for another label tests nothing."""
    group = holder.get("concurrency", "group")
    cancels = holder.get("concurrency", "cancel-in-progress")
    event = next((one for one in workflow.events.values() if _mixes(one, for_one_label=asks is not None)), None)
    if event is None or group is None or cancels is None:
        return None
    names = _names(graph, workflow, event)
    if names is None or not _is_true(_text(cancels), names) or _tells_apart(_text(group), names):
        return None
    message = (
        "any label cancels what runs for the pull request: a label starts a run in the same concurrency group, and "
        + ("that run skips the jobs that ask for another label" if asks is not None else "the one before it is ended")
    )
    witnesses = (
        Witness(event.place.path, event.place.line, "a label starts a run"),
        Witness(cancels.place.path, cancels.place.line, "which cancels the one before it"),
        *((asks,) if asks is not None else ()),
    )
    fix = "put what a label changes into the group (`github.event.label.name` where it is one of yours), or cancel for pushes only"
    severity: Severity = "error" if asks is not None else "warning"
    return Finding(
        NAME, severity, message, group.place.path, group.place.line, group.place.column, "high", witnesses, fix
    )


def _mixes(event: Event, *, for_one_label: bool) -> bool:
    """Whether a label starts it beside something that a run is for: another happening, or one label of all."""
    types = set(event.types or ())
    return event.name in PULL and bool(types & _LABELLED) and (bool(types - _LABELLED) or for_one_label)


def _works(job: Job) -> bool:
    """Whether it does more than look at the labels by some action: there the newest run says it all."""
    return job.uses is not None or any(
        one.run is not None or (one.uses is not None and "checkout" in one.uses.value) for one in job.steps
    )


def _text(data: Data) -> str:
    return data.value.value if isinstance(data.value, Text) else ""


def _names(graph: Graph, workflow: Workflow, event: Event) -> Names | None:
    """What a run that this event starts knows."""
    scope = next((one for one in graph.scopes(workflow.path) if one.caller is None and one.event is event), None)
    return names_at(graph, scope) if scope is not None else None


def _is_true(text: str, names: Names) -> bool:
    found = value_parts(text)
    if len(found) != 1 or found[0].expression is None:
        return text.strip().lower() == "true"
    return decide_at(found[0].expression, names).value is True


def _tells_apart(group: str, names: Names) -> bool:
    """Whether two runs for one pull request can have different groups."""
    trees = [one.expression for one in value_parts(group) if one.expression is not None]
    return any(path in _TELLS_APART for tree in trees for path in _taken(tree, names))


def _taken(tree: Expression, names: Names) -> Iterator[Path]:
    """What an expression is made of on this event: of `github.head_ref || github.run_id` only the first."""
    path = path_of(tree)
    if path is not None:
        yield tuple(one.lower() for one in path)
    elif isinstance(tree, Logic) and tree.operator == "||":
        for item in tree.items:
            truth = decide_at(item, names).value
            if truth is not False:
                yield from _taken(item, names)
            if truth is True or path_of(item) in _SET:
                return
    elif not (isinstance(tree, Logic) and any(decide_at(one, names).value is False for one in tree.items)):
        for part in parts(tree):
            yield from _taken(part, names)


def _asks_for_a_label(jobs: Sequence[Job]) -> Witness | None:
    """The condition by which a run for another label skips what it would have tested."""
    for job in jobs:
        condition = job.condition
        text = condition.text.value if condition is not None else ""
        if condition is not None and "github.event.label.name" in text and ".labels" not in text:
            place = condition.text.place
            return Witness(place.path, place.line, f"`{job.name}` runs for one label, and is skipped for another")
    return None


RULE = Rule(NAME, "a concurrency group in which any label cancels the tests that run", find)
