"""The YAML of a workflow as GitHub reads it: scalars as they are written, with their places; bounded on any input."""

from collections.abc import Mapping
from typing import Any

from regraft.core.workflow_values import Data, Place, Problem, Text

LIMIT = 1024 * 1024  # bytes
DEPTH = 100  # GitHub's own reader stops at 50
NODES = 100_000  # with every alias written out


def read_yaml(path: str, data: bytes) -> tuple[Data | None, list[Problem]]:
    """The document, or None where it cannot be read at all, and what is wrong with it.

    Anchors and aliases are followed, as GitHub does since 2025; merge keys (`<<`) are not known to it and stay keys.
    """
    import yaml  # noqa: PLC0415 - only what reads workflows needs it

    start = Place(path, 1)
    if len(data) > LIMIT:
        return None, [Problem(start, f"larger than {LIMIT} bytes")]
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Problem(Place(path, line), "not UTF-8")]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = start if mark is None else Place(path, mark.line + 1, mark.column + 1)
        return None, [Problem(place, f"not YAML: {error.problem or error.context}")]
    except (yaml.YAMLError, RecursionError, ValueError):
        return None, [Problem(start, "not YAML: a character or a nesting that YAML does not allow")]
    if root is None:
        return None, [Problem(start, "empty")]
    reader = _Reader(path)
    try:
        return reader.data(root, 0)[0], reader.problems
    except _TooMuch as error:
        return None, [Problem(error.place, error.message)]


class _TooMuch(Exception):  # noqa: N818 - ends the reading of one file
    def __init__(self, place: Place, message: str) -> None:
        self.place = place
        self.message = message


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[int, tuple[Data, int]] = {}
        self._open: set[int] = set()
        self.problems: list[Problem] = []

    def data(self, node: Any, depth: int) -> tuple[Data, int]:
        """A node as a value, and how many nodes it is when aliases are written out."""
        if node.id == "scalar":
            text = self._text(node)
            return Data(text, text.place), 1
        known = self._known.get(id(node))
        if known is not None:
            return known
        place = self._place(node)
        if id(node) in self._open or depth > DEPTH:
            raise _TooMuch(place, "nested more deeply than workflows may be")
        self._open.add(id(node))
        found, size = self._sequence(node, depth) if node.id == "sequence" else self._mapping(node, depth)
        if size > NODES:
            raise _TooMuch(place, f"more than {NODES} values once its aliases are written out")
        self._open.discard(id(node))
        self._known[id(node)] = found, size
        return found, size

    def _place(self, node: Any) -> Place:
        mark = node.start_mark
        return Place(self._path, mark.line + 1, mark.column + 1)

    def _text(self, node: Any) -> Text:
        place, style = self._place(node), node.style
        if style == "|":
            return Text(node.value, place, place.line + 1, block=True)
        if node.tag[:1] == "!" and node.tag != "!":
            self.problems.append(Problem(place, "`!` begins a YAML tag here; quote the text, or write `${{ ! … }}`"))
        return Text(node.value, place, plain=not style)

    def _sequence(self, node: Any, depth: int) -> tuple[Data, int]:
        items = [self.data(one, depth + 1) for one in node.value]
        return Data(tuple(one for one, _ in items), self._place(node)), 1 + sum(size for _, size in items)

    def _mapping(self, node: Any, depth: int) -> tuple[Data, int]:
        values: dict[str, Data] = {}
        keys: dict[str, Text] = {}
        lower: set[str] = set()
        total = 1
        for key, value in node.value:
            if key.id != "scalar":
                self.problems.append(Problem(self._place(key), "a key that is no text"))
                continue
            text = self._text(key)
            if text.value.lower() in lower:
                self.problems.append(Problem(text.place, f"`{text.value}` stands here twice; GitHub refuses the file"))
            lower.add(text.value.lower())
            found, size = self.data(value, depth + 1)
            total += size + 1
            values.setdefault(text.value, found)
            keys.setdefault(text.value, text)
        return Data(values, self._place(node), keys), total


def mapping(data: Data | None) -> Mapping[str, Data]:
    """What stands below the keys of a mapping; nothing where it is none."""
    return data.value if data is not None and isinstance(data.value, Mapping) else {}


def text(data: Data | None) -> Text | None:
    """The scalar; None where there is none, or nothing is written there (`key:`)."""
    if data is None or not isinstance(data.value, Text) or is_null(data):
        return None
    return data.value


def items(data: Data | None) -> tuple[Data, ...]:
    """The items of a sequence; nothing where it is none."""
    return data.value if data is not None and isinstance(data.value, tuple) else ()


def texts(data: Data | None) -> tuple[Text, ...]:
    """A scalar, or the scalars of a sequence: `needs: a` and `needs: [a, b]`."""
    one = text(data)
    if one is not None:
        return (one,)
    return tuple(found for found in map(text, items(data)) if found is not None)


def is_null(data: Data) -> bool:
    """`key:`, `key: ~` and `key: null`."""
    found = data.value
    return isinstance(found, Text) and found.plain and found.value in {"", "~", "null", "Null", "NULL"}
