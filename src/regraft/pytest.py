"""The pytest plugin: run the steps of workflows in tests, in place of matching strings in YAML.

It costs a test run that does not use it nothing but this file: everything else is imported by the fixtures.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from regraft.workflow_override import Override, OverrideProperties
    from regraft.workflow_testing import Answer, Call, JobResult, Runs, StepResult, Stub, Workflows, commit_of

__all__ = [
    "Answer",
    "Call",
    "JobResult",
    "Override",
    "OverrideProperties",
    "Runs",
    "StepResult",
    "Stub",
    "Workflows",
    "commit_of",
]

_OVERRIDE = ("Override", "OverrideProperties")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - only who asks for it pays

    module = "regraft.workflow_override" if name in _OVERRIDE else "regraft.workflow_testing"
    return getattr(importlib.import_module(module), name)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("regraft")
    group.addoption(
        "--workflows-root", metavar="DIR", help="the repository whose workflows are tested (default: rootdir)"
    )


@pytest.fixture(scope="session")
def workflows(request: pytest.FixtureRequest) -> "Workflows":
    """The workflows of the repository."""
    from pathlib import Path  # noqa: PLC0415

    from regraft.cli.workflow_ports import Workflows  # noqa: PLC0415

    return Workflows(Path(request.config.getoption("--workflows-root") or request.config.rootpath))


@pytest.fixture
def workflow_runs(request: pytest.FixtureRequest, workflows: "Workflows", tmp_path_factory: Any) -> "Runs":
    """Runs jobs and makes upstreams; a failed test shows what ran."""
    from regraft.workflow_testing import Runs  # noqa: PLC0415

    def told(text: str) -> None:
        request.node.add_report_section("call", "workflow", text)

    return Runs(workflows, tmp_path_factory.mktemp("workflow"), told)


@pytest.fixture
def run_job(workflow_runs: "Runs") -> Any:
    """`run_job(FILE, JOB, *STEPS, **GIVEN)`: see `regraft.workflow_testing.Runs.run_job`."""
    return workflow_runs.run_job


@pytest.fixture
def run_step(workflow_runs: "Runs") -> Any:
    """`run_step(FILE, JOB, STEP, **GIVEN)`: one step alone."""
    return workflow_runs.run_step


@pytest.fixture
def upstream(workflow_runs: "Runs") -> Any:
    """`upstream("owner/name")`: an empty repository, which git in the steps finds as `https://github.com/owner/name`."""
    return workflow_runs.upstream
