"""`needs.x`, `jobs.x` or `steps.x` where no such job or step stands, or it has no such output: always null."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.expression_allowed import ACTION, WORKFLOW, allowed
from regraft.core.findings import Finding, Severity, Witness
from regraft.core.spelling import nearest
from regraft.core.workflow_graph import CALL, Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, falls_back, files, place_of, uses
from regraft.core.workflow_values import Action, Job, Place, Step, Text, Workflow

NAME = "needs-undeclared"

_OF_STEP = frozenset({"outputs", "outcome", "conclusion"})
_OF_JOB = frozenset({"outputs", "result"})


class _Wrong(Struct, frozen=True):
    """`key`: uses with the same one are one fault. `near`: whether another name was probably meant."""

    key: tuple[str, ...]
    message: str
    fix: str
    near: bool = False
    witnesses: tuple[Witness, ...] = ()


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        if isinstance(file, Workflow):
            yield from _waits(file)
            yield from _circles(graph, file)
        table = ACTION if isinstance(file, Action) else WORKFLOW
        faults: dict[tuple[str, ...], list[tuple[Use, _Wrong]]] = {}
        for context in ("needs", "jobs", "steps"):
            for use in uses(graph, file.path).of(context):
                here = allowed(use.keys, table)
                if len(use.path) < 2 or here is None or context not in here.contexts:
                    continue
                wrong = _wrong(graph, file, use)
                if wrong is not None:
                    faults.setdefault((use.job.name if use.job else "", *wrong.key), []).append((use, wrong))
        for some in faults.values():
            yield _finding(graph, some)


def _finding(graph: Graph, some: "list[tuple[Use, _Wrong]]") -> Finding:
    use, wrong = some[0]
    severity: Severity = "error" if wrong.near or not all(falls_back(one) for one, _ in some) else "warning"
    at = place_of(graph, use)
    others = tuple(Witness(at.path, one.line, "and here") for one, _ in some[1:12] if one.line != at.line)
    witnesses = (*wrong.witnesses, *dict.fromkeys(others))
    return Finding(NAME, severity, wrong.message, at.path, at.line, at.column, "high", witnesses, wrong.fix)


def _waits(workflow: Workflow) -> Iterator[Finding]:
    for job in workflow.jobs.values():
        for one in job.needs:
            if "${{" in one.value or named(workflow.jobs, one.value) is not None:
                continue
            near = nearest(one.value, (name for name in workflow.jobs if name != job.name))
            message = f"the job `{job.name}` needs `{one.value[:60]}`, which is no job: GitHub refuses the file"
            fix = f"did you mean `{near}`?" if near else "take it out of `needs`"
            yield Finding(NAME, "error", message, one.place.path, one.place.line, one.place.column, fix=fix)


def _circles(graph: Graph, workflow: Workflow) -> Iterator[Finding]:
    """Each waits for another that never comes first: whoever follows them comes to a circle, which is said once."""
    seen: set[str] = set()
    for start in workflow.jobs.values():
        way: dict[str, tuple[Job, Text]] = {}
        here: Job | None = start
        while here is not None and here.name not in seen and graph.is_circular(workflow.path, here):
            seen.add(here.name)
            waits = ((one, graph.job(workflow.path, one.value)) for one in here.needs)
            need, other = next((one, job) for one, job in waits if job and graph.is_circular(workflow.path, job))
            way[here.name] = (here, need)
            here = other
        if here is not None and here.name in way:
            names = list(way)
            yield _circle(list(way.values())[names.index(here.name) :])


def _circle(way: "Sequence[tuple[Job, Text]]") -> Finding:
    job, need = way[0]
    listed = ", ".join(f"`{one.name[:60]}`" for one, _ in way[:8])
    waits = f"the jobs {listed} wait for each other" if len(way) > 1 else f"the job {listed} needs itself"
    message = f"{waits}: GitHub refuses the file"
    place, fix = (
        need.place,
        f"take `{need.value[:60]}` out of the `needs` of `{job.name[:60]}`, or break the circle elsewhere",
    )
    why = tuple(
        Witness(at.place.path, at.place.line, f"`{one.name[:60]}` needs `{at.value[:60]}`") for one, at in way[1:9]
    )
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", why, fix)


def _wrong(graph: Graph, file: Workflow | Action, use: Use) -> _Wrong | None:
    if use.path[0] == "steps":
        return _step(file, use)
    if not isinstance(file, Workflow):
        return None
    if use.path[0] == "jobs":
        return _job(graph, use, file.jobs, "the file has no job")
    if use.job is None:
        return None
    needed = {one.value: job for one in use.job.needs if (job := named(file.jobs, one.value)) is not None}
    if named(needed, use.names[1]) is None and any(one.value.lower() == use.path[1] for one in use.job.needs):
        return None  # it is said where it is needed
    other = named(file.jobs, use.names[1])
    if other is None or named(needed, use.names[1]) is not None:
        return _job(graph, use, needed, f"the job `{use.job.name}` needs no job")
    through = any(one.name == other.name for one in graph.ancestors(file.path, use.job))
    said = "waits for it only through other jobs" if through else "does not need it"
    if other.name == use.job.name:
        said = "is that job itself"
    message = f"`{use.said[:100]}` is always null: the job `{use.job.name}` {said}"
    return _Wrong(use.path[:2], message, f"add `{other.name}` to `needs` of the job `{use.job.name}`", near=True)


def _job(graph: Graph, use: Use, known: Mapping[str, Job], no_job: str) -> _Wrong | None:
    name = use.names[1]
    job = named(known, name)
    if job is None:
        near = nearest(name, known)
        fix = f"did you mean `{near}`?" if near else "name a job that is there, or take it out"
        return _Wrong(use.path[:2], f"`{use.said[:100]}` is always null: {no_job} `{name[:60]}`", fix, near is not None)
    if len(use.path) > 2 and use.path[2] not in _OF_JOB:
        message = f"`{use.said[:100]}` is always null: a job has no `{use.names[2][:60]}`"
        return _Wrong(use.path[:3], message, "a job has `outputs` and `result`", near=True)
    if len(use.path) < 4 or use.path[2] != "outputs":
        return None
    outputs, place, where = _outputs(graph, job)
    if outputs is None or any(one.lower() == use.path[3] for one in outputs):
        return None
    output = use.names[3]
    near = nearest(output, outputs)
    message = f"`{use.said[:100]}` is always empty: {where} has no output `{output[:60]}`"
    fix = f"did you mean `{near}`?" if near else f"add `{output[:60]}` to `outputs` of {where}"
    has = ", ".join(f"`{one}`" for one in outputs[:8])
    witness = Witness(place.path, place.line, f"{where} has {has or 'no outputs'}")
    return _Wrong(use.path[:4], message, fix, near is not None, (witness,))


def _outputs(graph: Graph, job: Job) -> tuple[tuple[str, ...] | None, Place, str]:
    """What a job has, where that is said, and by whom; None where that is not known."""
    where = f"the job `{job.name}`"
    if job.uses is None:
        return tuple(job.outputs), job.place, where
    called = graph.called(job)
    event = called.events.get(CALL) if called is not None else None
    if called is None or event is None:
        return None, job.place, where
    return tuple(event.outputs), event.place, called.path


def _step(file: Workflow | Action, use: Use) -> _Wrong | None:
    if isinstance(file, Action):
        steps = file.steps
    elif use.job is not None:
        steps = use.job.steps
    else:
        return None
    name = use.names[1]
    before = [one for one in steps if one.id and (use.step is None or one.index < use.step.index)]
    if any(one.id is not None and one.id.lower() == use.path[1] for one in before):
        if len(use.path) > 2 and use.path[2] not in _OF_STEP:
            message = f"`{use.said[:100]}` is always null: a step has no `{use.names[2][:60]}`"
            return _Wrong(use.path[:3], message, "a step has `outputs`, `outcome` and `conclusion`", near=True)
        return None
    message = f"`{use.said[:100]}` is always null: no step before it has the id `{name[:60]}`"
    later = _with_id(steps, name)
    if later is not None:
        witness = Witness(later.place.path, later.place.line, f"the step `{later.id}`")
        return _Wrong(use.path[:2], message, f"put the step `{later.id}` before it", True, (witness,))
    near = nearest(name, (one.id for one in before if one.id))
    if near is None and isinstance(file, Workflow):
        for job in file.jobs.values():
            other = _with_id(job.steps, name)
            if other is not None:
                fix = f"the step `{other.id}` is of the job `{job.name}`: pass its output through `outputs` and `needs`"
                witness = Witness(other.place.path, other.place.line, f"the step `{other.id}` of the job `{job.name}`")
                return _Wrong(use.path[:2], message, fix, False, (witness,))
    fix = f"did you mean `{near}`?" if near else f"give a step before it the id `{name[:60]}`, or take it out"
    return _Wrong(use.path[:2], message, fix, near is not None)


def _with_id(steps: Iterable[Step], name: str) -> Step | None:
    return next((one for one in steps if one.id is not None and one.id.lower() == name.lower()), None)


RULE = Rule(NAME, "a job, a step or an output that is read and is not there", find)
