"""The receipt: the plan's shape, filled with what was found on the machine afterwards."""

from typing import Literal

from msgspec import Struct

from regraft.core.baseline import Distribution
from regraft.core.findings import Finding
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.plan import BaselineSource, Note, PlannedDependency, PlannedImage
from regraft.errors import Outcome

SCHEMA = "regraft.receipt/1"


class Held(Struct, frozen=True):
    """A dependency as it was at one moment: None for what nobody knows."""

    commit: Commit | None
    tree: Tree | None
    distributions: dict[str, str] | None  # normalized name -> version, those that the manifest names for it


class FoundImport(Struct, frozen=True):
    """Where a fresh interpreter finds a module: `places` holds its file, or each folder of a namespace package.

    They are paths in the image, also where that lies below a root; what lies outside of it is a path of the machine.
    """

    name: str
    places: tuple[str, ...]


class FoundDependency(Struct, frozen=True):
    planned: PlannedDependency
    before: Held
    after: (
        Held | None
    )  # None where it was not looked at when all was done: what was changed was given back, or it failed
    imports: tuple[FoundImport, ...]


class Environment(Struct, frozen=True):
    """The environment's distributions, sorted by name: before from the baseline (None where there is none), and after.

    `python` and `after` are None where it was not looked at when all was done.
    """

    python: str | None
    before: tuple[Distribution, ...] | None
    after: tuple[Distribution, ...] | None


class Times(Struct, frozen=True):
    """When, apart from what is compared: UTC in ISO 8601, and seconds."""

    finished: str
    seconds: float


class Failure(Struct, frozen=True):
    """What stopped an apply, as its message says it."""

    code: str
    message: str


class Receipt(Struct, frozen=True):
    """`plan` is the plan's digest, `digest` that of everything here but `times`, `outcome` and `error`.

    `outcome` is what an apply made of the machine; None: nobody applied here, this was only looked at.
    """

    schema: str
    digest: Sha256
    plan: Sha256
    request: Sha256
    project: str
    manifest: Sha256
    suites: tuple[str, ...]
    image: PlannedImage
    baseline: BaselineSource | None
    verdict: Literal["yes", "no"]
    dependencies: dict[str, FoundDependency]
    environment: Environment
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    times: Times
    outcome: Outcome | None = None
    error: Failure | None = None
