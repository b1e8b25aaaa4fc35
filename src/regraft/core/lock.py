"""The commit that a project's own lock file records."""

import json
from typing import Any

from regraft.core.document import unique
from regraft.core.manifest import Lock
from regraft.core.objects import Commit, parse_commit
from regraft.errors import InputError

LIMIT = 4 * 1024 * 1024  # bytes of a lock file


def read_lock(data: bytes | None, lock: Lock) -> Commit:
    """The full commit in a lock file whose bytes are `data`, None where there is no such file.

    Raises InputError: lock-missing, lock-unreadable (not UTF-8, not JSON, nothing at the pointer, or no full hash there).
    """
    if data is None:
        hint = "add the file, or take `lock` out of the manifest"
        raise InputError("lock-missing", "the project has no such lock file", where=lock.file, hint=hint)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(lock, f"byte {error.start + 1} is not UTF-8") from None
    found = text.strip() if lock.key is None else _at(_json(text, lock), lock.key, lock)
    if not isinstance(found, str):
        raise _unreadable(lock, f"there is {_kind(found)} where a commit should be")
    try:
        return parse_commit(found)
    except ValueError:
        raise _unreadable(lock, f"{found[:80]!r} is no full commit hash in lower case") from None


def _json(text: str, lock: Lock) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise _unreadable(lock, f"not JSON: {str(error)[:200]}") from None


def _at(document: Any, pointer: str, lock: Lock) -> Any:
    """What stands at a JSON pointer (RFC 6901)."""
    for escaped in pointer.split("/")[1:]:
        step = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and _index(step) is not None and int(step) < len(document):
            document = document[int(step)]
        else:
            hint = None
            if isinstance(document, dict) and document:
                hint = f"its keys there are {', '.join(repr(key[:60]) for key in sorted(document)[:10])}"
            raise _unreadable(lock, f"has nothing at {pointer!r:.120}: {step!r:.80} is not there", hint)
    return document


def _index(step: str) -> int | None:
    """An array index has no sign and no leading zero; nobody has a list with more than nine digits of items."""
    if not (step.isascii() and step.isdigit() and len(step) < 10) or (step[0] == "0" and step != "0"):
        return None
    return int(step)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", type(None): "null", bool: "a boolean"}
    return kinds.get(type(value), "a number")


def _unreadable(lock: Lock, message: str, hint: str | None = None) -> InputError:
    place = "" if lock.key is None else f" at {lock.key!r:.120}"
    return InputError("lock-unreadable", message, where=lock.file, hint=hint or f"record one full commit{place}")
