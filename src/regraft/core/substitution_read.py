"""Reads a file that declares changes as exact texts: what is replaced where, and the anchors that hooks at run time look for."""

import codecs
import tomllib
from collections.abc import Iterator
from typing import Any

from regraft.core.patch_address import file_name
from regraft.core.patch_paths import unsafe
from regraft.core.patch_text import PatchText, Problem, Remark, Section, Substitution
from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.core.spelling import nearest
from regraft.core.toml_places import At, Path, TomlPlaces
from regraft.core.trees import printable

ENDING = ".toml"
LIMIT = 1024 * 1024  # bytes
MOST = 1000  # entries, and places of one entry
SHOWN = 100  # problems

_KEYS = {"replace": ("file", "old", "new", "count"), "anchor": ("file", "text")}
_OPTIONAL = ("count",)
_AT = regex(r"(.*) \(at line (\d+), column \d+\)")
# Reading a key costs the square of its parts.
_LONG_KEY = regex(rb"(?m)(?:^|[\[{,])[ \t]*(?:[\w\"'-]+[ \t]*\.[ \t]*){32}")


def declares(path: str) -> bool:
    """Whether a carried file is one of these, which its name tells (of an address, the last part of its path)."""
    return file_name(path).endswith(ENDING)


def read_substitutions(data: bytes, *, strip: int | None = None, root: bytes = b"") -> PatchText:
    """A section for each file, in the order in which they are first named; or all that is wrong, with the lines.

    `root` is the folder below which the files lie. A strip level means nothing here, and that is said.
    """
    text = PatchText()
    parsed = _parsed(data)
    if isinstance(parsed, Problem):
        text.problems.append(parsed)
        return text
    reader = _Reader(parsed, TomlPlaces(data), root.strip(b"/") + b"/" if root.strip(b"/") else b"")
    text.sections = reader.sections()
    text.problems = sorted(reader.problems, key=lambda one: one.line)[:SHOWN]
    if (more := len(reader.problems) - SHOWN) > 0:
        text.problems.append(Problem(text.problems[-1].line, f"{more} more mistakes"))
    if strip is not None:
        text.tolerated.append(Remark(1, "a strip level means nothing for a file that declares replacements"))
    return text


def _parsed(data: bytes) -> dict[str, Any] | Problem:
    if len(data) > LIMIT:
        return Problem(1, f"the file holds {len(data)} bytes; at most {LIMIT} are read")
    if data.startswith(codecs.BOM_UTF8):
        return Problem(1, "the file begins with a byte order mark; save it as UTF-8 without one")
    if (long_key := _LONG_KEY.search(data)) is not None:
        return Problem(data.count(b"\n", 0, long_key.end()) + 1, "not TOML that is read: a key of more than 32 parts")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Problem(data.count(b"\n", 0, error.start) + 1, f"the byte 0x{data[error.start]:02x} is not UTF-8")
    except RecursionError:
        return Problem(1, "not TOML that is read: values are nested too deep")
    except ValueError as error:
        match = _AT.fullmatch(str(error))
        line = int(match[2]) if match else max(data.rstrip(b"\n").count(b"\n") + 1, 1)
        return Problem(line, f"not TOML: {printable(match[1] if match else str(error))}")


class _Reader:
    def __init__(self, document: dict[str, Any], places: TomlPlaces, root: bytes) -> None:
        self._document = document
        self._places = places
        self._root = root
        self.problems: list[Problem] = []

    def sections(self) -> list[Section]:
        """What can be read of them. Entries stand in the order of the file, whatever they do."""
        known = list(_KEYS)
        for key in self._document:
            if key not in _KEYS:
                self._say((key,), "key", f"there is no table {quoted(key)}{_meant(key, known)}")
        entries = sorted(self._entries(), key=lambda pair: pair[1].line)
        if not entries and not self.problems:
            self._say((), "key", "the file declares nothing: [[replace]] and [[anchor]] tables are expected")
        found: dict[bytes, Section] = {}
        for path, entry in entries[:MOST]:
            section = found.setdefault(path, Section(entry.line, path=path))
            twin = next((one for one in section.substitutions if (one.old, one.new) == (entry.old, entry.new)), None)
            if twin is not None:
                self.problems.append(Problem(entry.line, f"it says the same as the entry in line {twin.line}"))
            section.substitutions.append(entry)
        if len(entries) > MOST:
            self.problems.append(Problem(entries[MOST][1].line, f"{len(entries)} entries; at most {MOST} are read"))
        return list(found.values())

    def _entries(self) -> Iterator[tuple[bytes, Substitution]]:
        for kind in _KEYS:
            tables = self._document.get(kind, [])
            if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
                self._say((kind,), "key", f"write [[{kind}]], a table for each entry")
                continue
            for number, table in enumerate(tables):
                entry = self._entry(kind, table, (kind, number))
                if entry is not None:
                    yield entry

    def _entry(self, kind: str, table: dict[str, Any], at: Path) -> tuple[bytes, Substitution] | None:
        before = len(self.problems)
        self._keys(kind, table, at)
        name = self._text(table, "file", at)
        old = self._text(table, "text" if kind == "anchor" else "old", at)
        new = old if kind == "anchor" else self._text(table, "new", at, empty=True)
        count = table.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
            self._say((*at, "count"), "value", f"count must be a whole number from 1 to {MOST}")
        path = self._root + name
        if name and (why := unsafe(path)):
            self._say((*at, "file"), "value", f"the path {printable(name.decode('utf-8'))} {why}")
        if kind == "replace" and old and old == new:
            self._say(
                (*at, "new"), "value", "old and new are the same text; what only has to be there is an [[anchor]]"
            )
        if len(self.problems) > before:
            return None
        return path, Substitution(self._places.place(at, "table").line, old, new, count)

    def _keys(self, kind: str, table: dict[str, Any], at: Path) -> None:
        known = _KEYS[kind]
        unknown = [key for key in table if key not in known]
        absent = [key for key in known if key not in table]
        for key in unknown:
            self._say((*at, key), "key", f"[[{kind}]] has no key {quoted(key)}{_meant(key, absent, known)}")
        for key in absent:
            if key not in _OPTIONAL and not any(nearest(other, absent) == key for other in unknown):
                self._say(at, "table", f"[[{kind}]] has no `{key}`")

    def _text(self, table: dict[str, Any], key: str, at: Path, *, empty: bool = False) -> bytes:
        """A value as it stands in files. b"" where it is absent or mistaken, which is said."""
        value = table.get(key)
        if value is None:
            return b""
        if not isinstance(value, str):
            self._say((*at, key), "value", f"{key} must be a string")
            return b""
        if not value and not empty:
            self._say((*at, key), "value", f"{key} must not be empty")
        return value.encode("utf-8")

    def _say(self, path: Path, at: At, message: str) -> None:
        self.problems.append(Problem(self._places.place(path, at).line, message))


def _meant(key: str, *known: list[str] | tuple[str, ...]) -> str:
    """The key that was probably meant: one that is missing before one that is there."""
    found = next((meant for some in known if (meant := nearest(key, some)) is not None), None)
    return f"; did you mean `{found}`?" if found else f"; the keys here are {', '.join(known[-1])}"
