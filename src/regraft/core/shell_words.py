"""The words of a shell script, as the parser's tree has them: what the shell would make of each."""

import re
from typing import Any

from regraft.core.patterns import regex
from regraft.core.shell_values import Word
from regraft.core.spans import Span

_ESCAPED = regex(rb"\\(.)", re.DOTALL)
_IN_QUOTES = regex(rb"\\([$`\"\\])")
_JOINED = regex(rb"\\\r?\n")
_GLOB = regex(rb"[*?\[]")


def word_of(node: Any) -> Word:
    """What a word, a string or an expansion is."""
    text = _value(node).decode("utf-8", "surrogateescape")
    kinds = _kinds(node)
    braces = node.type == "concatenation" and b"{" in node.text and b"," in node.text
    expands = bool(kinds & {"simple_expansion", "expansion", "command_substitution", "process_substitution"})
    return Word(Span(node.start_byte, node.end_byte), text, _has_glob(node) or braces, not expands)


def _kinds(node: Any) -> set[str]:
    found, waiting = set(), [node]
    while waiting:
        one = waiting.pop()
        found.add(one.type)
        waiting.extend(one.children)
    return found


def _has_glob(node: Any) -> bool:
    if node.type in ("word", "extglob_pattern"):
        return _GLOB.search(_ESCAPED.sub(b"", node.text)) is not None
    return node.type == "concatenation" and any(_has_glob(one) for one in node.named_children)


def _value(node: Any) -> bytes:
    text: bytes = node.text
    match node.type:
        case "word" | "extglob_pattern":
            return _ESCAPED.sub(rb"\1", _JOINED.sub(b"", text))
        case "raw_string":
            return text[1:-1]
        case "string_content":
            return _IN_QUOTES.sub(rb"\1", _JOINED.sub(b"", text))
        case "string":
            inside = [one for one in node.children if one.type != '"']
            return _between(node, inside)
        case "concatenation":
            return b"".join(_value(one) for one in node.named_children)
        case "expansion" if len(node.named_children) == 1 and text == b"${" + node.named_children[0].text + b"}":
            return b"$" + bytes(node.named_children[0].text)
        case _:
            return text


def _between(node: Any, inside: list[Any]) -> bytes:
    """The inside of a double-quoted string: blanks next to an expansion belong to no node of their own."""
    at, found = node.start_byte + 1, []
    for one in inside:
        found += [node.text[at - node.start_byte : one.start_byte - node.start_byte], _value(one)]
        at = one.end_byte
    return b"".join([*found, node.text[at - node.start_byte : -1]])
