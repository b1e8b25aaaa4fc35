"""The path patterns of workflows: of `on.EVENT.paths`, and of `hashFiles`.

https://docs.github.com/actions/reference/workflow-syntax-for-github-actions#filter-pattern-cheat-sheet and
https://docs.github.com/actions/reference/evaluate-expressions-in-workflows-and-actions#hashfiles
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from regraft.core.patterns import regex

LONGEST = 500  # characters of a pattern

_TOKENS = regex(r"(?s)\*\*/|\*+|\?|\+|\\.|\[[^\]]+\]|.")
_RANGE = regex(r"(?s).-.|.")


class Pattern(Struct, frozen=True):
    """`text` is without its `!`."""

    text: str
    negative: bool
    line: int


def filtered(patterns: Sequence[Pattern], path: str) -> tuple[bool | None, Pattern | None]:
    """Whether a list of `paths` lets a path through, and the pattern that settled it: the last one that matches does.

    None: one of the patterns cannot be told.
    """
    found, why = False, None
    for one in patterns:
        expression = filter_expression(one.text)
        if expression is None:
            return None, one
        if expression.fullmatch(path):
            found, why = not one.negative, one
    return found, why


def hashed(patterns: Sequence[Pattern], path: str) -> bool | None:
    """Whether `hashFiles` takes a path in. A folder that matches takes in what lies in it. None: that cannot be told."""
    found = False
    for one in patterns:
        expression = glob_expression(one.text)
        if expression is None:
            return None
        if any(expression.fullmatch(part) for part in _folders(path)):
            found = not one.negative
    return found


def _folders(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def dead_filters(patterns: Iterable[Pattern], paths: Iterable[str]) -> Iterator[Pattern]:
    """The patterns of `paths` that let something through and match none of these paths."""
    known = list(paths)
    for one in patterns:
        expression = filter_expression(one.text)
        if not one.negative and expression is not None and not any(map(expression.fullmatch, known)):
            yield one


def dead_globs(patterns: Iterable[Pattern], paths: Iterable[str]) -> Iterator[Pattern]:
    """The same of `hashFiles`."""
    known = {part for path in paths for part in _folders(path)}
    for one in patterns:
        expression = glob_expression(one.text)
        if not one.negative and expression is not None and not any(map(expression.fullmatch, known)):
            yield one


Edge = tuple[frozenset[str], bool, int]  # characters, whether all others are meant, the state that it leads to

_SLASH = frozenset("/")
_NONE: frozenset[str] = frozenset()


class Expression:
    """A machine of states that walks through a path once, so that a hostile pattern takes no longer than another."""

    def __init__(self) -> None:
        self._edges: list[list[Edge]] = [[]]
        self._free: list[list[int]] = [[]]  # what is reached without a character
        self.plain = ""  # what every match begins with

    def fullmatch(self, path: str) -> bool:
        if not path.startswith(self.plain):
            return False
        states = self._onwards({0})
        for char in path:
            states = self._onwards(
                {to for at in states for chars, no, to in self._edges[at] if (char in chars) is not no}
            )
            if not states:
                return False
        return len(self._edges) - 1 in states

    def one(self, chars: frozenset[str], *, no: bool = False, least: int = 1, more: bool = False) -> None:
        """One of these characters, or with `no` another one; `more`: any number of them, and at least so many."""
        here, there = self._next()
        self._edges[here].append((chars, no, there))
        if more:
            self._edges[there].append((chars, no, there))
        if not least:
            self._free[here].append(there)

    def folders(self) -> None:
        """Any number of folders, each with its slash."""
        here, inside = self._next()
        self._edges[inside].append((_NONE, True, inside))
        _, there = self._next()
        self._free[here] += [inside, there]
        self._edges[inside].append((_SLASH, False, there))

    def _next(self) -> tuple[int, int]:
        self._edges.append([])
        self._free.append([])
        return len(self._edges) - 2, len(self._edges) - 1

    def _onwards(self, states: set[int]) -> set[int]:
        waiting, found = list(states), set(states)
        while waiting:
            for to in self._free[waiting.pop()]:
                if to not in found:
                    found.add(to)
                    waiting.append(to)
        return found


@lru_cache(maxsize=256)
def filter_expression(pattern: str) -> Expression | None:
    """`?` and `+` are about the character before them. None: it cannot be told what it matches."""
    return _expression(_tokens(pattern), repeats=True) if len(pattern) <= LONGEST else None


@lru_cache(maxsize=256)
def glob_expression(pattern: str) -> Expression | None:
    """Below the workspace. None: it leads out of it, or it cannot be told what it matches."""
    text = pattern.removeprefix("./").rstrip("/")
    if not text or text.startswith(("/", "~", "$")) or ".." in text.split("/") or len(text) > LONGEST:
        return None
    return _expression(_tokens(text), repeats=False)


def _tokens(pattern: str) -> list[str]:
    return [one[0] for one in _TOKENS.finditer(pattern)]


def _expression(pieces: Sequence[str], *, repeats: bool) -> Expression | None:
    found, plain = Expression(), True
    for piece, after in zip(pieces, (*pieces[1:], ""), strict=True):
        if repeats and piece in ("?", "+"):
            continue  # read with what is before it
        repeated = after if repeats and after in ("?", "+") else ""
        if piece.startswith("*"):
            if repeated:
                return None
            if piece == "**/":
                found.folders()
            else:
                found.one(_SLASH if piece == "*" else _NONE, no=True, least=0, more=True)
            plain = False
            continue
        chars, no = _chars(piece, any_one=not repeats)
        plain = plain and not repeated and not no and len(chars) == 1
        found.plain += next(iter(chars)) if plain else ""
        found.one(chars, no=no, least=int(repeated != "?"), more=repeated == "+")
    wrong = repeats and any(
        one in ("?", "+") and (at == 0 or pieces[at - 1] in ("?", "+")) for at, one in enumerate(pieces)
    )
    return None if wrong else found


def _chars(piece: str, *, any_one: bool) -> tuple[frozenset[str], bool]:
    """The characters that a piece stands for, or with True the others."""
    if piece == "?" and any_one:
        return _SLASH, True
    if not piece.startswith("[") or len(piece) == 1:
        return frozenset(piece[-1]), False
    inside = piece[1:-1]
    no = inside.startswith(("^", "!"))
    found = set[str]()
    for match in _RANGE.finditer(inside[no:]):
        first, last = match[0][0], match[0][-1]
        found.update(map(chr, range(ord(first), min(ord(last), ord(first) + 0x3FF) + 1)))
    return frozenset(found | {"/"} if no else found), no
