"""Folders of the cache: ours alone, and under a lock while one process fills them."""

import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regraft.adapters import files
from regraft.errors import OutsideError, RefusedError

_POLL = 0.1
_LEFT_OVER = re.compile(r"tmp_(?:pack|idx|rev|obj)_.*|pack-.*\.keep")


def own_folder(cache: Path, kind: str, name: str) -> Path:
    """The folder `cache/kind/name`, made where it is not there. Raises RefusedError `cache-not-ours`, and OutsideError."""
    folder = cache / kind / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in (cache, folder):
            _check(one)
    except OSError as error:
        raise files.outside(error, str(folder)) from None
    return folder


@contextmanager
def locked(folder: Path, wait: float) -> Iterator[None]:
    """One process at a time fills it; the lock goes with the process that holds it. Raises OutsideError `locked`."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    hint = "wait for it, or name another folder in REGRAFT_CACHE"
                    raise OutsideError(
                        "locked", "another process fetches into it", where=str(folder), hint=hint
                    ) from None
                time.sleep(_POLL)
        yield
    finally:
        os.close(handle)


def sweep(repository: Path) -> None:
    """What a killed git left: half a pack, a lock of a ref, a report. Under our own lock nobody else is at work here."""
    for folder in (repository / "objects" / "pack", repository / "objects"):
        for path in folder.iterdir():
            if _LEFT_OVER.fullmatch(path.name):
                path.unlink(missing_ok=True)
    for path in (
        *repository.glob("*.lock"),
        *repository.glob("refs/**/*.lock"),
        *repository.glob("fast_import_crash_*"),
    ):
        path.unlink(missing_ok=True)


def _check(folder: Path) -> None:
    found = folder.lstat()
    hint = "take it away, or name another place in REGRAFT_CACHE"
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & stat.S_IWOTH:
        raise RefusedError(
            "cache-not-ours", "a link, another user's, or others may write here", where=str(folder), hint=hint
        )
