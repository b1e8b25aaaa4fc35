"""What runs in a case that a test names."""

from textwrap import dedent

import pytest

from regraft.core.workflow_case import Case, always_runs, can_run
from regraft.core.workflow_graph import Graph, Site
from regraft.core.workflow_repository import Repository
from regraft.core.workflow_text import read_workflow
from regraft.errors import InputError

STAGES = """
    on: {pull_request: , schedule: [{cron: "0 1 * * *"}]}
    jobs:
      a: {runs-on: x, steps: [{run: echo}]}
      b:
        needs: a
        if: ${{ !cancelled() && (needs.a.result == 'success' || contains(github.event.pull_request.labels.*.name, 'bypass')) }}
        runs-on: x
        steps: [{run: echo}]
      c:
        needs: b
        if: contains(github.event.pull_request.labels.*.name, 'bypass')
        runs-on: x
        steps: [{id: s, run: echo}, {id: after, if: failure(), run: echo}]
"""
GATE = """
    on: {pull_request: , workflow_call: {inputs: {mode: {type: string, default: skip}}}}
    jobs:
      job:
        runs-on: x
        steps:
          - {id: install, if: inputs.mode == 'install', run: echo}
          - {id: parse, if: github.event.pull_request.body != '', run: echo}
"""
ENTRY = """
    on: pull_request
    jobs: {call: {uses: ./.github/workflows/gate.yml}}
"""


def graph(**files: str) -> Graph:
    found = {}
    for name, text in files.items():
        path = f".github/workflows/{name}.yml"
        found[path] = read_workflow(path, dedent(text).encode())
    return Graph(Repository(found, {}, frozenset(found), lambda _: None))


def site(of: Graph, file: str, job: str, step: str | None = None) -> Site:
    path = f".github/workflows/{file}.yml"
    read = of.repository.workflows[path].jobs[job]
    return Site(path, read, next((one for one in read.steps if step and one.id == step), None))


def test_a_suite_that_runs_when_one_before_it_failed_and_a_label_is_set() -> None:
    stages = graph(stages=STAGES)
    failed = Case("pull_request", failed=("a",), labels=("bypass",))
    assert always_runs(stages, site(stages, "stages", "b"), failed)
    assert not can_run(stages, site(stages, "stages", "b"), Case("pull_request", failed=("a",), unlabelled=("bypass",)))
    assert always_runs(stages, site(stages, "stages", "b"), Case("schedule", succeeded=("a",)))


def test_a_suite_that_a_failed_ancestor_skips_whatever_label_is_set() -> None:
    stages = graph(stages=STAGES)
    failed = Case("pull_request", failed=("a",), labels=("bypass",))
    assert not can_run(stages, site(stages, "stages", "c"), failed)
    assert can_run(stages, site(stages, "stages", "c"), Case("pull_request", labels=("bypass",)))


def test_a_gate_that_a_body_can_open_and_one_that_it_cannot() -> None:
    calls = graph(gate=GATE.replace("pull_request: , ", ""), entry=ENTRY)
    assert can_run(calls, site(calls, "gate", "job", "parse"), Case("pull_request"))
    assert not can_run(calls, site(calls, "gate", "job", "install"), Case("pull_request"))


def test_an_expression_may_be_given() -> None:
    stages = graph(stages=STAGES)
    here = site(stages, "stages", "b")
    assert not can_run(stages, here, Case("schedule", when="needs.a.result == 'failure'"))
    assert always_runs(stages, here, Case("schedule", when="needs.a.result == 'success'"))
    assert not always_runs(stages, here, Case("schedule", "needs.a.result == 'success'", cancelled=True))


def test_what_cannot_be_is_no_answer() -> None:
    stages = graph(stages=STAGES)
    here = site(stages, "stages", "b")
    for case, said in (
        (Case("push"), "no push leads here"),
        (Case(failed=("z",)), "no job 'z'"),
        (Case(failed=("a",), succeeded=("a",)), "nothing of that kind"),
        (Case(when="needs.a.result =="), "nexpected"),
    ):
        with pytest.raises(InputError, match=said):
            can_run(stages, here, case)
