"""What the project's HEAD has at a path, for those who compare it with the work tree."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from regraft.errors import RegraftError

if TYPE_CHECKING:
    from regraft.adapters.git import Git
    from regraft.adapters.project_tree import Committed

LIMIT = 16 * 1024 * 1024  # bytes of one file


def committed_bytes(git: "Git", root: Path, environ: Mapping[str, str]) -> Callable[[str], bytes | None]:
    """Reads from HEAD when it is first asked. None where it has no such file, and where there is no repository to be read."""

    @cache
    def head() -> "Committed | None":
        from regraft.adapters.project_tree import Committed  # noqa: PLC0415 - only where a patch does not fit

        try:
            return Committed(git, root, environ)
        except RegraftError:  # a hint is not worth an error
            return None

    def read(path: str) -> bytes | None:
        tree = head()
        if tree is None or f"{tree.root}{path}" not in tree.paths():
            return None
        try:
            return next((data for _, data in tree.each([f"{tree.root}{path}"], LIMIT)), None)
        except RegraftError:
            return None

    return read
