"""Digests over the one JSON text that a value has (RFC 8785)."""

from typing import Any

from regraft.core.hashing import sha256
from regraft.core.objects import Sha256


def digest(value: Any) -> Sha256:
    """The sha256 of the RFC 8785 form of a JSON value (dict, list, str, int, bool, None)."""
    import rfc8785  # noqa: PLC0415 - the values of core are imported by commands that never digest

    return sha256(rfc8785.dumps(value))
