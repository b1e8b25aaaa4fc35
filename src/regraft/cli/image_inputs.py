"""`regraft image inputs`: what feeds an image, as one hash over a commit."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regraft.core.image_values import Explained, ImageInputs
    from regraft.core.manifest import Image, Manifest
    from regraft.flows.image_inputs import SourceFiles


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
    from regraft.flows.image_inputs import image_inputs, of_revision  # noqa: PLC0415
    from regraft.render import image_inputs as render  # noqa: PLC0415

    manifest_of = committed_manifests(args.project)
    with Git(os.environ) as git, Revisions.over(git, Path(args.project)) as revisions:
        if args.explain:
            sides = []
            for revision in args.explain:
                with of_revision(revision):
                    side = revisions.at(revision)
                    sides.append((side, manifest_of(side)))
            found = _explained(args.image, args.explain, sides)
            if args.format == "json":
                print(render.moved_json(found))
            else:
                print("\n".join(line for one in found for line in render.moved_lines(one)))
            return int(any(one.differs for one in found))
        files = revisions.at(args.at)
        manifest = manifest_of(files)
        inputs = [image_inputs(one, manifest, files) for one in images_of(args.image, manifest)]
    if args.format == "json":
        print(render.inputs_json(inputs))
    else:
        print("\n".join(line for one in inputs for line in render.inputs_lines(one, every=args.all)))
    return 0


def _explained(
    name: str | None, revisions: "Sequence[str]", sides: "Sequence[tuple[SourceFiles, Manifest]]"
) -> "list[Explained]":
    """Every image that either of the two commits builds; with a name, that one."""
    from regraft.core.image_inputs import explained  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.image_inputs import image_inputs, of_revision  # noqa: PLC0415

    built = [{one.name: one for one in manifest.images.values() if one.dockerfile} for _, manifest in sides]
    names = [name] if name is not None else list(dict.fromkeys([*built[0], *built[1]]))
    if not names or (name is not None and not any(name in some for some in built)):
        images_of(name, sides[1][1])  # says what it has
    found = []
    for one in names:
        both: list[ImageInputs | None] = []
        for (files, manifest), images, revision in zip(sides, built, revisions, strict=True):
            with of_revision(revision):
                both.append(image_inputs(images[one], manifest, files) if one in images else None)
        found.append(explained(one, both[0], both[1]))
    return found


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
