"""The places in a repository's workflows that names are asked at."""

from abc import ABC, abstractmethod

from msgspec import Struct

from regraft.core.expression_known import Known, Path
from regraft.core.workflow_graph import Graph, Scope
from regraft.core.workflow_values import Job, Step


class Names(ABC):
    """The names at a place in a scope. Two places are the same only where they are the same object: ask `at` for them.

    `job` and `step` None: the workflow's own level, where `jobs.a.outputs.b` is read. `step` None: the job's own level (`if`,
    `with`, `strategy`). In an action, `job` is the one whose step uses it.
    """

    def __init__(self, graph: Graph, scope: Scope, job: Job | None, step: Step | None, view: "View") -> None:
        self.graph = graph
        self.scope = scope
        self.job = job
        self.step = step
        self.view = view

    @abstractmethod
    def known(self, path: Path) -> Known:
        """What the name at a path can be: ("needs", "a", "result"); a function of status is ("success()",)."""

    def at(self, scope: Scope, job: Job | None = None, step: Step | None = None, view: "View | None" = None) -> "Names":
        """The names at another place of the same graph, seen in full where nothing else is said."""
        view = view or FULL
        key = ("names", scope, job and job.name, step and (step.index, step.place.path), view)
        found = self.graph.memo.get(key)
        if found is None:
            found = self.graph.memo[key] = type(self)(self.graph, scope, job, step, view)
        assert isinstance(found, Names)
        return found

    def flow(self) -> "Names":
        """The level of the workflow."""
        return self.at(self.scope)

    def caller(self) -> "Names | None":
        """The place that calls this file: the job's own level, or the step that uses an action."""
        scope = self.scope
        view = DEEP if self.view.deep else BRIEF
        return None if scope.caller is None else self.at(scope.caller, scope.job, scope.step, view)


class View(Struct, frozen=True):
    """`brief`: of jobs and steps before it only how they can end, and not under which conditions, so that cases stay few.

    `close`: in full, but of the steps before that in brief. `end`: the job's own level when its steps have run, as for its outputs. `outer`: without the step's own `env`.
    `deep`: in full, and so is what is around it: its job, and whoever calls the file.
    """

    brief: bool = False
    close: bool = False
    end: bool = False
    outer: bool = False
    deep: bool = False


FULL, DEEP = View(), View(deep=True)
CLOSE, BRIEF, END = View(close=True), View(brief=True), View(brief=True, end=True)
