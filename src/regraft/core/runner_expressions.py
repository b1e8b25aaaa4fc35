"""Expressions of a run, where everything is known: texts filled in, and conditions answered."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from regraft.core.expression_evaluate import Function, evaluate
from regraft.core.expression_functions import STATUS
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Expression, parts
from regraft.core.expression_value import Value as Exact
from regraft.core.expression_value import text_of, truthy, value_of
from regraft.core.workflow_values import Condition, Value
from regraft.errors import InputError

Status = Literal["success", "failure", "skipped"]
HashFiles = Callable[[Sequence[str]], str]


class Scope:
    """`names` are the contexts as plain values. `status` is how the job (or the action) goes; `skipped`: a job before it that
    was skipped. `hash_files` gets patterns; None: it may not be asked here.
    """

    def __init__(
        self, names: Mapping[str, Any], status: Status = "success", hash_files: HashFiles | None = None
    ) -> None:
        self.names = names
        self.status = status
        self.hash_files = hash_files
        self._contexts = _Contexts(names)

    def value(self, tree: Expression) -> Exact:
        """Raises ExpressionError."""
        return evaluate(tree, self._contexts, self._functions())

    def _functions(self) -> dict[str, Function]:
        found: dict[str, Function] = {
            "success": lambda _: self.status == "success",
            "failure": lambda _: self.status == "failure",
            "cancelled": lambda _: False,
            "always": lambda _: True,
        }
        if (hashed := self.hash_files) is not None:
            found["hashfiles"] = lambda values: hashed([text_of(one) for one in values])
        return found


class _Contexts(Mapping[str, Exact]):
    """Each context becomes a value when it is first asked for: an event's payload is large."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._found: dict[str, Exact] = {}

    def __getitem__(self, name: str) -> Exact:
        if name not in self._found:
            self._found[name] = value_of(self._names[name])
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def fill(value: Value, scope: Scope) -> str:
    """A text with the value of each `${{ }}` in its place. Raises InputError `expression`."""
    pieces = []
    for part in value.parts:
        if part.literal:
            pieces.append(part.text)
            continue
        where = f"{value.text.place.path}:{value.text.line(part.at)}"
        if part.expression is None:
            raise InputError("expression", f"{part.text.strip()!r:.200} is no expression", where=where)
        pieces.append(text_of(_evaluated(part.expression, scope, where)))
    return "".join(pieces)


def fill_all(values: Mapping[str, Value], scope: Scope) -> dict[str, str]:
    """Each of them, all in the same scope. Raises InputError `expression`."""
    return {name: fill(value, scope) for name, value in values.items()}


def holds(condition: Condition | None, scope: Scope) -> bool:
    """An `if:`. Without a status function in it, `success()` stands before it. Raises InputError `expression`."""
    if condition is None:
        return scope.status == "success"
    where = f"{condition.text.place.path}:{condition.text.place.line}"
    if condition.padded:
        return scope.status == "success"
    if condition.expression is None:
        raise InputError("expression", f"{condition.text.value!r:.200} is no expression", where=where)
    if scope.status != "success" and not _asks_status(condition.expression):
        return False
    return truthy(_evaluated(condition.expression, scope, where))


def _asks_status(tree: Expression) -> bool:
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Call) and one.function in STATUS:
            return True
        waiting.extend(parts(one))
    return False


def _evaluated(tree: Expression, scope: Scope, where: str) -> Exact:
    try:
        return scope.value(tree)
    except ExpressionError as error:
        raise InputError("expression", error.message, where=where) from None
