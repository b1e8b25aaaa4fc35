"""`regraft image probe`: what an image really holds, as a baseline."""

import argparse
import os
from typing import TYPE_CHECKING

from regraft.adapters import files
from regraft.cli.wiring import machine, open_project
from regraft.core.manifest import Image, Manifest
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.adapters.checkout import CheckoutFolders
    from regraft.cli.wiring import Project
    from regraft.core.observation import Observation


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--image", metavar="NAME", help="the image (default: the only one of the manifest)")
    parser.add_argument("--root", metavar="DIR", help="the image's absolute paths are below this folder")
    parser.add_argument("--write", action="store_true", help="write it to baselines/IMAGE.json of the project")
    parser.add_argument(
        "--explain", action="store_true", help="say what each checkout is made of, in place of the baseline"
    )
    parser.add_argument(
        "--candidates",
        metavar="N",
        type=_count,
        default=0,
        help="where nothing records a commit, compare the files with N commits of the branch that is followed",
    )


def run(args: argparse.Namespace) -> int:
    from regraft.core.baseline_document import encode_baseline, path_of  # noqa: PLC0415
    from regraft.flows.observe import as_baked, as_baseline, observe  # noqa: PLC0415
    from regraft.render.papers import paper_lines  # noqa: PLC0415

    project = open_project(args.project)
    image = _image(args.image, project.manifest)
    wanted = as_baked(image, project.files)
    with machine(project, args.root, dict(os.environ)) as (interpreter, checkouts):
        found = observe(image, project.manifest, wanted, interpreter=interpreter, checkouts=checkouts)
        if args.explain:
            return _explain(args, project, image, found, checkouts)
    baseline = as_baseline(found, image, f"{image.repository}:{image.tag}" if image.repository else None)
    if args.write:
        files.write(project.root / path_of(image.name), encode_baseline(baseline))
    text = encode_baseline(baseline).decode().rstrip() if args.format == "json" else "\n".join(paper_lines(baseline))
    print(text)
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:6]) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no number from 1 to 10000")
    return int(text)


def _explain(
    args: argparse.Namespace, project: "Project", image: Image, found: "Observation", checkouts: "CheckoutFolders"
) -> int:
    """Exit 1 where something is there that the project does not say. What could not be looked at is raised after the rest is told."""
    from regraft.cli.patch_ports import patch_ports  # noqa: PLC0415 - only who asks for it pays
    from regraft.flows.explain import Search, explained  # noqa: PLC0415
    from regraft.flows.observe import not_looked_at  # noqa: PLC0415
    from regraft.render.explained import explained_json, explained_lines  # noqa: PLC0415

    if args.candidates:
        with patch_ports(project) as ports:
            search = Search(ports.look_up, args.candidates, ports.progress)
            every = explained(image, project.manifest, found, files=project.files, checkouts=checkouts, search=search)
    else:
        every = explained(image, project.manifest, found, files=project.files, checkouts=checkouts)
    if every or args.format == "json":
        print(explained_json(every) if args.format == "json" else "\n".join(explained_lines(every)))
    for error in not_looked_at(found, image):
        raise error
    return 1 if any(one.surprising for one in every) else 0


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
