"""Pull refs, held against what the forge's API says of them.

A server may hand out a pull ref that is days old (https://github.com/buildkite/agent/issues/581).
"""

from collections.abc import Callable, Iterable

from regraft.core.plan import Note
from regraft.core.pull_request import PullRequest
from regraft.core.refs import PullRef, Ref
from regraft.errors import OutsideError
from regraft.flows.resolve import Pin, Wanted

FindUpstreamPull = Callable[[str, int], PullRequest | None]
"""(the repository's URL, number) -> the pull request, or None where the API at hand does not know that repository."""


def confirm_pulls(pairs: Iterable[tuple[Wanted, Pin]], find: FindUpstreamPull | None) -> tuple[Note, ...]:
    """Notes on the state of each pull request. Raises OutsideError `stale-pull-ref` where ref and API differ."""
    notes: list[Note] = []
    if find is None:
        return ()
    for wanted, pin in pairs:
        if isinstance(wanted.target, Ref) and isinstance(wanted.target.target, PullRef):
            notes += _confirm(wanted, wanted.target.target.number, pin, find)
    return tuple(dict.fromkeys(notes))


def _confirm(wanted: Wanted, number: int, pin: Pin, find: FindUpstreamPull) -> list[Note]:
    name = f"{wanted.dependency.name} #{number}"
    try:
        pull = find(pin.url, number)
    except OutsideError as error:
        return [Note("warning", "pull-unverified", f"{name}: the API could not be asked ({error.message})")]
    if pull is None:
        return []
    if pull.head != pin.commit:
        raise OutsideError(
            "stale-pull-ref",
            f"the server hands out {pin.commit} for refs/pull/{number}/head, and the API says that its head is {pull.head}",
            where=wanted.where,
            hint=f"run again when the server has caught up, or write the full hash {pull.head}",
        )
    if pull.merged:
        return [Note("warning", "pull-merged", f"{name} is merged already")]
    if not pull.open:
        return [Note("warning", "pull-closed", f"{name} is closed without being merged")]
    if wanted.dependency.branch is not None and pull.base != wanted.dependency.branch:
        message = f"{name} goes into {pull.base!r:.80}, and the image follows {wanted.dependency.branch}"
        return [Note("warning", "pull-other-base", message)]
    return []
