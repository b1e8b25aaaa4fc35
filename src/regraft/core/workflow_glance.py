"""What an expression comes to at a glance: each name for itself, without going through cases. Quick, and never wrong."""

from collections.abc import Sequence
from itertools import product

from regraft.core.expression_cases import Decision, decide
from regraft.core.expression_cone import path_of
from regraft.core.expression_evaluate import compare
from regraft.core.expression_functions import PURE
from regraft.core.expression_known import Defined, Exactly, Known, OneOf, Path
from regraft.core.expression_known import Names as AnyNames
from regraft.core.expression_models import is_open
from regraft.core.expression_search import Memo
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Constant, Expression, Logic, Not
from regraft.core.expression_value import Value, truthy
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_known import Names
from regraft.core.workflow_lift import lifted

MOST = 8  # values of one expression that are told apart
DEEPEST = 60
STEPS = 300_000  # expressions looked at in one repository, some three seconds,
STEPS_A_FILE = 10_000  # and so many more for each workflow: one of three hundred lines takes less than half of them

Values = tuple[Value, ...] | None
"""All that it can be; None where that is not known."""


def is_worn_out(graph: Graph) -> bool:
    """Whether so much was decided in this graph that nothing more is: `decide_at` finds too many cases then."""
    return _memo(graph).steps < 0


def _memo(graph: Graph) -> Memo:
    memo = graph.memo.get("decisions")
    if memo is None:
        memo = graph.memo["decisions"] = Memo(STEPS + STEPS_A_FILE * len(graph.repository.workflows))
    assert isinstance(memo, Memo)
    return memo


def decide_at(tree: Expression, names: Names) -> Decision:
    """`decide`, with one memory for a graph, and with what is the same in several places as one thing."""
    return decide(lifted(tree, names.graph), names, _memo(names.graph))


def is_open_at(tree: Expression, given: Expression, names: Names) -> bool:
    """`is_open`, likewise."""
    return is_open(lifted(tree, names.graph), lifted(given, names.graph), names, _memo(names.graph))


def glance(tree: Expression, names: Names) -> bool | None:
    """True or False where that can be seen at once, in every case; else None."""
    return _Glance(names.graph.memo).truth(lifted(tree, names.graph), names)


def values_at_a_glance(tree: Expression, names: Names) -> Values:
    """Its values, where they are few and can be seen at once; else None."""
    return _Glance(names.graph.memo).values(tree, names)


class _Glance:
    def __init__(self, memo: dict[object, object]) -> None:
        self._memo = memo
        self._depth = 0

    def truth(self, tree: Expression, names: AnyNames) -> bool | None:
        match tree:
            case Not(item=item):
                found = self.truth(item, names)
                return None if found is None else not found
            case Logic(operator=operator, items=items):
                until = operator == "||"
                truths = [self.truth(one, names) for one in items]
                if until in truths:
                    return until
                return None if None in truths else not until
        path = path_of(tree)
        if path is not None:
            return self._named(path, names)[1]
        return _truth_of(self.values(tree, names))

    def values(self, tree: Expression, names: AnyNames) -> Values:
        match tree:
            case Constant(value=value):
                return (value,)
            case Not():
                found = self.truth(tree, names)
                return None if found is None else (found,)
            case Logic(operator=operator, items=items):
                return self._chosen(items, names, until=operator == "||")
            case Compare(operator=operator, left=left, right=right):
                one, two = self.values(left, names), self.values(right, names)
                if one is None or two is None:
                    return None
                return tuple({compare(operator, a, b) for a, b in product(one, two)})
        path = path_of(tree)
        if path is not None:
            return self._named(path, names)[0]
        return self._called(tree, names) if isinstance(tree, Call) else None

    def _chosen(self, items: Sequence[Expression], names: AnyNames, *, until: bool) -> Values:
        """The value of the first item that decides, of those that can."""
        found: list[Value] = []
        for one in items:
            truth = self.truth(one, names)
            if truth is (not until) and one is not items[-1]:
                continue
            values = self.values(one, names)
            if values is None:
                return None
            found += values if one is items[-1] else [value for value in values if truthy(value) is until]
            if truth is until:
                break
        return tuple(found) if len(found) <= MOST else None

    def _called(self, tree: Call, names: AnyNames) -> Values:
        pure = PURE.get(tree.function)
        exact: list[Value] = []
        for one in tree.arguments:
            values = self.values(one, names)
            if pure is None or values is None or len(values) != 1:
                return None
            exact.append(values[0])
        try:
            return (pure(len(exact), lambda at: exact[at]),) if pure is not None else None
        except ExpressionError:
            return None

    def _named(self, path: Path, names: AnyNames) -> tuple[Values, bool | None]:
        key = ("glance", names, path)
        found = self._memo.get(key)
        if found is None:
            self._memo[key] = (None, None)  # what leads back to itself is not known
            found = self._memo[key] = self._known(names.known(path))
        return found  # type: ignore[return-value]  # the memo holds anything

    def _known(self, known: Known) -> tuple[Values, bool | None]:
        match known:
            case Exactly(value=value):
                return (value,), truthy(value)
            case OneOf(values=values) if len(values) <= MOST:
                return values, _truth_of(values)
            case Defined(tree=tree, names=names) if self._depth < DEEPEST:
                self._depth += 1
                found = self.values(tree, names), self.truth(tree, names)
                self._depth -= 1
                return found
        return None, None


def _truth_of(values: Values) -> bool | None:
    truths = {truthy(one) for one in values} if values is not None else set()
    return truths.pop() if len(truths) == 1 else None
