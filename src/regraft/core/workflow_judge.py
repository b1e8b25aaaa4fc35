"""What the rules ask: is a condition the same in every case, can a job or a step run at all, how can a job end.

A site is a job or a step (`graph.sites()`). It is judged in each scope in which its file runs, and the answers are brought together:
True or False only where that holds in every case of every scope that can reach it, None for everything else.

    # 1. A gate that nobody can open: the `if` alone, where its job and its callers run. `if: always()` is True, and means to be.
    for site in graph.sites():
        judged = constant(graph, site)
        if judged.value is False:
            place = site.place
            yield Finding(NAME, "error", "…", place.path, place.line, place.column, "high", judged.witnesses)

    # 2. A job that its ancestors keep from running: with `success() &&`, all ancestors, callers and events.
        judged = runs(graph, site)
        if judged.value is False and constant(graph, site).value is None: …

    # 3. One way at a time, and any expression as if it stood there.
    for scope in graph.scopes(site.path):
        if can_run(graph, site, scope) is False: …          # never on `scope.event.name`; `scope.witnesses()` are its lines
        if results(graph, scope, job) == {"skipped"}: …
    holds(graph, site, parse_expression("needs.a.result == 'success'")).value

What it takes for granted: callers in the repository are all callers of a workflow, unless none is there or one may be meant by a
repository's name (`graph.may_be_called_elsewhere`); an action outside `.github` is used by others. Variables, secrets, labels, the
outputs of steps and of actions from elsewhere can be anything. Jobs and steps can fail, and a run can be cancelled.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.expression_cases import Decision
from regraft.core.expression_tree import Expression, Not
from regraft.core.findings import Witness
from regraft.core.workflow_conditions import condition_tree, in_short, whole_tree
from regraft.core.workflow_glance import decide_at, glance, is_open_at
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_known import DEEP, Names
from regraft.core.workflow_names import names_at
from regraft.core.workflow_status import ends
from regraft.core.workflow_tied import is_tied
from regraft.core.workflow_trees import both, reference
from regraft.core.workflow_values import Condition, Job

MOST = 24  # witnesses

_REACHED = reference("#reached")


class Constant(Struct, frozen=True):
    """What an expression comes to. `value`: None where it depends on something, or nobody can know.

    `scopes`: the answer in each scope that can reach the place; none where nothing can, and then `value` is None.
    `witnesses`: the lines that prove it: the event's, each caller's, what it passes or a default, the conditions'.
    `too_many`: whether it is only unknown because there are too many cases.
    """

    value: bool | None
    scopes: tuple[tuple[Scope, bool | None], ...] = ()
    witnesses: tuple[Witness, ...] = ()
    too_many: bool = False


def constant(graph: Graph, site: Site) -> Constant:
    """A site's `if` as it is written, in the cases in which its job and its callers run. None where it has no `if`."""
    condition = site.condition
    if condition is None or not _can_be_read(condition):
        return Constant(None)

    def judge() -> Constant:
        tree = condition_tree(condition)
        if _differs(graph, site, tree):
            return Constant(None)
        return _judged(graph, site, lambda names: _within(tree, names), _line_of(condition))

    return _once(graph, "constant", site, judge)


def runs(graph: Graph, site: Site) -> Constant:
    """Whether a site runs: its `if` with what GitHub adds, in every scope. False: never; True: whatever happens.

    None where nothing around it ever runs: that is what is to be said of its job, or of its callers.
    """
    tree = both(_REACHED, whole_tree(site.condition))
    line = _line_of(site.condition) if site.condition is not None else None

    def judge() -> Constant:
        judged = _judged(graph, site, lambda names: decide_at(tree, names), line)
        is_reached_always = len(judged.scopes) == len(graph.scopes(site.path))
        return judged if judged.value is False or is_reached_always else Constant(None, judged.scopes)

    return _once(graph, "runs", site, judge)


def holds(graph: Graph, site: Site, tree: Expression, scope: Scope | None = None) -> Constant:
    """Any expression as if it stood in the site's `if`; over all scopes that reach it, or in one."""
    if scope is None and _differs(graph, site, tree):
        return Constant(None)
    return _judged(graph, site, lambda names: _within(tree, names), None, scope)


def at_a_glance(graph: Graph, site: Site, tree: Expression) -> bool | None:
    """What `holds` would say, where that can be seen of each name by itself; else None, and quickly."""
    first: bool | None = None
    for scope in graph.scopes(site.path):
        found = glance(tree, _names(graph, site, scope))
        if found is None or (first is not None and found is not first):
            return None
        first = found
    return None if graph.is_crowded(site.path) else first


def is_tied_anywhere(graph: Graph, site: Site, tree: Expression) -> bool:
    """Whether an expression asks for what also decides if a job runs that something around the site waits for."""
    return not graph.is_crowded(site.path) and any(
        _is_tied(tree, _names(graph, site, scope)) for scope in graph.scopes(site.path)
    )


def can_run(graph: Graph, site: Site, scope: Scope) -> bool | None:
    """Whether a site runs in a scope: False never, True always, None in some cases, for all that is known."""
    return decide_at(both(_REACHED, whole_tree(site.condition)), _names(graph, site, scope)).value


def reaching(graph: Graph, path: str) -> Iterator[Scope]:
    """The scopes of a file whose callers can run."""
    yield from (one for one in graph.scopes(path) if _is_reached(names_at(graph, one)))


def results(graph: Graph, scope: Scope, job: Job) -> frozenset[str]:
    """How a job can end: of `success`, `failure`, `cancelled` and `skipped`."""
    return frozenset(ends(names_at(graph, scope), job).results)


def _once(graph: Graph, question: str, site: Site, judge: Callable[[], Constant]) -> Constant:
    """Several rules ask the same."""
    key = (question, site.path, site.job and site.job.name, site.step and site.step.index)
    found = graph.memo.get(key)
    if found is None:
        found = graph.memo[key] = judge()
    assert isinstance(found, Constant)
    return found


def _differs(graph: Graph, site: Site, tree: Expression) -> bool:
    """Whether it can be seen at once that an expression is no constant, where all around it runs. Most are none."""
    seen: set[bool] = set()
    for scope in graph.scopes(site.path):
        names = _names(graph, site, scope)
        if not _is_reached(names):
            continue
        truth = glance(tree, names)
        if truth is not None:
            seen.add(truth)
        elif is_open_at(tree, _REACHED, names):
            return not _is_tied(tree, names)
        if len(seen) == 2:
            return True
    return False


def _judged(
    graph: Graph,
    site: Site,
    ask: Callable[[Names], Decision],
    line: Witness | None,
    only: Scope | None = None,
) -> Constant:
    """Ask in each scope that reaches the site, up to the first answer that leaves it open."""
    if only is None and graph.is_crowded(site.path):
        return Constant(None, too_many=True)
    if only is None and site.job is None and graph.may_be_called_elsewhere(site.path):
        return Constant(None)
    found: list[tuple[Scope, bool | None]] = []
    witnesses: list[Witness] = []
    for scope in (only,) if only is not None else graph.scopes(site.path):
        names = _names(graph, site, scope)
        if not _is_reached(names):
            continue
        decision = ask(names)
        found.append((scope, decision.value))
        if decision.value is None or decision.value is not found[0][1]:
            return Constant(None, tuple(found), too_many=decision.too_many)
        witnesses += _chain(scope, [one for leaf in decision.leaves for one in leaf.why])
    if not found:
        return Constant(None)
    unique = list(dict.fromkeys(one for one in witnesses if one != line))[:MOST]
    return Constant(found[0][1], tuple(found), (*unique, line) if line is not None else tuple(unique))


def _chain(scope: Scope, reasons: Sequence[Witness]) -> Iterator[Witness]:
    """The event and the calls, each line once: what is said about a call says more than that it is one."""
    if not reasons:
        return
    said = {(one.path, one.line) for one in reasons}
    yield from (one for one in scope.witnesses() if (one.path, one.line) not in said)
    yield from reasons


def _names(graph: Graph, site: Site, scope: Scope) -> Names:
    return names_at(graph, scope, site.job if scope.step is None else scope.job, site.step)


def _within(tree: Expression, names: Names) -> Decision:
    """What an expression comes to where all around it runs."""
    alone = decide_at(tree, names)
    if alone.value is not None or not _is_guarded(names):
        return alone
    never = decide_at(both(_REACHED, tree), names)
    if never.value is False:
        return never if decide_at(_REACHED, names).value is not False else alone
    always = decide_at(both(_REACHED, Not(tree)), names)
    if always.value is False:
        return replace(always, value=True)
    return _within_all(tree, names) or alone if _is_tied(tree, names) else alone


def _within_all(tree: Expression, names: Names) -> Decision | None:
    """That it is false where all around it runs, since a job further up is skipped whenever it is true."""
    deep = names.at(names.scope, names.job, names.step, DEEP)
    never = decide_at(both(_REACHED, tree), deep)
    return never if never.value is False and decide_at(_REACHED, deep).value is not False else None


def _is_tied(tree: Expression, names: Names) -> bool:
    return is_tied(names.graph, names.scope, names.job if names.step is not None else None, tree)


def _is_reached(names: Names) -> bool:
    """Whether what is around a place can run at all."""
    within_job = (
        names.job.name if names.job is not None and names.step is not None and names.scope.step is None else None
    )
    key = ("reached", names.scope, within_job)
    found = names.graph.memo.get(key)
    if found is None:
        found = names.graph.memo[key] = glance(_REACHED, names) is not False
    return bool(found)


def _is_guarded(names: Names) -> bool:
    """Whether a condition of what is around a place can say more about it."""
    graph = names.graph
    around: list[Site] = (
        [Site(names.scope.path, names.job)] if names.step is not None and names.scope.step is None else []
    )
    for scope in names.scope.chain()[1:]:
        assert scope.caller is not None  # all but the first have one
        around.append(Site(scope.caller.path, scope.job, scope.step))
        if scope.step is not None and scope.caller.step is None:
            around.append(Site(scope.caller.path, scope.job))
    return any(one.condition is not None or (one.step is None and _waits(graph, one)) for one in around)


def _waits(graph: Graph, site: Site) -> bool:
    return site.job is not None and any(one.condition is not None for one in graph.ancestors(site.path, site.job))


def _can_be_read(condition: Condition) -> bool:
    return condition.expression is not None or condition.padded


def _line_of(condition: Condition) -> Witness:
    place = condition.text.place
    return Witness(place.path, place.line, f"`if: {in_short(condition)}`")
