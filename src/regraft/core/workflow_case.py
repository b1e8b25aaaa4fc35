"""Whether a job or a step runs in a case that somebody names: after a job failed, with a label set, where an expression holds."""

from collections.abc import Iterator

from msgspec import Struct

from regraft.core.expression_cases import decide
from regraft.core.expression_known import Defined, Known, Path
from regraft.core.expression_text import parse_expression
from regraft.core.expression_tokens import ExpressionError
from regraft.core.expression_tree import Call, Constant, Expression, Key, Not, parts
from regraft.core.workflow_conditions import whole_tree
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_known import Names
from regraft.core.workflow_lift import lifted
from regraft.core.workflow_names import names_at
from regraft.core.workflow_trees import both, equals, reference
from regraft.core.workflow_values import Value
from regraft.errors import InputError

LABELS = "contains(github.event.pull_request.labels.*.name, '{}')"
_RESULTS = ("success", "failure", "skipped")


class Case(Struct, frozen=True):
    """What is taken for given. `when` is an expression as an `if:` of the site; the others name jobs of its file, and labels.

    That nobody cancels the run is given too, unless `cancelled` leaves that open.
    """

    event: str | None = None
    when: str | None = None
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    cancelled: bool = False


def can_run(graph: Graph, site: Site, case: Case) -> bool:
    """Whether the site runs in some such case, for all that is known. Raises what `always_runs` raises."""
    return any(_decided(graph, site, scope, given) is not False for scope, given in _possible(graph, site, case))


def always_runs(graph: Graph, site: Site, case: Case) -> bool:
    """Whether the site runs in every such case.

    Raises InputError: unknown-event (it does not lead there), unknown-job, expression, impossible-case.
    """
    return all(_decided(graph, site, scope, given) is True for scope, given in _possible(graph, site, case))


class _Given(Struct, frozen=True, eq=False):
    """Names for a question over several places of a scope, each expression at its own: ("#0",), ("#1",) and so on."""

    parts: tuple[Defined, ...]

    def known(self, path: Path) -> Known:
        return self.parts[int(path[0][1:])]


def _decided(graph: Graph, site: Site, scope: Scope, given: tuple[Defined, ...]) -> bool | None:
    here = _names(graph, site, scope)
    whole = Defined(lifted(both(reference("#reached"), whole_tree(site.condition)), graph), here)
    names = _Given((*given, whole))
    last = reference(f"#{len(given)}")
    if decide(both(*_all(given), last), names).value is False:
        return False
    return True if decide(both(*_all(given), Not(last)), names).value is False else None


def _all(given: tuple[Defined, ...]) -> list[Expression]:
    return [reference(f"#{number}") for number in range(len(given))]


def _names(graph: Graph, site: Site, scope: Scope) -> Names:
    return names_at(graph, scope, site.job if scope.step is None else scope.job, site.step)


def _possible(graph: Graph, site: Site, case: Case) -> list[tuple[Scope, tuple[Defined, ...]]]:
    """The scopes in which the case can be, and what is given there."""
    scopes = graph.scopes(site.path)
    found = [one for one in scopes if case.event in (None, one.event.name)]
    if not found:
        known = ", ".join(dict.fromkeys(one.event.name for one in scopes)) or "none"
        message = f"no {case.event or 'event'!s:.80} leads here"
        raise InputError("unknown-event", message, where=site.path, hint=f"it has {known}")
    here, flow = list(_at_site(graph, case)), list(_at_flow(graph, site, case))
    possible = []
    for scope in found:
        names = _names(graph, site, scope)
        given = (
            *(Defined(lifted(tree, graph), names) for tree in here),
            *(Defined(tree, names.flow()) for tree in flow),
        )
        if decide(both(*_all(given)), _Given(given)).value is not False:
            possible.append((scope, given))
    if not possible:
        raise InputError("impossible-case", "nothing of that kind can happen here", where=site.path)
    return possible


def _at_site(graph: Graph, case: Case) -> Iterator[Expression]:
    """What is given as an expression that the site itself could have."""
    if not case.cancelled:
        yield Not(Call("cancelled", ()))
    if case.when is not None:
        try:
            yield parse_expression(case.when)
        except ExpressionError as error:
            raise InputError("expression", error.message, where=case.when) from None
    for label in case.labels:
        yield from asked_labels(graph, label)
    for label in case.unlabelled:
        yield from map(Not, asked_labels(graph, label))


def _at_flow(graph: Graph, site: Site, case: Case) -> Iterator[Expression]:
    """How jobs of its file ended."""
    workflow = graph.repository.workflows.get(site.path)
    jobs = workflow.jobs if workflow is not None else {}
    for result, names in zip(_RESULTS, (case.succeeded, case.failed, case.skipped), strict=True):
        for name in names:
            if name not in jobs:
                hint = f"it has {', '.join(jobs) or 'none'}"
                raise InputError("unknown-job", f"there is no job {name!r:.80}", where=site.path, hint=hint)
            yield equals(reference("#result", name), result)


def asked_labels(graph: Graph, label: str) -> tuple[Expression, ...]:
    """Each way in which an expression of the repository asks for a label; the usual one where none does."""
    usual = parse_expression(LABELS.format(label.replace("'", "''")))
    found = [usual]
    for tree in _trees(graph):
        waiting = [tree]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Call) and one.function == "contains" and _is_label(one, label):
                found.append(one)
            waiting.extend(parts(one))
    return tuple(dict.fromkeys(found))


def _is_label(call: Call, label: str) -> bool:
    where, what = call.arguments
    named = isinstance(what, Constant) and isinstance(what.value, str) and what.value.lower() == label.lower()
    return named and _mentions_labels(where)


def _mentions_labels(tree: Expression) -> bool:
    if isinstance(tree, Key) and isinstance(tree.index, Constant) and tree.index.value == "labels":
        return True
    return any(map(_mentions_labels, parts(tree)))


def _trees(graph: Graph) -> Iterator[Expression]:
    for site in graph.sites():
        if site.condition is not None and site.condition.expression is not None:
            yield site.condition.expression
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            yield from _in_values((*job.outputs.values(), *job.arguments.values(), *job.env.values()))
            for step in job.steps:
                yield from _in_values((*step.env.values(), *step.arguments.values()))


def _in_values(values: tuple[Value, ...]) -> Iterator[Expression]:
    for value in values:
        yield from (part.expression for part in value.parts if part.expression is not None)
