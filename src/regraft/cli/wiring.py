"""Which adapter stands behind which port."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from regraft.adapters.project_files import ProjectFolder
from regraft.core.manifest import Manifest
from regraft.core.pull_request import PullRequest
from regraft.errors import InputError
from regraft.flows.project import open_manifest

if TYPE_CHECKING:
    from regraft.adapters.checkout import CheckoutFolders
    from regraft.adapters.machine import Machine
    from regraft.adapters.places import Places
    from regraft.adapters.upstream import GitUpstream
    from regraft.flows.apply_steps import Ports as ApplyPorts
    from regraft.flows.gate import Gate
    from regraft.flows.ports import ProjectFiles
    from regraft.flows.pulls import FindUpstreamPull


class Project(Struct, frozen=True):
    root: Path
    files: "ProjectFiles"
    manifest: Manifest


def open_project(folder: str) -> Project:
    """The project at `folder`. Raises InputError: no-manifest, and what the reader raises."""
    root = Path(folder)
    files = ProjectFolder(root, pinned(os.environ))
    manifest, _ = open_manifest(files)
    return Project(root, files, manifest)


def pinned(environ: Mapping[str, str], *, offline: bool = False) -> Callable[[str, int], bytes | None]:
    """Brings the patches that the manifest gives by their address; `offline`: from the cache alone."""

    def bring(address: str, limit: int) -> bytes | None:
        from regraft.adapters.pinned_patches import PinnedPatches  # noqa: PLC0415 - hardly any project has one

        return PinnedPatches(environ, offline=offline)(address, limit)

    return bring


class UpstreamPorts(Struct, frozen=True):
    """What `plan` needs from outside, for as long as one private git folder lasts."""

    upstream: "GitUpstream"
    gate: "Gate"
    find_pull: "FindUpstreamPull | None"


@contextmanager
def upstreams(project: Project, environ: Mapping[str, str]) -> Iterator[UpstreamPorts]:
    from regraft.adapters.git import Git  # noqa: PLC0415 - `check` and `schema` start no git
    from regraft.adapters.object_store import ObjectStore  # noqa: PLC0415
    from regraft.adapters.submodule_fetch import SubmoduleFetch  # noqa: PLC0415
    from regraft.adapters.upstream import GitUpstream  # noqa: PLC0415
    from regraft.core.manifest import Dependency  # noqa: PLC0415
    from regraft.core.objects import Blob  # noqa: PLC0415
    from regraft.core.resolution import Remote  # noqa: PLC0415
    from regraft.flows.gate import Gate  # noqa: PLC0415
    from regraft.flows.resolve import Pin  # noqa: PLC0415

    with Git(environ) as git:
        upstream = GitUpstream(git, project.root, environ)

        def fetch_blobs(pin: Pin, dependency: Dependency, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
            upstream.fetch_blobs(pin.url, dependency.token_env, blobs, helpful)

        known = [Remote(one.url, one.token_env) for one in project.manifest.dependencies.values()]
        gate = Gate(ObjectStore(git, upstream.store, upstream.seen), fetch_blobs, SubmoduleFetch(upstream, known))
        yield UpstreamPorts(upstream, gate, _upstream_pulls(environ))


def _absolute(path: str | Path) -> Path:
    """Without `..` in it, as a journal has it: what restores a path compares it with nothing."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - links are left as they are


@contextmanager
def machine(
    project: Project, root: str | None, environ: Mapping[str, str]
) -> Iterator[tuple["Machine", "CheckoutFolders"]]:
    """The image's interpreter and checkouts, below `root` where that is given."""
    from regraft.adapters.checkout import CheckoutFolders  # noqa: PLC0415
    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.machine import Machine  # noqa: PLC0415

    places = _places(project, root)
    with Git(environ) as git:
        yield Machine(environ, places), CheckoutFolders(git, places)


def find_pull(environ: Mapping[str, str]) -> Callable[[str, int], PullRequest | None] | None:
    """Asks the run's own forge for a pull request of the project; None where there is no token."""
    from regraft.adapters.github import GitHub  # noqa: PLC0415

    found = GitHub.of(environ)
    return found.pull_request if found else None


def _upstream_pulls(environ: Mapping[str, str]) -> "FindUpstreamPull | None":
    """Asks the same forge for a pull request of an upstream, where the upstream lives there."""
    from regraft.adapters.github import GitHub  # noqa: PLC0415
    from regraft.core.repository_url import parse_repository_url  # noqa: PLC0415

    found = GitHub.of(environ)
    if found is None:
        return None

    def find(url: str, number: int) -> PullRequest | None:
        parsed = parse_repository_url(url)
        if parsed.local or parsed.host != found.server:
            return None
        return found.pull_request(parsed.path.strip("/").removesuffix(".git"), number)

    return find


@contextmanager
def applier(
    project: Project,
    root: str | None,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    hold: Callable[[str], None],
) -> Iterator["ApplyPorts"]:
    """All that an apply needs from outside, on the image below `root` where that is given."""
    import secrets  # noqa: PLC0415 - what only looks has no use for these
    import time  # noqa: PLC0415

    from regraft.adapters.checked_snapshot import CheckedSnapshot  # noqa: PLC0415
    from regraft.adapters.checkout import CheckoutFolders  # noqa: PLC0415
    from regraft.adapters.git import Git  # noqa: PLC0415
    from regraft.adapters.install import InstallCommands  # noqa: PLC0415
    from regraft.adapters.installed_files import InstalledFiles  # noqa: PLC0415
    from regraft.adapters.machine import Machine  # noqa: PLC0415
    from regraft.adapters.scratch import Scratch  # noqa: PLC0415
    from regraft.adapters.state_folder import StateDirectory, state_folder_of  # noqa: PLC0415
    from regraft.adapters.tree_writer import TreeFolders  # noqa: PLC0415
    from regraft.flows.apply_steps import Ports  # noqa: PLC0415

    places = _places(project, root)
    folder = state_folder_of(root, environ)
    with Git(environ) as git:
        checkouts = CheckoutFolders(git, places)
        yield Ports(
            files=project.files,
            interpreter=Machine(environ, places),
            checkouts=checkouts,
            writer=TreeFolders(checkouts, places, Scratch(git, project.root, environ)),
            commands=InstallCommands(environ, places, say),
            state=StateDirectory(folder),
            snapshots=CheckedSnapshot(folder, root, environ),
            installed=InstalledFiles(),
            project=str(project.root.resolve()),
            say=say,
            hold=hold,
            now=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            word=lambda: secrets.token_hex(8),
        )


def platform_here() -> str:
    """The platform of this machine as images name it: `linux/amd64`."""
    found = os.uname().machine.lower()
    return "linux/" + {"x86_64": "amd64", "aarch64": "arm64"}.get(found, found)


def in_image(root: str | None) -> Callable[[str], bytes | None]:
    """Reads a file of the image by its absolute path, below `root` where that is given; None where there is none."""
    from regraft.adapters import files  # noqa: PLC0415
    from regraft.core.document import LIMIT  # noqa: PLC0415

    def read(path: str) -> bytes | None:
        place = Path(f"{root or ''}{path}")
        return files.read(place, LIMIT) if place.is_file() else None

    return read


def _places(project: Project, root: str | None) -> "Places":
    from regraft.adapters.places import Places  # noqa: PLC0415

    places = Places(_absolute(project.root), _absolute(root) if root is not None else None)
    if places.root is not None and not places.root.is_dir():
        raise InputError(
            "no-root", "there is no such folder", where=str(root), hint="name the folder that holds the image"
        )
    return places
