"""What `regraft patch drop` finds and does, as values."""

from typing import Literal

from msgspec import Struct

from regraft.core.objects import Sha256
from regraft.core.plan import PatchState
from regraft.core.spans import Span


class FileCut(Struct, frozen=True):
    """What goes of one file, in order and apart. `globs` are the patterns in it that may stand for the patch, and stay.

    `foreign`: the file has another patch of the same name, and this one not at all. `empty`: nothing of use is left in it.
    `needs`: what stays although it needs a folder in which nothing but the patch was.
    """

    spans: tuple[Span, ...] = ()
    globs: tuple[Span, ...] = ()
    foreign: bool = False
    empty: bool = False
    needs: tuple[Span, ...] = ()


class Evidence(Struct, frozen=True):
    """What is known of the patch at one commit of the dependency that it is carried on.

    `referred`: whether anything at that commit still refers to what the patch edits; None where nobody looked.
    """

    image: str
    dependency: str
    ref: str
    commit: str | None
    state: PatchState
    reason: str | None = None
    referred: bool | None = None
    release: str | None = None  # the version, where it is a release and no commit

    @property
    def called(self) -> str:
        return self.release or (self.commit or "")[:12]

    @property
    def droppable(self) -> bool:
        """Already there, or dead: what it edits is gone, and nothing refers to it."""
        return self.state == "already-there" or (self.state == "target-gone" and self.referred is False)


MentionKind = Literal["use", "pattern", "text"]


class Mention(Struct, frozen=True):
    """A reference to the patch that is left. `use`: something that runs and needs the file, or a pattern that stands for nothing
    else; `pattern`: one that may stand for others too.

    Line and column start at 1, in the file as it is then; `text` is the line, without its end. `was`: the line before the drop.
    """

    path: str
    line: int
    column: int
    kind: MentionKind
    text: str
    was: int


class Change(Struct, frozen=True):
    """One file of the project, before and after; `after` is None where it is deleted. `lines` are those that were cut."""

    path: str
    before: bytes
    after: bytes | None
    lines: tuple[int, ...] = ()


class Drop(Struct, frozen=True):
    """All that one drop does: every change, or none of them."""

    patch: str
    sha256: Sha256
    evidence: tuple[Evidence, ...]
    proved: bool
    changes: tuple[Change, ...]
    mentions: tuple[Mention, ...]
    remarks: tuple[str, ...] = ()
    uses: tuple[Mention, ...] = ()  # of the mentions, those that fail when the file is gone
