"""The carried patches, read from the project's checkout and never from the image."""

from collections.abc import Collection, Iterable

from regraft.core import hashing
from regraft.core.manifest import Image
from regraft.core.objects import Sha256
from regraft.errors import InputError
from regraft.flows.judge import PatchFile
from regraft.flows.ports import ProjectFiles

LIMIT = 16 * 1024 * 1024


class PatchFiles:
    """Each patch file of the named images, read once."""

    def __init__(self, files: ProjectFiles, images: Iterable[Image]) -> None:
        self._found: dict[str, PatchFile] = {}
        self.mistakes: list[InputError] = []  # for the caller to raise with the others
        for image in images:
            for baked in image.baked.values():
                for path in baked.patches:
                    self._read(files, path, f"images.{image.name}.baked.{baked.dependency}.patches")

    def _read(self, files: ProjectFiles, path: str, key: str) -> None:
        if path in self._found:
            return
        try:
            data = files.read(path, LIMIT)
        except InputError as error:
            self.mistakes.append(error)
            return
        if data is None:
            hint = f"add the file, or take it out of {key}"
            self.mistakes.append(
                InputError("patch-missing", "the project has no such patch file", where=files.place(path), hint=hint)
            )
            return
        self._found[path] = PatchFile(path, data)

    @property
    def paths(self) -> Collection[str]:
        return self._found.keys()

    def series(self, paths: Iterable[str]) -> tuple[PatchFile, ...]:
        return tuple(self._found[path] for path in paths)


def sha256(patch: PatchFile) -> Sha256:
    return hashing.sha256(patch.data)
