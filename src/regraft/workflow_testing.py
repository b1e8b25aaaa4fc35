"""What `regraft.pytest` hands to tests: workflows that run, upstreams that are thrown away, and what a checkout is at."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from regraft.adapters.git_folder import find
from regraft.adapters.places import Places
from regraft.adapters.runner import git_environment
from regraft.adapters.runner_upstreams import Upstream, Upstreams, run_git
from regraft.adapters.runner_workspace import ProjectCopy
from regraft.cli.workflow_ports import Workflows, run, usual_stubs
from regraft.core.runner_values import Answer, Call, Given, JobResult, StepResult, Stub
from regraft.errors import InputError
from regraft.flows.workflow_job import Asked
from regraft.render.workflow_run import run_lines

__all__ = ["Answer", "Call", "JobResult", "Runs", "StepResult", "Stub", "Upstream", "Workflows", "commit_of", "git"]


class Runs:
    """Runs jobs of the repository's workflows. `told` is given the text of each result."""

    def __init__(self, workflows: Workflows, folder: Path, told: Callable[[str], None] = lambda _: None) -> None:
        self.workflows = workflows
        self._upstreams = Upstreams(folder / "upstreams", git_environment(os.environ, folder))
        self._copy = ProjectCopy(workflows.root, os.environ, folder / "copy")
        self._told = told

    def upstream(self, name: str) -> Upstream:
        """An empty repository that git in the steps finds as `https://github.com/NAME`."""
        return self._upstreams.add(name)

    def run_job(self, file: str, job: str, *steps: str | int, **given: Any) -> JobResult:
        """Run the steps of a job, or those that are named by id, name or number.

        `given`: `event_name`, `event`, `github`, `inputs`, `secrets`, `vars`, `needs`, `matrix`, `env` (as the image has it),
        `steps` (outputs of steps that do not run), `uses` (outputs of actions that do not run); `maps` (a folder by a path of
        the image), `stubs` (beside the usual ones), `real` (programs that have no stub), `timeout` (seconds, of a step).
        """
        options = {name: given.pop(name) for name in ("maps", "stubs", "real", "timeout") if name in given}
        unknown = sorted(set(given) - set(Given.__struct_fields__))
        if unknown:
            raise InputError(
                "usage", f"nothing is called {unknown[0]!r:.80}", hint=f"{', '.join(Given.__struct_fields__)}"
            )
        asked = Asked(
            job,
            Given(**given),
            tuple(map(str, steps)),
            float(options.get("timeout", 600.0)),
            {path: str(folder) for path, folder in options.get("maps", {}).items()},
        )
        result = run(
            self.workflows,
            file,
            asked,
            environ=os.environ,
            stubs=stubs_of(options.get("stubs", ()), options.get("real", ())),
            upstreams=self._upstreams,
            copy=self._copy,
        )
        self._told("\n".join(run_lines(result)))
        return result

    def run_step(self, file: str, job: str, step: str | int, **given: Any) -> StepResult:
        """One step alone."""
        return self.run_job(file, job, step, **given).steps[0]


def stubs_of(own: Sequence[Stub], real: Sequence[str] = ()) -> tuple[Stub, ...]:
    """The usual stubs, without those that are `real`; `own` ones go before them."""
    names = [*(one.name for one in own), *real]
    return (*own, *usual_stubs(names))


def commit_of(folder: Path | str) -> str | None:
    """The commit that a checkout is at; None where the folder is none."""
    found = find(Path(folder), Places(Path(folder))).git
    return found.head() if found is not None else None


def git(folder: Path | str, *arguments: str, stdin: bytes = b"") -> str:
    """What git says there, with nobody's configuration. Raises OutsideError `git-failed`."""
    where = Path(folder)
    return run_git(arguments, where, git_environment(os.environ, where.parent), stdin)
