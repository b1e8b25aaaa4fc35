"""All files of a checkout whose planned commit is not at hand: do they make the planned tree?

Nothing says which files are tracked. Those that the checkout's own `.gitignore` files do not name are tried first; since a
repository may track files that it ignores, the others are then tried as well, a pattern's files together.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

from msgspec import Struct

from regraft.adapters import disk
from regraft.adapters.checkout_content import Compared, Content, joined
from regraft.adapters.disk import Disk
from regraft.core.checkout_tree import Entry, clean_text, source_folders, tree_hash
from regraft.core.objects import Tree
from regraft.core.observation import Extra
from regraft.core.trees import SUBMODULE

TRIES = 64  # trees that are made; each is some milliseconds for a thousand files
TEXT_LIMIT = 4 * 1024 * 1024


class Whole(Struct, frozen=True):
    """`compared.stored` make `tree`, which is the one that was asked for where that can be made. `said` is for the reason."""

    compared: Compared
    tree: Tree
    said: tuple[str, ...]


class WholeContent(Content):
    def search(self, wanted: Tree | None, *, sha256: bool) -> Whole:
        """Raises OSError where a folder cannot be read."""
        there = disk.walk(self._place)
        nested = _outermost(there)
        files = [path for path in there.files if not _is_in(path, nested)]
        ignoring = self._objects.ignoring([*files, *nested], self._place)
        entries = _Entries(self, sha256=sha256, nested=frozenset(nested))
        plain = frozenset(path for path in (*files, *nested) if path not in ignoring)
        stored, tree = self._try(plain, entries, sha256=sha256)
        if wanted not in {None, tree}:
            groups = _groups(ignoring, [path for path in nested if path in plain])
            for turned in islice(_choices(groups), TRIES):
                other = self._try(plain ^ turned, entries, sha256=sha256)
                if other[1] == wanted:
                    stored, tree = other
                    break
        unknown = wanted not in {None, tree}
        submodules = sorted(path for path, one in stored.items() if one.mode == SUBMODULE)
        outer = self._outer(there, stored, submodules, proved=not unknown)
        compared = joined(outer, [self._inside(path, stored[path]) for path in submodules])
        return Whole(compared, tree, _said(submodules, self._lost(there, submodules), len(ignoring) if unknown else 0))

    def _try(self, paths: frozenset[str], entries: "_Entries", *, sha256: bool) -> tuple[dict[str, Entry], Tree]:
        stored = {path: entry for path in sorted(paths) if (entry := entries.at(path)) is not None}
        return stored, tree_hash(stored, sha256=sha256)

    def entry(self, path: str, *, sha256: bool, nested: bool) -> Entry | None:
        """What git would make of a file, or of a repository's folder; None where it would make nothing."""
        one = self._submodule(path) if nested else disk.entry_at(self._place / path, sha256=sha256)
        return one if isinstance(one, Entry) else None

    def _outer(self, there: Disk, stored: Mapping[str, Entry], submodules: Sequence[str], *, proved: bool) -> Compared:
        """Where the tree is `proved`, only the `.gitignore` files that are in it say what is ignored."""
        rest = [path for path in there.files if path not in stored and not _is_in(path, submodules)]
        ignoring = self._objects.ignoring(rest, self._place)
        ignored = {path for path, (source, _) in ignoring.items() if source in stored or not proved}
        return Compared(
            (),
            tuple(Extra(clean_text(path), "ignored") if path in ignored else self._untracked(path) for path in rest),
            dict(stored),
            frozenset(map(clean_text, stored)),
            frozenset(map(clean_text, source_folders(stored))),
        )

    def _lost(self, there: Disk, submodules: Sequence[str]) -> list[str]:
        """The submodules that `.gitmodules` names and whose commit nothing on the disk tells."""
        text = disk.read(self._place / ".gitmodules", TEXT_LIMIT)
        named = self._objects.modules(text) if text is not None else {}
        return sorted(path for path in named if path in there.folders and path not in submodules)


class _Entries:
    """Each file is read when it is first needed, and once."""

    def __init__(self, content: WholeContent, *, sha256: bool, nested: frozenset[str]) -> None:
        self._content = content
        self._sha256 = sha256
        self._nested = nested
        self._known: dict[str, Entry | None] = {}

    def at(self, path: str) -> Entry | None:
        if path not in self._known:
            self._known[path] = self._content.entry(path, sha256=self._sha256, nested=path in self._nested)
        return self._known[path]


def _outermost(there: Disk) -> list[str]:
    """The outermost folders that are repositories of their own."""
    return sorted(one for one in there.nested if not any(one.startswith(f"{other}/") for other in there.nested))


def _is_in(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _groups(ignoring: Mapping[str, tuple[str, str]], nested: Sequence[str]) -> list[frozenset[str]]:
    """What may be in the tree or not: the files of each pattern, few ones first, and each repository in the checkout."""
    by_pattern: dict[tuple[str, str], set[str]] = {}
    for path, pattern in ignoring.items():
        by_pattern.setdefault(pattern, set()).add(path)
    patterns = sorted(map(frozenset, by_pattern.values()), key=lambda one: (len(one), sorted(one)))
    return [*patterns, *(frozenset({path}) for path in nested)]


def _choices(groups: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    """Which groups to turn over: all of them, each, two of them, all but one, three of them and so on."""
    sizes = dict.fromkeys((len(groups), 1, 2, len(groups) - 1, *range(3, len(groups))))
    for size in sizes:
        for chosen in combinations(groups, size) if 0 < size <= len(groups) else ():
            yield frozenset().union(*chosen)


def _said(submodules: Sequence[str], lost: Sequence[str], ignored: int) -> tuple[str, ...]:
    said = []
    if submodules:
        said.append(f"its submodules were judged by their own HEAD: {_listed(submodules)}")
    if lost:
        said.append(f"nothing tells the commit of its submodules: {_listed(lost)}")
    if ignored:
        said.append(f"files that its .gitignore names and that may be tracked: {ignored}")
    return tuple(said)


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(repr(clean_text(path)) if not path.isprintable() else path for path in paths[:5])
    return shown + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
