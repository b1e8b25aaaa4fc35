"""Copies of a project's files for steps to work on, each of which may do with its copy what it likes.

A project of a thousand files takes a quarter of a second to copy, and a few milliseconds to look through: a copy that was given
back is lent again, once everything in it that is not as it was copied has been made so. The change time tells: no script can set it.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from regraft.adapters import files
from regraft.adapters.git_folder import find
from regraft.adapters.listed_project import ListedProject
from regraft.adapters.places import Places
from regraft.core.patterns import regex

SCRIPT_LIMIT = 1024 * 1024  # bytes of a script of the project in which paths are mapped

_SHEBANG = regex(rb"#!.*\b(?:ba|da|k|z)?sh\b")
_GIT = ".git"

Edit = Callable[[str], str]
_Stamp = tuple[int, ...]


class ProjectCopy:
    """`kept`: where a copy waits that is lent again; None: each is made anew. What the project's files are is asked once."""

    def __init__(self, project: Path, environ: Mapping[str, str], kept: Path | None = None) -> None:
        self._project = os.path.realpath(project)
        self._environ = environ
        self._kept = kept
        self._names: tuple[str, ...] | None = None
        self._stamps: dict[str, tuple[_Stamp, _Stamp]] = {}
        self._git: tuple[tuple[str, _Stamp], ...] = ()
        self._source: tuple[object, ...] = ()
        self._lent: str | None = None

    def put(self, target: str, edit: Edit | None) -> None:
        """The project's files into a folder, with a `.git` that borrows its objects. `edit` is given each shell script's text.

        Raises OutsideError.
        """
        if self._names is None:
            self._names = ListedProject(Path(self._project), self._environ).paths()
        os.makedirs(target, exist_ok=True)
        if self._kept is None or self._lent is not None or os.listdir(target):
            self._copy(target, self._names)
            self._repository(target)
        else:
            self._lend(target)
        if edit is not None:
            for name in self._names:
                if _edit(os.path.join(target, name), edit):
                    self._stamps.pop(name, None)

    def give_back(self) -> None:
        """What was lent may be lent again."""
        lent, self._lent = self._lent, None
        if lent is None or self._kept is None or os.path.islink(lent) or not os.path.isdir(lent):
            return
        if not os.path.lexists(self._kept):
            os.rename(lent, self._kept)

    def _lend(self, target: str) -> None:
        kept = os.fspath(self._kept or "")
        if os.path.isdir(kept):
            self._mend(kept)
            os.rename(kept, target)  # which is empty
            missing = [one for one in self._names or () if one not in self._stamps]
        else:
            self._stamps, self._source = {}, ()
            missing = list(self._names or ())
        self._stamps |= self._copy(target, missing)
        source = self._source_of_git()
        git = os.path.join(target, _GIT)
        if source != self._source or tuple(_stamps_below(git)) != self._git:
            shutil.rmtree(git, ignore_errors=True)
            self._repository(target)
            self._git, self._source = tuple(_stamps_below(git)), source
        self._lent = target

    def _mend(self, kept: str) -> None:
        """Take out what is not as it was copied, or is no longer as the project has it."""
        folders = {os.path.dirname(name) for name in self._stamps}
        folders |= {above for name in folders for above in _above(name)}
        for name, place, is_folder in _entries(kept, folders):
            stamps = self._stamps.get(name)
            if is_folder:
                shutil.rmtree(place)
            elif stamps is None or stamps != (_stamp(place), _stamp(os.path.join(self._project, name))):
                os.unlink(place)
        for name in [one for one in self._stamps if not os.path.lexists(os.path.join(kept, one))]:
            del self._stamps[name]

    def _copy(self, target: str, names: "tuple[str, ...] | list[str]") -> dict[str, tuple[_Stamp, _Stamp]]:
        found, made = {}, {""}
        for name in names:
            source, place = os.path.join(self._project, name), os.path.join(target, name)
            folder = os.path.dirname(name)
            if folder not in made:
                os.makedirs(os.path.join(target, folder), exist_ok=True)
                made.add(folder)
            try:
                before = _stamp(source)
                shutil.copy(source, place, follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            except OSError as error:
                raise files.outside(error, source) from None
            found[name] = (_stamp(place), before)
        return found

    def _source_of_git(self) -> tuple[object, ...]:
        root = Path(self._project)
        found = find(root, Places(root)).git
        head = found.head() if found is not None else None
        return () if found is None or head is None else (head, _stamp(os.fspath(found.folder / "index")))

    def _repository(self, target: str) -> None:
        root = Path(self._project)
        found = find(root, Places(root)).git
        head = found.head() if found is not None else None
        if found is None or head is None:
            return
        git = Path(target) / _GIT
        for folder in ("objects/info", "refs"):
            (git / folder).mkdir(parents=True, exist_ok=True)
        borrowed = "".join(f"{one}\n" for one in found.object_folders(Places(root)))
        (git / "objects/info/alternates").write_text(borrowed, "utf-8", "surrogateescape")
        (git / "HEAD").write_text(f"{head}\n")
        (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        for name in ("index", "shallow"):
            if (found.folder / name).is_file():
                shutil.copyfile(found.folder / name, git / name)


def _above(name: str) -> Iterator[str]:
    while name:
        name = os.path.dirname(name)
        yield name


def _entries(root: str, folders: set[str]) -> Iterator[tuple[str, str, bool]]:
    """(name, path, whether it is a folder) of all that is below, but for `.git` and those of `folders` themselves."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(os.path.join(root, folder)) as scan:
            entries = list(scan)
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and name in folders:
                waiting.append(name)
            elif name != _GIT:
                yield name, entry.path, is_folder


def _stamps_below(root: str) -> Iterator[tuple[str, _Stamp]]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted((*folders, *names)):
            place = os.path.join(folder, name)
            found = os.lstat(place)
            yield place[len(root) :], (found.st_mode, *((_stamp(place)) if name in names else ()))


def _stamp(place: str) -> _Stamp:
    """What is another whenever a file's content, kind or mode was changed; nothing where there is none."""
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return ()
    return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _edit(place: str, edit: Edit) -> bool:
    """Change a file in place, if it is a shell script; whether it was changed."""
    if os.path.islink(place) or not os.path.isfile(place):
        return False
    with open(place, "rb") as stream:
        first = stream.readline(256)
        if not (place.endswith(".sh") or _SHEBANG.match(first)):
            return False
        data = first + stream.read(SCRIPT_LIMIT)
    text = data.decode("utf-8", "surrogateescape")
    edited = edit(text) if len(data) <= SCRIPT_LIMIT else text
    if edited == text:
        return False
    os.chmod(place, os.stat(place).st_mode | 0o200)
    Path(place).write_bytes(edited.encode("utf-8", "surrogateescape"))
    return True
