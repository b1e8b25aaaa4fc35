"""Names of workflows that a `workflow_run` waits for."""

from collections.abc import Callable

import pytest

RULE = "workflow-run-unknown"


def after(names: str, **others: str) -> dict[str, str]:
    """`names` stands in line 3 of report.yml; other files by their stem, with their names."""
    jobs = "jobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n"
    files = {f"{stem}.yml": f"{name}on: push\n{jobs}" for stem, name in others.items()}
    return {"report.yml": f"on:\n  workflow_run:\n    workflows: {names}\n{jobs}", **files}


CI = {"ci": "name: Test suites\n", "docs": ""}


@pytest.mark.parametrize(
    ("names", "severity", "fix"),
    [
        ("[Test suite]", "error", "write `Test suites`"),
        ("Tests suites", "error", "write `Test suites`"),
        ("[ci.yml]", "error", "write `Test suites`"),
        ("[docs.yml]", "error", "write `.github/workflows/docs.yml`"),
        ("[Deploy]", "warning", "write the `name` of a workflow, or take it out"),
        ("[Test suites, Test suite]", "warning", "write `Test suites`"),
    ],
)
def test_a_name_that_no_workflow_has_is_found(names: str, severity: str, fix: str, found: Callable) -> None:
    """https://github.com/magma/magma/issues/14462"""
    (one,) = found(after(names, **CI), RULE)
    assert (one.severity, one.line, one.fix) == (severity, 3, fix)


@pytest.mark.parametrize(
    "texts",
    [
        after("[Test suites]", **CI),
        after("test suites", **CI),
        after("[.github/workflows/docs.yml]", **CI),
        after("[pages-build-deployment, CodeQL]", **CI),
        after("['Test*']", **CI),
        after("[Test suite]", ci="name: Test suites\nname: again\n"),
    ],
    ids=["there", "in another case", "a path", "of GitHub", "a pattern", "a file that cannot be read"],
)
def test_a_name_that_is_there_or_may_be_is_not(texts: dict, found: Callable) -> None:
    assert [one for one in found(texts, RULE) if one.rule == RULE] == []
