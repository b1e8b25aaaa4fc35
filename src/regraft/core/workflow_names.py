"""What each name in a condition can be: `inputs.x`, `needs.a.result`, `github.event_name`, at one place and in one scope.

What nobody can know is Unknown, and what stands elsewhere (a caller's `with`, another job's output) is Defined there, so that one
thing is one variable wherever it recurs. Names that begin with `#` are ours; no workflow can write them.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from regraft.core.expression_known import Defined, Exactly, Known, OneOf, Path, Unknown
from regraft.core.expression_tree import Constant, Expression, parts
from regraft.core.expression_value import text_of
from regraft.core.findings import Witness
from regraft.core.patterns import regex
from regraft.core.workflow_events import PULL, activities, filtered, lacks, references
from regraft.core.workflow_graph import Graph, Scope
from regraft.core.workflow_inputs import event_inputs, inputs, secrets
from regraft.core.workflow_known import FULL, Names, View
from regraft.core.workflow_lift import OF_JOB, PLACES, lifted, moved
from regraft.core.workflow_matrix import matrix
from regraft.core.workflow_status import entered, flow, job_status, jobs, needs, reached
from regraft.core.workflow_step_names import env, job_context, own_step, step_status, steps
from regraft.core.workflow_trees import reference
from regraft.core.workflow_uses import files, uses
from regraft.core.workflow_values import Job, Step
from regraft.core.workflow_yaml import items, text

MOST = 16  # numbers of pull requests that are told apart
_OF_REF = (("ref",), ("ref_name",))
_DIGITS = regex(r"[0-9]{1,18}")
_SYSTEMS = {"ubuntu": "Linux", "windows": "Windows", "macos": "macOS"}


def names_at(graph: Graph, scope: Scope, job: Job | None = None, step: Step | None = None) -> Names:
    """The names at a place; the same object for the same place."""
    key = ("names", scope, None, None, FULL)
    root = graph.memo.get(key)
    if root is None:
        root = graph.memo[key] = _Names(graph, scope, None, None, FULL)
    assert isinstance(root, Names)
    return root.at(scope, job, step)


class _Names(Names):
    def __init__(self, graph: Graph, scope: Scope, job: Job | None, step: Step | None, view: View) -> None:
        super().__init__(graph, scope, job, step, view)
        self._found: dict[Path, Known] = {}

    def known(self, path: Path) -> Known:
        found = self._found.get(path)
        if found is None:
            found = self._known(path)
            if isinstance(found, Defined) and path[0] not in PLACES:
                found = replace(found, tree=lifted(found.tree, self.graph))
            self._found[path] = found
        return found

    def _known(self, path: Path) -> Known:
        name = path[0].lower()
        if name.endswith("()"):
            at_job = self.step is None and self.scope.step is None
            return job_status(self, name) if at_job and self.job is not None else step_status(self, name)
        if name in PLACES:
            return moved(self, path)
        if name in ("#reached", "#entered"):
            return reached(self) if name == "#reached" else entered(self)
        if name.startswith("#"):
            return flow(self, path) if self.job is None else own_step(self, path)
        source = _SOURCES.get(name)
        return source(self, path) if source is not None else Unknown()


def github(names: Names, path: Path) -> Known:
    """`github.event_name`, `github.ref`, `github.event…`: they are the entry's, whoever is called."""
    entry = names.scope.entry
    lower = tuple(one.lower() for one in path)
    if entry.is_open or len(path) < 2 or lower[1] in OF_JOB:
        return Unknown()
    there = names.at(entry)
    if names is not there:
        found = there.known(lower)
        return found if isinstance(found, Exactly) else Defined(reference(*lower), there)
    return _event(there, path, lower) if lower[1] == "event" else _of_run(there, lower[1])


def _event(names: Names, path: Path, lower: Path) -> Known:
    event = names.scope.event
    if len(path) == 2:
        return Unknown()
    if lower[2] == "inputs":
        return event_inputs(names, path)
    if lower[2:] == ("action",):
        kinds = activities(event)
        if kinds is None:
            return Unknown()
        said = " or ".join(f"`{one}`" for one in kinds if one) or "none"
        why = (_line(names, f"the activity of `{event.name}` is {said}"),)
        return Exactly(kinds[0], why) if len(kinds) == 1 else OneOf(kinds, why)
    if lower[2:] == ("schedule",) and event.name == "schedule":
        crons = tuple(one.value for item in items(event.data) if (one := text(item.get("cron"))) is not None)
        return OneOf(crons, (_line(names, "the crons are these"),)) if crons else Unknown()
    if lacks(event, lower[2]):
        return Exactly(None, (_line(names, f"`{event.name}` has no `github.event.{path[2]}`"),))
    return Unknown()


def _of_run(names: Names, name: str) -> Known:
    event = names.scope.event
    if name == "event_name":
        return Exactly(event.name, (_line(names, f"runs on `{event.name}`"),))
    if name in ("head_ref", "base_ref") and event.name not in PULL:
        return Exactly("", (_line(names, f"`github.{name}` is empty on `{event.name}`"),))
    if name == "base_ref":
        bases = filtered(event, "branches")
        return OneOf(bases, (_line(names, f"`{event.name}` only into {', '.join(bases)}"),)) if bases else Unknown()
    if name in ("ref", "ref_name", "ref_type"):
        refs = references(event, _pulls(names.graph))
        return (
            Unknown()
            if not refs
            else OneOf(tuple(_REF[name](one) for one in refs), (_line(names, f"`github.{name}` of `{event.name}`"),))
        )
    return Unknown()


_REF: Mapping[str, Callable[[str], str]] = {
    "ref": lambda ref: ref,
    "ref_name": lambda ref: ref.split("/", 2)[2],
    "ref_type": lambda ref: "tag" if ref.startswith("refs/tags/") else "branch",
}


def _pulls(graph: Graph) -> tuple[int, ...]:
    """A number of a pull request for each that an expression beside `github.ref` may tell apart, and one for all others."""
    found = graph.memo.get("pulls")
    if found is None:
        of_ref = [
            one for file in files(graph) for one in uses(graph, file.path).of("github") if one.path[1:2] in _OF_REF
        ]
        texts = [text for one in of_ref for text in _texts(one.tree)]
        said = {int(digits) for text in texts for digits in _DIGITS.findall(text)}
        other = next(one for one in range(1, len(said) + 2) if one not in said)
        found = graph.memo["pulls"] = (other, *sorted(said)) if len(said) <= MOST else ()
    assert isinstance(found, tuple)
    return found


def _texts(tree: Expression) -> Iterator[str]:
    if isinstance(tree, Constant):
        yield text_of(tree.value)
    for one in parts(tree):
        yield from _texts(one)


def runner(names: Names, path: Path) -> Known:
    """`runner.os`, where `runs-on` is one of GitHub's own."""
    job = names.job
    if job is None or job.runs_on is None or len(path) != 2 or path[1].lower() != "os":
        return Unknown()
    text = job.runs_on.text
    system = _SYSTEMS.get(text.value.partition("-")[0].lower())
    return (
        Exactly(system, (Witness(text.place.path, text.place.line, f"runs on {text.value}"),)) if system else Unknown()
    )


def _line(names: Names, message: str) -> Witness:
    return Witness(names.scope.path, names.scope.event.place.line, message)


_SOURCES: Mapping[str, Callable[[Names, Path], Known]] = {
    "env": env,
    "github": github,
    "inputs": inputs,
    "job": job_context,
    "jobs": jobs,
    "matrix": matrix,
    "needs": needs,
    "runner": runner,
    "secrets": secrets,
    "steps": steps,
}
