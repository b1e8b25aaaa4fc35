"""The files of an installed distribution, as its own record lists them."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from regraft.adapters import disk
from regraft.core.observation import Installed

LIMIT = 64 * 1024 * 1024


class InstalledFiles:
    """`flows.ports.InstalledFiles` over the disk: RECORD of a dist-info, installed-files.txt of an egg-info."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[disk.Stamp | None], tuple[str, ...]]] = {}

    def of(self, installed: Installed) -> tuple[str, ...]:
        """Absolute paths, whether or not they are there. Empty where the record lists none."""
        if installed.kind == "egg-link":
            return (installed.metadata,)
        stamps = [disk.stamp(f"{installed.metadata}/{name}") for name in ("RECORD", "installed-files.txt")]
        known = self._known.get(installed.metadata)
        if known is not None and known[0] == stamps:
            return known[1]
        found = self._read(Path(installed.metadata))
        if None not in stamps:
            self._known[installed.metadata] = (stamps, found)
        return found

    def _read(self, metadata: Path) -> tuple[str, ...]:
        base = str(metadata.parent)
        names = _record(metadata / "RECORD") or list(_lines(metadata / "installed-files.txt", metadata))
        # Every record of an environment is read before an apply, a hundred thousand lines: most of them are plain.
        return tuple(
            os.path.normpath(Path(base, name)) if name[0] in "./" or "/." in name or "//" in name else f"{base}/{name}"
            for name in names
        )


def _record(path: Path) -> list[str]:
    text = (disk.read(path, LIMIT) or b"").decode("utf-8", "surrogateescape")
    if '"' in text:
        return [row[0] for row in csv.reader(text.splitlines()) if row and row[0]]
    return [name for line in text.splitlines() if (name := line.partition(",")[0])]


def _lines(path: Path, metadata: Path) -> Iterator[str]:
    """Relative to the metadata folder, where those of a RECORD are relative to the one that holds it."""
    data = disk.read(path, LIMIT)
    for line in (data or b"").decode("utf-8", "surrogateescape").splitlines():
        if line:
            yield f"{metadata.name}/{line}"
