"""What git says of a tree and of an attempt to apply a patch, as values. Paths are bytes, as they are in git."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


class Entry(Struct, frozen=True):
    """One path of a tree, folders left out. `oid` names a blob, or the commit of a submodule."""

    mode: str
    kind: Literal["blob", "commit"]
    oid: str
    path: bytes

    @property
    def name(self) -> str:
        """The path as text; bytes that are not UTF-8 stand in it as surrogates."""
        return self.path.decode("utf-8", "surrogateescape")


class ApplyOutcome(Struct, frozen=True):
    """`unreadable`: git could not read the patch. `message` is what git said first, one line of hostile text or ""."""

    verdict: Literal["fits", "fails", "unreadable"]
    message: str = ""


class Merge(Struct, frozen=True):
    """A file of a patch that goes on by a three-way merge from the blob `base` (its full name), which is what it was made on."""

    path: bytes
    old_path: bytes
    base: str


class Announced(Struct, frozen=True):
    """The paths that git reads from a patch, one a file section, in its order; or why it cannot read it."""

    paths: tuple[bytes, ...] = ()
    complaint: str | None = None


Tracked = Mapping[bytes, Entry]


def shown(path: bytes) -> str:
    """A path for a message: what does not print is escaped, and at most 200 characters are kept."""
    return printable(path.decode("utf-8", "surrogateescape"))


def printable(text: str, limit: int = 200) -> str:
    """One line of `text`: what does not print is escaped, and at most `limit` characters are kept."""
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"
