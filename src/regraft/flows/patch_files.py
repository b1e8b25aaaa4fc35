"""The carried patches, read from the project's checkout and never from the image."""

from collections.abc import Collection, Iterable

from regraft.core import hashing
from regraft.core.manifest import Baked, Image
from regraft.core.objects import Sha256
from regraft.core.patch_read import LIMIT
from regraft.core.spelling import nearest
from regraft.errors import InputError
from regraft.flows.patch_reading import PatchFile
from regraft.flows.ports import ProjectFiles

__all__ = ["LIMIT", "PatchFiles", "missing_patch", "other_bytes", "sha256"]


class PatchFiles:
    """Each patch file of the named images, read once."""

    def __init__(self, files: ProjectFiles, images: Iterable[Image]) -> None:
        self._found: dict[str, bytes] = {}
        self.mistakes: list[InputError] = []  # for the caller to raise with the others
        for image in images:
            for baked in image.carried.values():
                for path in baked.patches:
                    self._read(files, path, baked, f"images.{image.name}.baked.{baked.dependency}.patches")

    def _read(self, files: ProjectFiles, path: str, baked: Baked, key: str) -> None:
        if path not in self._found:
            try:
                data = files.read(path, LIMIT)
            except InputError as error:
                self.mistakes.append(error)
                return
            if data is None:
                self.mistakes.append(missing_patch(path, files, key))
                return
            self._found[path] = data
        wanted = baked.format(path).sha256
        if wanted is not None and (message := other_bytes(self._found[path], wanted)):
            hint = f"put the pinned bytes there again, or pin these in {key}"
            self.mistakes.append(InputError("patch-differs", message, where=files.place(path), hint=hint))

    @property
    def paths(self) -> Collection[str]:
        return self._found.keys()

    def of(self, baked: Baked) -> tuple[PatchFile, ...]:
        """The patches of one dependency in one image, in their order."""
        found = []
        for path in baked.patches:
            declared = baked.format(path)
            merges = baked.apply == "3way"
            found.append(PatchFile(path, self._found[path], declared.strip, declared.root.encode(), merges))
        return tuple(found)


def missing_patch(path: str, files: ProjectFiles, key: str) -> InputError:
    """The mistake of naming a file that is not there, with the nearest name in its folder."""
    folder, _, name = path.rpartition("/")
    meant = nearest(name, files.names(folder))
    fix = f"name {f'{folder}/' if folder else ''}{meant} instead" if meant else "add the file"
    hint = f"{fix}, or take it out of {key}"
    return InputError("patch-missing", "the project has no such patch file", where=files.place(path), hint=hint)


def other_bytes(data: bytes, wanted: Sha256) -> str | None:
    """Why these are not the pinned bytes, or None where they are."""
    found = hashing.sha256(data)
    if found == wanted:
        return None
    ends = {hashing.sha256(other) for other in (data.replace(b"\r\n", b"\n"), data.replace(b"\n", b"\r\n"))}
    why = "; only the line ends differ: the checkout rewrote them (see .gitattributes)" if wanted in ends else ""
    return f"its bytes have the sha256 {found}, and {wanted} is pinned{why}"


def sha256(patch: PatchFile) -> Sha256:
    return hashing.sha256(patch.data)
