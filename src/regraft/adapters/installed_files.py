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

    def of(self, installed: Installed) -> tuple[str, ...]:
        """Absolute paths, whether or not they are there. Empty where the record lists none."""
        if installed.kind == "egg-link":
            return (installed.metadata,)
        metadata = Path(installed.metadata)
        names = list(_record(metadata / "RECORD")) or list(_lines(metadata / "installed-files.txt", metadata))
        base = metadata.parent
        return tuple(os.path.normpath(base / name) for name in names)


def _record(path: Path) -> Iterator[str]:
    data = disk.read(path, LIMIT)
    if data is None:
        return
    for row in csv.reader(data.decode("utf-8", "surrogateescape").splitlines()):
        if row and row[0]:
            yield row[0]


def _lines(path: Path, metadata: Path) -> Iterator[str]:
    """Relative to the metadata folder, where those of a RECORD are relative to the one that holds it."""
    data = disk.read(path, LIMIT)
    for line in (data or b"").decode("utf-8", "surrogateescape").splitlines():
        if line:
            yield f"{metadata.name}/{line}"
