"""The values of `regraft.toml`, after `manifest_reader` has found no mistake in it.

Every path is a POSIX path as written. `python` at the head of a command means the image's interpreter.
"""

from dataclasses import dataclass
from typing import Literal

from regraft.core.objects import Sha256

Command = tuple[str, ...]
Unnamed = Literal["keep", "lock", "head"]


@dataclass(frozen=True, slots=True)
class Lock:
    """Where the project records a commit: a JSON pointer into a JSON file, or a plain file that holds one commit."""

    file: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Dependency:
    name: str
    url: str  # where refs are looked up; may be a path, relative to the project
    branch: str | None
    directive: str
    allow: tuple[str, ...]
    token_env: str | None
    lock: Lock | None


@dataclass(frozen=True, slots=True)
class Baked:
    """A dependency as one image holds it."""

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


@dataclass(frozen=True, slots=True)
class Image:
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
    also_writes: tuple[str, ...] = ()  # what else the install commands write: absolute, or relative to the project


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    image: str


@dataclass(frozen=True, slots=True)
class Manifest:
    name: str
    install: tuple[Command, ...]
    distributions: tuple[str, ...]
    dependencies: dict[str, Dependency]
    images: dict[str, Image]
    suites: dict[str, Suite]
    sha256: Sha256  # of the file's bytes
