"""The functions of GitHub's expressions that need nothing but their arguments.

They ask for an argument when they need it: GitHub does not evaluate the others, so that a mistake in them is none.
"""

import json
from collections.abc import Callable
from functools import lru_cache

from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_value import Array, Object, Value, equal, folded, primitive, text_of, value_of
from regraft.core.patterns import regex

MOST = 255  # arguments of one call
DEEPEST_JSON = 64

ARITIES = {
    "case": (3, MOST),
    "contains": (2, 2),
    "endswith": (2, 2),
    "format": (1, MOST),
    "fromjson": (1, 1),
    "join": (1, 2),
    "startswith": (2, 2),
    "tojson": (1, 1),
    "always": (0, 0),
    "cancelled": (0, 0),
    "failure": (0, MOST),
    "success": (0, MOST),
    "hashfiles": (1, MOST),
}
STATUS = frozenset({"always", "cancelled", "failure", "success"})

Argument = Callable[[int], Value]

_PIECE = regex(r"\{\{|\}\}|\{([0-9]+)\}|[{}]|[^{}]+")
_ESCAPED = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})  # as Newtonsoft.Json does


def contains(count: int, argument: Argument) -> Value:
    del count
    where = argument(0)
    if isinstance(where, Array):
        return bool(where.items) and any(equal(argument(1), item) for item in where.items)
    return _both_texts(argument, lambda text, part: part in text)


def starts_with(count: int, argument: Argument) -> Value:
    del count
    return _both_texts(argument, str.startswith)


def ends_with(count: int, argument: Argument) -> Value:
    del count
    return _both_texts(argument, str.endswith)


def join(count: int, argument: Argument) -> Value:
    what = argument(0)
    if isinstance(what, Array):
        separator = argument(1) if count > 1 and what.items else ","
        between = text_of(separator) if primitive(separator) else ","
        return between.join(text_of(item) for item in what.items)
    return text_of(what) if primitive(what) else ""


def form(count: int, argument: Argument) -> Value:
    """`format`. Raises ExpressionError where the text has a lone brace, or asks for an argument that is not there."""
    text = text_of(argument(0))
    texts: dict[int, str] = {}
    written: list[str] = []
    for piece in _PIECE.finditer(text):
        if piece[1]:
            at = int(piece[1][:4]) if len(piece[1]) <= 4 else MOST
            if at > count - 2:
                raise _wrong(f"The following format string references more arguments than were supplied: {text}")
            if at not in texts:
                texts[at] = text_of(argument(at + 1))
            written.append(texts[at])
        elif piece[0] in ("{", "}"):
            raise _wrong(f"The following format string is invalid: {text}")
        else:
            written.append(piece[0][0] if piece[0] in ("{{", "}}") else piece[0])
    return "".join(written)


def from_json(count: int, argument: Argument) -> Value:
    """Raises ExpressionError where the text is no JSON."""
    del count
    return _read_json(text_of(argument(0)))


def to_json(count: int, argument: Argument) -> Value:
    """Two blanks a level, as GitHub writes it."""
    del count
    return _json(argument(0), "\n")


def case(count: int, argument: Argument) -> Value:
    for at in range(0, count - 1, 2):
        holds = argument(at)
        if not isinstance(holds, bool):
            raise _wrong("case predicate must evaluate to a boolean value")
        if holds:
            return argument(at + 1)
    return argument(count - 1)


PURE: dict[str, Callable[[int, Argument], Value]] = {
    "case": case,
    "contains": contains,
    "endswith": ends_with,
    "format": form,
    "fromjson": from_json,
    "join": join,
    "startswith": starts_with,
    "tojson": to_json,
}


def _wrong(message: str) -> ExpressionError:
    return ExpressionError(message, 0, "evaluation")


def _both_texts(argument: Argument, holds: Callable[[str, str], bool]) -> bool:
    where = argument(0)
    if not primitive(where):
        return False
    what = argument(1)
    return primitive(what) and holds(folded(text_of(where)), folded(text_of(what)))


@lru_cache(64)
def _read_json(text: str) -> Value:
    try:
        plain = json.loads(text, parse_int=float)
    except (ValueError, RecursionError) as error:
        raise _wrong("Error parsing JSON when evaluating fromJson") from error
    if _deeper(plain, DEEPEST_JSON):
        raise _wrong(f"The reader's MaxDepth of {DEEPEST_JSON} has been exceeded")
    return value_of(plain)


def _deeper(plain: object, levels: int) -> bool:
    items = list(plain.values()) if isinstance(plain, dict) else plain
    if not isinstance(items, list):
        return False
    return levels == 0 or any(_deeper(item, levels - 1) for item in items)


def _json(value: Value, line: str) -> str:
    inner = line + "  "
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Array) and value.items:
        return f"[{','.join(inner + _json(item, inner) for item in value.items)}{line}]"
    if isinstance(value, Object) and value.fields:
        fields = (f"{inner}{_quoted(key)}: {_json(item, inner)}" for key, item in value.fields.items())
        return f"{{{','.join(fields)}{line}}}"
    if isinstance(value, Array | Object):
        return "[]" if isinstance(value, Array) else "{}"
    return "null" if value is None else text_of(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPED)
