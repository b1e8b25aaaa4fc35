"""Puts a planned tree into a checkout: the commit's objects, its files with the carried patches on them, index and HEAD.

No git command reads the checkout's own configuration, hooks, filters or index. Files are written in the bytes that the
objects hold.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from regraft.adapters import effects, files
from regraft.adapters.checkout import CheckoutFolders
from regraft.adapters.checkout_content import DEPTH, Content
from regraft.adapters.checkout_fetch import CheckoutFetch, Repository
from regraft.adapters.checkout_objects import CheckoutObjects, Expected
from regraft.adapters.git_folder import Found
from regraft.adapters.places import Places
from regraft.adapters.scratch import Scratch
from regraft.adapters.tree_files import TreeFiles
from regraft.core.apply_tree import Link, links_of, unsafe_paths
from regraft.core.apply_values import Target, Written
from regraft.core.checkout_tree import Entry, clean_text, pointer
from regraft.core.gitmodules import RefusedModuleError, address, module_at, modules_by_path
from regraft.core.journal import Subject
from regraft.core.objects import Commit
from regraft.core.quoting import quoted
from regraft.core.resolution import Remote
from regraft.core.trees import SUBMODULE
from regraft.errors import OutsideError, RefusedError

POINTER_SIZE = 2048  # bytes, and more than a git-lfs pointer has


class _Tree(Struct, frozen=True):
    """One tree to be written, and where: the outermost one, or a submodule's."""

    place: Path
    repository: Repository
    commit: Commit
    expected: Expected


class TreeFolders:
    """`flows.ports.TreeWriter` over the disk. Each method raises OutsideError where git or the disk fails."""

    def __init__(self, folders: CheckoutFolders, places: Places, scratch: Scratch) -> None:
        self._folders = folders
        self._places = places
        self._fetch = CheckoutFetch(scratch)
        self._proved: dict[Target, _Tree] = {}

    def place(self, path: str) -> str:
        """Absolute, and through no link but for its last part."""
        place = self._places.of(path)
        return os.path.join(os.path.realpath(place.parent), place.name)  # noqa: PTH118 - a string

    def subjects(self, path: str) -> tuple[Subject, ...]:
        """The checkout, and the folders of a repository that lies elsewhere. RefusedError `no-repository`."""
        place = self._places.of(path)
        with _disk(place):
            git = self._repository(place).git
            folders = dict.fromkeys(Path(os.path.realpath(one)) for one in (git.folder, git.common))
            real = Path(os.path.realpath(place))
        elsewhere = [one for one in folders if not one.is_relative_to(real)]
        return (Subject("checkout", str(place)), *(Subject("git-dir", str(one)) for one in elsewhere))

    def fetch(self, target: Target) -> None:
        """Have the planned commit in the checkout. RefusedError `no-repository`: there is nothing to put it into."""
        place = self._places.of(target.path)
        with _disk(place):
            repository = self._repository(place)
            self._fetch.bring(repository, target.remote, target.commit, target.dependency)
            if wanted := repository.objects.made_on(target.commit, target.patches):
                self._fetch.bring_files(repository, target.remote, wanted)

    def prove(self, target: Target) -> None:
        """Every patch goes on the commit, and they make the planned tree. RefusedError `not-the-planned-tree`."""
        self._tree(target)

    def write(self, target: Target, aside: str) -> Written:
        """Make files, index and HEAD those of the target; untracked files are moved below `aside`."""
        tree = self._tree(target)
        with _disk(tree.place):
            written = _Write(self._folders, self._places, self._fetch, target, Path(aside))
            written.run(tree, target.dependency, target.remote, depth=0)
        return written.result()

    def _repository(self, place: Path) -> Repository:
        return repository_at(place, self._folders, self._places)

    def _tree(self, target: Target) -> _Tree:
        if target in self._proved:
            return self._proved[target]
        place = self._places.of(target.path)
        with _disk(place):
            repository = self._repository(place)
            expected = repository.objects.expect(target.commit, target.patches)
        if expected is None:
            raise OutsideError("missing-objects", f"{target.commit} is not in the checkout", where=target.path)
        _check(target, expected)
        self._proved[target] = _Tree(place, repository, target.commit, expected)
        return self._proved[target]


def repository_at(place: Path, folders: CheckoutFolders, places: Places) -> Repository:
    """Raises RefusedError `no-repository`: what is there cannot take a commit."""
    opened = folders.open(place)
    found = opened.found
    if found.git is None:
        why = found.trouble or {"absent": "there is nothing", "no-folder": "it is no folder"}.get(found.state, "")
        hint = "give `path` the place of the checkout in this image, or bring its repository into the image"
        message = f"not a repository that a commit could be put into: {why}"
        raise RefusedError("no-repository", message, where=clean_text(str(place)), hint=hint)
    return Repository(found.git, found.git.object_folders(places), opened.objects)


def _check(target: Target, expected: Expected) -> None:
    lost = [patch.path for patch in target.patches if not expected.applied.get(patch.path)]
    if lost:
        tried = lost[0] in expected.applied
        why = "does not apply" if tried else "cannot be tried without the file that it was made on, to apply it"
        message = f"{target.dependency}: the patch {quoted(lost[0])} {why} to {target.commit}"
        raise RefusedError("patch-does-not-apply", message, where=lost[0], hint="make a new plan")
    if expected.tree != target.tree:
        message = f"{target.dependency}: {target.commit} and the patches at hand make the tree {expected.tree}"
        message += f", and the plan's is {target.tree}"
        raise RefusedError("not-the-planned-tree", message, where=target.path, hint="make a new plan")
    if found := unsafe_paths(expected.entries):
        message = (
            f"{target.dependency}: the tree holds the path {clean_text(found[0])!r:.200}, which no checkout may have"
        )
        raise RefusedError("unsafe-tree", message, where=target.path, hint="name another ref")


class _Write:
    """One target, with its submodules."""

    def __init__(
        self, folders: CheckoutFolders, places: Places, fetch: CheckoutFetch, target: Target, aside: Path
    ) -> None:
        self._folders = folders
        self._places = places
        self._fetch = fetch
        self._target = target
        self._aside = aside / target.dependency
        self._root = places.of(target.path)
        self._written: list[str] = []
        self._removed: list[str] = []
        self._moved: list[str] = []
        self._pointers: list[str] = []

    def result(self) -> Written:
        return Written(
            written=_clean(self._written),
            removed=_clean(self._removed),
            aside=_clean(self._moved),
            pointers=_clean(self._pointers),
        )

    def run(self, tree: _Tree, name: str, remote: Remote, depth: int) -> None:
        head = tree.repository.git.head()
        tracked = (tree.repository.objects.entries(head) if head else None) or {}
        links = links_of(tree.expected.entries, tracked)
        inner = list(self._submodules(tree, links, name, remote, depth))
        changed = self._files(tree, tracked)
        for one, below, address_of in inner:
            self.run(one, below, address_of, depth + 1)
        if changed or head != tree.commit or depth == 0:
            self._finish(tree)

    def _files(self, tree: _Tree, tracked: Mapping[str, Entry]) -> bool:
        content = Content(tree.place, tree.repository.objects, self._open, self._folders.memory)
        todo = content.to_change(tree.expected, tracked)
        if todo.in_the_way:
            shown = clean_text(self._below(tree, todo.in_the_way[0]))
            message = (
                f"{self._target.dependency}: an untracked repository stands where the plan has files: {shown!r:.200}"
            )
            hint = "remove it, or move it away as a whole, then run again"
            raise RefusedError("in-the-way", message, where=self._target.path, hint=hint)
        disk = TreeFiles(tree.place, self._aside / os.path.relpath(tree.place, self._root))
        for path in (*todo.left_over, *todo.wrong):
            disk.drop_byte_code(path)
        for path in todo.left_over:
            disk.remove(path)
        for path in todo.untracked:
            disk.set_aside(path)
        for path, entry in tree.expected.entries.items():
            if entry.mode == SUBMODULE:
                disk.folder(path)
        by_blob: dict[str, list[str]] = {}
        for path in todo.wrong:
            by_blob.setdefault(tree.expected.entries[path].hash, []).append(path)
        for blob, data in tree.repository.objects.each_blob(list(by_blob)):
            for path in by_blob[blob]:
                disk.put(path, tree.expected.entries[path], data)
                if len(data) < POINTER_SIZE and pointer(data) is not None:
                    self._pointers.append(self._below(tree, path))
        self._written += [self._below(tree, path) for path in todo.wrong]
        self._removed += [self._below(tree, path) for path in todo.left_over]
        self._moved += [self._below(tree, path) for path in todo.untracked]
        return bool(todo.wrong or todo.left_over)

    def _finish(self, tree: _Tree) -> None:
        """The index that git would have made, and HEAD on the commit itself, of no branch."""
        folder = tree.repository.git.folder
        effects.write(str(folder / "index"), [tree.repository.objects.fresh_index(tree.commit, tree.place)], 0o644)
        effects.write(str(folder / "HEAD"), [f"{tree.commit}\n".encode()], 0o644)

    def _submodules(
        self, tree: _Tree, links: tuple[Link, ...], name: str, remote: Remote, depth: int
    ) -> Iterator[tuple[_Tree, str, Remote]]:
        """Those that are checked out here, with their pins fetched. One that is not, and moves, is refused by name."""
        for link in links:
            place = tree.place / link.path
            shown = clean_text(self._below(tree, link.path))
            if not (place.is_dir() and any(place.iterdir())):
                if link.moved:
                    hint = "check it out in the image, or name a ref that does not move it"
                    message = f"{name}: the submodule {shown!r:.200} is not checked out here, and the plan moves it to {link.commit}"
                    raise RefusedError("submodule-not-initialised", message, where=self._target.path, hint=hint)
                continue
            if depth >= DEPTH:
                raise RefusedError("submodule-refused", f"submodules are nested more than {DEPTH} deep", where=shown)
            repository = repository_at(place, self._folders, self._places)
            below = f"{name}/{link.path}"
            inner = remote
            if not self._fetch.has(repository, link.commit):
                inner = self._remote(tree, link, remote, shown)
                self._fetch.bring(repository, inner, link.commit, below.replace("/", "-"))
            expected = repository.objects.expect(link.commit, ())
            if expected is None:
                raise OutsideError("missing-objects", f"{link.commit} is not in the submodule", where=shown)
            yield _Tree(place, repository, link.commit, expected), below, inner

    def _remote(self, tree: _Tree, link: Link, parent: Remote, shown: str) -> Remote:
        """Where the tree's own .gitmodules says that the submodule comes from; no token goes there."""
        entry = tree.expected.entries.get(".gitmodules")
        text = tree.repository.objects.blob(entry.hash) if entry is not None else None
        listed = tree.repository.objects.config_list(text or b"")
        try:
            modules = modules_by_path(listed if not isinstance(listed, str) else ())
            return Remote(address(module_at(link.path, modules), parent.url))
        except RefusedModuleError as error:
            raise RefusedError("submodule-refused", f"submodule {shown!r:.200}: {error}", where=shown) from None

    def _open(self, place: Path) -> tuple[Found, CheckoutObjects]:
        raise AssertionError(place)  # only a comparison of submodules asks, and here they are trees of their own

    def _below(self, tree: _Tree, path: str) -> str:
        return (tree.place / path).relative_to(self._root).as_posix()


def _clean(paths: list[str]) -> tuple[str, ...]:
    return tuple(map(clean_text, sorted(paths)))


@contextmanager
def _disk(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise files.outside(error, clean_text(os.fsdecode(error.filename or place))) from None
