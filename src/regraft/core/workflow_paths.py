"""The path patterns of GitHub's filters.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
"""

import re
from functools import lru_cache

_TOKENS = r"\*\*/|\*\*|\*|\[[^\]/]+\]|\\.|."


@lru_cache(maxsize=1024)
def path_pattern(pattern: str) -> re.Pattern[str]:
    """For fullmatch with a path. `?` and `+` count what stands before them; a pattern that cannot be read is its own text."""
    parts: list[str] = []
    for token in re.findall(_TOKENS, pattern, re.DOTALL):
        match token:
            case "**/":
                parts.append("(?:.*/)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?" | "+":
                if parts and parts[-1][-1] not in "*?+":
                    parts.append(token)
            case _:
                parts.append(token if len(token) > 2 else re.escape(token[-1]))
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))
