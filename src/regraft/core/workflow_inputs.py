"""What `inputs.x`, `github.event.inputs.x` and `secrets.X` can be: what a caller passes, a default, or what somebody types."""

from collections.abc import Mapping
from typing import TypeVar

from regraft.core.expression_cone import path_of
from regraft.core.expression_known import Defined, Exactly, Known, OneOf, Path, Unknown, Why
from regraft.core.expression_known import Names as AnyNames
from regraft.core.expression_tree import Call as Function
from regraft.core.expression_tree import Compare, Constant, Expression, Logic, Not
from regraft.core.expression_value import text_of
from regraft.core.findings import Witness
from regraft.core.workflow_events import lacks
from regraft.core.workflow_graph import CALL, Scope
from regraft.core.workflow_known import Names
from regraft.core.workflow_trees import EMPTY, both, choose, either, tree_of
from regraft.core.workflow_values import Action, Declared, Text, Value

_T = TypeVar("_T")

_BOOLEAN = frozenset({"contains", "startswith", "endswith", "success", "failure", "always", "cancelled"})
_TYPED: Mapping[str, bool | float] = {"boolean": False, "number": 0.0}


def inputs(names: Names, path: Path) -> Known:
    """`inputs.x` at a place."""
    scope = names.scope
    if len(path) != 2:
        return Unknown()
    name = path[1]
    file = names.graph.file(scope)
    if isinstance(file, Action):
        return _passed(names, name, find(file.inputs, name), scope.step.arguments if scope.step else {}, text=True)
    if file is None:
        return Unknown()
    event = file.events.get(CALL) if scope.caller is not None else scope.event
    if event is None:
        return Unknown()
    declared = find(event.inputs, name)
    if scope.caller is not None:
        text = declared is None or declared.type not in _TYPED
        return _passed(names, name, declared, scope.job.arguments if scope.job else {}, text=text)
    if declared is None:
        return Exactly(None, (Witness(scope.path, event.place.line, f"`{event.name}` has no input `{name}`"),))
    return _typed_in(declared)


def event_inputs(names: Names, path: Path) -> Known:
    """`github.event.inputs.x`, which has only what somebody typed or ticked, as a text. `names` are the entry's."""
    event = names.scope.event
    why: Why = (Witness(names.scope.path, event.place.line, f"`{event.name}` has no typed inputs"),)
    if lacks(event, "inputs"):
        return Exactly(None, why)
    if event.name != "workflow_dispatch" or len(path) != 4:
        return Unknown()
    declared = find(event.inputs, path[3])
    if declared is None:
        return Exactly(None, (Witness(names.scope.path, event.place.line, f"no input `{path[3]}` is declared"),))
    known = _typed_in(declared)
    if not isinstance(known, OneOf):
        return Unknown(kind="text")
    untouched = ("",) if declared.default is None and not declared.required else ()
    return OneOf(tuple(dict.fromkeys((*map(text_of, known.values), *untouched))), known.why)


def secrets(names: Names, path: Path) -> Known:
    """`secrets.X`: null in a called workflow that is not given it."""
    scope = names.scope
    caller, job = names.caller(), scope.job
    if len(path) != 2 or caller is None or job is None or scope.step is not None or path[1].upper() == "GITHUB_TOKEN":
        return Unknown()
    if job.secrets == "inherit":
        return secrets(caller, path)
    value = find(job.secrets, path[1])
    if value is None:
        return Exactly(
            None, (Witness(caller.scope.path, _line(scope), f"the job `{job.name}` passes no secret `{path[1]}`"),)
        )
    tree = tree_of(value)
    return Unknown() if tree is None else Defined(tree, caller)


def find(named: Mapping[str, _T], name: str) -> _T | None:
    """What a mapping holds under a name, in any case of letters."""
    found = named.get(name)
    return (
        found if found is not None else next((one for key, one in named.items() if key.lower() == name.lower()), None)
    )


def as_text(tree: Expression, names: AnyNames) -> Expression:
    """What an expression is where only texts arrive: `false` becomes a text, which is true."""
    match tree:
        case Constant(value=value):
            return Constant(text_of(value))
        case Logic(operator="||", items=items):
            *first, last = items
            return either(*(both(one, as_text(one, names)) for one in first), as_text(last, names))
        case Logic(items=items):
            *first, last = items
            whole = as_text(last, names)
            for one in reversed(first):
                whole = either(both(one, whole), both(Not(one), as_text(one, names)), EMPTY)
            return whole
    return choose(tree, Constant("true"), Constant("false")) if _is_boolean(tree, names) else tree


def _is_boolean(tree: Expression, names: AnyNames) -> bool:
    match tree:
        case Compare() | Not():
            return True
        case Function(function=function):
            return function in _BOOLEAN
        case Logic(items=items):
            return all(_is_boolean(one, names) for one in items)
        case Constant(value=own):
            return isinstance(own, bool)
    path = path_of(tree)
    known = names.known(path) if path is not None else Unknown()
    match known:
        case Exactly(value=value):
            return isinstance(value, bool)
        case OneOf(values=values):
            return all(isinstance(one, bool) for one in values)
        case Defined(tree=inner, names=there):
            return _is_boolean(inner, there)
    return False


def _passed(names: Names, name: str, declared: Declared | None, given: Mapping[str, Value], *, text: bool) -> Known:
    scope, caller = names.scope, names.caller()
    value = find(given, name)
    if caller is None:
        return Unknown()
    if value is not None:
        return _given(value, name, declared, caller, text=text)
    absent = Witness(caller.scope.path, _line(scope), f"calls {scope.path} without `{name}`")
    if declared is None:
        return Exactly(None, (absent,))
    if declared.default is None:
        missing = Witness(declared.place.path, declared.place.line, f"`{name}` has no default")
        return Exactly("" if text else _TYPED[declared.type or ""], (absent, missing))
    place = declared.default.text.place
    default = Witness(place.path, place.line, f"`{name}` is `{_short(declared.default.text)}` by default")
    level = names.at(scope, names.job) if scope.step is not None else names.flow()
    return _meant(tree_of(declared.default, typed=not text), level, (absent, default), text=text)


def _given(value: Value, name: str, declared: Declared | None, caller: Names, *, text: bool) -> Known:
    place = value.text.place
    why = (Witness(place.path, place.line, f"passes `{name}: {_short(value.text)}`"),)
    if not value.text.value and value.text.plain:
        return Unknown(why)  # `x:` with nothing
    tree = tree_of(value, typed=not text)
    if tree is not None and declared is not None and declared.type == "boolean" and not _is_boolean(tree, caller):
        return OneOf((True, False), why)  # a text is refused when it runs, but for one that is a boolean after all
    return _meant(tree, caller, why, text=text)


def _meant(tree: Expression | None, names: Names, why: Why, *, text: bool) -> Known:
    if tree is None:
        return Unknown(why)
    if isinstance(tree, Constant):
        return Exactly(text_of(tree.value) if text else tree.value, why)
    return Defined(as_text(tree, names) if text else tree, names, why)


def _typed_in(declared: Declared) -> Known:
    """An input of an event: of `workflow_dispatch`, or of callers that are not known."""
    place = declared.place
    why = (Witness(place.path, place.line, f"`{declared.name}` is an input of type {declared.type or 'string'}"),)
    if declared.type == "boolean":
        return OneOf((True, False), why)
    if declared.type == "choice" and declared.options:
        empty = () if declared.default is not None or declared.required else ("",)
        return OneOf((*declared.options, *empty), why)
    return Unknown(why, "number" if declared.type == "number" else "text")


def _line(scope: Scope) -> int:
    """Where a file is called."""
    one = scope.step if scope.step is not None else scope.job
    assert one is not None  # whoever has a caller has been called by one
    return one.uses.place.line if one.uses is not None else one.place.line


def _short(text: Text) -> str:
    line, *more = text.value.strip().splitlines() or [""]
    return line[:80] + ("…" if more or len(line) > 80 else "")
