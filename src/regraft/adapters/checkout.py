"""A checkout in an image: what its repository says, and what its files are.

The checkout's own configuration, hooks, filters and index are never asked. Its objects are read through a scratch
repository, and its files byte by byte.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters import disk, git_folder
from regraft.adapters.checkout_content import Content
from regraft.adapters.checkout_objects import CheckoutObjects, Expected
from regraft.adapters.checkout_whole import WholeContent
from regraft.adapters.git import Git
from regraft.adapters.git_folder import Found
from regraft.adapters.places import Places
from regraft.core.checkout_tree import clean_text, tree_hash
from regraft.core.objects import Commit
from regraft.core.observation import Checkout, FoundPatch, Outcome, Wanted
from regraft.core.patterns import regex
from regraft.errors import OutsideError

_HAS_USER = regex(r"://[^/@\s]*:[^/@\s]+@")

TEXT_LIMIT = 4 * 1024 * 1024


class Opened(Struct, frozen=True):
    """A checkout, its repository, and what is in its objects."""

    place: Path
    found: Found
    objects: CheckoutObjects


class CheckoutFolders:
    """`flows.ports.Checkouts` over the disk."""

    def __init__(self, git: Git, places: Places) -> None:
        self._git = git
        self._places = places
        self._opened: dict[Path, Opened] = {}
        self.memory = disk.Memory()

    def look(self, dependency: str, path: str, wanted: Wanted) -> Checkout:
        """What is at `path`, compared with `wanted`. Raises OutsideError where git or the disk fails."""
        place = self._places.of(path)
        try:
            return self._look(dependency, path, place, wanted)
        except OSError as error:
            where = clean_text(str(error.filename or place))
            raise OutsideError("unreadable", f"{where!r:.200} cannot be read: {error.strerror}") from None

    def _look(self, dependency: str, path: str, place: Path, wanted: Wanted) -> Checkout:
        opened = self.open(place)
        found = opened.found
        base = Checkout(dependency, path, clean_text(os.path.realpath(place)), found.state, found.trouble)
        if found.state in {"absent", "no-folder"}:
            return base
        head = None
        if found.git is not None:
            head = found.git.head()
            base = replace(
                base,
                head=head,
                shallow=found.git.shallow(),
                unfinished=found.git.unfinished(),
                credentials=self._credentials(found.git.config()),
            )
        return self._judge(base, opened, wanted, head)

    def changed_paths(self, path: str, old: Commit, new: Commit) -> tuple[str, ...] | None:
        """The paths that differ between two commits, those of submodules with a `/`; None where it does not have both."""
        return self.open(self._places.of(path)).objects.changed_paths(old, new)

    def tags(self, path: str) -> Mapping[str, Commit]:
        """Tag name -> the object that it names."""
        found = self.open(self._places.of(path)).found
        return found.git.tags() if found.git else {}

    def is_ancestor(self, path: str, old: Commit, new: Commit) -> bool | None:
        """None where the history between the two is not all there."""
        opened = self.open(self._places.of(path))
        return opened.objects.is_ancestor(old, new)

    def open(self, place: Path) -> Opened:
        """What stands at a place of this machine; the same answer for as long as this object lives."""
        if place not in self._opened:
            self._git.trust(place)
            found = git_folder.find(place, self._places)
            folders = found.git.object_folders(self._places) if found.git else ()
            shallow = found.git.common / "shallow" if found.git and found.git.shallow() else None
            objects = CheckoutObjects(self._git, folders, shallow)
            self._opened[place] = Opened(place, found, objects)
        return self._opened[place]

    def _credentials(self, config: bytes) -> tuple[str, ...]:
        """The keys of a configuration that hold a secret, without the parts of a key that may be one."""
        listing = self._git.run(["config", "--file", "-", "--no-includes", "--null", "--list"], stdin=config)
        found = set()
        for entry in listing.stdout.decode("utf-8", "replace").split("\0"):
            key, _, value = entry.partition("\n")
            section, name = key.partition(".")[0], key.rpartition(".")[2]
            if name == "extraheader" or _HAS_USER.search(f"{key}\n{value}"):
                found.add(f"{section}.{name}")
        return tuple(sorted(found))

    # Content

    def _judge(self, base: Checkout, opened: Opened, wanted: Wanted, head: Commit | None) -> Checkout:
        commit = wanted.commit or (head if wanted.tree is None else None)
        expected = opened.objects.expect(commit, wanted.patches) if commit else None
        if head is not None:
            base = replace(base, head_tree=opened.objects.tree_of(head))
            if wanted.commit not in {None, head}:
                base = replace(base, descends=opened.objects.is_ancestor(wanted.commit, head))
        if expected is None:
            reason = f"{commit} is not in the checkout" if commit else "no commit is known"
            return self._by_content(base, opened, wanted, reason)
        return self._by_entries(base, opened, wanted, expected, head)

    def _by_entries(
        self, base: Checkout, opened: Opened, wanted: Wanted, expected: Expected, head: Commit | None
    ) -> Checkout:
        content = Content(opened.place, opened.objects, self._inside, self.memory)
        compared = content.compare(expected, opened.objects.entries(head) if head else None)
        same = wanted.tree in {None, expected.tree}
        return replace(
            base,
            judged="entries" if same else "paths",
            reason=None if same else f"the planned commit and the patches at hand make {expected.tree}",
            expected=expected.tree,
            tree=tree_hash(compared.stored, sha256=expected.sha256),
            differences=compared.differences,
            extras=compared.extras,
            patches=_patches(wanted, expected.applied),
            touched=tuple(map(clean_text, expected.touched)),
            source_folders=tuple(sorted(compared.sources)),
            pointers=compared.pointers,
            texts=tuple(_texts(opened.objects, expected, wanted.texts)),
            tracked=compared.tracked,
        )

    def _by_content(self, base: Checkout, opened: Opened, wanted: Wanted, reason: str) -> Checkout:
        sha256 = len(wanted.tree or base.head or "") == 64
        content = WholeContent(opened.place, opened.objects, self._inside, self.memory)
        whole = content.search(wanted.tree, sha256=sha256)
        stored = whole.compared.stored
        return replace(
            base,
            judged="content",
            reason="; ".join((reason, *whole.said)),
            tree=whole.tree,
            differences=whole.compared.differences,
            extras=whole.compared.extras,
            patches=_patches(wanted, {}),
            source_folders=tuple(sorted(whole.compared.sources)),
            pointers=whole.compared.pointers,
            texts=tuple(_texts_on_disk(opened.place, [path for path in wanted.texts if path in stored])),
            tracked=whole.compared.tracked,
        )

    def _inside(self, place: Path) -> tuple[Found, CheckoutObjects]:
        """A submodule's own repository."""
        opened = self.open(place)
        return opened.found, opened.objects


def _patches(wanted: Wanted, applied: Mapping[str, bool]) -> tuple[FoundPatch, ...]:
    found = []
    for patch in wanted.patches:
        went_on = applied.get(patch.path)
        outcome: Outcome = "not-tried" if went_on is None else "applied" if went_on else "does-not-apply"
        found.append(FoundPatch(patch.path, patch.sha256, outcome))
    return tuple(found)


def _texts(objects: CheckoutObjects, expected: Expected, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        entry = expected.entries.get(path)
        data = objects.blob(entry.hash) if entry is not None else None
        if data is not None and len(data) <= TEXT_LIMIT:
            yield path, data


def _texts_on_disk(place: Path, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        data = disk.read(place / path, TEXT_LIMIT)
        if data is not None:
            yield path, data
