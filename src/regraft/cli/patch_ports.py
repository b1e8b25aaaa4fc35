"""What the `patch` commands share: their options, and which adapter stands behind which port."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regraft.cli.wiring import Project
    from regraft.flows.patch_status import Asked, Ports


def choose(parser: argparse.ArgumentParser) -> None:
    """The options that say which of the carriers are meant."""
    parser.add_argument("--image", metavar="I", help="only where this image carries it")
    parser.add_argument("--dependency", metavar="D", help="only on this dependency")


def asked_of(args: argparse.Namespace) -> "Asked":
    """Raises InputError `bad-ref`."""
    from regraft.core.ref_parser import parse_ref  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.patch_status import Asked  # noqa: PLC0415

    patches = args.patch if isinstance(args.patch, list) else [args.patch]
    refs = args.at if isinstance(args.at, list) else [args.at] if args.at is not None else []
    named = (getattr(args, "image", None), getattr(args, "dependency", None))
    return Asked(tuple(patches), tuple(parse_ref(one) for one in refs), *named)


@contextmanager
def patch_ports(project: "Project") -> Iterator["Ports"]:
    """For as long as the block lasts; a bar shows how far it came."""
    from regraft.adapters.git import Git  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.patch_upstreams import PatchUpstreams  # noqa: PLC0415
    from regraft.adapters.upstream_cache import UpstreamCache, cache_folder_of  # noqa: PLC0415
    from regraft.cli.progress import Bar  # noqa: PLC0415
    from regraft.flows.patch_status import Ports  # noqa: PLC0415

    environ = dict(os.environ)
    with Bar() as bar, Git(environ) as git:
        cache = UpstreamCache(git, cache_folder_of(environ), project.root, environ)
        with PatchUpstreams(git, cache) as opened:
            yield Ports(project.files, opened.look_up, bar)
