"""Which contexts and functions an expression may use, by the key of the workflow or action that it stands in.

The facts are those of GitHub's schemas: `workflow-v1.0.json` of actions/languageservices, `action_yaml.json` of actions/runner.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from regraft.core.expression_functions import MOST, PURE
from regraft.core.expression_tree import Call, Context, Expression, parts

Arity = tuple[int, int]


class Allowed(Struct, frozen=True):
    """Names in lower case. `functions`: beside those that are known everywhere; how few and how many arguments they take."""

    contexts: frozenset[str]
    functions: Mapping[str, Arity] = {}


def _allowed(contexts: str, functions: Mapping[str, Arity] | None = None) -> Allowed:
    return Allowed(frozenset(contexts.split()), functions or {})


_RUN = "github inputs vars"
_NEEDS = f"{_RUN} needs"
_MATRIX = f"{_NEEDS} strategy matrix"
_RUNNER = f"{_MATRIX} job runner steps env"
_HASH: Mapping[str, Arity] = {"hashfiles": (1, MOST)}
_STATUS: Mapping[str, Arity] = {"always": (0, 0), "cancelled": (0, 0), "failure": (0, 0), "success": (0, 0)}
_OF_JOBS: Mapping[str, Arity] = {**_STATUS, "failure": (0, MOST), "success": (0, MOST)}
_MATRIXED = _allowed(_MATRIX)
_IN_RUNNER = _allowed(f"{_RUNNER} secrets")
_IN_STEP = _allowed(f"{_RUNNER} secrets", _HASH)
_STEP_IF = _allowed(_RUNNER, {**_STATUS, **_HASH})
_CREDENTIALS = _allowed(f"{_MATRIX} env secrets")
_COMPOSITE = "github inputs strategy matrix steps job runner env"
_IN_COMPOSITE = _allowed(_COMPOSITE, _HASH)
_COMPOSITE_IF = _allowed(_COMPOSITE, {**_STATUS, **_HASH})
_INPUTS = _allowed("inputs")

_STEP_KEYS = ("name", "timeout-minutes", "run", "continue-on-error", "working-directory", "env", "with")
_MATRIX_KEYS = (
    "name",
    "runs-on",
    "timeout-minutes",
    "cancel-timeout-minutes",
    "continue-on-error",
    "concurrency",
    "container",
)

WORKFLOW: Mapping[tuple[str, ...], Allowed] = {
    ("run-name",): _allowed(_RUN),
    ("env",): _allowed(f"{_RUN} secrets"),
    ("concurrency",): _allowed(_RUN),
    ("on", "workflow_call", "inputs", "*", "default"): _allowed(_RUN),
    ("on", "workflow_call", "outputs", "*", "value"): _allowed(f"{_RUN} jobs"),
    ("jobs", "*", "if"): _allowed(_NEEDS, _OF_JOBS),
    ("jobs", "*", "strategy"): _allowed(_NEEDS),
    ("jobs", "*", "with"): _MATRIXED,
    ("jobs", "*", "secrets", "*"): _allowed(f"{_MATRIX} secrets"),
    ("jobs", "*", "env"): _allowed(f"{_MATRIX} secrets"),
    ("jobs", "*", "outputs"): _IN_RUNNER,
    ("jobs", "*", "environment"): _MATRIXED,
    ("jobs", "*", "environment", "url"): _allowed(_RUNNER),
    ("jobs", "*", "defaults", "run"): _allowed(f"{_MATRIX} env"),
    ("jobs", "*", "container", "env"): _IN_RUNNER,
    ("jobs", "*", "container", "credentials"): _CREDENTIALS,
    ("jobs", "*", "services"): _MATRIXED,
    ("jobs", "*", "services", "*", "env"): _IN_RUNNER,
    ("jobs", "*", "services", "*", "credentials"): _CREDENTIALS,
    ("jobs", "*", "snapshot", "if"): _MATRIXED,
    ("jobs", "*", "steps", "if"): _STEP_IF,
    **{("jobs", "*", key): _MATRIXED for key in _MATRIX_KEYS},
    **{("jobs", "*", "steps", key): _IN_STEP for key in _STEP_KEYS},
}

ACTION: Mapping[tuple[str, ...], Allowed] = {
    ("inputs", "*", "default"): _allowed("github strategy matrix job runner", _HASH),
    ("outputs", "*", "value"): _allowed(_COMPOSITE),
    ("runs", "args"): _INPUTS,
    ("runs", "env"): _INPUTS,
    ("runs", "pre-if"): _COMPOSITE_IF,
    ("runs", "post-if"): _COMPOSITE_IF,
    ("runs", "steps", "if"): _COMPOSITE_IF,
    **{("runs", "steps", key): _IN_COMPOSITE for key in _STEP_KEYS if key != "timeout-minutes"},
}

CONTEXTS = frozenset(name for table in (WORKFLOW, ACTION) for one in table.values() for name in one.contexts)


def allowed(keys: Sequence[str], of: Mapping[tuple[str, ...], Allowed] = WORKFLOW) -> Allowed | None:
    """What the value below these keys may use; None where no expression is evaluated.

    `keys`: from the top of the file, without the positions in sequences: `jobs`, `test`, `steps`, `env`, `TOKEN`. A step in a
    `parallel` group is as any other.
    """
    path = tuple(key for key in keys if key != "parallel") if "parallel" in keys else tuple(keys)
    if path[:1] == ("jobs",):
        path = ("jobs", "*", *path[2:])  # so that what is kept is kept for all jobs
    return _below(path[:5], is_workflow=of is WORKFLOW)


@lru_cache(1024)
def _below(path: tuple[str, ...], *, is_workflow: bool) -> Allowed | None:
    of = WORKFLOW if is_workflow else ACTION
    for length in range(len(path), 0, -1):
        found = _named(path[:length], of)
        if found is not None:
            return found
    return None


def not_allowed(tree: Expression, here: Allowed) -> Iterator[tuple[Expression, str]]:
    """The parts that GitHub refuses at this place, and its words."""
    if isinstance(tree, Context) and tree.name not in here.contexts:
        yield tree, f"Unrecognized named-value: '{tree.name}'"
    if isinstance(tree, Call) and tree.function not in PURE:
        least, most = here.functions.get(tree.function, (0, -1))
        if most < 0:
            yield tree, f"Unrecognized function: '{tree.function}'"
        elif not least <= len(tree.arguments) <= most:
            yield tree, f"Too {'few' if len(tree.arguments) < least else 'many'} parameters supplied: '{tree.function}'"
    for part in parts(tree):
        yield from not_allowed(part, here)


def _named(path: tuple[str, ...], of: Mapping[tuple[str, ...], Allowed]) -> Allowed | None:
    """A path in the table, with `*` for the keys that a user names: the second, and the fourth of services and calls."""
    for star in ((), (1,), (3,), (1, 3)):
        if all(at < len(path) for at in star):
            found = of.get(tuple("*" if at in star else key for at, key in enumerate(path)))
            if found is not None:
                return found
    return None
