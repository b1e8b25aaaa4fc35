"""A schedule that starts a run in which nothing runs, or only gates before jobs that are skipped: green every night."""

from collections.abc import Iterator, Sequence

from regraft.core.findings import Finding, Witness
from regraft.core.workflow_conditions import condition_tree
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_judge import can_run, holds
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Job, Workflow

NAME = "nightly-runs-nothing"


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        scope = next((one for one in graph.scopes(workflow.path) if one.caller is None and _is_schedule(one)), None)
        if scope is None or not workflow.jobs or graph.is_crowded(workflow.path):
            continue
        jobs = list(workflow.jobs.values())
        skipped = [one for one in jobs if can_run(graph, Site(workflow.path, one), scope) is False]
        if len(skipped) == len(jobs):
            yield _nothing(workflow, scope, skipped)
        elif missed := _missed(graph, workflow, scope, skipped):
            yield _no_work(workflow, scope, missed)


def _is_schedule(scope: Scope) -> bool:
    return scope.event.name == "schedule"


def _nothing(workflow: Workflow, scope: Scope, skipped: Sequence[Job]) -> Finding:
    place = scope.event.place
    message = "this schedule starts a run in which no job runs: it is green, and has done nothing"
    fix = "let the jobs run on `schedule` too, or take the schedule out"
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", _why(workflow, skipped), fix)


def _missed(graph: Graph, workflow: Workflow, scope: Scope, skipped: Sequence[Job]) -> list[Job]:
    """The jobs that all else leads to, where none of them runs, and that by no condition of their own."""
    last = [one for one in workflow.jobs.values() if not graph.dependents(workflow.path, one)]
    if any(one not in skipped for one in last):
        return []
    return [one for one in last if not _says_no(graph, Site(workflow.path, one), scope)]


def _says_no(graph: Graph, site: Site, scope: Scope) -> bool:
    return site.condition is not None and holds(graph, site, condition_tree(site.condition), scope).value is False


def _no_work(workflow: Workflow, scope: Scope, missed: Sequence[Job]) -> Finding:
    place = scope.event.place
    names = ", ".join(f"`{one.name}`" for one in missed[:5])
    message = f"on this schedule only what goes before runs: {names} are skipped every time, and the run is green"
    fix = "let them run on `schedule` too, or take the schedule out"
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", _why(workflow, missed), fix)


def _why(workflow: Workflow, jobs: Sequence[Job]) -> tuple[Witness, ...]:
    return tuple(
        Witness(
            workflow.path,
            (one.condition.text.place if one.condition is not None else one.place).line,
            f"`{one.name}` does not run on `schedule`",
        )
        for one in jobs[:8]
    )


RULE = Rule(NAME, "a schedule that starts runs in which nothing, or only gates, can run", find)
