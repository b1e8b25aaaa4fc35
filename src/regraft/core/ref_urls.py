"""What a forge's web page shows, read from its address: a pull request, a branch or tag, a commit."""

import re
from collections.abc import Callable

from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.core.ref_names import bad_ref, check_alphabet, parse_name, parse_repository
from regraft.core.refs import HashRef, NameRef, PullRef, Ref, Repository

LONGEST = 1024
_FOREIGN = regex(r"[^A-Za-z0-9._~/:@+#%=,?&-]")
_URL = regex(r"https://([^/?#]*)(/[^?#]*)?(?:[?#].*)?", re.IGNORECASE)
_HOST = regex(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[1-9][0-9]{0,4})?")
_ESCAPE = regex(r"%(?:[0-9A-Fa-f]{2})?")
_NUMBER = regex(r"[1-9][0-9]{0,9}")
_HASH = regex(r"[0-9a-f]{7,64}")
_PULL_PAGES = frozenset({"files", "commits", "changes", "checks", "conversation"})
_FORMS = "write https://HOST/OWNER/REPO/pull/12, …/tree/BRANCH, …/commit/HASH or …/releases/tag/TAG"


def parse_url(text: str) -> Ref:
    """The ref that an address names; its query and fragment are left out. InputError `bad-ref` for any other address."""
    if len(text) > LONGEST:
        raise bad_ref(
            f"{quoted(text, 40)} is too long: {len(text)} characters, and {LONGEST} is the most for an address"
        )
    check_alphabet(text, _FOREIGN)
    parts = _URL.fullmatch(text)
    if not parts:
        raise bad_ref(f"{quoted(text)} is no https address", _FORMS)
    host, path = parts[1].lower(), parts[2] or ""
    if not _HOST.fullmatch(host):
        raise bad_ref(f"{quoted(text)}: {quoted(host)} is no host name", _FORMS)
    pieces = path.removesuffix("/").split("/", 4)
    if len(pieces) < 5 or not (read := _PAGES.get(pieces[3])):
        raise bad_ref(f"{quoted(text)} shows no pull request, branch, tag or commit", _FORMS)
    target = read(parse_repository(pieces[1], pieces[2]), pieces[4])
    return Ref(re.split(r"[?#]", text, maxsplit=1)[0], target, host)


def _pull(repository: Repository, rest: str) -> PullRef:
    number, *page = rest.split("/")
    if not _NUMBER.fullmatch(number):
        raise bad_ref(f"{quoted(number)} is no pull request number", _FORMS)
    if not page or (len(page) == 1 and page[0] in _PULL_PAGES):
        return PullRef(int(number), repository)
    head = page[1].lower()
    if len(page) == 2 and page[0] in {"files", "commits", "changes"} and _HASH.fullmatch(head):
        return PullRef(int(number), repository, head)
    hint = f"write {repository}#{number} for the pull request's head, or {repository}#{number}@HASH to insist on one"
    raise bad_ref(f"{quoted('/'.join(page))} is no page that names the head of a pull request", hint)


def _tree(repository: Repository, rest: str) -> NameRef | HashRef:
    name = _decoded(rest)
    digits = name.lower()
    if _HASH.fullmatch(digits) and not re.fullmatch(r"[0-9]{1,10}", digits):
        return HashRef(digits, repository)
    return NameRef(parse_name(name), repository=repository)


def _commit(repository: Repository, rest: str) -> HashRef:
    digits = rest.lower()
    if not _HASH.fullmatch(digits):
        raise bad_ref(f"{quoted(rest)} is no commit hash: it is 7 to 64 hex digits", _FORMS)
    return HashRef(digits, repository)


def _releases(repository: Repository, rest: str) -> NameRef:
    page, _, tag = rest.partition("/")
    if page != "tag" or not tag:
        raise bad_ref(f"{quoted('releases/' + rest)} is not the page of one release", _FORMS)
    return NameRef(parse_name(_decoded(tag)), "tag", repository=repository)


def _decoded(text: str) -> str:
    """Percent escapes undone, once: what they hide is judged by the name's rules afterwards."""
    for escape in _ESCAPE.finditer(text):
        if len(escape[0]) != 3:
            raise bad_ref(f"{quoted(text)} has a % that begins no escape", "write %25 for a percent sign in an address")
    raw = _ESCAPE.sub(lambda escape: chr(int(escape[0][1:], 16)), text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise bad_ref(f"{quoted(text)}: its escapes are no UTF-8", "copy the address from the page again") from None


_PAGES: dict[str, Callable[[Repository, str], PullRef | NameRef | HashRef]] = {
    "pull": _pull,
    "tree": _tree,
    "commit": _commit,
    "releases": _releases,
}
