"""What a workflow's inputs are, from what is declared and what is given."""

from collections.abc import Mapping
from typing import Any

from regraft.core.spelling import nearest
from regraft.core.workflow_values import Declared, Workflow
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
