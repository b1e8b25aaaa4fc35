"""The baseline as a manifest that is attached to an image: found by the image's digest, without pulling, and without a tag.

By the OCI image specification 1.1 (`subject`, `artifactType`, the empty descriptor), and the distribution specification 1.1
for how registries list what is attached (the referrers API), and what to write where one does not (the referrers tag schema):
https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#listing-referrers
"""

import json
from typing import Any

from msgspec import Struct

from regraft.core.hashing import sha256
from regraft.core.image_reference import Digest, parse_digest
from regraft.core.registry_answers import json_object
from regraft.errors import InputError

ARTIFACT = "application/vnd.regraft.baseline.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
EMPTY = b"{}"
MOST = 200  # manifests that are attached to one image and are of our kind

_EMPTY = "application/vnd.oci.empty.v1+json"
_GIVEN_UP = "application/vnd.regraft.given-up.v1"


class Subject(Struct, frozen=True):
    """The manifest that something is attached to."""

    media_type: str
    digest: Digest
    size: int


def digest_of(data: bytes) -> Digest:
    return Digest(f"sha256:{sha256(data)}")


def attached_manifest(subject: Subject, baseline: bytes) -> bytes:
    """The manifest of a baseline, whose blobs are `EMPTY` and the baseline itself."""
    return _encoded(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": ARTIFACT,
            "config": _descriptor(_EMPTY, EMPTY),
            "layers": [_descriptor(ARTIFACT, baseline)],
            "subject": {"mediaType": subject.media_type, "digest": subject.digest, "size": subject.size},
        }
    )


def given_up_manifest(tag: str) -> bytes:
    """What a tag is let name before it is deleted, where a registry deletes by digest only; its one blob is `EMPTY`."""
    return _encoded(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": _GIVEN_UP,
            "config": _descriptor(_EMPTY, EMPTY),
            "layers": [_descriptor(_EMPTY, EMPTY)],
            "annotations": {"io.regraft.tag": tag},
        }
    )


def referrers_tag(digest: Digest) -> str:
    """Where what is attached is listed by a registry that does not list it itself."""
    algorithm, _, encoded = digest.partition(":")
    return f"{algorithm[:32]}-{encoded[:64]}"


def with_attached(index: bytes | None, manifest: bytes) -> bytes:
    """That list with one manifest more; the others stay as they are. Raises ValueError where it is no list."""
    listed = [] if index is None else _manifests(index)
    entry = {**_descriptor(MANIFEST, manifest), "artifactType": ARTIFACT}
    if any(isinstance(one, dict) and one.get("digest") == entry["digest"] for one in listed):
        listed = [one for one in listed if not (isinstance(one, dict) and one.get("digest") == entry["digest"])]
    return _encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": [*listed, entry]})


def listed_baselines(index: bytes) -> tuple[Digest, ...]:
    """The manifests of baselines in such a list. Raises ValueError."""
    ours = [one for one in _manifests(index) if isinstance(one, dict) and one.get("artifactType") == ARTIFACT]
    if len(ours) > MOST:
        raise ValueError(f"it lists {len(ours)} baselines; at most {MOST} are read")
    return tuple(dict.fromkeys(_digest(one.get("digest")) for one in ours))


def read_attached(manifest: bytes, subject: Digest) -> Digest:
    """The blob of the baseline that such a manifest attaches to that very image. Raises ValueError."""
    raw = json_object(manifest)
    if raw.get("artifactType") != ARTIFACT:
        raise ValueError(f"it is no baseline ({raw.get('artifactType')!r:.100})")
    said = raw.get("subject")
    if not isinstance(said, dict) or said.get("digest") != subject:
        raise ValueError("it is attached to another image")
    layers = raw.get("layers")
    if not isinstance(layers, list) or len(layers) != 1 or not isinstance(layers[0], dict):
        raise ValueError("it holds no baseline")
    return _digest(layers[0].get("digest"))


def _manifests(index: bytes) -> list[Any]:
    raw = json_object(index)
    listed = raw.get("manifests")
    if raw.get("schemaVersion") != 2 or raw.get("mediaType", INDEX) != INDEX or not isinstance(listed, list):
        raise ValueError("it is no list of manifests")
    return listed


def _digest(raw: Any) -> Digest:
    try:
        return parse_digest(raw if isinstance(raw, str) else repr(raw))
    except InputError as error:
        raise ValueError(error.message) from None


def _descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
