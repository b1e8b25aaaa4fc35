"""A temporary index in a scratch repository, and git's own verdict on patches there."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from regraft.adapters.git import At, Git
from regraft.adapters.index_merge import UnmergedError, merge_files
from regraft.adapters.process import Completed
from regraft.core.objects import Tree, parse_tree
from regraft.core.patch_paths import include_pattern
from regraft.core.patterns import regex
from regraft.core.trees import Announced, ApplyOutcome, Entry, Merge
from regraft.errors import OutsideError

_UNREADABLE = regex(
    r"error: (?:corrupt (?:binary )?patch|patch with only garbage|No valid patches|unrecognized (?:binary patch|input)"
    r"|git apply: bad git-diff|git diff header|patch fragment without header|unable to find filename|invalid (?:path|mode)"
    r"|new file .* depends on old contents|deleted file .* still has contents|inconsistent).*",
    re.DOTALL,
)
_MISSING = regex(
    r"failed to read |unable to read|bad object|Not a valid (?:object|commit)|failed to unpack tree|could not parse"
)


class ScratchIndex:
    """One index file. It goes away with git's private folder."""

    def __init__(self, git: Git, git_dir: Path, path: Path) -> None:
        self._git = git
        self._at = At(git_dir=git_dir, index=path)

    @property
    def at(self) -> At:
        """The repository and the index, for questions of another kind than these."""
        return self._at

    def apply(
        self,
        patch: bytes,
        *,
        names: Sequence[str] = ("-p1",),
        merges: Sequence[Merge] = (),
    ) -> ApplyOutcome:
        """`git apply --cached`: exact, no fuzz, with the strip level and root of `names`. All of it is applied to the index, or nothing.

        The files in `merges` are merged by git instead, three-way, and fail where that leaves a conflict.
        Raises OutsideError: missing-objects, git-failed, and the like.
        """
        if merges:
            return self._apply_merging(patch, names, merges)
        return self._apply(patch, names)

    def _apply(self, patch: bytes, options: Sequence[str]) -> ApplyOutcome:
        arguments = ["apply", "--cached", "--whitespace=nowarn", *options, "-"]
        return _outcome(self._git.run(arguments, self._at, stdin=patch))

    def _apply_merging(self, patch: bytes, names: Sequence[str], merges: Sequence[Merge]) -> ApplyOutcome:
        try:
            made = merge_files(self._git, self._at, patch, merges, names)
        except UnmergedError as error:
            said = _first(error.completed)
            if error.completed.returncode < 0 or _MISSING.match(said):
                raise failure(error.completed) from None
            return ApplyOutcome("fails", said or f"a conflict (git {error.completed.argv[1]})")
        others = [f"--exclude={os.fsdecode(include_pattern(one.path))}" for one in merges]
        outcome = self._apply(patch, [*names, *others])
        if outcome.verdict == "fits":
            completed = self._git.run(["update-index", "-z", "--index-info"], self._at, stdin=made)
            if completed.returncode != 0:
                raise failure(completed)
        return outcome

    def write_tree(self) -> Tree:
        """The tree of what the index holds; blobs need not be here. Raises OutsideError."""
        completed = self._git.run(["write-tree", "--missing-ok"], self._at)
        if completed.returncode != 0:
            raise failure(completed)
        return parse_tree(completed.stdout.decode("ascii").strip())

    def entries(self) -> tuple[Entry, ...]:
        """Every path in the index."""
        completed = self._git.run(["ls-files", "--stage", "-z"], self._at)
        if completed.returncode != 0:
            raise failure(completed)
        found = []
        for record in completed.stdout.split(b"\0")[:-1]:
            meta, _, path = record.partition(b"\t")
            mode, oid, _ = meta.decode("ascii").split(" ")
            found.append(Entry(mode, "commit" if mode == "160000" else "blob", oid, path))
        return tuple(found)


def parse_numstat(completed: Completed) -> Announced:
    """What `git apply --numstat -z` says. It touches no repository: what fails is the patch."""
    if completed.returncode < 0:
        raise failure(completed)
    if completed.returncode != 0:
        return Announced(complaint=_first(completed))
    records = completed.stdout.split(b"\0")[:-1]
    return Announced(tuple(record.split(b"\t", 2)[2] for record in records))


def failure(completed: Completed) -> OutsideError:
    """The error for a git that failed for reasons of its own, with the remedy where it is known."""
    said = completed.stderr.decode("utf-8", "replace")
    line = _first(completed) or f"exit code {completed.returncode}"
    verb = " ".join(completed.argv[:2])
    message = f"{verb} failed: {line!r:.220}"
    if _MISSING.search(said):
        hint = "fetch them first (a clone without blobs or with little history lacks them)"
        return OutsideError("missing-objects", f"{verb} found objects missing: {line!r:.220}", hint=hint)
    if "No space left" in said:
        return OutsideError("no-space", message, hint="make room on the disk of the temporary folder (TMPDIR)")
    if "ermission denied" in said or "insufficient permission" in said:
        return OutsideError("no-permission", message, hint="let this user read the objects and write to TMPDIR")
    return OutsideError("git-failed", message)


def _outcome(completed: Completed) -> ApplyOutcome:
    if completed.returncode == 0:
        return ApplyOutcome("fits")
    line = _first(completed)
    if completed.returncode == 128 and _UNREADABLE.fullmatch(f"error: {line}"):
        return ApplyOutcome("unreadable", line)
    if completed.returncode != 1 or _MISSING.match(line):
        raise failure(completed)
    return ApplyOutcome("fails", line)


def _first(completed: Completed) -> str:
    """The first line of an error, without git's word for it."""
    lines = completed.stderr.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if line.startswith(("error: ", "fatal: "))]
    return (errors or lines or [""])[0].removeprefix("error: ").removeprefix("fatal: ")
