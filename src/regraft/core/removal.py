"""What can be proved of hunks and files that a patch only removes.

The result of such a hunk is its context alone. That the context is found says little: it may stand at another place, and the
removed lines may live on elsewhere.
"""

from collections.abc import Sequence
from itertools import groupby

from regraft.core.patch_text import Hunk

_DOUBT = "it only removes lines, and {}; decide by hand whether it is there already"


def removal_doubt(hunk: Hunk, content: bytes) -> str | None:
    """Why a hunk that only removes lines is not proved to be in `content`, or None where it is.

    Proved: none of what it removes occurs any more, and what stood before and after it occurs exactly once.
    """
    if lives_on(hunk, content):
        return _DOUBT.format("the lines that it removes still occur in the file")
    runs = _runs(hunk)
    around = [lines for removes, lines in (runs[0], runs[-1]) if not removes]
    if not around or any(_count(lines, content) != 1 for lines in around):
        return _DOUBT.format("the lines around them do not name one place")
    return None


def lives_on(hunk: Hunk, content: bytes) -> bool:
    """Whether the hunk only removes lines, and lines that it removes together still stand together in `content`."""
    return hunk.only_removes and any(removes and _count(lines, content) for removes, lines in _runs(hunk))


def _runs(hunk: Hunk) -> list[tuple[bool, list[bytes]]]:
    """Lines in a row that are removed, or that are kept."""
    body = [line for line in hunk.body if not line.startswith(b"\\")]
    return [
        (removes, [line[1:] if line else b"" for line in lines])
        for removes, lines in groupby(body, lambda line: line.startswith(b"-"))
    ]


def _count(lines: Sequence[bytes], content: bytes) -> int:
    text = b"\n" + content + (b"" if content.endswith(b"\n") else b"\n")
    block = b"\n" + b"\n".join(lines) + b"\n"
    count, at = 0, text.find(block)
    while at >= 0:
        count, at = count + 1, text.find(block, at + 1)
    return count


def blob_oid(hunks: Sequence[Hunk], *, sha256: bool) -> str:
    """The name of the blob that these hunks remove as a whole."""
    pieces: list[bytes] = []
    for hunk in hunks:
        for line in hunk.body:
            if line.startswith(b"-"):
                pieces.append(line[1:] + b"\n")
            elif line.startswith(b"\\") and pieces:
                pieces[-1] = pieces[-1].removesuffix(b"\n")
    from regraft.core.checkout_tree import object_hash  # noqa: PLC0415 - with OpenSSL, which a gate seldom needs

    return object_hash("blob", sum(map(len, pieces)), pieces, sha256=sha256).hex()
