"""The event of a workflow run, as far as it decides about images: what happened, to whom, and what was asked for."""

import json
from typing import Any

from msgspec import Struct

from regraft.core.event import LIMIT
from regraft.core.image_decision import Occasion
from regraft.core.patterns import regex
from regraft.core.ref_names import parse_repository
from regraft.errors import InputError

_COMMIT = regex(r"[0-9a-f]{40}")

OCCASIONS: dict[str, Occasion] = {
    "pull_request": "pull_request",
    "pull_request_target": "pull_request",
    "push": "push",
    "merge_group": "push",
    "schedule": "schedule",
    "workflow_dispatch": "manual",
    "repository_dispatch": "manual",
    "workflow_call": "manual",
}


class ImageEvent(Struct, frozen=True):
    """`repository` is `owner/name`; `fork` says that the pull request's code is another repository's, or nobody's any more.

    `head` is the commit of the pull request's branch, `merge` the one that merges it, where the event names them. `other` is the
    ref of a run that is of no pull request, where that is not the default branch.
    """

    occasion: Occasion
    repository: str | None = None
    number: int | None = None
    fork: bool = False
    labels: tuple[str, ...] = ()
    head: str | None = None
    merge: str | None = None
    other: str | None = None


def read_image_event(data: bytes, name: str, kind: str | None) -> ImageEvent:
    """`kind` is GITHUB_EVENT_NAME, None where the payload is to tell. InputError: event-too-large, event-unreadable, event-shape."""
    if len(data) > LIMIT:
        raise InputError("event-too-large", f"{len(data)} bytes; at most {LIMIT} are read", where=name)
    try:
        raw = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("event-unreadable", f"not a JSON document in UTF-8: {error}", where=name) from None
    if not isinstance(raw, dict):
        raise InputError("event-shape", "the payload is not a JSON object", where=name)
    occasion = _occasion(raw, kind, name)
    own = _repository(raw.get("repository"))
    if occasion != "pull_request":
        return ImageEvent(occasion, own, other=_other(raw))
    pull = raw.get("pull_request")
    number = pull.get("number") if isinstance(pull, dict) else None
    if not isinstance(pull, dict) or not isinstance(number, int) or isinstance(number, bool):
        raise InputError("event-shape", "it is of a pull request, and has none with a number in it", where=name)
    head = pull.get("head")
    theirs = _repository(head.get("repo")) if isinstance(head, dict) else None
    return ImageEvent(
        occasion, own, number, own is None or theirs != own, _labels(pull.get("labels"), name),
        _commit(head.get("sha") if isinstance(head, dict) else None), _commit(pull.get("merge_commit_sha")),
    )  # fmt: skip


def _commit(raw: object) -> str | None:
    return raw if isinstance(raw, str) and _COMMIT.fullmatch(raw) else None


def _other(raw: dict[str, Any]) -> str | None:
    """A merge queue's code is of no branch yet. A schedule has no ref, and runs on the default branch."""
    group, ref = raw.get("merge_group"), raw.get("ref")
    if isinstance(group, dict):
        return str(group.get("head_ref"))
    repository = raw.get("repository")
    default = repository.get("default_branch") if isinstance(repository, dict) else None
    if not isinstance(ref, str) or (isinstance(default, str) and ref in (default, f"refs/heads/{default}")):
        return None
    return ref


def _occasion(raw: dict[str, Any], kind: str | None, name: str) -> Occasion:
    if kind is not None:
        if kind not in OCCASIONS:
            known = ", ".join(OCCASIONS)
            message = f"an image is decided about for {known}, and this is {kind!r:.80}"
            raise InputError("other-event", message, where=name, hint="say which one it is like with --occasion")
        return OCCASIONS[kind]
    if raw.get("pull_request") is not None:
        return "pull_request"
    if isinstance(raw.get("schedule"), str):
        return "schedule"
    return "push" if isinstance(raw.get("after"), str) else "manual"


def _repository(raw: Any) -> str | None:
    full = raw.get("full_name") if isinstance(raw, dict) else None
    if not isinstance(full, str):
        return None
    owner, _, name = full.partition("/")
    try:
        return str(parse_repository(owner, name)).lower()
    except InputError:
        return None


def _labels(raw: Any, name: str) -> tuple[str, ...]:
    if raw is None:
        return ()
    names = [one.get("name") if isinstance(one, dict) else None for one in raw] if isinstance(raw, list) else [None]
    if not all(isinstance(one, str) for one in names):
        raise InputError("event-shape", "the pull request's labels are not a list of names", where=name)
    return tuple(str(one) for one in names)
