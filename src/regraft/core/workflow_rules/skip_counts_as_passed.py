"""A job that answers for others and takes one that was skipped for one that passed.

https://github.com/ohdearquant/khive/issues/2807
"""

from collections.abc import Iterator, Sequence

from regraft.core.expression_tree import Call as Function
from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_conditions import condition_tree, is_implicit
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_judge import holds, reaching, results
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_trees import both
from regraft.core.workflow_uses import Use, uses
from regraft.core.workflow_values import Job, Step, Workflow

NAME = "skip-counts-as-passed"

_RESULT = regex(r"\b(success|skipped|failure|cancelled)\b(?!\s*\()")
_FAILS = regex(
    r"\bexit\s+[\"']?[1-9$]|\breturn\s+1\b|\bfalse\b|\bsetFailed\b|\bsys\.exit\b|\braise\b|\bthrow\b"
    r"|(?m:^\s*(?:!\s*grep|(?:\S.*\|\s*)?jq\s+(?:-\w*e|--exit-status))\b)"
)
FAILURE = Function("failure", ())
_SAYS = regex(r"\s*(?:(?:echo|printf|true|:|exit 0)\b[^\n|&;]*\s*)*")


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            if len(job.needs) > 0 and job.steps and not graph.is_circular(workflow.path, job):
                yield from _collected(graph, workflow, job)


def _collected(graph: Graph, workflow: Workflow, job: Job) -> Iterator[Finding]:
    condition = job.condition
    if is_implicit(condition) or _is_skipped_by_failure(graph, workflow, job):
        says = (
            len(job.needs) > 1 and (condition is None or not is_implicit(condition)) and all(map(_only_says, job.steps))
        )
        if says or ("failure" in _results_asked_for(graph, workflow, job) and _answers(job)):
            yield _skipped_itself(job, says=says)
        return
    allowed = _allowed_skips(job)
    asked = _results_asked_for(graph, workflow, job) if allowed is None else set()
    only_failed = "failure" in asked and not asked & {"success", "skipped"}
    takes_skips = asked >= {"success", "skipped"} and "failure" not in asked
    if allowed is None and not ((only_failed or takes_skips) and _answers(job)):
        return
    hidden = _hidden(graph, workflow, job, allowed)
    if hidden is not None:
        yield _failure_as_skip(workflow, job, hidden, certain=not takes_skips)
    elif only_failed and (skippable := _skippable(graph, workflow, job)):
        yield _skips(workflow, job, skippable)


def _failure_as_skip(workflow: Workflow, job: Job, hidden: tuple[Job, Job], *, certain: bool) -> Finding:
    far, near = hidden
    place = job.condition.text.place if job.condition is not None else job.place
    message = (
        f"`{job.name}` lets a skip pass, and does not need `{far.name}`: when that fails, `{near.name}` is skipped, "
        f"and `{job.name}` is green"
    )
    witness = Witness(workflow.path, near.place.line, f"`{near.name}` waits for `{far.name}`")
    fix = f"put `{far.name}` into `needs` too, and ask for its success"
    severity: Severity = "error" if certain else "warning"
    confidence: Confidence = "high" if certain else "medium"
    return Finding(NAME, severity, message, place.path, place.line, place.column, confidence, (witness,), fix)


def _skips(workflow: Workflow, job: Job, skippable: Sequence[Job]) -> Finding:
    place = job.condition.text.place if job.condition is not None else job.place
    names = ", ".join(f"`{one.name}`" for one in skippable[:5])
    message = f"`{job.name}` asks only who failed: {names} may be skipped, and a skip counts as passed here"
    witnesses = tuple(Witness(workflow.path, _line(one), f"`{one.name}` may be skipped") for one in skippable[:5])
    fix = "ask for `success`, and for `skipped` only where the event or the selection says so"
    return Finding(NAME, "warning", message, place.path, place.line, place.column, "medium", witnesses, fix)


def _is_skipped_by_failure(graph: Graph, workflow: Workflow, job: Job) -> bool:
    """Whether its own condition never lets it run after a failure: `!failure()`."""
    tree = condition_tree(job.condition)
    return holds(graph, Site(workflow.path, job), both(FAILURE, tree)).value is False


def _answers(job: Job) -> bool:
    """Whether a step can make it fail: else it only tells, or goes on with other work."""
    texts = [one for step in job.steps for one in (step.run, step.arguments.get("script")) if one is not None]
    return any(_FAILS.search(one.text.value) for one in texts)


def _allowed_skips(job: Job) -> frozenset[str] | None:
    """The jobs that alls-green lets be skipped; None where it is not used."""
    for step in job.steps:
        if step.uses is not None and step.uses.value.startswith("re-actors/alls-green@"):
            names = step.arguments.get("allowed-skips")
            said = names.text.value if names is not None and all(one.literal for one in names.parts) else ""
            return frozenset(one.strip().lower() for one in said.replace("\n", ",").split(","))
    return None


def _skipped_itself(job: Job, *, says: bool) -> Finding:
    place = job.place
    what = "only says that others did well" if says else "asks which of its `needs` failed"
    message = f"`{job.name}` {what}, and is skipped where one of them did not: a required check that is skipped counts as passed"
    fix = "give it `if: always()`, and let it fail unless each result is `success`"
    confidence: Confidence = "medium" if says else "high"
    return Finding(NAME, "warning", message, place.path, place.line, place.column, confidence, (), fix)


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
        if len(one.path) == 1 and not _is_results(one.text.value) and not _is_read_here(one):
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


def _is_read_here(use: Use) -> bool:
    """Whether a script of the step takes all of `needs` apart itself, so that the results it knows stand in it."""
    step = use.step
    script = step.run.text.value if step is not None and step.run is not None else ""
    return "result" in script and _RESULT.search(script) is not None


def _hidden(graph: Graph, workflow: Workflow, job: Job, allowed: frozenset[str] | None) -> tuple[Job, Job] | None:
    """A job whose failure it sees only as the skip of one that it needs (of those that may be skipped); and that one."""
    needed = {one.value.lower() for one in job.needs}
    ancestors = graph.ancestors(workflow.path, job)
    near = [one for one in ancestors if one.name.lower() in needed and is_implicit(one.condition)]
    for one in near:
        if allowed is not None and one.name.lower() not in allowed:
            continue
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
