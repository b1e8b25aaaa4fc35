"""`fromJSON(inputs.x)` where `x` can be left out: of an empty text it is an error, and the job or the step fails."""

from collections.abc import Iterator

from regraft.core.expression_tree import Call, Compare, Constant, Expression, Logic, Not, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_graph import CALL, Graph, Scope, Site
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_judge import can_run, holds, reaching
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, files, place_of, uses
from regraft.core.workflow_uses import holds as has
from regraft.core.workflow_values import Action, Declared, Event

NAME = "optional-parsed"

DISPATCH = "workflow_dispatch"
MOST = 12  # witnesses


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        if isinstance(file, Action) or graph.is_crowded(file.path):
            continue
        told: set[tuple[str, ...]] = set()
        for context in ("inputs", "github"):
            for use in uses(graph, file.path).of(context):
                key = (use.job.name if use.job else "", *use.path)
                if use.job is None or key in told or not _is_parsed(use) or _is_asked(graph, use):
                    continue
                found = _judged(graph, use)
                if found is not None:
                    told.add(key)
                    yield found


def _is_parsed(use: Use) -> bool:
    if use.path[:-1] not in (("inputs",), ("github", "event", "inputs")):
        return False
    waiting = [use.tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Call) and one.function == "fromjson" and one.arguments[0] is use.node:
            return True
        waiting += parts(one)
    return False


def _is_asked(graph: Graph, use: Use) -> bool:
    """Whether the same expression, or the `if` of its step or job, asks for the input as well."""
    for other in uses(graph, use.text.place.path).of(use.path[0]):
        if other.path != use.path or other.node is use.node:
            continue
        if other.tree is use.tree and not _is_parsed(other):
            return True
        if other.keys[-1] == "if" and other.job is use.job and (other.step is None or other.step is use.step):
            return True
    return False


def _judged(graph: Graph, use: Use) -> Finding | None:
    assert use.job is not None  # the caller has looked
    site = Site(use.text.place.path, use.job, use.step)
    maybe: list[Scope] = []
    for scope in reaching(graph, site.path):
        declared = _declared(graph, scope, use.names[-1])
        if declared is not None and declared.type in ("boolean", "number"):
            continue
        if can_run(graph, site, scope) is False or not _may_be_read(graph, site, scope, use):
            continue
        empty = holds(graph, site, Compare("==", use.node, Constant("")), scope)
        if empty.value is True and _guards(graph, site, scope, use):
            return _finding(graph, use, "error", (*scope.witnesses(), *empty.witnesses))
        if empty.value is None and declared is not None and _can_be_left_out(scope, declared):
            maybe.append(scope)
    return _finding(graph, use, "warning", maybe[0].witnesses()) if maybe else None


def _can_be_left_out(scope: Scope, declared: Declared) -> bool:
    """Whether somebody who starts it by hand, or a caller that nobody knows, can leave the input empty."""
    if scope.caller is not None or declared.required or declared.default is not None or declared.options:
        return False
    return scope.is_open or scope.event.name == DISPATCH


def _declared(graph: Graph, scope: Scope, name: str) -> Declared | None:
    file = graph.repository.workflows.get(scope.path)
    event: Event | None = scope.event
    if scope.caller is not None and file is not None:
        event = file.events.get(CALL)
    return named(event.inputs, name) if event is not None else None


def _around(tree: Expression, node: Expression) -> Iterator[Expression]:
    """What must be true for a part of an expression to be looked at."""
    inner = next((one for one in parts(tree) if has(one, node)), None)
    if inner is None:
        return
    if isinstance(tree, Logic):
        for one in tree.items[: tree.items.index(inner)]:
            yield one if tree.operator == "&&" else Not(one)
    yield from _around(inner, node)


def _may_be_read(graph: Graph, site: Site, scope: Scope, use: Use) -> bool:
    return all(holds(graph, site, one, scope).value is not False for one in _around(use.tree, use.node))


def _guards(graph: Graph, site: Site, scope: Scope, use: Use) -> bool:
    """Whether it is certainly looked at when the place is reached."""
    return all(holds(graph, site, one, scope).value is True for one in _around(use.tree, use.node))


def _finding(graph: Graph, use: Use, severity: Severity, witnesses: tuple[Witness, ...]) -> Finding:
    at = place_of(graph, use)
    when = "is empty" if severity == "error" else "may be left empty"
    message = f"`fromJSON({use.said})` fails where `{use.names[-1]}` {when}, and there is a way to start it so"
    fix = f"write `fromJSON({use.said} || '…')` with what holds then, or give the input a default"
    unique = tuple(dict.fromkeys(witnesses))[:MOST]
    return Finding(NAME, severity, message, at.path, at.line, at.column, "high", unique, fix)


RULE = Rule(NAME, "an input that may be left out and is parsed all the same", find)
