"""What a hunk that does not fit lacks, where it is next to nothing."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from regraft.core.patch_text import Hunk


def why_nowhere(hunk: Hunk, content: bytes) -> str:
    """Why the old side of a hunk is not found in a file, as far as a look at the lines tells."""
    if words := differs_only_in(hunk, content):
        return f"it differs only in {words}"
    have = set(content.split(b"\n"))
    old = [line for line in hunk.body if not line.startswith((b"+", b"\\"))]
    telling = [line for line in old if len(line.strip()) > 3]
    if telling and not any(line[1:] in have for line in telling):
        return "the block no longer exists at this path"
    gone = [line[1:] for line in old if line.startswith(b"-") and line[1:] not in have]
    if gone:
        return (
            "a line that it removes is no longer there"
            if len(gone) == 1
            else f"{len(gone)} lines that it removes are no longer there"
        )
    return (
        "the lines around it changed"
        if hunk.has_context
        else "it has no lines of context (diff -U0), which git refuses"
    )


def differs_only_in(hunk: Hunk, content: bytes) -> Literal["white space", "the newline at the end of the file"] | None:
    """What keeps the old side of a hunk from being found in a file, or None where it is more than that."""
    old: list[bytes] = []
    open_end = False
    previous = b""
    for line in hunk.body:
        if line.startswith(b"\\"):
            open_end = open_end or not previous.startswith(b"+")
        elif not line.startswith(b"+"):
            old.append(line[1:])
        previous = line
    have = content.split(b"\n")
    closed = have[-1] == b""
    if closed:
        have.pop()
    if not old:
        return None
    if have[-len(old) :] == old and open_end == closed:
        return "the newline at the end of the file"
    if _contains(have, old):
        return None
    wanted = b"\n" + b"\n".join(b" ".join(line.split()) for line in old) + b"\n"
    return "white space" if wanted in _plain(content) else None


@lru_cache(maxsize=4)
def _plain(content: bytes) -> bytes:
    """Its lines with single blanks, framed by newlines. Each hunk of a file asks for it."""
    lines = content.removesuffix(b"\n").split(b"\n")
    return b"\n" + b"\n".join(b" ".join(line.split()) for line in lines) + b"\n"


def _contains(lines: Sequence[bytes], block: Sequence[bytes]) -> bool:
    text, part = (b"\n" + b"\n".join(some) + b"\n" for some in (lines, block))
    return part in text
