"""What GitHub's events carry: which activities they have, and which parts of `github.event` are there.

Source: https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows and the payloads it links to.
"""

from collections.abc import Iterable, Mapping

from regraft.core.patterns import regex
from regraft.core.workflow_values import Event
from regraft.core.workflow_yaml import texts

PULL = frozenset({"pull_request", "pull_request_target"})

_REVIEW = frozenset({"pull_request_review", "pull_request_review_comment"})
_BY_DEFAULT = dict.fromkeys(PULL, ("opened", "synchronize", "reopened"))
_WITHOUT_ACTION = frozenset(
    {
        *("push", "schedule", "workflow_dispatch"),
        *("create", "delete", "fork", "gollum", "page_build", "public", "status"),
    }
)
_KNOWN = _WITHOUT_ACTION | PULL | _REVIEW | {
    *("issues", "issue_comment", "commit_comment", "discussion", "discussion_comment", "label", "milestone", "release"),
    *("workflow_run", "check_run", "check_suite", "deployment", "deployment_status", "merge_group", "repository_dispatch"),
}  # fmt: skip
_HOLDERS: Mapping[str, frozenset[str]] = {
    "pull_request": PULL | _REVIEW,
    "number": PULL,
    "issue": frozenset({"issues", "issue_comment"}),
    "comment": frozenset({"issue_comment", "commit_comment", "discussion_comment", "pull_request_review_comment"}),
    "review": frozenset({"pull_request_review"}),
    "label": PULL | {"issues", "discussion", "label"},
    "discussion": frozenset({"discussion", "discussion_comment"}),
    "schedule": frozenset({"schedule"}),
    "inputs": frozenset({"workflow_dispatch"}),
    "head_commit": frozenset({"push"}),
    "commits": frozenset({"push"}),
    "pusher": frozenset({"push"}),
    "release": frozenset({"release"}),
    "workflow_run": frozenset({"workflow_run"}),
    "client_payload": frozenset({"repository_dispatch"}),
    "merge_group": frozenset({"merge_group"}),
}
_UNMERGED = frozenset({"opened", "synchronize", "reopened", "ready_for_review", "converted_to_draft"})
_LABELLING = frozenset({"labeled", "unlabeled"})
_GLOB = regex(r"[*?+\[\]!\\]|\$\{\{")


def activities(event: Event) -> tuple[str | None, ...] | None:
    """What `github.event.action` can be; None where that is not known. An event without activities has (None,)."""
    if event.name in _WITHOUT_ACTION:
        return (None,)
    return event.types or _BY_DEFAULT.get(event.name)


def lacks(event: Event, part: str) -> bool:
    """Whether `github.event.<part>` is null for sure."""
    holders = _HOLDERS.get(part)
    if holders is None or event.name not in _KNOWN:
        return False
    if event.name not in holders:
        return True
    if part == "label" and event.name != "label":
        kinds = activities(event)
        return kinds is not None and not _LABELLING & set(kinds)
    return False


def references(event: Event, pulls: Iterable[int] = (1,)) -> tuple[str, ...] | None:
    """What `github.ref` can be, in full; None where that is not known.

    A pull request's is `refs/pull/N/merge`, and the branch it went into once it is merged: it can still be labelled. Of all the
    numbers it has those of `pulls`.
    """
    if event.name == "pull_request":
        kinds = activities(event)
        return (
            None if kinds is None or not _UNMERGED.issuperset(kinds) else tuple(f"refs/pull/{n}/merge" for n in pulls)
        )
    if event.name == "push" and event.data is not None:
        branches, tags = filtered(event, "branches"), filtered(event, "tags")
        ignored = event.data.get("branches-ignore") is not None or event.data.get("tags-ignore") is not None
        if branches is None or tags is None or ignored or not (branches or tags):
            return None
        return (*(f"refs/heads/{one}" for one in branches), *(f"refs/tags/{one}" for one in tags))
    return None


def beginnings(event: Event) -> frozenset[str]:
    """What `github.ref` can begin with on an event: of `heads`, `tags` and `pull` those that its filters let through."""
    if event.name == "pull_request" and references(event) is not None:
        return frozenset({"pull"})
    if event.name == "push" and event.data is not None:
        heads = any(event.data.get(key) is not None for key in ("branches", "branches-ignore"))
        tags = any(event.data.get(key) is not None for key in ("tags", "tags-ignore"))
        if heads != tags:
            return frozenset({"heads"} if heads else {"tags"})
    return frozenset({"heads", "tags", "pull"})


def filtered(event: Event, key: str) -> tuple[str, ...] | None:
    """The names in `branches` or `tags` of an event; none where nothing is written; None where one is a pattern."""
    found = tuple(one.value for one in texts(event.data.get(key))) if event.data is not None else ()
    return None if any(_GLOB.search(one) for one in found) else found
