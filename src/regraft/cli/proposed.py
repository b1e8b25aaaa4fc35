"""The project of a command that only reads: with its own manifest, or with the one that `regraft init` would write."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.adapters.project_files import ProjectFolder
from regraft.cli.wiring import Project, pinned
from regraft.errors import InputError
from regraft.flows.project import MANIFEST, open_manifest

if TYPE_CHECKING:
    from regraft.core.manifest import Manifest
    from regraft.flows.image_inputs import SourceFiles
    from regraft.flows.init import Proposed
    from regraft.flows.ports import ListedFiles, ProjectFiles

    Manifests = Callable[[SourceFiles], Manifest]


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
    if _has_manifest(files):
        return files
    from regraft.adapters.listed_project import ListedProject  # noqa: PLC0415 - only a project without a manifest
    from regraft.flows.init import ProposedFiles  # noqa: PLC0415

    listed = ListedProject(root, dict(os.environ))
    proposed = _proposed(listed, "")
    return files if proposed is None else ProposedFiles(listed, proposed)


def committed_manifests(folder: str) -> "Manifests":
    """How a commit's manifest is found: it is the commit's, whatever lies in the work tree.

    Where neither has one, it is the one that `init` would write of the commit's files, which is said once for each commit.
    """
    from regraft.flows.image_inputs import manifest_of  # noqa: PLC0415 - `--help` pays for nothing

    root = Path(folder)
    if _has_manifest(ProjectFolder(root)):
        return manifest_of
    known: dict[str, Manifest] = {}

    def find(files: "SourceFiles") -> "Manifest":
        if files.commit not in known:
            known[files.commit] = _of_commit(files, root)
        return known[files.commit]

    return find


def _has_manifest(files: "ProjectFiles") -> bool:
    return files.read(MANIFEST, 1 << 20) is not None


def _of_commit(files: "SourceFiles", root: Path) -> "Manifest":
    from regraft.flows.image_inputs import manifest_of  # noqa: PLC0415 - as above
    from regraft.flows.tracked_files import TrackedFiles  # noqa: PLC0415

    try:
        return manifest_of(files)
    except InputError as error:
        proposed = None
        if error.code == "no-manifest":
            proposed = _proposed(TrackedFiles(files, root.resolve().name or "project"), f" at {files.commit[:12]}")
        if proposed is None:
            raise
        return proposed.manifest


def _proposed(listed: "ListedFiles", at: str) -> "Proposed | None":
    """What would be proposed, which is said; None where that is nothing."""
    from regraft.flows.init import propose  # noqa: PLC0415 - as above

    proposed = propose(listed)
    if not proposed.manifest.images and not proposed.manifest.dependencies:
        return None
    asked = f"{proposed.questions} questions are open in it"
    print(
        f"there is no {MANIFEST}{at}: this is about the one that `regraft init` would write; {asked}", file=sys.stderr
    )
    return proposed
