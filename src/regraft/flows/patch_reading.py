"""A carried patch as our own walk of its lines reads it, and as git does, before it is tried anywhere."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from regraft.core.carried_text import read_change
from regraft.core.patch_address import in_short
from regraft.core.patch_read import LIMIT
from regraft.core.patch_text import PatchText, Problem
from regraft.core.quoting import quoted
from regraft.core.substitution_read import declares
from regraft.core.trees import Announced, shown


class PatchFile(Struct, frozen=True):
    """One patch file of the project: its path there, its bytes as they are in the checkout, and what the manifest declares.

    `strip` is None where nothing is declared; `root` is "" for the top of the tree. `merges`: a three-way merge is good enough.
    """

    path: str
    data: bytes
    strip: int | None = None
    root: bytes = b""
    merges: bool = False

    @property
    def called(self) -> str:
        """What people are told: an address without its checksum."""
        return in_short(self.path)


class GitReader(Protocol):
    def numstat(self, patch: bytes, *, names: Sequence[str] = ("-p1",)) -> Announced:
        """`ports.GateStore.numstat`."""


def read_carried(patch: PatchFile, exists: Callable[[bytes], bool]) -> PatchText:
    """What the patch says, where files are as `exists` tells. Git is not asked: `confirmed` does that."""
    text = read_change(patch.path, patch.data, strip=patch.strip, root=patch.root, exists=exists)
    text.merges = patch.merges
    if text.problems and len(patch.data) <= LIMIT and not declares(patch.path):
        from regraft.core.patch_repair import repair  # noqa: PLC0415 - only a damaged patch needs it

        mended = repair(patch.data)
        text.offered = mended.what if mended else ()
    return text


def confirmed(text: PatchText, patch: PatchFile, store: GitReader) -> PatchText:
    """The same, or with one more problem where git reads the file otherwise than we do: git's word counts.

    Of a file that declares replacements git has nothing to say.
    """
    if text.problems or text.substitutes:
        return text
    announced = store.numstat(patch.data, names=text.git_arguments)
    if announced.complaint is not None:
        text.problems.append(Problem(1, f"git says {quoted(announced.complaint)}", announced.complaint))
    elif announced.paths != tuple(section.path for section in text.sections):
        said = ", ".join(map(shown, announced.paths[:3]))
        text.problems.append(Problem(1, f"git reads other files in it than regraft does: {said}"))
    return text
