"""What `steps.x`, `env.X`, `job.status` and `success()` can be at a step: what the steps before it leave behind."""

from collections.abc import Iterator

from msgspec.structs import replace

from regraft.core.expression_known import Defined, Exactly, Known, OneOf, Path, Unknown
from regraft.core.expression_tree import Constant, Not
from regraft.core.findings import Witness
from regraft.core.patterns import regex
from regraft.core.workflow_conditions import in_short, whole_tree
from regraft.core.workflow_glance import decide_at, glance
from regraft.core.workflow_inputs import as_text, find
from regraft.core.workflow_known import BRIEF, CLOSE, END, Names
from regraft.core.workflow_trees import EMPTY, both, choose, equals, reference, tree_of
from regraft.core.workflow_values import Action, Step, Value

_HARMLESS = regex(r"(?i)actions/(?:checkout|upload-artifact|download-artifact|cache|labeler|stale)(?:/[\w-]+)?@.*")
_WORD = regex(r"[\w./-]{1,200}")


def step_status(names: Names, function: str) -> Known:
    """`success()` and its like: what the steps before have come to."""
    if function == "always()":
        return Exactly(True)
    if function == "success()":
        return Defined(reference("#well"), names)
    return Defined(both(Not(reference("#well")), equals(reference("#ill"), _ENDS[function])), names)


_ENDS = {"failure()": "failure", "cancelled()": "cancelled"}


def job_context(names: Names, path: Path) -> Known:
    """`job.status`."""
    if names.step is not None and len(path) == 2 and path[1].lower() == "status":
        return Defined(choose(reference("#well"), Constant("success"), reference("#ill")), names)
    return Unknown()


def steps(names: Names, path: Path) -> Known:
    """`steps.x.outputs.y`, `steps.x.outcome`; null for what is no step before this one."""
    if len(path) < 2 or (names.step is None and not names.view.end):
        return Unknown()
    before = list(_before(names))
    step = next((one for one in before if one.id is not None and one.id.lower() == path[1].lower()), None)
    if step is None:
        return Exactly(None, _absent(names, path[1]))
    rest = tuple(one.lower() for one in path[2:])
    if rest in (("outcome",), ("conclusion",)) or (len(rest) == 2 and rest[0] == "outputs"):
        near = not names.view.brief and not names.view.close
        there = names.at(names.scope, names.job, step, CLOSE if near else BRIEF)
        return Defined(reference("#ended" if len(rest) == 1 else "#wrote", *rest), there)
    return Unknown()


def own_step(names: Names, path: Path) -> Known:
    """Our own names at a step: whether all is well before it (`#well`), how it ends, what it writes."""
    step = names.step
    match path[0]:
        case "#well":
            return OneOf((True, False))
        case "#ill":
            return OneOf(("failure", "cancelled"))
        case "#end":
            return OneOf(("success", "failure", "cancelled"))
        case "#runs" if step is not None:
            return _runs(names, step)
        case "#ended" if step is not None:
            end = reference("#end") if step.continue_on_error is None else reference("#end", path[1])
            return Defined(choose(reference("#runs"), end, Constant("skipped")), names)
        case "#wrote" if step is not None and step.condition is not None:
            return Defined(choose(reference("#runs"), reference("#out", *path[2:]), EMPTY), names)
        case "#wrote":
            return Defined(reference("#out", *path[2:]), names)
        case "#out":
            return _written(names, path[-1])
    return Unknown()


def env(names: Names, path: Path) -> Known:
    """`env.X`: the nearest that is written, unless a step before may have set another."""
    if len(path) != 2 or names.job is None:
        return Unknown()
    if names.step is not None and not names.view.outer:
        value = find(names.step.env, path[1])
        if value is not None:
            return _value(value, names.at(names.scope, names.job, names.step, replace(names.view, outer=True)))
    if any(_may_set(names, step) for step in _before(names)):
        return Unknown()
    file = names.graph.file(names.scope)
    if isinstance(file, Action):
        caller = names.caller()
        return caller.known(path) if caller is not None else Unknown()
    job_env = find(names.job.env, path[1])
    if job_env is not None:
        return _value(job_env, names.at(names.scope, names.job, None, BRIEF))
    value = find(file.env, path[1]) if file is not None else None
    return _value(value, names.flow()) if value is not None else Unknown()


def _value(value: Value, names: Names) -> Known:
    place = value.text.place
    tree = tree_of(value)
    said = " ".join(value.text.value.split())[:80]
    why = (Witness(place.path, place.line, f"the environment has `{said}`"),)
    return Unknown() if tree is None else Defined(as_text(tree, names), names, why)


def _all(names: Names) -> tuple[Step, ...]:
    file = names.graph.file(names.scope)
    if isinstance(file, Action):
        return file.steps
    return names.job.steps if names.job is not None else ()


def _before(names: Names) -> Iterator[Step]:
    every = _all(names)
    if names.step is not None:
        yield from every[: names.step.index]
    elif names.view.end:
        yield from every


def _absent(names: Names, name: str) -> tuple[Witness, ...]:
    later = next((one for one in _all(names) if one.id is not None and one.id.lower() == name.lower()), None)
    if later is not None:
        return (Witness(later.place.path, later.place.line, f"the step `{name}` comes later"),)
    at = names.step.place if names.step is not None else names.job.place if names.job is not None else None
    return (Witness(at.path, at.line, f"no step here has the id `{name}`"),) if at is not None else ()


def _runs(names: Names, step: Step) -> Known:
    """Whether a step runs. In brief: whether it can, for all that is known of the steps before."""
    found = _can_run(names, step)
    if names.view.brief or isinstance(found, Exactly):
        return found
    return Defined(whole_tree(step.condition), names, _asked(step))


def _can_run(names: Names, step: Step) -> Exactly | OneOf:
    memo = names.graph.memo
    either_way = OneOf((True, False))
    if step.condition is None:
        return either_way
    for one in _all(names)[: step.index + 1]:  # one after the other: many steps are no deep recursion
        there = names.at(names.scope, names.job, one)
        key = ("can-run", there)
        if one.condition is None or key in memo:
            continue
        tree = whole_tree(one.condition)
        truth = glance(tree, there)
        memo[key] = either_way
        if truth is not None:
            why = tuple(dict.fromkeys(why for leaf in decide_at(tree, there).leaves for why in leaf.why))
            memo[key] = Exactly(truth, (*why, *_asked(one)))
    found = memo[("can-run", names.at(names.scope, names.job, step))]
    assert isinstance(found, Exactly | OneOf)
    return found


def _asked(step: Step) -> tuple[Witness, ...]:
    if step.condition is None:
        return ()
    said = f"the step runs if `{in_short(step.condition)}`"
    return (Witness(step.place.path, step.condition.text.place.line, said),)


def _written(names: Names, output: str) -> Known:
    """An output of a step: of an action of the repository what that says, else not known."""
    step, job = names.step, names.job
    action = names.graph.action(step) if step is not None else None
    if step is None or job is None or action is None or not action.steps:
        return Unknown()
    child = names.graph.child(names.scope, job, step)
    declared = find(action.outputs, output)
    if child is None or declared is None or declared.value is None:
        return (
            Unknown()
            if child is None
            else Exactly(None, (Witness(action.path, 1, f"{action.path} has no output `{output}`"),))
        )
    tree, there = tree_of(declared.value), names.at(child, job, None, END)
    why = (Witness(action.path, declared.place.line, f"the output `{output}` of {action.path}"),)
    return Unknown(why) if tree is None else Defined(as_text(tree, there), there, why)


def _may_set(names: Names, step: Step) -> bool:
    """Whether a step may write to GITHUB_ENV: an action from elsewhere, or a script, or a program that a script names."""
    if step.uses is not None:
        return not _HARMLESS.fullmatch(step.uses.value)
    script = step.run.text.value if step.run is not None else ""
    if "GITHUB_ENV" in script:
        return True
    repository = names.graph.repository
    for word in _WORD.findall(script):
        path = word.removeprefix("./")
        if path in repository.tracked and b"GITHUB_ENV" in (repository.read(path) or b""):
            return True
    return False
