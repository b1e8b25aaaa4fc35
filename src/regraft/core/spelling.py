"""The nearest valid word to a misspelt one, for every message that offers one."""

from collections.abc import Iterable

_LONGEST = 100
_FOLD = str.maketrans({"_": "-", " ": "-"})


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was probably meant to be, or None where none is near enough to offer."""
    found = near(word, candidates, count=1)
    return found[0] if found else None


def near(word: str, candidates: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """Up to `count` candidates that `word` may have been meant to be, nearest first, ties in the order given.

    Case, `_` and blanks for `-` cost nothing. Else a letter more, less, other or swapped with its neighbour costs one;
    a third of the word may differ, at least one letter and at most three. Words over 100 characters are near nothing.
    """
    folded = _folded(word)
    if len(folded) > _LONGEST:
        return ()
    limit = max(1, min(3, len(folded) // 3))
    measured = ((distance(folded, _folded(candidate), limit), candidate) for candidate in dict.fromkeys(candidates))
    return tuple(candidate for cost, candidate in sorted(measured, key=_cost) if cost <= limit)[:count]


def distance(left: str, right: str, limit: int) -> int:
    """Edits between two words, a swap of neighbours being one; `limit` + 1 stands for everything above `limit`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    above: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, above, row = above, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(above) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def _folded(word: str) -> str:
    return word.strip().casefold().translate(_FOLD)


def _cost(measured: tuple[int, str]) -> int:
    return measured[0]
