"""Whether jobs run, how they end and what they hand on, as expressions over what nobody knows: whether each does well.

GitHub's `success()` of a job is false as soon as any ancestor failed, was cancelled or was skipped, however many jobs lie
between: https://github.com/actions/runner/issues/491
"""

from regraft.core.expression_functions import STATUS
from regraft.core.expression_known import Defined, Exactly, Fields, Known, OneOf, Path, Unknown, Why
from regraft.core.expression_text import value_parts
from regraft.core.expression_tree import Call as Function
from regraft.core.expression_tree import Constant, Expression, Not, parts
from regraft.core.findings import Witness
from regraft.core.workflow_graph import CALL
from regraft.core.workflow_inputs import as_text, find
from regraft.core.workflow_known import Names
from regraft.core.workflow_trees import EMPTY, TRUE, both, choose, either, equals, reference, tree_of
from regraft.core.workflow_values import Condition, Job, Workflow

FEW = 5  # ancestors whose doing well is told apart

SUCCESS = Function("success", ())


def asks_status(tree: Expression | None) -> bool:
    """Whether one of `success()`, `failure()`, `cancelled()`, `always()` stands in it, so that GitHub adds no `success() &&`."""
    if tree is None:
        return False
    return (isinstance(tree, Function) and tree.function in STATUS) or any(map(asks_status, parts(tree)))


def condition_tree(condition: Condition | None) -> Expression:
    """What is written; text around `${{ }}` is always true, and what cannot be parsed is not known."""
    if condition is None or condition.padded:
        return TRUE
    return condition.expression if condition.expression is not None else reference("#unknown")


def is_implicit(condition: Condition | None) -> bool:
    """Whether GitHub puts `success() &&` before it."""
    if condition is None:
        return True
    if condition.padded:
        return not any(asks_status(one.expression) for one in value_parts(condition.text.value))
    return not asks_status(condition.expression)


def whole_tree(condition: Condition | None) -> Expression:
    """With the `success() &&` that GitHub adds."""
    tree = condition_tree(condition)
    return both(SUCCESS, tree) if is_implicit(condition) else tree


def needs(names: Names, path: Path) -> Known:
    """`needs.a.result`, `needs.a.outputs.b`; null for a job that is not among the `needs` of this one."""
    job, level = names.job, names.flow()
    if job is None or names.scope.step is not None:
        return Unknown()
    if len(path) == 1:
        return Fields(tuple(one.value for one in job.needs))
    if not any(one.value.lower() == path[1].lower() for one in job.needs):
        line = job.needs[0].place.line if job.needs else job.place.line
        return Exactly(None, (Witness(job.place.path, line, f"`{job.name}` does not need `{path[1]}`"),))
    return _of_job(level, path)


def jobs(names: Names, path: Path) -> Known:
    """`jobs.a.outputs.b` in the outputs of a called workflow."""
    return _of_job(names.flow(), path) if len(path) > 1 else Unknown()


def job_status(names: Names, function: str) -> Known:
    """`success()` and its like in a job's own condition."""
    job = names.job
    assert job is not None  # a workflow's own level has no condition
    if function == "always()":
        return Exactly(True)
    if function == "cancelled()":
        return Defined(reference("#cancelled"), names.flow())
    return Defined(reference("#success" if function == "success()" else "#failure", job.name), names.flow())


def reached(names: Names) -> Known:
    """Whether everything around a place runs: its job, and whoever calls its file."""
    if names.step is not None and names.scope.step is None:
        return Defined(reference("#entered"), names.at(names.scope, names.job))
    caller = names.caller()
    return Exactly(True) if caller is None else Defined(reference("#entered"), caller)


def entered(names: Names) -> Known:
    """Whether a job or a step runs, and everything around it."""
    one = names.step if names.step is not None else names.job
    if one is None:
        return reached(names)
    why = _asked(names.job) if names.step is None and names.job is not None else ()
    return Defined(both(reference("#reached"), whole_tree(one.condition)), names, why)


def flow(names: Names, path: Path) -> Known:
    """Our own names at a workflow's own level: of a job, whether it runs (`#runs`), does well (`#ok`), how it ends (`#result`)."""
    if path[0] == "#cancelled":
        return OneOf((True, False))
    job = _job(names, path[1]) if len(path) > 1 else None
    if job is None:
        return Unknown()
    here = names.at(names.scope, job)
    match path[0]:
        case "#raw":
            return Defined(condition_tree(job.condition), here, _asked(job))
        case "#runs":
            return Defined(whole_tree(job.condition), here, _asked(job))
        case "#ok" | "#fine":
            return OneOf((True, False))
        case "#bad":
            return OneOf(("failure", "cancelled"))
    if names.graph.is_circular(names.scope.path, job):
        return Unknown()
    match path[0]:
        case "#success":
            return Defined(_success(names, job), names)
        case "#failure":
            return Defined(_failure(names, job), names)
        case "#result":
            ended = choose(reference("#ok", job.name), Constant("success"), reference("#bad", job.name))
            return Defined(choose(reference("#runs", job.name), ended, Constant("skipped")), names)
        case "#output":
            return _output(names, job, path[2])
        case "#made":
            return _made(names, job, path[2])
    return Unknown()


def _of_job(level: Names, path: Path) -> Known:
    job = _job(level, path[1])
    if job is None:
        return Exactly(None)
    if len(path) == 3 and path[2].lower() == "result":
        return Defined(reference("#result", job.name), level)
    if len(path) == 2:
        return Fields(("result", "outputs"))
    if len(path) == 3 and path[2].lower() == "outputs" and job.uses is None:
        return Fields(tuple(job.outputs))
    if len(path) == 4 and path[2].lower() == "outputs":
        return Defined(reference("#output", job.name, path[3]), level)
    return Unknown()


def _job(names: Names, name: str) -> Job | None:
    file = names.graph.file(names.scope)
    return find(file.jobs, name) if isinstance(file, Workflow) else None


def _asked(job: Job) -> Why:
    if job.condition is None:
        return ()
    said = " ".join(job.condition.text.value.split())
    said = said if len(said) <= 120 else f"{said[:120]}…"
    return (Witness(job.place.path, job.condition.text.place.line, f"the job `{job.name}` runs if `{said}`"),)


def _success(names: Names, job: Job) -> Expression:
    """No ancestor was skipped, and each did well. Where none asks for a status, their own conditions say who is skipped."""
    found: list[Expression] = []
    above = names.graph.ancestors(names.scope.path, job)
    for one in above:
        if not is_implicit(one.condition):
            found.append(reference("#runs", one.name))
        elif one.condition is not None:
            found.append(reference("#raw", one.name))
    if len(above) <= FEW:
        found += [reference("#ok", one.name) for one in above]
    else:
        found.append(reference("#fine", job.name))
    return both(*found)


def _failure(names: Names, job: Job) -> Expression:
    above = names.graph.ancestors(names.scope.path, job)
    if len(above) > FEW:
        return both(Not(reference("#fine", job.name)), either(*(reference("#runs", one.name) for one in above)))
    return either(
        *(
            both(
                reference("#runs", one.name),
                Not(reference("#ok", one.name)),
                equals(reference("#bad", one.name), "failure"),
            )
            for one in above
        )
    )


def _output(names: Names, job: Job, name: str) -> Known:
    """An output of a job; empty where the job is skipped."""
    runs = condition_tree(job.condition) != TRUE or names.graph.ancestors(names.scope.path, job)
    made = reference("#made", job.name, name)
    return Defined(choose(reference("#runs", job.name), made, EMPTY) if runs else made, names)


def _made(names: Names, job: Job, name: str) -> Known:
    if job.uses is not None:
        return _called_output(names, job, name)
    value = find(job.outputs, name)
    if value is None:
        return Exactly(None, (Witness(job.place.path, job.place.line, f"`{job.name}` has no output `{name}`"),))
    why = (Witness(value.text.place.path, value.text.place.line, f"the output `{name}` of `{job.name}`"),)
    here = names.at(names.scope, job).end()
    tree = tree_of(value)
    return Unknown(why) if tree is None else Defined(as_text(tree, here), here, why)


def _called_output(names: Names, job: Job, name: str) -> Known:
    child = names.graph.child(names.scope, job)
    file = names.graph.file(child) if child is not None else None
    if child is None or not isinstance(file, Workflow):
        return Unknown()
    declared = find(file.events[CALL].outputs, name)
    if declared is None:
        return Exactly(None, (Witness(file.path, file.events[CALL].place.line, f"{file.path} has no output `{name}`"),))
    tree = tree_of(declared.value) if declared.value is not None else EMPTY
    if tree is None:
        return Unknown()
    there = names.at(child)
    return Defined(
        as_text(tree, there), there, (Witness(file.path, declared.place.line, f"the output `{name}` of {file.path}"),)
    )
