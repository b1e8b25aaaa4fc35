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
