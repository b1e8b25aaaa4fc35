"""Which adapter stands behind which port."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters.project_files import ProjectFolder
from regraft.core.manifest import Manifest
from regraft.core.manifest_reader import read_manifest
from regraft.core.pull_request import PullRequest
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.adapters.upstream import GitUpstream
    from regraft.flows.gate import Gate
    from regraft.flows.pulls import FindUpstreamPull

MANIFEST = "regraft.toml"
MANIFEST_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Project:
    root: Path
    files: ProjectFolder
    manifest: Manifest


def open_project(folder: str) -> Project:
    """The project at `folder`. Raises InputError: no-manifest, and what the reader raises."""
    root = Path(folder)
    files = ProjectFolder(root)
    data = files.read(MANIFEST, MANIFEST_LIMIT)
    if data is None:
        hint = "run this in the project's checkout, or name it with --project DIR"
        raise InputError("no-manifest", f"there is no {MANIFEST}", where=str(root / MANIFEST), hint=hint)
    return Project(root, files, read_manifest(data, MANIFEST))
