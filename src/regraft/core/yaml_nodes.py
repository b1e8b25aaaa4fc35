"""YAML as nodes with their places: nothing in it is turned into values, and an anchor that refers to itself does no harm."""

from collections.abc import Iterator
from typing import Any

LIMIT = 1024 * 1024  # bytes


def compose(data: bytes) -> Any:
    """The root node, or None where there is none. Raises ValueError where it is no YAML, or larger than is read."""
    import yaml  # noqa: PLC0415 - only what reads YAML needs it

    if len(data) > LIMIT:
        raise ValueError(f"larger than {LIMIT:,} bytes")
    try:
        return yaml.compose(data.decode("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from None


def pairs(node: Any) -> Iterator[tuple[str, Any]]:
    """The keys of a mapping with their nodes; none where it is no mapping."""
    if node is not None and node.id == "mapping":
        yield from ((key.value, value) for key, value in node.value if key.id == "scalar")


def get(node: Any, *keys: str) -> Any:
    """What lies under these keys, or None."""
    for key in keys:
        node = next((value for name, value in pairs(node) if name == key), None)
        if node is None:
            return None
    return node


def items(node: Any) -> list[Any]:
    """The nodes of a list; none where it is no list."""
    return list(node.value) if node is not None and node.id == "sequence" else []


def scalars(node: Any) -> Iterator[Any]:
    """Every scalar in it, in order; each node once."""
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if one.id == "scalar":
            yield one
        elif one.id == "sequence":
            waiting += reversed(one.value)
        else:
            waiting += [value for _, value in reversed(one.value)]


def line_of(node: Any) -> int:
    """Counted from 1."""
    line: int = node.start_mark.line
    return line + 1
