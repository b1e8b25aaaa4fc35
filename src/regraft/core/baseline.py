"""The baseline: what an image holds before a run. `baselines/IMAGE.json` is one, written by `regraft image probe`."""

from typing import Literal

from msgspec import Struct

from regraft.core.objects import Commit, Sha256, Tree

SCHEMA = "regraft.baseline/1"


class Distribution(Struct, frozen=True):
    """One installed distribution. `requires` holds its Requires-Dist lines as they stand in its metadata."""

    name: str  # normalized (PEP 503)
    version: str
    requires: tuple[str, ...] = ()


class HeldFile(Struct, frozen=True):
    """A `.pth` file. The hash is of the lines that do something, without those that lead into a checkout."""

    path: str
    sha256: Sha256
    owners: tuple[str, ...] = ()  # distributions whose RECORD names it


class HeldFinder(Struct, frozen=True):
    """A finder on sys.meta_path that is not the interpreter's own, nor one that only leads into checkouts."""

    name: str
    owners: tuple[str, ...] = ()  # distributions whose RECORD names its module


class Loose(Struct, frozen=True):
    """What an import can find in a site folder, and no distribution's RECORD names; `sitecustomize` wherever it is."""

    path: str
    kind: Literal["module", "package", "folder"]
    sha256: Sha256 | None  # of a module's bytes, or of the modules below a folder; None: more than is read


class EditedFile(Struct, frozen=True):
    """An installed file that does not hold what its distribution's RECORD says; without a hash it is not there."""

    distribution: str
    path: str
    sha256: Sha256 | None


class Site(Struct, frozen=True):
    """What lies in an environment besides names and versions. A path is relative to the environment where it is in it."""

    records: dict[str, Sha256] = {}  # normalized name -> of its RECORD, or of its metadata's files where it has none
    path_files: tuple[HeldFile, ...] = ()
    finders: tuple[HeldFinder, ...] = ()
    loose: tuple[Loose, ...] = ()
    edited: tuple[EditedFile, ...] = ()


class BaselinePatch(Struct, frozen=True):
    path: str
    sha256: Sha256


class BaselineDependency(Struct, frozen=True):
    commit: Commit | None
    tree: Tree | None  # of the tracked files as they are in the image, patches and edits included
    patches: tuple[BaselinePatch, ...]
    distributions: dict[str, str]  # normalized name -> version, those that the manifest names for it
    untracked: tuple[str, ...] = ()  # not ignored, POSIX, relative to the checkout, sorted
    untracked_content: dict[str, Sha256] | None = None  # of those that are modules by their names; None: not recorded
    empty_submodules: tuple[str, ...] | None = None  # those that are not checked out; None: not recorded


class Baseline(Struct, frozen=True):
    schema: str
    image: str
    reference: str | None
    python: str | None  # full version of the image's interpreter, "3.12.3"
    dependencies: dict[str, BaselineDependency]
    environment: tuple[Distribution, ...]  # sorted by name
    site: Site | None = None  # None: not recorded, as by an older regraft
