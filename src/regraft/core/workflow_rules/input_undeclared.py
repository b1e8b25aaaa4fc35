"""`inputs.x` or `github.event.inputs.x` where nothing declares `x`, so that it is always empty."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from regraft.core.expression_allowed import ACTION, WORKFLOW, allowed
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.spelling import nearest
from regraft.core.workflow_events import lacks
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, falls_back, files, place_of, uses
from regraft.core.workflow_values import Action, Declared, Workflow

NAME = "input-undeclared"

DISPATCH = "workflow_dispatch"


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        table = ACTION if isinstance(file, Action) else WORKFLOW
        read = [one for one in uses(graph, file.path).all if _is_input(one) and allowed(one.keys, table) is not None]
        own = [one for one in read if one.path[0] == "inputs"]
        known = _declared(graph, file)
        for some in _by_name(own, 1):
            if named(known, some[0].names[1]) is None:
                yield _finding(graph, some, some[0].names[1], known, file)
        typed = [one for one in read if one.path[0] == "github"]
        entered = _typed(graph, file) if typed else None
        for some in _by_name(typed, 3):
            if entered is not None and named(entered, some[0].names[3]) is None:
                yield _finding(graph, some, some[0].names[3], entered, None)


def _is_input(use: Use) -> bool:
    path = use.path
    return (path[0] == "inputs" and len(path) > 1) or (path[:3] == ("github", "event", "inputs") and len(path) > 3)


def _finding(
    graph: Graph, some: Sequence[Use], name: str, known: Mapping[str, Declared], file: Workflow | Action | None
) -> Finding:
    near = nearest(name, known)
    severity: Severity = "error" if near or not all(map(falls_back, some)) else "warning"
    at = place_of(graph, some[0])
    where = (
        f"`{DISPATCH}`" if file is None else f"`{DISPATCH}` or `{CALL}`" if isinstance(file, Workflow) else "`inputs`"
    )
    who = "what starts this file" if file is None else "this action" if isinstance(file, Action) else "this workflow"
    message = f"`{some[0].said}` is always empty: {who} declares no input `{name}`"
    fix = f"did you mean `{near}`?" if near else f"declare `{name}` under {where}, or take it out"
    others = tuple(Witness(at.path, one.line, "and here") for one in some[1:12] if one.line != at.line)
    return Finding(NAME, severity, message, at.path, at.line, at.column, "high", others, fix)


def _by_name(some: Iterable[Use], position: int) -> Iterator[list[Use]]:
    found: dict[str, list[Use]] = {}
    for one in some:
        found.setdefault(one.path[position], []).append(one)
    yield from found.values()


def _declared(graph: Graph, file: Workflow | Action) -> dict[str, Declared]:
    """What may be in `inputs`. An action gets what is passed to it, declared or not; it is only warned of."""
    if isinstance(file, Workflow):
        return {name: one for event in file.events.values() for name, one in event.inputs.items()}
    found = dict(file.inputs)
    for call in graph.callers(file.path):
        for name, value in call.step.arguments.items() if call.step is not None else ():
            found.setdefault(name, Declared(name, value.text.place))
    return found


def _typed(graph: Graph, file: Workflow | Action) -> dict[str, Declared] | None:
    """What somebody can type where a file's run begins; None where that is not known."""
    scopes = graph.scopes(file.path)
    if not scopes or graph.is_crowded(file.path):
        return None
    found: dict[str, Declared] = {}
    for event in {id(one.event): one.event for one in scopes}.values():
        if event.name == DISPATCH:
            found.update(event.inputs)
        elif event.name == CALL or not lacks(event, "inputs"):
            return None
    return found


RULE = Rule(NAME, "an input that is read and that nothing declares, so that it is always empty", find)
