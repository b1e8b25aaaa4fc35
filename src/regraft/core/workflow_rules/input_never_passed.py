"""An input of a called workflow that every caller of the repository leaves to its default, so that it is a constant."""

from collections.abc import Iterator

from regraft.core.expression_tree import Call, Compare, Expression, Logic, Not, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.workflow_graph import CALL, Graph, Site
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_judge import constant
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, holds, uses
from regraft.core.workflow_values import Declared

NAME = "input-never-passed"

MOST = 12  # witnesses

_TESTS = frozenset({"contains", "startswith", "endswith", "case"})


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        event = workflow.events.get(CALL)
        callers = graph.callers(workflow.path)
        if event is None or not callers or graph.may_be_called_elsewhere(workflow.path):
            continue
        others = [one for one in workflow.events.values() if one is not event]
        for declared in event.inputs.values():
            if (declared.required and declared.default is None) or any(
                named(one.inputs, declared.name) for one in others
            ):
                continue
            if any(call.job is not None and named(call.job.arguments, declared.name) for call in callers):
                continue
            read = [
                one for one in uses(graph, workflow.path).of("inputs") if one.reads("inputs", declared.name.lower())
            ]
            if read and not any(_is_shut(graph, one) for one in read):
                yield _finding(graph, declared, read)


def _finding(graph: Graph, declared: Declared, read: list[Use]) -> Finding:
    deciding = next((one for one in read if _decides(one)), None)
    severity: Severity = "note" if deciding is None else "warning"
    at = declared.place
    value = declared.default.text.value if declared.default is not None else ""
    line = value.strip().partition("\n")[0][:60]
    is_value = f"it is `{line}` in every run" if line else "it is empty in every run"
    witnesses = []
    for call in graph.callers(at.path)[:MOST]:
        uses_ = call.job.uses if call.job is not None else None
        if call.job is not None and uses_ is not None:
            said = f"the job `{call.job.name}` does not pass `{declared.name}`"
            witnesses.append(Witness(uses_.place.path, uses_.place.line, said))
    if deciding is not None:
        witnesses.append(Witness(at.path, deciding.line, f"`{declared.name}` decides here"))
    message = f"no caller passes `{declared.name}`: {is_value}"
    fix = f"pass `{declared.name}` from a caller, or write the value where it is read"
    return Finding(NAME, severity, message, at.path, at.line, at.column, "medium", tuple(witnesses), fix)


def _is_shut(graph: Graph, use: Use) -> bool:
    """Whether it holds a gate shut for ever, which is said where the gate stands."""
    if use.keys[-1] != "if" or use.job is None:
        return False
    return constant(graph, Site(use.text.place.path, use.job, use.step)).value is False


def _decides(use: Use) -> bool:
    """Whether something else happens by it: an `if`, or a comparison in a value."""
    return use.keys[-1] == "if" or _asks(use.tree, use.node)


def _asks(tree: Expression, node: Expression) -> bool:
    """Whether a comparison or a condition holds it; `x || 'default'` alone is none."""
    if isinstance(tree, Compare | Not) or (isinstance(tree, Call) and tree.function in _TESTS):
        return holds(tree, node)
    if isinstance(tree, Logic) and tree.operator == "&&" and any(holds(one, node) for one in tree.items[:-1]):
        return True
    return any(_asks(one, node) for one in parts(tree))


RULE = Rule(NAME, "an input of a called workflow that no caller passes, so that it is a constant", find)
