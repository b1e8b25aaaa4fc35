"""What stands for `$NAME` in a Dockerfile: build arguments, environment, and Docker's own substitutions.

The rules are those of Docker's reference ("Environment replacement", "ARG") and of BuildKit's word expander. A name whose value only
the build knows (an `ARG` without a default that nobody sets, a variable of the base image) makes a text unknown; it is
never taken for empty.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from regraft.core.patterns import regex

PLATFORM = frozenset(
    {
        *("BUILDPLATFORM", "BUILDOS", "BUILDARCH", "BUILDVARIANT"),
        *("TARGETPLATFORM", "TARGETOS", "TARGETARCH", "TARGETVARIANT", "TARGETSTAGE"),
    }
)
PROXIES = frozenset(
    name for one in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY") for name in (one, one.lower())
)  # passed to every RUN, and part of no cache key

# What BuildKit takes without an ARG, https://docs.docker.com/reference/dockerfile/#buildkit-built-in-build-args
BUILT_IN = regex(r"BUILDKIT_[A-Z0-9_]+|SOURCE_DATE_EPOCH")
FRONTEND = "BUILDKIT_SYNTAX"  # goes before `# syntax=`

_OF_PLATFORM = regex(rf"\$(?:({'|'.join(sorted(PLATFORM))})\b|\{{({'|'.join(sorted(PLATFORM))})\}})")

_DEEPEST = 100
_LONGEST, _STARS = 4096, 2  # of a value that a pattern is matched with, and of asterisks in that
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = regex(r"[0-9]+|[@*#?$!-]")
_ASSIGNMENT = regex(r"(?s)([A-Za-z_][A-Za-z0-9_.-]*)(?:=(.*))?")


class BadSubstitutionError(ValueError):
    """What is wrong with a `${…}`."""


class Scope(Struct):
    """The names that are known at one place.

    `arguments` and `environment` hold values; None stands for one that only the build knows. `environment` goes before
    `arguments`. With `open`, a name that is in neither is a variable of the base image, and unknown too; else it is not set.
    """

    arguments: dict[str, str | None] = field(default_factory=dict)
    environment: dict[str, str | None] = field(default_factory=dict)
    open: bool = False

    def copy(self) -> "Scope":
        return Scope(dict(self.arguments), dict(self.environment), self.open)

    def value(self, name: str) -> tuple[bool, str | None]:
        """(whether it is known what it is, its value or None where it is not set)."""
        for some in (self.environment, self.arguments):
            if name in some:
                return some[name] is not None, some[name]
        return not self.open, None


class Expanded(Struct, frozen=True):
    """`text`, with `$NAME` where a name is `unknown`; `used` are all names that it was made with."""

    text: str
    unknown: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        return not self.unknown


def expand(text: str, scope: Scope, escape: str = "\\", *, quotes: bool = True) -> Expanded:
    """A word with its variables replaced and its quotes removed, as Docker does it.

    With `quotes=False`, quotes and escapes stay, as in a text that a shell reads later. Raises BadSubstitutionError.
    """
    expander = _Expander(text, scope, escape, quotes)
    found = expander.until("")
    return Expanded(found, tuple(dict.fromkeys(expander.unknown)), tuple(dict.fromkeys(expander.used)))


def on_every_platform(found: Expanded) -> str | None:
    """A pattern of what it is on all platforms, `base-*` of `base-$TARGETARCH`, where nothing else in it is unknown; else None."""
    if found.known or not set(found.unknown) <= PLATFORM:
        return None
    text = _OF_PLATFORM.sub(lambda match: "*/*" if "PLATFORM" in match[0] else "*", found.text)
    return None if "$" in text else text


def assignments(words: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """(name, value as written or None) of the words of an `ARG`. Raises ValueError."""
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r:.80} is no NAME or NAME=VALUE")
        yield match[1], match[2]


def split_words(text: str, escape: str = "\\") -> list[str]:
    """The words of an `ENV`, `ARG` or `LABEL`: blanks within quotes and after the escape character separate nothing."""
    words: list[str] = []
    word, quote, at = "", "", 0
    inside = False
    while at < len(text):
        char = text[at]
        if not quote and char.isspace():
            if inside:
                words.append(word)
            word, inside = "", False
        elif char == escape and quote != "'" and at + 1 < len(text):
            word, inside = word + text[at : at + 2], True
            at += 1
        else:
            if char == quote:
                quote = ""
            elif not quote and char in "\"'":
                quote = char
            word, inside = word + char, True
        at += 1
    return [*words, word] if inside else words


def environment_words(text: str, escape: str = "\\") -> list[tuple[str, str]]:
    """(name, value as written) of an `ENV` or `LABEL`: `NAME=VALUE …`, or the old `NAME VALUE`. Raises ValueError."""
    words = split_words(text, escape)
    if not words:
        raise ValueError("it names nothing")
    if "=" not in words[0]:
        value = text.strip()[len(words[0]) :].strip()
        if not value:
            raise ValueError(f"{words[0]!r:.80} has no value")
        return [(words[0], value)]
    found = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word!r:.80} is no NAME=VALUE")
        found.append((name, value))
    return found


class _Expander:
    def __init__(self, text: str, scope: Scope, escape: str, quotes: bool) -> None:
        self._text = text
        self._scope = scope
        self._escape = escape
        self._quotes = quotes
        self._at = 0
        self._depth = 0
        self.unknown: list[str] = []
        self.used: list[str] = []

    def until(self, stops: str) -> str:
        """Everything up to one of the characters, which is left where it is."""
        found = ""
        while self._at < len(self._text) and self._text[self._at] not in stops:
            char = self._text[self._at]
            if char == "'" and self._quotes:
                found += self._single()
            elif char == '"' and self._quotes:
                found += self._double()
            elif char == self._escape:
                found += self._escaped()
            elif char == "$":
                found += self._dollar()
            else:
                found += char
                self._at += 1
        return found

    def _escaped(self) -> str:
        pair = self._text[self._at : self._at + 2]
        self._at += 2
        return pair[1:] if self._quotes else pair

    def _single(self) -> str:
        stop = self._text.find("'", self._at + 1)
        if stop < 0:
            raise BadSubstitutionError("a single quote is not closed")
        found = self._text[self._at + 1 : stop]
        self._at = stop + 1
        return found

    def _double(self) -> str:
        self._at += 1
        found = ""
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == '"':
                self._at += 1
                return found
            if char == "$":
                found += self._dollar()
                continue
            if char == self._escape and self._text[self._at + 1 : self._at + 2] in ('"', "$", self._escape):
                self._at += 1
                char = self._text[self._at]
            found += char
            self._at += 1
        raise BadSubstitutionError("a double quote is not closed")

    def _dollar(self) -> str:
        self._at += 1
        if self._text[self._at : self._at + 1] == "{":
            self._at += 1
            return self._braces()
        name = self._name()
        return self._plain(name, f"${name}") if name else "$"

    def _name(self) -> str:
        match = _NAME.match(self._text, self._at) or _SPECIAL.match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match[0]

    def _plain(self, name: str, written: str) -> str:
        known, value = self._look(name)
        if not known:
            self.unknown.append(name)
            return written
        return value or ""

    def _look(self, name: str) -> tuple[bool, str | None]:
        self.used.append(name)
        return self._scope.value(name)

    def _braces(self) -> str:
        start = self._at
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BadSubstitutionError(f"more than {_DEEPEST} substitutions in one word")
        name = self._name()
        if not name:
            raise BadSubstitutionError(f"${{{self._text[start : start + 20]!s:.20}: no name follows `${{`")
        char = self._text[self._at : self._at + 1]
        if char == "}":
            self._at += 1
            return self._plain(name, f"${{{name}}}")
        colon = char == ":"
        self._at += colon
        operator = self._text[self._at : self._at + 1]
        if operator and operator in "-+?":
            self._at += 1
            return self._default(name, operator, colon=colon, start=start)
        if operator and operator in "#%/" and not colon:
            return self._pattern(name, operator, start)
        raise BadSubstitutionError(f"${{{self._text[start : self._at + 1]}: no substitution of Docker's")

    def _closed(self, start: int) -> None:
        if self._text[self._at : self._at + 1] != "}":
            raise BadSubstitutionError(f"${{{self._text[start : start + 40]}: the brace is not closed")
        self._at += 1

    def _default(self, name: str, operator: str, *, colon: bool, start: int) -> str:
        known, value = self._look(name)
        before = len(self.unknown)
        word = self.until("}")
        self._closed(start)
        if not known:
            del self.unknown[before:]
            self.unknown.append(name)
            return f"${{{self._text[start : self._at]}"
        there = value is not None and (bool(value) or not colon)
        if operator == "?" and not there:
            raise BadSubstitutionError(f"{name}: {word or 'is not set'}")
        if there == (operator == "+"):
            return word
        del self.unknown[before:]  # the word does not count
        return value or "" if operator != "+" else ""

    def _pattern(self, name: str, operator: str, start: int) -> str:
        double = self._text[self._at : self._at + 2] == operator * 2
        self._at += 2 if double else 1
        known, value = self._look(name)
        pattern = self.until("/}" if operator == "/" else "}")
        other = ""
        if operator == "/" and self._text[self._at : self._at + 1] == "/":
            self._at += 1
            other = self.until("}")
        self._closed(start)
        if not known:
            self.unknown.append(name)
            return f"${{{self._text[start : self._at]}"
        return _replaced(value or "", operator, pattern, other, double=double)


def _replaced(value: str, operator: str, pattern: str, other: str, *, double: bool) -> str:
    if len(value) > _LONGEST or pattern.count("*") > _STARS:
        raise BadSubstitutionError(f"{pattern!r:.40}: too large a pattern or value")
    if operator == "/":
        return re.sub(_translated(pattern, greedy=True), lambda _: other, value, count=0 if double else 1)
    greedy = re.compile(_translated(pattern, greedy=double), re.DOTALL)
    if operator == "#":
        match = greedy.match(value)
        return value[match.end() :] if match else value
    starts = range(len(value) + 1) if double else range(len(value), -1, -1)
    for start in starts:
        if greedy.fullmatch(value, start):
            return value[:start]
    return value


@lru_cache(maxsize=256)
def _translated(pattern: str, *, greedy: bool) -> str:
    found, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            found += ".*" if greedy else ".*?"
        elif char == "?":
            found += "."
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            found += re.escape(pattern[at])
        else:
            found += re.escape(char)
        at += 1
    return found


def declared(scope: Scope, name: str, default: Expanded | None, given: Mapping[str, str], outer: Scope) -> None:
    """Let an `ARG` of a stage come into force: what the build gives, else its default, else the one before the first FROM."""
    if name in given:
        scope.arguments[name] = given[name]
    elif default is not None:
        scope.arguments[name] = default.text if default.known else None
    elif name in outer.arguments:
        scope.arguments[name] = outer.arguments[name]
    elif name not in scope.arguments:
        scope.arguments[name] = None
