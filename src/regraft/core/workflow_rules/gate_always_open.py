"""A job or step whose `if` asks something and is true whatever event, caller or input comes."""

from collections.abc import Iterator

from regraft.core.expression_tree import Call, Compare, Constant, Context, Expression, parts
from regraft.core.findings import Finding, Severity
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_judge import constant
from regraft.core.workflow_rule import Rule

NAME = "gate-always-open"

_STATUS = frozenset({"always", "success", "failure", "cancelled"})


def find(graph: Graph) -> Iterator[Finding]:
    for site in graph.sites():
        condition = site.condition
        if condition is None or condition.expression is None or not _asks(condition.expression):
            continue
        judged = constant(graph, site)
        if judged.value is not True:
            continue
        place = condition.text.place
        severity: Severity = "warning" if _is_suspect(condition.expression) else "note"
        message = "this `if` is true in every way in which the file is started: it keeps nothing out"
        fix = "compare with what can really come (a text is true unless it is empty), or take the condition out"
        yield Finding(NAME, severity, message, place.path, place.line, place.column, "high", judged.witnesses, fix)


def _asks(tree: Expression) -> bool:
    """Whether it holds more than constants and the status of what ran before: somebody meant it to keep something out."""
    if isinstance(tree, Context):
        return True
    if isinstance(tree, Constant) or (isinstance(tree, Call) and tree.function in _STATUS):
        return False
    return any(_asks(one) for one in parts(tree))


def _is_suspect(tree: Expression) -> bool:
    """Whether it looks at what a run brings, or takes an input for true or false. To compare an input is a file's own
    generality: its callers of today need not be all.
    """
    if isinstance(tree, Context):
        return tree.name in ("inputs", "needs", "env", "steps")
    return any(_is_suspect(one) for one in parts(tree) if not (isinstance(tree, Compare | Call) and _only_inputs(one)))


def _only_inputs(tree: Expression) -> bool:
    return tree.name == "inputs" if isinstance(tree, Context) else all(map(_only_inputs, parts(tree)))


RULE = Rule(NAME, "a job or step whose `if` is true whatever comes", find)
