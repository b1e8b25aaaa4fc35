"""What first-parent history says of a few paths, and of carried patches over them, as values. Newest first, throughout."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from regraft.core.objects import Commit, Tree


class Version(NamedTuple):
    """What one path holds: its mode ("100644") and the name of its blob, or of a submodule's commit."""

    mode: str
    oid: str


class Change(Struct, frozen=True):
    """One path before and after a commit; None where it is not there."""

    path: bytes
    old: Version | None
    new: Version | None


class Touch(Struct, frozen=True):
    """A first-parent commit that changed one of the paths, compared with its first parent.

    `position` counts commits from the tip, which is 0. `date` is the committer's, in seconds. `changes` holds those of the
    paths asked for, of what lies below one that is a folder, and of a file that stands where one's folder should be.
    """

    position: int
    commit: Commit
    tree: Tree
    date: int
    subject: str
    parents: tuple[Commit, ...]
    changes: tuple[Change, ...]


class Line(Struct, frozen=True):
    """First-parent commits from a tip downwards, and those of them that touched the paths.

    `beyond` is the first parent of the oldest one, None where history begins (or, in a shallow repository, is cut off: then
    `cut` is true, and nothing is known of what the oldest commit changed).
    """

    commits: tuple[Commit, ...]
    touches: tuple[Touch, ...]
    beyond: Commit | None
    cut: bool = False


class Culprit(Struct, frozen=True):
    """The commit that changed a state. `pull` is its pull request's number, `through` the first-parent merge that brought it.

    `deleted`: the path that it deleted, `renamed_to`: where that went. `rewrote`: the path and the first and last line
    (from 1, in the file before it) of what it rewrote there.
    """

    commit: Commit
    subject: str
    date: int
    pull: int | None = None
    through: Commit | None = None
    deleted: str | None = None
    renamed_to: str | None = None
    similarity: int | None = None  # percent
    rewrote: tuple[str, int, int] | None = None
    retyped: tuple[str, str] | None = None  # the path, and what it is now


View = Mapping[bytes, Version]
"""The paths asked for that are there, with what they hold."""
