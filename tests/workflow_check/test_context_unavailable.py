"""Expressions at keys where GitHub refuses what they use: labelled by its table of contexts."""

from collections.abc import Callable

import pytest

RULE = "context-unavailable"


def job(*lines: str, top: str = "") -> dict[str, str]:
    return {"ci.yml": f"on: push\n{top}jobs:\n  a:\n" + "".join(f"    {one}\n" for one in lines)}


RUNS = ("runs-on: x", "steps: [{run: make}]")


def action(line: str) -> dict[str, str]:
    return {"up/action.yml": f"runs:\n  using: composite\n  steps:\n    - {line}\n      shell: bash\n"}


@pytest.mark.parametrize(
    ("texts", "line", "column", "fix"),
    [
        (job("if: env.X", *RUNS), 4, 9, "it can use `github`, `inputs`, `needs`, `vars`"),
        (job("if: ${{ matrix.x == 1 }}", *RUNS), 4, 13, "it can use `github`, `inputs`, `needs`, `vars`"),
        (job("runs-on: x", "steps: [{run: make, if: secrets.TOKEN}]"), 5, 29, None),
        (job("runs-on: ${{ env.RUNNER }}", "steps: [{run: make}]"), 4, 18, None),
        (job("env: {X: '${{ runner.os }}'}", *RUNS), 4, 19, None),
        (job("env: {X: \"${{ hashFiles('x') }}\"}", *RUNS), 4, 19, "use it in a step"),
        (job("runs-on: x", "steps: [{run: 'echo ${{ failure() }}'}]"), 5, 29, "ask for it in an `if`"),
        (job("runs-on: x", "steps: [{run: make, if: success('b')}]"), 5, 29, "ask for it in an `if`"),
        (job("if: gihub.ref == 'x'", *RUNS), 4, 9, "did you mean `github`?"),
        (job("uses: ./.github/workflows/b.yml", "with: {x: '${{ env.X }}'}"), 5, 20, None),
        (job(*RUNS, top="env: {X: '${{ env.Y }}'}\n"), 2, 15, None),
        (job("runs-on: x", "steps: [{uses: 'actions/checkout@${{ github.sha }}'}]"), 5, 20, None),
        (action("run: echo ${{ secrets.TOKEN }}"), 4, 21, None),
        (action("run: echo ${{ vars.X }}"), 4, 21, None),
    ],
)
def test_what_github_refuses(texts: dict[str, str], line: int, column: int, fix: str | None, found: Callable) -> None:
    (finding,) = found(texts, RULE)
    assert (finding.severity, finding.line, finding.column) == ("error", line, column)
    assert finding.message.startswith("GitHub refuses this file: ")
    assert fix is None or finding.fix == fix


def test_one_finding_for_a_context_in_an_expression(found: Callable) -> None:
    assert len(found(job("if: env.X == '1' || env.X == '2' || matrix.y", *RUNS), RULE)) == 2


@pytest.mark.parametrize(
    "texts",
    [
        job("if: always() && needs.b.result == vars.X && inputs.y", *RUNS),
        job(
            "runs-on: ${{ matrix.os }}", "strategy: {matrix: {os: '${{ fromJSON(vars.ALL) }}'}}", "steps: [{run: make}]"
        ),
        job(
            "runs-on: x", "steps: [{run: 'echo ${{ hashFiles(1) }} ${{ secrets.A }}', if: \"hashFiles('x') && env.Y\"}]"
        ),
        job("uses: ./.github/workflows/b.yml", "with: {x: '${{ matrix.x }}'}", "secrets: {y: '${{ secrets.Y }}'}"),
        job("runs-on: x", "environment: {name: a, url: '${{ steps.b.outputs.c }}'}", "steps: [{run: make}]"),
        job("runs-on: x", "env: {if: '${{ secrets.X }}', run: '${{ needs.b.result }}'}", "steps: [{run: make}]"),
        job(*RUNS, top="concurrency: ${{ github.ref }}\nrun-name: ${{ inputs.x }}\n"),
        action("run: echo ${{ inputs.x }} ${{ env.Y }} ${{ runner.os }} ${{ hashFiles('x') }}"),
        action("run: make\n      if: failure() && steps.x.outcome == 'failure'"),
    ],
)
def test_what_github_takes(texts: dict[str, str], found: Callable) -> None:
    assert found(texts, RULE) == []
