"""The number of the pull request that a commit came from, as its message says it. What it merely closes or mentions is none."""

from collections.abc import Iterator

from regraft.core.patterns import regex

LIMIT = 64 * 1024  # characters of a message that are looked at
LARGEST = 10_000_000  # no forge is there yet

_SQUASH = regex(r"\(#([0-9]{1,9})\)$")  # how GitHub ends a squash's subject
_MERGE = regex(r"Merge pull request #([0-9]{1,9}) from \S+.*")
_BORS = regex(r"(?:Auto merge of|Merge) #([0-9]{1,9})(?:\b.*)?")
_BITBUCKET = regex(r"Merged in \S+ \(pull request #([0-9]{1,9})\)")
_TRAILER = regex(
    r"(?i)(?:pull-request|pr-url|reviewed-in|pull-request-resolved|pull request resolved|pr|gh-pr):\s*"
    r"(?:[\w.-]{1,100}/[\w.-]{1,100})?(?:#|!|https?://[^\s#]{1,300}/(?:pull|pulls|pull-requests|merge_requests)/)([0-9]{1,9})"
    r"(?:[/#?]\S{0,300})?\s*"
)
_GITLAB = regex(r"See merge request (?:[\w.-]{1,100}(?:/[\w.-]{1,100}){0,20})?!([0-9]{1,9})\s*")


def pull_number(message: str) -> int | None:
    """Of a commit message, whose first line is the subject; None where it names none, or two different ones.

    A subject counts before a trailer: the commit of a revert or a pick keeps the trailers of what it undoes or copies.
    """
    subject, _, body = message[:LIMIT].lstrip("\n").partition("\n")
    for found in (_of_subject(subject.strip()), _only(_of_trailers(body))):
        if found is not None:
            return found
    return None


def _of_subject(subject: str) -> int | None:
    for pattern in (_MERGE, _BITBUCKET, _BORS):
        if match := pattern.fullmatch(subject):
            return _number(match[1])
    if match := _SQUASH.search(subject):
        return _number(match[1])
    return None


def _of_trailers(body: str) -> Iterator[int | None]:
    for line in body.splitlines():
        if match := _TRAILER.fullmatch(line) or _GITLAB.fullmatch(line):
            yield _number(match[1])


def _only(numbers: Iterator[int | None]) -> int | None:
    found = {number for number in numbers if number is not None}
    return found.pop() if len(found) == 1 else None


def _number(digits: str) -> int | None:
    number = int(digits)
    return number if 0 < number <= LARGEST else None
