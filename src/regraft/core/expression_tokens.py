"""The tokens of an expression."""

from typing import Literal

from regraft.core.expression_numbers import number
from regraft.core.patterns import regex

Kind = Literal["lexing", "parsing", "evaluation"]
Token = tuple[str, str, int, "bool | float | str | None"]
"""What it is: an operator or a bracket as it is written, or `name`, `string`, `number`, `constant`; then its text, the
character where it begins, and the value of a literal. A plain tuple: there are tens of thousands in a repository."""


class ExpressionError(Exception):
    """GitHub refuses an expression, or its evaluation fails. `at`: the character where that is."""

    def __init__(self, message: str, at: int = 0, kind: Kind = "parsing") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.kind = kind


_TOKEN = regex(
    r"""\s*+(?:
        ([A-Za-z_][A-Za-z0-9_-]*+)(?=[\s()\[\],.!<>=&|]|\Z)
      | (&&|\|\||[=!<>]=|[<>!()\[\],*])
      | (\.)
      | ('(?:[^']++|'')*+')
      | ([0-9+-][^\s()\[\],!<>=&|]*+)
      | (\Z)
      | ('.*|.[^\s()\[\],.!<>=&|]*+)
    )""",
    16 | 64,  # DOTALL, VERBOSE
)
_NAME, _SYMBOL, _DOT, _STRING, _NUMBER, _END = range(1, 7)
_FRACTION = regex(r"[^\s()\[\],!<>=&|]+")
_BEFORE_DOT = frozenset({"name", ")", "]", "*"})
_CONSTANTS = {"true": True, "false": False, "null": None, "NaN": float("nan"), "Infinity": float("inf")}


def tokens(text: str) -> list[Token]:
    """All tokens. Raises ExpressionError at what is none."""
    found: list[Token] = []
    here: int | None = 0
    while here is not None:
        here = _run(text, here, found)
    return found


def _run(text: str, start: int, found: list[Token]) -> int | None:
    """Tokens up to a number that begins with a dot: where it ends; None at the end of the text."""
    kind = found[-1][0] if found else ""
    for match in _TOKEN.finditer(text, start):
        group = match.lastindex or 0
        written = match[group]
        at = match.start(group)
        if group == _NAME:
            if kind != "." and written in _CONSTANTS:
                kind = "constant"
                found.append((kind, written, at, _CONSTANTS[written]))
            else:
                kind = "name"
                found.append((kind, written, at, None))
        elif group == _SYMBOL or (group == _DOT and kind in _BEFORE_DOT):
            kind = written
            found.append((kind, written, at, None))
        elif group == _STRING:
            kind = "string"
            found.append((kind, written, at, written[1:-1].replace("''", "'")))
        elif group == _END:
            return None
        elif group == _NUMBER:
            kind = "number"
            found.append(_number(text, written, at))
        elif group == _DOT:
            fraction = _FRACTION.match(text, at)
            found.append(_number(text, fraction[0] if fraction else ".", at))
            return at + len(found[-1][1])
        else:
            raise unexpected(written, at, text, "lexing")
    return None


def _number(text: str, written: str, at: int) -> Token:
    value = number(written)
    if value != value:  # noqa: PLR0124 - not a number
        raise unexpected(written, at, text, "lexing")
    return ("number", written, at, value)


def unexpected(written: str, at: int, text: str, kind: Kind = "parsing") -> ExpressionError:
    where = f"Located at position {at + 1} within expression: {text}"
    return ExpressionError(f"Unexpected symbol: '{written}'. {where}", at, kind)
