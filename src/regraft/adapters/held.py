"""Folders that are kept open, so that it can be told whether the ones that stand in their places later are they."""

import os
import stat
from collections.abc import Callable, Sequence

from regraft.adapters.tree_walk import bytes_of


def hold(paths: Sequence[str]) -> Callable[[], tuple[str, ...]]:
    """What it gives back says, once, at which of the paths something else stands now. Raises OSError.

    A link is the same where it leads to the same.
    """
    known = [(path, _open(path)) for path in dict.fromkeys(paths)]

    def replaced() -> tuple[str, ...]:
        found = tuple(path for path, one in known if one is not None and not _is_same(path, one))
        for _, one in known:
            if isinstance(one, int):
                os.close(one)
        known.clear()
        return found

    return replaced


def _open(path: str) -> int | bytes | None:
    """A handle, or where a link leads; None where nothing is."""
    try:
        if os.path.islink(bytes_of(path)):
            return os.readlink(bytes_of(path))
        return os.open(bytes_of(path), os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def _is_same(path: str, known: int | bytes) -> bool:
    try:
        now = os.lstat(bytes_of(path))
        if isinstance(known, bytes):
            return stat.S_ISLNK(now.st_mode) and os.readlink(bytes_of(path)) == known
    except OSError:
        return False
    return os.path.samestat(now, os.fstat(known))
