"""Which adapter stands behind which port of the commands that decide about images and build them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from regraft.cli.wiring import Project
from regraft.core.between import Between
from regraft.core.image_labels import Pin, Pins
from regraft.core.image_values import ImageInputs, Moved
from regraft.core.manifest import Image
from regraft.core.objects import Commit
from regraft.errors import InputError, RegraftError

if TYPE_CHECKING:
    from regraft.adapters.build_context import ProjectCommits
    from regraft.adapters.registry_publish import PublishingRegistry
    from regraft.cli.proposed import Manifests


class ImagePorts(Struct, frozen=True):
    inputs: Callable[[Image, str], ImageInputs]
    compare: Callable[[ImageInputs, ImageInputs], Sequence[Moved]]
    pins: Callable[[ImageInputs, Image], Pins]
    commits: "ProjectCommits"
    registry: "PublishingRegistry"
    between: Callable[[Image, Pin | None, Commit, Commit], Between | None]


@contextmanager
def image_ports(
    project: Project, environ: Mapping[str, str], manifests: "Manifests | None" = None
) -> Iterator[ImagePorts]:
    """`manifests` finds a commit's manifest (None: it is among the commit's files)."""
    from regraft.adapters.build_context import ProjectCommits  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.adapters.commits_between import commits_between  # noqa: PLC0415
    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.registry_logins import Logins  # noqa: PLC0415
    from regraft.adapters.registry_publish import PublishingRegistry  # noqa: PLC0415
    from regraft.adapters.source_trees import Revisions  # noqa: PLC0415
    from regraft.adapters.upstream import GitUpstream  # noqa: PLC0415
    from regraft.adapters.upstream_cache import UpstreamCache, cache_folder_of  # noqa: PLC0415
    from regraft.core.image_inputs import moved  # noqa: PLC0415
    from regraft.core.repository_url import parse_repository_url  # noqa: PLC0415
    from regraft.core.resolution import Remote  # noqa: PLC0415
    from regraft.flows.image_inputs import image_inputs_at, manifest_of  # noqa: PLC0415
    from regraft.flows.image_pins import Asking, resolve_pins  # noqa: PLC0415

    find = manifests or manifest_of

    def inputs(image: Image, revision: str) -> ImageInputs:
        files = revisions.at(revision)
        return image_inputs_at(image.name, files, find(files))

    def between(image: Image, pin: Pin | None, old: Commit, new: Commit) -> Between | None:
        if pin is None:
            return revisions.between(old, new)
        dependency = project.manifest.dependencies.get(pin.name) if pin.name in image.baked else None
        if dependency is None:
            return None
        remote = Remote(dependency.url, dependency.token_env)
        folder = cache_folder_of(environ)
        if not parse_repository_url(remote.url).local and not (folder / "upstreams").is_dir():
            return None
        try:  # what was fetched before, or lies on this machine: counting alone is worth no fetch of a whole history
            upstream = UpstreamCache(git, folder, project.root, environ).open(remote, refresh=False)
        except RegraftError:
            return None
        return commits_between(git, upstream.store, upstream.shallow, old, new)

    registry = PublishingRegistry(Logins(environ).of)
    with Git(environ) as git, Revisions.over(git, project.root) as revisions:
        upstream = GitUpstream(git, project.root, environ)
        asking = Asking(upstream.ls_remote, upstream.head, registry.find)
        yield ImagePorts(
            inputs=inputs,
            compare=moved,
            pins=lambda inputs, image: resolve_pins(inputs, image, project.manifest, asking),
            commits=ProjectCommits(git, project.root),
            registry=registry,
            between=between,
        )


def source_of(environ: Mapping[str, str]) -> str | None:
    """The project's address, where the run says it."""
    server, repository = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else None


def chosen(names: Sequence[str], project: Project) -> list[Image]:
    """The named images, or all that are built and published. Raises InputError: unknown-image, no-images."""
    from regraft.cli.image_inputs import images_of  # noqa: PLC0415

    if names:
        return [images_of(name, project.manifest)[0] for name in dict.fromkeys(names)]
    found = [one for one in project.manifest.images.values() if one.dockerfile and one.repository]
    if not found:
        hint = "give an [images.NAME] a `dockerfile`, a `repository` and a `tag`"
        raise InputError("no-images", "no image of the manifest is both built and published", hint=hint)
    return found


def seconds_of(text: str) -> float:
    """`90m`, `24h`, `7d`: a span of time, in seconds. Raises InputError `usage`."""
    number, unit = text[:-1], {"m": 60.0, "h": 3600.0, "d": 86_400.0}.get(text[-1:])
    if unit is None or not number.isascii() or not number.isdigit() or len(number) > 6:
        raise InputError("usage", f"{text!r:.80} is no span of time", where="--max-age", hint="write 24h, 90m or 7d")
    return int(number) * unit


def now() -> float:
    return time.time()
