"""What may still refer to the files that a patch edits: which words to look for, and which finds count."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.patch_text import Section
from regraft.core.patterns import regex

MOST = 40  # words that are looked for
SHORTEST = 3  # characters of a word
DISTINCT = 8  # characters of a symbol that is looked for by itself

Kind = Literal["path", "module", "name", "symbol"]

_SYMBOL = regex(rb"(?:async +)?(?:def|class|struct|enum|fn|func|#define) +([A-Za-z_]\w*)")
_WORD = regex(rb"[A-Za-z0-9_][\w.-]*")
_PROSE = regex(
    rb"(?i)(?:.*/)?(?:.*\.(?:md|rst|adoc)|(?:readme|changelog|changes|news|license|authors|codeowners)(?:\.[^/]*)?)"
)
_COMMENT = regex(rb"\s*(?:#(?!include|define|if|import)|//|;;|<!--|\* ).*", re.DOTALL)


class Hit(Struct, frozen=True):
    """A line of a tree in which one of the words stands. Lines start at 1; 0: it is in the path itself."""

    path: bytes
    line: int
    text: bytes


class Reference(Struct, frozen=True):
    path: str
    line: int
    text: str
    kind: Kind
    exception: str | None = None  # why it does not count


class References(Struct, frozen=True):
    """`words` were looked for; `left_out` were not, each with the reason. `found` count, `exceptions` do not."""

    words: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    found: tuple[Reference, ...]
    exceptions: tuple[Reference, ...]


class Wanted(Struct, frozen=True):
    """`names` are the files' own names, `modules` how a path is written from two parts on, `symbols` what the patch edits."""

    names: tuple[bytes, ...]
    modules: tuple[bytes, ...]
    symbols: tuple[bytes, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def words(self) -> tuple[bytes, ...]:
        """A module's path ends in its name, so that the names find those as well."""
        return (*self.names, *self.symbols)[:MOST]


def wanted(sections: Iterable[Section], headings: Iterable[bytes] = ()) -> Wanted:
    """What to look for, of the files that these sections edit. `headings` are what follows `@@` on their hunks' headers."""
    names: dict[bytes, None] = {}
    modules: dict[bytes, None] = {}
    symbols: dict[bytes, None] = {}
    left_out: dict[tuple[str, str], None] = {}
    found: dict[bytes, None] = {}
    for section in sections:
        name = leaf(section.old_path)
        if len(name) < SHORTEST or not _WORD.fullmatch(name):
            left_out[(_text(name), "too short, or no word, to be looked for")] = None
        else:
            names[name] = None
        modules.update(dict.fromkeys(_forms(section.old_path)))
        found.update(dict.fromkeys(_symbols(section)))
    found.update({match[1]: None for line in headings if (match := _SYMBOL.match(line.lstrip()))})
    for symbol in found:
        if symbol.startswith(b"__") or len(symbol) < DISTINCT or b"_" not in symbol.strip(b"_"):
            left_out[(_text(symbol), "a symbol that others may have as well")] = None
        else:
            symbols[symbol] = None
    extra = [*names, *symbols][MOST:]
    left_out.update({(_text(word), f"more than {MOST} words"): None for word in extra})
    return Wanted(tuple(names), tuple(modules), tuple(symbols), tuple(left_out))


def sorted_out(look: Wanted, hits: Iterable[Hit]) -> References:
    """Which of the finds count. Prose and lines that are a comment do not."""
    found: list[Reference] = []
    exceptions: list[Reference] = []
    for hit in hits:
        kind = _kind(look, hit)
        why = _exception(hit)
        reference = Reference(_text(hit.path), hit.line, _text(hit.text[:400].strip()), kind, why)
        (exceptions if why else found).append(reference)
    order: Sequence[Kind] = ("path", "module", "symbol", "name")
    found.sort(key=lambda one: order.index(one.kind))
    words = tuple(_text(word) for word in look.words)
    return References(words, look.left_out, tuple(found), tuple(exceptions))


def in_paths(look: Wanted, paths: Iterable[bytes]) -> Iterator[Hit]:
    """Files whose path has one of the names as a word: where the file may have gone."""
    if not look.names:
        return
    pattern = re.compile(rb"(?<![A-Za-z0-9_])(?:" + b"|".join(map(re.escape, look.names)) + rb")(?![A-Za-z0-9_])")
    for path in paths:
        if pattern.search(path):
            yield Hit(path, 0, path)


def leaf(path: bytes) -> bytes:
    """The name by which others refer to a file: its own without the ending, or its folder's for `__init__.py`."""
    folder, _, name = path.rpartition(b"/")
    stem = name.partition(b".")[0] or name
    return folder.rpartition(b"/")[2] if stem == b"__init__" and folder else stem


def _forms(path: bytes) -> Iterator[bytes]:
    """`a/b/c.py` is written `a.b.c`, `b.c`, `a/b/c` and `b/c`."""
    parts = path.split(b"/")
    parts[-1] = parts[-1].partition(b".")[0] or parts[-1]
    if parts[-1] == b"__init__":
        parts.pop()
    for start in range(len(parts) - 1):
        yield b".".join(parts[start:])
        yield b"/".join(parts[start:])


def _symbols(section: Section) -> Iterator[bytes]:
    for hunk in section.hunks:
        for line in hunk.body:
            match = _SYMBOL.match(line[1:].lstrip()) if not line.startswith((b"+", b"\\")) else None
            if match:
                yield match[1]
    lines = (line for one in section.substitutions for line in one.old.split(b"\n"))
    yield from (match[1] for line in lines if (match := _SYMBOL.match(line.lstrip())))


def _kind(look: Wanted, hit: Hit) -> Kind:
    if hit.line == 0:
        return "path"
    if any(form in hit.text for form in look.modules) or re.match(rb"\s*(?:from|import)\b", hit.text):
        return "module"
    return "symbol" if any(symbol in hit.text for symbol in look.symbols) else "name"


def _exception(hit: Hit) -> str | None:
    if _PROSE.fullmatch(hit.path):
        return "prose"
    if hit.line and _COMMENT.fullmatch(hit.text):
        return "a comment"
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
