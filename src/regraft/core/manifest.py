"""The values of `regraft.toml`, after `manifest_reader` has found no mistake in it.

Every path is a POSIX path as written. `python` at the head of a command means the image's interpreter.
"""

from typing import Literal

from msgspec import Struct

from regraft.core.objects import Sha256

Command = tuple[str, ...]
Unnamed = Literal["keep", "lock", "head"]


class Lock(Struct, frozen=True):
    """Where the project records a commit: a JSON pointer into a JSON file, or a plain file that holds one commit."""

    file: str
    key: str | None


class Dependency(Struct, frozen=True):
    name: str
    url: str  # where refs are looked up; may be a path, relative to the project
    branch: str | None
    directive: str
    allow: tuple[str, ...]
    token_env: str | None
    lock: Lock | None


class Package(Struct, frozen=True):
    """A dependency whose versions are those of a package index. Only patches are judged on it.

    `files` is None for wheels where any version has one, else source distributions.
    """

    name: str
    package: str
    files: Literal["wheel", "sdist"] | None
    directive: str

    @property
    def branch(self) -> None:
        """It follows none: its newest release is what is looked at."""
        return None

    @property
    def lock(self) -> None:
        return None


class PatchFormat(Struct, frozen=True):
    """What the manifest declares of one patch file. `root` is "" for the top of the checkout."""

    strip: int | None = None
    root: str = ""
    sha256: Sha256 | None = None


class Baked(Struct, frozen=True):
    """A dependency as one image holds it. With a `series`, `patches` come from that file (`flows.series`)."""

    dependency: str
    path: str  # absolute in the image, or relative to the project's checkout
    install: tuple[Command, ...]
    distributions: tuple[str, ...]
    imports: tuple[str, ...]
    locate: tuple[str, ...]
    not_installed: tuple[str, ...]
    rebuild_when: tuple[str, ...]
    local_edits: Literal["stop", "carry", "drop"]
    patches: tuple[str, ...]  # in the order of application, relative to the project
    formats: dict[str, PatchFormat] = {}  # of those patches that something is declared of, by path
    series: str | None = None
    apply: Literal["exact", "3way"] = "exact"

    def format(self, patch: str) -> PatchFormat:
        return self.formats.get(patch, PatchFormat())


class Build(Struct, frozen=True):
    """How an image is built from its Dockerfile. The last three hold patterns of paths."""

    context: str = ""  # "" for the project's top
    target: str | None = None
    arguments: dict[str, str] = {}
    inputs: tuple[str, ...] = ()
    inputs_within: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()


class Image(Struct, frozen=True):
    name: str
    repository: str | None
    tag: str | None
    tag_directive: str | None
    dockerfile: str | None
    unnamed: tuple[Unnamed, ...]
    python: str
    python_path: tuple[str, ...]
    requirements: Literal["report", "stop"]
    env: tuple[tuple[str, str], ...]
    baked: dict[str, Baked]  # by dependency, in the manifest's order
    install_timeout: int = 3600  # seconds, for each install command
    packages: dict[str, Baked] = {}  # likewise, those whose dependency is a `Package`
    also_writes: tuple[str, ...] = ()  # what else the install commands write: absolute, or relative to the project
    build: Build = Build()
    prefer: tuple[Literal["directive", "own", "default"], ...] = ("directive", "own", "default")

    @property
    def carried(self) -> dict[str, Baked]:
        """All that patches may be carried for."""
        return {**self.baked, **self.packages}


class Suite(Struct, frozen=True):
    name: str
    image: str


class Manifest(Struct, frozen=True):
    name: str
    install: tuple[Command, ...]
    distributions: tuple[str, ...]
    dependencies: dict[str, Dependency]
    images: dict[str, Image]
    suites: dict[str, Suite]
    sha256: Sha256  # of the file's bytes
    packages: dict[str, Package] = {}
