"""Runs a job of a repository's workflow on a throw-away runner: for `workflow run`, and for the pytest plugin."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regraft.core.workflow_repository import FOLDER
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.adapters.runner_upstreams import Upstreams
    from regraft.adapters.runner_workspace import ProjectCopy
    from regraft.core.runner_given import Made
    from regraft.core.runner_values import JobResult, Stub
    from regraft.core.workflow_case import Case
    from regraft.core.workflow_graph import Graph, Site
    from regraft.core.workflow_values import Action, Step, Workflow
    from regraft.flows.workflow_job import Asked, Source

LIMIT = 1024 * 1024  # bytes of a workflow or an action


class Workflows:
    """The workflows of a repository, each read once."""

    def __init__(self, root: Path) -> None:
        """Raises InputError `no-project`."""
        from regraft.adapters.project_files import ProjectFolder  # noqa: PLC0415 - whoever imports this pays later

        self.root = root
        self._files = ProjectFolder(root)
        self._read: dict[str, Source] = {}
        self._graph: Graph | None = None

    @property
    def graph(self) -> "Graph":
        """All workflows and actions of the repository as one graph, read once. Raises OutsideError."""
        if self._graph is None:
            from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415
            from regraft.flows.workflow_load import load  # noqa: PLC0415

            self._graph = load(ListedProject(self.root, os.environ))
        return self._graph

    def gate(self, file: str, job: str, step: str | None = None) -> "Gate":
        """A job, or a step of it by id, name or number. Raises InputError: no-such-file, unknown-job, unknown-step."""
        from regraft.core.workflow_graph import Site  # noqa: PLC0415
        from regraft.flows.workflow_job import chosen_steps, named_job  # noqa: PLC0415

        workflow = self.source(file).workflow
        read = named_job(workflow, job)
        found = chosen_steps(read, (step,), workflow.path)[0] if step is not None else None
        of_graph = self.graph.repository.workflows[workflow.path].jobs[job]
        return Gate(
            self.graph, Site(workflow.path, of_graph, of_graph.steps[found.index] if found is not None else None)
        )

    def source(self, file: str) -> "Source":
        """A workflow by its path, or by its name below `.github/workflows`. Raises InputError `no-such-file`."""
        from regraft.core.workflow_text import read_workflow  # noqa: PLC0415
        from regraft.flows.workflow_job import Source  # noqa: PLC0415

        if file not in self._read:
            path, data = self._file(file)
            workflow = read_workflow(path, data)
            self._read[file] = Source(workflow, data, self._actions(workflow))
        return self._read[file]

    def _file(self, file: str) -> tuple[str, bytes]:
        given = Path(file)
        inside = given.is_absolute() and given.is_relative_to(self.root.resolve())
        path = given.relative_to(self.root.resolve()).as_posix() if inside else os.path.normpath(file)
        for name in (path, f"{FOLDER}/{path}"):
            data = self._files.read(name, LIMIT) if not os.path.isabs(name) else None  # noqa: PTH117 - text
            if data is not None:
                return name, data
        hint = f"name a file below {FOLDER}"
        raise InputError("no-such-file", "there is no such workflow", where=self._files.place(path), hint=hint)

    def _actions(self, workflow: "Workflow") -> dict[str, "Action"]:
        """The actions of the repository that its jobs use, and those that these use."""
        from regraft.core.workflow_text import read_action  # noqa: PLC0415

        waiting = [step for job in workflow.jobs.values() for step in job.steps]
        found: dict[str, Action] = {}
        while waiting:
            folder = _folder(waiting.pop())
            if folder is None or folder in found:
                continue
            for name in ("action.yml", "action.yaml"):
                path = f"{folder}/{name}" if folder else name
                data = self._files.read(path, LIMIT)
                if data is not None:
                    found[folder] = read_action(path, data)
                    waiting += found[folder].steps
                    break
        return found


class Gate:
    """A job or a step, to be asked when it runs. What is given: see `regraft.core.workflow_case.Case`."""

    def __init__(self, graph: "Graph", site: "Site") -> None:
        self._graph = graph
        self._site = site

    def can_run(self, **case: Any) -> bool:
        """Whether it runs in some such case, for all that is known. Raises what `always_runs` raises."""
        from regraft.core.workflow_case import can_run  # noqa: PLC0415

        return can_run(self._graph, self._site, _case(case))

    def always_runs(self, **case: Any) -> bool:
        """Whether it runs in every such case. Raises InputError: unknown-event, unknown-job, expression, impossible-case."""
        from regraft.core.workflow_case import always_runs  # noqa: PLC0415

        return always_runs(self._graph, self._site, _case(case))


def _case(given: Mapping[str, Any]) -> "Case":
    from regraft.core.workflow_case import Case  # noqa: PLC0415

    unknown = sorted(set(given) - set(Case.__struct_fields__))
    if unknown:
        raise InputError("usage", f"nothing is called {unknown[0]!r:.80}", hint=", ".join(Case.__struct_fields__))
    words: dict[str, Any] = {}
    for name, value in given.items():
        single = name not in _SEVERAL
        words[name] = value if single else (value,) if isinstance(value, str) else tuple(value)
    return Case(**words)


_SEVERAL = frozenset({"succeeded", "failed", "skipped", "labels", "unlabelled"})


def _folder(step: "Step") -> str | None:
    """Where a local action is: "" at the top of the repository."""
    uses = step.uses.value if step.uses is not None else ""
    folder = os.path.normpath(uses[2:] or ".") if uses.startswith(("./", "$/")) else ".."
    return None if folder.startswith("..") else "" if folder == "." else folder


def run(  # noqa: PLR0913 - keyword-only but for what is run
    workflows: Workflows,
    file: str,
    asked: "Asked",
    *,
    environ: Mapping[str, str],
    stubs: "Sequence[Stub]" = (),
    upstreams: "Upstreams | None" = None,
    copy: "ProjectCopy | None" = None,
    lent: Mapping[str, Path] = {},
    made: "Mapping[str, Made] | None" = None,
) -> "JobResult":
    """Raises what `flows.workflow_job.run_job` raises. `lent`: repositories that are here, by `owner/name`; `made`: what is made."""
    from msgspec.structs import replace  # noqa: PLC0415

    from regraft.adapters.runner import Runner  # noqa: PLC0415
    from regraft.flows.workflow_job import run_job  # noqa: PLC0415

    source = workflows.source(file)
    asked = replace(asked, project=f"local/{workflows.root.resolve().name}", maps=_folders(asked.maps))
    with Runner.over(workflows.root, environ, stubs, upstreams, copy) as place:
        for name, path in lent.items():
            place.upstreams.lend(name, path)
        for name, one in (made or {}).items():
            place.upstreams.make(name, one)
        return run_job(source, asked, place)


def _folders(maps: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for path, folder in maps.items():
        if not path.startswith("/") or not path.strip("/"):
            raise InputError("bad-map", f"{path!r:.200} is no absolute path of an image", where="--map")
        if not Path(folder).is_dir():
            raise InputError(
                "no-such-folder", f"there is no folder {folder!r:.200}", where="--map", hint="make it first"
            )
        found[path] = os.path.realpath(folder)
    return found


def usual_stubs(without: Sequence[str] = ()) -> "tuple[Stub, ...]":
    """Programs that change a machine or ask the network. Those that are asked for an answer say that they have none."""
    from regraft.core.runner_values import Answer, Stub  # noqa: PLC0415

    silent = ("pip", "pip3", "uv", "apt-get", "apt", "gh", "docker", "podman")
    asked = {"curl": 6, "wget": 4}
    found = [Stub(name) for name in silent]
    found += [
        Stub(name, (Answer(code=code, stderr=f"{name}: no network in this run\n"),)) for name, code in asked.items()
    ]
    return tuple(one for one in found if one.name not in without)
