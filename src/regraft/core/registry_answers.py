"""What registries answer, read strictly: challenges, tokens, manifests, lists of manifests, configurations, errors.

Every `ValueError` says what is wrong with an answer; the adapter names the server.
"""

import json
from typing import Any, Literal

from msgspec import Struct

from regraft.core.document import unique
from regraft.core.image_reference import Digest, parse_digest
from regraft.core.patterns import regex
from regraft.errors import InputError

MANIFESTS = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
ACCEPT = ", ".join((*MANIFESTS, *INDEXES))
PARTS = 64  # of one list
LABELS = 1000
LAYERS = 2000

_PARAMETER = regex(r'\s*,?\s*([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))')
_SCHEME = regex(r"\s*([A-Za-z]+)(?=\s|$)")
_TOKEN = regex(r"[!-~]{1,16384}")
_SECONDS = regex(r"[0-9]{1,9}")


class Challenge(Struct, frozen=True):
    scheme: Literal["basic", "bearer"]
    realm: str = ""
    service: str = ""
    scope: str = ""


class Descriptor(Struct, frozen=True):
    digest: Digest
    platform: str | None  # `linux/amd64`, None where it is not said
    media_type: str


class Manifest(Struct, frozen=True):
    media_type: str
    config: Descriptor


class Index(Struct, frozen=True):
    media_type: str
    parts: tuple[Descriptor, ...]  # without attestations


class Config(Struct, frozen=True):
    platform: str
    labels: dict[str, str]
    layers: tuple[Digest, ...]  # the digests of the unpacked layers, the lowest first
    created: str | None


def read_challenge(header: str) -> Challenge | None:
    """The first challenge that can be met; None where there is none."""
    found = _SCHEME.match(header)
    scheme = found[1].lower() if found else ""
    if scheme == "basic":
        return Challenge("basic")
    if found is None or scheme != "bearer":
        return None
    values: dict[str, str] = {}
    place = found.end()
    while (part := _PARAMETER.match(header, place)) is not None:
        quoted = part[2]
        values.setdefault(
            part[1].lower(), quoted.replace('\\"', '"').replace("\\\\", "\\") if quoted is not None else part[3]
        )
        place = part.end()
    if not values.get("realm"):
        return None
    return Challenge("bearer", values["realm"], values.get("service", ""), values.get("scope", ""))


def read_token(data: bytes) -> str:
    raw = json_object(data)
    token = raw.get("token") or raw.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise ValueError("it holds no token")
    return token


def read_manifest(data: bytes, content_type: str) -> Manifest | Index:
    raw = json_object(data)
    if raw.get("schemaVersion") != 2:
        raise ValueError(f"it is no manifest of schema version 2 ({raw.get('schemaVersion')!r:.40})")
    kind = raw.get("mediaType")
    if kind is None:
        kind = content_type.partition(";")[0].strip().lower()
    if kind in INDEXES and isinstance(raw.get("manifests"), list):
        return _index(kind, raw["manifests"])
    if kind in MANIFESTS and isinstance(raw.get("config"), dict):
        return Manifest(kind, _descriptor(raw["config"]))
    raise ValueError(f"it is no image manifest and no list of them ({kind!r:.100})")


def read_config(data: bytes) -> Config:
    raw = json_object(data)
    inner = raw.get("config") or {}
    labels = (inner.get("Labels") if isinstance(inner, dict) else None) or {}
    if not isinstance(labels, dict) or len(labels) > LABELS or not all(isinstance(one, str) for one in labels.values()):
        raise ValueError("its labels are not names with texts")
    rootfs = raw.get("rootfs")
    layers = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(layers, list) or len(layers) > LAYERS or not all(isinstance(one, str) for one in layers):
        raise ValueError("it lists no layers")
    created = raw.get("created")
    if created is not None and not isinstance(created, str):
        raise ValueError("`created` is no text")
    return Config(_platform(raw) or "unknown", labels, tuple(map(_digest, layers)), created)


def read_errors(data: bytes) -> str:
    """What an answer in the distribution API's form of an error says, "" for any other."""
    try:
        errors = json_object(data).get("errors")
    except ValueError:
        return ""
    found = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    return "; ".join(f"{one.get('code', '')!s:.60}: {one.get('message', '')!s:.120}" for one in found[:3])


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header, from the time `now` (seconds since 1970); None where it is not said."""
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - only where a server is busy

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def _index(kind: str, manifests: list[Any]) -> Index:
    if len(manifests) > PARTS:
        raise ValueError(f"it lists {len(manifests)} manifests; at most {PARTS} are read")
    parts = [_descriptor(one) for one in manifests]
    images = [one for one in parts if one.platform != "unknown/unknown" and one.media_type in MANIFESTS]
    if not images:
        raise ValueError("it lists no image")
    return Index(kind, tuple(images))


def _descriptor(raw: Any) -> Descriptor:
    if not isinstance(raw, dict):
        raise ValueError("a descriptor is no object")  # noqa: TRY004 - every wrong shape is one kind of error
    platform = raw.get("platform")
    return Descriptor(
        _digest(raw.get("digest")),
        _platform(platform) if isinstance(platform, dict) else None,
        str(raw.get("mediaType", ""))[:200],
    )


def _platform(raw: dict[str, Any]) -> str | None:
    parts = [raw.get(key) for key in ("os", "architecture", "variant")]
    if not isinstance(parts[0], str) or not isinstance(parts[1], str):
        return None
    return "/".join(one[:60] for one in parts if isinstance(one, str) and one)


def _digest(raw: Any) -> Digest:
    try:
        return parse_digest(raw if isinstance(raw, str) else repr(raw))
    except InputError as error:
        raise ValueError(error.message) from None


def json_object(data: bytes) -> dict[str, Any]:
    """A document that a registry keeps. Raises ValueError with what is wrong."""
    try:
        raw = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON document ({str(error)[:100]})") from None
    if not isinstance(raw, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - as above
    return raw
