"""No constant is wrong: random workflows are run in random worlds, by a plain reading of GitHub's rules, and nothing contradicts."""

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from regraft.core.expression_evaluate import evaluate
from regraft.core.expression_tree import Call, Expression, parts
from regraft.core.expression_value import Value, text_of, truthy, value_of
from regraft.core.workflow_graph import Graph, Scope, Site
from regraft.core.workflow_judge import can_run, constant, results, runs
from regraft.core.workflow_values import Condition, Declared, Job, Step
from regraft.core.workflow_values import Value as Written

GraphOf = Callable[[Mapping[str, str]], Graph]

LABEL = "contains(github.event.pull_request.labels.*.name, '{}')"
ANYWHERE = [
    LABEL.format("x"),
    "!" + LABEL.format("x"),
    LABEL.format("y"),
    "github.event_name == 'push'",
    "github.event_name != 'schedule'",
    "github.event.action == 'labeled'",
    "github.event.action != 'opened'",
    "inputs.mode == 'a'",
    "inputs.mode != 'skip'",
    "inputs.mode",
    "inputs.fast",
    "inputs.fast == true",
    "github.event.inputs.fast == 'true'",
    "github.event.inputs.fast",
    "vars.V == 'a'",
    "vars.V != inputs.mode",
    "startsWith(vars.V, 'a')",
    "inputs.bypass",
    "!inputs.bypass",
    "true",
    "false",
]
OF_NEEDS = [
    "needs.N.result == 'success'",
    "needs.N.result != 'skipped'",
    "needs.N.result == 'failure'",
    "needs.N.outputs.o == 'a'",
    "needs.N.outputs.o",
    "needs.N.outputs.p == 'a'",
    "contains(needs.*.result, 'failure')",
    "contains(needs.*.result, 'skipped')",
]
STATUS = ["always()", "success()", "failure()", "!cancelled()", "success() || failure()"]
OF_STEPS = [
    "steps.s0.outputs.v == 'a'",
    "steps.s0.outcome == 'success'",
    "steps.s0.outcome == 'skipped'",
    "steps.s1.outputs.v",
    "env.E == 'a'",
    "env.E",
]
PASSED = [
    "skip",
    "a",
    "${{ inputs.mode }}",
    "${{ needs.N.outputs.o }}",
    "${{ github.event_name }}",
    "${{ inputs.fast && 'a' || 'skip' }}",
    "${{ inputs.fast }}",
    "x${{ inputs.mode }}",
]
BYPASSES = [
    LABEL.format("x"),
    "!" + LABEL.format("x"),
    LABEL.format("y"),
    "github.event_name == 'push'",
    "github.event.action == 'labeled'",
    "vars.V == 'a'",
    "inputs.mode == 'a'",
    "inputs.bypass",
    "!inputs.bypass",
    "needs.N.outputs.o == 'a'",
    "needs.N.result == 'success'",
]
EVENTS = ["push", "pull_request", "schedule", "workflow_dispatch"]


class Draw:
    """Random workflows as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def condition(self, pool: list[str], needs: list[str]) -> str:
        picked = [
            self.random.choice([*pool, *(OF_NEEDS if needs else [])]) for _ in range(self.random.choice([1, 1, 2, 3]))
        ]
        if self.random.random() < 0.4:
            picked.insert(0, self.random.choice(STATUS))
        text = self.random.choice([" && ", " || "]).join(f"({one})" for one in picked)
        return text.replace("needs.N", f"needs.{self.random.choice(needs or ['zz'])}")

    def job(self, name: str, before: list[str], calls: str) -> str:
        needs = sorted(self.random.sample(before, min(len(before), self.random.choice([0, 1, 1, 2]))))
        lines = [f"  {name}:", f"    needs: [{', '.join(needs)}]"]
        if self.random.random() < 0.6:
            lines.append(f'    if: "{self.condition(ANYWHERE, needs)}"')
        if calls and self.random.random() < 0.4:
            lines.append(f"    uses: ./.github/workflows/{calls}")
            given = [
                (name, self.random.choice(pool).replace("needs.N", f"needs.{needs[0] if needs else 'zz'}"))
                for name, pool in (("mode", PASSED), ("bypass", [f"${{{{ {one} }}}}" for one in BYPASSES]))
                if self.random.random() < 0.7
            ]
            lines += ["    with:", *(f'      {name}: "{passed}"' for name, passed in given)] if given else []
            return "\n".join(lines)
        lines += [
            "    runs-on: x",
            f'    env: {{ E: "{self.random.choice(["a", "false", "${{ inputs.mode }}"])}" }}',
            "    outputs:",
        ]
        lines += [
            f'      o: "{self.random.choice(["a", "${{ steps.s0.outputs.v }}", "${{ inputs.mode }}", "${{ github.event_name == 1 }}"])}"'
        ]
        lines += ['      p: "${{ steps.s1.outputs.v || steps.s0.outputs.v }}"', "    steps:"]
        for index in range(3):
            lines += [f"      - id: s{index}", "        run: x"]
            if self.random.random() < 0.6:
                lines.append(f'        if: "{self.condition([*ANYWHERE, *OF_STEPS], [])}"')
        return "\n".join(lines)

    def jobs(self, letter: str, count: int, calls: str) -> str:
        """The first of them calls nothing: its output is its file's."""
        names = [f"{letter}{n}" for n in range(count)]
        return "\n".join(self.job(name, names[:n], calls if n else "") for n, name in enumerate(names)) + "\n"

    def files(self) -> dict[str, str]:
        events = self.random.sample(EVENTS, self.random.choice([1, 2, 3]))
        on = "on:\n" + "".join(f"  {one}:\n" for one in events)
        if "workflow_dispatch" in events:
            inputs = "    inputs:\n      mode: { type: choice, options: [a, skip, b], default: a }\n      fast: { type: boolean }\n"
            on = on.replace("  workflow_dispatch:\n", "  workflow_dispatch:\n" + inputs)
        if "pull_request" in events:
            on = on.replace(
                "  pull_request:\n",
                f"  pull_request: {{ types: {self.random.choice(['[opened]', '[opened, labeled]'])} }}\n",
            )
        names = [f"j{n}" for n in range(5)]
        entry = (
            on + "jobs:\n" + "\n".join(self.job(name, names[:n], calls="b.yml") for n, name in enumerate(names)) + "\n"
        )
        default = self.random.choice([", default: skip", ", default: a", ""])
        callee = f"on:\n  workflow_call:\n    inputs:\n      mode: {{ type: string{default} }}\n      bypass: {{ type: boolean }}\n    outputs:\n      o: {{ value: '${{{{ jobs.k0.outputs.o }}}}' }}\njobs:\n"
        return {
            "a.yml": entry,
            "b.yml": callee + self.jobs("k", 3, "c.yml"),
            "c.yml": callee + self.jobs("k", 2, ""),
        }


class Seen(NamedTuple):
    site: Site
    scope: Scope
    asked: bool  # whether everything around it runs
    condition: bool
    ran: bool
    result: str | None = None


class World:
    """One run, by the rules as they are documented."""

    def __init__(self, graph: Graph, scope: Scope, draw: random.Random) -> None:
        self.graph = graph
        self.draw = draw
        event: dict[str, Any] = {}
        self.inputs: dict[str, Any] = {}
        if scope.event.name == "pull_request":
            event["pull_request"] = {"labels": [{"name": one} for one in ("x", "y") if draw.random() < 0.5]}
            event["action"] = draw.choice(list(scope.event.types or ()))
        if scope.event.name == "workflow_dispatch":
            self.inputs = {"mode": draw.choice(["a", "skip", "b"]), "fast": draw.random() < 0.5}
            event["inputs"] = {key: text_of(one) for key, one in self.inputs.items()}
        self.github = {"event_name": scope.event.name, "event": event}
        self.vars = {"V": draw.choice(["a", "b", ""])}
        self.seen: list[Seen] = []
        self.run(scope, self.inputs, reached=True)

    def run(self, scope: Scope, inputs: dict[str, Any], *, reached: bool) -> dict[str, Any]:
        """The jobs of a file, as `needs` would show them."""
        done: dict[str, Any] = {}
        for job in self.graph.repository.workflows[scope.path].jobs.values():
            above = [done[one.name]["result"] for one in self.graph.ancestors(scope.path, job)]
            needs = {one.value: done[one.value] for one in job.needs}
            status = {"success": all(one == "success" for one in above), "failure": "failure" in above}
            contexts = {"github": self.github, "vars": self.vars, "inputs": inputs, "needs": needs}
            holds, whole = self.condition(job.condition, contexts, status)
            ran = reached and whole
            done[job.name] = self.job(scope, job, contexts, ran=ran) if ran else {"result": "skipped", "outputs": {}}
            if not ran:
                self.job(scope, job, contexts, ran=False)
            self.seen.append(Seen(Site(scope.path, job), scope, reached, holds, ran, done[job.name]["result"]))
        return done

    def job(self, scope: Scope, job: Job, contexts: dict[str, Any], *, ran: bool) -> dict[str, Any]:
        child = self.graph.child(scope, job)
        if child is not None:
            called = self.graph.repository.workflows[child.path].events["workflow_call"]
            inputs = {name: self.passed(one, job.arguments.get(name), contexts) for name, one in called.inputs.items()}
            done = self.run(child, inputs, reached=ran)
            found = [one["result"] for one in done.values()]
            outputs = {
                name: text_of(self.written(one.value, {"jobs": done}))
                for name, one in called.outputs.items()
                if one.value
            }
            return {"result": "failure" if "failure" in found else "success", "outputs": outputs}
        env = {name: text_of(self.written(one, contexts)) for name, one in job.env.items()}
        steps: dict[str, Any] = {}
        status = "success"
        for step in job.steps:
            outcome = self.step(scope, job, step, {**contexts, "env": env, "steps": steps}, status, ran=ran)
            status = "failure" if outcome == "failure" else status
            wrote = {"v": self.draw.choice(["a", "b", ""])} if outcome != "skipped" else {}
            steps[step.id or ""] = {"outcome": outcome, "conclusion": outcome, "outputs": wrote}
        outputs = {name: text_of(self.written(one, {**contexts, "steps": steps})) for name, one in job.outputs.items()}
        return {"result": status, "outputs": outputs}

    def step(self, scope: Scope, job: Job, step: Step, contexts: dict[str, Any], status: str, *, ran: bool) -> str:
        holds, whole = self.condition(
            step.condition, contexts, {"success": status == "success", "failure": status == "failure"}
        )
        self.seen.append(Seen(Site(scope.path, job, step), scope, ran, holds, ran and whole))
        return "skipped" if not whole else "failure" if self.draw.random() < 0.2 else "success"

    def passed(self, declared: Declared, value: Written | None, contexts: dict[str, Any]) -> Value:
        written = value if value is not None else declared.default
        if declared.type == "boolean":
            return written is not None and self.written(written, contexts)
        return "" if written is None else text_of(self.written(written, contexts))

    def written(self, value: Written, contexts: dict[str, Any]) -> Value:
        found = [one.text if one.literal else self.value(one.expression, contexts, {}) for one in value.parts]
        return found[0] if len(found) == 1 else "".join(map(text_of, found))

    def condition(
        self, condition: Condition | None, contexts: dict[str, Any], status: dict[str, bool]
    ) -> tuple[bool, bool]:
        """What is written, and that with `success() &&` where GitHub adds it."""
        if condition is None:
            return True, status["success"]
        assert condition.expression is not None
        holds = truthy(self.value(condition.expression, contexts, status))
        return holds, holds and (status["success"] or _asks(condition.expression))

    def value(self, tree: Expression | None, contexts: dict[str, Any], status: dict[str, bool]) -> Value:
        assert tree is not None
        functions = {"always": lambda _: True, "cancelled": lambda _: False}
        functions |= {name: (lambda _, is_so=is_so: is_so) for name, is_so in status.items()}
        named = {
            name: value_of(contexts.get(name, {}))
            for name in ("github", "vars", "inputs", "needs", "env", "steps", "jobs")
        }
        return evaluate(tree, named, functions)


def _asks(tree: Expression) -> bool:
    return (isinstance(tree, Call) and tree.function in ("always", "success", "failure", "cancelled")) or any(
        map(_asks, parts(tree))
    )


def contradictions(graph: Graph, seed: int, times: int) -> tuple[int, list[object]]:
    """How many places have an answer, and those whose answer does not hold in one of the worlds."""
    draw = random.Random(seed)
    said: dict[tuple[str, str, int], tuple[bool | None, bool | None]] = {}
    wrong: list[object] = []
    for one in (seen for scope in graph.entries() for _ in range(times) for seen in World(graph, scope, draw).seen):
        site, job = one.site, one.site.job
        assert job is not None
        key = (site.path, job.name, -1 if site.step is None else site.step.index)
        if key not in said:
            said[key] = (constant(graph, site).value, runs(graph, site).value)
        always, running = said[key]
        answers = [running, can_run(graph, site, one.scope)]
        if any(answer not in (None, one.ran) for answer in answers):
            wrong.append((key, "runs", answers))
        if one.asked and site.condition is not None and always not in (None, one.condition):
            wrong.append((key, "constant", always))
        if one.asked and one.result is not None and one.result not in results(graph, one.scope, job):
            wrong.append((key, "results", one.result))
    return sum(one != (None, None) for one in said.values()), wrong


@pytest.mark.parametrize("seed", range(12))
def test_what_is_called_constant_is_so_in_every_world(graph_of: GraphOf, seed: int) -> None:
    graph = graph_of(Draw(seed).files())
    assert [one.problems for one in graph.repository.workflows.values()] == [(), (), ()]
    decided, wrong = contradictions(graph, seed, 3)
    assert wrong == []
    assert decided > 0


@pytest.mark.slow
def test_what_is_called_constant_is_so_in_many_more(graph_of: GraphOf) -> None:
    for seed in range(100, 150):
        assert contradictions(graph_of(Draw(seed).files()), seed, 10)[1] == []
