"""What a patch file says of each file, as values. `patch_scan` reads them."""

from typing import Literal

from msgspec import Struct, field

from regraft.core.patterns import regex

_POINTER = regex(rb"oid sha256:[0-9a-f]{64}")

Kind = Literal["edit", "create", "delete", "rename", "copy"]


class Hunk(Struct, frozen=True):
    """`line` is the header's in the patch file; `start` where the old lines begin. `body` lines keep their first byte."""

    line: int
    start: int
    body: tuple[bytes, ...]

    @property
    def removed(self) -> tuple[bytes, ...]:
        return tuple(line[1:] for line in self.body if line.startswith(b"-"))

    @property
    def only_removes(self) -> bool:
        return bool(self.removed) and not any(line.startswith(b"+") for line in self.body)

    @property
    def has_context(self) -> bool:
        return any(not line.startswith((b"+", b"-", b"\\")) for line in self.body)


class Section(Struct):
    """What a patch says of one file. `origin` is where a rename or a copy comes from; modes are as written."""

    line: int
    kind: Kind = "edit"
    origin: bytes | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    index_mode: str | None = None
    old_oid: str | None = None  # as the index line abbreviates it
    new_oid: str | None = None
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def changes_mode(self) -> bool:
        return self.kind != "create" and None not in (self.old_mode, self.new_mode) and self.old_mode != self.new_mode

    @property
    def changes_content(self) -> bool:
        return self.binary or bool(self.hunks)

    @property
    def touches_pointer(self) -> bool:
        """Whether it edits the three lines that stand for a file in Git LFS."""
        return any(_POINTER.fullmatch(line[1:]) for hunk in self.hunks for line in hunk.body)


class Problem(Struct, frozen=True):
    """Why a patch file cannot be trusted. Lines start at 1."""

    line: int
    message: str


class PatchText(Struct):
    """`returns` is the first header line that ends in a carriage return; `bare` are empty lines within hunks."""

    sections: list[Section] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    returns: int | None = None
    bare: list[int] = field(default_factory=list)
