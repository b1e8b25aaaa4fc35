"""The grammar of expressions: `||` below `&&` below `==` below `<` below `!` below `.` and `[]`.

The depth is counted as GitHub does, so that what it refuses as too deep is refused here, and recursion is bounded.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from regraft.core.expression_functions import ARITIES
from regraft.core.expression_tokens import ExpressionError, Token, unexpected
from regraft.core.expression_tree import (
    Call,
    Compare,
    Comparison,
    Constant,
    Context,
    Every,
    Expression,
    Key,
    Logic,
    Not,
)

DEEPEST = 50

_EQUALITY: dict[str, Comparison] = {"==": "==", "!=": "!="}
_ORDER: dict[str, Comparison] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
_LITERAL = frozenset({"number", "string", "constant"})
_STEP = frozenset({".", "["})
_AFTER_DOT = frozenset({"name", "*"})


class Parser:
    """One walk over the tokens of one expression."""

    def __init__(self, text: str, tokens: Sequence[Token], contexts: frozenset[str] | None) -> None:
        self._text = text
        self._contexts = contexts
        self._tokens: list[Token] = [*tokens, ("", "", len(text), None)]
        self._next = 0
        self._kind = self._tokens[0][0]  # of the next token
        self._depth = 0

    def parse(self) -> Expression:
        """Raises ExpressionError."""
        tree = self._expression()
        if self._kind:
            raise self._unexpected()
        return tree

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        self._kind = self._tokens[self._next][0]
        return token

    def _expect(self, kind: str) -> None:
        if self._kind != kind:
            raise self._unexpected()
        self._take()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(f"Exceeded max expression depth {DEEPEST}", self._tokens[self._next][2])

    def _unexpected(self) -> ExpressionError:
        kind, written, at, _ = self._tokens[self._next]
        if kind:
            return unexpected(written, at, self._text)
        return self._wrong("Unexpected end of expression", self._tokens[self._next - 1])

    def _wrong(self, what: str, token: Token) -> ExpressionError:
        where = f"Located at position {token[2] + 1} within expression: {self._text}"
        return ExpressionError(f"{what}: '{token[1]}'. {where}", token[2])

    def _expression(self) -> Expression:
        self._deeper()
        tree = self._logic("||", self._all)
        self._depth -= 1
        return tree

    def _all(self) -> Expression:
        return self._logic("&&", self._compared)

    def _logic(self, operator: Literal["&&", "||"], item: Callable[[], Expression]) -> Expression:
        first = item()
        if self._kind != operator:
            return first
        self._deeper()
        items = [first]
        at = self._tokens[self._next][2]
        while self._kind == operator:
            self._take()
            items.append(item())
        self._depth -= 1
        return Logic(operator, tuple(items), at)

    def _compared(self) -> Expression:
        left = self._ordered()
        while self._kind in _EQUALITY:
            token = self._take()
            left = Compare(_EQUALITY[token[0]], left, self._ordered(), token[2])
        return left

    def _ordered(self) -> Expression:
        left = self._unary()
        while self._kind in _ORDER:
            token = self._take()
            left = Compare(_ORDER[token[0]], left, self._unary(), token[2])
        return left

    def _unary(self) -> Expression:
        if self._kind != "!":
            return self._indexed()
        nots: list[int] = []
        while self._kind == "!":
            nots.append(self._take()[2])
            self._deeper()
        tree = self._indexed()
        self._depth -= len(nots)
        for at in reversed(nots):
            tree = Not(tree, at)
        return tree

    def _indexed(self) -> Expression:
        kind = self._kind
        if kind in _LITERAL:
            _, _, at, value = self._take()
            return Constant(value, at)
        if kind == "name":
            token = self._take()
            tree = self._call(token) if self._kind == "(" else self._context(token)
        elif kind == "(":
            self._take()
            tree = self._expression()
            self._expect(")")
        else:
            raise self._unexpected()
        steps = 0
        while self._kind in _STEP:
            tree = self._step(tree)
            self._deeper()
            steps += 1
        self._depth -= steps
        return tree

    def _step(self, item: Expression) -> Expression:
        opening, _, at, _ = self._take()
        if opening == ".":
            if self._kind not in _AFTER_DOT:
                raise self._unexpected()
            kind, name, begins, _ = self._take()
            return Key(item, Constant(name, begins), at) if kind == "name" else Every(item, at)
        if self._kind == "*":
            self._take()
            tree: Expression = Every(item, at)
        else:
            tree = Key(item, self._expression(), at)
        self._expect("]")
        return tree

    def _context(self, token: Token) -> Expression:
        name = token[1].lower()
        if self._contexts is not None and name not in self._contexts:
            raise self._wrong("Unrecognized named-value", token)
        return Context(name, token[2])

    def _call(self, token: Token) -> Expression:
        self._take()
        arguments: list[Expression] = []
        while self._kind != ")" or arguments:
            arguments.append(self._expression())
            if self._kind != ",":
                break
            self._take()
        self._expect(")")
        name = token[1].lower()
        least, most = ARITIES.get(name, (0, -1))
        if most < 0:
            raise self._wrong("Unrecognized function", token)
        if len(arguments) < least:
            raise self._wrong("Too few parameters supplied", token)
        if len(arguments) > most:
            raise self._wrong("Too many parameters supplied", token)
        if name == "case" and len(arguments) % 2 == 0:
            raise self._wrong("Even number of parameters supplied, requires an odd number of parameters", token)
        return Call(name, tuple(arguments), token[2])
