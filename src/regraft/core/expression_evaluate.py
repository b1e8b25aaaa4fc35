"""The exact value of an expression, where all contexts are known."""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from regraft.core.expression_functions import PURE
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Compare, Constant, Context, Every, Expression, Key, Logic, Not
from regraft.core.expression_value import Array, Value, equal, every, greater, index, truthy

MEMORY = 1024 * 1024  # bytes that GitHub allows an expression

Function = Callable[[Sequence[Value]], Value]


def evaluate(
    tree: Expression,
    contexts: Mapping[str, Value],
    functions: Mapping[str, Function] | None = None,
    *,
    memory: int = MEMORY,
) -> Value:
    """The value. `contexts` and `functions` (`success`, `hashfiles`) have their names in lower case.

    Raises ExpressionError (its kind is `evaluation`): a context or function that is not given, a text that is no JSON, a
    wrong format, more than `memory` bytes.
    """
    return _Evaluation(contexts, functions or {}, memory).value(tree)


def compare(operator: str, left: Value, right: Value) -> bool:
    match operator:
        case "==":
            return equal(left, right)
        case "!=":
            return not equal(left, right)
        case ">":
            return greater(left, right)
        case ">=":
            return equal(left, right) or greater(left, right)
        case "<":
            return greater(right, left)
    return equal(left, right) or greater(right, left)


class _Evaluation:
    """Memory is counted as GitHub's runner does: what the operands of an open operation hold, and its result."""

    def __init__(self, contexts: Mapping[str, Value], functions: Mapping[str, Function], memory: int) -> None:
        self._contexts = contexts
        self._functions = functions
        self._memory = memory
        self._used = 0

    def value(self, tree: Expression) -> Value:
        before = self._used
        value = self._value(tree)
        self._used = before + _bytes(value)
        if self._used > self._memory:
            raise ExpressionError("The maximum allowed memory size was exceeded", tree.at, "evaluation")
        return value

    def _value(self, tree: Expression) -> Value:
        match tree:
            case Constant(value=value):
                return value
            case Context(name=name):
                if name not in self._contexts:
                    raise ExpressionError(f"Unrecognized named-value: '{name}'", tree.at, "evaluation")
                return self._contexts[name]
            case Key(item=item, index=key):
                found = self.value(item)
                return index(found, self.value(key))
            case Every(item=item):
                return every(self.value(item))
            case Not(item=item):
                return not truthy(self.value(item))
            case Compare(operator=operator, left=left, right=right):
                return compare(operator, self.value(left), self.value(right))
            case Logic(operator=operator, items=items):
                return self._logic(items, until=operator == "||")
            case Call():
                return self._call(tree)
            case _:
                assert_never(tree)

    def _logic(self, items: Sequence[Expression], *, until: bool) -> Value:
        value: Value = None
        for item in items:
            value = self.value(item)
            if truthy(value) is until:
                break
        return value

    def _call(self, tree: Call) -> Value:
        arguments = tree.arguments
        own = self._functions.get(tree.function)
        if own is not None:
            return own([self.value(one) for one in arguments])
        pure = PURE.get(tree.function)
        if pure is None:
            raise ExpressionError(f"Unrecognized function: '{tree.function}'", tree.at, "evaluation")
        known: dict[int, Value] = {}

        def argument(at: int) -> Value:
            if at not in known:
                known[at] = self.value(arguments[at])
            return known[at]

        return pure(len(arguments), argument)


def _bytes(value: Value) -> int:
    if isinstance(value, str):
        return 26 + 2 * len(value)
    return 24 + (8 * len(value.items) if isinstance(value, Array) and value.filtered else 0)
