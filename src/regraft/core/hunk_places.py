"""Where the old and the new side of a hunk stand in a file, by the rules of git's apply.c: exact, whole lines.

A hunk whose old side begins at line 0 or 1 must stand at the beginning, one without context behind it at the end.
"""

from functools import lru_cache

from msgspec import Struct

from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

_CHANGES = (b"+", b"-")
_TELLING = 12  # bytes of context that do not stand everywhere
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
    lead: bytes  # the lines of context that both sides begin with
    broken: bool  # a line within a side has no newline, so that git would join it with the next


@lru_cache(maxsize=8192)
def sides(hunk: Hunk) -> Sides:
    """Both sides of a hunk, as bytes. Remembered: a hunk is judged on many files."""
    pre: list[bytes] = []
    post: list[bytes] = []
    mark, context, trailing = b"", 0, 0
    adds = removes = False
    lead: bytes | None = None
    for line in hunk.body:
        if line[:1] == b"\\":
            _open_end(pre, post, mark)
            continue
        mark, text = line[:1], line[1:] + b"\n"
        if lead is None and mark in _CHANGES:
            lead = b"".join(pre)
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
        lead=lead or b"",
        broken=broken or empty,
    )


def _open_end(pre: list[bytes], post: list[bytes], mark: bytes) -> None:
    r"""The line before `\ No newline at end of file` has none, on the sides that it belongs to."""
    for side, absent in ((pre, b"+"), (post, b"-")):
        if mark != absent and side:
            side[-1] = side[-1].removesuffix(b"\n")


def places(content: bytes, block: bytes, sides: Sides) -> list[int]:
    """The offsets where `block` (one of the sides) stands in `content`, ascending."""
    if sides.last:
        at = len(content) - len(block)
        return [at] if content.endswith(block) and (at == 0 or (content[at - 1] == 10 and not sides.first)) else []
    if sides.first:
        whole = content.startswith(block) and (block.endswith(b"\n") or len(block) == len(content))
        return [0] if whole else []
    if not block.endswith(b"\n"):
        at = len(content) - len(block)
        return [at] if content.endswith(block) and (at == 0 or content[at - 1] == 10) else []
    return _anywhere(content, block)


def _anywhere(content: bytes, block: bytes) -> list[int]:
    found = [0] if content.startswith(block) else []
    needle = b"\n" + block
    at = content.find(needle)
    while at >= 0:
        found.append(at + 1)
        at = content.find(needle, at + 1)
    return found


def both_places(content: bytes, sides: Sides) -> tuple[list[int], list[int] | None]:
    """The places of the old side, and those of the new one where they are found on the way (in one walk over the file)."""
    free = not (sides.first or sides.last) and sides.pre.endswith(b"\n") and sides.post.endswith(b"\n")
    if not free or len(sides.lead.strip()) < _TELLING:
        return places(content, sides.pre, sides), None
    begins = _anywhere(content, sides.lead)
    pre, post = sides.pre, sides.post
    return [at for at in begins if content.startswith(pre, at)], [at for at in begins if content.startswith(post, at)]


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
