"""A job that answers for others and takes one that was skipped for one that passed.

https://github.com/ohdearquant/khive/issues/2807
"""

from collections.abc import Iterator

from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_conditions import is_implicit
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_judge import reaching, results
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import uses
from regraft.core.workflow_values import Job, Step, Workflow

NAME = "skip-counts-as-passed"

_RESULT = regex(r"\b(success|skipped|failure|cancelled)\b(?!\s*\()")
_SAYS = regex(r"\s*(?:(?:echo|printf|true|:|exit 0)\b[^\n|&;]*\s*)*")


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            if len(job.needs) > 0 and job.steps and not graph.is_circular(workflow.path, job):
                yield from _collected(graph, workflow, job)


def _collected(graph: Graph, workflow: Workflow, job: Job) -> Iterator[Finding]:
    if is_implicit(job.condition):
        if len(job.needs) > 1 and job.condition is None and all(map(_only_says, job.steps)):
            yield _skipped_itself(job)
        return
    asked = _results_asked_for(graph, workflow, job)
    if "failure" not in asked or asked & {"success", "skipped"}:
        return
    hidden = _hidden(graph, workflow, job)
    skippable = _skippable(graph, workflow, job)
    place = job.condition.text.place if job.condition is not None else job.place
    if hidden is not None:
        far, near = hidden
        message = (
            f"`{job.name}` asks only who failed, and does not need `{far.name}`: when that fails, `{near.name}` is skipped, "
            "and a skip counts as passed here"
        )
        witness = Witness(workflow.path, near.place.line, f"`{near.name}` waits for `{far.name}`")
        fix = f"ask for `success` of each, or put `{far.name}` into `needs` too"
        yield Finding(NAME, "error", message, place.path, place.line, place.column, "high", (witness,), fix)
    elif skippable:
        names = ", ".join(f"`{one.name}`" for one in skippable[:5])
        message = f"`{job.name}` asks only who failed: {names} may be skipped, and a skip counts as passed here"
        witnesses = tuple(Witness(workflow.path, _line(one), f"`{one.name}` may be skipped") for one in skippable[:5])
        fix = "ask for `success`, and for `skipped` only where the event or the selection says so"
        yield Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", witnesses, fix)


def _skipped_itself(job: Job) -> Finding:
    place = job.place
    message = (
        f"`{job.name}` only says that others did well, and is skipped where one of them did not: a required check that is "
        "skipped counts as passed"
    )
    fix = "give it `if: always()`, and let it fail unless each result is `success`"
    return Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", (), fix)


def _only_says(step: Step) -> bool:
    return step.run is not None and _SAYS.fullmatch(step.run.text.value) is not None


def _results_asked_for(graph: Graph, workflow: Workflow, job: Job) -> set[str]:
    """The words for results that its steps know; none where it reads the results of all in another way."""
    found: set[str] = set()
    asks = False
    for one in uses(graph, workflow.path).of("needs"):
        if (
            one.job is not job or one.step is None
        ):  # a job that asks in its own `if` goes on with work, and answers for nobody
            continue
        if len(one.path) == 1 and not _is_results(one.text.value):
            return set()
        if one.path[-1] == "result" or len(one.path) == 1:
            asks = True
            found.update(match[1] for match in _RESULT.finditer(one.text.value))
    for step in job.steps:
        for text in (step.run, *step.env.values()):
            if text is not None:
                found.update(match[1] for match in _RESULT.finditer(text.text.value))
        if step.uses is not None and any("needs" in one.text.value for one in step.arguments.values()):
            return set()
    return found if asks else set()


def _is_results(text: str) -> bool:
    """Whether the object is read for `needs.*.result` alone."""
    return "needs.*.result" in text.replace(" ", "") and "tojson(needs)" not in text.replace(" ", "").lower()


def _hidden(graph: Graph, workflow: Workflow, job: Job) -> tuple[Job, Job] | None:
    """A job whose failure it sees only as the skip of one that it needs; and that one."""
    needed = {one.value.lower() for one in job.needs}
    ancestors = graph.ancestors(workflow.path, job)
    near = [one for one in ancestors if one.name.lower() in needed and is_implicit(one.condition)]
    for one in near:
        for far in graph.ancestors(workflow.path, one):
            if far.name.lower() not in needed:
                return far, one
    return None


def _skippable(graph: Graph, workflow: Workflow, job: Job) -> list[Job]:
    """What it needs and a condition of its own can skip."""
    needed = {one.value.lower() for one in job.needs}
    near = [
        one for one in graph.ancestors(workflow.path, job) if one.name.lower() in needed and one.condition is not None
    ]
    scopes = list(reaching(graph, workflow.path))
    return [one for one in near if any("skipped" in results(graph, scope, one) for scope in scopes)]


def _line(job: Job) -> int:
    return (job.condition.text.place if job.condition is not None else job.place).line


RULE = Rule(NAME, "a job that answers for others and takes a skipped one for one that passed", find)
