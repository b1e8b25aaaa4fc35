"""`steps.s.outputs.y` where the step never writes `y`, as far as its script and its programs can be read."""

from collections.abc import Iterator, Sequence

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.spelling import nearest
from regraft.core.workflow_environment import environment
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_inputs import find as named
from regraft.core.workflow_outputs import Written, is_github_script, quoted, written
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_uses import Use, Uses, falls_back, files, place_of, uses
from regraft.core.workflow_values import Action, Job, Step, Workflow
from regraft.core.workflow_yaml import text

NAME = "output-unwritten"

_SHORT = 3  # letters of a name for which a near one says nothing


def find(graph: Graph) -> Iterator[Finding]:
    for file in files(graph):
        read = uses(graph, file.path)
        told: set[tuple[str, ...]] = set()
        for use in read.of("steps"):
            if len(use.path) < 4 or use.path[2] != "outputs":
                continue
            step = _step(file, use)
            key = (use.job.name if use.job else "", *use.path[:4])
            if step is None or key in told:
                continue
            told.add(key)
            has_script = step.run is not None or is_github_script(step)
            found = _of_script(graph, file, use, step, read) if has_script else _of_action(graph, use, step)
            if found is not None:
                yield found
        if isinstance(file, Workflow):
            yield from _from_env(graph, file, read)


def _step(file: Workflow | Action, use: Use) -> Step | None:
    """The step that is read, where it stands before."""
    steps: Sequence[Step] = file.steps if isinstance(file, Action) else use.job.steps if use.job is not None else ()
    return next(
        (
            one
            for one in steps
            if one.id is not None and one.id.lower() == use.path[1] and (use.step is None or one.index < use.step.index)
        ),
        None,
    )


def _of_action(graph: Graph, use: Use, step: Step) -> Finding | None:
    action = graph.action(step)
    using = text(action.data.get("runs", "using")) if action is not None else None
    name = use.names[3]
    if action is None or using is None or using.value != "composite" or named(action.outputs, name) is not None:
        return None
    near = nearest(name, action.outputs)
    message = f"`{use.said[:100]}` is always empty: {action.path} has no output `{name[:60]}`"
    fix = f"did you mean `{near}`?" if near else f"declare `{name[:60]}` in the outputs of {action.path}"
    witness = Witness(action.path, 1, f"it has {quoted(action.outputs) or 'no outputs'}")
    severity: Severity = "warning" if near is None and falls_back(use) else "error"
    return _finding(graph, use, severity, (message, fix), witness)


def _of_script(graph: Graph, file: Workflow | Action, use: Use, step: Step, read: Uses) -> Finding | None:
    found = written(graph, file.path, use.job, step)
    name, said = use.names[3], use.said[:100]
    if found.has(name):
        return None
    near = nearest(name, found.sure if found.open else found.names) if len(name) > _SHORT or not found.open else None
    if name.lower() in found.env:
        message = (
            f"`{said}` is empty: the step `{step.id}` writes `{name[:60]}` to `$GITHUB_ENV`, not to `$GITHUB_OUTPUT`"
        )
        fix = f"write it to `$GITHUB_OUTPUT`, or read `env.{name[:60]}`"
        witness = Witness(file.path, found.env[name.lower()], "written here")
        return _finding(graph, use, "warning" if found.open or falls_back(use) else "error", (message, fix), witness)
    if found.open:
        if near is None or _is_read(read, use, near) or abs(len(near) - len(name)) > 2:
            return None
        message = f"`{said}` is probably empty: the step `{step.id}` writes `{near}`, which nothing reads"
        witness = Witness(file.path, found.sure[near], "written here")
        return _finding(graph, use, "warning", (message, f"did you mean `{near}`?"), witness)
    names = quoted(found.sure or found.names)
    what = f"writes {names}" if names else "writes no outputs"
    if found.by:
        what = (
            f"writes {quoted(found.names)}, and {found.by[0]} no such name"
            if found.names
            else f"runs {found.by[0]}, which writes no such name"
        )
    message = f"`{said}` is always empty: the step `{step.id}` {what}"
    fix = f"did you mean `{near}`?" if near else f"write `{name[:60]}` to `$GITHUB_OUTPUT` in the step `{step.id}`"
    severity: Severity = "warning" if found.by or (near is None and falls_back(use)) else "error"
    return _finding(graph, use, severity, (message, fix), _line(found, near, step))


def _line(found: Written, near: str | None, step: Step) -> Witness:
    place = step.run.text.place if step.run is not None else step.place
    if near is not None:
        line = found.sure.get(near, found.names.get(near, place.line))
        return Witness(place.path, line, f"`{near}` is written here")
    return Witness(place.path, place.line, "its script")


def _is_read(read: Uses, use: Use, name: str) -> bool:
    return any(one.job is use.job and one.reads("steps", use.path[1], "outputs", name) for one in read.of("steps"))


def _from_env(graph: Graph, workflow: Workflow, read: Uses) -> Iterator[Finding]:
    """`env.X` where only an output of that name is written before."""
    told: set[tuple[str, str]] = set()
    for use in read.of("env"):
        job, step = use.job, use.step
        if len(use.path) != 2 or job is None or step is None or (job.name, use.path[1]) in told:
            continue
        by = _writer(graph, workflow, job, step, use.path[1])
        if by is None:
            continue
        around = environment(graph, workflow, job, step)
        if use.path[1] in {name.lower() for name in around.names}:
            continue
        told.add((job.name, use.path[1]))
        writer, line = by
        name = use.names[1]
        message = f"`env.{name[:60]}` is empty: it is written to `$GITHUB_OUTPUT`, not to `$GITHUB_ENV`"
        fix = f"read `steps.{writer.id or '<id>'}.outputs.{name[:60]}`, or write it to `$GITHUB_ENV`"
        severity: Severity = "warning" if around.open or falls_back(use) else "error"
        yield _finding(graph, use, severity, (message, fix), Witness(workflow.path, line, "written here"))


def _writer(graph: Graph, workflow: Workflow, job: Job, step: Step, name: str) -> tuple[Step, int] | None:
    for one in reversed(job.steps[: step.index]):
        said = one.run.text.value.lower() if one.run is not None else ""
        if name not in said or "output" not in said:
            continue
        found = written(graph, workflow.path, job, one)
        if name in found.sure:
            return one, found.sure[name]
    return None


def _finding(graph: Graph, use: Use, severity: Severity, said: tuple[str, str], witness: Witness) -> Finding:
    message, fix = said
    at = place_of(graph, use)
    return Finding(NAME, severity, message, at.path, at.line, at.column, "high", (witness,), fix)


RULE = Rule(NAME, "an output of a step that is read and that the step never writes", find)
