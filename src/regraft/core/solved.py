"""Whether what upstream wrote since looks like what a patch adds, without being the same. A hint, never a proof."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from regraft.core.line_diff import changed_blocks, split_lines
from regraft.core.patch_text import Hunk
from regraft.core.patterns import regex

ALIKE = 0.7
LEAST = 4  # tokens
MOST = 200  # lines of a block that are compared

_TOKEN = regex(rb"\w+|[^\w\s]", re.DOTALL)


def looks_solved(hunks: Sequence[Hunk], base: bytes, now: bytes) -> bool:
    """Whether for one of the hunks lines came in since that are much like those that it adds."""
    old, new = split_lines(base), split_lines(now)
    blocks = [new[j1 : min(j2, j1 + MOST)] for _, _, j1, j2 in changed_blocks(old, new) if j2 > j1]
    return any(_alike(hunk, block) for hunk in hunks for block in blocks)


def _alike(hunk: Hunk, block: Sequence[bytes]) -> bool:
    added = [line[1:] for line in hunk.body if line.startswith(b"+")]
    wanted = _TOKEN.findall(b"\n".join(added))
    if len(wanted) < LEAST:
        return False
    size = max(len(added), 1)
    for at in range(max(len(block) - size, 0) + 1):
        tokens = _TOKEN.findall(b"".join(block[at : at + size]))
        if SequenceMatcher(None, wanted, tokens, autojunk=False).ratio() >= ALIKE:
            return True
    return False
