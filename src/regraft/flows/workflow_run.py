"""Runs the steps of one job as GitHub's runner does, on a machine that is thrown away."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.expression_text import value_parts
from regraft.core.runner_commands import Command, read_commands
from regraft.core.runner_context import variables
from regraft.core.runner_expressions import Scope, fill, fill_all, holds
from regraft.core.runner_files import BadLineError, read_pairs, read_paths
from regraft.core.runner_paths import Paths
from regraft.core.runner_shell import ShellLine, shell_line
from regraft.core.runner_values import Mapped, Outcome, Ran, StepResult
from regraft.core.workflow_values import Action, Step, Text, Value
from regraft.errors import InputError, OutsideError, RegraftError

DEEPEST = 10  # composite actions in each other, as on GitHub

_NOT_STARTED = frozenset({"missing-program", "no-such-folder", "no-permission", "not-started"})
_REFUSED = frozenset({"set-env", "add-path"})
_NEVER_SET = frozenset({"NODE_OPTIONS"})


Edit = Callable[[str], str]


class Machine(Protocol):
    """Where steps run. `workspace`, `temp` and `tools` are absolute paths."""

    workspace: str
    temp: str
    tools: str

    def environment(self) -> dict[str, str]:
        """What each step has, whatever the workflow says."""

    def in_front(self, paths: Sequence[str]) -> str:
        """PATH with these folders in front, the last one first of all."""

    def bash(self) -> bool:
        """Whether there is one."""

    def exists(self, path: str) -> bool:
        """Whether anything is at an absolute path."""

    def checkout(self, path: str, edit: Edit | None) -> None:
        """Put the project's files into the workspace, or a folder of it, its shell scripts edited."""

    def clone(self, repository: str, ref: str, path: str) -> None:
        """Put another repository there. OutsideError `git-failed`: nobody stands for it, or it has no such ref."""

    def hash_files(self, patterns: Sequence[str]) -> str:
        """What `hashFiles` says of the workspace."""

    def step_files(self) -> dict[str, str]:
        """New files by which the next script speaks to the runner, by their names in the `github` context."""

    def run(self, line: ShellLine, script: str, env: Mapping[str, str], folder: str, timeout: float) -> Ran:
        """Run one script to its end. OutsideError: it could not be started."""


class Defaults(Struct, frozen=True):
    """Of `defaults.run`; an action has none."""

    shell: Text | None = None
    folder: Value | None = None


class Job(Struct):
    """What steps share, and change: the job's environment, its path, and how it goes."""

    machine: Machine
    paths: Paths
    actions: Mapping[str, Action]
    names: dict[str, Any]  # the contexts
    timeout: float  # seconds, of one step
    env: dict[str, str]
    uses: Mapping[str, Mapping[str, str]] = {}
    front: list[str] = []
    masks: list[str] = []  # by `add-mask`


class Frame(Struct):
    """A list of steps: of the job, or of a composite action. `env` is what surrounds them; `folder` the action's."""

    steps: dict[str, Any]
    defaults: Defaults
    inputs: Mapping[str, Any] | None = None
    env: Mapping[str, str] = {}
    folder: str | None = None
    depth: int = 0
    status: Literal["success", "failure"] = "success"


def run_steps(job: Job, frame: Frame, steps: Sequence[Step]) -> tuple[StepResult, ...]:
    """Each step in order; one whose condition does not hold is skipped, as most are after a failure."""
    done = []
    for step in steps:
        result = _run_step(job, frame, step)
        done.append(result)
        if result.conclusion == "failure":
            frame.status = "failure"
        if step.id:
            named = "success" if result.why and result.why.startswith(NOT_RUN) else None
            frame.steps[step.id] = {
                "outputs": dict(result.outputs),
                "outcome": named or result.outcome,
                "conclusion": named or result.conclusion,
            }
    return tuple(done)


NOT_RUN = "not run: "
LOCAL = ("./", "$/")  # what `uses:` begins with where an action is the repository's own


def _run_step(job: Job, frame: Frame, step: Step) -> StepResult:
    scope = _scope(job, frame, step, {})
    name = _name(step, scope)
    begun = StepResult(name, step.id, "skipped", "skipped", step.place.line)
    try:
        env = fill_all(step.env, scope)
        scope = _scope(job, frame, step, env)
        if not holds(step.condition, scope):
            return begun
        begun = replace(begun, name=_name(step, scope), outcome="success", conclusion="success")
        result = (
            _script(job, frame, step, scope, begun) if step.run is not None else _used(job, frame, step, scope, begun)
        )
        return _concluded(result, step, scope)
    except RegraftError as error:  # the runner fails the step too
        return _concluded(replace(begun, outcome="failure", conclusion="failure", why=str(error)), step, scope)


def _concluded(result: StepResult, step: Step, scope: Scope) -> StepResult:
    if result.outcome == "failure" and step.continue_on_error is not None:
        goes_on = fill(step.continue_on_error, scope).lower() == "true"
        return replace(result, conclusion="success" if goes_on else "failure")
    return result


def _scope(job: Job, frame: Frame, step: Step, env: Mapping[str, str]) -> Scope:
    github = {**job.names["github"], "action": step.id or f"__step_{step.index + 1}"}
    if frame.folder is not None:
        github["action_path"] = posixpath.join(job.machine.workspace, frame.folder)
        github["action_status"] = frame.status
    names = {**job.names, "github": github, "env": {**job.env, **frame.env, **env}, "steps": frame.steps}
    names["job"] = {**job.names.get("job", {}), "status": frame.status}
    if frame.inputs is not None:
        names["inputs"] = frame.inputs
    return Scope(names, frame.status, job.machine.hash_files)


def _name(step: Step, scope: Scope) -> str:
    """As GitHub shows it."""
    if step.name is not None:
        try:
            return fill(step.name, scope)
        except RegraftError:
            return step.name.text.value
    if step.run is not None:
        return f"Run {step.run.text.value.strip().partition(chr(10))[0]}"
    return f"Run {step.uses.value}" if step.uses is not None else f"step {step.index + 1}"


def _script(job: Job, frame: Frame, step: Step, scope: Scope, begun: StepResult) -> StepResult:
    assert step.run is not None
    machine, paths = job.machine, job.paths
    paths.used()
    shell = step.shell or frame.defaults.shell
    line = shell_line(shell.value if shell else None, bash=machine.bash())
    where = step.working_directory or frame.defaults.folder
    folder = posixpath.join(machine.workspace, paths.place(fill(where, scope))) if where else machine.workspace
    script = paths.script(fill(step.run, scope), is_shell=line.shell)
    files = machine.step_files()
    env = machine.environment() | {name: paths.value(value) for name, value in scope.names["env"].items()}
    if job.front:
        env["PATH"] = machine.in_front(job.front)
    env |= variables({**scope.names["github"], **files}, scope.names["runner"])
    env = {_usable(name): _usable(value) for name, value in env.items()}
    begun = replace(begun, shell=" ".join(line.argv("{0}")), mapped=paths.used())
    try:
        ran = machine.run(line, _encodable(script), env, _usable(folder), _timeout(job, step, scope))
    except OutsideError as error:
        if error.code not in _NOT_STARTED:
            raise
        return replace(begun, outcome="failure", conclusion="failure", why=error.message)
    return _read(job, ran, begun, scope)


def _usable(text: str) -> str:
    """What the system takes as a variable or a path. Raises InputError `bad-text`."""
    if "\0" in text:
        raise InputError("bad-text", f"a variable or a path holds a NUL byte: {text!r:.80}")
    return _encodable(text)


def _encodable(text: str) -> str:
    """Without halves of surrogate pairs, which JSON can hold and no file can."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _timeout(job: Job, step: Step, scope: Scope) -> float:
    data = step.data.get("timeout-minutes")
    written = data.value if data is not None and isinstance(data.value, Text) else None
    text = fill(Value(written, value_parts(written.value)), scope) if written is not None else ""
    minutes = float(text) if text.replace(".", "", 1).isdigit() else None
    return min(job.timeout, minutes * 60) if minutes else job.timeout


def _read(job: Job, ran: Ran, begun: StepResult, scope: Scope) -> StepResult:
    """What a script left in the runner's files, taken over."""
    commands = read_commands(ran.log.split("\n"))
    job.masks += [one.data for one in commands if one.name == "add-mask"]
    result = replace(
        begun,
        code=ran.code,
        log=ran.log,
        commands=commands,
        calls=tuple(replace(call, folder=_shown(job, call.folder)) for call in ran.calls),
        summary=ran.said.get("step_summary", ""),
        seconds=round(ran.seconds, 4),
    )
    why = None if ran.code == 0 else f"exit code {ran.code}" if ran.code is not None else "its time was up"
    try:
        outputs = {one.properties["name"]: one.data for one in _named(commands, "set-output")}
        outputs |= dict(read_pairs(ran.said.get("output", "")))
        env = {name: value for name, value in read_pairs(ran.said.get("env", "")) if name not in _NEVER_SET}
    except BadLineError as error:
        return replace(result, outcome="failure", conclusion="failure", why=why or f"a file of the runner: {error}")
    paths = read_paths(ran.said.get("path", ""))
    job.env |= env
    for path in paths:
        job.front[:] = [one for one in job.front if one != path] + [path]
    refused = next((one for one in commands if one.name in _REFUSED), None)
    if refused is not None and scope.names["env"].get("ACTIONS_ALLOW_UNSECURE_COMMANDS") != "true":
        why = why or f"the `{refused.name}` command is disabled on GitHub"
    if ran.cut:
        why = why or "it said more than is kept"
    ended: Outcome = "failure" if why else "success"
    return replace(result, outputs=outputs, env=env, paths=paths, outcome=ended, conclusion=ended, why=why)


def _shown(job: Job, folder: str) -> str:
    """By the name that the image or the workspace has."""
    place = job.paths.origin(folder)
    return (
        "$GITHUB_WORKSPACE" + place[len(job.machine.workspace) :] if place.startswith(job.machine.workspace) else place
    )


def _named(commands: Sequence[Command], name: str) -> list[Command]:
    return [one for one in commands if one.name == name and one.properties.get("name")]


def _used(job: Job, frame: Frame, step: Step, scope: Scope, begun: StepResult) -> StepResult:
    written = step.uses.value if step.uses is not None else ""
    given = fill_all(step.arguments, scope)
    action = written.partition("@")[0]
    for name in (step.id or "", written, action):
        if name in job.uses:
            return replace(begun, outputs=dict(job.uses[name]))
    if action.lower() == "actions/checkout":
        return _checkout(job, given, scope, begun)
    if not written.startswith(LOCAL):
        return replace(
            begun, outcome="skipped", conclusion="skipped", why=f"{NOT_RUN}{written} is another repository's"
        )
    folder = posixpath.normpath(written[2:])
    if written.startswith("./") and not _has_action(job.machine, folder):
        why = f"there is no action.yml in {folder!r:.200} of the workspace: is actions/checkout before it?"
        return replace(begun, outcome="failure", conclusion="failure", why=why)
    found = job.actions.get("" if folder == "." else folder)
    if found is None or not found.steps:
        why = "no action of this repository" if found is None else "no composite action"
        return replace(begun, outcome="skipped", conclusion="skipped", why=f"{NOT_RUN}{written} is {why}")
    if frame.depth >= DEEPEST:
        raise InputError("too-deep", f"more than {DEEPEST} composite actions in each other", where=found.path)
    return _composite(job, frame, found, given, scope, begun)


def _has_action(machine: Machine, folder: str) -> bool:
    place = posixpath.join(machine.workspace, folder)
    return any(machine.exists(posixpath.join(place, name)) for name in ("action.yml", "action.yaml", "Dockerfile"))


def _checkout(job: Job, given: Mapping[str, str], scope: Scope, begun: StepResult) -> StepResult:
    repository, path = given.get("repository", ""), given.get("path", "")
    if not repository or repository.lower() == str(scope.names["github"].get("repository")).lower():
        return replace(begun, mapped=check_out(job.machine, job.paths, path))
    try:
        job.machine.clone(repository, given.get("ref", ""), path)
    except OutsideError as error:
        return replace(begun, outcome="failure", conclusion="failure", why=str(error))
    return begun


def check_out(machine: Machine, paths: Paths, path: str) -> tuple[Mapped, ...]:
    """The project into the workspace. What is mapped is mapped in its shell scripts too."""
    paths.used()
    machine.checkout(path, paths.file if paths.maps else None)
    return paths.used()


def _composite(  # noqa: PLR0913, PLR0917 - where it stands, and what it is given
    job: Job, frame: Frame, action: Action, given: Mapping[str, str], scope: Scope, begun: StepResult
) -> StepResult:
    defaults = {
        name.lower(): fill(one.default, scope) if one.default is not None else "" for name, one in action.inputs.items()
    }
    inputs = defaults | {name.lower(): value for name, value in given.items()}
    own = {name: value for name, value in scope.names["env"].items() if job.env.get(name) != value}
    inner = Frame({}, Defaults(), inputs, own, action.folder, frame.depth + 1)
    steps = run_steps(job, inner, action.steps)
    outer = Scope({**scope.names, "inputs": inputs, "steps": inner.steps}, inner.status)
    outputs = {name: fill(one.value, outer) if one.value is not None else "" for name, one in action.outputs.items()}
    failed = next((one for one in steps if one.failed), None)
    return replace(
        begun,
        outcome=inner.status,
        conclusion=inner.status,
        why=f"{failed.name}: {failed.why}" if failed is not None else None,
        outputs=outputs,
        steps=steps,
        calls=tuple(call for one in steps for call in one.calls),
        summary="".join(one.summary for one in steps),
        log="".join(one.log for one in steps),
        seconds=round(sum(one.seconds for one in steps), 4),
    )
