"""What `regraft patch status`, `history`, `why` and `refresh` say of one patch at one ref, as values."""

from typing import Literal

from msgspec import Struct

from regraft.core.objects import Commit, Sha256
from regraft.core.patch_history import Culprit, Turn
from regraft.core.plan import PatchState
from regraft.core.references import References

Action = Literal["nothing", "drop", "refresh", "rebuild", "pin", "by-hand"]

WORDS: dict[Action, str] = {
    "nothing": "nothing to do",
    "drop": "drop it",
    "refresh": "refresh it",
    "rebuild": "rebuild the image",
    "pin": "pin the dependency",
    "by-hand": "decide by hand",
}


class HunkState(Struct, frozen=True):
    """`index` counts from 1 within the file's section; a change without hunks is one entry without an index.

    `line`: where it stands in the file, of what names no line.
    """

    file: str
    index: int | None
    state: PatchState
    offset: int | None
    reason: str | None = None
    line: int | None = None


class Remark(Struct, frozen=True):
    """`code` is a stable word for machines."""

    code: str
    message: str


class Advice(Struct, frozen=True):
    """What to do, and why. `references` is None where nobody had to look."""

    action: Action
    grounds: tuple[str, ...]
    remarks: tuple[Remark, ...] = ()
    references: References | None = None


class Row(Struct, frozen=True):
    """One patch at one ref. `culprit` is None where its state never changed in the history that was looked through."""

    image: str
    dependency: str
    patch: str
    sha256: Sha256
    ref: str
    commit: Commit
    state: PatchState
    reason: str | None
    hunks: tuple[HunkState, ...]
    culprit: Culprit | None
    advice: Advice
    turns: tuple[Turn, ...] = ()
    commits: int = 0  # first-parent commits (or releases) that were looked through
    reaches: bool = False  # down to where history begins
    release: str | None = None  # the version, where a release stands for the commit
    cut: Commit | None = None  # before it, history is cut off (a shallow clone)
    lacks: str | None = None  # a file's content that is not here, so that no older version was judged (a partial clone)

    @property
    def called(self) -> str:
        return self.release or self.commit[:12]

    @property
    def stops(self) -> bool:
        return self.state not in ("applies", "already-there")
