"""`regraft.toml` -> `Manifest`, or every mistake in it with its place."""

import codecs
import re
import tomllib
from typing import Any

from regraft.core.hashing import sha256
from regraft.core.manifest import Manifest
from regraft.core.manifest_build import build
from regraft.core.manifest_fields import ROOT
from regraft.core.manifest_links import check_links
from regraft.core.manifest_walk import MOST, TooManyError, Walk
from regraft.core.patterns import regex
from regraft.core.toml_places import Path, TomlPlaces
from regraft.errors import InputError, raise_all

LIMIT = 1024 * 1024  # bytes

# Reading a key costs the square of its parts.
_LONG_KEY = regex(r"(?m)(?:^|[\[{,])[ \t]*((?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){32})")
_AT = regex(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_WINDOW = 100  # characters of the offending line that are shown


def read_manifest(data: bytes, name: str = "regraft.toml") -> Manifest:
    """The manifest in `data`. `name` stands in the places of mistakes.

    Raises InputError or MistakesError. Codes: too-large, byte-order-mark, not-utf-8, nul, toml-syntax, unknown-key,
    missing-key, wrong-type, bad-value, duplicate, duplicate-directive, unknown-dependency, unknown-image, no-answer,
    credentials-in-url, credentials-in-manifest, no-checksum, too-many-mistakes.
    """
    text = _decoded(data, name)
    walk = Walk(ROOT)
    read: dict[str, Any] = {}
    more = False
    try:
        read = walk.read(_parsed(text, name))
        check_links(read, walk)
    except TooManyError:
        more = True
    if walk.mistakes:
        raise_all(_placed(walk, data, name, more=more))
    return build(read, sha256(data))


def _decoded(data: bytes, name: str) -> str:
    if len(data) > LIMIT:
        raise InputError("too-large", f"{len(data):,} bytes; a manifest has at most {LIMIT:,}", where=name)
    if data.startswith(codecs.BOM_UTF8):
        raise InputError(
            "byte-order-mark", "begins with a byte order mark", where=f"{name}:1:1", hint="save it as UTF-8 without one"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = f"save it as UTF-8{'; it looks like UTF-16' if wide else ''}"
        before = data[: error.start].decode("utf-8")
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        raise InputError("not-utf-8", message, where=f"{name}:{_end(before)}", hint=hint) from None
    if "\0" in text:
        raise InputError(
            "nul", "holds a NUL character", where=f"{name}:{_end(text[: text.index(chr(0))])}", hint="take it out"
        )
    return text


def _parsed(text: str, name: str) -> dict[str, Any]:
    long_key = _LONG_KEY.search(text)
    if long_key:
        place = _end(text[: long_key.start(1)])
        raise InputError("toml-syntax", "a key of more than 32 parts", where=f"{name}:{place}")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("toml-syntax", "values are nested too deep to be read", where=name) from None
    except ValueError as error:
        raise _syntax(str(error), text.replace("\r\n", "\n"), name) from None


def _syntax(said: str, text: str, name: str) -> InputError:
    match = _AT.fullmatch(said)
    if not match:  # a number with more digits than Python reads has no place
        return InputError("toml-syntax", f"not TOML: {said[:200]}", where=name)
    if match[2]:
        line, column = int(match[2]), int(match[3])
    else:
        line, column = (int(number) for number in _end(text).split(":"))
    shown = text.split("\n")[line - 1]
    start = max(0, column - 1 - _WINDOW // 2)
    piece = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown[start : start + _WINDOW]
    )
    caret = " " * (column - 1 - start) + "^"
    return InputError("toml-syntax", f"not TOML: {match[1][:200]}\n{piece}\n{caret}", where=f"{name}:{line}:{column}")


def _end(before: str) -> str:
    """The line and column of the character that follows `before`."""
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _placed(walk: Walk, data: bytes, name: str, *, more: bool) -> list[InputError]:
    places = TomlPlaces(data)
    found = [(places.place(_written(one.path, walk.renamed), one.at), one) for one in walk.mistakes]
    found.sort(key=lambda pair: pair[0])
    errors = [
        InputError(one.code, one.message, where=f"{name}:{place.line}:{place.column}", hint=one.hint)
        for place, one in found
    ]
    if more:
        errors.append(InputError("too-many-mistakes", f"there are more than these {MOST} mistakes", where=name))
    return errors


def _written(path: Path, renamed: dict[Path, str]) -> Path:
    return tuple(renamed.get(path[: at + 1], part) for at, part in enumerate(path))
