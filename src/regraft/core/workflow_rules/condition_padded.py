"""An `if` with text around its `${{ }}`: GitHub takes the whole as a text that is not empty, which is always true.

https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

from collections.abc import Iterator

from regraft.core.findings import Finding
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule

NAME = "condition-padded"


def find(graph: Graph) -> Iterator[Finding]:
    for site in graph.sites():
        condition = site.condition
        if condition is None or not condition.padded:
            continue
        place = condition.text.place
        message = "this `if` has text around `${{ }}`: the whole is a text that is not empty, and so it is always true"
        fix = "put all of it into one `${{ }}`, or leave the braces out"
        yield Finding(NAME, "error", message, place.path, place.line, place.column, fix=fix)


RULE = Rule(NAME, "an `if` with text around `${{ }}`, which is always true", find)
