"""A workflow that anybody can start, with the repository's token, and that runs the code of a pull request without a check."""

from collections.abc import Iterator
from typing import Literal

from regraft.core.findings import Finding, Witness
from regraft.core.patterns import regex
from regraft.core.shell_kinds import is_tests, script_path, stripped
from regraft.core.shell_values import Command, commands_of
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_judge import can_run
from regraft.core.workflow_rule import Rule
from regraft.core.workflow_run_by import program_text, programs
from regraft.core.workflow_scripts import Script, job_scripts
from regraft.core.workflow_values import Job, Place, Step, Workflow

NAME = "comment-runs-pull-code"

_EVENTS = ("issue_comment", "pull_request_target", "workflow_run")
_PULL = regex(
    r"refs/pull/|\bpull/|github\.event\.pull_request\.head\.(?:sha|ref)|github\.event\.workflow_run\.head_(?:sha|branch|commit)"
    r"|github\.head_ref|github\.event\.pull_request\.head\.repo"
)
_FOUND = regex(r"\$\{\{\s*(?:steps|needs)\.[\w.-]*(?:sha|ref|head|branch|commit|pr)[\w-]*\s*\}\}", 2)
_INPUT = regex(r"\binputs\.([\w-]+)")
_IN_SCRIPT = regex(r"\bgh\s+pr\s+checkout\b|\bgit\b[^\n]*\b(?:fetch|pull)\b[^\n]*\bpull/|\bgit\b[^\n]*\b(?:checkout|fetch|pull|reset)\b[^\n]*(?:pull_request\.head|workflow_run\.head_)")  # fmt: skip
_CHECKS = regex(
    r"author_association|collaborator|permission(?!s:)|membership|check_?member|is_?member|\bmembers\b|\bteams?\b|allow_?-?list|allowed_?-?users"
    r"|whitelist|trusted|authori[sz]ed|maintainer|codeowner|OWNERS\b|github\.actor\b|triggering_actor|\.user\.login|sender\.login"
    r"|\blabels?\b|head\.repo\.(?:full_name|fork|owner)|head_repository|workflow_run\.event\b|isCrossRepository|reviewDecision|approved",
    2,
)
_RUNS_WHAT_IS_THERE = (
    *(
        "pre-commit/action@",
        "pypa/cibuildwheel@",
        "cypress-io/github-action@",
        "bahmutov/npm-install@",
        "docker/build-push-action@",
    ),
    *(
        "gradle/gradle-build-action@",
        "wagoid/commitlint",
        "golangci/golangci-lint-action@",
        "hynek/build-and-inspect-python-package@",
    ),
)
_TOOLS = frozenset(
    {"npm", "npx", "yarn", "pnpm", "make", "cargo", "go", "pre-commit", "cmake", "bundle", "composer", "bun", "just"}
)


def find(graph: Graph) -> Iterator[Finding]:
    said: set[tuple[str, str]] = set()
    for path, workflow in graph.repository.workflows.items():
        scopes = [one for one in graph.scopes(path) if one.event.name in _EVENTS]
        for scope in sorted(scopes, key=lambda one: _EVENTS.index(one.event.name)):
            for job in workflow.jobs.values():
                if (path, job.name) in said:
                    continue
                found = _of(graph, scope, workflow, job)
                if found is not None:
                    said.add((path, job.name))
                    yield found


def _of(graph: Graph, scope: Scope, workflow: Workflow, job: Job) -> Finding | None:
    taken = _taken(graph, scope, job)
    if taken is None:
        return None
    step, place, sure = taken
    runs = _runs(graph, workflow, job, step, place)
    if (
        runs is None
        or can_run(graph, Site(workflow.path, job), scope) is False
        or _is_checked(graph, scope, workflow, job, runs)
    ):
        return None
    line = runs[0]
    witnesses = (*scope.witnesses(), Witness(line.path, line.line, runs[1]))
    event = scope.event.name
    who = "anybody who can comment" if event == "issue_comment" else "anybody who can open a pull request"
    message = f"the job `{job.name}` runs code of a pull request on `{event}`, for {who}: nothing checks who asks"
    fix = "ask `github.event.comment.author_association`, or let an `environment` with reviewers stand before it"
    severity: Literal["error", "warning"] = "error" if event == "issue_comment" and sure else "warning"
    return Finding(
        NAME, severity, message, place.path, place.line, place.column, "high" if sure else "medium", witnesses, fix
    )


def _taken(graph: Graph, scope: Scope, job: Job) -> tuple[Step, Place, bool] | None:
    """The first step that fetches a pull request's code, and whether that is sure."""
    by_step = {one.step.index: one for one in job_scripts(graph, scope.path, job) if one.step is not None}
    for step in job.steps:
        if step.uses is not None and step.uses.value.startswith("actions/checkout@"):
            written = [step.arguments[one].text.value for one in ("ref", "repository") if one in step.arguments]
            said = _with_inputs(" ".join(written), scope)
            if _PULL.search(said) or _FOUND.search(said):
                return step, step.uses.place, _PULL.search(said) is not None
        elif step.run is not None and (found := _IN_SCRIPT.search(step.run.text.value)) is not None:
            script = by_step.get(step.index)
            at = found.start()
            line = step.run.text.line(at)
            return (
                step,
                Place(scope.path, line)
                if script is None
                else script.place(len(script.value.text.value[:at].encode()) if script.value else at),
                True,
            )
    return None


def _with_inputs(text: str, scope: Scope) -> str:
    """And what the callers pass for the inputs that it names."""
    said = [text]
    while scope.caller is not None and scope.job is not None and scope.step is None:
        named = {one.lower() for one in _INPUT.findall(said[-1])}
        said.append(" ".join(value.text.value for name, value in scope.job.arguments.items() if name.lower() in named))
        scope = scope.caller
    return " ".join(said)


def _runs(graph: Graph, workflow: Workflow, job: Job, after: Step, place: Place) -> tuple[Place, str] | None:
    """Where something of what was fetched is run."""
    by_step = {one.step.index: one for one in job_scripts(graph, workflow.path, job) if one.step is not None}
    for step in job.steps[after.index :]:
        if step.uses is not None and step.uses.value.startswith("./") and step is not after:
            return step.uses.place, "an action of the pull request is used here"
        if step.uses is not None and step.uses.value.startswith(_RUNS_WHAT_IS_THERE):
            return step.uses.place, f"`{step.uses.value[:60]}` runs what the pull request says"
        script = by_step.get(step.index)
        if script is None:
            continue
        for one in commands_of(script.block):
            at = script.place(one.span.start)
            if (step is after and at.line <= place.line) or not _is_code(one):
                continue
            return at, f"`{_short(script, one)}` runs code of the pull request"
    return None


def _short(script: Script, command: Command) -> str:
    return script.text(command.span.start, min(command.span.stop, command.span.start + 60))


def _is_code(command: Command) -> bool:
    words = stripped(command)
    if not words:
        return False
    name = words[0].text.rpartition("/")[2]
    rest = [one.text for one in words[1:]]
    if is_tests(words) or name in _TOOLS or name in ("source", "."):
        return True
    if name in ("pip", "pip3", "uv") or rest[:2] == ["-m", "pip"]:
        return "install" in rest and any(one in (".", "-e", "-r") or one.startswith((".[", "./")) for one in rest)
    path = script_path(words)
    return path is not None and not path.startswith(("/", "-", "~"))


def _is_checked(graph: Graph, scope: Scope, workflow: Workflow, job: Job, runs: tuple[Place, str]) -> bool:
    """Whether a condition, an environment or a step before it looks at who asks, or at what was agreed to."""
    jobs = [(workflow, job), *((workflow, one) for one in graph.ancestors(workflow.path, job))]
    for above in scope.chain()[1:]:
        caller = graph.repository.workflows.get(above.caller.path) if above.caller is not None else None
        if caller is not None and above.job is not None:
            jobs += [(caller, above.job), *((caller, one) for one in graph.ancestors(caller.path, above.job))]
    return any(_checks(graph, one, runs[0] if one is job else None) for _, one in jobs)


def _checks(graph: Graph, job: Job, before: Place | None) -> bool:
    if job.data.get("environment") is not None:
        return True
    if job.condition is not None and _CHECKS.search(job.condition.text.value):
        return True
    called = graph.called(job)
    if called is not None and before is None and any(_checks(graph, one, None) for one in called.jobs.values()):
        return True
    for step in job.steps:
        if before is not None and step.place.line > before.line:
            break
        texts = [
            step.condition.text.value if step.condition is not None else "",
            step.uses.value if step.uses is not None else "",
        ]
        texts += [step.run.text.value if step.run is not None else ""]
        texts += [value.text.value for name, value in step.arguments.items() if name not in ("ref", "repository")]
        texts += [program_text(graph, path) for path in programs(graph, step)] if step.run is not None else []
        action = graph.action(step)
        if action is not None:
            texts += [one.run.text.value for one in action.steps if one.run is not None]
            texts += [one.uses.value for one in action.steps if one.uses is not None]
        if any(_CHECKS.search(text) for text in texts):
            return True
    return False


RULE = Rule(NAME, "a workflow that anybody can start and that runs a pull request's code", find)
