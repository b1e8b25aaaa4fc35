"""Reads a checkout's `.git` as plain files, so that nothing that its configuration says is followed.

Formats: gitrepository-layout(5), git-worktree(1). What this cannot read it names, and does not guess. Nothing in it makes
this wait or fail: a pipe, a loop of links, a name that is too long.
"""

import os
import stat
from pathlib import Path

from msgspec import Struct

from regraft.adapters import disk
from regraft.adapters.places import Places
from regraft.core.objects import Commit, parse_commit
from regraft.core.observation import CheckoutState
from regraft.core.patterns import regex
from regraft.errors import OutsideError

LIMIT = 64 * 1024 * 1024

UNFINISHED = (
    *("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "sequencer"),
    *("index.lock", "HEAD.lock", "config.lock", "shallow.lock", "packed-refs.lock"),
)

_PACKED = regex(r"([0-9a-f]{40,64}) (refs/\S.*)")
_REF = regex(r"refs/(?!.*(?:^|/)\.\.(?:/|$))[^\0\n]+")


class GitFolder(Struct, frozen=True):
    """`folder` holds HEAD and the index; `common` holds objects and refs: the same, but in a linked worktree.

    With `places`, links stay below the image's root.
    """

    folder: Path
    common: Path
    places: Places | None = None

    def head(self) -> Commit | None:
        """The commit of HEAD, or None where it names none (an unborn branch, a storage of refs that is not files)."""
        return self._resolve("HEAD")

    def _resolve(self, name: str) -> Commit | None:
        for _ in range(5):
            text = self._text(self.folder / name) or (self._text(self.common / name) if name != "HEAD" else None)
            if text is None:
                return self._packed().get(name)
            line = text.strip()
            if not line.startswith("ref:"):
                return _commit(line)
            name = line.removeprefix("ref:").strip()
            if not _REF.fullmatch(name):
                return None
        return None

    def _packed(self) -> dict[str, Commit]:
        found: dict[str, Commit] = {}
        for line in (self._text(self.common / "packed-refs") or "").splitlines():
            match = _PACKED.fullmatch(line)
            commit = _commit(match[1]) if match else None
            if match and commit is not None:
                found[match[2]] = commit
        return found

    def tags(self) -> dict[str, Commit]:
        """Tag name -> what it names: a commit, or a tag object."""
        prefix = "refs/tags/"
        found = {name[len(prefix) :]: one for name, one in self._packed().items() if name.startswith(prefix)}
        base = self._at(self.common / "refs" / "tags")
        for folder, _, names in os.walk(base):
            for name in names:
                commit = _commit((self._text(Path(folder, name)) or "").strip())
                if commit is not None:
                    found[Path(folder, name).relative_to(base).as_posix()] = commit
        return found

    def shallow(self) -> bool:
        return os.path.isfile(self._at(self.common / "shallow"))  # noqa: PTH113 - does not raise, whatever is there

    def config(self) -> bytes:
        """The text of its configuration, or nothing."""
        return disk.read(self._at(self.common / "config"), LIMIT, follow=True) or b""

    def unfinished(self) -> tuple[str, ...]:
        return tuple(name for name in UNFINISHED if os.path.lexists(self.folder / name))

    def object_folders(self, places: Places) -> tuple[Path, ...]:
        """Where objects are: the repository's own folder, and those that it borrows from, near and far."""
        found: list[Path] = []
        waiting = [self.common / "objects"]
        while waiting and len(found) < 32:
            folder = waiting.pop(0)
            folder = places.follow(folder)
            if folder in found or not os.path.isdir(folder):  # noqa: PTH112 - does not raise, whatever is there
                continue
            found.append(folder)
            for line in (_read(folder / "info" / "alternates", places) or "").splitlines():
                if line and not line.startswith("#"):
                    waiting += _candidates(line, folder, places)
        return tuple(found)

    def trouble(self) -> str | None:
        """Why one of the files that say what the repository is at cannot be read."""
        for path in (self.folder / "HEAD", self.common / "packed-refs", self.common / "shallow"):
            why = _unusable(self._at(path))
            if why is not None:
                return f"its {path.name} {why}"
        return None

    def _at(self, path: Path) -> Path:
        return self.places.follow(path) if self.places else path

    def _text(self, path: Path) -> str | None:
        return _read(path, self.places)


class Found(Struct, frozen=True):
    """`git` is None unless `state` is "repository"; `trouble` says what is wrong otherwise."""

    state: CheckoutState
    git: GitFolder | None = None
    trouble: str | None = None


def find(checkout: Path, places: Places) -> Found:
    """The repository of a checkout, and never that of a folder above it."""
    try:
        if not checkout.is_dir():
            return Found("no-folder" if os.path.lexists(checkout) else "absent")
        entry = checkout / ".git"
        if not os.path.lexists(entry):
            return Found("no-repository", trouble="it has no .git")
        led = places.follow(entry)
        if entry.is_symlink() and _unusable(led) is None and not led.exists():
            target = os.readlink(entry)  # noqa: PTH115 - the text of the link is wanted
            return Found("dangling", trouble=f"its .git is a link to {target!r:.200}, which is not there")
        entry = led
        if os.path.isdir(entry):  # noqa: PTH112 - a loop of links or a name that is too long is no folder
            return _opened(entry, places, linked=False)
        if (why := _unusable(entry)) is not None:
            return Found("damaged", trouble=f"its .git {why}")
        text = (_read(entry, places) or "").strip()
        if not text.startswith("gitdir:"):
            return Found("damaged", trouble=f"{_words_for(checkout)} does not name a folder")
        return _followed(text.removeprefix("gitdir:").strip(), checkout, places)
    except OutsideError as error:
        return Found("damaged", trouble=error.message)
    except OSError as error:
        return Found("damaged", trouble=f"{str(error.filename)!r:.200} cannot be read: {error.strerror}")


def _words_for(checkout: Path) -> str:
    return "the file that its .git leads to" if (checkout / ".git").is_symlink() else "its .git file"


def _followed(target: str, checkout: Path, places: Places) -> Found:
    for folder in _candidates(target, checkout, places):
        if os.path.isdir(folder):  # noqa: PTH112 - likewise
            return _opened(folder, places, linked=True)
    return Found(
        "dangling",
        trouble=f"{_words_for(checkout)} points to {target!r:.200}, which is not there{_beyond(target, places)}",
    )


def _opened(folder: Path, places: Places, *, linked: bool) -> Found:
    common = folder
    named = _read(folder / "commondir", places) if linked else None
    if named is not None:
        target = named.strip()
        fits = [one for one in _candidates(target, folder, places) if os.path.isdir(one)]  # noqa: PTH112 - likewise
        if not fits:
            why = f"{target!r:.200}, which is not there{_beyond(target, places)}"
            return Found("dangling", trouble=f"its worktree belongs to {why}")
        common = fits[0]
    for path in (folder / "HEAD", common / "objects", common / "refs"):
        if not os.path.lexists(path):
            return Found("damaged", trouble=f"its repository has no {path.name}")
    found = GitFolder(folder, common, places)
    trouble = found.trouble()
    return Found("repository", found) if trouble is None else Found("damaged", trouble=trouble)


def _beyond(target: str, places: Places) -> str:
    """What there is outside of the image does not count."""
    outside = places.root is not None and target.startswith("/") and not places.has(Path(target))
    return " below the root" if outside else ""


def _candidates(target: str, base: Path, places: Places) -> list[Path]:
    """Where a path that git wrote may be: an absolute one below `--root` first, since it was written inside the image.

    One that git wrote on this machine counts where it is below `--root` as well.
    """
    if "\0" in target or not target:
        return []
    if not target.startswith("/"):
        return [places.follow(Path(os.path.abspath(base / target)))]  # noqa: PTH100 - resolve() would follow links
    if places.root is None:
        return [Path(target)]
    return [places.of(target), *([places.follow(Path(target))] if places.has(Path(target)) else [])]


def _commit(text: str) -> Commit | None:
    try:
        return parse_commit(text)
    except ValueError:
        return None


def _unusable(path: Path) -> str | None:
    """Why what is at `path` is no file that can be read; None where it is one, or where nothing is."""
    try:
        found = os.stat(path)  # noqa: PTH116 - as below
        if not stat.S_ISREG(found.st_mode):
            return "is no regular file"
        if not os.access(path, os.R_OK):
            return "may not be read"
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if found.st_size <= LIMIT else f"has {found.st_size} bytes, and at most {LIMIT} are read"


def _read(path: Path, places: Places | None) -> str | None:
    """The text of a small file, or None where there is no such file."""
    data = disk.read(places.follow(path) if places else path, LIMIT, follow=True)
    return None if data is None else data.decode("utf-8", "surrogateescape")
