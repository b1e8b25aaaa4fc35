"""Shards that nobody runs, and jobs for shards that are not there."""

from collections.abc import Callable

import pytest

RULE = "matrix-shards"


def workflow(command: str, matrix: str, *, env: str = "") -> str:
    lines = ["on: push", "jobs:", "  suite:", "    runs-on: gpu", "    strategy:", "      matrix:", f"        {matrix}"]
    lines += ["    steps:", "      - name: Run"]
    lines += [f"        env: {env}"] if env else []
    return "\n".join([*lines, "        run: |", *(f"          {one}" for one in command.splitlines()), ""])


def said(found: Callable, *texts: str) -> list[tuple[str, str]]:
    files = {f"{'abc'[at]}.yml": text for at, text in enumerate(texts)}
    return [(one.severity, one.path.rpartition("/")[2]) for one in found(files, RULE)]


PARTS = "run_suite.py --suite all --auto-partition-id ${{ matrix.part }} --auto-partition-size 4"


@pytest.mark.parametrize(
    ("command", "matrix"),
    [
        (PARTS, "part: [0, 1, 2]"),
        (PARTS, "part: [0, 1, 2, 3, 4]"),
        (PARTS, "part: [1, 2, 3, 4]"),
        (PARTS, "part: [0, 1, 3]"),
        (PARTS.replace("partition-size 4", "partition-size=4").replace(" --auto", " \\\n  --auto"), "part: [0, 1]"),
        ("pytest --splits 4 --group ${{ matrix.g }}", "g: [1, 2, 3]"),
        ("pytest --splits 4 --group ${{ matrix.g }}", "g: [0, 1, 2, 3]"),
        ("pytest --shard-id=${{ matrix.s }} --num-shards=4", "s: [0, 1, 2]"),
        ("npx playwright test --shard=${{ matrix.s }}/4", "s: [1, 2, 3]"),
        ("npx jest --shard ${{ matrix.s }}/${{ matrix.n }}", "{s: [1, 2, 3], n: [4]}"),
        ("cargo nextest run --partition hash:${{ matrix.s }}/3", "s: [1, 2]"),
        (
            "FOO=1 tests --shard-index ${{ matrix.s }} --shard-count 3 && echo",
            "include: [{s: 0, os: a}, {s: 1, os: b}]",
        ),
        ("tests --test-group-count 3 --test-group=${{ matrix.s }}", "s: [0, 1, 2]"),
    ],
)
def test_a_matrix_of_another_length_is_an_error(command: str, matrix: str, found: Callable) -> None:
    assert said(found, workflow(command, matrix)) == [("error", "a.yml")]


@pytest.mark.parametrize(
    ("command", "matrix"),
    [
        (PARTS, "part: [0, 1, 2, 3]"),
        (PARTS, "part: ['0', '1', '2', '3']"),
        (PARTS, "part: [3, 2, 1, 0]"),
        (PARTS, "{part: [0, 1, 2, 3], os: [a, b]}"),
        (PARTS, "{part: [0, 1, 2], include: [{part: 3}]}"),
        (PARTS, "part: ${{ fromJSON(needs.a.outputs.parts) }}"),
        (PARTS.replace(" 4", " ${{ strategy.job-total }}"), "part: [0, 1]"),
        (PARTS.replace(" 4", " $N"), "part: [0, 1]"),
        ("pytest --splits 4 --group ${{ matrix.g }}", "g: [1, 2, 3, 4]"),
        ("pytest --shard-id=${{ matrix.s }} --num-shards=4", "s: [0, 1, 2, 3]"),
        ("own --shard-id=${{ matrix.s }} --num-shards=4", "s: [1, 2, 3, 4]"),
        ("npx playwright test --shard=${{ matrix.s }}/4", "s: [1, 2, 3, 4]"),
        ("npx jest --shard ${{ matrix.s }}/${{ matrix.n }}", "include: [{s: 1, n: 2}, {s: 2, n: 2}, {s: 1, n: 1}]"),
        ("# run --auto-partition-id ${{ matrix.s }} --auto-partition-size 4", "s: [0, 1]"),
        ("tool --id ${{ matrix.s }} --size 4", "s: [0, 1]"),
        ("tool --group ${{ matrix.s }}\nother --splits 4", "s: [a, b]"),
        ("tool --shard ${{ matrix.s }}/4", "s: [a, b]"),
        ("git clone o/${{ matrix.s }}/4", "s: [1, 2]"),
        ("run --auto-partition-id 2 --auto-partition-size 4", "s: [0, 1]"),
    ],
)
def test_a_matrix_that_fits_or_is_not_known_is_silent(command: str, matrix: str, found: Callable) -> None:
    assert said(found, workflow(command, matrix)) == []


def test_one_shard_alone_may_be_meant(found: Callable) -> None:
    assert said(found, workflow(PARTS, "part: [0]")) == [("warning", "a.yml")]


def test_what_comes_by_the_environment_is_followed(found: Callable) -> None:
    command = 'run_suite.py --auto-partition-id "$PART" --auto-partition-size "${SIZE}"'
    env = '{PART: "${{ matrix.part }}", SIZE: 4}'
    assert said(found, workflow(command, "part: [0, 1, 2]", env=env)) == [("error", "a.yml")]
    assert said(found, workflow(command, "part: [0, 1, 2, 3]", env=env)) == []


def test_an_environment_that_tells_a_program_its_shard(found: Callable) -> None:
    env = '{GTEST_SHARD_INDEX: "${{ matrix.s }}", GTEST_TOTAL_SHARDS: 3}'
    assert said(found, workflow("ctest", "s: [0, 1]", env=env)) == [("error", "a.yml")]
    assert said(found, workflow("ctest", "s: [0, 1, 2]", env=env)) == []


def test_jobs_that_share_the_shards_of_one_suite_are_silent(found: Callable) -> None:
    one = workflow(PARTS, "part: [0, 1]")
    other = one.partition("jobs:\n")[2].replace("suite:", "more:").replace("[0, 1]", "[2, 3]")
    assert said(found, one + other) == []
    assert said(found, one + other.replace("--suite all", "--suite other")) == [("error", "a.yml"), ("error", "a.yml")]


def test_a_step_that_is_not_for_each_of_them_is_silent(found: Callable) -> None:
    text = workflow(PARTS, "{part: [0, 1], os: [a, b]}")
    assert said(found, text.replace("        run:", "        if: matrix.os == 'a'\n        run:")) == []
    assert said(found, text.replace("        run:", "        if: always()\n        run:")) == [("error", "a.yml")]


CALLED = """on:
  workflow_call:
    inputs:
      part: {type: string, required: true}
      parts: {type: string, default: '4'}
jobs:
  run:
    runs-on: gpu
    steps:
      - run: run_suite.py --auto-partition-id ${{ inputs.part }} --auto-partition-size ${{ inputs.parts }}
"""


def caller(parts: str, given: str) -> str:
    return (
        f"on: push\njobs:\n  stage:\n    strategy:\n      matrix:\n        part: {parts}\n"
        f"    uses: ./.github/workflows/b.yml\n    with: {{part: '${{{{ matrix.part }}}}'{given}}}\n"
    )


def test_what_a_caller_passes_is_followed(found: Callable) -> None:
    assert said(found, caller("[0, 1, 2]", ", parts: 4"), CALLED) == [("error", "a.yml")]
    assert said(found, caller("[0, 1, 2, 3]", ", parts: 4"), CALLED) == []
    assert said(found, caller("[0, 1, 2]", ", parts: 3"), CALLED) == []


def test_a_default_is_followed_and_each_caller_stands_for_itself(found: Callable) -> None:
    both = (caller("[0, 1, 2, 3]", ""), CALLED, caller("[0, 1]", ""))
    assert said(found, *both) == [("error", "c.yml")]


def test_the_finding_says_what_is_missing_and_where(found: Callable) -> None:
    [one] = found({"a.yml": workflow(PARTS, "part: [0, 1, 3]")}, RULE)
    assert "`2`" in one.message
    assert (one.line, one.column) == (7, 9)
    assert [(witness.path, witness.line) for witness in one.witnesses] == [(".github/workflows/a.yml", 11)]
