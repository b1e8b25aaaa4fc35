"""Where the old and the new side of a hunk stand in a file, by the rules of git's apply.c: exact, whole lines.

A hunk whose old side begins at line 0 or 1 must stand at the beginning, one without context behind it at the end.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

_REST = regex(rb"[ \t\r\n\v\f]*?(?:\n|\Z)")


class Sides(Struct, frozen=True):
    """`pre` is context and removed lines, `post` context and added ones. `shift` is how many lines longer `post` is."""

    pre: bytes
    post: bytes
    shift: int
    first: bool
    last: bool
    adds: bool
    removes: bool
    context: int
    broken: bool  # a line within a side has no newline, so that git would join it with the next


@lru_cache(maxsize=8192)
def sides(hunk: Hunk) -> Sides:
    """Both sides of a hunk, as bytes. Remembered: a hunk is judged on many files."""
    pre: list[bytes] = []
    post: list[bytes] = []
    mark, context, trailing = b"", 0, 0
    adds = removes = False
    for line in hunk.body:
        if line[:1] == b"\\":
            _open_end(pre, post, mark)
            continue
        mark, text = line[:1], line[1:] + b"\n"
        if mark == b"+":
            adds, trailing = True, 0
            post.append(text)
        elif mark == b"-":
            removes, trailing = True, 0
            pre.append(text)
        else:
            context, trailing = context + 1, trailing + 1
            pre.append(text)
            post.append(text)
    broken = any(not text.endswith(b"\n") for side in (pre, post) for text in side[:-1])
    empty = any(not text for side in (pre, post) for text in side)
    return Sides(
        pre=b"".join(pre),
        post=b"".join(post),
        shift=len(post) - len(pre),
        first=hunk.start <= 1,
        last=not trailing,
        adds=adds,
        removes=removes,
        context=context,
        broken=broken or empty,
    )


def _open_end(pre: list[bytes], post: list[bytes], mark: bytes) -> None:
    r"""The line before `\ No newline at end of file` has none, on the sides that it belongs to."""
    for side, absent in ((pre, b"+"), (post, b"-")):
        if mark != absent and side:
            side[-1] = side[-1].removesuffix(b"\n")


def places(content: bytes, block: bytes, sides: Sides, taken: Sequence[tuple[int, int]] = ()) -> list[int]:
    """The offsets where `block` (one of the sides) stands in `content`, ascending; none that overlaps a `taken` span."""
    if sides.last:
        at = len(content) - len(block)
        found = [at] if content.endswith(block) and (at == 0 or (content[at - 1] == 10 and not sides.first)) else []
    elif sides.first:
        whole = content.startswith(block) and (block.endswith(b"\n") or len(block) == len(content))
        found = [0] if whole else []
    else:
        found = _anywhere(content, block)
    if not taken or not found:
        return found
    length = len(block)
    return [at for at in found if not any(at < end and start < at + length for start, end in taken)]


def _anywhere(content: bytes, block: bytes) -> list[int]:
    if not block.endswith(b"\n"):
        at = len(content) - len(block)
        return [at] if content.endswith(block) and (at == 0 or content[at - 1] == 10) else []
    found = [0] if content.startswith(block) else []
    needle = b"\n" + block
    at = content.find(needle)
    while at >= 0:
        found.append(at + 1)
        at = content.find(needle, at + 1)
    return found


def stands(content: bytes, block: bytes, sides: Sides) -> bool:
    """Whether `block` stands anywhere."""
    if sides.first or sides.last or not block.endswith(b"\n"):
        return bool(places(content, block, sides))
    return content.startswith(block) or b"\n" + block in content


def glues(content: bytes, sides: Sides) -> bool:
    """Whether git would take the hunk where that joins two lines of the file: one of them lacks its newline."""
    if not sides.pre:
        return bool(content) and not content.endswith(b"\n") and not sides.first
    if sides.last or sides.pre.endswith(b"\n"):
        return False
    text, needle = b"\n" + content, b"\n" + sides.pre
    at = text.find(needle)
    while at >= 0 and not (sides.first and at):
        end = at + len(needle)
        if end < len(text) and _REST.match(text, end):
            return True
        at = text.find(needle, at + 1)
    return False
