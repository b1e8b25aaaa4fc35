"""A called workflow that asks for a permission which its caller does not grant: GitHub refuses the run when it starts.

Both the permissions at the top of the called file and those of its jobs are held to what the calling job has. Where neither
that job nor its workflow says anything, it is what its own caller grants, and at the top the repository's default, which
nobody can know: https://docs.github.com/actions/how-tos/reuse-automations/reuse-workflows
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from regraft.core.findings import Finding, Witness
from regraft.core.workflow_graph import CALL, DEEPEST, Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Data, Job, Place, Workflow

NAME = "permission-above-caller"

Granted = Mapping[str, str]

_LEVELS = {"none": 0, "read": 1, "write": 2}
_SCOPES = (
    *("actions", "artifact-metadata", "attestations", "checks", "contents", "deployments", "discussions", "id-token"),
    *("issues", "models", "packages", "pages", "pull-requests", "repository-projects", "security-events", "statuses"),
    "workflows",
)
_OTHERS = "*"  # scopes that GitHub has added since
_ONLY_WRITE = frozenset({"id-token", "workflows"})


class _Ask(Struct, frozen=True):
    place: Place
    scope: str
    level: str
    allowed: str


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            granted = _granted(workflow, job)
            called = graph.called(job)
            if granted is None or called is None or job.uses is None:
                continue
            asks = list(dict.fromkeys(_asks(graph, called, granted[0], (workflow.path,))))
            if asks:
                yield _finding(job, called, granted[1], asks)


def _finding(job: Job, called: Workflow, granted: Place, asks: list[_Ask]) -> Finding:
    assert job.uses is not None  # it calls
    at = job.uses.place
    wanted = {(one.scope, one.level): one.allowed for one in asks}
    said = ", ".join(f"`{scope}: {level}`" for scope, level in list(wanted)[:4])
    more = f" and {len(wanted) - 4} more" if len(wanted) > 4 else ""
    allowed = ", ".join(dict.fromkeys(f"`{scope}: {wanted[scope, level]}`" for scope, level in list(wanted)[:4]))
    message = f"{called.path} asks for {said}{more}, and the job `{job.name}` grants {allowed}: GitHub refuses the run"
    witnesses = [Witness(granted.path, granted.line, f"what the job `{job.name}` grants")]
    places: dict[Place, list[_Ask]] = {}
    for one in asks:
        places.setdefault(one.place, []).append(one)
    for place, some in list(places.items())[:12]:
        asked = ", ".join(f"`{one.scope}: {one.level}`" for one in some[:4])
        witnesses.append(Witness(place.path, place.line, f"asks for {asked}"))
    fix = f"grant {said}{more} to the job `{job.name}`, or ask for less"
    return Finding(NAME, "error", message, at.path, at.line, at.column, witnesses=tuple(witnesses), fix=fix)


def _asks(graph: Graph, called: Workflow, granted: Granted, above: tuple[str, ...]) -> Iterator[_Ask]:
    """What a called file asks for above a grant, with what it calls on that grant."""
    if called.path in above or len(above) > DEEPEST or CALL not in called.events:
        return
    top = _stated(called.data)
    if top is not None:
        yield from _above(*top, granted)
    for job in called.jobs.values():
        own = _stated(job.data)
        if own is not None:
            yield from _above(*own, granted)
        deeper = graph.called(job)
        if own is None and top is None and deeper is not None:
            yield from _asks(graph, deeper, granted, (*above, called.path))


def _above(asked: Granted, place: Place, granted: Granted) -> Iterator[_Ask]:
    for scope, level in asked.items():
        allowed = granted.get(scope, granted.get(_OTHERS, "none"))
        if scope != _OTHERS and _LEVELS[level] > _LEVELS[allowed] and not (scope in _ONLY_WRITE and level == "read"):
            yield _Ask(place, scope, level, allowed)


def _granted(workflow: Workflow, job: Job) -> tuple[Granted, Place] | None:
    return _stated(job.data) or _stated(workflow.data)


def _stated(owner: Data) -> tuple[Granted, Place] | None:
    """The permissions that a job or a workflow states; None where it states none, or what is no level."""
    data = owner.get("permissions")
    if data is None:
        return None
    place = owner.keys["permissions"].place
    if isinstance(data.value, Mapping):
        found = {scope: getattr(one.value, "value", "") for scope, one in data.value.items()}
        return (found, place) if all(level in _LEVELS for level in found.values()) else None
    word = getattr(data.value, "value", None)
    if word == "write-all":
        return {_OTHERS: "write", **{scope: "read" if scope == "models" else "write" for scope in _SCOPES}}, place
    if word == "read-all":
        return {_OTHERS: "read", **{scope: "none" if scope in _ONLY_WRITE else "read" for scope in _SCOPES}}, place
    return None


RULE = Rule(NAME, "a called workflow that asks for a permission its caller does not grant", find)
