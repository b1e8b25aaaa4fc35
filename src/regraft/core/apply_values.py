"""What an apply hands to its parts, and gets from them."""

from msgspec import Struct

from regraft.core.objects import Commit, Tree
from regraft.core.observation import CarriedPatch
from regraft.core.resolution import Remote


class Target(Struct, frozen=True):
    """What one checkout is to hold: `patches` are all to be applied, and make `tree` on the commit."""

    dependency: str
    path: str  # the manifest's
    remote: Remote
    commit: Commit
    tree: Tree
    patches: tuple[CarriedPatch, ...]


class Written(Struct, frozen=True):
    """Paths below the checkout, sorted, in clean text."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    aside: tuple[str, ...]  # untracked files that were moved out of the way
    pointers: tuple[str, ...]  # of `written`, those that hold a git-lfs pointer instead of content


class Ran(Struct, frozen=True):
    """One command's end. `code` is None where it was ended for its time, and negative for a signal.

    `tail` are its last lines, as it wrote them. Begin and end are nanoseconds of the machine's clock.
    """

    argv: tuple[str, ...]
    code: int | None
    tail: tuple[str, ...]
    begin: int
    end: int
    left_running: bool = False  # a process of its group was still there, and was ended


class Step(Struct, frozen=True):
    """One install command of a dependency, or of the project where `dependency` is None."""

    dependency: str | None
    argv: tuple[str, ...]
    path: str | None  # the folder it runs in: the manifest's path of a checkout; None: the project's
