"""The variables that a shell script reads and sets, by tree-sitter's own tree."""

from functools import lru_cache
from typing import Any

from msgspec import Struct

from regraft.core.patterns import regex

_SETTERS = frozenset(
    {"read", "printf", "mapfile", "readarray", "getopts", "eval", "source", ".", "let", "env", "select"}
)
_DEFAULTS = frozenset({":-", "-", ":+", "+", ":=", "=", ":?", "?", "!"})
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_NAME = regex(r"_*|[0-9]+")
_ASKED = regex(
    rb"(?:\[\[?\s+|\btest\s+|\s)(?:!\s+)?-[nzv]\s+[\"']?\$?\{?([A-Za-z_][A-Za-z0-9_]*)"
    rb"|\[\[?\s+(?:!\s+)?[\"']?\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?[\"']?\s+\]|\$\{([A-Za-z_][A-Za-z0-9_]*):?[-+=?]"
)
_CHOSEN = regex(rb"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}[<>]|\bcoproc\s+([A-Za-z_][A-Za-z0-9_]*)")
_COMPUTED = regex(rb"\b(?:export|declare|typeset|readonly|printf\s+-v)\s+(?:-\w+\s+)*[\"']?[$`]")


class Variables(Struct, frozen=True):
    """`reads`: (name, byte) in order. `sets`: names that the script gives a value, or asks for one.

    `sources`: what it reads as a script of its own, as written. `open`: it may set anything (`eval`, `export $(…)`).
    """

    reads: tuple[tuple[str, int], ...]
    sets: frozenset[str]
    sources: tuple[str, ...]
    open: bool


def variables(root: Any, data: bytes) -> Variables:
    from tree_sitter import QueryCursor  # noqa: PLC0415 - only what judges scripts needs it

    found: dict[str, list[Any]] = QueryCursor(_query()).captures(root)
    reads: list[tuple[str, int]] = []
    sets = {name.decode() for match in _ASKED.findall(data) for name in match if name}
    for descriptor, process in _CHOSEN.findall(data):
        sets |= {descriptor.decode()} if descriptor else {process.decode(), f"{process.decode()}_PID", "COPROC_PID"}
    for node in found.get("name", []):
        name = node.text.decode("utf-8", "replace")
        parent = node.parent
        if parent.type == "subscript":
            parent = parent.parent
        if _NO_NAME.fullmatch(name):
            continue
        if parent.type == "simple_expansion" or (parent.type == "expansion" and _is_plain(parent, node)):
            reads.append((name, node.start_byte))
        elif parent.type != "expansion":
            sets.add(name)
    sources: list[str] = []
    is_open = _COMPUTED.search(data) is not None
    for node in found.get("command", []):
        name = node.text.decode("utf-8", "replace")
        if name not in _SETTERS:
            continue
        words = [
            one.text.decode("utf-8", "replace").strip("\"'") for one in node.parent.children_by_field_name("argument")
        ]
        if name in ("source", "."):
            sources += words[:1]
        elif name == "eval":
            is_open = True
        elif name == "printf":
            sets |= {words[at + 1] for at in range(len(words) - 1) if words[at] == "-v"}
        elif name != "env":
            sets |= {one for word in words for one in _NAME.findall(word)}
            sets |= {"REPLY", "MAPFILE"}
    reads.sort(key=lambda one: one[1])
    return Variables(tuple(reads), frozenset(sets), tuple(sources), is_open)


def _is_plain(expansion: Any, name: Any) -> bool:
    """Whether `${…}` reads the name's value with no other one for where it has none."""
    return not any(one.type in _DEFAULTS and one.start_byte < name.end_byte + 2 for one in expansion.children)


@lru_cache(maxsize=1)
def _query() -> Any:
    from tree_sitter import Language, Query  # noqa: PLC0415 - likewise
    from tree_sitter_bash import language  # noqa: PLC0415 - likewise

    return Query(Language(language()), "(variable_name) @name (command_name) @command")
