"""A part of a condition that is the same whatever comes: an event that does not start the file, a default nobody changes."""

from collections.abc import Iterator

from regraft.core.expression_tree import Context, Expression, Logic, parts
from regraft.core.expression_written import written
from regraft.core.findings import Finding, Severity
from regraft.core.workflow_conditions import place_in
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_judge import at_a_glance, constant, holds, is_tied_anywhere
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Condition

NAME = "condition-part-dead"
SHOWN = 100  # characters of an expression


def find(graph: Graph) -> Iterator[Finding]:
    for site in graph.sites():
        condition = site.condition
        if condition is None or not isinstance(condition.expression, Logic):
            continue
        if constant(graph, site).value is None:
            yield from _dead(graph, site, condition, condition.expression)


def _dead(graph: Graph, site: Site, condition: Condition, tree: Expression) -> Iterator[Finding]:
    """An alternative that is never true, or a demand that is never false; what is nested is looked into."""
    if not isinstance(tree, Logic):
        return
    for part in tree.items:
        if not _asks(part):
            continue
        useless = tree.operator == "&&"
        if not _may_be(graph, site, part, useless=useless) or (judged := holds(graph, site, part)).value is not useless:
            yield from _dead(graph, site, condition, part)
            continue
        place = place_in(condition, part.at)
        text = written(part)
        text = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        message = (
            f"`{text}` is true in every way in which the file is started: it keeps nothing out"
            if useless
            else f"`{text}` is never true, in any way in which the file is started: this alternative opens nothing"
        )
        severity: Severity = "note" if useless or _only_event(part) else "warning"
        fix = "take the part out, or let an event or a caller bring what it asks for"
        yield Finding(NAME, severity, message, place.path, place.line, place.column, "high", judged.witnesses, fix)


def _may_be(graph: Graph, site: Site, part: Expression, *, useless: bool) -> bool:
    """Whether all cases are worth a look: where it can be seen at once, or a job further up asks for the same."""
    return at_a_glance(graph, site, part) is useless or (not useless and is_tied_anywhere(graph, site, part))


def _asks(tree: Expression) -> bool:
    """Whether it holds more than constants and the status of what ran before."""
    return isinstance(tree, Context) or any(map(_asks, parts(tree)))


def _only_event(tree: Expression) -> bool:
    """Whether it asks for nothing but `github`: shared conditions are copied to files that not every event starts."""
    if isinstance(tree, Context):
        return tree.name == "github"
    return all(map(_only_event, parts(tree)))


RULE = Rule(NAME, "a part of a condition that can never be true, or never false", find)
