"""A three-way merge of lines by the rules of `git merge-file`: what both sides changed alike is no conflict, what touches is one."""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core.line_diff import Block, split_lines, text_blocks


class Conflict(Struct, frozen=True):
    """Both sides changed these lines of the base (indexes as in slices), and not alike."""

    start: int
    end: int


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | Conflict:
    """The merged file, or the first place where it cannot be merged."""
    if base in (ours, theirs) or ours == theirs:
        return theirs if base == ours else ours
    old, one, mine = text_blocks(base, ours)
    _, two, others = text_blocks(base, theirs)
    groups = _grouped(mine, others)
    result: list[bytes] = []
    at = 0
    for mine, other in groups:
        start = min(block[0] for block in (*mine, *other))
        end = max(block[1] for block in (*mine, *other))
        first, second = (_side(blocks, lines, start, end) for blocks, lines in ((mine, one), (other, two)))
        result += old[at:start]
        at = end
        if not other:
            result += first
        elif not mine:
            result += second
        elif first == second:
            result += first
        else:
            return Conflict(start, end)
    return b"".join([*result, *old[at:]])


def settled(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> bool:
    """Whether a clean merge is the same when the files are read from their ends.

    Lines that repeat can be matched in several ways, and git may match them otherwise.
    """
    return merge(*map(_upside_down, (base, ours, theirs))) == _upside_down(merged)


def _upside_down(text: bytes) -> bytes:
    lines = split_lines(text)
    return b"".join(line if line.endswith(b"\n") else line + b"\0\n" for line in reversed(lines))


def _grouped(mine: Sequence[Block], others: Sequence[Block]) -> list[tuple[list[Block], list[Block]]]:
    """Blocks of both sides in the order of the base; those that overlap or touch belong together."""
    every = sorted([(block, 0) for block in mine] + [(block, 1) for block in others])
    groups: list[tuple[list[Block], list[Block]]] = []
    end = -1
    for block, side in every:
        if groups and block[0] <= end:
            groups[-1][side].append(block)
            end = max(end, block[1])
        else:
            groups.append(([], []))
            groups[-1][side].append(block)
            end = block[1]
    return groups


def _side(blocks: Sequence[Block], lines: Sequence[bytes], start: int, end: int) -> list[bytes]:
    """What one side has in place of lines `start` to `end` of the base."""
    if not blocks:
        return []
    first, last = blocks[0], blocks[-1]
    return list(lines[first[2] - (first[0] - start) : last[3] + (end - last[1])])
