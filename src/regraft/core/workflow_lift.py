"""Parts of an expression that mean the same in every job or in every called file, moved to where they are one thing.

`contains(github.event.pull_request.labels.*.name, 'x')` of two jobs is one unknown, and not two.
"""

from typing import cast

from msgspec.structs import replace

from regraft.core.expression_cone import path_of
from regraft.core.expression_functions import STATUS
from regraft.core.expression_known import Defined, Path
from regraft.core.expression_tree import Call, Compare, Constant, Context, Expression, Key, Logic, Not, parts
from regraft.core.expression_written import written
from regraft.core.once import once
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_known import Names
from regraft.core.workflow_trees import reference

ENTRY, FILE, JOB, STEP = range(4)
PLACES = ("#at-entry", "#at-file", "#at-job")

OF_JOB = frozenset(
    {"job", "workflow", "workflow_ref", "workflow_sha", "action", "action_path", "action_ref", "action_status"}
)
_LEVELS = {"vars": ENTRY, "inputs": FILE, "secrets": FILE, "matrix": JOB, "needs": JOB, "strategy": JOB, "runner": JOB}


def lifted(tree: Expression, graph: Graph, above: int = STEP) -> Expression:
    """The same, with each part that means the same in a place wider than `above` named as what stands there."""
    key = ("lifted", id(tree), above)
    known = graph.memo.get(key)
    if known is None:
        known = graph.memo[key] = (tree, _lifted(tree, graph, above))  # with the tree, so that its id stays its own
    return cast("tuple[Expression, Expression]", known)[1]


def _lifted(tree: Expression, graph: Graph, above: int) -> Expression:
    level = _level(tree)
    if level is None:
        return tree
    if level < above:
        key = (PLACES[level], written(tree))
        graph.memo.setdefault(key, tree)
        return reference(*key)
    match tree:
        case Key(item=item, index=index) if path_of(tree) is None:
            return replace(tree, item=lifted(item, graph, above), index=lifted(index, graph, above))
        case Not(item=item):
            return replace(tree, item=lifted(item, graph, above))
        case Compare(left=left, right=right):
            return replace(tree, left=lifted(left, graph, above), right=lifted(right, graph, above))
        case Logic(items=items):
            return replace(tree, items=tuple(lifted(one, graph, above) for one in items))
        case Call(arguments=arguments):
            return replace(tree, arguments=tuple(lifted(one, graph, above) for one in arguments))
    return tree


def moved(names: Names, path: Path) -> Defined:
    """What one of our names for such a part stands for."""
    tree = cast("Expression", names.graph.memo[path])
    level = PLACES.index(path[0])
    scope = names.scope
    there = (names.at(scope.entry), names.flow(), names.at(scope, names.job, None, names.view))[level]
    return Defined(lifted(tree, names.graph, level), there)


@once
def _level(tree: Expression) -> int | None:
    """The widest place that all of it means the same in; None where it has no names."""
    match tree:
        case Constant():
            return None
        case Key(item=Context(name="github"), index=Constant(value=str(key))):
            return STEP if key.lower() in OF_JOB else ENTRY
        case Context(name=name):
            return _LEVELS.get(name, STEP)
        case Call(function=function) if function in STATUS or function == "hashfiles":
            return STEP
    found = [level for level in map(_level, parts(tree)) if level is not None]
    return max(found) if found else None
