"""What may still refer to the files that a patch edits: which words to look for, and which finds count."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.comment_lines import is_comment
from regraft.core.patch_text import Section
from regraft.core.patterns import regex

MOST = 40  # words that are looked for
SHORTEST = 3  # characters of a word
DISTINCT = 8  # characters of a symbol that is looked for by itself

Kind = Literal["path", "module", "name", "symbol"]

_SYMBOL = regex(
    rb"(?:(?:export|default|pub|public|static|abstract|final|async) +)*"
    rb"(?:def|class|struct|enum|union|trait|interface|fn|func|function|#\s*define)\s+([A-Za-z_]\w*)"
)
_CONSTANT = regex(rb"([A-Z][A-Z0-9]*_[A-Z0-9_]*)\s*(?::[^=\n]+)?=(?!=)")  # of a module: it begins its line
_HUMPS = regex(rb"[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*")
_WORD = regex(rb"[A-Za-z0-9_][\w.-]*")
_PROSE = regex(
    rb"(?i)(?:.*/)?(?:.*\.(?:md|rst|adoc)|(?:readme|changelog|changes|news|license|authors|codeowners)(?:\.[^/]*)?)"
)


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
    """`words` were looked for; `left_out` were not, each with the reason. `found` count, `exceptions` do not.

    `unsearched`: so many files are no text, and were not looked into.
    """

    words: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    found: tuple[Reference, ...]
    exceptions: tuple[Reference, ...]
    unsearched: int = 0


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
    found.update({symbol: None for line in headings if (symbol := _defined(line.strip())) is not None})
    for symbol in found:
        if symbol.startswith(b"__") or not _distinct(symbol):
            left_out[(_text(symbol), "a symbol that others may have as well")] = None
        else:
            symbols[symbol] = None
    extra = [*names, *symbols][MOST:]
    left_out.update({(_text(word), f"more than {MOST} words"): None for word in extra})
    return Wanted(tuple(names), tuple(modules), tuple(symbols), tuple(left_out))


def sorted_out(look: Wanted, hits: Iterable[Hit], unsearched: int = 0) -> References:
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
    return References(words, look.left_out, tuple(found), tuple(exceptions), unsearched)


def in_paths(look: Wanted, paths: Iterable[bytes]) -> Iterator[Hit]:
    """Files whose path has one of the names as a word: where the file may have gone."""
    if not look.names:
        return
    pattern = re.compile(rb"(?<![A-Za-z0-9_])(?:" + b"|".join(map(re.escape, look.names)) + rb")(?![A-Za-z0-9_])")
    for path in paths:
        if pattern.search(path):
            yield Hit(path, 0, path)


def by_links(paths: Collection[bytes], links: Iterable[tuple[bytes, bytes]]) -> Iterator[Hit]:
    """The links of a tree, (path, what it holds), that lead to one of the paths."""
    for path, held in links:
        folder = path.rpartition(b"/")[0]
        if posixpath.normpath(posixpath.join(folder, held)) in paths:
            yield Hit(path, 1, held)


def in_bytes(words: Iterable[bytes], path: bytes, data: bytes) -> Hit | None:
    """The first line of a file that is no text for git (UTF-16, or with NUL bytes) in which one of the words stands as a whole."""
    wide = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else None
    text = data.decode(wide, "replace").encode() if wide else data
    alternatives = b"|".join(map(re.escape, words))
    match = re.search(rb"(?<![A-Za-z0-9_])(?:" + alternatives + rb")(?![A-Za-z0-9_])", text) if alternatives else None
    if match is None:
        return None
    start, stop = text.rfind(b"\n", 0, match.start()) + 1, text.find(b"\n", match.end())
    line = text[start : stop if stop >= 0 else len(text)].replace(b"\0", b" ")
    return Hit(path, text.count(b"\n", 0, match.start()) + 1, line)


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
            symbol = _defined(line[1:]) if not line.startswith((b"+", b"\\")) else None
            if symbol is not None:
                yield symbol
    lines = (line for one in section.substitutions for line in one.old.split(b"\n"))
    yield from (symbol for line in lines if (symbol := _defined(line)) is not None)


def _defined(line: bytes) -> bytes | None:
    match = _SYMBOL.match(line.lstrip()) or _CONSTANT.match(line)
    return match[1] if match else None


def _distinct(symbol: bytes) -> bool:
    """Whether hardly anything else is called so."""
    return len(symbol) >= DISTINCT and (b"_" in symbol.strip(b"_") or bool(_HUMPS.fullmatch(symbol)))


def _kind(look: Wanted, hit: Hit) -> Kind:
    if hit.line == 0:
        return "path"
    if any(form in hit.text for form in look.modules) or re.match(rb"\s*(?:from|import)\b", hit.text):
        return "module"
    return "symbol" if any(symbol in hit.text for symbol in look.symbols) else "name"


def _exception(hit: Hit) -> str | None:
    if _PROSE.fullmatch(hit.path):
        return "prose"
    if hit.line and is_comment(hit.path, hit.text):
        return "a comment"
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
