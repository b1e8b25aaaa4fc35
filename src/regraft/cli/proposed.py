"""The project of a command that only reads: with its own manifest, or with the one that `regraft init` would write."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters.project_files import ProjectFolder
from regraft.cli.wiring import Project, pinned
from regraft.flows.project import open_manifest

if TYPE_CHECKING:
    from regraft.flows.ports import ProjectFiles


def project_or_proposed(folder: str) -> Project:
    """Raises what `open_project` raises; `no-manifest` where nothing here could be proposed either. Says on standard error
    when it is the proposed one.
    """
    root = Path(folder)
    files = files_or_proposed(root)
    manifest, _ = open_manifest(files)
    return Project(root, files, manifest)


def files_or_proposed(root: Path, *, offline: bool = False) -> "ProjectFiles":
    """`offline`: of the patches that the manifest gives by their address only those that are in the cache."""
    files = ProjectFolder(root, pinned(os.environ, offline=offline))
    if files.read("regraft.toml", 1 << 20) is not None:
        return files
    from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415 - only a project without a manifest
    from regraft.flows.init import ProposedFiles, propose  # noqa: PLC0415

    listed = ListedProject(root, dict(os.environ))
    proposed = propose(listed)
    if not proposed.manifest.images and not proposed.manifest.dependencies:
        return files
    asked = f"{proposed.questions} questions are open in it"
    print(f"there is no regraft.toml: this is about the one that `regraft init` would write; {asked}", file=sys.stderr)
    return ProposedFiles(listed, proposed)
