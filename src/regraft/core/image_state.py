"""What was published of an image, as a file: for those who decide where no registry can be asked."""

from msgspec import Struct

from regraft.core import document
from regraft.core.image_published import Part, Published, Unread
from regraft.core.image_reference import parse_digest
from regraft.core.registry_answers import Config
from regraft.errors import InputError

SCHEMA = "regraft.image-state/1"


class ImageState(Struct, frozen=True):
    schema: str
    image: str
    reference: str
    digest: str
    labels: dict[str, str]


def encode_state(state: ImageState) -> bytes:
    return document.encode(state)


def read_state(data: bytes, image: str, name: str, platform: str) -> Published | Unread:
    """What the file says was published. A file that cannot be read is an answer of its own, and never "nothing changed"."""
    try:
        state = document.decode(data, ImageState, SCHEMA, name)
        if state.image != image:
            raise InputError("other-image", f"the state is of image {state.image!r:.80}, not of {image!r}", where=name)  # noqa: TRY301 - one way out
        digest = parse_digest(state.digest)
    except InputError as error:
        return Unread(name, error.code, str(error))
    config = Config(platform, state.labels, (), None)
    return Published(state.reference, digest, "", (Part(digest, config),))
