"""The project's manifest, as every command finds it."""

from regraft.core.manifest import Manifest
from regraft.core.manifest_reader import LIMIT, read_manifest
from regraft.errors import InputError
from regraft.flows.ports import ProjectFiles

MANIFEST = "regraft.toml"


def open_manifest(files: ProjectFiles) -> tuple[Manifest, bytes]:
    """The manifest and its bytes. Raises InputError: no-manifest, and what `read_manifest` raises; OutsideError from the disk."""
    place = files.place(MANIFEST)
    data = files.read(MANIFEST, LIMIT)
    if data is None:
        hint = "run this in the project's checkout, or name it with --project DIR"
        raise InputError("no-manifest", f"there is no {MANIFEST}", where=place, hint=hint)
    return read_manifest(data, place), data
