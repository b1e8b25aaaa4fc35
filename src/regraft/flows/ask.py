"""What was asked for: inputs, and the body as it is now."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from regraft.core.asked import Asked, BodySource
from regraft.core.directive_reader import read_body, read_inputs
from regraft.core.directives import Reading, Vocabulary
from regraft.core.event import Event
from regraft.core.plan import Note
from regraft.core.pull_request import PullRequest
from regraft.errors import OutsideError

FindPull = Callable[[str, int], PullRequest | None]
"""(`owner/name`, number) -> the pull request as it is now, or None where there is none to be seen."""


def ask(
    vocabulary: Vocabulary,
    *,
    settings: Sequence[tuple[str, str]],
    body: str | None,
    event: Event | None,
    find_pull: FindPull | None,
) -> Asked:
    """Read every source. Mistakes of all of them are in the answer; OutsideError where the body as it is now cannot be had.

    `settings` are `--set` pairs; a given `body` wins over the event's; the event's is read anew where `find_pull` is there,
    since the one in the payload is frozen at the moment that started the run.
    """
    source, raw, notes = _body(body, event, find_pull)
    text = _well_formed(raw)
    given = read_inputs(settings, vocabulary)
    dispatched = read_inputs(event.inputs if event else (), vocabulary, strict=False)
    inputs = _joined(given, dispatched)
    reading = read_body(text, vocabulary) if text else Reading()
    return Asked(source, inputs, reading, (*notes, *inputs.notes, *reading.notes))


def _joined(given: Reading, dispatched: Reading) -> Reading:
    """`--set` is the nearer of the two: where both name one thing, the event's is left out."""
    named = {(one.key, one.scope) for one in given.directives} | {(one.key, one.scope) for one in given.tags}
    return replace(
        given,
        directives=given.directives + tuple(one for one in dispatched.directives if (one.key, one.scope) not in named),
        tags=given.tags + tuple(one for one in dispatched.tags if (one.key, one.scope) not in named),
        notes=given.notes + dispatched.notes,
        mistakes=given.mistakes + dispatched.mistakes,
    )


def _body(body: str | None, event: Event | None, find_pull: FindPull | None) -> tuple[BodySource, str, list[Note]]:
    if body is not None:
        return "given", body, []
    if event is None:
        return "not-given", "", []
    if event.body is None:
        return "none", "", []
    if event.repository is None or event.number is None:
        return "event", event.body, [Note("notice", "body-frozen", "the event names no pull request to read anew")]
    if find_pull is None:
        message = "the body is the event's, as it was when this run was started; with GITHUB_TOKEN it is read anew"
        return "event", event.body, [Note("notice", "body-frozen", message)]
    pull = find_pull(event.repository, event.number)
    if pull is None:
        raise OutsideError(
            "no-pull-request",
            "the API shows no such pull request to this token",
            where=f"{event.repository}#{event.number}",
            hint="give GITHUB_TOKEN the permission `pull-requests: read`",
        )
    if _lines(pull.body) == _lines(event.body):
        return "live", pull.body, []
    message = "the body changed since the event that started this run; the body as it is now is used"
    return "live", pull.body, [Note("warning", "body-changed", message)]


def _well_formed(text: str) -> str:
    """JSON can hold half a character, which no file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if text else text


def _lines(text: str) -> list[str]:
    """Line ends differ between the web form and the API; that is no change."""
    return text.replace("\r\n", "\n").rstrip().split("\n")
