"""A value of the event that no event which starts the file brings: `github.event.pull_request.head.sha` for a comment.

A checkout of an empty ref takes the default branch: https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#issue_comment
"""

from collections.abc import Iterator

from regraft.core.expression_known import Exactly
from regraft.core.expression_tree import Expression, Logic, parts
from regraft.core.findings import Finding, Severity
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_names import names_at
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, files, holds, place_of, uses

NAME = "event-lacks-value"

_LOOSE = frozenset({"if", "concurrency", "group", "run-name", "name", "description"})  # judged elsewhere, or only shown
_EMPTY = (None, "")


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        for one in uses(graph, file.path).of("github"):
            if _is_of_event(one) and not _is_chosen(one.tree, one.node) and _is_empty(graph, file.path, one):
                yield _finding(graph, file.path, one)


def _is_of_event(use: Use) -> bool:
    if use.whole or (use.path[1:2] == ("event",) and use.path[2:3] in ((), ("inputs",), ("name",))):
        return False
    return use.path[1:2] in (("event",), ("head_ref",), ("base_ref",)) and use.keys[-1] not in _LOOSE


def _is_chosen(tree: Expression, node: Expression) -> bool:
    """Whether it stands in an `&&` or `||`, which asks for it where it is or takes something else."""
    if isinstance(tree, Logic) and holds(tree, node):
        return True
    return any(_is_chosen(one, node) for one in parts(tree))


def _is_empty(graph: Graph, path: str, use: Use) -> bool:
    scopes = graph.scopes(path)
    if not scopes or graph.is_crowded(path) or graph.may_be_called_elsewhere(path):
        return False
    for scope in scopes:
        names = names_at(graph, scope, use.job if scope.step is None else scope.job, use.step)
        known = names.known(use.path)
        if scope.entry.is_open or not isinstance(known, Exactly) or known.value not in _EMPTY:
            return False
    return True


def _finding(graph: Graph, path: str, use: Use) -> Finding:
    place = place_of(graph, use)
    events = sorted({one.event.name for one in graph.scopes(path)})
    is_checkout = (
        use.step is not None and use.step.uses is not None and use.step.uses.value.startswith("actions/checkout@")
    )
    message = f"`{use.said}` is always empty: {' and '.join(f'`{one}`' for one in events)} {'has' if len(events) == 1 else 'have'} none"
    if is_checkout and use.keys[-1] == "ref":
        message += ", and the checkout takes the default branch"
    severity: Severity = "error" if is_checkout and use.keys[-1] == "ref" else "warning"
    fix = "take what the event has, or start the file on an event that has it"
    witnesses = graph.scopes(path)[0].witnesses()
    return Finding(NAME, severity, message, place.path, place.line, place.column, "high", witnesses, fix)


RULE = Rule(NAME, "a value of the event that no event which starts the file brings", find)
