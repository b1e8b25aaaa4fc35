"""Commits that a build reads from a file of the project, and the secrets that it clones with."""

import posixpath

from msgspec import Struct

from regraft.core.init_values import Place, Told
from regraft.core.patterns import regex

# `cat FILE`, `< FILE` and `jq -r .a.b FILE` in a command substitution: what reads one text, whole or by its keys.
_CAT = regex(r"\$\(\s*(?:cat\s+|<\s*)([\"']?)([\w./-]+)\1\s*\)")
_JQ = regex(
    r"\$\(\s*jq\s+(?:-r|-er|-re|--raw-output)\s+([\"']?)((?:\.[A-Za-z_][\w-]*)+)\1\s+(?:<\s*)?([\"']?)([\w./-]+)\3\s*\)"
)
_LOGIN = regex(r"https?://(?:[^/@:$]*:)?(?:\$\{?([A-Za-z_]\w*)\}?|\$\([^()@]*\))@.*", 16)  # DOTALL


class Lock(Struct, frozen=True):
    """A plain file, or the key of a JSON file as a JSON pointer, and the line that reads it."""

    file: str
    key: str | None
    place: Place

    @property
    def value(self) -> dict[str, str]:
        return {"file": self.file} if self.key is None else {"file": self.file, "key": self.key}


def read_by(text: str) -> tuple[str, str | None] | None:
    """(path as it is written, JSON pointer or None) of the file that a word's command substitution reads; None for any other word."""
    text = text.strip().strip('"')
    if match := _CAT.fullmatch(text):
        return match[2], None
    if match := _JQ.fullmatch(text):
        return match[4], match[2].replace(".", "/")
    return None


def project_lock(text: str, place: Place, tracked: frozenset[str]) -> Lock | None:
    """The same of a word of a workflow, which runs at the project's top."""
    found = read_by(text)
    path = posixpath.normpath(found[0]) if found else None
    return Lock(path, found[1], place) if found and path in tracked and path is not None else None


def token_of(url: str, place: Place) -> Told | None:
    """The variable that stands for the login in an address; an empty text where it is a command or a file."""
    match = _LOGIN.fullmatch(url)
    return Told(match[1] or "", place) if match else None
