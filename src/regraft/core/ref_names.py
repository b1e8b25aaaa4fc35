"""The names of branches, tags and repositories: git's own rules, in an alphabet that no shell and no reader mistakes."""

import re

from regraft.core.patterns import regex
from regraft.core.quoting import character, quoted
from regraft.core.refs import Repository
from regraft.errors import InputError

LONGEST = 255
_NAME = regex(r"[A-Za-z0-9._/@+#%=,-]+")
_FOREIGN = regex(r"[^A-Za-z0-9._/@+#%=,-]")
_OWNER = regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_REPOSITORY = regex(r"[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_ALPHABET = "letters, digits and . _ / @ + # % = , - of ASCII"

# What git check-ref-format(1) refuses and the alphabet leaves possible, and the leading dash that git-branch(1) refuses.
_RULES = (
    (re.compile(r"-"), "it begins with a dash"),
    (re.compile(r"/"), "it begins with a slash"),
    (re.compile(r"(?s).*//"), "it has two slashes in a row"),
    (re.compile(r"(?s).*\.\."), "it contains `..`"),
    (re.compile(r"(?s).*/\Z"), "it ends with a slash"),
    (re.compile(r"(?s).*\.\Z"), "it ends with a dot"),
    (re.compile(r"(?:.*/)?\."), "a part of it begins with a dot"),
    (re.compile(r"(?:.*/)?[^/]*\.lock(?:/|\Z)"), "a part of it ends with `.lock`"),
    (re.compile(r"@\Z"), "`@` alone is git's word for HEAD"),
    (re.compile(r"HEAD\Z"), "HEAD names no branch and no tag of its own"),
)


def bad_ref(message: str, hint: str | None = None) -> InputError:
    return InputError("bad-ref", message, hint=hint)


def check_alphabet(text: str, foreign: re.Pattern[str] = _FOREIGN) -> None:
    """Raise `bad-ref` for the first character that `foreign` finds."""
    if not (found := foreign.search(text)):
        return
    char, place = found[0], found.start() + 1
    if text.find("@{") == place - 2 >= 0:
        raise bad_ref(f"{quoted(text)} is no ref: it contains `@{{`", "name a branch, a tag, #12 or a full hash")
    hint = f"use {_ALPHABET}"
    bare = text.strip("<>\"'`*()[]{}.,;")
    if bare and bare != text and not foreign.search(bare):
        hint = f"write it bare: {bare[:LONGEST]}"
    raise bad_ref(f"{quoted(text)} is no ref: character {place} is {character(char)}", hint)


def parse_name(text: str) -> str:
    """`text` if it can name a branch or a tag; else InputError `bad-ref` that says why."""
    if not text:
        raise bad_ref("a branch or tag has a name", "write the name")
    if len(text) > LONGEST:
        raise bad_ref(f"{quoted(text, 40)} is too long: {len(text)} characters, and {LONGEST} is the most")
    if not _NAME.fullmatch(text):
        check_alphabet(text)
    for pattern, reason in _RULES:
        if pattern.match(text):
            raise bad_ref(f"{quoted(text)} is no name of a branch or tag: {reason}", _without_fault(text))
    return text


def parse_owner(text: str) -> str:
    """A forge's account name, or InputError `bad-ref`."""
    if not _OWNER.fullmatch(text):
        raise bad_ref(f"{quoted(text)} is no owner: it is letters, digits, - and _, a letter or digit first")
    return text


def parse_repository(owner: str, name: str) -> Repository:
    """`owner/name`, or InputError `bad-ref`."""
    if not _REPOSITORY.fullmatch(name) or name in {".", ".."}:
        raise bad_ref(
            f"{quoted(name)} is no repository name: it is letters, digits, . _ and -, and begins with no dash"
        )
    return Repository(parse_owner(owner), name)


def _without_fault(text: str) -> str | None:
    """The name without what stands around it, where that is a valid one."""
    mended = text.strip("/").lstrip("-").rstrip(".")
    if mended == text or not _NAME.fullmatch(mended) or any(pattern.match(mended) for pattern, _ in _RULES):
        return None
    return f"did you mean {mended}"
