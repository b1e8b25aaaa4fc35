"""What is wrong in how a repository's workflows fit together: one graph of all of them, and every rule over it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core import workflow_uses as uses_of
from regraft.core.finding_baseline import FindingBaseline, freeze, without_frozen
from regraft.core.finding_ignores import read_ignores, without_ignored
from regraft.core.findings import Finding, Witness
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_judge import reaching
from regraft.core.workflow_rules import RULES
from regraft.core.workflow_values import Problem
from regraft.errors import InputError, raise_all
from regraft.flows.ports import ListedFiles

SHOWN = 12  # witnesses of who reaches a place
_UNREADABLE = "workflow-unreadable"
_CAUSES = frozenset({"context-unavailable", "github-value-impossible", "input-undeclared", "needs-undeclared"})
_EFFECTS = frozenset({"condition-part-dead", "gate-always-open", "gate-never-opens"})
_WEIGHT: Mapping[str, int] = {"note": 1, "warning": 2, "error": 3}


class Asked(Struct, frozen=True):
    """`within` is a path of the repository ("" for all of it): only findings there are said. `others` are findings of zizmor."""

    rules: frozenset[str]
    within: str = ""
    others: tuple[Finding, ...] = ()
    baseline: FindingBaseline | None = None


class WorkflowCheck(Struct, frozen=True):
    """`texts` are the files that findings are in, by the path that they say; `rules` what each is about, by its id.

    `baseline` would freeze all that was found, as a file.
    """

    findings: tuple[Finding, ...]
    looked_at: dict[str, int]
    texts: Mapping[str, bytes]
    rules: Mapping[str, str]
    baseline: bytes

    @property
    def failed(self) -> bool:
        return any(one.severity == "error" for one in self.findings)


def workflow_check(graph: Graph, files: ListedFiles, asked: Asked) -> WorkflowCheck:
    """Run the rules that are asked for, and say what zizmor found together with who can reach it.

    Raises InputError where `within` has nothing that could be checked: not-listed, no-workflows.
    """
    repository = graph.repository
    _check_listed(graph, files, asked.within)
    found = [_unreadable(one) for one in _problems(graph)]
    for rule in RULES:
        if rule.name in asked.rules:
            found += rule.find(graph)
    found = list(_once(found))
    found += reached(graph, asked.others)
    abouts = {rule.name: rule.about for rule in RULES} | {_UNREADABLE: "a workflow that GitHub cannot read"}
    read_from = [*repository.workflows, *(one.path for one in repository.actions.values())]
    texts = {path: repository.read(path) or b"" for path in {*read_from, *(one.path for one in found)}}
    ignores = [one for path in read_from for one in read_ignores(path, texts[path])]
    known = abouts | {one.rule: "" for one in asked.others}
    left, ignored = without_ignored(found, ignores, known, asked.rules, {_UNREADABLE})
    left = [one for one in left if _is_within(one.path, asked.within)]
    if asked.within and not left and not any(_is_within(path, asked.within) for path in read_from):
        hint = "name a workflow, an action, or a folder that holds some; without a PATH all of them are checked"
        message = "there is no workflow and no action here"
        raise InputError("no-workflows", message, where=files.place(asked.within), hint=hint)
    new, gone = (tuple(left), 0) if asked.baseline is None else without_frozen(left, asked.baseline, texts)
    looked_at = {
        "workflows": len(repository.workflows),
        "jobs": sum(len(one.jobs) for one in repository.workflows.values()),
        "actions": len(repository.actions),
        "rules": len(asked.rules),
        "ignored": ignored,
    }
    if asked.baseline is not None:
        looked_at |= {"frozen": len(left) - len(new), "frozen and not found any more": gone}
    placed = tuple(_placed(one, files) for one in sorted(new, key=_order))
    shown = {files.place(path): data for path, data in texts.items()}
    return WorkflowCheck(placed, looked_at, shown, abouts, freeze(left, texts))


def reached(graph: Graph, findings: Iterable[Finding]) -> Iterator[Finding]:
    """What another tool found, with the events and callers that reach its place.

    Its paths may begin elsewhere, where it was run: of each the longest end that is a file here is meant. Raises InputError
    `outside-project` where there is none and it leads out of the repository; all of them at once.
    """
    known = {*graph.repository.workflows, *(one.path for one in graph.repository.actions.values())}
    found = []
    outside: dict[str, InputError] = {}
    for one in findings:
        path = _own(graph, one.path)
        witnesses = tuple(replace(other, path=_own(graph, other.path)) for other in one.witnesses)
        for each in (path, *(other.path for other in witnesses)):
            if each.startswith(("/", "../")):
                message = f"{one.rule} is found in {each!r:.200}, which is no file of this repository"
                hint = "run zizmor over this repository"
                outside[each] = InputError("outside-project", message, where="--zizmor", hint=hint)
        moved = replace(one, path=path, witnesses=witnesses)
        found.append(_reached(graph, moved) if path in known else moved)
    raise_all(tuple(outside.values()))
    yield from found


def _own(graph: Graph, path: str) -> str:
    words = path.split("/")
    ends = ("/".join(words[at:]) for at in range(len(words)))
    return next((one for one in ends if one in graph.repository.tracked), path)


def _once(found: Sequence[Finding]) -> Iterator[Finding]:
    """One for each fault: a condition that a wrong name makes constant is not said beside the name."""
    worst: dict[tuple[str, int | None], int] = {}
    for one in found:
        if one.rule in _CAUSES:
            at = (one.path, one.line)
            worst[at] = max(worst.get(at, 0), _WEIGHT[one.severity])
    for one in found:
        if one.rule not in _EFFECTS or worst.get((one.path, one.line), 0) < _WEIGHT[one.severity]:
            yield one


def _check_listed(graph: Graph, files: ListedFiles, within: str) -> None:
    if not within or any(_is_within(path, within) for path in graph.repository.tracked):
        return
    message = "this is none of the repository's files, and would not be read"
    hint = "git ignores it, or it belongs to another repository"
    raise InputError("not-listed", message, where=files.place(within), hint=hint)


def _is_within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _problems(graph: Graph) -> Iterator[Problem]:
    """Of every file: what its reader met, and the expressions at keys that it does not read. One for each place of these."""
    for file in uses_of.files(graph):
        yield from file.problems
        said = {one.place for one in file.problems}
        for one in uses_of.uses(graph, file.path).problems:
            if one.place not in said:
                said.add(one.place)
                yield one


def _unreadable(problem: Problem) -> Finding:
    at = problem.place
    return Finding(_UNREADABLE, "error", problem.message, at.path, at.line, at.column)


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line or 0, finding.column or 0, finding.rule


def _placed(finding: Finding, files: ListedFiles) -> Finding:
    witnesses = tuple(Witness(files.place(one.path), one.line, one.message) for one in finding.witnesses)
    return replace(finding, path=files.place(finding.path), witnesses=witnesses)


def _reached(graph: Graph, finding: Finding) -> Finding:
    """With who reaches it; what nothing reaches is a note."""
    scopes = tuple(reaching(graph, finding.path))
    is_known = not graph.is_crowded(finding.path) and not graph.may_be_called_elsewhere(finding.path)
    if not scopes and is_known:
        message = f"{finding.message} (no event and no caller starts this file)"
        return replace(finding, severity="note", message=message)
    known = [one for scope in scopes for one in scope.witnesses()]
    return replace(finding, witnesses=(*finding.witnesses, *list(dict.fromkeys(known))[:SHOWN]))
