"""A pull request as its forge's API describes it."""

from typing import Any

from msgspec import Struct

from regraft.core.objects import Commit, parse_commit


class PullRequest(Struct, frozen=True):
    body: str  # "" where it is null
    head: Commit
    base: str  # the branch that it wants to go into
    open: bool
    merged: bool


def parse_pull_request(raw: Any, number: int) -> PullRequest:
    """The pull request in an answer of `GET /repos/{owner}/{repo}/pulls/{number}`, or ValueError."""
    try:
        if raw["number"] != number:
            raise ValueError(f"it is number {raw['number']!r:.40}, and {number} was asked for")
        body = raw["body"]
        if body is not None and not isinstance(body, str):
            raise ValueError("its body is not text")
        return PullRequest(
            body=body or "",
            head=parse_commit(raw["head"]["sha"]),
            base=str(raw["base"]["ref"]),
            open=raw["state"] == "open",
            merged=bool(raw.get("merged")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it has not the shape of a pull request ({type(error).__name__}: {error})") from None
