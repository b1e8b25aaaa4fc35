"""Puts files, links and folders where a tree wants them, and moves aside what is in the way.

Every path is relative to one folder; no link is followed on the way to its last part, and none is left in the way.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from regraft.adapters import effects
from regraft.core.checkout_tree import Entry, clean_text
from regraft.core.trees import EXECUTABLE, LINK
from regraft.errors import OutsideError

PIECE = 1024 * 1024


class TreeFiles:
    """`aside` is the folder that takes what is moved out of the way, by its path."""

    def __init__(self, place: Path, aside: Path) -> None:
        self._place = place
        self._aside = aside
        self._made: set[str] = set()

    def put(self, path: str, entry: Entry, data: bytes) -> None:
        """A file or a link with these bytes, in place of a file or a link. Raises OSError, OutsideError `in-the-way`."""
        self.folder(path.rpartition("/")[0])
        target = self._place / path
        try:
            old = os.lstat(target)
        except FileNotFoundError:
            old = None
        if old is not None and stat.S_ISDIR(old.st_mode):
            self._clear(path)
            old = None
        if entry.mode == LINK:
            effects.link(os.fsencode(target), data)
            return
        owner = old or os.lstat(target.parent)
        effects.write(
            os.fsencode(target),
            [data],
            _mode(old, executable=entry.mode == EXECUTABLE),
            before_rename=lambda handle: _give(handle, owner),
        )

    def remove(self, path: str) -> None:
        """The file or link, and the folders above it that are empty then."""
        effects.unlink(os.fsencode(self._place / path))
        self._prune(path)

    def set_aside(self, path: str) -> None:
        """Move a file or link out of the way, and remove the folders that it leaves empty."""
        source, target = self._place / path, self._aside / path
        missing = [folder for folder in (target.parent, *target.parent.parents) if not folder.is_dir()]
        for folder in reversed(missing):
            effects.mkdir(str(folder), 0o700)
        try:
            effects.rename(os.fsencode(source), os.fsencode(target))
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(source, target)
            effects.unlink(os.fsencode(source))
        self._prune(path)

    def drop_byte_code(self, path: str) -> None:
        """The compiled forms of a module: one of another file of the same size and second would be imported instead."""
        folder, _, name = path.rpartition("/")
        if not name.endswith(".py"):
            return
        stem = name.removesuffix(".py")
        cache = self._place / folder / "__pycache__"
        names: list[str] = []
        if not cache.is_symlink() and cache.is_dir():
            names = [f"__pycache__/{one}" for one in os.listdir(cache)]
            names = [one for one in names if one.startswith(f"__pycache__/{stem}.") and one.endswith(".pyc")]
        for one in (*names, f"{stem}.pyc"):
            compiled = self._place / folder / one
            if compiled.is_file() and not compiled.is_symlink():
                effects.unlink(os.fsencode(compiled))
                self._prune(f"{folder}/{one}" if folder else one)

    def folder(self, path: str) -> None:
        """A real folder, and those above it; what else stands in their way is set aside."""
        if path in self._made or not path:
            return
        self.folder(path.rpartition("/")[0])
        target = self._place / path
        try:
            found = os.lstat(target)
        except FileNotFoundError:
            effects.mkdir(os.fsencode(target))
            self._adopt(target)
        else:
            if not stat.S_ISDIR(found.st_mode):
                self.set_aside(path)
                effects.mkdir(os.fsencode(target))
                self._adopt(target)
        self._made.add(path)

    def _adopt(self, target: Path) -> None:
        """A folder belongs to who owns the one above it, also where root makes it."""
        above = os.lstat(target.parent)
        if os.geteuid() == 0 and above.st_uid != 0:
            os.chown(target, above.st_uid, above.st_gid, follow_symlinks=False)

    def _clear(self, path: str) -> None:
        """Take a folder away from where a file is wanted: what is still in it, which git ignores, is set aside."""
        for folder, names, files in os.walk(self._place / path):
            if ".git" in (*names, *files):
                message = f"a repository of its own stands where the plan has a file: {clean_text(path)!r:.200}"
                raise OutsideError("in-the-way", message, where=clean_text(folder), hint="remove it, then run again")
            links = [name for name in names if os.path.islink(os.path.join(folder, name))]
            for name in (*files, *links):
                self.set_aside(os.path.relpath(os.path.join(folder, name), self._place))
        for folder, _, _ in os.walk(self._place / path, topdown=False):
            effects.rmdir(os.fsencode(folder))
        self._made = {one for one in self._made if one != path and not one.startswith(f"{path}/")}

    def _prune(self, path: str) -> None:
        while path := path.rpartition("/")[0]:
            folder = self._place / path
            if os.path.islink(folder) or (folder.is_dir() and os.listdir(folder)):
                return
            if folder.is_dir():
                effects.rmdir(os.fsencode(folder))
                self._made.discard(path)


def _mode(old: os.stat_result | None, *, executable: bool) -> int:
    """The permissions of the file that was there, with or without the right to execute."""
    readable = stat.S_IMODE(old.st_mode) & 0o666 if old is not None and stat.S_ISREG(old.st_mode) else 0o644
    return readable | (readable & 0o444) >> 2 if executable else readable


def _give(handle: int, owner: os.stat_result) -> None:
    if os.geteuid() == 0 and (owner.st_uid, owner.st_gid) != (0, 0):
        os.fchown(handle, owner.st_uid, owner.st_gid)


def _copy(source: Path, target: Path) -> None:
    found = os.lstat(source)
    if stat.S_ISLNK(found.st_mode):
        effects.link(os.fsencode(target), os.readlink(os.fsencode(source)))
    elif stat.S_ISREG(found.st_mode):
        effects.write(os.fsencode(target), _pieces(source), stat.S_IMODE(found.st_mode))
    else:
        message = f"{clean_text(str(source))!r:.200} is no regular file, and cannot be moved to another disk"
        raise OutsideError("in-the-way", message, hint="remove it, then run again")


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece
