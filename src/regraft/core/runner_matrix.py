"""The first combination of a job's matrix, as the run begins with it."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from regraft.core.expression_text import value_parts
from regraft.core.expression_tree import Call
from regraft.core.runner_expressions import Scope, fill
from regraft.core.workflow_trees import scalar
from regraft.core.workflow_values import Data, Job, Text, Value
from regraft.errors import InputError

_LISTS = ("include", "exclude")


def matrix_of(job: Job, scope: Scope) -> dict[str, Any]:
    """The first value of each key; of a matrix of `include` alone, its first entry. No `exclude` is looked at.

    Raises InputError: `expression`; `no-matrix`, where an expression gives nothing to go through, as GitHub fails the job then.
    """
    data = job.data.get("strategy", "matrix")
    if data is None:
        return {}
    matrix = _filled(data, scope)
    if not isinstance(matrix, Mapping) or not matrix:
        raise _none(data, "matrix", matrix)
    found: dict[str, Any] = {}
    for name, values in matrix.items():
        if not isinstance(values, list) or not (values or name in _LISTS):
            raise _none(data, f"matrix.{name}", values)
        if name not in _LISTS:
            found[name] = values[0]
    included = matrix.get("include", [])
    return found or (next((dict(one) for one in included if isinstance(one, Mapping)), {}))


def _none(data: Data, name: str, value: object) -> InputError:
    where = f"{data.place.path}:{data.place.line}"
    message = f"`{name}` comes to {json.dumps(value)[:80]}, which holds nothing to run: GitHub fails the job"
    return InputError(
        "no-matrix", message, where=where, hint="give a value for each key of the matrix, or what it is made of"
    )


def _filled(data: Data, scope: Scope) -> Any:
    """Plain values, with those of its expressions."""
    match data.value:
        case Text() as text:
            return _scalar(text, scope)
        case tuple() as items:
            return [_filled(one, scope) for one in items]
        case _:
            return {name: _filled(one, scope) for name, one in data.value.items()}


def _scalar(text: Text, scope: Scope) -> Any:
    parts = value_parts(text.value)
    if all(one.literal for one in parts):
        return scalar(text)
    if len(parts) > 1 or parts[0].expression is None:
        return fill(Value(text, tuple(parts)), scope)
    whole = replace(parts[0], expression=Call("tojson", (parts[0].expression,)))  # which may be no text
    return json.loads(fill(Value(text, (whole,)), scope))
