"""What somebody wrote to name a version of a dependency: text in, a `Ref` or a precise complaint out."""

import re

from regraft.core.patterns import regex
from regraft.core.quoting import quoted
from regraft.core.ref_names import bad_ref, check_alphabet, parse_name, parse_owner, parse_repository
from regraft.core.ref_urls import parse_url
from regraft.core.refs import HashRef, NameRef, PullRef, Ref
from regraft.errors import InputError

BLANKS = " \t\u00a0\r\n"
_FORMS = "write #12, owner/repo#12, owner:branch, a branch, a tag, a hash or a URL"
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PULL = regex(r"(?:([^/#@:\s]+)/([^/#@:\s]+))?#([0-9]+)(?:@(.*))?", re.DOTALL)
_NUMBER = regex(r"[1-9][0-9]{0,9}")
_DIGITS = regex(r"[0-9]{1,10}")
_HASH = regex(r"[0-9a-f]{7,64}")
_FULL_NAME = regex(r"refs/(heads|tags|pull)/(.+)", re.DOTALL)
_PULL_HEAD = regex(r"([1-9][0-9]{0,9})/head")
_WITH_COLON = regex(r"([^:]*):(.*)", re.DOTALL)
_FOREIGN = regex(r"[^A-Za-z0-9._/@+#%=,:-]")


def parse_ref(text: str) -> Ref:
    """The ref that `text` names, blanks around it left out (tab, no-break blank and line ends among them).

    Hex digits are lowered. A form that fits several ways is read by the order #12, full name, hash, name: a branch
    that looks like one of the former is written `refs/heads/…`. Raises InputError `bad-ref` with a hint.
    """
    bare = text.strip(BLANKS)
    if not bare:
        raise bad_ref("no ref is given", _FORMS)
    if scheme := _SCHEME.match(bare):
        if scheme[1].lower() != "https":
            address = parse_url(f"https{bare[scheme.end(1) :]}").text if scheme[1].lower() == "http" else None
            raise bad_ref(f"{quoted(bare)} is no https address", f"write {address}" if address else _FORMS)
        return parse_url(bare)
    return Ref(bare, _target(bare))


def _target(text: str) -> PullRef | NameRef | HashRef:
    if pull := _PULL.fullmatch(text):
        return _pull(text, pull)
    if text.startswith("#"):
        raise _no_number(text)
    if full := _FULL_NAME.fullmatch(text):
        return _full_name(text, full[1], full[2])
    if text.startswith("refs/"):
        raise bad_ref(
            f"{quoted(text)} is no branch, tag or pull ref", "write refs/heads/…, refs/tags/… or refs/pull/12/head"
        )
    if _DIGITS.fullmatch(text):
        raise bad_ref(
            f"{quoted(text)} alone may be a pull request, a branch or the beginning of a hash",
            f"write #{text.lstrip('0') or '12'} for the pull request, refs/heads/{text} for a branch of that name",
        )
    if _HASH.fullmatch(digits := text.lower()):
        return HashRef(digits)
    if colon := _WITH_COLON.fullmatch(text):
        return _of_owner(text, colon[1], colon[2])
    return NameRef(parse_name(text))


def _pull(text: str, found: re.Match[str]) -> PullRef:
    owner, name, number, head = found.groups()
    if not _NUMBER.fullmatch(number):
        raise _no_number(text)
    repository = parse_repository(owner, name) if owner is not None else None
    if head is None:
        return PullRef(int(number), repository)
    if not _HASH.fullmatch(head.lower()):
        check_alphabet(text)
        raise bad_ref(
            f"{quoted(text)}: {quoted(head)} is no hash: after the @ stand 7 to 64 hex digits",
            f"write {text[: found.end(3)]} or {text[: found.end(3)]}@HASH",
        )
    return PullRef(int(number), repository, head.lower())


def _no_number(text: str) -> InputError:
    check_alphabet(text)
    number = re.match(r"#+0*([1-9][0-9]{0,9})(?![0-9A-Za-z])", text)
    hint = f"write #{number[1] if number else 'NUMBER'}, or refs/heads/… for a branch that begins with #"
    return bad_ref(f"{quoted(text)} is no pull request: its number has 1 to 10 digits, without a zero in front", hint)


def _full_name(text: str, kind: str, name: str) -> PullRef | NameRef:
    if kind != "pull":
        return NameRef(parse_name(name), "branch" if kind == "heads" else "tag")
    if head := _PULL_HEAD.fullmatch(name):
        return PullRef(int(head[1]))
    check_alphabet(text)
    number = re.match(r"[1-9][0-9]{0,9}(?![0-9])", name)
    raise bad_ref(
        f"{quoted(text)} is not the head of a pull request", f"write refs/pull/{number[0] if number else 12}/head"
    )


def _of_owner(text: str, owner: str, branch: str) -> NameRef:
    if "/" in owner:
        check_alphabet(text, _FOREIGN)
        hint = f"write {owner.split('/', maxsplit=1)[0]}:{branch}" if ":" not in branch else _FORMS
        raise bad_ref(f"{quoted(text)} names a repository before the colon, and only its owner belongs there", hint)
    if not owner or not branch:
        raise bad_ref(
            f"{quoted(text)} lacks the {'branch after' if owner else 'owner before'} the colon", "write owner:branch"
        )
    check_alphabet(text, _FOREIGN)
    return NameRef(parse_name(branch), "branch", parse_owner(owner))
