"""The plan: what one run will test, for one image. Field names are the JSON's; a golden file keeps them."""

from typing import Literal

from msgspec import Struct

from regraft.core.objects import Commit, Sha256, Tree

SCHEMA = "regraft.plan/1"

PatchState = Literal["applies", "already-there", "partial", "conflict", "target-gone", "unreadable"]


class Source(Struct, frozen=True):
    """What decided: an input, a line of the body, the lock, the followed head, or nothing that was named."""

    kind: Literal["input", "body", "lock", "head", "unnamed"]
    line: int | None = None
    column: int | None = None


class PlannedPatch(Struct, frozen=True):
    path: str
    sha256: Sha256
    state: PatchState | None  # None where the dependency is kept: the image's own build applied it


class PlannedDependency(Struct, frozen=True):
    action: Literal["override", "keep"]
    ref: str | None  # as written
    source: Source
    url: str
    commit: Commit | None  # a kept dependency has the baseline's, or None
    tree: Tree | None  # what the tracked files must make, patches included
    patches: tuple[PlannedPatch, ...]


class PlannedImage(Struct, frozen=True):
    name: str
    reference: str | None
    digest: str | None


class BaselineSource(Struct, frozen=True):
    """`label` and `attached` are the image's own, and the same as the file in it; `file` is the project's."""

    source: Literal["label", "attached", "file", "probe"]
    digest: Sha256


class Note(Struct, frozen=True):
    level: Literal["notice", "warning"]
    code: str
    message: str
    line: int | None = None
    column: int | None = None


class Plan(Struct, frozen=True):
    schema: str
    digest: Sha256
    request: Sha256
    project: str
    manifest: Sha256
    suites: tuple[str, ...]
    image: PlannedImage
    baseline: BaselineSource | None
    dependencies: dict[str, PlannedDependency]
    notes: tuple[Note, ...]
