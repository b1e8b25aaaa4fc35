"""The project's manifest, as every command finds it."""

from regraft.core.manifest import Manifest
from regraft.errors import InputError
from regraft.flows.ports import ProjectFiles

MANIFEST = "regraft.toml"


def open_manifest(files: ProjectFiles) -> tuple[Manifest, bytes]:
    """The manifest and its bytes. Raises InputError: no-manifest, and what `read_manifest` and `with_series` raise; OutsideError from the disk."""
    from regraft.core.manifest_reader import LIMIT, read_manifest  # noqa: PLC0415 - brings tomllib; a repository may have none

    place = files.place(MANIFEST)
    data = files.read(MANIFEST, LIMIT)
    if data is None:
        hint = "run this in the project's checkout, or name it with --project DIR"
        raise InputError("no-manifest", f"there is no {MANIFEST}", where=place, hint=hint)
    manifest = read_manifest(data, place)
    return _completed(manifest, files), data


def _completed(manifest: Manifest, files: ProjectFiles) -> Manifest:
    if not any(baked.series for image in manifest.images.values() for baked in image.carried.values()):
        return manifest
    from regraft.flows.series import with_series  # noqa: PLC0415 - only a project that has a series file needs it

    return with_series(manifest, files)
