"""`uses: ./x` where nothing has filled the workspace yet: GitHub looks for the action there, and fails.

https://github.com/SchwarzIT/onyx/pull/4793
"""

from collections.abc import Iterator

from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_values import Job, Step

NAME = "action-before-checkout"

_FILLS_NOTHING = regex(r"(?i)actions/(?:setup-[\w-]+|github-script|create-github-app-token)@")
_SAYS = regex(r"(?:[ \t]*(?:echo|printf|true|date|env|printenv|uname)\b[^\n;&|`]*\n?|\s*\n)*")
_FRESH = regex(
    r"ubuntu-(?:latest|slim|[0-9]{2}\.[0-9]{2}(?:-arm)?)|windows-(?:latest|[0-9]{4}|11-arm)|macos-(?:latest|[0-9]{2})(?:-large|-xlarge|-intel)?"
)


def find(graph: Graph) -> Iterator[Finding]:
    for workflow in graph.repository.workflows.values():
        for job in workflow.jobs.values():
            first = next((one for one in job.steps if not _fills_nothing(one)), None)
            if first is not None and _is_local(first) and _is_fresh(job):
                yield _finding(job, first)


def _is_local(step: Step) -> bool:
    return step.uses is not None and step.uses.value.startswith("./")


def _fills_nothing(step: Step) -> bool:
    """Whether the workspace is for sure as empty after it as before."""
    if step.uses is not None:
        return _FILLS_NOTHING.match(step.uses.value) is not None and "script" not in step.arguments
    text = step.run.text.value if step.run is not None else ""
    return ">" not in text and "$(" not in text and _SAYS.fullmatch(text) is not None


def _is_fresh(job: Job) -> bool:
    """Whether it is on a machine of GitHub's, which no run before has left anything on."""
    return job.runs_on is not None and _FRESH.fullmatch(job.runs_on.text.value.strip()) is not None


def _finding(job: Job, step: Step) -> Finding:
    assert step.uses is not None  # the caller has looked
    place = step.uses.place
    message = f"`{step.uses.value[:100]}` is looked for in the workspace, which is empty: no step before checks the repository out"
    later = next(
        (one for one in job.steps if one.uses is not None and one.uses.value.startswith("actions/checkout@")), None
    )
    why = (Witness(place.path, later.place.line, "it is checked out here, which is too late"),) if later else ()
    fix = "check the repository out before"
    return Finding(NAME, "error", message, place.path, place.line, place.column, "high", why, fix)


RULE = Rule(NAME, "an action of the repository that is used before the repository is checked out", find)
