"""A schedule that GitHub refuses, that never comes, that GitHub starts less often, or that is not what the workflow's name says."""

from collections.abc import Iterator

from regraft.core.cron import Cron, CronError, read_cron
from regraft.core.findings import Confidence, Finding, Severity, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Text, Workflow
from regraft.core.workflow_yaml import items

NAME = "cron-wrong"

OFTEN = 5  # minutes
_WORDS = regex(r"[a-z]+")
_CHANNEL = frozenset(
    {"rust", "rustc", "toolchain", "clippy", "miri", "rustfmt", "cargo", "torch", "pytorch", "release"}
)
_RHYTHMS = {"nightly": (5.0, 99.0), "daily": (5.0, 99.0), "weekly": (0.9, 4.9)}  # days of a week


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        event = workflow.events.get("schedule")
        if event is None:
            continue
        right: list[tuple[Text, Cron]] = []
        for item in items(event.data):
            written = item.get("cron")
            cron = written.value if written is not None else None
            if not isinstance(cron, Text) or "${{" in cron.value:
                continue
            try:
                right.append((cron, read_cron(cron.value)))
            except CronError as error:
                yield _finding(
                    cron, "error", f"GitHub refuses this schedule: {error}", "write five fields of POSIX cron"
                )
        for cron, read in right:
            yield from _judge(cron, read)
        yield from _against_its_name(workflow, right)


def _judge(cron: Text, read: Cron) -> Iterator[Finding]:
    if not read.comes():
        yield _finding(
            cron, "error", "this schedule never comes: no such month has that day", "write a day that it has"
        )
        return
    for remark in read.remarks:
        yield _finding(cron, "warning", remark, "write how often it is to start")
    often = read.shortest()
    if often is not None and often < OFTEN and not read.remarks:
        times = "each minute" if often == 1 else f"{often} minutes apart"
        message = f"this schedule asks for starts {times}, and GitHub starts one at most each {OFTEN} minutes"
        yield _finding(cron, "warning", message, f"ask for one each {OFTEN} minutes or less often")


def _against_its_name(workflow: Workflow, crons: list[tuple[Text, Cron]]) -> Iterator[Finding]:
    words = set(_WORDS.findall(workflow.path.rpartition("/")[2].rpartition(".")[0].lower()))
    named = workflow.name.text if workflow.name is not None else None
    of_name = set(_WORDS.findall(named.value[:200].lower())) if named is not None else set()
    said = [one for one in _RHYTHMS if one in words | of_name]
    if len(said) != 1 or not crons or (words | of_name) & (_CHANNEL | {"bi", "monthly", "hourly"}):
        return
    least, most = _RHYTHMS[said[0]]
    days = sum(one.week() for _, one in crons)
    if least <= days <= most:
        return
    often = (
        f"on {round(days)} days of a week" if days >= 1.5 else "once a week" if days >= 0.9 else "less than once a week"
    )
    first = crons[0][0]
    place = named.place if named is not None and said[0] in of_name else None
    line = place.line if place is not None else 1
    witness = Witness(workflow.path, line, f"named `{said[0]}`")
    message = f"this workflow is named `{said[0]}`, and its schedule comes {often}"
    yield _finding(
        first, "warning", message, "write the schedule that the name says, or another name", "medium", witness
    )


def _finding(
    cron: Text, severity: Severity, message: str, fix: str, confidence: Confidence = "high", *why: Witness
) -> Finding:
    at = cron.place
    return Finding(NAME, severity, message, at.path, at.line, at.column, confidence, why, fix)


RULE = Rule(NAME, "a schedule that GitHub refuses, that never comes, or not as often as it says", find)
