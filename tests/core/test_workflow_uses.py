"""Which names a workflow reads, where, and what is read with them."""

from collections.abc import Callable, Mapping

import pytest

from regraft.core.workflow_graph import Graph
from regraft.core.workflow_uses import Use, place_of, uses

GraphOf = Callable[[Mapping[str, str]], Graph]
PATH = ".github/workflows/w.yml"

WORKFLOW = """\
on: push
run-name: ${{ github.actor }} ${{ inputs.Title }}
jobs:
  a:
    if: needs.b.result == 'success' && inputs['deploy']
    runs-on: x
    outputs:
      one: ${{ steps.s.outputs.one }}
    env:
      if: inputs.no
    steps:
      - id: s
        if: ${{ !env.SKIP }}
        run: |
          echo
          echo ${{ toJSON(needs) }} ${{ fromJSON(inputs.list)[0].name }}
      - run: make
        env:
          ONE: ${{ needs.*.outputs }} ${{ matrix[inputs.key].os }} ${{ github.event.commits[0].id }}
"""


@pytest.fixture
def read(graph_of: GraphOf) -> Callable[[str], list[Use]]:
    def of(text: str) -> list[Use]:
        return list(uses(graph_of({PATH: text}), PATH).all)

    return of


def test_every_name_is_found_with_the_key_that_it_stands_under(read: Callable) -> None:
    found = [(".".join(one.path), one.whole, one.keys[-1]) for one in read(WORKFLOW)]
    assert found == [
        ("github.actor", False, "run-name"),
        ("inputs.title", False, "run-name"),
        ("needs.b.result", False, "if"),
        ("inputs.deploy", False, "if"),
        ("steps.s.outputs.one", False, "one"),
        ("env.skip", False, "if"),
        ("needs", False, "run"),
        ("inputs.list", False, "run"),
        ("needs", True, "ONE"),
        ("matrix", True, "ONE"),
        ("inputs.key", False, "ONE"),
        ("github.event.commits.0.id", False, "ONE"),
    ]


def test_a_use_has_its_job_and_step_and_the_name_as_written(read: Callable) -> None:
    found = read(WORKFLOW)
    assert [one.step.index if one.step else None for one in found[4:8]] == [None, 0, 0, 0]
    assert (found[0].job, found[2].job.name, found[1].said) == (None, "a", "inputs.Title")


def test_places_are_those_of_the_names(graph_of: GraphOf) -> None:
    graph = graph_of({PATH: WORKFLOW})
    lines = WORKFLOW.split("\n")
    for one in uses(graph, PATH).all:
        place = place_of(graph, one)
        written = lines[place.line - 1][place.column - 1 :]
        assert written.lower().startswith(one.path[0]), (one.path, written)


def test_whoever_reads_an_object_reads_what_is_in_it(read: Callable) -> None:
    needs = [one for one in read(WORKFLOW) if one.path[0] == "needs"]
    assert [one.reads("needs", "c", "outputs", "x") for one in needs] == [False, True, True]
    assert needs[0].reads("needs", "b")


def test_an_expression_that_cannot_be_parsed_is_said(graph_of: GraphOf) -> None:
    graph = graph_of({PATH: "on: push\njobs:\n  a:\n    runs-on: x\n    name: ${{ a..b }}\n    steps: []\n"})
    unread = uses(graph, PATH).unread
    assert unread is not None
    assert unread.line == 5


def test_steps_of_an_action_are_read(graph_of: GraphOf) -> None:
    text = "outputs:\n  o:\n    value: ${{ steps.s.outputs.o }}\nruns:\n  using: composite\n  steps:\n    - if: inputs.x\n      run: make\n      shell: bash\n"
    found = uses(graph_of({"a/action.yml": text}), "a/action.yml").all
    assert [(".".join(one.path), one.step is not None) for one in found] == [
        ("steps.s.outputs.o", False),
        ("inputs.x", True),
    ]
