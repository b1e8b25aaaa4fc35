"""A job that is skipped in the very case it was written for, since a job before it was skipped or failed.

GitHub's implied `success()` looks at all ancestors, however far: https://github.com/actions/runner/issues/491
"""

from collections.abc import Iterator

from regraft.core.expression_cone import path_of
from regraft.core.expression_tree import Expression, Logic, parts
from regraft.core.expression_written import written
from regraft.core.findings import Finding, Witness
from regraft.core.workflow_conditions import condition_tree, is_implicit, whole_tree
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_judge import can_run, constant, holds, reaching, runs
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_trees import both
from regraft.core.workflow_values import Job

NAME = "skipped-by-ancestor"
SHOWN = 100  # characters of an expression


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            site = Site(workflow.path, job)
            if not job.needs or not is_implicit(site.condition) or graph.is_circular(workflow.path, job):
                continue
            found = list(_by_case(graph, site, job))
            yield from found or _by_event(graph, site, job)


def _by_case(graph: Graph, site: Site, job: Job) -> Iterator[Finding]:
    """An alternative of its condition that can be true, but never while all that it waits for did well."""
    condition = site.condition
    if condition is None or condition.expression is None or constant(graph, site).value is not None:
        return
    whole = whole_tree(condition)
    decided = [one for job in graph.ancestors(site.path, job) for one in _names(condition_tree(job.condition))]
    for case in _alternatives(condition.expression):
        asked = _names(case)
        if not any(one[0] == "needs" for one in asked) and not asked & {*decided}:
            continue  # nothing decides it and an ancestor too
        judged = holds(graph, site, both(whole, case))
        if judged.value is not False or holds(graph, site, case).value is not None:
            continue
        place = condition.text.place
        message = (
            f"the job `{job.name}` never runs in the case `{_short(case)}`: a job that it waits for did not succeed then, "
            "and GitHub adds `success() &&`, which looks at all ancestors"
        )
        fix = "begin the condition with `!cancelled() &&`, and ask for the results that it needs"
        yield Finding(NAME, "error", message, place.path, place.line, place.column, "high", judged.witnesses, fix)


def _by_event(graph: Graph, site: Site, job: Job) -> Iterator[Finding]:
    """An event on which all that it needs directly can run, and it cannot, since a job further away is skipped."""
    needed = {one.value.lower() for one in job.needs}
    far = [one for one in graph.ancestors(site.path, job) if one.name.lower() not in needed]
    if not any(_names(condition_tree(one.condition)) for one in far) or runs(graph, site).value is False:
        return  # what has no condition runs on every event
    for scope in reaching(graph, site.path):
        cause = _far_cause(graph, site, job, scope)
        if cause is None:
            continue
        message = (
            f"on `{scope.event.name}` the job `{job.name}` is skipped, though all that it needs can run: `{cause.name}`, further "
            "away, is skipped then, and GitHub's implied `success()` looks at all ancestors"
        )
        line = (cause.condition.text.place if cause.condition is not None else cause.place).line
        witnesses = (*scope.witnesses(), Witness(site.path, line, f"`{cause.name}` does not run on it"))
        fix = "give it `if: ${{ !cancelled() && needs.….result == 'success' }}`"
        yield Finding(NAME, "error", message, site.path, job.place.line, job.place.column, "high", witnesses, fix)
        return


def _far_cause(graph: Graph, site: Site, job: Job, scope: Scope) -> Job | None:
    if can_run(graph, site, scope) is not False:
        return None
    needed = [one.value.lower() for one in job.needs]
    ancestors = graph.ancestors(site.path, job)
    near = [one for one in ancestors if one.name.lower() in needed]
    if any(can_run(graph, Site(site.path, one), scope) is False for one in near):
        return None
    far = [one for one in ancestors if one not in near]
    return next((one for one in far if can_run(graph, Site(site.path, one), scope) is False), None)


def _names(tree: Expression) -> set[tuple[str, ...]]:
    """The first words of all that is asked: `("needs", "a")`, `("github", "event")`."""
    path = path_of(tree)
    if path is not None and not path[0].endswith("()"):
        return {path[:2]}
    return set[tuple[str, ...]]().union(*map(_names, parts(tree)))


def _alternatives(tree: Expression) -> tuple[Expression, ...]:
    return tree.items if isinstance(tree, Logic) and tree.operator == "||" else (tree,)


def _short(tree: Expression) -> str:
    text = written(tree)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


RULE = Rule(NAME, "a job that an earlier job's skip or failure skips in the very case it was written for", find)
