"""`.dockerignore`: which files of a build context the builder does not get to see.

The rules are those of moby/patternmatcher, which differ from git's: every pattern begins at the top of the context, the last that
matches decides, and a folder that is left out takes what is in it along unless a later `!` names that.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from regraft.core.patterns import regex

_SPECIAL = regex(r"[*?\[\]\\]")
_TOKENS = regex(r"(?s)\*\*/?|\*|\?|\\.|\\$|\[|\]|[^*?\\\[\]]+")


STAR = "[^/]*"
_MOST = 4  # `**` of one pattern


def without_return(parts: Sequence[str]) -> str:
    """An expression of these parts, in which a star that another follows takes the first place that fits, for good.

    That is as good as any other place, and a pattern of many stars takes no longer than one of few.
    """
    found, at = "", 0
    while at < len(parts):
        following = next((index for index in range(at + 1, len(parts)) if "*" in parts[index]), None)
        if parts[at] == STAR and following is not None and parts[following] == STAR:
            found += f"(?>[^/]*?{''.join(parts[at + 1 : following])})"
            at = following
        else:
            found += parts[at]
            at += 1
    return found


class IgnorePattern(Struct, frozen=True):
    line: int  # starts at 1
    text: str  # cleaned, without `!`
    keeps: bool  # `!`: what it matches is in after all
    expression: str


class BadPatternError(ValueError):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read_dockerignore(data: bytes) -> tuple[IgnorePattern, ...]:
    """The patterns of a file. Raises BadPatternError."""
    found = []
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        text = line.strip()
        keeps = text.startswith("!")
        text = text[1:].strip() if keeps else text
        if not text:
            if keeps:
                raise BadPatternError(number, "`!` alone excepts nothing")
            continue
        text = posixpath.normpath(text)
        text = text.lstrip("/") or "/"
        if text in (".", "/"):  # Docker takes these for the top of the context, which is never left out
            continue
        found.append(IgnorePattern(number, text, keeps, _expression(text, number)))
    return tuple(found)


class Ignored:
    """Answers for one list of patterns."""

    def __init__(self, patterns: Sequence[IgnorePattern]) -> None:
        self._patterns = [(re.compile(one.expression, re.DOTALL), one.keeps) for one in patterns]
        self._known: dict[str, tuple[bool, ...]] = {"": (False,) * len(self._patterns)}

    def __call__(self, path: str) -> bool:
        """Whether the file or folder at `path`, relative to the context, is left out."""
        out = False
        for (_, keeps), matched in zip(self._patterns, self._matched(path), strict=True):
            if matched:
                out = not keeps
        return out

    def kept(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if not self(path)]

    def _matched(self, path: str) -> tuple[bool, ...]:
        """Which of the patterns match it, or a folder that it is in."""
        if path not in self._known:
            above = self._matched(path.rpartition("/")[0])
            found = (
                already or pattern.fullmatch(path) is not None
                for (pattern, _), already in zip(self._patterns, above, strict=True)
            )
            self._known[path] = tuple(found)
        return self._known[path]


def _expression(text: str, line: int) -> str:
    if text.startswith("**") and not _SPECIAL.search(text[2:]) and not text[2:].startswith("/"):
        return f".*{re.escape(text[2:])}"  # such as `**.pyc`: the one case where `**` stops at no slash
    parts, at, inside = list[str](), 0, False
    for match in _TOKENS.finditer(text):
        part = match[0]
        at = match.end()
        if part.startswith("**"):
            parts.append(".*" if at == len(text) else "(?:.*/)?")
        elif inside and part in ("*", "?"):  # as patternmatcher writes it: a class that ends here
            parts.append(r"\[^/]" + part.replace("?", ""))
            inside = False
        elif part == "*":
            parts.append(STAR)
        elif part == "?":
            parts.append("[^/]")
        elif part == "[" and inside:
            parts.append(r"\[")
        elif part in ("[", "]"):
            inside = part == "["
            parts.append(part)
        elif part.startswith("\\"):
            parts.append(re.escape(part[1:] or "\\"))
        elif inside:
            parts.append(part.replace("&&", "&\\&").replace("--", "-\\-").replace("||", "|\\|").replace("~~", "~\\~"))
        else:
            parts.append(re.escape(part))
    if text.count("**") > _MOST:
        raise BadPatternError(line, f"more than {_MOST} times `**`")
    expression = without_return(parts)
    try:
        re.compile(expression)
    except re.error as error:
        raise BadPatternError(line, f"no pattern: {error.msg}") from None
    return expression
