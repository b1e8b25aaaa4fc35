"""Which constants each name in an expression may be compared with, through everything that the names stand for."""

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from regraft.core.expression_classes import Mark, mark
from regraft.core.expression_evaluate import evaluate
from regraft.core.expression_functions import STATUS
from regraft.core.expression_known import Defined, Exactly, Fields, Known, Names, OneOf, Path
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Constant, Context, Every, Expression, Key, Logic, parts
from regraft.core.expression_value import Array, Value, folded
from regraft.core.expression_written import written
from regraft.core.once import once

Variable = tuple[Names, str]
"""One thing that can have many values: a name at a place, or an expression there, by its text."""

DEEPEST = 80


@once
def path_of(tree: Expression) -> Path | None:
    """`needs.a.outputs['b']` as ("needs", "a", "outputs", "b"), `success()` as ("success()",); None for what is no name."""
    if isinstance(tree, Call):
        return (f"{tree.function}()",) if tree.function in STATUS and not tree.arguments else None
    names: list[str] = []
    while isinstance(tree, Key):
        if not isinstance(tree.index, Constant) or not isinstance(tree.index.value, str):
            return None
        names.append(tree.index.value)
        tree = tree.item
    return (tree.name, *reversed(names)) if isinstance(tree, Context) else None


@lru_cache(4096)
def text_of_path(path: Path) -> str:
    """A name as an expression: `needs.a.outputs['b c']`."""
    tree: Expression = Context(path[0])
    for name in path[1:]:
        tree = Key(tree, Constant(name))
    return written(tree)


def variable(names: Names, path: Path) -> Variable:
    """Names are the same in any case; the texts in other expressions (`hashFiles('A')`) are not."""
    return names, folded(text_of_path(path))


def results(tree: Expression, names: Names, known: Callable[[Path, Names], Known]) -> tuple[Path, ...] | None:
    """Of `needs.*.result` the result of each job, where all are known. (An output that is empty is not there at all.)"""
    match tree:
        case Key(item=Every(item=item), index=Constant(value=str(last))) if last.lower() == "result":
            path = path_of(item)
            fields = None if path is None else known(path, names)
            if path is not None and isinstance(fields, Fields):
                return tuple((*path, key, "result") for key in fields.keys)
    return None


class _Flow(Struct, frozen=True):
    """What a value can come from: variables whose value it is, and constants."""

    variables: frozenset[Variable] = frozenset()
    marks: frozenset[Mark] = frozenset()


_NOTHING = _Flow()


class Cone:
    """`known`: asks for a name, and remembers the answer."""

    def __init__(self, known: Callable[[Path, Names], Known]) -> None:
        self._known = known
        self._seen: dict[Variable, _Flow] = {}
        self._marks: dict[Variable, set[Mark]] = {}
        self._depth = 0

    def add(self, tree: Expression, names: Names) -> None:
        """Walk an expression, and whatever its names stand for."""
        self._flow(tree, names, wanted=False)

    def marks(self, of: Variable) -> frozenset[Mark]:
        """The constants that it is compared with somewhere in what was walked."""
        return frozenset(self._marks.get(of, ()))

    def _flow(self, tree: Expression, names: Names, *, wanted: bool = True) -> _Flow:
        """`wanted`: somebody compares the value."""
        self._depth += 1
        try:
            return _NOTHING if self._depth > DEEPEST else self._walked(tree, names, wanted=wanted)
        finally:
            self._depth -= 1

    def _walked(self, tree: Expression, names: Names, *, wanted: bool) -> _Flow:
        match tree:
            case Constant(value=value):
                return _Flow(marks=_marks(value)) if wanted else _NOTHING
            case Context() | Key() | Call(function="always" | "success" | "failure" | "cancelled", arguments=()):
                path = path_of(tree)
                if path is not None:
                    return self._name(path, names)
            case Logic(items=items):
                return _together([self._flow(item, names, wanted=wanted) for item in items])
            case Compare(left=left, right=right):
                self._meet(self._flow(left, names), self._flow(right, names))
                return self._own(tree, names) if wanted else _NOTHING
            case Call(function="case", arguments=arguments):
                flows = [self._flow(one, names, wanted=wanted) for one in arguments]
                return _together([*flows[1::2], flows[-1]])
            case Call(function="contains", arguments=(where, what)):
                self._meet(self._flow(what, names), self._listed(where, names))
        for part in parts(tree):
            self._flow(part, names, wanted=False)
        return self._own(tree, names) if wanted else _NOTHING

    def _own(self, tree: Expression, names: Names) -> _Flow:
        return _Flow(frozenset({(names, written(tree))}))

    def _listed(self, tree: Expression, names: Names) -> _Flow:
        """The items of an array: of `fromJSON('["a", "b"]')`, which needs nothing but itself, or of `needs.*.result`."""
        paths = results(tree, names, self._known)
        if paths is not None:
            return _together([self._name(path, names) for path in paths])
        if not isinstance(tree, Call):
            return _NOTHING
        try:
            value = evaluate(tree, {})
        except ExpressionError:
            return _NOTHING
        items = value.items if isinstance(value, Array) else ()
        return _Flow(marks=frozenset().union(*map(_marks, items)))

    def _name(self, path: Path, names: Names) -> _Flow:
        own = variable(names, path)
        if own in self._seen:
            return self._seen[own]
        alone = self._seen[own] = _Flow(frozenset({own}))
        match self._known(path, names):
            case Exactly(value=value):
                found = _Flow(marks=_marks(value))
            case OneOf(values=values):
                found = _Flow(alone.variables, frozenset().union(*map(_marks, values)))
            case Defined(tree=inner, names=there):
                found = self._flow(inner, there)
            case _:
                found = alone
        self._seen[own] = found
        return found

    def _meet(self, left: _Flow, right: _Flow) -> None:
        for flow, other in ((left, right), (right, left)):
            for one in flow.variables:
                self._marks.setdefault(one, set()).update(other.marks)


def _together(flows: list[_Flow]) -> _Flow:
    return _Flow(frozenset().union(*(one.variables for one in flows)), frozenset().union(*(one.marks for one in flows)))


def _marks(value: Value) -> frozenset[Mark]:
    found = mark(value)
    return frozenset() if found is None else frozenset({found})
