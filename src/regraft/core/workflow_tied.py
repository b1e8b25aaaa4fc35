"""Whether what a condition asks also decides if a job is skipped that its job, or a caller of its file, waits for.

A bypass label that skips `lint` skips the job that waits for it and passes `bypass: ${{ contains(…) }}` on: in the called file
`inputs.bypass` is never true. To see that takes all conditions around the place in full, which is only worth it where they ask
for the same: https://github.com/actions/runner/issues/491
"""

from collections.abc import Iterator

from regraft.core.expression_cone import path_of
from regraft.core.expression_tree import Expression, parts
from regraft.core.once import once
from regraft.core.workflow_conditions import condition_tree
from regraft.core.workflow_graph import Graph, Scope
from regraft.core.workflow_inputs import find
from regraft.core.workflow_trees import tree_of
from regraft.core.workflow_values import Job

MOST = 64  # names that are told apart in one condition

_Names = frozenset[tuple[str, ...]]
_NONE: _Names = frozenset()


def is_tied(graph: Graph, scope: Scope, job: Job | None, tree: Expression) -> bool:
    """`job`: the one whose step asks, None where a job itself asks. A few sets of names are compared, and no case is looked at."""
    decided = _decided(graph, scope)
    if job is not None and scope.step is None:
        decided |= _above(graph, scope, job)
    return bool(decided) and not decided.isdisjoint(_expanded(_asked(tree), scope))


def _decided(graph: Graph, scope: Scope) -> _Names:
    """What decides whether the jobs run that the callers of a file wait for, in the entry's names where it comes from there."""
    if scope.caller is None or scope.job is None:
        return _NONE
    key = ("tied", scope)
    found = graph.memo.get(key)
    if found is None:
        found = _above(graph, scope.caller, scope.job) | _decided(graph, scope.caller)
        graph.memo[key] = found
    assert isinstance(found, frozenset)
    return found


def _above(graph: Graph, scope: Scope, job: Job) -> _Names:
    key = ("tied", scope, job.name)
    found = graph.memo.get(key)
    if found is None:
        above = [one.condition for one in graph.ancestors(scope.path, job) if one.condition is not None]
        found = graph.memo[key] = _expanded(_NONE.union(*(_asked(condition_tree(one)) for one in above)), scope)
    assert isinstance(found, frozenset)
    return found


def _expanded(names: _Names, scope: Scope) -> _Names:
    """The same, with what a caller passes for an input in the place of that."""
    found: set[tuple[str, ...]] = set()
    for one in names:
        found |= _passed(one, scope) if one[0] == "inputs" and scope.caller is not None else _of(one, scope)
        if len(found) > MOST:
            return _NONE
    return frozenset(found)


def _of(name: tuple[str, ...], scope: Scope) -> _Names:
    """What stands for another thing in each file has the file with it."""
    return frozenset({name if name[0] in ("github", "vars") else (*name, str(len(scope.chain())), scope.path)})


def _passed(name: tuple[str, ...], scope: Scope) -> _Names:
    by = scope.step if scope.step is not None else scope.job
    value = find(by.arguments, name[1]) if by is not None and len(name) > 1 else None
    tree = tree_of(value) if value is not None else None
    return _expanded(_asked(tree), scope.caller) if tree is not None and scope.caller is not None else _NONE


@once
def _asked(tree: Expression) -> _Names:
    """The names in an expression, in small letters."""
    return frozenset(_walked(tree))


def _walked(tree: Expression) -> Iterator[tuple[str, ...]]:
    path = path_of(tree)
    if path is None:
        for one in parts(tree):
            yield from _walked(one)
    elif len(path) > 1:
        yield tuple(one.lower() for one in path)
