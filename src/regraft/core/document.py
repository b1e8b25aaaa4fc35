"""Reading and writing the JSON documents that regraft exchanges with itself on other machines: strictly, both ways."""

import json
from typing import Any, TypeVar

import msgspec

from regraft.errors import InputError

LIMIT = 16 * 1024 * 1024

Document = TypeVar("Document")


def encode(document: Any) -> bytes:
    """Indented JSON with a final newline, fields in the order of the type: equal values give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def encode_one_line(document: Any) -> str:
    """The same, without white space between its parts."""
    return msgspec.json.encode(document).decode()


def plain(document: Any) -> dict[str, Any]:
    """The same as dictionaries, lists and text."""
    built: dict[str, Any] = msgspec.to_builtins(document)
    return built


def decode(data: bytes, kind: type[Document], schema: str, name: str) -> Document:
    """The document in `data`, or InputError that says what in `name` is wrong.

    Codes: too-large, not-json, wrong-schema, wrong-shape. A key that the type does not have is a wrong shape too: what a
    reader would skip is what somebody meant to be read.
    """
    if len(data) > LIMIT:
        raise InputError("too-large", f"{len(data)} bytes; at most {LIMIT} are read", where=name)
    try:
        raw = json.loads(data, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise InputError("not-json", f"not a JSON document: {error}", where=name) from None
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found != schema:
        raise InputError(
            "wrong-schema", f"the schema is {found!r:.80}, not {schema!r}", where=name, hint=f"give a {schema} document"
        )
    try:
        document = msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as error:
        raise InputError("wrong-shape", f"not a {schema} document: {error}", where=name) from None
    unknown = _first_difference(raw, msgspec.to_builtins(document), "$")
    if unknown is not None:
        raise InputError("wrong-shape", f"not a {schema} document: unknown key {unknown}", where=name)
    return document


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads(object_pairs_hook=unique)`: ValueError for a key that stands twice, of which one would be dropped."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _first_difference(raw: Any, read: Any, place: str) -> str | None:
    """The first key of `raw` that `read` has not; every other difference is the decoder's to find."""
    if isinstance(raw, dict) and isinstance(read, dict):
        for key, value in raw.items():
            if key not in read:
                return f"{place}.{key}"[:200]
            deeper = _first_difference(value, read[key], f"{place}.{key}")
            if deeper is not None:
                return deeper
    elif isinstance(raw, list) and isinstance(read, list):
        for index, (one, other) in enumerate(zip(raw, read, strict=False)):
            deeper = _first_difference(one, other, f"{place}[{index}]")
            if deeper is not None:
                return deeper
    return None
