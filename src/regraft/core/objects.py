"""Names of git objects and digests, parsed once at the border."""

from typing import NewType

from regraft.core.patterns import regex

Commit = NewType("Commit", str)
"""A full commit hash in lower case: 40 hex digits, or 64 in a sha256 repository."""

Tree = NewType("Tree", str)
"""A full tree hash, in the form of `Commit`."""

Blob = NewType("Blob", str)
"""A full blob hash, in the form of `Commit`."""

Sha256 = NewType("Sha256", str)
"""64 hex digits in lower case, without a prefix."""

_OBJECT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256 = regex(r"[0-9a-f]{64}")


def parse_commit(text: str) -> Commit:
    """The full hash that `text` is, or ValueError."""
    return Commit(_object(text))


def parse_tree(text: str) -> Tree:
    """The full hash that `text` is, or ValueError."""
    return Tree(_object(text))


def parse_blob(text: str) -> Blob:
    """The full hash that `text` is, or ValueError."""
    return Blob(_object(text))


def parse_sha256(text: str) -> Sha256:
    """The digest that `text` is, or ValueError."""
    if not _SHA256.fullmatch(text):
        raise ValueError(f"not a sha256: {text!r}")
    return Sha256(text)


def _object(text: str) -> str:
    if not _OBJECT.fullmatch(text):
        raise ValueError(f"not a full hash: {text!r}")
    return text
