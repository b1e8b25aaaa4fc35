"""Expressions of GitHub Actions as they are written: in `${{ }}` of a text, and in an `if:` with or without it.

Messages are GitHub's own. Its limits are those of https://github.com/actions/runner and of actions/languageservices.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from regraft.core.expression_grammar import Parser
from regraft.core.expression_tokens import ExpressionError, tokens
from regraft.core.expression_tree import Call, Constant, Expression
from regraft.core.patterns import regex
from regraft.core.workflow_values import Condition, Part, Text

LONGEST = 21_000  # characters of one expression

_OPEN = "${{"
_CLOSE = regex(r"(?:[^'}]++|'[^']*+'|\}(?!\}))*+\}\}")
_SUCCESS = Call("success", ())
_BOOLEANS = frozenset({"True", "TRUE", "False", "FALSE"})
_NULLS = frozenset({"~", "null", "Null", "NULL"})

NOT_CLOSED = (
    "The expression is not closed. An unescaped ${{ sequence was found, but the closing }} sequence was not found."
)
EXPECTED = "An expression was expected"


@lru_cache(4096)
def parse_expression(text: str, contexts: frozenset[str] | None = None) -> Expression:
    """The tree of what stands between `${{` and `}}`; of an empty text it is null.

    `contexts`: the names (in lower case) that are known here; None takes any. A function must be one of GitHub's and have as
    many arguments as it takes.

    Raises ExpressionError: where GitHub refuses it, with GitHub's words; `at` is a character of `text`.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"Exceeded max expression length {LONGEST}", 0)
    found = tokens(text)
    return Parser(text, found, contexts).parse() if found else Constant(None)


def value_parts(text: str) -> tuple[Part, ...]:
    """Literal text and expressions in turns. What is not closed goes to the end of the text and has no expression."""
    if _OPEN not in text:
        return (Part(text, 0, literal=True),) if text else ()
    parts: list[Part] = []
    here = 0
    while (start := text.find(_OPEN, here)) >= 0:
        if start > here:
            parts.append(Part(text[here:start], here, literal=True))
        inside = start + len(_OPEN)
        closed = _CLOSE.match(text, inside)
        here = closed.end() if closed else len(text)
        written = text[inside : here - 2] if closed else text[inside:]
        parts.append(Part(written, inside, _parsed(written) if closed else None))
    if here < len(text):
        parts.append(Part(text[here:], here, literal=True))
    return tuple(parts)


def mistakes(text: str, parts: Sequence[Part]) -> Iterator[ExpressionError]:
    """What is wrong in the parts of a text, `at` its characters. Nothing where each part has its expression."""
    for part in parts:
        if not part.literal and part.expression is None:
            yield _mistake(text, part)


def read_condition(text: Text) -> Condition:
    """An `if:`. Nothing (or null) is `success()`. Text around `${{ }}` makes it a text that is not empty: always true."""
    value = text.value
    if text.plain and value in _BOOLEANS:
        value = value.lower()
    if not value.strip() or (text.plain and value in _NULLS):
        return Condition(text, _SUCCESS)
    if _OPEN not in value:
        return Condition(text, _parsed(value))
    parts = value_parts(value)
    if len(parts) == 1:
        return Condition(text, parts[0].expression)
    return Condition(text, None, padded=all(part.literal or part.expression is not None for part in parts))


def condition_mistake(condition: Condition) -> ExpressionError | None:
    """Why a condition has no expression, `at` its text's characters; None where it has one, or is only padded."""
    value = condition.text.value
    if condition.expression is not None or condition.padded:
        return None
    if _OPEN in value:
        return next(mistakes(value, value_parts(value)), None)
    return _why(value)


def _parsed(written: str) -> Expression | None:
    try:
        return parse_expression(written) if written.strip() else None
    except ExpressionError:
        return None


def _why(written: str) -> ExpressionError | None:
    try:
        parse_expression(written)
    except ExpressionError as error:
        return error
    return None


def _mistake(text: str, part: Part) -> ExpressionError:
    end = part.at + len(part.text)
    if text[end : end + 2] != "}}":
        return ExpressionError(NOT_CLOSED, part.at - len(_OPEN))
    error = _why(part.text)
    if error is None:
        return ExpressionError(EXPECTED, part.at)
    return ExpressionError(error.message, part.at + error.at, error.kind)
