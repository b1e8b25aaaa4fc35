"""A step that asks for the failure of an earlier one and no status, so that GitHub's implied `success()` never lets it run then."""

from collections.abc import Iterator, Sequence

from regraft.core.expression_tree import Expression, Not
from regraft.core.findings import Finding, Witness
from regraft.core.workflow_conditions import is_implicit
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_judge import constant, holds
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_trees import both, either, equals, reference
from regraft.core.workflow_uses import references
from regraft.core.workflow_values import Step

NAME = "step-after-failure"

_ENDS = ("outcome", "conclusion")


def find(graph: Graph) -> Iterator[Finding]:
    for site in graph.sites():
        condition = site.condition
        if site.step is None or condition is None or condition.expression is None or not is_implicit(condition):
            continue
        asked = _asked(graph, site, condition.expression)
        if not asked or constant(graph, site).value is not None:
            continue
        if holds(graph, site, both(condition.expression, *map(_did_well, asked))).value is not False:
            continue
        place = condition.text.place
        message = (
            "this step never runs: it asks for a step that did not do well, and where one did not, GitHub's implied "
            "`success()` skips it"
        )
        witnesses = tuple(Witness(one.place.path, one.place.line, f"the step `{one.id}`") for one in asked)
        fix = "begin the condition with `!cancelled() &&`, or `failure() &&`"
        yield Finding(NAME, "error", message, place.path, place.line, place.column, "high", witnesses, fix)


def _asked(graph: Graph, site: Site, tree: Expression) -> list[Step]:
    """The steps whose end it asks for."""
    paths = [tuple(one.lower() for one in path) for _, path, _ in references(tree)]
    names = {path[1] for path in paths if len(path) == 3 and path[0] == "steps" and path[2] in _ENDS}
    return [one for one in _steps(graph, site) if one.id is not None and one.id.lower() in names]


def _steps(graph: Graph, site: Site) -> Sequence[Step]:
    if site.job is not None:
        return site.job.steps
    return next((one.steps for one in graph.repository.actions.values() if one.path == site.path), ())


def _did_well(step: Step) -> Expression:
    """As it is where `success()` holds: only a step with `continue-on-error` can have failed, and one with an `if` been skipped."""
    assert step.id is not None
    may_fail = step.continue_on_error is not None and step.continue_on_error.text.value.strip().lower() != "false"
    ends = _ENDS[1:] if may_fail else _ENDS
    wrong = ("failure", "cancelled", "skipped") if step.condition is None else ("failure", "cancelled")
    return Not(either(*(equals(reference("steps", step.id, end), one) for end in ends for one in wrong)))


RULE = Rule(NAME, "a step that asks for the failure of another and is skipped by it", find)
