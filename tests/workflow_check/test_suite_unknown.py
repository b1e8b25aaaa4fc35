"""Suites that workflows name and the manifest does not, and the other way round."""

from collections.abc import Callable

import pytest

RULE = "suite-unknown"
MANIFEST = """[project]
name = "x"
[dependencies.one]
url = "../one"
[images.gpu.baked.one]
path = "/opt/one"
[suites.stage-a-gpu]
image = "gpu"
[suites.stage-b-gpu]
image = "gpu"
"""


def workflow(command: str, matrix: str = "x: [1]") -> str:
    return (
        f"on: push\njobs:\n  a:\n    runs-on: gpu\n    strategy:\n      matrix:\n        {matrix}\n"
        f"    steps:\n      - run: {command}\n"
    )


def said(found: Callable, *texts: str, manifest: str = MANIFEST) -> list[tuple[str, str, int]]:
    files = {f"{'abc'[at]}.yml": text for at, text in enumerate(texts)} | {"regraft.toml": manifest}
    return [(one.severity, one.path.rpartition("/")[2], one.line) for one in found(files, RULE)]


@pytest.mark.parametrize(
    ("command", "matrix", "line"),
    [
        ("run.py --suite stage-a-gpus; run.py --suite stage-b-gpu; run.py --suite stage-a-gpu", "x: [1]", 9),
        ("run.py --suite=stage_c_gpu && run.py --suite=stage-b-gpu && run.py --suite stage-a-gpu", "x: [1]", 9),
        ("run.py --suite ${{ matrix.suite }}", "suite: [stage-a-gpu, stage-b-gpu, stage-b-cpu]", 7),
        (
            'run.py --suite "${{ matrix.suite }}"',
            "include: [{suite: stage-a-gpu}, {suite: stage-b-gpu}, {suite: other}]",
            7,
        ),
    ],
)
def test_a_suite_that_the_manifest_does_not_have_is_a_warning(
    command: str, matrix: str, line: int, found: Callable
) -> None:
    assert said(found, workflow(command, matrix)) == [("warning", "a.yml", line)]


def test_a_suite_that_no_workflow_names_is_a_note(found: Callable) -> None:
    assert said(found, workflow("run.py --suite stage-a-gpu")) == [("note", "regraft.toml", 9)]


@pytest.mark.parametrize(
    ("command", "matrix"),
    [
        ("run.py --suite stage-a-gpu; run.py --suite stage-b-gpu", "x: [1]"),
        ("run.py --suite ${{ matrix.s }}", "s: [stage-a-gpu, stage-b-gpu]"),
        ("run.py --suite $SUITE", "x: [1]"),
        ("run.py --suite ${{ matrix.s }}", "s: ${{ fromJSON(inputs.s) }}"),
        ("other --suite whatever", "x: [1]"),  # another program's: nothing here names a suite of the manifest
        ("make", "x: [1]"),
        ("run.py --suite-file none; run.py --suites none", "x: [1]"),
        ("run.py --suite stage-a-gpu; make stage-b-gpu", "x: [1]"),
    ],
)
def test_what_fits_or_is_not_known_is_silent(command: str, matrix: str, found: Callable) -> None:
    assert said(found, workflow(command, matrix)) == []


def test_without_suites_in_the_manifest_nothing_is_said(found: Callable) -> None:
    bare = MANIFEST.partition("[suites")[0]
    assert said(found, workflow("run.py --suite nonsense"), manifest=bare) == []


def test_what_a_caller_passes_is_followed(found: Callable) -> None:
    called = (
        "on:\n  workflow_call:\n    inputs:\n      suite: {type: string, required: true}\njobs:\n  run:\n    runs-on: gpu\n"
        "    steps:\n      - run: run.py --suite ${{ inputs.suite }}\n"
    )
    caller = (
        "on: push\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n    with: {suite: stage-a-gpu}\n"
        "  b:\n    uses: ./.github/workflows/b.yml\n    with: {suite: stage-b-gpux}\n"
    )
    assert said(found, caller, called) == [("warning", "a.yml", 8), ("note", "regraft.toml", 9)]


def test_the_nearest_is_offered(found: Callable) -> None:
    text = workflow("run.py --suite stage-a-gpus; run.py --suite stage-b-gpu; run.py --suite stage-a-gpu")
    [one] = found({"a.yml": text, "regraft.toml": MANIFEST}, RULE)
    assert one.fix is not None
    assert "`stage-a-gpu`" in one.fix
    assert one.column == 29
