"""Reads a checkout's `.git` as plain files, so that nothing that its configuration says is followed.

Formats: gitrepository-layout(5), git-worktree(1). What this cannot read it names, and does not guess.
"""

import os
from pathlib import Path

from msgspec import Struct

from regraft.adapters.places import Places
from regraft.core.objects import Commit, parse_commit
from regraft.core.observation import CheckoutState
from regraft.core.patterns import regex

LIMIT = 64 * 1024 * 1024

UNFINISHED = (
    *("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "sequencer"),
    *("index.lock", "HEAD.lock", "config.lock", "shallow.lock", "packed-refs.lock"),
)

_PACKED = regex(r"([0-9a-f]{40,64}) (refs/\S.*)")
_REF = regex(r"refs/(?!.*(?:^|/)\.\.(?:/|$))[^\0\n]+")


class GitFolder(Struct, frozen=True):
    """`folder` holds HEAD and the index; `common` holds objects and refs: the same, but in a linked worktree."""

    folder: Path
    common: Path

    def head(self) -> Commit | None:
        """The commit of HEAD, or None where it names none (an unborn branch, a storage of refs that is not files)."""
        return self._resolve("HEAD")

    def _resolve(self, name: str) -> Commit | None:
        for _ in range(5):
            text = _read(self.folder / name) or (_read(self.common / name) if name != "HEAD" else None)
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
        for line in (_read(self.common / "packed-refs") or "").splitlines():
            match = _PACKED.fullmatch(line)
            commit = _commit(match[1]) if match else None
            if match and commit is not None:
                found[match[2]] = commit
        return found

    def tags(self) -> dict[str, Commit]:
        """Tag name -> what it names: a commit, or a tag object."""
        prefix = "refs/tags/"
        found = {name[len(prefix) :]: one for name, one in self._packed().items() if name.startswith(prefix)}
        base = self.common / "refs" / "tags"
        for folder, _, names in os.walk(base):
            for name in names:
                commit = _commit((_read(Path(folder, name)) or "").strip())
                if commit is not None:
                    found[Path(folder, name).relative_to(base).as_posix()] = commit
        return found

    def shallow(self) -> bool:
        return (self.common / "shallow").is_file()

    def unfinished(self) -> tuple[str, ...]:
        return tuple(name for name in UNFINISHED if os.path.lexists(self.folder / name))

    def object_folders(self, places: Places) -> tuple[Path, ...]:
        """Where objects are: the repository's own folder, and those that it borrows from, near and far."""
        found: list[Path] = []
        waiting = [self.common / "objects"]
        while waiting and len(found) < 32:
            folder = waiting.pop(0)
            if folder in found or not folder.is_dir():
                continue
            found.append(folder)
            for line in (_read(folder / "info" / "alternates") or "").splitlines():
                if line and not line.startswith("#"):
                    waiting += _candidates(line, folder, places)
        return tuple(found)


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
        if entry.is_dir():
            return _opened(entry, places, linked=False)
        if not entry.is_file():
            return Found("damaged", trouble="its .git is neither a folder nor a file")
        text = (_read(entry) or "").strip()
        if not text.startswith("gitdir:"):
            return Found("damaged", trouble="its .git file does not name a folder")
        return _followed(text.removeprefix("gitdir:").strip(), checkout, places)
    except PermissionError as error:
        return Found("damaged", trouble=f"no permission to read {error.filename!r:.200}")


def _followed(target: str, checkout: Path, places: Places) -> Found:
    for folder in _candidates(target, checkout, places):
        if folder.is_dir():
            return _opened(folder, places, linked=True)
    return Found("dangling", trouble=f"its .git file points to {target!r:.200}, which is not there")


def _opened(folder: Path, places: Places, *, linked: bool) -> Found:
    common = folder
    named = _read(folder / "commondir") if linked else None
    if named is not None:
        fits = [one for one in _candidates(named.strip(), folder, places) if one.is_dir()]
        if not fits:
            return Found("dangling", trouble=f"its worktree belongs to {named.strip()!r:.200}, which is not there")
        common = fits[0]
    for path in (folder / "HEAD", common / "objects", common / "refs"):
        if not os.path.lexists(path):
            return Found("damaged", trouble=f"its repository has no {path.name}")
    return Found("repository", GitFolder(folder, common))


def _candidates(target: str, base: Path, places: Places) -> list[Path]:
    """Where a path that git wrote may be: an absolute one below `--root` first, since it was written inside the image."""
    if "\0" in target or not target:
        return []
    if not target.startswith("/"):
        return [Path(os.path.abspath(base / target))]  # noqa: PTH100 - resolve() would follow links
    mapped = [places.of(target)] if places.root is not None else []
    return [*mapped, Path(target)]


def _commit(text: str) -> Commit | None:
    try:
        return parse_commit(text)
    except ValueError:
        return None


def _read(path: Path) -> str | None:
    """The text of a small file, or None where there is no such file."""
    try:
        with path.open("rb") as stream:
            return stream.read(LIMIT).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
