"""Judges a parsed manifest by its shapes, and goes on after a mistake so that all are said at once."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from regraft.core.manifest_shapes import (
    Choice,
    Fault,
    Field,
    ListOf,
    MapOf,
    NamedTables,
    Number,
    Shape,
    TableOf,
    Text,
    TextOrTable,
)
from regraft.core.spelling import nearest
from regraft.core.toml_places import At, Path

MOST = 100  # mistakes that are said of one manifest

_TYPES = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "a list", dict: "a table"}


class Wrong:
    """Stands where a value was that has a mistake of its own: what depends on it is not judged."""


WRONG: Final = Wrong()


class Mistake(Struct, frozen=True):
    path: Path
    at: At
    code: str
    message: str
    hint: str | None = None


class TooManyError(Exception):
    """More than `MOST` mistakes: what follows is not judged."""


class Walk:
    """`read` gives the manifest as it was meant; `mistakes` says what is wrong with it.

    A misspelt key is read as the key that it is nearest to, so that one slip makes one mistake. `renamed` then has the
    meant path -> the key as written.
    """

    def __init__(self, root: TableOf) -> None:
        self.mistakes: list[Mistake] = []
        self.renamed: dict[Path, str] = {}
        self._root = root

    def read(self, value: dict[str, Any]) -> dict[str, Any]:
        """Every key of every table, absent ones by their defaults, mistaken ones as `WRONG`. Raises TooManyError."""
        return self._table(self._root, value, ())

    def add(self, path: Path, at: At, code: str, message: str, hint: str | None = None) -> None:
        if len(self.mistakes) == MOST:
            raise TooManyError
        self.mistakes.append(Mistake(path, at, code, message, hint))

    def _value(self, shape: Shape, value: Any, path: Path) -> Any:
        match shape, value:
            case Text(), str():
                return self._text(shape, value, path)
            case Choice(), str():
                return self._choice(shape, value, path)
            case Number(), int() if not isinstance(value, bool):
                return self._number(shape, value, path)
            case ListOf(), list() if not _flat(shape, value):
                return self._list(shape, value, path)
            case TableOf(), dict():
                return self._table(shape, value, path)
            case TextOrTable(text=text), str():
                return self._text(text, value, path)
            case TextOrTable(table=table), dict():
                return self._table(table, value, path)
            case NamedTables(), dict():
                return self._named(shape, value, path)
            case MapOf(), dict():
                return self._map(shape, value, path)
            case _:
                message = f"{dotted(path)} must be {_wanted(shape)}, not {_found(value)}"
                self.add(path, "value", "wrong-type", message, _mended(shape, value, path))
                return WRONG

    def _text(self, shape: Text, value: str, path: Path, at: At = "value") -> Any:
        fault = shape.judge(value)
        if fault is None:
            return shape.clean(value) if shape.clean else value
        hidden = shape.secret or at == "key" or fault.code == "credentials-in-url"
        shown = "" if hidden else f" {quoted(value)}"
        self._fault(f"{dotted(path)}{shown}", fault, path, at)
        return WRONG

    def _fault(self, subject: str, fault: Fault, path: Path, at: At) -> None:
        self.add(path, at, fault.code, f"{subject} {fault.message}", fault.hint)

    def _choice(self, shape: Choice, value: str, path: Path) -> Any:
        if value in shape.words:
            return value
        meant = nearest(value, shape.words)
        message = f"{dotted(path)} must be {_wanted(shape)}, not {quoted(value)}"
        self.add(path, "value", "bad-value", message, f'write "{meant}"' if meant else None)
        return WRONG

    def _number(self, shape: Number, value: int, path: Path) -> Any:
        if shape.least <= value <= shape.most:
            return value
        self.add(path, "value", "bad-value", f"{dotted(path)} must be {shape.says}")
        return WRONG

    def _list(self, shape: ListOf, value: list[Any], path: Path) -> Any:
        if len(value) < shape.at_least:
            self.add(path, "value", "bad-value", f"{dotted(path)} must not be empty")
            return WRONG
        items: dict[int, Any] = {}
        seen: set[Any] = set()
        for index, one in enumerate(value):
            item = shape.first if index == 0 and shape.first else shape.item
            items[index] = read = self._value(item, one, (*path, index))
            self._unique(shape, read, seen, (*path, index))
        return [item for item in items.values() if item is not WRONG]

    def _unique(self, shape: ListOf, read: Any, seen: set[Any], path: Path) -> None:
        if isinstance(shape.item, TextOrTable) and isinstance(read, dict):
            read = read[shape.item.table.fields[0].key]
        if not shape.unique or read is WRONG:
            return
        if read in seen:
            message = f"{dotted(path)} holds {quoted(read)} twice"
            self.add(path, "value", "duplicate", message, "take one out")
        seen.add(read)

    def _map(self, shape: MapOf, value: dict[str, Any], path: Path) -> dict[str, Any]:
        for key, one in value.items():
            self._text(shape.key, key, (*path, key), "key")
            self._value(shape.value, one, (*path, key))
        return dict(value)

    def _named(self, shape: NamedTables, value: dict[str, Any], path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, one in value.items():
            inner = (*path, name)
            if isinstance(one, dict):
                self._text(shape.name, name, inner, "key")
                found[name] = self._table(shape.table, one, inner)
            else:
                message = f"{dotted(inner)} must be a table, not {_found(one)}"
                self.add(inner, "value", "wrong-type", message, _table_hint(shape, one, path, name))
                found[name] = WRONG
        return found

    def _table(self, shape: TableOf, value: dict[str, Any], path: Path) -> dict[str, Any]:
        meant = self._meant(shape, value, path)
        read: dict[str, Any] = {}
        for one in shape.fields:
            inner = (*path, one.key)
            if one.key in meant:
                read[one.key] = self._value(one.shape, meant[one.key], inner)
                self._needs(shape, one.key, meant, path)
            elif one.required:
                read[one.key] = WRONG
                table = f"[{dotted(path)}]" if path else "the manifest"
                self.add(path, "table", "missing-key", f"{table} has no `{one.key}`", _missing_hint(one))
            else:
                # A container without an answer of its own is still a value for what depends on it.
                read[one.key] = one.default
        self._apart(shape, meant, path)
        return read

    def _apart(self, shape: TableOf, meant: Mapping[str, Any], path: Path) -> None:
        """Keys of which one is wanted, and keys that cannot stand together."""
        there = [key for key in shape.either if key in meant]
        words = " or ".join(f"`{key}`" for key in shape.either)
        if shape.either and not there:
            hint = _missing_hint(next(one for one in shape.fields if one.key == shape.either[0]))
            self.add(path, "table", "missing-key", f"[{dotted(path)}] has no {words}", hint)
        for other in there[1:]:
            message = f"[{dotted(path)}] has a `{there[0]}` and a `{other}`"
            self.add((*path, other), "key", "excluded-key", message, "keep one of the two")
        for key, others in shape.forbids.items():
            for other in others if key in meant else ():
                if other in meant:
                    message = f"{dotted((*path, other))} means nothing beside `{key}`"
                    self.add((*path, other), "key", "excluded-key", message, f"take `{other}` out")

    def _needs(self, shape: TableOf, key: str, meant: Mapping[str, Any], path: Path) -> None:
        for other in shape.needs.get(key, ()):
            if other not in meant:
                message = f"{dotted((*path, key))} means nothing without `{other}`"
                self.add((*path, key), "key", "missing-key", message, f"add `{other}`, or take `{key}` out")

    def _meant(self, shape: TableOf, value: dict[str, Any], path: Path) -> dict[str, Any]:
        known = [one.key for one in shape.fields]
        meant = {key: value[key] for key in known if key in value}
        for key, one in value.items():
            if key in meant:
                continue
            absent = nearest(key, [other for other in known if other not in meant])
            hint = self._unknown_hint(absent or nearest(key, known), key, known)
            table = f"[{dotted(path)}]" if path else "the manifest"
            self.add((*path, key), "key", "unknown-key", f"{table} has no key {quoted(key)}", hint)
            if absent:
                meant[absent] = one
                self.renamed[*path, absent] = key
        return meant

    def _unknown_hint(self, guess: str | None, key: str, known: list[str]) -> str:
        if guess:
            return f"write `{guess}`"
        homes = [table for table, other in every_field(self._root) if other.key == key]
        if homes:
            return f"it belongs in {' or '.join(f'[{home}]' for home in homes)}"
        return f"the keys here are {', '.join(known)}"


def every_field(root: TableOf, path: str = "") -> Iterator[tuple[str, Field]]:
    """Each field with the dotted path of its table, names standing as in the docs: "images.IMAGE.baked.DEPENDENCY"."""
    for one in root.fields:
        yield path, one
        inner = f"{path}.{one.key}" if path else one.key
        if isinstance(one.shape, TableOf):
            yield from every_field(one.shape, inner)
        elif isinstance(one.shape, NamedTables):
            yield from every_field(one.shape.table, f"{inner}.{one.shape.word}")
        elif isinstance(one.shape, ListOf) and isinstance(one.shape.item, TextOrTable):
            yield from every_field(one.shape.item.table, inner)


def quoted(text: str) -> str:
    """Hostile text for a message: escaped and bounded."""
    return f"{text[:120]!r}" + ("…" if len(text) > 120 else "")


def dotted(path: Path) -> str:
    """A path as TOML writes it; the numbers of list items are left out."""
    parts = (part for part in path if isinstance(part, str))
    return ".".join(
        part
        if part.isascii() and part.replace("-", "").replace("_", "").isalnum() and len(part) <= 64
        else quoted(part)
        for part in parts
    )


def _flat(shape: ListOf, value: list[Any]) -> bool:
    """One list of strings where a list of lists is wanted: one mistake, not one for each item."""
    return isinstance(shape.item, ListOf) and bool(value) and all(isinstance(one, str) for one in value)


def _wanted(shape: Shape) -> str:
    match shape:
        case Text():
            return "a string"
        case Choice(words):
            return f"one of {', '.join(words)}"
        case Number():
            return shape.says
        case ListOf(item=ListOf()):
            return "a list of commands, each an argument list (never a line for a shell)"
        case TextOrTable():
            return "a string or a table"
        case ListOf(item=TextOrTable()):
            return "a list of strings or tables"
        case ListOf(first=Text()):
            return "an argument list (never a line for a shell)"
        case ListOf():
            return "a list of strings"
        case MapOf():
            return "a table of strings"
        case _:
            return "a table"


def _found(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "a list of tables"
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "a list of strings"
    return _TYPES.get(type(value), "a date or time")


def _mended(shape: Shape, value: Any, path: Path) -> str | None:
    match shape, value:
        case ((ListOf(mend=mend) | TableOf(mend=mend)), (str() | list())) if mend is not None:
            return mend(value) if isinstance(value, str) or _flat_strings(value) else None
        case Text(), bool():
            return f'write "{str(value).lower()}"'
        case Text(), int() | float() if abs(value) < 10**15:
            return f'write "{value}"'
        case Number(), str() if value.isascii() and value.isdecimal() and len(value) < 10:
            return f"write {int(value)}"
        case ((TableOf() | NamedTables() | MapOf()), list()):
            return f"write [{dotted(path)}] once, not [[{dotted(path)}]]"
        case _:
            return None


def _flat_strings(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(one, str) for one in value)


def _table_hint(shape: NamedTables, value: Any, path: Path, name: str) -> str | None:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"write [{dotted((*path, name))}] once, not [[{dotted((*path, name))}]]"
    if any(one.key == name for one in shape.table.fields):
        return f"put `{name}` into a table with a name, [{dotted(path)}.{shape.word}]"
    first = next((one.key for one in shape.table.fields if one.required), shape.table.fields[0].key)
    return f"write a table [{dotted((*path, name))}] with a `{first}`"


def _missing_hint(one: Field) -> str:
    if isinstance(one.shape, TableOf):
        return f"add a table [{one.key}]"
    return f'add {one.key} = "…": {one.text[0].lower()}{one.text[1:].rstrip(".")}'
