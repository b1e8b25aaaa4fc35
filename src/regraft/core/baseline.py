"""The baseline: what an image holds before a run. `baselines/IMAGE.json` is one, written by `regraft image probe`."""

from msgspec import Struct

from regraft.core.objects import Commit, Sha256, Tree

SCHEMA = "regraft.baseline/1"


class Distribution(Struct, frozen=True):
    """One installed distribution. `requires` holds its Requires-Dist lines as they stand in its metadata."""

    name: str  # normalized (PEP 503)
    version: str
    requires: tuple[str, ...] = ()


class BaselinePatch(Struct, frozen=True):
    path: str
    sha256: Sha256


class BaselineDependency(Struct, frozen=True):
    commit: Commit | None
    tree: Tree | None  # of the tracked files as they are in the image, patches and edits included
    patches: tuple[BaselinePatch, ...]
    distributions: dict[str, str]  # normalized name -> version, those that the manifest names for it
    untracked: tuple[str, ...] = ()  # not ignored, POSIX, relative to the checkout, sorted


class Baseline(Struct, frozen=True):
    schema: str
    image: str
    reference: str | None
    python: str | None  # full version of the image's interpreter, "3.12.3"
    dependencies: dict[str, BaselineDependency]
    environment: tuple[Distribution, ...]  # sorted by name
