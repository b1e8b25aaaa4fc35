"""What the `patch` commands share: their options, and which adapter stands behind which port."""

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from regraft.adapters.patch_upstreams import PatchUpstreams
    from regraft.adapters.release_upstream import ReleaseUpstreams
    from regraft.cli.wiring import Project
    from regraft.core.manifest import Dependency, Package
    from regraft.core.objects import Commit
    from regraft.core.patch_health import Row
    from regraft.core.refs import Ref
    from regraft.flows.patch_judging import LookUp, PatchUpstream
    from regraft.flows.patch_status import Asked, Ports


def choose(parser: argparse.ArgumentParser) -> None:
    """The options that say which of the carriers are meant."""
    parser.add_argument("--image", metavar="I", help="only where this image carries it")
    parser.add_argument("--dependency", metavar="D", help="only on this dependency")


def asked_of(args: argparse.Namespace, *, thorough: bool = False) -> "Asked":
    """Raises InputError `bad-ref`."""
    from regraft.core.ref_parser import parse_ref  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.flows.patch_status import Asked  # noqa: PLC0415

    patches = args.patch if isinstance(args.patch, list) else [args.patch]
    refs = args.at if isinstance(args.at, list) else [args.at] if args.at is not None else []
    named = (getattr(args, "image", None), getattr(args, "dependency", None))
    return Asked(tuple(patches), tuple(parse_ref(one) for one in refs), *named, thorough)


@contextmanager
def patch_ports(project: "Project") -> Iterator["Ports"]:
    """For as long as the block lasts; a bar shows how far it came. An error that a damaged cache may cause says what mends that."""
    from regraft.adapters.git import Git  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.patch_upstreams import PatchUpstreams  # noqa: PLC0415
    from regraft.adapters.upstream_cache import UpstreamCache, cache_folder_of  # noqa: PLC0415
    from regraft.cli.committed import committed_bytes  # noqa: PLC0415
    from regraft.cli.progress import Bar  # noqa: PLC0415
    from regraft.flows.patch_status import Ports  # noqa: PLC0415

    environ = dict(os.environ)
    with Bar() as bar, Git(environ) as git:
        cache = UpstreamCache(git, cache_folder_of(environ), project.root, environ)
        with PatchUpstreams(git, cache) as opened, ExitStack() as stack:
            packages = None
            if project.manifest.packages:
                from regraft.adapters.package_index import PackageIndex  # noqa: PLC0415 - only packages pay for it
                from regraft.adapters.release_upstream import ReleaseUpstreams  # noqa: PLC0415

                index = PackageIndex.of(environ, project.root)
                packages = stack.enter_context(ReleaseUpstreams(git, cache_folder_of(environ), index))
            look_up = _either(opened, packages)
            stack.enter_context(_remedy(cache_folder_of(environ)))
            yield Ports(project.files, look_up, bar, committed_bytes(git, project.root, environ))


@contextmanager
def _remedy(cache: "Path") -> Iterator[None]:
    from regraft.errors import OutsideError  # noqa: PLC0415 - `--help` pays for nothing

    try:
        yield
    except OutsideError as error:
        if error.code in {"git-failed", "missing-objects"} and (cache / "upstreams").is_dir():
            error.hint = f"{f'{error.hint}; ' if error.hint else ''}if the cache is damaged, remove {cache / 'upstreams'} and run again"
        raise


def for_the_runner(rows: "Sequence[Row]", command: str) -> None:
    """In GitHub Actions: annotations, and a table on the summary page."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    import sys  # noqa: PLC0415 - only in Actions
    from pathlib import Path  # noqa: PLC0415

    from regraft.adapters import files  # noqa: PLC0415
    from regraft.render.actions import finding_annotations  # noqa: PLC0415
    from regraft.render.patch_actions import row_findings, rows_markdown  # noqa: PLC0415

    print(finding_annotations(row_findings(rows)), end="", file=sys.stderr)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        files.append(Path(path), rows_markdown(rows, command).encode())


def _either(repositories: "PatchUpstreams", packages: "ReleaseUpstreams | None") -> "LookUp":
    """Each dependency by whoever knows its kind, in the order in which they were asked for."""
    from regraft.core.manifest import Package  # noqa: PLC0415

    def look_up(
        wanted: "Sequence[tuple[Dependency | Package, Ref | None]]",
    ) -> "list[tuple[PatchUpstream, str, str | None, Commit]]":
        named = [(one, ref) for one, ref in wanted if isinstance(one, Package)]
        versions = iter(packages.look_up(named) if packages is not None else ())
        commits = iter(repositories.look_up([(one, ref) for one, ref in wanted if not isinstance(one, Package)]))
        return [next(versions) if isinstance(one, Package) else next(commits) for one, _ in wanted]

    return look_up
