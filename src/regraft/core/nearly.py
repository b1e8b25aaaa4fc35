"""What a hunk that does not fit lacks, where it is next to nothing."""

from collections.abc import Sequence
from typing import Literal

from regraft.core.patch_text import Hunk


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
    plain, wanted = ([b" ".join(line.split()) for line in lines] for lines in (have, old))
    return "white space" if _contains(plain, wanted) else None


def _contains(lines: Sequence[bytes], block: Sequence[bytes]) -> bool:
    text, part = (b"\n" + b"\n".join(some) + b"\n" for some in (lines, block))
    return part in text
