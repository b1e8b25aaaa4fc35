"""A project as its tracked files have it, for what reads a project's folder: `ports.ListedFiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regraft.core.trees import EXECUTABLE, FILE
from regraft.errors import InputError

if TYPE_CHECKING:
    from regraft.flows.image_inputs import SourceFiles


class TrackedFiles:
    """`folder` is what the project is called where nothing in it says so. Links are not followed, and not listed."""

    def __init__(self, files: SourceFiles, folder: str = "project") -> None:
        self._files = files
        self.folder = folder

    def read(self, path: str, limit: int) -> bytes | None:
        data = self._files.read(path)
        if data is not None and len(data) > limit:
            raise InputError("too-large", f"larger than {limit:,} bytes", where=path)
        return data

    def names(self, folder: str) -> tuple[str, ...]:
        start = f"{folder}/" if folder else ""
        rest = (path[len(start) :] for path in self._files.tree if path.startswith(start))
        return tuple(sorted(one for one in rest if "/" not in one))

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(path for path, one in self._files.tree.items() if one.mode in (FILE, EXECUTABLE)))

    def exists(self, path: str) -> bool:
        return path in self._files.tree or any(one.startswith(f"{path}/") for one in self._files.tree)

    def place(self, path: str) -> str:
        return path
