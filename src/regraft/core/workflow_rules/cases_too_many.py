"""A condition, or a whole file, about which nothing is known since there are too many cases: silence there is no answer."""

from collections.abc import Iterator

from regraft.core.expression_cases import MOST_CASES
from regraft.core.findings import Finding
from regraft.core.workflow_glance import is_worn_out
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_judge import constant
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Place

NAME = "cases-too-many"


def find(graph: Graph) -> Iterator[Finding]:
    if is_worn_out(graph):
        message = "the workflows have too many cases all together: many of their conditions are not judged"
        yield _note(
            Place(next(iter(graph.repository.workflows)), 1), message, "ask fewer jobs for each other's results"
        )
        return
    crowded: set[str] = set()
    for site in graph.sites():
        condition = site.condition
        if condition is None or site.path in crowded:
            continue
        if graph.is_crowded(site.path):
            crowded.add(site.path)
            message = "this file has too many jobs, or is started in too many ways: none of its conditions is judged"
            yield _note(Place(site.path, 1), message, "call it from fewer places, or divide it")
        elif constant(graph, site).too_many:
            message = f"this `if` has more than {MOST_CASES:,} cases: whether it is always the same is not known"
            yield _note(condition.text.place, message, "compare each input by itself")


def _note(place: Place, message: str, fix: str) -> Finding:
    return Finding(NAME, "note", message, place.path, place.line, place.column, fix=fix)


RULE = Rule(NAME, "a condition that has too many cases to be judged", find)
