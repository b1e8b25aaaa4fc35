"""The labels of an image that regraft built or judged: what they are called, how they are written and read.

`org.opencontainers.image.*` are the OCI image specification's; the others are ours.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from regraft.core.baseline import Baseline
from regraft.core.baseline_document import decode_baseline
from regraft.core.document import LIMIT as BASELINE_LIMIT
from regraft.core.document import encode
from regraft.core.hashing import sha256
from regraft.core.image_reference import Digest
from regraft.core.image_values import HASH_LABEL
from regraft.core.objects import Commit, Sha256
from regraft.core.patterns import regex
from regraft.core.registry_answers import Config
from regraft.errors import InputError

OURS = HASH_LABEL.removesuffix("inputs")
IMAGE = f"{OURS}image"
INPUTS = HASH_LABEL
PIN = f"{OURS}pin."
BASELINE = f"{OURS}baseline"
LAYERS = f"{OURS}layers"  # of the image that the labels were made for, without the layer that came with them
OCI = "org.opencontainers.image."
REVISION = f"{OCI}revision"
CREATED = f"{OCI}created"
SOURCE = f"{OCI}source"
TITLE = f"{OCI}title"

PACKED_LIMIT = 1024 * 1024  # characters of a baseline in a label; registries take 4 MiB of one document

_PACKED = regex(r"1:[A-Za-z0-9+/]+={0,2}")
_NOT_IN_A_NAME = regex(r"[^a-z0-9]+")


class Pin(Struct, frozen=True):
    """A moving name of the build, resolved: `value` is a full commit or a digest, `argument` what hands it to the build."""

    name: str  # of the dependency, or of the argument, or of what it is taken from
    ref: str  # `owner/repo@branch`, or an image's reference
    value: str
    argument: str | None = None


class Pins(Struct, frozen=True):
    """`unresolved` are names that have an answer which could not be had, `uncovered` what has none; a line each."""

    pins: tuple[Pin, ...]
    unresolved: tuple[str, ...]
    uncovered: tuple[str, ...]

    @property
    def arguments(self) -> dict[str, str]:
        """The build arguments that hand the pins to the build."""
        return {pin.argument: pin.value for pin in self.pins if pin.argument}


def label_name(text: str) -> str:
    """`text` as the last part of a label's name: lower case, digits and hyphens."""
    return _NOT_IN_A_NAME.sub("-", text.lower()).strip("-")[:100] or "unnamed"


def labels_of(  # noqa: PLR0913 - keyword-only but for what is built
    image: str, inputs: Sha256, commit: Commit, *, pins: Sequence[Pin], source: str | None, now: float
) -> dict[str, str]:
    """What an image of these inputs is labelled with. `now` is in seconds since 1970."""
    labels = {
        TITLE: image,
        REVISION: commit,
        CREATED: datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        IMAGE: image,
        INPUTS: inputs,
    }
    if source:
        labels[SOURCE] = source
    return labels | {PIN + pin.name: pin.value for pin in pins}


def pins_of(labels: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(PIN): value for name, value in labels.items() if name.startswith(PIN)}


def created_at(labels: Mapping[str, str]) -> float | None:
    """When the image was made, in seconds since 1970; None where the label is not there or is no time with a zone."""
    try:
        found = datetime.fromisoformat(labels.get(CREATED, ""))
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None


def layers_label(layers: Sequence[Digest]) -> str:
    return sha256(json.dumps(list(layers)).encode())


def inherited(config: Config) -> bool:
    """Whether the labels came with a base image: they were made for other layers than are below the uppermost here.

    Labels that do not name layers were given by the project's own build, and are taken for its own.
    """
    named = config.labels.get(LAYERS)
    return named is not None and named != layers_label(config.layers[:-1])


def pack_baseline(baseline: Baseline) -> str | None:
    """The baseline as a label's value; None where it is too large for one."""
    text = "1:" + base64.b64encode(zlib.compress(encode(baseline), 9)).decode("ascii")
    return text if len(text) <= PACKED_LIMIT else None


def unpack_baseline(text: str, image: str, name: str) -> Baseline:
    """The baseline in a label's value. Raises InputError `bad-baseline-label`, and what `decode_baseline` raises."""
    try:
        if len(text) > PACKED_LIMIT or not _PACKED.fullmatch(text):
            raise ValueError("it is not of the form that regraft writes")  # noqa: TRY301 - one way out for all of them
        opened = zlib.decompressobj()
        data = opened.decompress(base64.b64decode(text[2:], validate=True), BASELINE_LIMIT)
        if opened.unconsumed_tail or not opened.eof:
            raise ValueError(f"it is cut off, or holds more than {BASELINE_LIMIT} bytes")  # noqa: TRY301 - as above
    except (ValueError, binascii.Error, zlib.error) as error:
        message = f"the label {BASELINE} cannot be read: {error}"
        raise InputError("bad-baseline-label", message, where=name, hint="build the image again") from None
    return decode_baseline(data, image, name)
