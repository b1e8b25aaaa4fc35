"""What a workflow's inputs and matrix are, from what is declared and what is given."""

import itertools
from collections.abc import Mapping
from typing import Any

from regraft.core.spelling import nearest
from regraft.core.workflow_values import Data, Declared, Job, Text, Workflow
from regraft.errors import InputError

_CALLS = ("workflow_dispatch", "workflow_call")


def inputs_of(workflow: Workflow, event: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Each declared input with its value: as given, or its default, or what GitHub has for nothing of its type.

    An event that takes none leaves those of a call. Raises InputError: unknown-input, bad-input.
    """
    names = [event] if event in _CALLS else ["workflow_call"]
    declared: dict[str, Declared] = {}
    for name in [*names, *_CALLS] if given else names:
        if name in workflow.events:
            declared = {**workflow.events[name].inputs, **declared}
    for name in given:
        if name not in declared:
            near = nearest(name, declared)
            hint = f"did you mean {near}?" if near else f"it declares {', '.join(declared) or 'none'}"
            raise InputError("unknown-input", f"no input {name!r:.80} is declared", where=workflow.path, hint=hint)
    return {name: _value(one, given.get(name)) for name, one in declared.items()}


def _value(declared: Declared, given: Any) -> Any:
    default = declared.default.text.value if declared.default is not None else None
    value = default if given is None else given
    match declared.type:
        case "boolean":
            if value in (None, "", False, "false"):
                return False
            if value in (True, "true"):
                return True
            raise InputError("bad-input", f"{declared.name} is a boolean, and is given {value!r:.80}", where="--input")
        case "number":
            try:
                return float(value) if value not in (None, "") else 0.0
            except (TypeError, ValueError):
                message = f"{declared.name} is a number, and is given {value!r:.80}"
                raise InputError("bad-input", message, where="--input") from None
        case "choice" if declared.options and value not in declared.options and given is not None:
            hint = f"one of {', '.join(declared.options)}"
            message = f"{declared.name} has no option {value!r:.80}"
            raise InputError("bad-input", message, where="--input", hint=hint)
        case "choice" if value is None and declared.options:
            return declared.options[0]
        case _:
            return "" if value is None else value


def matrix_of(job: Job) -> dict[str, Any]:
    """The first combination of a literal matrix; nothing where an expression makes it."""
    data = job.data.get("strategy", "matrix")
    if data is None or not isinstance(data.value, Mapping):
        return {}
    found = {}
    for name, values in data.value.items():
        if name not in ("include", "exclude") and isinstance(values.value, tuple) and values.value:
            found[name] = _plain(values.value[0])
    included = data.get("include")
    if not found and included is not None and isinstance(included.value, tuple):
        return next((_plain(one) for one in itertools.islice(included.value, 1)), {})
    return found


def _plain(data: Data) -> Any:
    match data.value:
        case Text(value=value, plain=plain):
            return _scalar(value) if plain else value
        case tuple():
            return [_plain(one) for one in data.value]
        case _:
            return {name: _plain(one) for name, one in data.value.items()}


def _scalar(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() in ("", "null", "~"):
        return None
    try:
        return float(text)
    except ValueError:
        return text
