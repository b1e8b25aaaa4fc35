"""A temporary index in a scratch repository, and git's own verdict on patches there."""

import os
import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from regraft.adapters.git import At, Git
from regraft.adapters.process import Completed
from regraft.core.objects import Tree, parse_tree
from regraft.core.patch_paths import include_pattern
from regraft.core.patterns import regex
from regraft.core.trees import Announced, ApplyOutcome, Entry
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
_FAILED_AT = regex(r"^error: patch failed: .*:(\d+)$", re.MULTILINE)
_OFFSET = regex(r"^Hunk #\d+ succeeded at \d+ \(offset (-?\d+) lines?\)\.$", re.MULTILINE)


class _Tried(Struct, frozen=True):
    """A patch that fits, the copy of the index that it was applied to, and what git said."""

    patch: bytes
    at: At
    outcome: ApplyOutcome


class ScratchIndex:
    """One index file. It goes away with git's private folder."""

    def __init__(self, git: Git, git_dir: Path, path: Path) -> None:
        self._git = git
        self._at = At(git_dir=git_dir, index=path)
        self._tried: _Tried | None = None
        self._tries = 0

    @property
    def at(self) -> At:
        """The repository and the index, for questions of another kind than these."""
        return self._at

    def apply(
        self,
        patch: bytes,
        *,
        reverse: bool = False,
        check_only: bool = False,
        include: tuple[bytes, ...] | None = None,
    ) -> ApplyOutcome:
        """`git apply --cached`: exact, no fuzz, strip level 1. All of it is applied to the index, or nothing.

        `include` keeps to the files of these paths.
        Raises OutsideError: missing-objects, git-failed, and the like.
        """
        tried = self._tried
        if include is None and not reverse:
            if check_only:
                tried = self._tried = self._try(patch)
                if tried is not None:
                    return tried.outcome
            elif tried is not None and tried.patch == patch:
                self._at, self._tried = tried.at, None
                return tried.outcome
        if not check_only:
            self._tried = None
        return self._apply(self._at, patch, reverse=reverse, check_only=check_only, include=include)

    def _try(self, patch: bytes) -> _Tried | None:
        """Apply it to a copy, so that one process both checks and applies; None where it does not fit."""
        assert self._at.index is not None
        self._tries += 1
        copy = self._at.index.with_name(f"tried{self._tries}")
        os.link(self._at.index, copy)  # git writes an index anew and renames it: it never writes to this one
        at = replace(self._at, index=copy)
        outcome = self._apply(at, patch)
        return _Tried(patch, at, outcome) if outcome.verdict == "fits" else None

    def _apply(
        self,
        at: At,
        patch: bytes,
        *,
        reverse: bool = False,
        check_only: bool = False,
        include: tuple[bytes, ...] | None = None,
    ) -> ApplyOutcome:
        arguments = ["apply", "--cached", "--whitespace=nowarn", "-p1"]
        arguments += (
            ["--check"] if check_only else ["--verbose"]
        )  # which tells offsets, and of a failure prints the patch
        arguments += ["-R"] if reverse else []
        arguments += [f"--include={os.fsdecode(include_pattern(path))}" for path in include or ()]
        return _outcome(self._git.run([*arguments, "-"], at, stdin=patch))

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
    said = completed.stderr.decode("utf-8", "replace")
    if completed.returncode == 0:
        return ApplyOutcome("fits", offsets=tuple(int(one) for one in _OFFSET.findall(said)))
    line = _first(completed)
    if completed.returncode == 128 and _UNREADABLE.fullmatch(f"error: {line}"):
        return ApplyOutcome("unreadable", line)
    if completed.returncode != 1 or _MISSING.match(line):
        raise failure(completed)
    failed = _FAILED_AT.search(said)
    return ApplyOutcome("fails", line, int(failed[1]) if failed else None)


def _first(completed: Completed) -> str:
    """The first line of an error, without git's word for it."""
    lines = completed.stderr.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if line.startswith(("error: ", "fatal: "))]
    return (errors or lines or [""])[0].removeprefix("error: ").removeprefix("fatal: ")
