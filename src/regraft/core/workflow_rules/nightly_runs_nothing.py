"""A schedule that starts a run in which nothing runs, or only gates before jobs that are skipped: green every night."""

from collections.abc import Iterator, Sequence

from regraft.core.expression_tree import Call, Constant, Context, Expression, parts
from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_conditions import condition_tree
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_judge import can_run, holds
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Job, Step, Workflow

NAME = "nightly-runs-nothing"

_SETUP = regex(r"actions/(?:checkout|setup-[\w-]+|cache|download-artifact|upload-artifact)(?:/\w+)?@")


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        scope = next((one for one in graph.scopes(workflow.path) if one.caller is None and _is_schedule(one)), None)
        if scope is None or not workflow.jobs or graph.is_crowded(workflow.path):
            continue
        jobs = list(workflow.jobs.values())
        skipped = [one for one in jobs if _is_idle(graph, one, scope)]
        if len(skipped) == len(jobs):
            yield _nothing(workflow, scope, skipped)
        elif missed := _missed(graph, workflow, scope, skipped):
            yield _no_work(workflow, scope, missed)


def _is_schedule(scope: Scope) -> bool:
    return scope.event.name == "schedule"


def _is_idle(graph: Graph, job: Job, scope: Scope) -> bool:
    """Whether a job is skipped, calls a file in which all are, or is left with nothing but a checkout and the like."""
    if can_run(graph, Site(scope.path, job), scope) is False:
        return True
    if job.uses is not None:
        child, called = graph.child(scope, job), graph.called(job)
        if child is None or called is None or not called.jobs or graph.is_crowded(called.path):
            return False
        return all(_is_idle(graph, one, child) for one in called.jobs.values())
    if any(one.run is not None and one.condition is None for one in job.steps):
        return False
    gone = [one for one in job.steps if can_run(graph, Site(scope.path, job, one), scope) is False]
    left = [one for one in job.steps if one not in gone]
    return any(one.run is not None for one in gone) and all(_is_setup(one) for one in left)


def _is_setup(step: Step) -> bool:
    return step.uses is not None and _SETUP.match(step.uses.value) is not None


def _nothing(workflow: Workflow, scope: Scope, skipped: Sequence[Job]) -> Finding:
    place = scope.event.place
    message = "this schedule starts a run in which no job runs: it is green, and has done nothing"
    fix = "let the jobs run on `schedule` too, or take the schedule out"
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", _why(workflow, skipped), fix)


def _missed(graph: Graph, workflow: Workflow, scope: Scope, skipped: Sequence[Job]) -> list[Job]:
    """The jobs that all else leads to, where none of them runs, and none because its own condition asks for the event."""
    work = [one for one in workflow.jobs.values() if not _asks_for_failure(condition_tree(one.condition))]
    names = {one.name for one in work}
    last = [one for one in work if not any(other.name in names for other in graph.dependents(workflow.path, one))]
    if any(one not in skipped for one in last):
        return []
    return [one for one in last if not _says_no(graph, Site(workflow.path, one), scope)]


def _asks_for_failure(tree: Expression) -> bool:
    """Whether a job is an alarm, which nothing needs to ring every night."""
    if isinstance(tree, Call) and tree.function == "failure":
        return True
    if isinstance(tree, Constant) and tree.value in ("failure", "cancelled"):
        return True
    return any(map(_asks_for_failure, parts(tree)))


def _says_no(graph: Graph, site: Site, scope: Scope) -> bool:
    tree = condition_tree(site.condition)
    return _asks_for_the_run(tree) and holds(graph, site, tree, scope).value is False


def _asks_for_the_run(tree: Expression) -> bool:
    return (isinstance(tree, Context) and tree.name in ("github", "inputs")) or any(map(_asks_for_the_run, parts(tree)))


def _no_work(workflow: Workflow, scope: Scope, missed: Sequence[Job]) -> Finding:
    place = scope.event.place
    names = ", ".join(f"`{one.name}`" for one in missed[:5])
    verb = "is" if len(missed) == 1 else "are"
    message = f"on this schedule only what goes before runs: {names} {verb} skipped every time, and the run is green"
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
