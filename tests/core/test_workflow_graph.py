"""The graph of a repository's workflows: every way in which a file comes to run, and what a job waits for."""

from collections.abc import Callable, Mapping

import pytest

from regraft.core.workflow_graph import DEEPEST, MOST, Graph, Scope

GraphOf = Callable[[Mapping[str, str]], Graph]

CALLED = """\
on:
  workflow_call:
jobs:
  work:
    runs-on: x
    steps:
      - run: make
"""


def path(name: str) -> str:
    return f".github/workflows/{name}"


def ways(graph: Graph, name: str) -> list[str]:
    """`event file > job > job` for each scope."""
    found = []
    for scope in graph.scopes(name if "/" in name else path(name)):
        names = [
            f"{one.job.name if one.job else ''}{'' if one.step is None else f'[{one.step.index}]'}"
            for one in scope.chain()[1:]
        ]
        found.append(" > ".join([f"{scope.event.name} {scope.entry.path.rpartition('/')[2]}", *names]))
    return found


def caller(name: str, on: str = "push") -> str:
    return f"on: {on}\njobs:\n  one:\n    uses: ./.github/workflows/{name}\n"


def test_an_entry_has_one_scope_for_each_event(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": "on: [push, pull_request]\njobs: {}\n"})
    assert ways(graph, "a.yml") == ["push a.yml", "pull_request a.yml"]
    assert [one.event.name for one in graph.entries()] == ["push", "pull_request"]


def test_a_called_workflow_has_one_for_each_chain(graph_of: GraphOf) -> None:
    graph = graph_of(
        {
            "a.yml": caller("b.yml", "[push, schedule]"),
            "b.yml": "on: workflow_call\njobs:\n  two:\n    uses: ./.github/workflows/c.yml\n  three:\n    uses: ./.github/workflows/c.yml\n",
            "c.yml": CALLED,
        }
    )
    assert ways(graph, "b.yml") == ["push a.yml > one", "schedule a.yml > one"]
    assert ways(graph, "c.yml") == [
        f"{event} a.yml > one > {job}" for event in ("push", "schedule") for job in ("two", "three")
    ]
    assert [(one.path, one.job.name if one.job else None) for one in graph.callers(path("c.yml"))] == [
        (path("b.yml"), "two"),
        (path("b.yml"), "three"),
    ]


def test_a_chain_says_the_lines_that_it_goes_through(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": "on:\n  push:\njobs:\n  one:\n    uses: ./.github/workflows/b.yml\n", "b.yml": CALLED})
    (scope,) = graph.scopes(path("b.yml"))
    assert [(one.path, one.line, one.message) for one in scope.witnesses()] == [
        (path("a.yml"), 2, "runs on `push`"),
        (path("a.yml"), 5, f"the job `one` calls {path('b.yml')}"),
    ]


def test_what_nobody_calls_may_be_called_from_other_repositories(graph_of: GraphOf) -> None:
    graph = graph_of({"b.yml": CALLED})
    (scope,) = graph.scopes(path("b.yml"))
    assert scope.is_open
    assert list(graph.entries()) == []


def test_a_call_by_a_repository_s_name_may_be_ours(graph_of: GraphOf) -> None:
    graph = graph_of(
        {
            "a.yml": caller("b.yml"),
            "c.yml": "on: push\njobs:\n  x:\n    uses: o/r/.github/workflows/b.yml@main\n",
            "b.yml": CALLED,
        }
    )
    assert ways(graph, "b.yml") == ["push a.yml > one", "workflow_call b.yml"] or ways(graph, "b.yml") == [
        "workflow_call b.yml",
        "push a.yml > one",
    ]
    assert graph.may_be_called_elsewhere(path("b.yml"))
    assert not graph.may_be_called_elsewhere(path("a.yml"))


def test_what_is_no_reusable_workflow_cannot_be_called(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": caller("b.yml"), "b.yml": "on: schedule\njobs: {}\n"})
    assert ways(graph, "b.yml") == ["schedule b.yml"]
    assert len(graph.callers(path("b.yml"))) == 1


ACTION = "runs:\n  using: composite\n  steps:\n    - run: make\n      shell: bash\n"


def test_an_action_has_a_scope_for_each_step_that_uses_it(graph_of: GraphOf) -> None:
    graph = graph_of(
        {
            "a.yml": "on: push\njobs:\n  j:\n    runs-on: x\n    steps:\n      - run: x\n      - uses: ./tools/one\n      - uses: ./tools/one/\n",
            "tools/one/action.yml": "runs:\n  using: composite\n  steps:\n    - uses: ./tools/two\n",
            "tools/two/action.yml": ACTION,
        }
    )
    assert ways(graph, "tools/one/action.yml") == ["push a.yml > j[1]", "push a.yml > j[2]"]
    assert ways(graph, "tools/two/action.yml") == ["push a.yml > j[1] > j[0]", "push a.yml > j[2] > j[0]"]
    outer, _ = graph.scopes("tools/one/action.yml")
    entry = outer.caller
    assert isinstance(entry, Scope)
    assert outer.job is not None
    assert outer.step is not None
    assert graph.child(entry, outer.job, outer.step) is outer
    assert outer.witnesses()[-1].line == 7


def test_calls_in_a_circle_end(graph_of: GraphOf) -> None:
    graph = graph_of({"a.yml": caller("b.yml", "[push, workflow_call]"), "b.yml": caller("a.yml", "workflow_call")})
    assert ways(graph, "a.yml") == ["push a.yml"]
    assert ways(graph, "b.yml") == ["push a.yml > one"]


def test_a_chain_that_is_too_long_ends(graph_of: GraphOf) -> None:
    files = {f"{n}.yml": caller(f"{n + 1}.yml", "workflow_call" if n else "push") for n in range(30)}
    graph = graph_of(files)
    assert [len(graph.scopes(path(f"{n}.yml"))) for n in (0, DEEPEST, DEEPEST + 1)] == [1, 1, 0]


def test_a_file_that_runs_in_very_many_ways_is_crowded_and_so_is_what_it_calls(graph_of: GraphOf) -> None:
    jobs = "".join(f"  j{n}:\n    uses: ./.github/workflows/NEXT\n" for n in range(20))
    files = {
        f"{n}.yml": f"on: {'workflow_call' if n else 'push'}\njobs:\n{jobs}".replace("NEXT", f"{n + 1}.yml")
        for n in range(6)
    }
    graph = graph_of({**files, "6.yml": CALLED, "7.yml": CALLED})
    assert [graph.is_crowded(path(f"{n}.yml")) for n in range(8)] == [False, False, True, True, True, True, True, False]
    assert all(len(graph.scopes(path(f"{n}.yml"))) <= MOST for n in range(7))


NEEDS = """\
on: push
jobs:
  a: { runs-on: x }
  b: { runs-on: x, needs: a }
  c: { runs-on: x, needs: [B, nobody] }
  d: { runs-on: x, needs: [c, a] }
  e: { runs-on: x, needs: f }
  f: { runs-on: x, needs: e }
"""


@pytest.mark.parametrize(
    ("job", "ancestors", "dependents"),
    [
        ("a", [], ["b", "c", "d"]),
        ("b", ["a"], ["c", "d"]),
        ("c", ["b", "a"], ["d"]),
        ("d", ["c", "a", "b"], []),
        ("e", ["f"], ["f"]),
    ],
)
def test_a_job_waits_for_all_its_ancestors(
    graph_of: GraphOf, job: str, ancestors: list[str], dependents: list[str]
) -> None:
    graph = graph_of({"a.yml": NEEDS})
    one = graph.repository.workflows[path("a.yml")].jobs[job]
    assert [found.name for found in graph.ancestors(path("a.yml"), one)] == ancestors
    assert [found.name for found in graph.dependents(path("a.yml"), one)] == dependents


def test_jobs_come_in_an_order_that_their_needs_allow(graph_of: GraphOf) -> None:
    graph = graph_of(
        {"a.yml": NEEDS.replace("  a: { runs-on: x }\n", "") + "  a: { runs-on: x }\n  g: { runs-on: x, needs: e }\n"}
    )
    assert [one.name for one in graph.in_order(path("a.yml"))] == ["a", "b", "c", "d"]
    jobs = graph.repository.workflows[path("a.yml")].jobs
    assert [name for name, one in jobs.items() if graph.is_circular(path("a.yml"), one)] == ["e", "f", "g"]


@pytest.mark.slow
def test_a_file_of_very_many_jobs_is_left_alone(graph_of: GraphOf) -> None:
    jobs = "".join(f"  j{n}: {{ needs: [j{n - 1}, no{n}] }}\n" for n in range(10_000))
    graph = graph_of({"a.yml": f"on: push\njobs:\n{jobs}"})
    assert graph.is_crowded(path("a.yml"))
    assert len(graph.in_order(path("a.yml"))) == 10_000


def test_sites_are_all_jobs_and_steps(graph_of: GraphOf) -> None:
    graph = graph_of(
        {
            "a.yml": "on: push\njobs:\n  j:\n    if: x\n    runs-on: x\n    steps:\n      - if: y\n        run: z\n",
            "t/action.yml": ACTION,
        }
    )
    sites = list(graph.sites())
    assert [(one.path, one.job.name if one.job else None, one.step.index if one.step else None) for one in sites] == [
        (path("a.yml"), "j", None),
        (path("a.yml"), "j", 0),
        ("t/action.yml", None, 0),
    ]
    assert [one.condition.text.value if one.condition else None for one in sites] == ["x", "y", None]
    assert [one.place.line for one in sites] == [4, 7, 4]
