"""An output of a job, a called workflow, an action or a step that nothing reads."""

from collections.abc import Iterator

from regraft.core.findings import Finding, Severity
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_outputs import written
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Uses, files, uses
from regraft.core.workflow_values import Action, Job, Place, Step, Workflow

NAME = "output-unread"


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        read = uses(graph, file.path)
        if read.unread is not None:
            continue
        if isinstance(file, Action):
            yield from _of_steps(graph, file, None, file.steps, read)
            yield from _declared(graph, file)
            continue
        for job in file.jobs.values():
            yield from _of_job(job, read)
            yield from _of_steps(graph, file, job, job.steps, read)
        yield from _declared(graph, file)


def _of_job(job: Job, read: Uses) -> Iterator[Finding]:
    data = job.data.get("outputs")
    for name, value in job.outputs.items():
        lower = job.name.lower(), "outputs", name.lower()
        if read.read("needs", *lower) is None and read.read("jobs", *lower) is None:
            place = data.keys[name].place if data is not None and name in data.keys else value.text.place
            message = f"the output `{name}` of the job `{job.name}` is read nowhere"
            yield _finding("warning", message, place, "read it where it was meant to decide, or take it out")


def _of_steps(
    graph: Graph, file: Workflow | Action, job: Job | None, steps: tuple[Step, ...], read: Uses
) -> Iterator[Finding]:
    for step in steps:
        if step.id is None or step.run is None or "output" not in step.run.text.value.lower():
            continue
        found = written(graph, file.path, job, step)
        left = {name: line for name, line in found.sure.items() if not _is_read(read, job, step.id.lower(), name)}
        for name, line in left.items():
            message = f"the output `{name}` of the step `{step.id}` is read nowhere"
            yield _finding("note", message, Place(file.path, line), "read it, or do not write it")


def _is_read(read: Uses, job: Job | None, step: str, name: str) -> bool:
    return any(one.reads("steps", step, "outputs", name) and one.job is job for one in read.of("steps"))


def _declared(graph: Graph, file: Workflow | Action) -> Iterator[Finding]:
    """Of a called workflow or an action, where everybody who calls it is known."""
    event = file.events.get(CALL) if isinstance(file, Workflow) else None
    outputs = file.outputs if isinstance(file, Action) else event.outputs if event is not None else {}
    callers = graph.callers(file.path)
    if not outputs or not callers or graph.may_be_called_elsewhere(file.path):
        return
    for one in outputs.values():
        if not any(_reads(graph, call.path, call.job, call.step, one.name.lower()) for call in callers):
            message = f"no caller reads the output `{one.name}` of {file.path}"
            yield _finding("note", message, one.place, "read it in a caller, or take it out")


def _reads(graph: Graph, path: str, job: Job | None, step: Step | None, name: str) -> bool:
    read = uses(graph, path)
    if read.unread is not None:
        return True
    if step is not None:
        return step.id is not None and _is_read(read, job, step.id.lower(), name)
    lower = job.name.lower() if job is not None else ""
    return any(read.read(context, lower, "outputs", name) is not None for context in ("needs", "jobs"))


def _finding(severity: Severity, message: str, at: Place, fix: str) -> Finding:
    return Finding(NAME, severity, message, at.path, at.line, at.column, fix=fix)


RULE = Rule(NAME, "an output that nothing reads", find)
