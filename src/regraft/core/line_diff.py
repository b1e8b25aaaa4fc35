"""The lines that differ between two texts: Myers' shortest script, each run pushed down as far as it goes, as git does."""

from collections.abc import Sequence
from functools import lru_cache

MOST = 1500  # lines in the shortest script; beyond that an approximate one is taken

Block = tuple[int, int, int, int]
"""(i1, i2, j1, j2): lines i1 to i2 of the one became lines j1 to j2 of the other. Indexes as in slices."""


def split_lines(text: bytes) -> list[bytes]:
    """Lines with their newlines; the last one may have none."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


@lru_cache(maxsize=8)
def text_blocks(a: bytes, b: bytes) -> tuple[Sequence[bytes], Sequence[bytes], Sequence[Block]]:
    """The lines of both texts, and what differs. The latest ones are remembered: several proofs ask for the same."""
    one, two = split_lines(a), split_lines(b)
    return one, two, changed_blocks(one, two)


def changed_blocks(a: Sequence[bytes], b: Sequence[bytes]) -> list[Block]:
    """What differs, in order. Blocks do not touch."""
    head = 0
    while head < len(a) and head < len(b) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < len(a) - head and tail < len(b) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    kept = _common(inner_a, inner_b)
    blocks: list[Block] = []
    i = j = head
    for x, y in [*kept, (len(inner_a), len(inner_b))]:
        if (i, j) != (x + head, y + head):
            blocks.append((i, x + head, j, y + head))
        i, j = x + head + 1, y + head + 1
    return _pushed_down(a, b, blocks)


def _common(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of indexes of lines that stay."""
    both = set(a).intersection(b)
    if not both:
        return []
    # A line that only one side has stays in no script; without them a rewritten file costs little.
    at_a = [index for index, line in enumerate(a) if line in both]
    at_b = [index for index, line in enumerate(b) if line in both]
    left, right = [a[index] for index in at_a], [b[index] for index in at_b]
    found = _shortest(left, right)
    if found is None:
        from difflib import SequenceMatcher  # noqa: PLC0415 - far apart is rare, and a cold gate pays for each import

        matches = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        found = [(i + n, j + n) for i, j, size in matches for n in range(size)]
    return [(at_a[i], at_b[j]) for i, j in found]


def _shortest(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]] | None:
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for distance in range(min(len(a) + len(b), MOST) + 1):
        trail.append(dict(reach))
        for k in range(-distance, distance + 1, 2):
            down = k == -distance or (k != distance and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            reach[k] = x
            if x >= len(a) and x - k >= len(b):
                return _walk_back(trail, len(a), len(b))
    return None


def _walk_back(trail: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for distance in range(len(trail) - 1, -1, -1):
        reach, k = trail[distance], x - y
        down = k == -distance or (k != distance and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        from_x = reach[before] if distance else 0
        from_y = from_x - before if distance else 0
        while x > from_x and y > from_y:
            x, y = x - 1, y - 1
            kept.append((x, y))
        x, y = from_x, from_y
    kept.reverse()
    return kept


def _pushed_down(a: Sequence[bytes], b: Sequence[bytes], blocks: Sequence[Block]) -> list[Block]:
    """Pure insertions and deletions, moved down while that says the same; blocks that then touch become one."""
    done: list[Block] = []
    for number in range(len(blocks) - 1, -1, -1):
        i1, i2, j1, j2 = blocks[number]
        stop_i, stop_j = (done[-1][0], done[-1][2]) if done else (len(a), len(b))
        while (i1 == i2 or j1 == j2) and i2 < stop_i and j2 < stop_j:
            side, start, end = (b, j1, j2) if i1 == i2 else (a, i1, i2)
            if side[start] != side[end]:
                break
            i1, i2, j1, j2 = i1 + 1, i2 + 1, j1 + 1, j2 + 1
        if done and (i2, j2) == (stop_i, stop_j):
            done[-1] = (i1, done[-1][1], j1, done[-1][3])
        else:
            done.append((i1, i2, j1, j2))
    done.reverse()
    return done
