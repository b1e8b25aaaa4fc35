"""A carried change as its file says it: a diff, or a file that declares exact replacements and anchors."""

from collections.abc import Callable

from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText
from regraft.core.substitution_read import declares, read_substitutions


def read_change(
    path: str, data: bytes, *, strip: int | None, root: bytes, exists: Callable[[bytes], bool]
) -> PatchText:
    """`patch_read.read_patch_text`, or `substitution_read.read_substitutions` where the name of the file says so."""
    if declares(path):
        return read_substitutions(data, strip=strip, root=root)
    return read_patch_text(data, strip=strip, root=root, exists=exists)
