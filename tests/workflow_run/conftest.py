"""A project whose workflows run, and what runs them."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from regraft.cli.workflow_ports import Workflows
from regraft.workflow_testing import Runs

Project = Callable[..., Runs]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """`project(workflow, {"path": text})`: a folder with `.github/workflows/tests.yml`, and what runs its jobs."""

    def make(workflow: str, files: dict[str, str] | None = None) -> Runs:
        root = tmp_path / "project"
        for path, text in {".github/workflows/tests.yml": workflow, **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(dedent(text))
        return Runs(Workflows(root), tmp_path)

    return make


@pytest.fixture
def one(project: Project) -> Callable[..., object]:
    """`one(script, **given)`: the result of a step with this script; `step=` has more lines of the step."""

    def run(script: str, step: str = "", **given: object) -> object:
        lines = "\n".join(f"          {line}" for line in dedent(script).strip("\n").split("\n"))
        text = f"on: push\njobs:\n  job:\n    runs-on: x\n    steps:\n      - id: step\n        {step or 'name: step'}\n        run: |\n{lines}\n"
        return project(text).run_step("tests.yml", "job", "step", **given)

    return run
