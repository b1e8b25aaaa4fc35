"""Paths in a patch: refused where they could leave the tree."""

import re

from regraft.core.patterns import regex

_CONTROL = regex(rb"[\0-\x1f\x7f]")
_GIT_FOLDER = regex(rb"\.git(?:[ .]*|:.*)|git~\d+", re.IGNORECASE | re.DOTALL)  # also as NTFS would take it


def unsafe(path: bytes) -> str | None:
    """Why a patch or a submodule must not name this path, or None where it may."""
    if _CONTROL.search(path):
        return "holds a control character"
    parts = path.split(b"/")
    if parts[0] == b"":
        return "is absolute"
    if any(part in (b"", b".", b"..") for part in parts):
        return "leaves its tree, or has an empty step in it"
    if any(_GIT_FOLDER.fullmatch(part) for part in parts):
        return "leads into a .git folder"
    return None


def include_pattern(path: bytes) -> bytes:
    """The pattern for `git apply --include` that matches this path and no other."""
    return re.sub(rb"([*?\[\\])", rb"\\\1", path)
