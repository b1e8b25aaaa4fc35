"""One graph of all workflows: which events start which file, who calls whom, and what a job waits for.

A `Scope` is one way in which a file comes to run: an event of a workflow, and the calls from there. The same file has one for
every such chain, and what `inputs.x` or `github.event_name` is depends on it.
"""

import posixpath
from collections.abc import Iterator, Mapping

from msgspec import Struct

from regraft.core.findings import Witness
from regraft.core.workflow_repository import FOLDER, Repository
from regraft.core.workflow_values import Action, Condition, Event, Job, Place, Step, Workflow

DEEPEST = 10  # files that call each other in a row: https://docs.github.com/actions/reference/workflows-and-actions/reusing-workflow-configurations
MOST = 256  # scopes of one file
MOST_JOBS = 512  # of one file, for it to be judged

CALL = "workflow_call"


class Scope(Struct, frozen=True, eq=False):
    """One way in which the file at `path` runs. Two are the same only where they are the same object.

    `event` starts it all and belongs to the entry workflow. `caller`: the scope of the file that calls or uses this one, or None.
    `job` (and `step`, where this is an action) of the caller is the one that calls. An event `workflow_call` with no caller
    stands for callers that are not in the repository.
    """

    path: str
    event: Event
    caller: "Scope | None" = None
    job: Job | None = None
    step: Step | None = None

    @property
    def entry(self) -> "Scope":
        """The scope of the workflow that the event starts."""
        scope = self
        while scope.caller is not None:
            scope = scope.caller
        return scope

    @property
    def is_open(self) -> bool:
        """Whether it begins with a caller that nobody knows, so that event and inputs can be anything."""
        return self.event.name == CALL

    def chain(self) -> "tuple[Scope, ...]":
        """From the entry to this one."""
        return (*self.caller.chain(), self) if self.caller is not None else (self,)

    def witnesses(self) -> tuple[Witness, ...]:
        """The line of the event, then the line of each call."""
        return tuple(_witness(scope) for scope in self.chain())


class Call(Struct, frozen=True):
    """A job that calls a workflow of the repository, or a step that uses an action of it. `path`: the file where it stands."""

    path: str
    job: Job | None
    step: Step | None = None


class Site(Struct, frozen=True):
    """A job or a step (then of `job`, or of an action) and the file it stands in."""

    path: str
    job: Job | None
    step: Step | None = None

    @property
    def place(self) -> Place:
        """Where its condition stands, else it itself."""
        one = self.step if self.step is not None else self.job
        if self.condition is not None:
            return self.condition.text.place
        return one.place if one is not None else Place(self.path, 1)

    @property
    def condition(self) -> Condition | None:
        if self.step is not None:
            return self.step.condition
        return self.job.condition if self.job is not None else None


class Graph:
    """What the rules ask about a repository's workflows."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.memo: dict[object, object] = {}
        """What questions over this graph have found out, for those that ask again."""
        self._scopes: dict[str, list[Scope]] = {}
        self._children: dict[tuple[Scope, str, int], Scope] = {}
        self._crowded: set[str] = set()
        self._callers: dict[str, list[Call]] = {}
        self._elsewhere: set[str] = set()
        self._names: dict[str, dict[str, Job]] = {}
        self._orders: dict[str, dict[str, None]] = {}
        self._ancestors: dict[tuple[str, str], tuple[Job, ...]] = {}
        for workflow in repository.workflows.values():
            self._note_calls(workflow)
        for action in repository.actions.values():
            self._note_uses(action.path, None, action.steps)
        for workflow in repository.workflows.values():
            self._enter(workflow)

    def scopes(self, path: str) -> tuple[Scope, ...]:
        """Every way in which a workflow or an action comes to run; none for one that nothing starts."""
        return tuple(self._scopes.get(path, ()))

    def is_crowded(self, path: str) -> bool:
        """Whether the file runs in more ways than `scopes` lists, or has too many jobs, so that nothing is said about it."""
        return path in self._crowded

    def entries(self) -> Iterator[Scope]:
        """Every event of every workflow, calls apart."""
        for scopes in self._scopes.values():
            yield from (one for one in scopes if one.caller is None and not one.is_open)

    def callers(self, path: str) -> tuple[Call, ...]:
        """The jobs that call a workflow, or the steps that use an action (by the path of its file)."""
        return tuple(self._callers.get(path, ()))

    def may_be_called_elsewhere(self, path: str) -> bool:
        """Whether callers that are not in the repository are to be expected, so that nothing holds for all of them.

        Of a workflow: a job names a file like this one in a repository, which may be this one. Of an action: it stands outside
        `.github`, where other repositories use it.
        """
        return path in self._elsewhere or (path not in self.repository.workflows and not path.startswith(".github/"))

    def called(self, job: Job) -> Workflow | None:
        """The workflow of this repository that a job calls."""
        if job.uses is None or not job.uses.value.startswith("./"):
            return None
        return self.repository.workflows.get(posixpath.normpath(job.uses.value))

    def action(self, step: Step) -> Action | None:
        """The action of this repository that a step uses: `./folder`, seen from a checkout at the workspace."""
        if step.uses is None or not step.uses.value.startswith("./"):
            return None
        folder = posixpath.normpath(step.uses.value)
        return self.repository.actions.get("" if folder == "." else folder)

    def file(self, scope: Scope) -> Workflow | Action | None:
        """The workflow or action that runs."""
        return self._files().get(scope.path)

    def child(self, scope: Scope, job: Job, step: Step | None = None) -> Scope | None:
        """The scope of what a job calls, or a step uses; None where that is not of this repository, or is too deep."""
        return self._children.get((scope, job.name, -1 if step is None else step.index))

    def job(self, path: str, name: str) -> Job | None:
        """A job by its name; GitHub compares names without case."""
        if path not in self._names:
            jobs = self.repository.workflows[path].jobs
            self._names[path] = {key.lower(): jobs[key] for key in reversed(list(jobs))}
        return self._names[path].get(name.lower())

    def ancestors(self, path: str, job: Job) -> tuple[Job, ...]:
        """All jobs that a job waits for, over any number of `needs`, nearest first. A name that is no job is left out."""
        key = (path, job.name)
        if key not in self._ancestors:
            found: dict[str, Job] = {}
            waiting = [one.value for one in job.needs]
            for name in waiting:
                needed = self.job(path, name)
                if needed is not None and needed.name not in found and needed.name != job.name:
                    found[needed.name] = needed
                    waiting += [one.value for one in needed.needs]
            self._ancestors[key] = tuple(found.values())
        return self._ancestors[key]

    def dependents(self, path: str, job: Job) -> tuple[Job, ...]:
        """All jobs that wait for a job."""
        jobs = self.repository.workflows[path].jobs.values()
        return tuple(one for one in jobs if any(job.name == other.name for other in self.ancestors(path, one)))

    def is_circular(self, path: str, job: Job) -> bool:
        """Whether it waits, over any number of jobs, for jobs that wait for each other. GitHub refuses such a file."""
        return job.name not in self._in_order(path)

    def in_order(self, path: str) -> tuple[Job, ...]:
        """The jobs of a workflow, each after those that it waits for; without those that are circular."""
        jobs = self.repository.workflows[path].jobs
        return tuple(jobs[name] for name in self._in_order(path))

    def _in_order(self, path: str) -> Mapping[str, None]:
        found = self._orders.get(path)
        if found is None:
            jobs = self.repository.workflows[path].jobs
            found = self._orders[path] = {}
            after: dict[str, list[str]] = {}
            missing: dict[str, int] = {}
            for one in jobs.values():
                needed = {other.name for name in one.needs if (other := self.job(path, name.value))}
                missing[one.name] = len(needed)
                for name in needed:
                    after.setdefault(name, []).append(one.name)
            ready = [name for name, count in missing.items() if not count]
            for name in ready:
                found[name] = None
                for later in after.get(name, ()):
                    missing[later] -= 1
                    if not missing[later]:
                        ready.append(later)
        return found

    def sites(self) -> Iterator[Site]:
        """Every job and step of every workflow and action, in the order of the files."""
        for workflow in self.repository.workflows.values():
            for job in workflow.jobs.values():
                yield Site(workflow.path, job)
                yield from (Site(workflow.path, job, step) for step in job.steps)
        for action in self.repository.actions.values():
            yield from (Site(action.path, None, step) for step in action.steps)

    def _files(self) -> Mapping[str, Workflow | Action]:
        found = self.memo.get("files")
        if found is None:
            actions = {one.path: one for one in self.repository.actions.values()}
            found = self.memo["files"] = {**self.repository.workflows, **actions}
        return found  # type: ignore[return-value]  # the memo holds anything

    def _note_calls(self, workflow: Workflow) -> None:
        for job in workflow.jobs.values():
            called = self.called(job)
            if called is not None:
                self._callers.setdefault(called.path, []).append(Call(workflow.path, job))
            elif job.uses is not None and f"/{FOLDER}/" in job.uses.value:
                name = job.uses.value.partition("@")[0].rpartition("/")[2]
                self._elsewhere.add(f"{FOLDER}/{name}")
            self._note_uses(workflow.path, job, job.steps)

    def _note_uses(self, path: str, job: Job | None, steps: tuple[Step, ...]) -> None:
        for step in steps:
            action = self.action(step)
            if action is not None:
                self._callers.setdefault(action.path, []).append(Call(path, job, step))

    def _enter(self, workflow: Workflow) -> None:
        if len(workflow.jobs) > MOST_JOBS:
            self._crowd(workflow.path)
        for event in workflow.events.values():
            is_call = event.name == CALL
            if not is_call or not self._callers.get(workflow.path) or workflow.path in self._elsewhere:
                self._add(Scope(workflow.path, event), ())

    def _add(self, scope: Scope, above: tuple[str, ...]) -> None:
        """Note a scope and, below it, those of what its file calls."""
        held = self._scopes.setdefault(scope.path, [])
        if len(held) >= MOST or scope.path in self._crowded:
            self._crowd(scope.path)
            return
        held.append(scope)
        above = (*above, scope.path)
        for job, step, path in self._calls(scope):
            if path in above or len(above) > DEEPEST:
                continue
            child = Scope(path, scope.event, scope, job, step)
            self._children[scope, job.name, -1 if step is None else step.index] = child
            self._add(child, above)

    def _calls(self, scope: Scope) -> Iterator[tuple[Job, Step | None, str]]:
        file = self.file(scope)
        if isinstance(file, Action):
            assert scope.job is not None  # an action is used by a step of a job
            yield from ((scope.job, *one) for one in self._uses(file.steps))
        elif file is not None:
            for job in file.jobs.values():
                called = self.called(job)
                if called is not None and CALL in called.events:
                    yield job, None, called.path
                yield from ((job, *one) for one in self._uses(job.steps))

    def _uses(self, steps: tuple[Step, ...]) -> Iterator[tuple[Step, str]]:
        for step in steps:
            action = self.action(step)
            if action is not None:
                yield step, action.path

    def _crowd(self, path: str) -> None:
        """What a file of too many scopes calls has too many as well."""
        waiting = [path]
        while waiting:
            one = waiting.pop()
            if one not in self._crowded:
                self._crowded.add(one)
                waiting += [called for called, calls in self._callers.items() if any(c.path == one for c in calls)]


def _witness(scope: Scope) -> Witness:
    if scope.caller is None:
        said = "may be called from other repositories" if scope.is_open else f"runs on `{scope.event.name}`"
        return Witness(scope.path, scope.event.place.line, said)
    assert scope.job is not None  # whoever is called is called by a job
    if scope.step is None:
        line = scope.job.uses.place.line if scope.job.uses is not None else scope.job.place.line
        return Witness(scope.caller.path, line, f"the job `{scope.job.name}` calls {scope.path}")
    line = scope.step.uses.place.line if scope.step.uses is not None else scope.step.place.line
    return Witness(scope.caller.path, line, f"a step of the job `{scope.job.name}` uses {scope.path}")
