"""Workflows and actions as values: every form that GitHub takes, and what is wrong with its place."""

import pytest

from regraft.core.expression_text import parse_expression
from regraft.core.workflow_text import read_action, read_workflow
from regraft.core.workflow_values import Action, Condition, Job, Step, Text, Value, Workflow


def workflow(source: str) -> Workflow:
    found = read_workflow("w.yml", source.encode())
    assert found.problems == ()
    return found


def problems(source: str) -> list[tuple[int, str]]:
    return [(one.place.line, one.message) for one in read_workflow("w.yml", source.encode()).problems]


def job(body: str) -> Job:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return workflow(f"on: push\njobs:\n  a:\n{lines}\n").jobs["a"]


def step(body: str) -> Step:
    first, *rest = body.splitlines()
    return job("\n".join(["steps:", f"  - {first}", *(f"    {line}" for line in rest)])).steps[0]


def written(values: dict[str, Value]) -> dict[str, str]:
    return {key: one.text.value for key, one in values.items()}


@pytest.mark.parametrize(
    ("source", "events"),
    [
        ("on: push", {"push": None}),
        ("'on': push", {"push": None}),
        ("on: [push, pull_request]", {"push": None, "pull_request": None}),
        (
            "on:\n  push:\n  pull_request:\n    types: [opened, labeled]",
            {"push": None, "pull_request": ("opened", "labeled")},
        ),
        ("on:\n  issue_comment:\n    types: created", {"issue_comment": ("created",)}),
        ("on:\n  schedule:\n    - cron: '0 3 * * *'", {"schedule": None}),
    ],
)
def test_events_in_each_form(source: str, events: dict[str, object]) -> None:
    assert {name: one.types for name, one in workflow(f"{source}\njobs: {{}}\n").events.items()} == events


def test_an_event_keeps_what_restricts_it() -> None:
    found = workflow("on:\n  push:\n    branches: [main]\n  schedule:\n    - cron: '0 3 * * *'\njobs: {}\n").events
    assert found["push"].data is not None
    assert found["push"].data.get("branches") is not None
    assert found["schedule"].place.line == 4
    assert found["schedule"].data is not None


def test_inputs_outputs_and_secrets_of_a_called_workflow() -> None:
    found = workflow("""\
on:
  workflow_call:
    inputs:
      mode:
        type: string
        default: "skip"
      fast:
        type: boolean
        required: true
      note:
    outputs:
      ref:
        value: ${{ jobs.a.outputs.ref }}
    secrets:
      TOKEN:
        required: true
  workflow_dispatch:
    inputs:
      size:
        type: choice
        options: [small, big]
        default: small
jobs: {}
""").events
    call, dispatch = found["workflow_call"], found["workflow_dispatch"]
    mode, fast, note = call.inputs["mode"], call.inputs["fast"], call.inputs["note"]
    assert (mode.type, mode.required, mode.place.line) == ("string", False, 4)
    assert mode.default is not None
    assert (mode.default.text.value, mode.default.text.place.line) == ("skip", 6)
    assert (fast.type, fast.required, fast.default) == ("boolean", True, None)
    assert (note.type, note.required, note.default) == (None, False, None)
    value = call.outputs["ref"].value
    assert value is not None
    assert [shape(one.expression) for one in value.parts] == [shape(parse_expression("jobs.a.outputs.ref"))]
    assert call.secrets["TOKEN"].required
    assert (dispatch.inputs["size"].type, dispatch.inputs["size"].options) == ("choice", ("small", "big"))


def test_a_default_that_is_an_empty_text_is_one_and_nothing_is_none() -> None:
    inputs = workflow(
        "on:\n  workflow_call:\n    inputs:\n      a:\n        default: ''\n      b:\n        default:\njobs: {}\n"
    )
    found = inputs.events["workflow_call"].inputs
    assert found["a"].default is not None
    assert found["a"].default.text.value == ""
    assert found["b"].default is None


@pytest.mark.parametrize(
    ("written", "names"), [("needs: b", ["b"]), ("needs: [b, c]", ["b", "c"]), ("needs:\n  - b", ["b"]), ("needs:", [])]
)
def test_what_a_job_needs(written: str, names: list[str]) -> None:
    assert [one.value for one in job(f"{written}\nruns-on: x").needs] == names


@pytest.mark.parametrize(
    ("written", "granted"),
    [
        ("permissions: read-all", "read-all"),
        ("permissions: {}", {}),
        ("permissions:", {}),
        ("permissions:\n  contents: read\n  id-token: write", {"contents": "read", "id-token": "write"}),
        ("name: x", None),
    ],
)
def test_permissions_in_each_form(written: str, granted: object) -> None:
    assert job(written).permissions == granted


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a == 'b'", "a == 'b'"),
        ("${{ a == 'b' }}", "a == 'b'"),
        ('"${{ !a }}"', "!a"),
        ("false", "false"),
        ("'true'", "true"),
        ("0", "0"),
        (">-\n  a ||\n  b", "a || b"),
        ("|\n  a ||\n  b\n", "a ||\nb\n"),
        ("|-\n  ${{ a ||\n  b }}\n", "a ||\nb"),
    ],
)
def test_a_condition_with_and_without_braces(written: str, meant: str) -> None:
    found = step(f"if: {written}\nrun: x").condition
    assert found is not None
    assert found.expression is not None
    assert not found.padded
    assert shape(found.expression) == shape(parse_expression(meant))


def shape(tree: object) -> object:
    """A tree without the places in it."""
    fields = getattr(tree, "__struct_fields__", None)
    if isinstance(tree, tuple):
        return [shape(one) for one in tree]
    return (
        tree if fields is None else (type(tree).__name__, [shape(getattr(tree, one)) for one in fields if one != "at"])
    )


@pytest.mark.parametrize(
    "written",
    [
        "${{ a }} && b",
        "x ${{ a }}",
        "'${{ a }} '",
        "|\n  ${{ a }}\n",
        ">\n  ${{ a }}\n",
        "${{ a }} && ${{ b }}",
        "'!${{ a }}'",
    ],
)
def test_text_around_the_braces_makes_a_condition_padded(written: str) -> None:
    found = step(f"if: {written}\nrun: x").condition
    assert found is not None
    assert (found.padded, found.expression) == (True, None)


@pytest.mark.parametrize("written", ["if:", "if: ''", "name: n"])
def test_a_condition_with_nothing_in_it_is_none(written: str) -> None:
    assert step(f"{written}\nrun: x").condition is None


def test_a_condition_of_several_lines_stands_on_its_lines() -> None:
    found = step("if: |\n  a ||\n  b\nrun: x").condition
    assert isinstance(found, Condition)
    assert found.text.line(found.text.value.index("b")) == 7


def test_a_job_with_steps() -> None:
    found = job("""\
runs-on: [self-hosted, gpu]
container: { image: x }
services: { db: { image: y } }
strategy:
  matrix:
    py: ['3.11', '3.12']
continue-on-error: ${{ matrix.py == '3.12' }}
defaults:
  run:
    shell: bash
    working-directory: sub
env:
  A: 1
  B:
outputs:
  ref: ${{ steps.s.outputs.ref }}
steps:
  - id: s
    name: Say ${{ matrix.py }}
    run: |
      echo one
      echo "${{ inputs.a }}"
    shell: sh
    working-directory: other
    env: { C: x }
    continue-on-error: true
  - uses: actions/checkout@v4
    with: { ref: main, fetch-depth: 0 }
""")
    assert written(dict(found.env)) == {"A": "1", "B": ""}
    assert written(dict(found.outputs)) == {"ref": "${{ steps.s.outputs.ref }}"}
    assert found.shell is not None
    assert found.working_directory is not None
    assert (found.shell.value, found.working_directory.text.value) == ("bash", "sub")
    assert found.continue_on_error is not None
    assert found.runs_on is None
    assert found.data.get("strategy", "matrix", "py") is not None
    first, second = found.steps
    assert first.run is not None
    assert first.shell is not None
    assert (first.index, first.id, first.shell.value, written(dict(first.env))) == (0, "s", "sh", {"C": "x"})
    assert [(one.literal, one.text.strip()) for one in first.run.parts] == [
        (True, 'echo one\necho "'),
        (False, "inputs.a"),
        (True, '"'),
    ]
    assert first.run.text.line(first.run.parts[1].at) == first.place.line + 4
    assert second.uses is not None
    assert (second.index, second.uses.value, written(dict(second.arguments))) == (
        1,
        "actions/checkout@v4",
        {"ref": "main", "fetch-depth": "0"},
    )


@pytest.mark.parametrize(
    ("line", "secrets"),
    [("secrets: inherit", "inherit"), ("secrets: { T: '${{ secrets.T }}' }", {"T": "${{ secrets.T }}"})],
)
def test_a_job_that_calls_a_workflow(line: str, secrets: object) -> None:
    found = job(f"uses: ./.github/workflows/b.yml\nwith:\n  mode: skip\n{line}")
    assert found.uses is not None
    assert (found.uses.value, written(dict(found.arguments))) == ("./.github/workflows/b.yml", {"mode": "skip"})
    assert (found.secrets if found.secrets == "inherit" else written(dict(found.secrets))) == secrets


def test_environment_whose_keys_nobody_knows() -> None:
    assert job("env: ${{ fromJSON(inputs.env) }}\nruns-on: x").env == {}


def test_a_composite_action() -> None:
    found = read_action(
        ".github/actions/build/action.yml",
        b"""\
name: Build
inputs:
  ref: { default: main }
outputs:
  where: { value: "${{ steps.s.outputs.where }}" }
runs:
  using: composite
  steps:
    - id: s
      run: make
      shell: bash
""",
    )
    assert isinstance(found, Action)
    assert (found.folder, found.problems) == (".github/actions/build", ())
    assert found.inputs["ref"].default is not None
    assert found.outputs["where"].value is not None
    assert [one.id for one in found.steps] == ["s"]


def test_an_action_at_the_top_that_runs_node() -> None:
    found = read_action("action.yml", b"runs: { using: node20, main: index.js }\n")
    assert (found.folder, found.steps, found.problems) == ("", (), ())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("- a\n", [(1, "a workflow is a mapping with `on` and `jobs`")]),
        ("jobs: {}\n", [(1, "No event triggers defined in `on`")]),
        ("on: push\n", [(1, "Required property is missing: jobs")]),
        ("on: push\njobs: [a]\n", [(2, "`jobs` is a mapping")]),
        ("on: push\njobs:\n  a: 1\n", [(3, "the job `a` is a mapping")]),
        ("on: push\njobs:\n  a:\n    steps: {}\n", [(4, "`steps` is a list")]),
        ("on: push\njobs:\n  a:\n    env: [x]\n", [(4, "`env` is a mapping")]),
        ("on: push\njobs:\n  a:\n    env: { X: [1] }\n", [(4, "`X` of `env` is a text")]),
        ("on: push\njobs:\n  a:\n    if: [x]\n", [(4, "`if` is an expression")]),
        ("on: push\njobs:\n  a:\n    steps:\n      - name: x\n", [(5, "a step has either `run` or `uses`")]),
    ],
)
def test_what_has_another_shape_is_said(source: str, found: list[tuple[int, str]]) -> None:
    assert problems(source) == found


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("on: push\nname: ${{ a b }}\njobs: {}\n", 2),
        ("on: push\nname: ${{ a\njobs: {}\n", 2),
        ("on: push\njobs:\n  a:\n    if: a ==\n", 4),
        ("on: push\njobs:\n  a:\n    if: ${{ a == }}\n", 4),
        ("on: push\njobs:\n  a:\n    if: ${{ a == }} x\n", 4),
        ("on: push\njobs:\n  a:\n    steps:\n      - run: |\n          one\n          ${{ a == }}\n", 7),
    ],
)
def test_an_expression_that_cannot_be_parsed_stands_where_it_is(source: str, line: int) -> None:
    (one,) = problems(source)
    assert one[0] == line


@pytest.mark.parametrize(
    "source",
    [b"", b"\xff", b"- " * 5000, b"a: &a [*a]", b"jobs: {a: &a {steps: [*a]}}", b"null", b"on:", b"on: {push: [*x]}"],
)
def test_anything_is_read_without_an_exception(source: bytes) -> None:
    assert isinstance(read_workflow("w.yml", source), Workflow)
    assert isinstance(read_action("action.yml", source), Action)


def test_texts_keep_how_they_were_written() -> None:
    found = step("run: x\nshell: 'bash {0}'").shell
    assert found is not None
    assert found == Text("bash {0}", found.place)
