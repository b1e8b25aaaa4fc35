"""`regraft check`: what can be judged offline."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regraft.flows.check import CheckResult
    from regraft.flows.ports import ProjectFiles


def configure(parser: argparse.ArgumentParser) -> None:
    """The shared options are all there are."""


def run(args: argparse.Namespace) -> int:
    from regraft.cli.proposed import files_or_proposed  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.check import check  # noqa: PLC0415
    from regraft.render import findings as render  # noqa: PLC0415

    project = files_or_proposed(Path(args.project))
    result = _with_images(check(project), project, Path(args.project))
    summary = render.looked_at_text(result.looked_at, result.findings)
    if args.format == "json":
        print(json.dumps({"findings": render.findings_json(result.findings), "checked": result.looked_at}, indent=2))
    else:
        print("\n".join(filter(None, (render.findings_text(result.findings), summary))))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from regraft.adapters import files  # noqa: PLC0415
        from regraft.render import actions  # noqa: PLC0415

        print(actions.finding_annotations(result.findings), end="", file=sys.stderr)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            text = f"### regraft check\n\n{render.findings_markdown(result.findings)}\n{summary}\n"
            files.append(Path(path), text.encode())
    return 1 if result.failed else 0


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
