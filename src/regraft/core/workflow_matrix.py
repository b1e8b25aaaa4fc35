"""What `matrix.x` can be."""

from collections.abc import Iterator, Mapping

from regraft.core.expression_known import Exactly, Known, OneOf, Path, Unknown
from regraft.core.expression_value import Array, Object, Value, index, object_of
from regraft.core.findings import Witness
from regraft.core.workflow_combinations import rows_of, values_of
from regraft.core.workflow_known import Names
from regraft.core.workflow_trees import scalar
from regraft.core.workflow_values import Data, Text
from regraft.core.workflow_yaml import items, mapping

MOST = 64  # values that a name may have


def matrix(names: Names, path: Path) -> Known:
    """`matrix.x` and what is below it."""
    job = names.job
    data = job.data.get("strategy", "matrix") if job is not None else None
    if job is None or len(path) < 2:
        return Unknown()
    if data is None:
        why = (Witness(job.place.path, job.place.line, f"the job `{job.name}` has no matrix"),)
        return Exactly(None, why)
    if not isinstance(data.value, Mapping):
        return Unknown()
    key = ("matrix", names.scope.path, job.name, path[1].lower())
    found = names.graph.memo.get(key)
    if found is None:
        found = names.graph.memo[key] = _found(data, path[1].lower())
    assert isinstance(found, list)
    if None in found or len(found) > MOST:
        return Unknown()
    values = [_below(one.value, path[2:]) for one in found if one is not None]
    why = (
        Witness(data.place.path, data.place.line, f"the matrix of `{job.name}` gives `{'.'.join(path)}` its values"),
    )
    return OneOf(tuple(values), why) if values else Exactly(None, why)


class _Held:
    """A value that is there, be it null."""

    def __init__(self, value: Value) -> None:
        self.value = value


def _found(data: Data, key: str) -> list[_Held | None]:
    exact = _exactly(data, key)
    return [_Held(one) for one in exact] if exact is not None else list(_of(data, key))


def _exactly(data: Data, key: str) -> list[Value] | None:
    """The values that a key has in the jobs; None where one of the matrix is not known, or there are too many."""
    named = {name.lower(): body for name, body in mapping(data).items()}
    include, exclude = named.pop("include", None), named.pop("exclude", None)
    written = [one for one in (include, exclude) if one is not None]
    if any(not isinstance(one.value, tuple) for one in (*named.values(), *written)):
        return None
    try:
        vectors = {name: [_value(one) for one in items(body)] for name, body in named.items()}
        added, taken = (
            [{name: _value(one) for name, one in row.items()} for row in rows_of(body)] for body in (include, exclude)
        )
    except LookupError:
        return None
    return values_of(key, vectors, taken, added)


def _of(data: Data, key: str) -> Iterator[_Held | None]:
    """The values that a key may have, whatever is excluded; None for each that is not known."""
    own = next((body for name, body in mapping(data).items() if name.lower() == key), None)
    if own is not None and key not in ("include", "exclude"):
        yield from map(_held, items(own)) if isinstance(own.value, tuple) else (None,)
    vectors = {name.lower() for name in mapping(data)} - {"include", "exclude"}
    include = data.get("include")
    if include is not None and not isinstance(include.value, tuple):
        yield None
    for one in items(include):
        added = next((body for name, body in mapping(one).items() if name.lower() == key), None)
        if added is not None:
            yield _held(added)
        elif own is None or any(name.lower() in vectors for name in mapping(one)):
            yield _Held(None)  # it may be a combination of its own
    if own is None and vectors:
        yield _Held(None)


def _held(data: Data) -> _Held | None:
    try:
        return _Held(_value(data))
    except LookupError:
        return None


def _value(data: Data) -> Value:
    """Raises LookupError where an expression stands in it."""
    if isinstance(data.value, Text):
        if "${{" in data.value.value:
            raise LookupError
        return scalar(data.value)
    if isinstance(data.value, tuple):
        return Array(tuple(map(_value, data.value)))
    return object_of({key: _value(one) for key, one in data.value.items()})


def _below(value: Value, path: Path) -> Value:
    for name in path:
        value = index(value, name) if isinstance(value, Array | Object) else None
    return value
