"""Lets git itself merge single files of a patch three-way, in an index: from the blob that they were made on.

`git apply --3way` is no help: newer versions merge where an exact patch would do, and older ones do not.
"""

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters import temporary
from regraft.adapters.git import At, Git
from regraft.adapters.process import Completed
from regraft.core.patch_paths import include_pattern
from regraft.core.trees import Merge

_SIDES = ("ours", "base", "theirs")


class UnmergedError(Exception):
    """A git command that failed: the merge with a conflict, or another for reasons of its own."""

    def __init__(self, completed: Completed) -> None:
        super().__init__(completed.stderr)
        self.completed = completed


def merge_files(git: Git, at: At, patch: bytes, merges: Sequence[Merge], names: Sequence[str]) -> bytes:
    """Input for `git update-index -z --index-info` that puts the merged files into the index `at`, which stays as it is.

    Raises UnmergedError.
    """
    return b"".join(_Merging(git, at, patch, one, names).made() for one in merges)


class _Merging(Struct, frozen=True):
    git: Git
    at: At
    patch: bytes
    merge: Merge
    names: Sequence[str]

    def made(self) -> bytes:
        one = self.merge
        folder = temporary.folder(self.git.folder, "merge-")
        mode, ours = self._entry(self.at, one.old_path)
        patched = replace(self.at, index=folder / "index")
        self._run(["update-index", "-z", "--index-info"], _line(mode, one.base, one.old_path), at=patched)
        include = f"--include={os.fsdecode(include_pattern(one.path))}"
        self._run(["apply", "--cached", "--whitespace=nowarn", *self.names, include, "-"], self.patch, at=patched)
        new_mode, theirs = self._entry(patched, one.path)
        for name, oid in zip(_SIDES, (ours, one.base, theirs), strict=True):
            (folder / name).write_bytes(self._run(["cat-file", "blob", oid]))
        merged = self._run(["merge-file", "-p", *(str(folder / name) for name in _SIDES)])
        oid = self._run(["hash-object", "-w", "--no-filters", "--stdin"], merged).decode("ascii").strip()
        taken = _line("0", "0" * len(oid), one.old_path) if one.old_path != one.path else b""
        return taken + _line(new_mode, oid, one.path)

    def _entry(self, at: At, path: bytes) -> tuple[str, str]:
        """(mode, name) of what the index holds there."""
        listing = self._run(["ls-files", "--stage", "-z", "--", os.fsdecode(b":(top,literal)" + path)], at=at)
        meta = listing.partition(b"\t")[0].decode("ascii")
        mode, oid, _ = meta.split(" ")
        return mode, oid

    def _run(self, arguments: Sequence[str], stdin: bytes = b"", *, at: At | None = None) -> bytes:
        completed = self.git.run(arguments, at or self.at, stdin=stdin)
        if completed.returncode != 0:
            raise UnmergedError(completed)
        return completed.stdout


def _line(mode: str, oid: str, path: bytes) -> bytes:
    return f"{mode} {oid} 0\t".encode("ascii") + path + b"\0"
