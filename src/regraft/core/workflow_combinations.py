"""The jobs of a matrix, one by one, for a key at a time: without those that `exclude` takes out, with what `include` adds.

Source: https://docs.github.com/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from regraft.core.expression_value import Array, Object, Value
from regraft.core.workflow_values import Data
from regraft.core.workflow_yaml import items, mapping

MOST = 256  # combinations
MOST_WORK = 4096  # combinations times what is excluded or included

Row = Mapping[str, Value]


def values_of(
    key: str, vectors: Mapping[str, Sequence[Value]], exclude: Sequence[Row], include: Sequence[Row]
) -> list[Value] | None:
    """What a key (in lower case, as all are) has in the jobs; None where there are too many of them, or none.

    Where it is not certain whether two values are the same (`3.1` and `'3.1'`), both ways count.
    """
    size = prod(map(len, vectors.values()))
    if size > MOST or size * (len(exclude) + len(include)) > MOST_WORK:
        return None
    rows = [dict(zip(vectors, one, strict=True)) for one in product(*vectors.values())] if vectors else []
    rows = [one for one in rows if not any(_matches(one, other) for other in exclude)]
    own: list[list[Value]] = [[one.get(key)] for one in rows]
    added: list[Value] = []
    for entry in include:
        shared = {name: value for name, value in entry.items() if name in vectors}
        taken = False
        for row, held in zip(rows, own, strict=True):
            fits = _matches(row, shared)
            taken |= fits is True
            if fits is not False and key in entry and key not in vectors:
                held[:] = [entry[key]] if fits else [*held, entry[key]]
        if not taken:
            added.append(entry.get(key))
    found: dict[tuple[type, object], Value] = {}
    for value in [value for held in own for value in held] + added:
        found.setdefault((type(value), id(value) if isinstance(value, Array | Object) else value), value)
    return list(found.values()) or None


def _matches(row: Row, asked: Row) -> bool | None:
    """Whether a combination has all these values; None where that is not certain."""
    certain = True
    for name, value in asked.items():
        same = _same(row[name], value) if name in row else False
        if same is False:
            return False
        certain &= same is True
    return True if certain else None


def _same(one: Value, other: Value) -> bool | None:
    if isinstance(one, Array | Object) or isinstance(other, Array | Object) or type(one) is not type(other):
        return None
    if isinstance(one, str) and isinstance(other, str) and one != other:
        return None if one.casefold() == other.casefold() else False
    return one == other


def rows_of(data: Data | None) -> Iterator[Mapping[str, Data]]:
    """The mappings of `include` or `exclude`, their keys in lower case."""
    for one in items(data):
        yield {name.lower(): body for name, body in mapping(one).items()}
