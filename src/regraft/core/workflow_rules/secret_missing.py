"""`secrets.X` in a called workflow that no caller passes, so that it is empty; a declared secret that nothing reads.

A job with an `environment` has that environment's secrets, which nobody can know here.
"""

from collections.abc import Iterator

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_graph import CALL, DEEPEST, Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, falls_back, place_of, uses
from regraft.core.workflow_values import Event, Workflow

NAME = "secret-missing"

MOST = 12  # witnesses


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        event = workflow.events.get(CALL)
        if event is None:
            continue
        read = uses(graph, workflow.path)
        if graph.callers(workflow.path) and not graph.may_be_called_elsewhere(workflow.path):
            by_name: dict[str, list[Use]] = {}
            for use in read.of("secrets"):
                if len(use.path) > 1 and use.path[1] != "github_token" and not _has_environment(use):
                    by_name.setdefault(use.path[1], []).append(use)
            for name, some in by_name.items():
                declared = named(event.secrets, name)
                if (declared is None or not declared.required) and not _arrives(graph, workflow, name, 0):
                    yield _missing(graph, workflow, event, some)
                elif declared is None and not all(map(falls_back, some)):
                    yield from _not_inherited(graph, workflow, some)
        inherited = any(job.secrets == "inherit" for job in workflow.jobs.values())
        for declared in event.secrets.values():
            if not inherited and read.unread is None and read.read("secrets", declared.name.lower()) is None:
                at = declared.place
                message = f"the secret `{declared.name}` is read nowhere in this workflow"
                yield Finding(NAME, "note", message, at.path, at.line, at.column, fix="take it out, or read it")


def _missing(graph: Graph, workflow: Workflow, event: Event, some: list[Use]) -> Finding:
    name = some[0].names[1]
    optional = named(event.secrets, name) is not None
    others = [one.name for one in workflow.events.values() if one.name != CALL]
    severity: Severity = "error"
    if all(map(falls_back, some)):
        severity = "note"
    elif optional or others:
        severity = "warning"
    at = place_of(graph, some[0])
    when = " when it is called" if others else ""
    message = f"`secrets.{name}` is empty{when}: no caller passes `{name}`, and none inherits it"
    witnesses = [Witness(at.path, one.line, "and here") for one in some[1:4] if one.line != at.line]
    for call in graph.callers(workflow.path)[:MOST]:
        if call.job is not None and call.job.uses is not None:
            place = call.job.uses.place
            witnesses.append(Witness(place.path, place.line, f"the job `{call.job.name}` does not pass `{name}`"))
    declare = "" if optional else f"declare `{name}` under `secrets` of `{CALL}`, and "
    fix = f"{declare}pass it from the caller, or use `secrets: inherit` there"
    return Finding(NAME, severity, message, at.path, at.line, at.column, "high", tuple(witnesses), fix)


def _not_inherited(graph: Graph, workflow: Workflow, some: list[Use]) -> Iterator[Finding]:
    """Of a secret that is not declared, so that only `inherit` brings it: the callers that do not say that."""
    name = some[0].names[1]
    for call in graph.callers(workflow.path):
        job = call.job
        if job is None or job.uses is None or job.secrets == "inherit":
            continue
        at = job.uses.place
        message = (
            f"`secrets.{name}` of {workflow.path} is empty when the job `{job.name}` calls it: other callers inherit it"
        )
        witness = Witness(workflow.path, some[0].line, f"`secrets.{name}` is read here")
        fix = f"write `secrets: inherit` here too, or declare `{name}` under `secrets` of `{CALL}`"
        yield Finding(NAME, "warning", message, at.path, at.line, at.column, "high", (witness,), fix)


def _arrives(graph: Graph, workflow: Workflow, name: str, depth: int) -> bool:
    """Whether a secret may reach a called workflow from any caller."""
    callers = graph.callers(workflow.path)
    if not callers or depth > DEEPEST or graph.may_be_called_elsewhere(workflow.path):
        return True
    for call in callers:
        if call.job is None:
            continue
        if call.job.secrets != "inherit":
            if named(call.job.secrets, name) is not None:
                return True
            continue
        caller = graph.repository.workflows[call.path]
        if set(caller.events) != {CALL} or _arrives(graph, caller, name, depth + 1):
            return True
    return False


def _has_environment(use: Use) -> bool:
    return use.job is not None and use.job.data.get("environment") is not None


RULE = Rule(NAME, "a secret that does not arrive in a called workflow", find)
