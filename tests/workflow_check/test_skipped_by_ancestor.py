"""Jobs that are skipped in the case they were written for, and their neighbours that are not."""

from collections.abc import Callable

import pytest

RULE = "skipped-by-ancestor"
HEAD = "on: [push, pull_request, schedule]\njobs:\n"


def job(name: str, *, needs: str = "", condition: str = "") -> str:
    lines = [f"  {name}:", "    runs-on: x"]
    lines += [f"    needs: {needs}"] if needs else []
    lines += [f"    if: {condition}"] if condition else []
    return "\n".join([*lines, "    steps: [{run: make}]", ""])


ON_PULL = "github.event_name == 'pull_request'"


@pytest.mark.parametrize(
    ("jobs", "line"),
    [
        (job("a") + job("b", needs="a", condition="needs.a.result == 'failure'"), 9),
        (
            job("a", condition="github.actor != 'bot'")
            + job("b", needs="a", condition="needs.a.result == 'skipped' || github.actor == 'x'"),
            10,
        ),
        (job("a", condition=ON_PULL) + job("b", needs="a", condition="always()") + job("c", needs="b"), 12),
    ],
    ids=["written for a failure", "one alternative for a skip", "a far ancestor on other events"],
)
def test_a_job_that_is_skipped_where_it_was_meant_to_run_is_found(jobs: str, line: int, found: Callable) -> None:
    assert [(one.rule, one.severity, one.line) for one in found({"ci.yml": HEAD + jobs}, RULE)] == [
        (RULE, "error", line)
    ]


@pytest.mark.parametrize(
    "jobs",
    [
        job("a") + job("b", needs="a", condition="failure() && needs.a.result == 'failure'"),
        job("a") + job("b", needs="a", condition="always() && needs.a.result == 'failure'"),
        job("a", condition=ON_PULL) + job("b", needs="a"),
        job("a", condition=ON_PULL)
        + job("b", needs="a", condition="always()")
        + job("c", needs="b", condition="'!cancelled()'"),
        job("a") + job("b", needs="a", condition="needs.a.outputs.go == 'true'"),
        job("a") + job("b", needs="[a, nobody]", condition="needs.a.result == 'success'"),
    ],
    ids=[
        "failure()",
        "always()",
        "needs it directly",
        "does not imply success",
        "asks an output",
        "a name that is no job",
    ],
)
def test_a_job_that_runs_where_it_was_meant_to_is_not(jobs: str, found: Callable) -> None:
    assert found({"ci.yml": HEAD + jobs}, RULE) == []


BYPASS = "needs.gate.outputs.bypass"
GATE = """\
  gate:
    runs-on: x
    outputs: {bypass: "${{ steps.g.outputs.bypass }}"}
    steps: [{id: g, run: 'echo "bypass=$(python3 ask.py)" >> "$GITHUB_OUTPUT"'}]
"""


def stages(condition: str, *, gate: str = GATE, bypass: str = BYPASS) -> str:
    """Three jobs, each after the one before; what no program's output tells is one thing in all of them."""
    return (
        gate
        + job("a", needs="[gate]", condition=f"{bypass} != 'true'")
        + job("b", needs="[gate, a]", condition=condition.format(bypass, "a"))
        + job("c", needs="[gate, b]", condition=condition.format(bypass, "b"))
    )


LATE = "{} == 'true' || needs.{}.result == 'success'"


@pytest.mark.parametrize(
    "jobs",
    [
        stages(LATE),
        stages(LATE, gate=job("first") + GATE.replace("  gate:\n", "  gate:\n    needs: first\n")),
        stages(LATE, gate=GATE.replace("  gate:\n", "  gate:\n    if: github.actor != 'bot'\n")),
        stages(LATE, bypass="vars.BYPASS"),
    ],
    ids=["of a job", "of a job that waits", "of a job that may be skipped", "a variable"],
)
def test_a_bypass_of_which_nobody_knows_the_value_is_one_thing(jobs: str, found: Callable) -> None:
    lines = jobs.splitlines()
    late = [number for number, line in enumerate(lines, 3) if "== 'true' ||" in line]
    assert len(late) == 2
    assert [(one.severity, one.line) for one in found({"ci.yml": HEAD + jobs}, RULE)] == [
        ("error", number) for number in late
    ]


@pytest.mark.parametrize("status", ["always()", "'!cancelled()'", "'!failure()'"])
def test_such_a_bypass_opens_what_looks_at_no_ancestors_or_at_failures_only(status: str, found: Callable) -> None:
    condition = f'"{status.strip(chr(39))} && ({LATE})"'
    assert found({"ci.yml": HEAD + stages(condition)}, RULE) == []


@pytest.mark.parametrize(
    "condition",
    [
        "needs.gate.outputs.other == 'true' || needs.{1}.result == 'success'",
        "{} == 'false' || needs.{}.result == 'success'",
    ],
    ids=["another output", "the value with which it runs"],
)
def test_another_output_or_value_opens_it(condition: str, found: Callable) -> None:
    gate = GATE.replace("outputs: {", 'outputs: {other: "${{ steps.g.outputs.other }}", ')
    assert found({"ci.yml": HEAD + stages(condition, gate=gate)}, RULE) == []
