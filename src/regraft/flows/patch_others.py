"""What need not be read again: between which versions of a file another change was made than a patch's own."""

import hashlib
from contextlib import suppress

import msgspec
from msgspec import Struct

from regraft.core.patch_history import Version
from regraft.core.patch_memo import Recall
from regraft.core.patch_text import Section

PAIRS = 10_000  # of one section, that are remembered


class OtherChanges(Struct):
    """Pairs of versions of a file between which another change was made than a section's: those need not be read again."""

    section: Section
    recall: Recall | None
    engine: bytes
    _key: bytes = b""
    _pairs: set[bytes] | None = None
    _fresh: bool = False

    def has(self, old: Version, new: Version) -> bool:
        return _pair(old, new) in self._known()

    def add(self, old: Version, new: Version) -> None:
        self._known().add(_pair(old, new))
        self._fresh = True

    def keep(self) -> None:
        if self.recall is not None and self._fresh and len(self._known()) <= PAIRS:
            self.recall.put(self._key, msgspec.msgpack.encode(sorted(self._known())))

    def _known(self) -> set[bytes]:
        if self._pairs is None:
            self._pairs = set()
            if self.recall is not None:
                said = self.engine + msgspec.msgpack.encode(self.section)
                self._key = hashlib.sha256(b"made\0" + said).digest()
                data = self.recall.get(self._key)
                with suppress(msgspec.DecodeError):
                    self._pairs = msgspec.msgpack.decode(data, type=set[bytes]) if data is not None else set()
        return self._pairs


def _pair(old: Version, new: Version) -> bytes:
    """Twelve bytes of each name: a forged collision could hide a proof, and never make one."""
    return bytes.fromhex(old.oid[:24] + new.oid[:24])
