"""A text that says `false` and is asked for its truth, which it has: https://github.com/actions/runner/issues/1483

Inputs of actions, `github.event.inputs` and all outputs are texts, whatever type is declared. `inputs` of a workflow are not:
compared with a text such as `'true'`, a boolean never equals it (https://github.com/actions/runner/issues/2238).
"""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.expression_cone import path_of
from regraft.core.expression_tree import Compare, Constant, Expression, Logic, Not, parts
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, files, place_of, uses
from regraft.core.workflow_values import Action, Declared, Job, Place, Step, Workflow
from regraft.core.workflow_yaml import text

NAME = "text-as-boolean"

DISPATCH = "workflow_dispatch"

_WORDS = frozenset({"true", "false"})


class _Why(Struct, frozen=True):
    """Where it says that it is a flag. `sure`: a `false` really comes."""

    place: Place
    said: str
    sure: bool


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        for use in uses(graph, file.path).all:
            if use.whole or use.path[0] not in ("inputs", "github", "steps", "needs"):
                continue
            asked = _asked(use.tree, use.node, truth=use.keys[-1] == "if")
            if asked is None or _is_compared(use):
                continue
            if asked == "text":
                yield from _boolean(graph, file, use)
                continue
            why = _flag(graph, file, use)
            if why is not None:
                yield _finding(graph, use, why, compared=asked == "boolean")


def _finding(graph: Graph, use: Use, why: _Why, *, compared: bool) -> Finding:
    at = place_of(graph, use)
    severity: Severity = "error" if why.sure or compared else "warning"
    said = use.said[:100]
    message = f"`{said}` is a text, and the text `false` is true: what it asks is always so"
    if compared:
        message = f"`{said}` is a text, which never equals `true` or `false` without quotes"
    witness = Witness(why.place.path, why.place.line, why.said)
    fix = f"write `{said} == 'true'`"
    return Finding(NAME, severity, message, at.path, at.line, at.column, "high", (witness,), fix)


def _boolean(graph: Graph, file: Workflow | Action, use: Use) -> Iterator[Finding]:
    """A boolean input that a value compares with a text. In an `if` it is a gate, of which other rules speak."""
    if isinstance(file, Action) or use.path[0] != "inputs" or len(use.path) != 2 or use.keys[-1] == "if":
        return
    found = [one for event in file.events.values() if (one := named(event.inputs, use.path[1])) is not None]
    if found and all(one.type == "boolean" for one in found):
        at, name = place_of(graph, use), use.names[1]
        message = f"`{use.said}` is a boolean, which never equals the text `'true'` or `'false'`"
        witness = Witness(file.path, found[0].place.line, f"`{name}` is declared as a boolean")
        yield Finding(NAME, "error", message, at.path, at.line, at.column, "high", (witness,), f"write `{use.said}`")


def _asked(tree: Expression, node: Expression, *, truth: bool) -> str | None:
    """`truth` where a part is asked whether it is true, `boolean` or `text` where it is compared with one; else None."""
    if tree is node:
        return "truth" if truth else None
    match tree:
        case Not(item=item):
            return _asked(item, node, truth=True)
        case Logic(operator=operator, items=items):
            for at, one in enumerate(items):
                found = _asked(one, node, truth=truth or (operator == "&&" and at < len(items) - 1))
                if found is not None:
                    return found
            return None
        case Compare(operator="==" | "!=", left=left, right=right):
            for one, other in ((left, right), (right, left)):
                if one is node and isinstance(other, Constant):
                    return "boolean" if isinstance(other.value, bool) else "text" if other.value in _WORDS else None
            return None
    found_in = (_asked(one, node, truth=False) for one in parts(tree))
    return next((one for one in found_in if one is not None), None)


def _is_compared(use: Use) -> bool:
    """Whether the same name is compared with something else in the same expression."""
    waiting = [use.tree]
    while waiting:
        one = waiting.pop()
        waiting += parts(one)
        if isinstance(one, Compare) and use.node not in (one.left, one.right):
            for side in (one.left, one.right):
                path = path_of(side)
                if path is not None and tuple(name.lower() for name in path) == use.path:
                    return True
    return False


def _flag(graph: Graph, file: Workflow | Action, use: Use) -> _Why | None:
    """Why a text is meant to say true or false."""
    if use.path[:3] == ("github", "event", "inputs") and len(use.path) == 4:
        for event in (scope.event for scope in graph.scopes(file.path)):
            declared = named(event.inputs, use.path[3]) if event.name == DISPATCH else None
            if declared is not None and declared.type == "boolean":
                return _Why(
                    declared.place, f"`{declared.name}` is declared as a boolean, and comes as a text", sure=True
                )
            if declared is not None and (why := _of_text(declared)) is not None:
                return why
    if use.path[0] == "inputs" and isinstance(file, Workflow) and len(use.path) == 2:
        found = [one for event in file.events.values() if (one := named(event.inputs, use.path[1])) is not None]
        return next((why for one in found if (why := _of_text(one)) is not None), None)
    if use.path[0] == "inputs" and isinstance(file, Action) and len(use.path) == 2:
        return _of_action(graph, file, use.path[1])
    if use.path[2:3] == ("outputs",) and len(use.path) == 4:
        if use.path[0] == "steps":
            return _written(
                file.steps if isinstance(file, Action) else use.job.steps if use.job else (), *use.path[1::2]
            )
        job = named(file.jobs, use.path[1]) if isinstance(file, Workflow) else None
        return _of_job(job, use.path[3]) if job is not None else None
    return None


def _of_text(declared: Declared) -> _Why | None:
    """An input that is a text, and whose default says true or false."""
    default = declared.default.text.value.strip().lower() if declared.default is not None else None
    if declared.type not in (None, "string") or default not in _WORDS:
        return None
    return _Why(declared.place, f"`{declared.name}` is a text, and `{default}` by default", sure=default == "false")


def _of_action(graph: Graph, action: Action, name: str) -> _Why | None:
    declared = named(action.inputs, name)
    if declared is None:
        return None
    for call in graph.callers(action.path):
        value = named(call.step.arguments, name) if call.step is not None else None
        if value is not None and value.text.value.strip().lower() == "false":
            return _Why(value.text.place, f"passes the text `false` as `{declared.name}`", sure=True)
    default = declared.default.text if declared.default is not None else None
    if default is not None and default.value.strip().lower() in _WORDS:
        sure = default.value.strip().lower() == "false"
        return _Why(default.place, f"`{declared.name}` is the text `{default.value.strip()}` by default", sure=sure)
    kind = text(action.data.get("inputs", declared.name, "type"))
    if kind is not None and kind.value == "boolean":
        return _Why(kind.place, "inputs of actions have no type: this is a text", sure=False)
    return None


def _of_job(job: Job, output: str) -> _Why | None:
    value = named(job.outputs, output)
    if value is None or len(value.parts) != 1 or value.parts[0].expression is None:
        return None
    path = path_of(value.parts[0].expression)
    if path is None or len(path) != 4 or path[0] != "steps":
        return None
    return _written(job.steps, path[1].lower(), path[3].lower())


def _written(steps: tuple[Step, ...], name: str, output: str) -> _Why | None:
    """The line that writes `output=false`."""
    step = next((one for one in steps if one.id is not None and one.id.lower() == name), None)
    if step is None or step.run is None or "GITHUB_OUTPUT" not in step.run.text.value:
        return None
    body = step.run.text
    for line in _FALSE.finditer(body.value):
        if line[1].lower() == output:
            return _Why(
                Place(body.place.path, body.line(line.start())), f"writes the text `false` as `{line[1]}`", sure=True
            )
    return None


_FALSE = regex(r"\becho\s+[\"']?([A-Za-z_][\w-]*)=(?i:false)\b")

RULE = Rule(NAME, "a text that says false and is taken for true", find)
