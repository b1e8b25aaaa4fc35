"""A file that holds what stood at each path: a head, a JSON line for each path, and the digest of all that at the end."""

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from regraft.adapters import files
from regraft.core.journal import Subject
from regraft.core.tree_record import Entry, Record, escape, unescape
from regraft.errors import RefusedError

SCHEMA = "regraft.snapshot/1"

_HEAD = re.compile(rb'\{"schema":"(regraft\.snapshot/[0-9]{1,9})"')


class Head(Struct, frozen=True):
    schema: str
    since: int
    roots: tuple[Subject, ...]  # as they were found: through no link, and what a link led to as well


class Stored(Struct, frozen=True):
    head: Head
    record: Record


def read(path: Path) -> Stored | None:
    """What a file holds, or None where none is. Raises RefusedError: other-version, damaged-snapshot; OutsideError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise files.outside(error, str(path)) from None
    head = _HEAD.match(data)
    if head is not None and head[1].decode() != SCHEMA:
        message = (
            f"another version of regraft wrote this: its format is {head[1].decode()}, and this one reads {SCHEMA}"
        )
        hint = "restore with the version that applied; `regraft restore --forget` drops the note of what was done"
        raise RefusedError("other-version", message, where=str(path), hint=hint)
    try:
        return decode(data)
    except (ValueError, msgspec.MsgspecError) as error:
        hint = "make the image anew; `regraft restore --forget` drops the note of what was done to it"
        message = f"the list of what was saved is damaged, so nothing was given back: {str(error)[:200]}"
        raise RefusedError("damaged-snapshot", message, where=str(path), hint=hint) from None


def encode(stored: Stored) -> bytes:
    head = msgspec.json.encode(
        Head(
            stored.head.schema,
            stored.head.since,
            tuple(Subject(one.kind, escape(one.path), one.recursive) for one in stored.head.roots),
        )
    )
    lines = [head]
    for entry in stored.record.entries.values():
        target = None if entry.target is None else escape(entry.target)
        lines.append(msgspec.json.encode(entry._replace(path=escape(entry.path), target=target)))
    body = b"\n".join(lines) + b"\n"
    return body + hashlib.sha256(body).hexdigest().encode() + b"\n"


def decode(data: bytes) -> Stored:
    """Raises ValueError and what msgspec raises."""
    body, _, digest = data[:-1].rpartition(b"\n")
    body += b"\n"
    if data[-1:] != b"\n" or hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("it does not have its digest")
    first, *lines = body[:-1].split(b"\n")
    head = msgspec.json.decode(first, type=Head)
    if head.schema != SCHEMA:
        raise ValueError(f"its schema is {head.schema!r:.80}")
    roots = tuple(Subject(one.kind, unescape(one.path), one.recursive) for one in head.roots)
    decoder = msgspec.json.Decoder(Entry)
    entries = {}
    for line in lines:
        entry = decoder.decode(line)
        target = None if entry.target is None else unescape(entry.target)
        entry = entry._replace(path=unescape(entry.path), target=target)
        entries[entry.path] = entry
    return Stored(Head(head.schema, head.since, roots), Record(entries, head.since))
