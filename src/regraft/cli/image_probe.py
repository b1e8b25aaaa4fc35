"""`regraft image probe`: what an image really holds, as a baseline."""

import argparse
import os

from regraft.adapters import files
from regraft.cli.wiring import machine, open_project
from regraft.core.manifest import Image, Manifest
from regraft.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="the image (default: the only one of the manifest)")
    parser.add_argument("--root", metavar="DIR", help="the image's absolute paths are below this folder")
    parser.add_argument("--write", action="store_true", help="write it to baselines/IMAGE.json of the project")


def run(args: argparse.Namespace) -> int:
    from regraft.core.baseline_document import encode_baseline, path_of  # noqa: PLC0415
    from regraft.flows.observe import as_baked, as_baseline, observe  # noqa: PLC0415
    from regraft.render.papers import paper_lines  # noqa: PLC0415

    project = open_project(args.project)
    image = _image(args.image, project.manifest)
    wanted = as_baked(image, project.files)
    with machine(project, args.root, dict(os.environ)) as (interpreter, checkouts):
        found = observe(image, project.manifest, wanted, interpreter=interpreter, checkouts=checkouts)
    baseline = as_baseline(found, image, f"{image.repository}:{image.tag}" if image.repository else None)
    if args.write:
        files.write(project.root / path_of(image.name), encode_baseline(baseline))
    text = encode_baseline(baseline).decode().rstrip() if args.format == "json" else "\n".join(paper_lines(baseline))
    print(text)
    return 0


def _image(name: str | None, manifest: Manifest) -> Image:
    if not manifest.images:
        raise InputError(
            "no-images", "the manifest has no images: there is nothing to probe", hint="add `[images.NAME]`"
        )
    if name is None and len(manifest.images) == 1:
        return next(iter(manifest.images.values()))
    if name not in manifest.images:
        known = ", ".join(manifest.images)
        message = "which image?" if name is None else f"the manifest has no image {name!r:.80}"
        raise InputError("unknown-image", f"{message} It has {known}", where="--image")
    return manifest.images[name]
