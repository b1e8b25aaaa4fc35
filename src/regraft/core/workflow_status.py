"""Whether jobs run, how they end and what they hand on, as expressions over what nobody knows: whether each does well.

GitHub's `success()` of a job is false as soon as any ancestor failed, was cancelled or was skipped, however many jobs lie
between: https://github.com/actions/runner/issues/491
"""

from msgspec import Struct

from regraft.core.expression_known import Defined, Exactly, Fields, Known, OneOf, Path, Unknown, Why
from regraft.core.expression_tree import Constant, Expression, Not
from regraft.core.findings import Witness
from regraft.core.workflow_conditions import condition_tree, in_short, is_implicit, whole_tree
from regraft.core.workflow_glance import decide_at, glance, values_at_a_glance
from regraft.core.workflow_graph import CALL
from regraft.core.workflow_inputs import as_text, find
from regraft.core.workflow_known import BRIEF, DEEP, END, Names
from regraft.core.workflow_trees import EMPTY, both, choose, either, equals, reference, tree_of
from regraft.core.workflow_values import Job, Workflow

RAN = ("success", "failure", "cancelled")
SKIPPED = ("skipped",)
ANY = (*RAN, *SKIPPED)
VERY_FEW = 3  # ancestors whose outputs are followed through their steps
FEW = 8  # ancestors whose doing well is told apart


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
    above = len(names.graph.ancestors(names.scope.path, job)) if not names.view.brief else FEW + 1
    return _of_job(level, path, "#ends" if above > FEW else "#result", "#gave" if above > VERY_FEW else "#output")


def jobs(names: Names, path: Path) -> Known:
    """`jobs.a.outputs.b` in the outputs of a called workflow."""
    return _of_job(names.flow(), path, "#ends", "#gave") if len(path) > 1 else Unknown()


def job_status(names: Names, function: str) -> Known:
    """`success()` and its like in a job's own condition."""
    job = names.job
    assert job is not None  # a workflow's own level has no condition
    if function == "always()":
        return Exactly(True)
    if function == "cancelled()":
        return Defined(reference("#cancelled"), names.flow())
    name = ("#well", "#ill") if names.view.brief else ("#success", "#failure")
    return Defined(reference(name[function != "success()"], job.name), names.flow())


def reached(names: Names) -> Known:
    """Whether everything around a place runs: its job, and whoever calls its file."""
    if names.step is not None and names.scope.step is None:
        view = DEEP if names.view.deep else BRIEF
        return Defined(reference("#entered"), names.at(names.scope, names.job, None, view))
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
    """Our own names at a workflow's own level: of a job, whether it runs (`#runs`), does well (`#ok`), how it ends (`#result`).

    What begins `#ends`, `#ran`, `#gave`, `#well`, `#ill` is the brief view: one thing that nobody knows, not many.
    """
    if path[0] == "#cancelled":
        return OneOf((True, False))
    job = _job(names, path[1]) if len(path) > 1 else None
    if job is None or names.graph.is_circular(names.scope.path, job):
        return Unknown()
    match path[0]:
        case "#raw" | "#runs":
            return _runs(names, job, implied=path[0] == "#runs")
        case "#ok" | "#fine":
            return OneOf((True, False))
        case "#bad":
            return OneOf(("failure", "cancelled"))
        case "#success":
            return Defined(_success(names, job), names)
        case "#failure":
            return Defined(_failure(names, job), names)
        case "#result":
            ended = choose(reference("#ok", job.name), Constant("success"), reference("#bad", job.name))
            return Defined(choose(reference("#runs", job.name), ended, Constant("skipped")), names)
        case "#output" | "#gave":
            return _output(names, job, path[2], "#runs" if path[0] == "#output" else "#ran")
        case "#made":
            return _made(names, job, path[2])
    return _in_brief(names, job, path[0])


def _in_brief(names: Names, job: Job, name: str) -> Known:
    if name == "#ends":
        ended = ends(names, job)
        return OneOf(ended.results, ended.why)
    if name == "#ran":
        ended = ends(names, job)
        return Exactly(ended.results == RAN, ended.why) if len(ended.results) < len(ANY) else OneOf((True, False))
    above = [ends(names, one) for one in names.graph.ancestors(names.scope.path, job)]
    if name == "#well":
        never = next((one for one in above if one.results == SKIPPED), None)
        if never is not None or not above:
            return Exactly(never is None, never.why if never is not None else ())
    elif all(one.results == SKIPPED for one in above):
        return Exactly(False, tuple(dict.fromkeys(why for one in above for why in one.why)))
    return OneOf((True, False))


class Ends(Struct, frozen=True):
    """How a job can end, and the lines that prove that it is no other way."""

    results: tuple[str, ...]
    why: Why = ()


def ends(names: Names, job: Job) -> Ends:
    """How a job can end in a scope, for all that is known of those it waits for."""
    graph, scope = names.graph, names.scope
    key = ("ends", scope, job.name)
    if key not in graph.memo:
        for one in graph.in_order(scope.path):  # one after the other: a long pipeline is no deep recursion
            graph.memo.setdefault(("ends", scope, one.name), _ends(names, one))
            if one.name == job.name:
                break
    found = graph.memo.get(key, Ends(ANY))
    assert isinstance(found, Ends)
    return found


def _ends(names: Names, job: Job) -> Ends:
    above = names.graph.ancestors(names.scope.path, job)
    if job.condition is None and all(one.condition is None for one in above):
        return Ends(ANY if above else RAN)
    tree, there = whole_tree(job.condition), names.at(names.scope, job, None, BRIEF)
    truth = glance(tree, there)
    if truth is None:
        return Ends(ANY)
    decision = decide_at(tree, there)  # which says why, where not too much was decided before
    why = tuple(dict.fromkeys(why for leaf in decision.leaves for why in leaf.why))
    return Ends(RAN if truth else SKIPPED, (*why, *_asked(job)))


def _runs(names: Names, job: Job, *, implied: bool) -> Known:
    """Whether a job runs, or (not `implied`) whether its own condition lets it: what counts is that it was not skipped."""
    ended = ends(names, job)
    if len(ended.results) < len(ANY):
        return Exactly(ended.results == RAN, ended.why)
    tree = (whole_tree if implied else condition_tree)(job.condition)
    return Defined(tree, names.at(names.scope, job, None, BRIEF), _asked(job))


def _of_job(level: Names, path: Path, result: str, output: str) -> Known:
    job = _job(level, path[1])
    if job is None:
        return Exactly(None)
    if len(path) == 3 and path[2].lower() == "result":
        return Defined(reference(result, job.name), level)
    if len(path) == 2:
        return Fields(("result", "outputs"))
    if len(path) == 3 and path[2].lower() == "outputs" and job.uses is None:
        return Fields(tuple(job.outputs))
    if len(path) == 4 and path[2].lower() == "outputs":
        return Defined(reference(output, job.name, path[3]), level)
    return Unknown()


def _job(names: Names, name: str) -> Job | None:
    file = names.graph.file(names.scope)
    return find(file.jobs, name) if isinstance(file, Workflow) else None


def _asked(job: Job) -> Why:
    if job.condition is None:
        return ()
    said = f"the job `{job.name}` runs if `{in_short(job.condition)}`"
    return (Witness(job.place.path, job.condition.text.place.line, said),)


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
    """An ancestor that can run failed. Whether it ran in the case at hand is left open: that only adds cases."""
    above = [one for one in names.graph.ancestors(names.scope.path, job) if ends(names, one).results != SKIPPED]
    if len(above) > FEW:
        return Not(reference("#fine", job.name))
    return either(
        *(both(Not(reference("#ok", one.name)), equals(reference("#bad", one.name), "failure")) for one in above)
    )


def _output(names: Names, job: Job, name: str, ran: str) -> Known:
    """An output of a job; empty where the job is skipped."""
    can_be_skipped = job.condition is not None or names.graph.ancestors(names.scope.path, job)
    made = reference("#made", job.name, name)
    if ran == "#ran" and values_at_a_glance(made, names) is None:
        if len(names.graph.ancestors(names.scope.path, job)) > VERY_FEW:
            return Unknown(kind="text")
        ran = "#runs"  # as whoever sees it in full: it is one thing
    return Defined(choose(reference(ran, job.name), made, EMPTY) if can_be_skipped else made, names)


def _made(names: Names, job: Job, name: str) -> Known:
    if job.uses is not None:
        return _called_output(names, job, name)
    value = find(job.outputs, name)
    if value is None:
        return Exactly(None, (Witness(job.place.path, job.place.line, f"`{job.name}` has no output `{name}`"),))
    why = (Witness(value.text.place.path, value.text.place.line, f"the output `{name}` of `{job.name}`"),)
    here = names.at(names.scope, job, None, END)
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
