"""`regraft check`: what can be judged offline."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.cli import checked

if TYPE_CHECKING:
    from regraft.flows.check import CheckResult
    from regraft.flows.ports import ProjectFiles

FORMATS = checked.FORMATS


def configure(parser: argparse.ArgumentParser) -> None:
    """The shared options are all there are."""


def run(args: argparse.Namespace) -> int:
    from regraft.cli.proposed import files_or_proposed  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.check import check  # noqa: PLC0415

    project = files_or_proposed(Path(args.project))
    result = _with_images(check(project), project, Path(args.project))
    return checked.hand_out(result, "check", args.format)


def _with_images(result: "CheckResult", project: "ProjectFiles", root: Path) -> "CheckResult":
    """What `image check` finds too, where the project is a repository. A Dockerfile that is not there was said before."""
    images = [one for one in result.manifest.images.values() if one.dockerfile and (root / one.dockerfile).is_file()]
    if not images:
        return result
    from msgspec.structs import replace  # noqa: PLC0415 - only for a project that builds images

    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.source_trees import IndexedFiles  # noqa: PLC0415
    from regraft.errors import InputError  # noqa: PLC0415
    from regraft.flows.image_check import image_check  # noqa: PLC0415

    with Git(os.environ) as git:
        try:
            files = IndexedFiles(git, root)
        except InputError as error:
            if error.code != "not-a-repository":
                raise
            return replace(result, looked_at={**result.looked_at, "builds": 0})
        found = image_check(images, result.manifest, files, project.place)
    looked_at = {**result.looked_at, "builds": len(images)}
    return replace(result, findings=(*result.findings, *found.findings), looked_at=looked_at)
