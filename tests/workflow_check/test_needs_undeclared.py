"""Jobs, steps and outputs that are read and are not there."""

from collections.abc import Callable

import pytest

RULE = "needs-undeclared"

FIRST = "  first:\n    runs-on: x\n    outputs:\n      tag: ${{ steps.s.outputs.tag }}\n    steps:\n      - id: s\n        run: echo tag=1 >> $GITHUB_OUTPUT\n"
CALLED = "on:\n  workflow_call:\n    outputs:\n      digest:\n        value: ${{ jobs.a.outputs.digest }}\njobs:\n  a:\n    runs-on: x\n    outputs: {digest: x}\n    steps: []\n"


def jobs(second: str, steps: str = "      - run: make\n", first: str = FIRST) -> dict[str, str]:
    """After FIRST, `second` begins at line 10 of ci.yml, and `steps` at its line 14 where `second` has two lines."""
    text = f"on: push\njobs:\n{first}{second}    runs-on: x\n    steps:\n{steps}"
    return {"ci.yml": text, "called.yml": CALLED}


def steps(*lines: str) -> dict[str, str]:
    """The first line is line 6."""
    return {
        "ci.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n" + "".join(f"      {one}\n" for one in lines)
    }


NEEDS = "  second:\n    needs: first\n"
CALLS = "  first:\n    uses: ./.github/workflows/called.yml\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (jobs("  second:\n    needs: fist\n"), [("error", 11, "did you mean `first`?")]),
        (jobs("  second:\n    if: needs.first.result == 'success'\n"), [("error", 11, "add `first` to `needs` of the job `second`")]),
        (jobs(NEEDS, "      - run: echo ${{ needs.frist.outputs.tag }}\n"), [("error", 14, "did you mean `first`?")]),
        (jobs(NEEDS, "      - run: echo ${{ needs.first.outputs.tags }}\n"), [("error", 14, "did you mean `tag`?")]),
        (jobs(NEEDS, "      - run: echo ${{ needs.first.output.tag }}\n"), [("error", 14, "a job has `outputs` and `result`")]),
        (jobs(NEEDS, "      - run: echo ${{ needs.first.outputs.other || 'x' }}\n"), [("warning", 14, "add `other` to `outputs` of the job `first`")]),
        (jobs(NEEDS, "      - run: echo ${{ needs.first.outputs.digset }}\n", CALLS), [("error", 9, "did you mean `digest`?")]),
        ({"called.yml": CALLED.replace("jobs.a.outputs.digest", "jobs.a.outputs.diget")}, [("error", 5, "did you mean `digest`?")]),
        ({"called.yml": CALLED.replace("jobs.a.", "jobs.b.")}, [("error", 5, "did you mean `a`?")]),
        (steps("- id: one", "  run: make", "- run: echo ${{ steps.onne.outputs.x }}"), [("error", 8, "did you mean `one`?")]),
        (steps("- run: echo ${{ steps.one.outputs.x }}", "- id: one", "  run: make"), [("error", 6, "put the step `one` before it")]),
        (steps("- id: one", "  run: echo ${{ steps.one.outputs.x }}"), [("error", 7, "put the step `one` before it")]),
        (steps("- id: one", "  run: make", "- if: steps.one.result == 'success'", "  run: make"), [("error", 8, "a step has `outputs`, `outcome` and `conclusion`")]),
        (jobs(NEEDS, "      - run: echo ${{ steps.s.outputs.tag }}\n"), [("error", 14, "the step `s` is of the job `first`: pass its output through `outputs` and `needs`")]),
        ({"up/action.yml": "outputs:\n  o:\n    value: ${{ steps.b.outputs.o }}\nruns:\n  using: composite\n  steps:\n    - id: a\n      run: make\n      shell: bash\n"}, [("error", 3, "did you mean `a`?")]),
    ],
    ids=[
        *("no-job", "not-needed", "misspelt-job", "misspelt-output", "no-such-part", "with-default", "of-a-call"),
        *("called-output", "called-job", "misspelt-step", "later-step", "own-step", "step-part", "other-job", "action"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found(found: Callable, texts: dict, expected: list) -> None:
    assert [(one.severity, one.line, one.fix) for one in found(texts, RULE)] == expected


@pytest.mark.parametrize(
    "texts",
    [
        jobs(NEEDS, "      - run: echo ${{ needs.First.outputs.Tag }} ${{ needs.first.result }} ${{ needs['first'].outputs['tag'] }}\n"),
        jobs(NEEDS, "      - run: echo '${{ toJSON(needs) }}' ${{ needs.*.result }} ${{ needs.first.outputs[matrix.x] }}\n"),
        jobs(NEEDS, "      - run: echo ${{ needs.first.outputs.digest }}\n", CALLS),
        jobs(NEEDS, "      - run: echo ${{ needs.first.outputs.any }}\n", "  first:\n    uses: o/r/.github/workflows/x.yml@v1\n"),
        {"called.yml": CALLED},
        steps("- id: One", "  run: make", "- run: echo ${{ steps.one.outputs.x }} ${{ steps.ONE.outcome }} ${{ toJSON(steps) }}"),
        jobs("  second:\n    outputs: {x: '${{ steps.late.outputs.x }}'}\n", "      - run: make\n      - id: late\n        run: make\n"),
        jobs("  second:\n    environment: {url: '${{ steps.late.outputs.x }}'}\n", "      - id: late\n        run: make\n"),
        {"up/action.yml": "inputs:\n  a:\n    description: what ${{ steps.x.outputs.y }} and ${{ needs.z.result }} are for\nruns:\n  using: composite\n  steps: []\n"},
    ],
    ids=["names", "whole", "of-a-call", "called-elsewhere", "called", "steps", "outputs-see-all", "url-sees-all", "description"],
)  # fmt: skip
def test_what_is_there_or_may_be_is_not_a_finding(found: Callable, texts: dict) -> None:
    assert found(texts, RULE) == []


def test_a_job_that_is_waited_for_through_another_is_said_so(found: Callable) -> None:
    third = "  third:\n    needs: second\n    if: needs.first.outputs.tag\n    runs-on: x\n    steps: []\n"
    (one,) = found(jobs(NEEDS, "      - run: make\n" + third), RULE)
    assert "only through other jobs" in one.message


def circle(*jobs: str) -> dict[str, str]:
    """Jobs of two lines each, from line 3 on."""
    return {"ci.yml": "on: push\njobs:\n" + "".join(f"  {one}\n    runs-on: x\n" for one in jobs)}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (circle("a: \n    needs: a"), [(4, "the job `a` needs itself: GitHub refuses the file")]),
        (circle("a: \n    needs: A"), [(4, "the job `a` needs itself: GitHub refuses the file")]),
        (
            circle("a: \n    needs: [x, c]", "b: \n    needs: a", "c: \n    needs: b", "d: \n    needs: c", "x: "),
            [(4, "the jobs `a`, `c`, `b` wait for each other: GitHub refuses the file")],
        ),
        (
            circle("a: \n    needs: b", "b: \n    needs: a", "c: \n    needs: d", "d: \n    needs: c"),
            [
                (4, "the jobs `a`, `b` wait for each other: GitHub refuses the file"),
                (10, "the jobs `c`, `d` wait for each other: GitHub refuses the file"),
            ],
        ),
        (circle("a: ", "b: \n    needs: a", "c: \n    needs: [a, b]"), []),
    ],
    ids=["itself", "itself-in-another-case", "three-and-one-behind", "two-circles", "none"],
)
def test_jobs_that_wait_for_each_other(found: Callable, texts: dict, expected: list) -> None:
    """One finding for each circle; the line is that of `needs`, and its column that of the job that closes it."""
    assert [(one.line, one.message) for one in found(texts, RULE)] == expected
