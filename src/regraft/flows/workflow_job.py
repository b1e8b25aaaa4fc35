"""Runs a job of a workflow, or some steps of it: what it is given, what it starts from, what it comes to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from regraft.core import runner_context as context
from regraft.core.runner_commands import masked
from regraft.core.runner_expressions import Scope, Status, fill, fill_all, holds
from regraft.core.runner_inputs import inputs_of
from regraft.core.runner_matrix import matrix_of
from regraft.core.runner_paths import Paths
from regraft.core.runner_values import Given, JobResult
from regraft.core.spelling import nearest
from regraft.core.workflow_values import Action, Step, Workflow
from regraft.core.workflow_values import Job as Read
from regraft.errors import InputError
from regraft.flows.workflow_run import Defaults, Frame, Job, Machine, check_out, run_steps

_LEFT_OUT = ("container", "services")


class Place(Machine, Protocol):
    """A machine before its first step."""

    @property
    def programs(self) -> Mapping[str, str]:
        """The stubs' places, by their names."""

    def begin(self, event: bytes, secrets: Sequence[str]) -> str:
        """Write the event's payload, and what git is to know; the payload's path."""

    def head(self) -> str | None:
        """The project's commit, where it has one."""


class Source(Struct, frozen=True):
    """A workflow, the bytes of its file, and the repository's composite actions by their folders."""

    workflow: Workflow
    data: bytes
    actions: Mapping[str, Action] = {}


class Asked(Struct, frozen=True):
    """`steps`: ids, names or numbers (from 1); none means all. `project`: `owner/name`."""

    job: str
    given: Given = Given()
    steps: tuple[str, ...] = ()
    timeout: float = 600.0
    maps: Mapping[str, str] = {}
    project: str = "local/project"


def run_job(source: Source, asked: Asked, place: Place) -> JobResult:
    """Raises InputError: unknown-job, unknown-step, not-a-job, unknown-input, unknown-need, no-matrix, unreadable; OutsideError."""
    workflow, given = source.workflow, asked.given
    read = named_job(workflow, asked.job)
    if read.uses is not None:
        where = f"{workflow.path}:{read.place.line}"
        raise InputError("not-a-job", f"the job calls {read.uses.value}", where=where, hint="run a job of that file")
    steps = chosen_steps(read, asked.steps, workflow.path)
    notes = _notes(read)
    names = _names(source, read, asked, place)
    frame = Frame(
        {
            name: {"outputs": dict(said), "outcome": "success", "conclusion": "success"}
            for name, said in given.steps.items()
        },
        Defaults(read.shell or workflow.shell, read.working_directory or workflow.working_directory),
    )
    results = _results(workflow, read, given)
    if not asked.steps and not _starts(read, names, results):
        return JobResult(workflow.path, asked.job, "skipped", notes=(*notes, "the job's condition does not hold"))
    names["matrix"] = dict(given.matrix) or matrix_of(read, Scope(names, "success"))
    names["env"] = dict(given.env) | fill_all(workflow.env, Scope(names, "success"))
    names["env"] |= fill_all(read.env, Scope(names, "success"))
    paths = Paths(asked.maps, place.programs, place.exists)
    job = Job(place, paths, source.actions, names, asked.timeout, dict(names["env"]), given.uses)
    if not any((step.uses.value if step.uses else "").lower().startswith("actions/checkout@") for step in steps):
        mapped = check_out(place, paths, "")
        notes += [f"{one.path} is {one.folder} in the project's scripts ({one.times}x)" for one in mapped]
    done = run_steps(job, frame, steps)
    notes += [f"step {one.name}: {one.why}" for one in done if one.outcome == "skipped" and one.why]
    outputs, dropped = _outputs(read, job, frame)
    return JobResult(
        workflow.path, asked.job, frame.status, outputs, done, (*notes, *dropped), workspace=place.workspace
    )


def named_job(workflow: Workflow, name: str) -> Read:
    """Raises InputError: unreadable, unknown-job."""
    if workflow.problems and not workflow.jobs:
        problem = workflow.problems[0]
        raise InputError("unreadable", problem.message, where=f"{workflow.path}:{problem.place.line}")
    job = workflow.jobs.get(name)
    if job is None:
        near = nearest(name, workflow.jobs)
        hint = f"did you mean {near}?" if near else f"it has {', '.join(workflow.jobs) or 'none'}"
        raise InputError("unknown-job", f"there is no job {name!r:.80}", where=workflow.path, hint=hint)
    return job


def chosen_steps(job: Read, asked: Sequence[str], path: str) -> tuple[Step, ...]:
    """By id, name or number, in the order of the file, whatever order they are asked in. Raises InputError `unknown-step`."""
    if not asked:
        return job.steps
    found = set()
    for name in asked:
        which = [
            step.index
            for step in job.steps
            if name in (step.id, step.name.text.value if step.name else None) or name == str(step.index + 1)
        ]
        if not which:
            known = ", ".join(step.id or str(step.index + 1) for step in job.steps)
            raise InputError("unknown-step", f"there is no step {name!r:.80}", where=path, hint=f"it has {known}")
        found.add(which[0])
    return tuple(step for step in job.steps if step.index in found)


def _notes(job: Read) -> list[str]:
    return [f"`{name}:` is left out: steps run on this machine" for name in _LEFT_OUT if job.data.get(name) is not None]


def _names(source: Source, job: Read, asked: Asked, place: Place) -> dict[str, Any]:
    """The contexts that a job's own `if` and its matrix are asked with."""
    workflow, given = source.workflow, asked.given
    name = context.event_name(given, workflow.events)
    inputs = inputs_of(workflow, name, given.inputs)
    event = dict(given.event)
    if name == "workflow_dispatch" and inputs:
        event.setdefault("inputs", {key: _text(value) for key, value in inputs.items()})
    secrets = context.secrets(source.data, given.secrets)
    path = place.begin(json.dumps(event).encode(), [context.TOKEN, *secrets.values()])
    title = workflow.name.text.value if workflow.name else workflow.path
    github = {"workflow": title, "job": asked.job, "workspace": place.workspace, "event_path": path}
    told = Given(event_name=name, event=event, github=given.github)
    github |= context.github(told, name, asked.project, place.head() or "0" * 40)
    return {
        "github": github,
        "inputs": inputs,
        "vars": dict(given.vars),
        "secrets": secrets,
        "needs": _needs(job, given),
        "strategy": {"fail-fast": True, "job-index": 0, "job-total": 1, "max-parallel": 1},
        "matrix": {},
        "runner": context.runner(place.temp, place.tools),
        "job": {"status": "success"},
        "env": {},
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _needs(job: Read, given: Given) -> dict[str, Any]:
    found: dict[str, Any] = {one.value: {"result": "success", "outputs": {}} for one in job.needs}
    return {name: about | dict(given.needs.get(name, {})) for name, about in found.items()}


def _results(workflow: Workflow, job: Read, given: Given) -> list[str]:
    """How all jobs before it ended, those that it does not need itself too. Raises InputError `unknown-need`."""
    before: dict[str, str] = {}
    waiting = [one.value for one in job.needs]
    while waiting:
        name = waiting.pop()
        if name not in before and name in workflow.jobs:
            before[name] = given.needs.get(name, {}).get("result", "success")
            waiting += [one.value for one in workflow.jobs[name].needs]
    for name in given.needs:
        if name not in before:
            where = f"{job.place.path}:{job.place.line}"
            raise InputError("unknown-need", f"the job does not come after {name!r:.80}", where=where)
    return list(before.values())


def _starts(job: Read, names: Mapping[str, Any], results: Sequence[str]) -> bool:
    status: Status = (
        "failure" if "failure" in results else "success" if all(one == "success" for one in results) else "skipped"
    )
    return holds(job.condition, Scope(names, status))


def _outputs(read: Read, job: Job, frame: Frame) -> tuple[dict[str, str], list[str]]:
    """The job's outputs; one that holds a secret, or what a step masked, does not leave the runner."""
    scope = Scope({**job.names, "env": job.env, "steps": frame.steps}, frame.status)
    hidden = masked((*job.names["secrets"].values(), str(job.names["github"].get("token") or ""), *job.masks))
    found, dropped = {}, []
    for name, value in read.outputs.items():
        text = fill(value, scope)
        if any(one in text for one in hidden):
            dropped.append(f"output {name} is dropped, as on GitHub: it may contain a secret")
        else:
            found[name] = text
    return found, dropped
