"""The sha256 of short texts, without OpenSSL: loading that costs a cold gate more than all that it hashes.

`random` of the standard library does the same. Where an interpreter was built without its own code, `hashlib` answers.
"""

import importlib
from collections.abc import Callable
from typing import Any

from regraft.core.objects import Sha256


def sha256(data: bytes) -> Sha256:
    return Sha256(_algorithm(data).hexdigest())


def _find() -> Callable[[bytes], Any]:
    for name in ("_sha2", "_sha256", "hashlib"):  # from Python 3.12 on, and before
        try:
            found: Callable[[bytes], Any] = importlib.import_module(name).sha256
        except (ImportError, AttributeError):
            continue
        return found
    raise ImportError("there is no sha256")


_algorithm = _find()
