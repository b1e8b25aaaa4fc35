"""`regraft image check`: what is wrong in how images are built, with file and line."""

import argparse
import json
import os
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="only this image (default: all that have a Dockerfile)")
    parser.add_argument("--at", metavar="REV", help="the files of a commit (default: the work tree's tracked files)")


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.git import Git  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.source_trees import IndexedFiles, Revisions  # noqa: PLC0415
    from regraft.cli.image_inputs import images_of  # noqa: PLC0415
    from regraft.cli.proposed import project_or_proposed  # noqa: PLC0415
    from regraft.flows.image_check import image_check  # noqa: PLC0415
    from regraft.render import findings as render  # noqa: PLC0415

    project = project_or_proposed(args.project)
    place = project.files.place
    images = images_of(args.image, project.manifest)
    with Git(os.environ) as git:
        if args.at is None:
            result = image_check(images, project.manifest, IndexedFiles(git, project.root), place)
        else:
            with Revisions.over(git, project.root) as revisions:
                result = image_check(images, project.manifest, revisions.at(args.at), place)
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
            text = f"### regraft image check\n\n{render.findings_markdown(result.findings)}\n{summary}\n"
            files.append(Path(path), text.encode())
    return 1 if result.failed else 0
