"""What is constant over every event, caller and input; what can run at all; and the lines that prove it."""

from collections.abc import Callable, Mapping

import pytest

from regraft.core.expression_search import Memo
from regraft.core.expression_text import parse_expression
from regraft.core.expression_tree import Logic
from regraft.core.workflow_conditions import place_in
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_judge import Constant, can_run, constant, holds, results, runs

GraphOf = Callable[[Mapping[str, str]], Graph]

INSTALL = """\
on:
  workflow_call:
    inputs:
      ci_ref_mode:
        type: string
        default: "skip"
jobs:
  install:
    runs-on: x
    steps:
      - run: make
      - if: inputs.ci_ref_mode != 'skip'
        run: pip install .
"""

CALLS = """\
on:
  push:
jobs:
  suite:
    uses: ./.github/workflows/install.yml
"""

PASSES = """\
on: pull_request
jobs:
  gate:
    runs-on: x
    outputs:
      mode: ${{ steps.body.outputs.mode }}
    steps:
      - id: body
        run: python parse.py
  suite:
    needs: gate
    uses: ./.github/workflows/install.yml
    with:
      ci_ref_mode: ${{ needs.gate.outputs.mode }}
"""


def path(name: str) -> str:
    return name if "/" in name else f".github/workflows/{name}"


def site(graph: Graph, name: str, job: str | None = None, step: int | None = None) -> Site:
    if job is None:
        folder = name.rpartition("/")[0]
        return Site(name, None, graph.repository.actions[folder].steps[step or 0])
    found = graph.repository.workflows[path(name)].jobs[job]
    return Site(path(name), found, None if step is None else found.steps[step])


def lines(judged: Constant) -> list[str]:
    return [f"{one.path.rpartition('/')[2]}:{one.line} {one.message}" for one in judged.witnesses]


def in_step(condition: str, on: str = "push", above: str = "") -> str:
    return f"on: {on}\njobs:\n  j:\n    runs-on: ubuntu-latest\n{above}    steps:\n      - id: first\n        run: x\n      - if: {condition}\n        run: y\n"


def of_step(graph_of: GraphOf, condition: str, on: str = "push", above: str = "") -> bool | None:
    graph = graph_of({"a.yml": in_step(condition, on, above)})
    assert graph.repository.workflows[path("a.yml")].problems == ()
    return constant(graph, site(graph, "a.yml", "j", 1)).value


# The gate that nobody can open


def test_an_input_that_no_caller_passes_keeps_a_step_closed(graph_of: GraphOf) -> None:
    graph = graph_of({"ci.yml": CALLS, "install.yml": INSTALL})
    judged = constant(graph, site(graph, "install.yml", "install", 1))
    assert judged.value is False
    assert lines(judged) == [
        "ci.yml:2 runs on `push`",
        f"ci.yml:5 calls {path('install.yml')} without `ci_ref_mode`",
        "install.yml:6 `ci_ref_mode` is `skip` by default",
        "install.yml:12 `if: inputs.ci_ref_mode != 'skip'`",
    ]


def test_one_caller_that_passes_something_opens_it(graph_of: GraphOf) -> None:
    graph = graph_of({"ci.yml": CALLS, "pr.yml": PASSES, "install.yml": INSTALL})
    assert constant(graph, site(graph, "install.yml", "install", 1)).value is None


def test_a_caller_that_passes_the_same_word_does_not(graph_of: GraphOf) -> None:
    other = CALLS.replace("push", "schedule") + "    with:\n      ci_ref_mode: skip\n"
    graph = graph_of({"ci.yml": CALLS, "night.yml": other, "install.yml": INSTALL})
    judged = constant(graph, site(graph, "install.yml", "install", 1))
    assert judged.value is False
    assert "night.yml:7 passes `ci_ref_mode: skip`" in lines(judged)
    assert len(judged.scopes) == 2


def test_an_input_goes_through_two_calls(graph_of: GraphOf) -> None:
    between = """\
on:
  workflow_call:
    inputs:
      mode: { type: string, default: skip }
jobs:
  b:
    uses: ./.github/workflows/install.yml
    with:
      ci_ref_mode: ${{ inputs.mode }}
"""
    graph = graph_of({"ci.yml": CALLS.replace("install", "between"), "between.yml": between, "install.yml": INSTALL})
    judged = constant(graph, site(graph, "install.yml", "install", 1))
    assert judged.value is False
    assert lines(judged) == [
        "ci.yml:2 runs on `push`",
        f"between.yml:7 the job `b` calls {path('install.yml')}",
        "between.yml:9 passes `ci_ref_mode: ${{ inputs.mode }}`",
        f"ci.yml:5 calls {path('between.yml')} without `mode`",
        "between.yml:4 `mode` is `skip` by default",
        "install.yml:12 `if: inputs.ci_ref_mode != 'skip'`",
    ]


def test_callers_that_are_not_in_the_repository_can_pass_anything(graph_of: GraphOf) -> None:
    graph = graph_of({"install.yml": INSTALL})
    assert constant(graph, site(graph, "install.yml", "install", 1)).value is None
    elsewhere = "on: push\njobs:\n  x:\n    uses: o/r/.github/workflows/install.yml@v1\n"
    graph = graph_of({"ci.yml": CALLS, "other.yml": elsewhere, "install.yml": INSTALL})
    assert constant(graph, site(graph, "install.yml", "install", 1)).value is None


def test_a_caller_that_never_runs_opens_nothing(graph_of: GraphOf) -> None:
    never = PASSES.replace("    needs: gate", "    needs: gate\n    if: github.event_name == 'push'")
    graph = graph_of({"ci.yml": CALLS, "pr.yml": never, "install.yml": INSTALL})
    assert constant(graph, site(graph, "install.yml", "install", 1)).value is False


# Events


@pytest.mark.parametrize(
    ("condition", "on", "value"),
    [
        ("github.event_name == 'push'", "push", True),
        ("github.event_name == 'PUSH'", "push", True),
        ("github.event_name == 'pull_request'", "[push, schedule]", False),
        ("github.event_name == 'push'", "[push, schedule]", None),
        ("github.event_name != 'push' || github.event.pull_request.draft", "push", False),
        ("github.event.pull_request.draft == false", "pull_request", None),
        ("github.event.pull_request.head.repo.fork", "push", False),
        ("!github.event.pull_request.draft", "pull_request", None),
        ("github.event.action == 'labeled'", "pull_request", False),
        ("github.event.action == 'labeled'", "\n  pull_request: { types: [labeled] }", True),
        ("github.event.action == 'labeled'", "\n  pull_request: { types: [labeled, opened] }", None),
        ("github.event.action == 'closed'", "\n  pull_request: { types: [labeled, opened] }", False),
        ("github.event.action == 'created'", "issue_comment", None),
        ("github.event.action == 'opened'", "push", False),
        ("github.event.label.name == 'x'", "pull_request", False),
        ("github.event.label.name == 'x'", "\n  pull_request: { types: [labeled] }", None),
        ("github.event.comment.body == 'x'", "push", False),
        ("github.event.comment.body == 'x'", "issue_comment", None),
        ("contains(github.event.pull_request.labels.*.name, 'x')", "pull_request", None),
        ("contains(github.event.pull_request.labels.*.name, 'x')", "push", False),
        ("github.head_ref == ''", "push", True),
        ("github.head_ref == 'x'", "pull_request", None),
        ("github.ref == 'refs/heads/main'", "pull_request", False),
        ("github.ref == 'refs/pull/1/merge'", "pull_request", None),
        ("github.ref == 'refs/pull/27/merge'", "pull_request", None),
        ("github.ref_name == '27/merge'", "pull_request", None),
        ("endsWith(github.ref, '2/merge')", "pull_request", None),
        ("contains(github.ref, 31)", "pull_request", None),
        ("contains(github.ref, '/merge')", "pull_request", True),
        ("startsWith(github.ref, 'refs/pull/')", "pull_request", True),
        ("github.ref == 'refs/heads/v1.2'", "pull_request", False),
        ("github.ref == 'refs/heads/main'", "\n  pull_request: { types: [closed] }", None),
        ("github.ref == 'refs/heads/main'", "\n  pull_request: { types: [labeled] }", None),
        ("github.ref == 'refs/heads/main'", "pull_request_target", None),
        ("github.ref == 'refs/heads/main'", "push", None),
        ("github.ref == 'refs/heads/main'", "\n  push: { branches: [main] }", True),
        ("github.ref_name == 'dev'", "\n  push: { branches: [main, next] }", False),
        ("github.ref == 'refs/heads/main'", "\n  push: { branches: ['main*'] }", None),
        ("startsWith(github.ref, 'refs/tags/')", "\n  push: { branches: [main] }", False),
        ("startsWith(github.ref, 'refs/tags/')", "\n  push: { branches: [main], tags: ['v*'] }", None),
        ("github.ref_type == 'tag'", "\n  push: { tags: [v1] }", True),
        ("github.base_ref == 'dev'", "\n  pull_request: { branches: [main] }", False),
        ("github.event.schedule == '0 3 * * *'", "\n  schedule: [{ cron: '0 4 * * *' }, { cron: '0 5 * * *' }]", False),
        ("github.event.schedule == '0 4 * * *'", "\n  schedule: [{ cron: '0 4 * * *' }, { cron: '0 5 * * *' }]", None),
        ("github.event.schedule == '0 4 * * *'", "push", False),
        ("github.repository == 'o/r'", "push", None),
        ("github.actor == 'a' || github.actor != 'a'", "push", True),
        ("secrets.TOKEN == '' || secrets.TOKEN != ''", "push", True),
        ("vars.X || !vars.X", "push", True),
        ("startsWith(github.actor, 'a') && !startsWith(github.actor, 'a')", "push", False),
        ("false", "push", False),
        ("true", "push", True),
        ("'false'", "push", True),
    ],
)
def test_a_condition_and_the_events_that_reach_it(
    graph_of: GraphOf, condition: str, on: str, value: bool | None
) -> None:
    written = condition if condition in ("true", "false") else f'"{condition}"'
    assert of_step(graph_of, written, on) is value


def test_text_around_the_braces_is_always_true(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": in_step("${{ github.event_name == 'schedule' }} && true")})
    judged = constant(graph, site(graph, "a.yml", "j", 1))
    assert judged.value is True
    assert lines(judged) == ["a.yml:8 `if: ${{ github.event_name == 'schedule' }} && true`"]


def test_what_cannot_be_read_is_not_judged(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": in_step("a ==")})
    assert constant(graph, site(graph, "a.yml", "j", 1)) == Constant(None)
    assert constant(graph, site(graph, "a.yml", "j", 0)) == Constant(None)


def test_a_step_is_judged_where_its_job_runs(graph_of: GraphOf) -> None:
    condition = "github.event_name == 'push'"
    both = "[push, schedule]"
    assert of_step(graph_of, condition, both) is None
    assert of_step(graph_of, condition, both, "    if: github.event_name == 'push'\n") is True
    assert of_step(graph_of, condition, both, "    if: github.event_name == 'schedule'\n") is False


def test_a_step_of_a_job_that_never_runs_is_not_judged(graph_of: GraphOf) -> None:
    assert of_step(graph_of, "github.event_name == 'push'", above="    if: github.event_name == 'schedule'\n") is None


def test_a_step_that_asks_for_what_its_job_excludes(graph_of: GraphOf) -> None:
    above = "    if: github.actor == 'a' || github.actor == 'b'\n"
    assert of_step(graph_of, "github.actor == 'c'", above=above) is False
    assert of_step(graph_of, "github.actor == 'b'", above=above) is None


# Inputs

DISPATCH = """
  workflow_dispatch:
    inputs:
      fast: { type: boolean, default: false }
      bare: { type: boolean }
      size: { type: choice, options: [small, big], default: small }
      ref: { type: string, default: main }
"""


@pytest.mark.parametrize(
    ("condition", "push", "value"),
    [
        ("inputs.fast", False, None),
        ("inputs.fast == true", False, None),
        ("inputs.fast == 'true'", False, False),  # a boolean equals no text but one that is its number
        ("github.event.inputs.fast", False, True),  # the text `false` is true
        ("github.event.inputs.bare", False, None),
        ("github.event.inputs.fast == 'true'", False, None),
        ("github.event.inputs.fast == true", False, False),
        ("inputs.size == 'huge'", False, False),
        ("inputs.size == 'big'", False, None),
        ("inputs.ref == 'main'", False, None),
        ("inputs.nobody == 'x'", False, False),
        ("github.event.inputs.nobody == 'x'", False, False),
        ("inputs.ref != ''", True, None),
        ("github.event_name == 'push' && inputs.ref != ''", True, False),
        ("github.event_name == 'push' && github.event.inputs.ref", True, False),
        ("github.event_name == 'push' && inputs.ref == null", True, None),
    ],
)
def test_inputs_of_a_dispatch(graph_of: GraphOf, condition: str, push: bool, value: bool | None) -> None:
    on = DISPATCH + ("  push:\n" if push else "")
    assert of_step(graph_of, f'"{condition}"', on) is value


def called(graph_of: GraphOf, kind: str, passed: str | None, condition: str, default: str | None = None) -> bool | None:
    declared = f"      x: {{ type: {kind}{'' if default is None else f', default: {default}'} }}\n"
    callee = in_step(f'"{condition}"', f"\n  workflow_call:\n    inputs:\n{declared}")
    caller = f"on:{DISPATCH}jobs:\n  c:\n    uses: ./.github/workflows/b.yml\n" + (
        "" if passed is None else f"    with:\n      x: {passed}\n"
    )
    graph = graph_of({"a.yml": caller, "b.yml": callee})
    return constant(graph, site(graph, "b.yml", "j", 1)).value


@pytest.mark.parametrize(
    ("kind", "passed", "condition", "value"),
    [
        ("boolean", "false", "inputs.x", False),
        ("boolean", "true", "inputs.x", True),
        ("boolean", None, "inputs.x", False),
        ("string", "false", "inputs.x", True),
        ("string", "false", "inputs.x == 'true'", False),
        ("string", "${{ false }}", "inputs.x", True),
        ("string", "${{ inputs.fast }}", "inputs.x", True),
        ("string", "${{ inputs.fast }}", "inputs.x == 'true'", None),
        ("string", "${{ inputs.fast }}", "inputs.x == true", False),
        ("string", "${{ github.event_name == 'push' }}", "inputs.x == 'false'", True),
        ("string", "${{ inputs.fast && 'a' || 'b' }}", "inputs.x == 'c'", False),
        ("string", "${{ inputs.fast && 'a' || 'b' }}", "inputs.x == 'b'", None),
        ("string", "${{ inputs.size }}", "inputs.x == 'huge'", False),
        ("string", "v-${{ inputs.size }}", "inputs.x == 'v-big'", None),
        ("string", "${{ github.event_name }}-x", "inputs.x == 'workflow_dispatch-x'", True),
        ("boolean", "${{ inputs.fast }}", "inputs.x", None),
        ("boolean", "${{ inputs.fast }}", "inputs.x == 'true'", False),
        ("boolean", "${{ github.event.inputs.fast }}", "inputs.x", None),
        ("boolean", "${{ inputs.fast || !inputs.fast }}", "inputs.x", True),
        ("number", None, "inputs.x == 0", True),
        ("number", "3", "inputs.x > 2", True),
        ("string", None, "inputs.x == ''", True),
        ("string", "${{ vars.X }}", "inputs.x == ''", None),
        ("string", "''", "inputs.x == 'd'", False),
    ],
)
def test_inputs_of_a_call(graph_of: GraphOf, kind: str, passed: str | None, condition: str, value: bool | None) -> None:
    assert called(graph_of, kind, passed, condition) is value


def test_one_input_is_one_thing_in_caller_and_called(graph_of: GraphOf) -> None:
    condition = "inputs.x == 'big' && inputs.x == 'small'"
    assert called(graph_of, "string", "${{ inputs.size }}", condition) is False
    assert called(graph_of, "string", "${{ inputs.size }}", "inputs.x == 'big' || inputs.x == 'small'") is True


@pytest.mark.parametrize(("default", "value"), [("main", True), ("false", None), ("'false'", None)])
def test_a_default_has_its_type(graph_of: GraphOf, default: str, value: bool | None) -> None:
    assert called(graph_of, "string", None, "inputs.x == 'main' || (inputs.x && github.actor)", default) is value


# Jobs

LABEL = "contains(github.event.pull_request.labels.*.name, 'bypass')"

BYPASS = f"""\
on: pull_request
jobs:
  lint:
    if: ${{{{ !{LABEL} }}}}
    runs-on: x
  build:
    needs: lint
    if: always()
    runs-on: x
  bypass:
    needs: build
    if: {LABEL}
    runs-on: x
  opened:
    needs: build
    if: always() && {LABEL}
    runs-on: x
"""


def test_a_bypass_that_a_skipped_ancestor_skips(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": BYPASS})
    bypass = site(graph, "a.yml", "bypass")
    assert constant(graph, bypass).value is None
    judged = runs(graph, bypass)
    assert judged.value is False
    said = lines(judged)
    assert any(one.startswith("a.yml:4 the job `lint` runs if") for one in said)
    assert said[-1].startswith("a.yml:12 `if: contains(")


def test_a_bypass_that_asks_for_no_status_can_run(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": BYPASS})
    assert runs(graph, site(graph, "a.yml", "opened")).value is None


CHAIN = """\
on: [pull_request, schedule]
jobs:
  a:
    if: github.event_name == 'pull_request'
    runs-on: x
  b:
    needs: a
    if: always()
    runs-on: x
  c:
    needs: b
    runs-on: x
  d:
    needs: [b]
    if: "!cancelled() && needs.b.result == 'success'"
    runs-on: x
  e:
    needs: c
    if: failure()
    runs-on: x
"""


@pytest.mark.parametrize(
    ("job", "scheduled", "ends"),
    [
        ("a", False, {"skipped"}),
        ("b", None, {"success", "failure", "cancelled"}),
        ("c", False, {"skipped"}),
        ("d", None, {"success", "failure", "cancelled", "skipped"}),
        ("e", None, {"success", "failure", "cancelled", "skipped"}),
    ],
)
def test_a_job_skipped_by_an_ancestor_above_one_that_ran(
    graph_of: GraphOf, job: str, scheduled: bool | None, ends: set[str]
) -> None:
    graph = graph_of({"a.yml": CHAIN})
    _, schedule = graph.scopes(path("a.yml"))
    one = site(graph, "a.yml", job)
    assert can_run(graph, one, schedule) is (True if job == "b" else scheduled)
    assert one.job is not None
    assert results(graph, schedule, one.job) == ends


def needing(needs: str, condition: str, others: str = "") -> str:
    return f'on: push\njobs:\n  a:\n    runs-on: x\n    outputs:\n      fixed: yes\n      found: ${{{{ steps.s.outputs.f }}}}\n    steps:\n      - id: s\n        run: x\n{others}  j:\n    runs-on: x\n{needs}    if: "{condition}"\n'


@pytest.mark.parametrize(
    ("needs", "condition", "value"),
    [
        ("    needs: a\n", "needs.a.result == 'success'", None),
        ("    needs: a\n", "success() && needs.a.result == 'success'", None),
        ("    needs: a\n", "success() && needs.a.result == 'failure'", False),
        ("    needs: a\n", "always() && needs.a.result == 'failure'", None),
        ("    needs: a\n", "success() || failure() || needs.a.result == 'cancelled'", True),
        ("    needs: a\n", "needs.a.result == 'skipped'", False),
        ("    needs: a\n", "needs.b.result == 'success'", False),
        ("    needs: a\n", "needs.A.Result != 'skipped'", True),
        ("", "needs.a.result == 'success'", False),
        ("", "failure()", False),
        ("", "success()", True),
        ("", "always()", True),
        ("", "cancelled()", None),
        ("    needs: a\n", "needs.a.outputs.fixed == 'yes'", True),
        ("    needs: a\n", "needs.a.outputs.fixed == 'no'", False),
        ("    needs: a\n", "needs.a.outputs.found == 'x'", None),
        ("    needs: a\n", "needs.a.outputs.nobody == 'x'", False),
        ("    needs: a\n", "needs.a.outputs.found == 'x' && needs.a.outputs.found == 'y'", False),
        ("    needs: a\n", "contains(needs.*.result, 'failure')", None),
        ("    needs: a\n", "contains(needs.*.result, 'skipped')", False),
        ("    needs: a\n", "toJSON(needs) == 'x'", None),
        ("    needs: a\n", "fromJSON(needs.a.outputs.found || '{}').key", None),
    ],
)
def test_what_a_job_knows_of_those_it_needs(graph_of: GraphOf, needs: str, condition: str, value: bool | None) -> None:
    graph = graph_of({"a.yml": needing(needs, condition)})
    assert constant(graph, site(graph, "a.yml", "j")).value is value


def test_an_output_of_a_skipped_job_is_empty(graph_of: GraphOf) -> None:
    source = """\
on: [push, schedule]
jobs:
  a:
    if: github.event_name == 'push'
    runs-on: x
    outputs: { fixed: 'yes' }
  j:
    needs: a
    if: always() && github.event_name == 'schedule' && needs.a.outputs.fixed == 'yes'
    runs-on: x
"""
    graph = graph_of({"a.yml": source})
    judged = constant(graph, site(graph, "a.yml", "j"))
    assert judged.value is False


def test_an_output_of_a_called_workflow_is_what_that_says(graph_of: GraphOf) -> None:
    callee = """\
on:
  workflow_call:
    inputs: { x: { type: string, default: d } }
    outputs:
      one: { value: "${{ jobs.w.outputs.o }}" }
      two: { value: "${{ inputs.x }}" }
jobs:
  w:
    runs-on: x
    outputs: { o: "${{ steps.s.outputs.o }}" }
    steps: [{ id: s, run: x }]
"""

    def judged(condition: str) -> bool | None:
        caller = f"on: push\njobs:\n  c:\n    uses: ./.github/workflows/b.yml\n  j:\n    needs: c\n    runs-on: x\n    if: {condition}\n"
        graph = graph_of({"a.yml": caller, "b.yml": callee})
        return constant(graph, site(graph, "a.yml", "j")).value

    assert judged("needs.c.outputs.one == 'x'") is None
    assert judged("needs.c.outputs.two == 'x'") is False
    assert judged("needs.c.outputs.two == 'd'") is True
    assert judged("needs.c.outputs.three") is False


def test_jobs_that_wait_for_each_other_end_and_are_not_known(graph_of: GraphOf) -> None:
    source = """\
on: push
jobs:
  a: { runs-on: x, needs: b, if: "needs.b.outputs.o == 'x'", outputs: { o: "${{ needs.b.outputs.o }}" } }
  b: { runs-on: x, needs: a, if: "needs.a.outputs.o == 'x'", outputs: { o: "${{ needs.a.outputs.o }}" } }
  c: { runs-on: x, needs: a, if: success() }
"""
    graph = graph_of({"a.yml": source})
    assert [constant(graph, site(graph, "a.yml", name)).value for name in "abc"] == [None, None, None]


# Steps


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("steps.first.outputs.x == 'y'", None),
        ("steps.first.outcome == 'skipped'", None),
        ("steps.first.conclusion == 'success' || steps.first.conclusion != 'success'", True),
        ("steps.first.outcome == 'failure' && steps.first.conclusion == 'success'", False),
        ("steps.lenient.outcome == 'failure' && steps.lenient.conclusion == 'success'", None),
        ("steps.second.outputs.x == 'y'", False),
        ("steps.later.outcome == 'success'", False),
        ("success() || failure() || cancelled()", True),
        ("success() && failure()", False),
        ("failure()", None),
        ("job.status == 'success' && failure()", False),
        ("always()", True),
        ("runner.os == 'Windows'", False),
        ("runner.os == 'Linux'", True),
        ("matrix.x == 'y'", False),
        ("env.X == 'y'", None),
        ("hashFiles('a') == ''", None),
        ("hashFiles('a') == '' || hashFiles('a') != ''", True),
    ],
)
def test_what_a_step_knows_of_those_before(graph_of: GraphOf, condition: str, value: bool | None) -> None:
    lenient = "      - id: lenient\n        run: x\n        continue-on-error: true\n"
    source = in_step(f'"{condition}"').replace("      - id: first", f"{lenient}      - id: first")
    graph = graph_of({"a.yml": source + "      - id: later\n        run: z\n"})
    assert constant(graph, site(graph, "a.yml", "j", 2)).value is value


@pytest.mark.parametrize(
    ("matrix", "condition", "value"),
    [
        ("py: ['3.11', '3.12']", "matrix.py == '3.13'", False),
        ("py: ['3.11', '3.12']", "matrix.py == '3.12'", None),
        ("gpu: [true, false]", "matrix.gpu", None),
        ("gpu: [true]", "matrix.gpu == true", True),
        ("gpu: ['false']", "matrix.gpu", True),
        ("n: [1, 2]", "matrix.n > 2", False),
        ("os: [{ name: a }, { name: b }]", "matrix.os.name == 'c'", False),
        ("py: [a], include: [{ py: b }, { x: y }]", "matrix.py == 'b'", None),
        ("py: [a], include: [{ py: a, x: y }]", "matrix.x == 'z'", False),
        ("py: [a], os: [u], include: [{ os: w }]", "matrix.py == 'a'", None),
        ("py: [a], include: [{ x: y }]", "matrix.py == 'a'", True),
        ("py: [a, b], exclude: [{ py: b }]", "matrix.py == 'a'", True),
        ("py: [a, b], os: [u, w], exclude: [{ py: b, os: w }]", "matrix.py == 'b'", None),
        ("py: [a, b], os: [u, w], exclude: [{ py: b, os: w }, { os: u, py: b }]", "matrix.py == 'b'", False),
        ("py: [a, b], exclude: [{ py: b }], include: [{ py: b }]", "matrix.py == 'a'", None),
        ("py: [3, 4], exclude: [{ py: '4' }]", "matrix.py == 3", None),
        ("py: [a, b], exclude: [{ py: '${{ vars.X }}' }]", "matrix.py == 'a'", None),
        ("py: [a, b], include: [{ x: y }]", "matrix.x == 'y'", True),
        ("py: [a, b], include: [{ py: a, x: y }, { py: b, x: y }]", "matrix.x == 'y'", True),
        ("py: [a, b], include: [{ py: a, x: y }]", "matrix.x == 'y'", None),
        ("py: [a, b], include: [{ x: y }, { py: a, x: z }]", "matrix.x == null", False),
        ("py: [a], include: [{ py: c, x: y }]", "matrix.x == 'y'", None),
        ("py: [a], include: [{ x: y }, { py: a, x: z }]", "matrix.x == 'y'", False),
        ("a: [1, 2, 3, 4, 5, 6, 7, 8, 9], b: [1, 2, 3, 4, 5, 6, 7, 8, 9], exclude: [{ a: 1 }]", "matrix.a == 1", False),
        ("py: [A], include: [{ py: a, x: z }]", "matrix.x == 'z'", None),
        ("include: [{ x: y }, { x: y }]", "matrix.x == 'y'", True),
        ("include: [{ x: y }, { z: y }]", "matrix.x == 'y'", None),
        ("py: '${{ fromJSON(inputs.a) }}'", "matrix.py == 'b'", None),
        ("py: ['${{ github.actor }}']", "matrix.py == 'b'", None),
    ],
)
def test_values_of_a_matrix(graph_of: GraphOf, matrix: str, condition: str, value: bool | None) -> None:
    assert of_step(graph_of, f'"{condition}"', above=f"    strategy: {{ matrix: {{ {matrix} }} }}\n") is value


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("run: x", True),
        ("run: echo X=1 >> $GITHUB_ENV", None),
        ("uses: o/a@v1", None),
        ("uses: actions/checkout@v4", True),
        ("run: ./set.sh", None),
        ("run: ./other.sh", True),
    ],
)
def test_an_environment_that_a_step_before_may_change(graph_of: GraphOf, first: str, value: bool | None) -> None:
    source = f"on: push\nenv: {{ X: 'false' }}\njobs:\n  j:\n    runs-on: x\n    steps:\n      - {first}\n      - if: env.X == 'false'\n        run: y\n"
    files = {"a.yml": source, "set.sh": "echo X=1 >> $GITHUB_ENV\n", "other.sh": "true\n"}
    graph = graph_of(files)
    assert constant(graph, site(graph, "a.yml", "j", 1)).value is value


def test_the_nearest_environment_counts_and_is_a_text(graph_of: GraphOf) -> None:
    source = """\
on: push
env: { A: w, B: w, C: w }
jobs:
  j:
    runs-on: x
    env: { B: j, C: j, D: false }
    steps:
      - env: { C: "${{ env.B }}" }
        if: env.A == 'w' && env.B == 'j' && env.C == 'j' && env.D
        run: y
"""
    graph = graph_of({"a.yml": source})
    assert constant(graph, site(graph, "a.yml", "j", 0)).value is True


# Actions of the repository

ACTION = """\
inputs:
  mode: { default: skip }
outputs:
  ref: { value: "${{ inputs.mode }}" }
runs:
  using: composite
  steps:
    - if: inputs.mode != 'skip'
      run: y
      shell: bash
"""


def uses(given: str = "", more: str = "") -> str:
    return f"on: push\njobs:\n  j:\n    runs-on: x\n    steps:\n      - id: u\n        uses: ./.github/t\n{given}{more}"


def test_an_input_of_an_action_that_no_step_passes(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": uses(), ".github/t/action.yml": ACTION})
    judged = constant(graph, site(graph, ".github/t/action.yml"))
    assert judged.value is False
    assert lines(judged) == [
        "a.yml:1 runs on `push`",
        "a.yml:7 calls .github/t/action.yml without `mode`",
        "action.yml:2 `mode` is `skip` by default",
        "action.yml:8 `if: inputs.mode != 'skip'`",
    ]
    graph = graph_of({"a.yml": uses("        with: { mode: '${{ github.actor }}' }\n"), ".github/t/action.yml": ACTION})
    assert constant(graph, site(graph, ".github/t/action.yml")).value is None


def test_an_action_that_other_repositories_can_use_is_not_judged(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": uses().replace(".github/t", "t"), "t/action.yml": ACTION})
    assert constant(graph, site(graph, "t/action.yml")).value is None
    assert graph.may_be_called_elsewhere("t/action.yml")


def test_an_output_of_an_action_is_what_that_says(graph_of: GraphOf) -> None:
    more = "      - if: steps.u.outputs.ref == 'main'\n        run: x\n"
    graph = graph_of({"a.yml": uses(more=more), ".github/t/action.yml": ACTION})
    assert constant(graph, site(graph, "a.yml", "j", 1)).value is False


# What else may be asked


def test_a_secret_arrives_only_where_it_is_passed_on(graph_of: GraphOf) -> None:
    def empty(passed: str) -> bool | None:
        caller = f"on: push\njobs:\n  c:\n    uses: ./.github/workflows/b.yml\n{passed}"
        graph = graph_of({"a.yml": caller, "b.yml": in_step("true", "workflow_call")})
        return holds(graph, site(graph, "b.yml", "j", 1), parse_expression("secrets.T == ''")).value

    assert empty("") is True
    assert empty("    secrets: inherit\n") is None
    assert empty("    secrets: { t: '${{ secrets.X }}' }\n") is None
    assert empty("    secrets: { U: '${{ secrets.X }}' }\n") is True


def test_a_very_long_chain_of_jobs_is_no_deep_recursion(graph_of: GraphOf) -> None:
    jobs = "  j0: { runs-on: x, if: github.event_name == 'schedule' }\n"
    jobs += "".join(
        f"  j{n}: {{ runs-on: x, needs: j{n - 1}, if: \"always() && needs.j{n - 1}.result == 'success'\" }}\n"
        for n in range(1, 300)
    )
    graph = graph_of({"a.yml": f"on: push\njobs:\n{jobs}"})
    assert runs(graph, site(graph, "a.yml", "j299")).value is False


def test_steps_of_a_very_long_job_are_no_deep_recursion(graph_of: GraphOf) -> None:
    steps = "".join(
        f"      - {{ id: s{n}, run: x, if: \"steps.s{n - 1}.outcome == 'success'\" }}\n" for n in range(300)
    )
    graph = graph_of({"a.yml": f"on: push\njobs:\n  j:\n    runs-on: x\n    steps:\n{steps}"})
    judged = [constant(graph, one).value for one in graph.sites() if one.step is not None]
    assert judged == [False] * 300


def test_a_part_of_a_condition_has_its_line(graph_of: GraphOf) -> None:
    source = "on: push\njobs:\n  j:\n    runs-on: x\n    if: |-\n      ${{ github.actor ||\n      github.job }}\n"
    graph = graph_of({"a.yml": source})
    condition = site(graph, "a.yml", "j").condition
    assert condition is not None
    assert isinstance(condition.expression, Logic)
    assert [place_in(condition, one.at).line for one in condition.expression.items] == [6, 7]


def test_any_expression_can_be_asked_at_a_place(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": in_step("true", "[push, schedule]")})
    one = site(graph, "a.yml", "j", 1)
    asked = parse_expression("github.event_name == 'push'")
    assert holds(graph, one, asked).value is None
    assert [holds(graph, one, asked, scope).value for scope in graph.scopes(path("a.yml"))] == [True, False]


def test_what_runs_in_too_many_ways_is_not_judged(graph_of: GraphOf) -> None:
    jobs = "".join(f"  j{n}:\n    uses: ./.github/workflows/install.yml\n" for n in range(300))
    graph = graph_of({"a.yml": f"on: push\njobs:\n{jobs}", "install.yml": INSTALL})
    judged = constant(graph, site(graph, "install.yml", "install", 1))
    assert (judged.value, judged.too_many) == (None, True)


def test_long_pipelines_end(graph_of: GraphOf) -> None:
    jobs = "  j0: { runs-on: x, if: github.actor == 'a' }\n"
    jobs += "".join(
        f"  j{n}: {{ runs-on: x, needs: [j{n - 1}], if: \"always() && needs.j{n - 1}.result != 'failure'\" }}\n"
        for n in range(1, 20)
    )
    graph = graph_of({"a.yml": f"on: [push, pull_request, schedule]\njobs:\n{jobs}"})
    judged = [runs(graph, one).value for one in graph.sites()]
    assert set(judged) == {None}


@pytest.mark.parametrize("first", ["both", "case"])
def test_what_one_question_found_is_not_taken_for_constant_by_the_next(graph_of: GraphOf, first: str) -> None:
    jobs = "  a: { runs-on: x, if: github.actor != 'bot' }\n"
    jobs += "  b: { runs-on: x, needs: a, if: needs.a.result == 'skipped' || github.actor == 'x' }\n"
    graph = graph_of({"a.yml": f"on: push\njobs:\n{jobs}"})
    here = Site(path("a.yml"), graph.job(path("a.yml"), "b"))
    trees = {
        "case": parse_expression("needs.a.result == 'skipped'"),
        "both": parse_expression(
            "((needs.a.result == 'skipped' || github.actor == 'x') && success()) && needs.a.result == 'skipped'"
        ),
    }
    answers = {name: holds(graph, here, trees[name]).value for name in (first, *trees)}
    assert answers == {"case": None, "both": False}


def test_how_a_job_ends_is_no_other_where_too_much_was_decided_before(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": "on: push\njobs:\n  j: { runs-on: x, if: github.event_name == 'push' }\n"})
    worn_out = graph.memo["decisions"] = Memo()
    worn_out.steps = -1
    (scope,) = graph.scopes(path("a.yml"))
    assert results(graph, scope, graph.repository.workflows[path("a.yml")].jobs["j"]) == {
        "success",
        "failure",
        "cancelled",
    }
