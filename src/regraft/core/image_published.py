"""An image as its registry has it, and what could not be read of one."""

from msgspec import Struct

from regraft.core.image_reference import Digest
from regraft.core.registry_answers import Config


class Part(Struct, frozen=True):
    """One platform's image. `media_type` and `size` (bytes) are its manifest's."""

    digest: Digest
    config: Config
    media_type: str = ""
    size: int = 0


class Published(Struct, frozen=True):
    """What a name stood for when it was asked: `digest` is the list's where there is one, and `parts` are all of it."""

    reference: str
    digest: Digest
    media_type: str
    parts: tuple[Part, ...]
    document: bytes = b""  # the manifest or list itself


class Unread(Struct, frozen=True):
    """Why nothing is known: the code and the text of the error."""

    reference: str
    code: str
    message: str


class Absent(Struct, frozen=True):
    """The registry answers that it has no such image."""

    reference: str


Found = Published | Absent | Unread


def of_platform(found: Published, platform: str) -> Part | None:
    """The part for a platform (`linux/amd64`). One that does not say what it is for is for none."""
    exact = [one for one in found.parts if one.config.platform == platform]
    near = [one for one in found.parts if one.config.platform.startswith(f"{platform}/")]
    return next(iter(exact or near), None)


def part_of(found: Published, platform: str) -> Part | None:
    """The part for a platform; of a single image that one, whatever it is for: to be looked into, and not to be run."""
    return found.parts[0] if len(found.parts) == 1 else of_platform(found, platform)
