"""GitHub's expressions, as far as the example's workflows use them. Anything else is refused, never guessed.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(==|!=|&&|\|\||[!().,])|([A-Za-z_][A-Za-z0-9_-]*)|(.))")
WHOLE = re.compile(r"\s*\$\{\{(.*?)\}\}\s*", re.DOTALL)
PART = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
STATUS = frozenset({"success", "failure", "cancelled", "always"})


class UnsupportedError(Exception):
    """The expression uses something whose meaning the tests do not know."""


@dataclass
class Scope:
    """`names` are the contexts; `status` is what the status functions look at."""

    names: Mapping[str, Any]
    status: str = "success"
    asked_status: bool = field(default=False, init=False)


def fill(text: str, scope: Scope) -> Any:
    """A value of a workflow file: text with `${{ }}` parts; an expression alone keeps its type."""
    if alone := WHOLE.fullmatch(text):
        return evaluate(alone[1], scope)
    return PART.sub(lambda part: as_text(evaluate(part[1], scope)), text)


def holds(condition: str | None, scope: Scope) -> bool:
    """An `if:`. Without a status function in it, `success()` stands before it."""
    if condition is None:
        return scope.status == "success"
    alone = WHOLE.fullmatch(condition)
    answer = truthy(evaluate(alone[1] if alone else condition, scope))
    return answer if scope.asked_status else scope.status == "success" and answer


def evaluate(expression: str, scope: Scope) -> Any:
    reader = _Reader(expression, scope)
    value = reader.either()
    reader.end()
    return value


def truthy(value: Any) -> bool:
    """The text `false` is true: it is not empty."""
    return value not in (None, False, 0, "") or isinstance(value, dict | list)


def as_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return json.dumps(value)
        case _:
            raise UnsupportedError(f"{type(value).__name__} as text")


def equal(left: Any, right: Any) -> bool:
    """Texts without regard to case; null and booleans only with their like, since numbers would come in between."""
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if left is None or right is None or type(left) is not type(right):
        if {type(left), type(right)} == {str, type(None)}:  # both become numbers: an empty text and null are zero
            return (left or "") == (right or "")
        raise UnsupportedError(f"a comparison of {left!r:.40} with {right!r:.40}")
    return bool(left == right)


class _Reader:
    def __init__(self, text: str, scope: Scope) -> None:
        self.scope = scope
        self.text = text
        self.tokens = [match.groups() for match in TOKEN.finditer(text.strip())]

    def peek(self) -> str | None:
        return self.tokens[0][1] if self.tokens else None

    def take(self, symbol: str) -> bool:
        found = self.peek() == symbol
        if found:
            self.tokens.pop(0)
        return found

    def need(self, symbol: str) -> None:
        if not self.take(symbol):
            raise UnsupportedError(f"{self.text!r}: expected {symbol!r}")

    def end(self) -> None:
        if self.tokens:
            raise UnsupportedError(f"{self.text!r}: {self.tokens[0]!r}")

    def either(self) -> Any:
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value if truthy(value) else other
        return value

    def both(self) -> Any:
        value = self.comparison()
        while self.take("&&"):
            other = self.comparison()
            value = other if truthy(value) else value
        return value

    def comparison(self) -> Any:
        value = self.unary()
        if self.take("=="):
            return equal(value, self.unary())
        if self.take("!="):
            return not equal(value, self.unary())
        return value

    def unary(self) -> Any:
        if self.take("!"):
            return not truthy(self.unary())
        if self.take("("):
            value = self.either()
            self.need(")")
            return self.members(value)
        text, _, name, other = self.tokens.pop(0) if self.tokens else (None, None, None, "the end")
        if text is not None:
            return text[1:-1].replace("''", "'")
        if name is None:
            raise UnsupportedError(f"{self.text!r}: {other!r}")
        if name in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[name]
        return self.members(self.call(name) if self.take("(") else self.context(name))

    def context(self, name: str) -> Any:
        if name not in self.scope.names:
            raise UnsupportedError(f"{self.text!r}: there is no context {name!r} here")
        return self.scope.names[name]

    def members(self, value: Any) -> Any:
        while self.take("."):
            name = self.tokens.pop(0)[2] if self.tokens else None
            if name is None:
                raise UnsupportedError(f"{self.text!r}: a member without a name")
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def call(self, name: str) -> Any:
        given = []
        while not self.take(")"):
            given.append(self.either())
            if self.peek() != ")":
                self.need(",")
        return self.result(name, given)

    def result(self, name: str, given: list[Any]) -> Any:
        match name, given:
            case "fromJSON", [str() as text]:
                return json.loads(text)  # the real one fails the run as well
            case "toJSON", [value]:
                return json.dumps(value, indent=2)
            case _, [] if name in STATUS:
                self.scope.asked_status = True
                return name in ("always", self.scope.status)
            case _:
                raise UnsupportedError(f"{self.text!r}: {name} with {len(given)} arguments")
