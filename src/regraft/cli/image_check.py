"""`regraft image check`: what is wrong in how images are built, with file and line."""

import argparse
import os

from regraft.cli import checked

FORMATS = checked.FORMATS


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="only this image (default: all that have a Dockerfile)")
    parser.add_argument("--at", metavar="REV", help="the files of a commit (default: the work tree's tracked files)")


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.git import Git  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.source_trees import IndexedFiles, Revisions  # noqa: PLC0415
    from regraft.cli.image_inputs import images_of  # noqa: PLC0415
    from regraft.cli.proposed import project_or_proposed  # noqa: PLC0415
    from regraft.flows.image_check import image_check  # noqa: PLC0415

    project = project_or_proposed(args.project)
    place = project.files.place
    images = images_of(args.image, project.manifest)
    with Git(os.environ) as git:
        if args.at is None:
            result = image_check(images, project.manifest, IndexedFiles(git, project.root), place)
        else:
            with Revisions.over(git, project.root) as revisions:
                result = image_check(images, project.manifest, revisions.at(args.at), place)
    return checked.hand_out(result, "image check", args.format)
