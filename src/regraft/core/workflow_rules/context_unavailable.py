"""An expression that uses a context or a function where there is none, so that GitHub refuses the whole file.

https://docs.github.com/actions/reference/workflows-and-actions/contexts#context-availability
"""

from collections.abc import Iterator

from regraft.core.expression_allowed import ACTION, CONTEXTS, WORKFLOW, Allowed, allowed, not_allowed
from regraft.core.expression_tree import Call, Context, Expression
from regraft.core.findings import Finding
from regraft.core.spelling import nearest
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Written, files, place_in, uses
from regraft.core.workflow_values import Place, Workflow

NAME = "context-unavailable"


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        table = WORKFLOW if isinstance(file, Workflow) else ACTION
        for one in uses(graph, file.path).expressions:
            here = allowed(one.keys, table)
            if here is not None:
                yield from _refused(graph, one, here)
            elif one.keys[-1] == "uses" and one.keys[0] in ("jobs", "runs"):
                message = "GitHub refuses this file: what `uses` names is fixed, and no expression can stand in it"
                fix = "write one step or job for each, with an `if`"
                yield _finding(one.text.place, message, fix)


def _refused(graph: Graph, one: Written, here: Allowed) -> Iterator[Finding]:
    said: set[str] = set()
    for part, words in not_allowed(one.tree, here):
        if words in said:
            continue
        said.add(words)
        yield _finding(place_in(graph, one.text, one.at + part.at), *_told(part, words, one.keys[-1], here))


def _told(part: Expression, words: str, key: str, here: Allowed) -> tuple[str, str]:
    """(a message, what to do)."""
    if isinstance(part, Call):
        message = f"GitHub refuses this file: `{key}` cannot use `{part.function}()` like this ({words})"
        return message, "use it in a step" if part.function == "hashfiles" else "ask for it in an `if`"
    assert isinstance(part, Context)
    message = f"GitHub refuses this file: `{key}` cannot use the context `{part.name}` ({words})"
    if part.name in CONTEXTS:
        return message, f"it can use {', '.join(f'`{one}`' for one in sorted(here.contexts))}"
    meant = nearest(part.name, CONTEXTS)
    return message, f"did you mean `{meant}`?" if meant else "there is no such context"


def _finding(place: Place, message: str, fix: str) -> Finding:
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", (), fix)


RULE = Rule(NAME, "an expression that uses a context or a function where GitHub has none", find)
