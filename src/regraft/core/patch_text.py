"""What a patch file says of each file, as values. `patch_read` makes them."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, field

from regraft.core.patterns import regex

_POINTER = regex(rb"oid sha256:[0-9a-f]{64}")

_FULL = (40, 64)  # digits of a name

Kind = Literal["edit", "create", "delete", "rename", "copy"]


class Hunk(Struct, frozen=True):
    r"""`line` is the header's in the patch file; `start` where the old lines begin, and `new_start` the new ones, as written.

    `body` lines keep their first byte; an empty one is an empty line of context that lost its blank. `\ No newline …` is in it.
    """

    line: int
    start: int
    new_start: int
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


class Substitution(Struct, frozen=True):
    """A text that is replaced by another one, exactly, at `count` places; an anchor, which only has to be there, where both are the same.

    `line` is that of its table in the file that declares it.
    """

    line: int
    old: bytes
    new: bytes
    count: int = 1

    @property
    def is_anchor(self) -> bool:
        return self.old == self.new


class BinaryPart(Struct, frozen=True):
    """One direction of a binary change, still encoded. `size` is what the header says: of the bytes after inflating.

    `line` is the header's; `lines` are the encoded ones as they stand, the first byte (their length) included.
    """

    line: int
    method: Literal["literal", "delta"]
    size: int
    lines: tuple[bytes, ...]


class BinaryPatch(Struct, frozen=True):
    """`reverse` leads back to the old content, where the patch holds it. `core/binary_patch.py` decodes the parts."""

    forward: BinaryPart
    reverse: BinaryPart | None = None


class Section(Struct):
    """What a patch says of one file. Paths are stripped, and relative to the tree's root.

    `path` is the new name (the old one of a deletion); `origin` the old name where it is another. Modes are as written.
    `creates_if_absent`: a plain diff of one hunk without old lines, which git takes as a new file where there is none.
    `substitutions`: in place of all that, where the file that declares the change is no diff (`substitution_read`).
    """

    line: int
    kind: Kind = "edit"
    path: bytes = b""
    origin: bytes | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    index_mode: str | None = None
    old_oid: str | None = None  # as the index line abbreviates it
    new_oid: str | None = None
    binary: BinaryPatch | None = None
    hunks: list[Hunk] = field(default_factory=list)
    creates_if_absent: bool = False
    substitutions: list[Substitution] = field(default_factory=list)

    @property
    def old_path(self) -> bytes:
        return self.path if self.origin is None else self.origin

    @property
    def changes_mode(self) -> bool:
        return self.kind != "create" and None not in (self.old_mode, self.new_mode) and self.old_mode != self.new_mode

    @property
    def changes_content(self) -> bool:
        return self.binary is not None or bool(self.hunks or self.substitutions)

    @property
    def touches_pointer(self) -> bool:
        """Whether it edits the three lines that stand for a file in Git LFS."""
        return any(_POINTER.fullmatch(line[1:]) for hunk in self.hunks for line in hunk.body)


class Problem(Struct, frozen=True):
    """Why a patch file cannot be trusted. Lines start at 1.

    `said` is what git says where it refuses to read the file; None: git would skip this in silence.
    """

    line: int
    message: str
    said: str | None = None


class Remark(Struct, frozen=True):
    """What git takes although it is not as it should be, or what else is to be known. Lines start at 1."""

    line: int
    message: str


class PatchText(Struct):
    """All of a patch file. Where it has problems it is `unreadable`, and its sections are not to be relied on.

    `strip` is the strip level that was used, `root` the folder below which the stripped names lie ("" or "python/").
    `returns` is the first header line that ends in a carriage return; `bare` are empty lines within hunks.
    `offered` is what a mechanical repair would do (`patch_repair`), a phrase each, where one makes the file readable.
    `merges`: it is carried where a three-way merge is good enough (`apply = "3way"`).
    """

    sections: list[Section] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    tolerated: list[Remark] = field(default_factory=list)
    strip: int = 1
    root: bytes = b""
    returns: int | None = None
    bare: list[int] = field(default_factory=list)
    offered: tuple[str, ...] = ()
    merges: bool = False

    @property
    def touched(self) -> frozenset[bytes]:
        """Every path that it names, old and new."""
        return frozenset(path for section in self.sections for path in (section.path, section.old_path))

    @property
    def substitutes(self) -> bool:
        """Whether it is no diff, and git has nothing to say of it."""
        return any(section.substitutions for section in self.sections)

    @property
    def git_arguments(self) -> tuple[str, ...]:
        """What makes `git apply` take the very same names."""
        if not self.root:
            return (f"-p{self.strip}",)
        return (f"-p{self.strip}", f"--directory={self.root.rstrip(b'/').decode('utf-8', 'surrogateescape')}")


def bases_of(texts: Iterable[PatchText]) -> frozenset[str]:
    """The full names of the files that patches were made on, where their index lines tell them (`git diff --full-index`).

    Those that an earlier patch makes are left out: nobody else has them.
    """
    sections = [section for text in texts if not text.problems for section in text.sections]
    names = {one.old_oid for one in sections if one.old_oid and len(one.old_oid) in _FULL and one.old_oid.strip("0")}
    return frozenset(names - {one.new_oid for one in sections})
