"""The loose scan: lines that are a directive, look like one, or mention its key. What they amount to is decided later."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.spelling import distance

How = Literal["exact", "folded", "letters", "affix", "order", "glued", "unknown"]

HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
COLONS = ":\uff1a\ufe55\u2236\ua789\ufe13"
BLANKS = " \t\u00a0"
# What no reader sees: controls, soft hyphen, zero-width and bidirectional marks, fillers, variation selectors, tags.
INVISIBLE = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# What may stand before a key on its line without being a word: bullets, quotes, emphasis, numbers, task boxes, tags.
_DECORATION = regex(r"(?:\[[xX]\]|<[^<>]{0,100}>|[^\w]|_|[0-9]{1,9}[.)](?=\s))*")
_HEAD = regex(rf"[^{COLONS}=\uff1d\[]{{1,80}}")
_TOKEN = regex(r"\S{1,80}")
_REST = regex(
    rf"(?P<mark>[*_~`\"')\]]*)(?P<gap>\s*)(?P<scope>\[[^\[\]]*\])?(?P<gap2>[\s*_~`\"']*)(?P<sep>[{COLONS}=\uff1d])?"
    r"(?P<value>.*)",
    re.DOTALL,
)
_BLANK = regex(r"\s")
# What the page shows as another character than the source has, or not at all: a character reference, a backslash before
# punctuation, a tag, emphasis.
_ESCAPE = regex(
    r"<[^<>]{0,100}>|[*~]|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\[!-/:-@\[-`{-~]"
)
_UNKNOWN = regex(r"ci-[a-z0-9](?:[a-z0-9.-]{0,60}[a-z0-9])?-pr")
_FOLD = str.maketrans(dict.fromkeys(HYPHENS + "_", "-"))


class Match(Struct, frozen=True):
    """The key that was probably meant: None for an unknown dependency's."""

    key: str | None
    how: How


class Opening(Struct, frozen=True):
    """A line that begins, but for decoration, with something like a key. Columns count from 0 in the raw line."""

    line: int
    raw: str
    column: int
    word: str  # the run without blanks at `column`
    match: Match
    lead: str  # what stands before the key, invisible characters left out
    written: str  # the key as written
    mark: str  # decoration after the key
    scope: str | None
    gaps: bool  # blanks within the key's part that do not belong there
    sep: str  # a colon, something like one, or ""
    value: str
    value_column: int
    invisible: tuple[int, str] | None  # the first invisible character and its column
    escape: tuple[int, str] | None  # likewise the first escape of a key that is one only as the page shows it


class Mention(Struct, frozen=True):
    """A line that names a key after other words. `claims`: a colon follows, as in a directive."""

    line: int
    raw: str
    column: int
    word: str
    key: str
    claims: bool


class Keys:
    """A vocabulary's keys, prepared to be found in whatever spelling."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.known = frozenset(keys)
        self._folded = {fold(key): key for key in sorted(self.known, reverse=True)}
        self._affixed: dict[str, str] = {}
        for folded, key in self._folded.items():
            for affixed in (folded.removeprefix("ci-"), folded.removesuffix("-pr")):
                if affixed != folded and "-" in affixed:
                    self._affixed[affixed] = key
        self._orders = {tuple(sorted(folded.split("-"))): key for folded, key in self._folded.items()}
        self._cache: dict[str, Match | None] = {}
        self.lengths = sorted({folded.count("-") + 1 for folded in self._folded}, reverse=True)

    def match(self, written: str) -> Match | None:
        """The key that `written` is, or nearly is."""
        if written in self.known:
            return Match(written, "exact")
        folded = fold(written)
        if folded in self._affixed and folded not in self._folded:
            # With blanks it is prose ("SGLang PR: https://…"): a link to the other side is no request to test it.
            return Match(self._affixed[folded], "affix") if not _BLANK.search(written) else None
        if folded not in self._cache:
            self._cache[folded] = self._match(folded)
        found = self._cache[folded]
        if (found is None or found.how == "unknown") and not _BLANK.search(written):
            return self._rearranged(folded) or found
        return found

    def _rearranged(self, folded: str) -> Match | None:
        """A key with its words in another order, or with something glued to it."""
        if key := self._orders.get(tuple(sorted(folded.split("-")))):
            return Match(key, "order")
        glued = (key for known, key in self._folded.items() if f"-{known}-" in f"-{folded}-")
        return Match(key, "glued") if (key := next(glued, None)) else None

    def _match(self, folded: str) -> Match | None:
        if key := self._folded.get(folded):
            return Match(key, "folded")
        near = [(_distance(folded, known), key) for known, key in self._folded.items()]
        cost, key = min(((cost, key) for cost, key in near if cost), default=(0, ""))
        if cost:
            return Match(key, "letters")
        return Match(None, "unknown") if self._folded and _UNKNOWN.fullmatch(folded) else None

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """A key of several words is found within a longer word too: nothing that holds it is left unsaid."""
        words = (
            re.escape(key).replace(r"\-", "[-_]") if "-" in key else rf"(?<![\w-]){re.escape(key)}(?![\w-])"
            for key in sorted(self._folded, key=len, reverse=True)
        )
        return re.compile(rf"(?:{'|'.join(words)})(?=(\[[^\[\]]*\])?[`*_ \t]*([{COLONS}=]))?", re.IGNORECASE)


def fold(written: str) -> str:
    """Case, Unicode hyphens, underscores and blanks made one."""
    return re.sub(r"-+", "-", "-".join(written.split()).casefold().translate(_FOLD))


def scan(lines: Sequence[str], keys: Keys) -> list[Opening | Mention]:
    """Everything that may matter, at most one for each line, in their order."""
    if not keys.known:
        return []
    found = []
    for number, line in enumerate(lines):
        one = _opening(number, line, keys) or _escaped(number, line, keys) or _mention(number, line, keys)
        if one:
            found.append(one)
    return found


def _escaped(number: int, raw: str, keys: Keys) -> Opening | None:
    """The same for a line as the page shows it, where its source hides the key behind an escape."""
    return _opening(number, raw, keys, found) if (found := _ESCAPE.search(raw)) else None


def _opening(number: int, raw: str, keys: Keys, escape: re.Match[str] | None = None) -> Opening | None:
    clean, columns = _visible(*_unescaped(raw)) if escape else _visible(raw, range(len(raw)))
    decoration = _DECORATION.match(clean)
    start = decoration.end() if decoration else 0
    if start == len(clean) or not (found := _key(clean, start, keys)):
        return None
    match, end = found
    rest = _REST.match(clean, end)
    assert rest  # every part of the pattern may be empty
    value = rest["value"].strip(BLANKS)
    if match.how == "unknown" and not rest["sep"] and not value.startswith(("#", "http")):
        return None
    place = clean.index(value, rest.start("value")) if value else rest.start("value")
    hidden = INVISIBLE.search(raw)
    return Opening(
        line=number,
        raw=raw,
        column=columns[start],
        word=_word(raw, columns[start]),
        match=match,
        lead=clean[:start],
        written=clean[start:end],
        mark=(rest["mark"] + rest["gap2"]).strip(),
        scope=rest["scope"][1:-1] if rest["scope"] is not None else None,
        gaps=bool(rest["sep"] or rest["scope"]) and bool(rest["gap"] or re.search(r"\s", rest["gap2"])),
        sep=rest["sep"] or "",
        value=value,
        value_column=columns[place] if place < len(columns) else len(raw),
        invisible=(hidden.start(), hidden[0]) if hidden else None,
        escape=(escape.start(), escape[0]) if escape else None,
    )


def _visible(text: str, columns: Sequence[int]) -> tuple[str, Sequence[int]]:
    """A line without invisible characters, and the column of each that is left."""
    if not INVISIBLE.search(text):
        return text, columns
    kept = [(column, char) for column, char in zip(columns, text, strict=True) if not INVISIBLE.match(char)]
    return "".join(char for _, char in kept), [column for column, _ in kept]


def _unescaped(raw: str) -> tuple[str, list[int]]:
    """The line with escapes as the characters that the page shows, and the column where each of those begins."""
    text, columns, done = "", list[int](), 0
    for found in _ESCAPE.finditer(raw):
        meant = _shown(found[0])
        text += raw[done : found.start()] + meant
        columns += [*range(done, found.start()), *[found.start()] * len(meant)]
        done = found.end()
    return text + raw[done:], [*columns, *range(done, len(raw))]


def _shown(escape: str) -> str:
    if escape.startswith("&"):
        from html import unescape  # noqa: PLC0415 - its table of names is loaded only for a line that has one

        return unescape(escape)
    return escape[1] if escape.startswith("\\") else ""


def _key(clean: str, start: int, keys: Keys) -> tuple[Match, int] | None:
    """The key at `start`, and where it ends: up to a separator, or else by words."""
    if (head := _HEAD.match(clean, start)) and head.end() < len(clean):
        written = head[0].rstrip().rstrip("*_~`\"')").rstrip()
        if written and (match := keys.match(written)):
            return match, start + len(written)
    for count in (1, *keys.lengths):
        written = _words(clean, start, count)
        if written and (match := keys.match(written)) and (match.how != "unknown" or count == 1):
            return match, start + len(written)
    return None


def _words(clean: str, start: int, count: int) -> str:
    """The next `count` words as they stand there, without punctuation after the last."""
    place = start
    for _ in range(count):
        while place > start and place < len(clean) and clean[place].isspace():
            place += 1
        if not (token := _TOKEN.match(clean, place)):
            return ""
        place = token.end()
    return re.split(rf"[{COLONS}=\uff1d\[]", clean[start:place])[0].rstrip("*_~`\"').,;!?")


def _mention(number: int, raw: str, keys: Keys) -> Mention | None:
    if not (found := keys.mention.search(raw)):
        return None
    match = keys.match(found[0])
    key = match.key if match and match.key else found[0]
    return Mention(number, raw, found.start(), _word(raw, found.start()), key, found[2] is not None)


def _word(raw: str, column: int) -> str:
    found = re.compile(r"\S+").match(raw, column)
    return found[0] if found else ""


def _distance(left: str, right: str) -> int:
    """Letters that differ, or 0 where they are too many to be a slip."""
    limit = 0 if len(right) < 5 else 1 if len(right) < 10 else 2
    cost = distance(left, right, limit)
    return cost if cost <= limit else 0
