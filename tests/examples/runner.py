"""Runs the jobs of a workflow file as GitHub's runner does, as far as the example's workflows need it.

Scripts run as they stand in the file, with the shell that GitHub gives them; only their `env:` is filled from contexts. What a
`uses:` of somebody else does is a stand-in's, found in `Machine.actions`. Whatever the file says that this module does not
know is refused.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from expressions import Scope, as_text, fill, holds

SHELLS = {None: ("bash", "-e"), "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail")}
STEP = frozenset({"id", "name", "if", "uses", "run", "env", "with", "shell"})
JOB = frozenset(
    {
        *("name", "runs-on", "permissions", "needs", "if", "outputs", "steps", "uses", "with"),
        *("container", "env", "timeout-minutes"),
    }
)


class WorkflowError(Exception):
    """GitHub would not start this workflow, or the tests do not know what it means."""


@dataclass
class Step:
    name: str
    outcome: str = "skipped"
    code: int | None = None
    said: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Job:
    result: str
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    jobs: "dict[str, Job]" = field(default_factory=dict)  # of a called workflow

    def step(self, name: str) -> Step:
        """The step of that name. A name that vanished is an error, and never "it did not run"."""
        found = [one for one in self.steps if one.name == name]
        if len(found) != 1:
            raise WorkflowError(f"{len(found)} steps are called {name!r}; there are {[one.name for one in self.steps]}")
        return found[0]


@dataclass
class Running:
    """What a step sees of its machine."""

    workspace: Path
    temp: Path
    env: dict[str, str]


Action = Callable[[Running, Mapping[str, str]], None]


@dataclass
class Machine:
    """A throw-away runner: `files` finds a called workflow, `env_of` is what a job's container has in its environment."""

    root: Path
    files: Path
    github: dict[str, Any]
    env_of: Callable[[str], dict[str, str]]  # by what the job's `container:` says, "" without one
    actions: dict[str, Action]  # by `owner/name`
    ours: Path  # the folder of the action under test
    prepare: Callable[[Running], None]  # what a runner has before its first step
    added: Callable[[Mapping[str, Any]], dict[str, str]]  # inputs that the test adds to a call, where they are declared
    ours_is: str = "example-org/regraft"
    results: dict[str, "str | Job"] = field(default_factory=dict)  # jobs that end like this instead of running
    ran: int = 0

    def run(self, path: Path, inputs: Mapping[str, Any] | None = None) -> dict[str, Job]:
        """The jobs of the workflow at `path`, in the order in which they stand there, by name."""
        jobs: dict[str, Job] = {}
        for name, job in read(path)["jobs"].items():
            _known(job, JOB, name)
            needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            context = {one: {"result": jobs[one].result, "outputs": jobs[one].outputs} for one in needs}
            status = "success" if all(jobs[one].result == "success" for one in needs) else "failure"
            scope = Scope({"github": self.github, "inputs": inputs or {}, "needs": context}, status)
            if not holds(job.get("if"), scope):
                jobs[name] = Job("skipped")
            elif name in self.results:
                ended = self.results[name]
                jobs[name] = Job(ended) if isinstance(ended, str) else ended
            else:
                jobs[name] = self._call(job, scope) if "uses" in job else self._job(job, scope)
        return jobs

    def _call(self, job: Mapping[str, Any], scope: Scope) -> Job:
        place, _, file = job["uses"].rpartition("/")
        if place != "$/.github/workflows":
            raise WorkflowError(f"a called workflow is in this repository: {job['uses']}")
        given = {name: fill(text, scope) for name, text in job.get("with", {}).items()}
        declared = read(self.files / file)["on"]["workflow_call"]["inputs"]
        added = {name: value for name, value in self.added(given).items() if name in declared}
        inputs = call_inputs(declared, given | added)
        jobs = self.run(self.files / file, inputs)
        bad = [one.result for one in jobs.values() if one.result not in ("success", "skipped")]
        return Job(bad[0] if bad else "success", jobs=jobs)

    def _job(self, job: Mapping[str, Any], scope: Scope) -> Job:
        self.ran += 1
        home = self.root / f"job-{self.ran}"
        container = as_text(fill(job.get("container", ""), scope))
        running = Running(home / "workspace", home / "temp", self.env_of(container))
        running.workspace.mkdir(parents=True)
        running.temp.mkdir()
        self.prepare(running)
        env = {name: as_text(fill(text, scope)) for name, text in job.get("env", {}).items()}
        steps, contexts, status = self._steps(job["steps"], scope.names, running, env)
        outer = Scope({**scope.names, "steps": contexts})
        outputs = {name: as_text(fill(text, outer)) for name, text in job.get("outputs", {}).items()}
        return Job(status, outputs, steps)

    def _steps(
        self, steps: list[dict[str, Any]], names: Mapping[str, Any], running: Running, env: dict[str, str]
    ) -> tuple[list[Step], dict[str, Any], str]:
        done, contexts, status = [], {}, "success"
        for step in steps:
            _known(step, STEP, "a step")
            scope = Scope({**names, "steps": contexts}, status)
            one = Step(step.get("name") or step.get("uses", "").partition("@")[0] or step.get("id", "a step"))
            done.append(one)
            if holds(step.get("if"), scope):
                own = {name: as_text(fill(text, scope)) for name, text in step.get("env", {}).items()}
                self._step(step, one, scope, running, env | own)
                status = "failure" if one.outcome == "failure" else status
            if "id" in step:
                contexts[step["id"]] = {"outputs": one.outputs, "outcome": one.outcome}
        return done, contexts, status

    def _step(self, step: Mapping[str, Any], one: Step, scope: Scope, running: Running, env: dict[str, str]) -> None:
        if "run" in step:
            self._script(step, one, running, env)
            return
        action = step["uses"].partition("@")[0]
        given = {name: as_text(fill(text, scope)) for name, text in step.get("with", {}).items()}
        if action == self.ours_is:
            self._composite(one, given, running, env)
            return
        if action not in self.actions:
            raise WorkflowError(f"nobody stands in for {action}")
        self.actions[action](running, given)
        one.outcome = "success"

    def _composite(self, one: Step, given: Mapping[str, str], running: Running, env: dict[str, str]) -> None:
        action = read(self.ours / "action.yml")
        declared = action["inputs"]
        if unknown := sorted(set(given) - set(declared)):
            raise WorkflowError(f"the action has no inputs {unknown}")
        scope = Scope({"github": self.github})
        defaults = {name: as_text(fill(about.get("default", ""), scope)) for name, about in declared.items()}
        names = {"github": self.github, "inputs": defaults | given}
        inner = env | {"GITHUB_ACTION_PATH": str(self.ours)}
        steps, contexts, status = self._steps(action["runs"]["steps"], names, running, inner)
        one.outcome, one.said = status, "".join(step.said for step in steps)
        one.code = next((step.code for step in steps if step.code), 0)
        outer = Scope({"steps": contexts})
        one.outputs = {name: as_text(fill(about["value"], outer)) for name, about in action["outputs"].items()}

    def _script(self, step: Mapping[str, Any], one: Step, running: Running, env: dict[str, str]) -> None:
        if "${{" in step["run"]:
            raise WorkflowError(f"{one.name}: a script holds an expression, and takes text for code")
        script, output = running.temp / "script.sh", running.temp / "output"
        script.write_text(step["run"])
        output.write_text("")
        done = subprocess.run(
            [*SHELLS[step.get("shell")], str(script)],
            cwd=running.workspace,
            env={
                **running.env,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_OUTPUT": str(output),
                "RUNNER_TEMP": str(running.temp),
                **env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        one.code, one.said = done.returncode, done.stdout
        one.outcome = "failure" if done.returncode else "success"
        one.outputs = read_outputs(output.read_text())


def call_inputs(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a called workflow. GitHub refuses unknown ones, missing ones, and text where a boolean is declared."""
    wrong = [f"{name} is not declared" for name in given if name not in declared]
    inputs: dict[str, Any] = {}
    for name, about in declared.items():
        if name not in given:
            wrong += [f"{name} is required"] if about.get("required") == "true" else []
            inputs[name] = {"boolean": False, "string": about.get("default", "")}[about["type"]]
            continue
        value = given[name]
        if about["type"] == "boolean" and not isinstance(value, bool):
            wrong.append(f"{name} is a boolean, and is given {value!r}")
        inputs[name] = value if about["type"] == "boolean" else as_text(value)
    if wrong:
        raise WorkflowError("; ".join(wrong))
    return inputs


def read_outputs(text: str) -> dict[str, str]:
    """What a step wrote to $GITHUB_OUTPUT: `NAME=VALUE` lines, and `NAME<<DELIMITER` blocks."""
    outputs, lines = {}, iter(text.splitlines())
    for line in lines:
        name, _, delimiter = line.partition("<<")
        if delimiter and "=" not in name:
            value = []
            while (found := next(lines)) != delimiter:
                value.append(found)
            outputs[name] = "\n".join(value)
        else:
            name, equals, plain = line.partition("=")
            if not equals:
                raise WorkflowError(f"not an output: {line!r}")
            outputs[name] = plain
    return outputs


def read(path: Path) -> Any:
    """A YAML file whose scalars are all text, as they stand there; a key that stands twice is refused."""
    return _plain(yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader))


def _plain(node: yaml.Node | None) -> Any:
    match node:
        case yaml.MappingNode():
            keys = [key.value for key, _ in node.value]
            if len(keys) != len(set(keys)):
                raise WorkflowError(f"a key stands twice: {keys}")
            return {key.value: _plain(value) for key, value in node.value}
        case yaml.SequenceNode():
            return [_plain(one) for one in node.value]
        case yaml.ScalarNode():
            return node.value
        case _:
            raise WorkflowError("an empty file")


def _known(part: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    if unknown := sorted(set(part) - known):
        raise WorkflowError(f"{where}: nobody here knows what {unknown} do")


def base_environment(home: Path, api: str = "http://127.0.0.1:9") -> dict[str, str]:
    """A machine whose user has nothing, and whose forge is where `api` is."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GITHUB_API_URL": api,
        "GITHUB_SERVER_URL": "https://github.com",
    }
