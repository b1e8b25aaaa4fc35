"""The path patterns of a manifest: `*` and `?` stay within one name, `**` spans folders."""

import re
from collections.abc import Iterable
from functools import lru_cache


def matching(patterns: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that one of the patterns matches, in their order. A pattern matches the whole path."""
    compiled = [_compiled(pattern) for pattern in patterns]
    return tuple(path for path in paths if any(one.fullmatch(path) for one in compiled))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
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
