"""A job or step whose `if` is false whatever event, caller or input comes: https://github.com/radixark/miles/pull/2674"""

from collections.abc import Iterator

from regraft.core.expression_tree import Constant, Context, Expression, Logic, parts
from regraft.core.findings import Finding, Severity
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_judge import constant
from regraft.core.workflow_rule import Rule

NAME = "gate-never-opens"


def find(graph: Graph) -> Iterator[Finding]:
    for site in graph.sites():
        condition = site.condition
        if condition is None or condition.expression is None:
            continue
        judged = constant(graph, site)
        if judged.value is not False:
            continue
        what = "this step" if site.step is not None else f"the job `{site.job.name if site.job else ''}`"
        place = condition.text.place
        if _is_written(condition.expression):
            message = f"{what} is switched off: its condition is written as false"
            yield Finding(NAME, "note", message, place.path, place.line, place.column)
            continue
        ways = len(judged.scopes)
        message = f"{what} never runs: its condition is false in {f'each of the {ways} ways' if ways > 1 else 'the one way'} in which this file is started"
        fix = "pass what opens it from a caller or an event, or take the gate out"
        severity: Severity = "warning" if _contexts(condition.expression) == {"matrix"} else "error"
        yield Finding(NAME, severity, message, place.path, place.line, place.column, "high", judged.witnesses, fix)


def _contexts(tree: Expression) -> set[str]:
    """A matrix stands in the same file, and is often cut down to what is wanted now."""
    return {tree.name} if isinstance(tree, Context) else set[str]().union(*map(_contexts, parts(tree)))


def _is_written(tree: Expression) -> bool:
    """Whether it holds nothing but constants, or `false &&` in front of what it was: somebody meant it."""
    if isinstance(tree, Logic) and tree.operator == "&&" and any(map(_is_off, tree.items)):
        return True
    return isinstance(tree, Constant) or (bool(parts(tree)) and all(_is_written(one) for one in parts(tree)))


def _is_off(tree: Expression) -> bool:
    return isinstance(tree, Constant) and not tree.value


RULE = Rule(NAME, "a job or step whose `if` no event, caller or input can make true", find)
