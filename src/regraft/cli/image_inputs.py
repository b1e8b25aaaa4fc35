"""`regraft image inputs`: what feeds an image, as one hash over a commit."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.core.manifest import Image, Manifest


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="the image (default: all that have a Dockerfile)")
    parser.add_argument("--at", metavar="REV", default="HEAD", help="the commit whose files count (default: HEAD)")
    parser.add_argument(
        "--explain", metavar=("A", "B"), nargs=2, help="name the inputs that differ between two commits"
    )
    parser.add_argument("--all", action="store_true", help="list every input, instructions and files too")


def run(args: argparse.Namespace) -> int:
    from regraft.adapters.git import Git  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.source_trees import Revisions  # noqa: PLC0415
    from regraft.cli.proposed import committed_manifests  # noqa: PLC0415
    from regraft.core.image_inputs import moved  # noqa: PLC0415
    from regraft.flows.image_inputs import image_inputs, image_inputs_at  # noqa: PLC0415
    from regraft.render import image_inputs as render  # noqa: PLC0415

    manifest_of = committed_manifests(args.project)
    with Git(os.environ) as git, Revisions.over(git, Path(args.project)) as revisions:
        if args.explain:
            old, new = (revisions.at(revision) for revision in args.explain)
            was, now = manifest_of(old), manifest_of(new)
            images = images_of(args.image, now)
            pairs = [(image_inputs_at(one.name, old, was), image_inputs(one, now, new)) for one in images]
            found = [(before, after, moved(before, after)) for before, after in pairs]
            if args.format == "json":
                print(render.moved_json(found))
            else:
                print("\n".join(line for one in found for line in render.moved_lines(*one)))
            return int(any(moves for _, _, moves in found))
        files = revisions.at(args.at)
        manifest = manifest_of(files)
        inputs = [image_inputs(one, manifest, files) for one in images_of(args.image, manifest)]
    if args.format == "json":
        print(render.inputs_json(inputs))
    else:
        print("\n".join(line for one in inputs for line in render.inputs_lines(one, every=args.all)))
    return 0


def images_of(name: str | None, manifest: "Manifest") -> "list[Image]":
    """The image of that name, or all that are built from a Dockerfile. Raises InputError: unknown-image, no-dockerfile."""
    from regraft.core.spelling import nearest  # noqa: PLC0415 - `--help` pays for nothing

    if name is None:
        built = [one for one in manifest.images.values() if one.dockerfile is not None]
        if not built:
            hint = "add `dockerfile` to an [images.NAME]"
            raise InputError("no-dockerfile", "no image of the manifest has a Dockerfile", hint=hint)
        return built
    if name not in manifest.images:
        meant = nearest(name, manifest.images)
        hint = f"did you mean {meant}?" if meant else f"it has {', '.join(manifest.images) or 'none'}"
        raise InputError("unknown-image", f"the manifest has no image {name!r:.80}", where="--image", hint=hint)
    return [manifest.images[name]]
