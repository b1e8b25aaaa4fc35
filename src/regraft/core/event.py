"""The event that started a workflow run, as far as regraft reads it."""

import json
from typing import Any

from msgspec import Struct

from regraft.core.ref_names import parse_repository
from regraft.errors import InputError

LIMIT = 32 * 1024 * 1024


class Event(Struct, frozen=True):
    """`body` is None where the event has no pull request; an empty or null body is "".

    `inputs` holds dispatch and call inputs as text, None where one is a list or an object: that is a mistake in an input of
    ours only. `repository` is `owner/name`, `number` the pull request's, `head` the commit of its branch where the event is its own.
    """

    body: str | None
    inputs: tuple[tuple[str, str | None], ...]
    repository: str | None
    number: int | None
    head: str | None = None


def read_event(data: bytes, name: str) -> Event:
    """The event in a payload file. Raises InputError: event-too-large, event-unreadable, event-shape."""
    if len(data) > LIMIT:
        raise InputError("event-too-large", f"{len(data)} bytes; at most {LIMIT} are read", where=name)
    try:
        raw = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("event-unreadable", f"not a JSON document in UTF-8: {error}", where=name) from None
    if not isinstance(raw, dict):
        raise InputError("event-shape", "the payload is not a JSON object", where=name)
    pull = _pull(raw, name)
    return Event(
        body=None if pull is None else _body(pull.get("body"), name),
        inputs=_inputs(raw.get("inputs"), name),
        repository=_repository(raw),
        number=_number(pull),
        head=_head(raw.get("pull_request")),
    )


def _pull(raw: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The pull request: its own event's, or the issue that a comment on a pull request carries."""
    pull = raw.get("pull_request")
    if pull is None:
        issue = raw.get("issue")
        pull = issue if isinstance(issue, dict) and issue.get("pull_request") is not None else None
    if pull is not None and not isinstance(pull, dict):
        raise InputError("event-shape", "`pull_request` is not an object", where=name)
    return pull


def _head(pull: Any) -> str | None:
    head = pull.get("head") if isinstance(pull, dict) else None
    found = head.get("sha") if isinstance(head, dict) else None
    return found if isinstance(found, str) else None


def _body(raw: Any, name: str) -> str:
    text = _text(raw)
    if text is None:
        raise InputError("event-shape", "the pull request's body is not text", where=name)
    return text


def _inputs(raw: Any, name: str) -> tuple[tuple[str, str | None], ...]:
    if raw is None:
        return ()
    if not isinstance(raw, dict):
        raise InputError("event-shape", "`inputs` is not an object", where=name)
    return tuple((key, _text(value)) for key, value in raw.items())


def _text(value: Any) -> str | None:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return json.dumps(value)
        case _:
            return None


def _repository(raw: dict[str, Any]) -> str | None:
    repository = raw.get("repository")
    full = repository.get("full_name") if isinstance(repository, dict) else None
    if not isinstance(full, str):
        return None
    owner, _, name = full.partition("/")
    try:
        return str(parse_repository(owner, name))
    except InputError:
        return None


def _number(pull: dict[str, Any] | None) -> int | None:
    number = pull.get("number") if pull else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
