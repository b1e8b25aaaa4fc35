"""`workflow_run` of a workflow that no file of the repository is named: it starts for nothing, and nobody is told.

https://github.com/magma/magma/issues/14462
"""

from collections.abc import Iterator

from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.spelling import nearest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Event, Place, Text, Workflow
from regraft.core.workflow_yaml import texts

NAME = "workflow-run-unknown"

_OF_GITHUB = regex(r"(?i)pages[ -]build|codeql|dependabot|dependency|copilot|code quality|.*[*?\[\]{}$]")


def find(graph: Graph) -> Iterator[Finding]:
    workflows = graph.repository.workflows
    if any(one.problems for one in workflows.values()):  # one that cannot be read may have the name
        return
    names = {_name(one): one for one in workflows.values()}
    folded = {name.strip().casefold() for name in names}
    for workflow in workflows.values():
        event = workflow.events.get("workflow_run")
        if event is None or event.data is None:
            continue
        asked = texts(event.data.get("workflows"))
        unknown = [
            one for one in asked if one.value.strip().casefold() not in folded and not _OF_GITHUB.match(one.value)
        ]
        for one in unknown:
            yield _finding(event, one, names, alone=len(unknown) == len(asked))


def _name(workflow: Workflow) -> str:
    """What a run of it is called: a file without a name has its path."""
    return workflow.name.text.value if workflow.name is not None and workflow.name.text.value else workflow.path


def _finding(event: Event, one: Text, names: dict[str, Workflow], *, alone: bool) -> Finding:
    """An error where the file never starts by it, and another name was certainly meant."""
    of_file = next((name for name, other in names.items() if other.path.rpartition("/")[2] == one.value), None)
    meant = of_file or nearest(one.value, names)
    place = one.place
    message = f"no workflow here is named `{one.value[:80]}`: no run of it starts this one"
    if of_file is not None:
        message += ", and the name of a file is no name"
    fix = f"write `{meant[:80]}`" if meant else "write the `name` of a workflow, or take it out"
    why = (Witness(names[meant].path, _line(names[meant]), f"this one is named `{meant[:80]}`"),) if meant else ()
    severity: Severity = "error" if meant and alone else "warning"
    confidence: Confidence = "high" if meant else "medium"
    if event.place.line != place.line:
        why = (*why, Witness(event.place.path, event.place.line, "starts this file"))
    return Finding(NAME, severity, message, place.path, place.line, place.column, confidence, why, fix)


def _line(workflow: Workflow) -> int:
    place = workflow.name.text.place if workflow.name is not None else Place(workflow.path, 1)
    return place.line


RULE = Rule(NAME, "`workflow_run` of a workflow that no file of the repository is named", find)
