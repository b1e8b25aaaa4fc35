"""What of a planned tree may be written, and what its submodules want."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from regraft.core.checkout_tree import Entry
from regraft.core.objects import Commit
from regraft.core.trees import EXECUTABLE, FILE, LINK, SUBMODULE

# A step that leads out, or into a repository, also as other file systems would take the name: git refuses these too.
_UNSAFE = re.compile(r"(?:.*/)?(?:\.{0,2}|\.git(?:[ .]*|:[^/]*)|git~\d+)(?:/.*)?|.*\0.*", re.IGNORECASE | re.DOTALL)
_MODES = frozenset({FILE, EXECUTABLE, LINK, SUBMODULE})


def unsafe_paths(entries: Mapping[str, Entry]) -> tuple[str, ...]:
    """The paths that lead out of the checkout, into its repository, or to what is no file, link or submodule."""
    return tuple(path for path, entry in entries.items() if entry.mode not in _MODES or _UNSAFE.fullmatch(path))


class Link(Struct, frozen=True):
    """A submodule of the planned tree. `moved`: the machine's HEAD has it at another commit, or not at all."""

    path: str
    commit: Commit
    moved: bool


def links_of(expected: Mapping[str, Entry], tracked: Mapping[str, Entry]) -> tuple[Link, ...]:
    links: Iterable[tuple[str, Entry]] = ((path, entry) for path, entry in expected.items() if entry.mode == SUBMODULE)
    return tuple(Link(path, Commit(entry.hash), tracked.get(path) != entry) for path, entry in links)
