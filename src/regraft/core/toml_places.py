"""Where things stand in a TOML text that `tomllib` has read: the line and column of each key, value and table.

Only a manifest with a mistake pays for this: tree-sitter is imported on the first call.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

Path = tuple[str | int, ...]
At = Literal["key", "value", "table"]

_DEEPEST = 12  # no key of a manifest lies deeper, and hostile nesting must not exhaust the stack


class Place(NamedTuple):
    """Both start at 1; columns count characters."""

    line: int
    column: int


class TomlPlaces:
    """Looks up paths such as ("images", "rocm", "unnamed", 0). What stands at no place of its own is its parent's."""

    def __init__(self, data: bytes) -> None:
        from tree_sitter import Language, Parser  # noqa: PLC0415 - only a manifest with a mistake needs it
        from tree_sitter_toml import language  # noqa: PLC0415 - likewise

        self._data = data
        self._starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 0x0A)]
        self._keys: dict[Path, int] = {}
        self._values: dict[Path, int] = {}
        self._stops: dict[Path, int] = {}
        self._headers: dict[Path, int] = {}
        self._elements: dict[Path, int] = {}  # [[tables]] -> how many there are so far
        self._document(Parser(Language(language())).parse(data).root_node)

    def place(self, path: Path, at: At) -> Place:
        """The place of a key, of its value, or of the table that a path names (its header, else its first mention)."""
        order = {
            "key": (self._keys, self._values, self._headers),
            "value": (self._values, self._headers, self._keys),
            "table": (self._headers, self._keys, self._values),
        }[at]
        for length in range(len(path), 0, -1):
            for places in order:
                if path[:length] in places:
                    return self._place(places[path[:length]])
        return Place(1, 1)

    def span(self, path: Path) -> tuple[int, int] | None:
        """Where a value begins and ends, in bytes; None for a path that no value has."""
        return (self._values[path], self._stops[path]) if path in self._stops else None

    def _place(self, offset: int) -> Place:
        line = bisect_right(self._starts, offset)
        before = self._data[self._starts[line - 1] : offset]
        return Place(line, len(before.decode("utf-8", "replace")) + 1)

    def _document(self, root: Any) -> None:
        for node in root.named_children:
            if node.type == "pair":
                self._pair(node, ())
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def _table(self, node: Any) -> None:
        header, *rest = (child for child in node.named_children if child.type != "comment")
        path: Path = ()
        parts = list(_parts(header))
        for number, (key, offset) in enumerate(parts, 1):
            path = (*path, key)
            self._keys.setdefault(path, offset)
            last = number == len(parts)
            if last and node.type == "table_array_element":
                self._headers.setdefault(path, node.start_byte)
                self._elements[path] = self._elements.get(path, 0) + 1
            if path in self._elements:
                path = (*path, self._elements[path] - 1)
        self._headers.setdefault(path, node.start_byte)
        for child in rest:
            if child.type == "pair":
                self._pair(child, path)

    def _pair(self, node: Any, base: Path) -> None:
        key, value = (child for child in node.named_children if child.type != "comment")
        path = base
        for part, offset in _parts(key):
            path = (*path, part)
            self._keys.setdefault(path, offset)
        self._value(value, path)

    def _value(self, node: Any, path: Path) -> None:
        self._values.setdefault(path, node.start_byte)
        self._stops.setdefault(path, node.end_byte)
        if len(path) > _DEEPEST:
            return
        inside = [child for child in node.named_children if child.type != "comment"]
        if node.type == "inline_table":
            for child in inside:
                self._pair(child, path)
        elif node.type == "array":
            for index, child in enumerate(inside):
                self._value(child, (*path, index))


def _parts(node: Any) -> Iterator[tuple[str, int]]:
    """The parts of a key and where each begins. A dotted key is nested to the left, once for each dot."""
    found: list[Any] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.type == "dotted_key":
            waiting.extend(part.named_children)
        else:
            found.append(part)
    for part in reversed(found):
        yield _unquoted(part.text.decode()), part.start_byte


def _unquoted(text: str) -> str:
    return next(iter(tomllib.loads(f"{text} = 0"))) if text[0] in "\"'" else text
