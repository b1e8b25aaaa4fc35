"""Scripts of workflows, with the shell in force and their places in the file."""

import pytest

from regraft.core.workflow_graph import Graph
from regraft.core.workflow_repository import Repository
from regraft.core.workflow_scripts import file_script, job_scripts, scripts
from regraft.core.workflow_text import read_action, read_workflow

PATH = ".github/workflows/a.yml"


def graph_of(text: str, **files: str) -> Graph:
    data = {PATH: text.encode(), **{name: one.encode() for name, one in files.items()}}
    return Graph(Repository({PATH: read_workflow(PATH, data[PATH])}, {}, frozenset(data), data.get))


def options(job: str, step: str = "") -> tuple[bool, bool] | None:
    found = scripts(graph_of(f"on: push\njobs:\n  a:\n    {job}\n    steps:\n    - run: 'true'\n{step}"))
    return (found[0].shell.errexit, found[0].shell.pipefail) if found else None


@pytest.mark.parametrize(
    ("job", "step", "expected"),
    [
        ("runs-on: ubuntu-latest", "", (True, False)),
        ("runs-on: ubuntu-latest", "      shell: bash", (True, True)),
        ("runs-on: ubuntu-latest", "      shell: sh", (True, False)),
        ("runs-on: ubuntu-latest", "      shell: bash {0}", (False, False)),
        ("runs-on: ubuntu-latest", "      shell: bash -l {0}", (False, False)),
        ("runs-on: ubuntu-latest", "      shell: bash -el {0}", (True, False)),
        ("runs-on: ubuntu-latest", "      shell: bash -leo pipefail {0}", (True, True)),
        ("runs-on: ubuntu-latest", "      shell: bash --noprofile -euxo pipefail {0}", (True, True)),
        ("runs-on: ubuntu-latest", "      shell: pwsh", None),
        ("runs-on: ubuntu-latest", "      shell: python", None),
        ("runs-on: ubuntu-latest", "      shell: ${{ matrix.shell }}", None),
        ("runs-on: windows-latest", "", None),
        ("runs-on: windows-latest", "      shell: bash", (True, True)),
        ("runs-on: [self-hosted, Windows]", "", None),
        ("container: alpine:3\n    runs-on: ubuntu-latest", "", (True, False)),
        ("defaults: {run: {shell: bash}}\n    runs-on: ubuntu-latest", "", (True, True)),
        ("defaults: {run: {shell: bash}}\n    runs-on: ubuntu-latest", "      shell: bash -e {0}", (True, False)),
        ("runs-on: ${{ matrix.os }}", "      if: runner.os == 'Windows'", None),
        ("runs-on: ${{ matrix.os }}", "", (True, False)),
    ],
)
def test_the_shell_in_force(job: str, step: str, expected: tuple[bool, bool] | None) -> None:
    assert options(job, step) == expected


def test_defaults_of_the_workflow_come_last() -> None:
    text = "on: push\ndefaults: {run: {shell: bash}}\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: 'true'\n"
    assert scripts(graph_of(text))[0].shell.pipefail


def test_a_job_with_a_container_has_sh() -> None:
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    container: debian\n    steps:\n    - run: 'true'\n"
    assert scripts(graph_of(text))[0].dialect == "sh"


def test_an_offset_is_a_place_in_the_file() -> None:
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: |\n        echo ${{ inputs.ä }} x\n        false\n    - run: ls\n"
    block, line = scripts(graph_of(text))
    at = block.data.index(b"x\n")
    assert (block.place(at).line, block.place(at).column) == (7, 30)
    assert block.place(block.data.index(b"false")).line == 8
    assert block.place(block.data.index(b"false")).column == 9
    assert (line.place(0).line, line.place(0).column) == (9, 12)
    assert block.text(0, at + 1) == "echo ${{ inputs.ä }} x"


def test_an_expression_is_a_variable_without_a_name() -> None:
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: echo ${{ 'a}}b' }}c\n"
    (script,) = scripts(graph_of(text))
    assert script.data == b"echo ${" + b"_" * 10 + b"}c"


def test_a_script_that_cannot_be_read_is_left_out() -> None:
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: if then (\n    - run: ls\n"
    graph = graph_of(text)
    assert [one.data for one in scripts(graph)] == [b"ls"]
    assert job_scripts(graph, PATH, graph.repository.workflows[PATH].jobs["a"]) == scripts(graph)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/bin/bash\ntrue\n", (False, False)),
        ("#!/bin/bash -e\ntrue\n", (True, False)),
        ("#!/usr/bin/env bash\nset -e\n", (False, False)),
        ("#!/usr/bin/env python3\nimport os\n", None),
    ],
)
def test_a_file_says_its_own_shell(text: str, expected: tuple[bool, bool] | None) -> None:
    found = file_script(graph_of("on: push\njobs: {}\n", **{"x.sh": text}), "x.sh", None)
    assert (None if found is None else (found.shell.errexit, found.shell.pipefail)) == expected


def test_actions_name_their_shell() -> None:
    text = "runs:\n  using: composite\n  steps:\n  - run: ls\n    shell: bash\n  - run: ls\n"
    action = read_action("act/action.yml", text.encode())
    graph = Graph(Repository({}, {"act": action}, frozenset(), {"act/action.yml": text.encode()}.get))
    assert [(one.path, one.shell.pipefail) for one in scripts(graph)] == [("act/action.yml", True)]
