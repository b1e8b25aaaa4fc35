"""A job that runs whatever became of those it needs, asks how some of them ended, and forgets another."""

from collections.abc import Iterator

from regraft.core.findings import Finding, Witness
from regraft.core.workflow_conditions import in_short, is_implicit
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_inputs import find as find_named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, uses
from regraft.core.workflow_values import Job, Workflow

NAME = "result-unread"


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        asked: dict[str, list[Use]] = {}
        for one in uses(graph, workflow.path).of("needs"):
            if one.job is not None:
                asked.setdefault(one.job.name, []).append(one)
        for job in workflow.jobs.values():
            if len(job.needs) > 1 and not is_implicit(job.condition):
                yield from _forgotten(graph, workflow, job, asked.get(job.name, []))


def _forgotten(graph: Graph, workflow: Workflow, job: Job, asked: list[Use]) -> Iterator[Finding]:
    results = [one for one in asked if len(one.path) == 3 and one.path[2] == "result"]
    named = {one.path[1] for one in results}
    if any(len(one.path) < 2 for one in asked):
        return  # all of `needs` is read
    if not results or (len(named) == 1 and all(one.keys[-1] == "if" and one.step is None for one in results)):
        return  # it answers for nobody: it comes after another job, whatever became of that
    read = {one.path[1] for one in asked}
    shown = read | {one.name.lower() for name in read for one in _above(graph, workflow, name)}
    first = results[0]
    for need in job.needs:
        if need.value.lower() in shown:
            continue
        message = (
            f"how `{need.value}` ended is read nowhere: the job `{job.name}` runs though it failed or was skipped, and asks "
            "only for others that it needs"
        )
        fix = f"ask for `needs.{need.value}.result` too, or for all with `contains(needs.*.result, 'failure')`"
        place = need.place
        witnesses = [Witness(place.path, first.line, f"`{first.said}` is asked for")]
        if job.condition is not None:
            witnesses.append(Witness(place.path, job.condition.text.place.line, f"`if: {in_short(job.condition)}`"))
        yield Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", tuple(witnesses), fix)


def _above(graph: Graph, workflow: Workflow, name: str) -> tuple[Job, ...]:
    """Those whose failure shows in how a job ended."""
    job = find_named(workflow.jobs, name)
    return graph.ancestors(workflow.path, job) if job is not None else ()


RULE = Rule(NAME, "a job that asks how some of those it needs ended, and forgets another", find)
