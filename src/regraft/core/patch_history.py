"""What first-parent history says of a few paths, and of carried patches over them, as values. Newest first, throughout."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from regraft.core.objects import Commit, Tree
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.plan import PatchState


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
    release: str | None = None  # the version, where a release stands for the commit

    @property
    def called(self) -> str:
        return self.release or self.commit[:12]


class Line(Struct, frozen=True):
    """First-parent commits from a tip downwards, and those of them that touched the paths.

    `beyond` is the first parent of the oldest one, None where history begins (or, in a shallow repository, is cut off: then
    `cut` is true, and nothing is known of what the oldest commit changed).
    """

    commits: tuple[Commit, ...]
    touches: tuple[Touch, ...]
    beyond: Commit | None
    cut: bool = False


class CommitObject(Struct, frozen=True):
    commit: Commit
    tree: Tree
    parents: tuple[Commit, ...]
    date: int
    message: str
    release: str | None = None  # the version, where a release stands for the commit

    @property
    def subject(self) -> str:
        """The first paragraph in one line, as git has it."""
        return " ".join(self.message.lstrip("\n").partition("\n\n")[0].split("\n")).strip()


class Renamed(Struct, frozen=True):
    """A file that was moved; `similarity` is in percent."""

    old: bytes
    new: bytes
    similarity: int


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
    release: str | None = None  # the version, where a release stands for the commit

    @property
    def called(self) -> str:
        return self.release or self.commit[:12]


View = Mapping[bytes, Version]
"""The paths asked for that are there, with what they hold."""


class Turn(Struct, frozen=True):
    """One change of a patch's state: `by` is the first-parent commit after which it holds, `culprit` who made it."""

    by: Touch
    before: PatchVerdict
    after: PatchVerdict
    culprit: Culprit


class PatchHistory(Struct, frozen=True):
    """One patch in a range: its verdict at the tip, and each change of its state, newest first."""

    now: PatchVerdict
    turns: tuple[Turn, ...]


class SeriesHistory(Struct, frozen=True):
    """A series in a range. `commits`: how many first-parent commits it has; `touching`: how many of them touched its paths.

    `reaches` says that the range begins where the history that is here does. `judged`: pieces that had to be judged anew.
    `cut` is the commit before which a shallow repository's history is cut off, where the range reaches it. `lacks`: the name of a
    file's content that is not here, so that no older version was judged.
    """

    tip: Commit
    commits: int
    touching: int
    reaches: bool
    state: PatchState | None
    patches: tuple[PatchHistory, ...]
    judged: int
    cut: Commit | None = None
    lacks: str | None = None
