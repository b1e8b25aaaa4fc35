"""The path patterns of a manifest: `*` and `?` stay within one name, `**` spans folders."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_TOKENS = r"\*\*/|\*\*|\*|\?|[^*?]"


def matching(patterns: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that one of the patterns matches, in their order. A pattern matches the whole path.

    A path that ends in `/` is a submodule's, of which nobody knows what in it changed: it matches where the pattern
    matches its name, and where anything inside could match.
    """
    wanted = list(patterns)
    return tuple(path for path in paths if any(_matches(pattern, path) for pattern in wanted))


def _matches(pattern: str, path: str) -> bool:
    if not path.endswith("/"):
        return _compiled(pattern).fullmatch(path) is not None
    return _compiled(pattern).fullmatch(path[:-1]) is not None or _reaches(pattern, path)


def _reaches(pattern: str, folder: str) -> bool:
    """Whether the pattern could match a path that begins with `folder`: some of it is left when `folder` is read."""
    tokens = re.findall(_TOKENS, pattern, re.DOTALL)
    states = set(_onwards(tokens, {0}))
    for char in folder:
        states = set(_onwards(tokens, {after for at in states for after in _after(tokens, at, char)}))
    return bool(states - {len(tokens)})


def _onwards(tokens: list[str], states: set[int]) -> Iterator[int]:
    """The states, and those that are reached from them without a character: a token of asterisks may stand for nothing."""
    for at in states:
        end = at
        while end < len(tokens) and tokens[end].startswith("*"):
            end += 1
        yield from range(at, end + 1)


def _after(tokens: list[str], at: int, char: str) -> Iterator[int]:
    if at == len(tokens):
        return
    match tokens[at]:
        case "**":
            yield at
        case "**/":
            yield at
            if char == "/":
                yield at + 1
        case "*":
            if char != "/":
                yield at
        case "?":
            if char != "/":
                yield at + 1
        case literal:
            if char == literal:
                yield at + 1


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = []
    for token in re.findall(_TOKENS, pattern, re.DOTALL):
        match token:
            case "**/":
                parts.append("(?:.*/)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(token))
    return re.compile("".join(parts), re.DOTALL)
