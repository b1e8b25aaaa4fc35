"""One file of a patch against a tree: does it fit, is it there already, or is its target gone?"""

from typing import assert_never

from msgspec import Struct

from regraft.core.objects import Blob
from regraft.core.patch_state import fold_patch
from regraft.core.patch_text import Section
from regraft.core.plan import PatchState
from regraft.core.removal import blob_oid, removal_doubt
from regraft.core.trees import ApplyOutcome, Entry, Tracked, shown
from regraft.flows.judge_reasons import why_not
from regraft.flows.judge_target import gone, kind_of, occupied
from regraft.flows.patch_reading import FileChange, Reading
from regraft.flows.ports import GateStore, ScratchIndex

CONTENT_LIMIT = 64 * 1024 * 1024


class Ground(Struct):
    """What patches are judged on: the index, and what it holds now."""

    store: GateStore
    index: ScratchIndex
    tracked: Tracked


class FileVerdict(Struct, frozen=True):
    state: PatchState
    name: str
    reason: str | None = None


def judge_file(file: FileChange, reading: Reading, ground: Ground, *, fits: bool) -> FileVerdict:
    """`fits` says that git applies the whole patch, this file included."""
    return _Judge(file, reading, ground, fits).judge()


class _Judge(Struct, frozen=True):
    file: FileChange
    reading: Reading
    ground: Ground
    fits: bool

    def judge(self) -> FileVerdict:
        if len(self.file.changes) > 1:
            return self._several()
        [(path, section)] = self.file.changes
        if section.touches_pointer:
            # https://github.com/git-lfs/git-lfs/issues/3958: the checkout may hold the real file in the pointer's place
            return self._verdict(
                "conflict", "it is a Git LFS pointer, which stands for a file that no text patch can edit"
            )
        if section.kind == "create":
            return self._create(path, section)
        if section.kind == "delete":
            return self._delete(path, section)
        if section.kind == "copy":
            return self._copy(path, section)
        if section.kind == "rename":
            return self._rename(path, section)
        if section.kind == "edit":
            return self._edit(path, section)
        assert_never(section.kind)

    def _verdict(self, state: PatchState, reason: str | None = None) -> FileVerdict:
        return FileVerdict(state, self.file.name, f"{self.file.name}: {reason}" if reason else None)

    def _gone(self, path: bytes, section: Section) -> str | None:
        return gone(path, section, self.ground.store, self.ground.tracked)

    def _forward(self) -> ApplyOutcome:
        if self.fits:
            return ApplyOutcome("fits")
        return self.ground.index.apply(self.reading.data, check_only=True, include=self.file.new_paths)

    def _backward(self) -> bool:
        outcome = self.ground.index.apply(self.reading.data, reverse=True, check_only=True, include=self.file.old_paths)
        return outcome.verdict == "fits"

    def _create(self, path: bytes, section: Section) -> FileVerdict:
        entry = self.ground.tracked.get(path)
        if entry is None:
            forward = self._forward()
            return self._verdict("applies") if forward.verdict == "fits" else self._conflict(forward)
        same = entry.oid == section.new_oid if section.binary else self._backward()
        if entry.kind == "commit" or not same:
            return self._verdict("conflict", f"the patch creates it, and it exists as another {kind_of(entry)}")
        if section.new_mode not in (None, entry.mode):
            return self._verdict(
                "conflict", f"it exists with mode {entry.mode}, the patch creates it with {section.new_mode}"
            )
        return self._verdict("already-there")

    def _delete(self, path: bytes, section: Section) -> FileVerdict:
        entry = self.ground.tracked.get(path)
        if entry is not None:
            if reason := self._gone(path, section):
                return self._verdict("target-gone", reason)
            forward = self._forward()
            if forward.verdict == "fits":
                return self._verdict("applies")
            return self._verdict("conflict", "the patch deletes it, and its content is another: " + self._why(forward))
        if reason := occupied(path, self.ground.tracked):
            return self._verdict("target-gone", reason)
        if twin := self._twin(section):
            reason = f"it is not there, and its content stands at {shown(twin.path)}: moved, or a copy? decide by hand"
            return self._verdict("conflict", reason)
        return self._verdict("already-there")

    def _twin(self, section: Section) -> Entry | None:
        """Another path that holds what the patch deletes."""
        if not section.changes_content:
            return None
        entries = self.ground.tracked.values()
        sha256 = any(len(entry.oid) == 64 for entry in entries)
        oid = blob_oid(section.hunks, sha256=sha256) if section.hunks else section.old_oid
        return next((entry for entry in entries if oid and entry.oid.startswith(oid)), None)

    def _copy(self, path: bytes, section: Section) -> FileVerdict:
        if reason := self._gone(section.origin or path, section):
            return self._verdict("target-gone", reason)
        forward = self._forward()
        if forward.verdict == "fits":
            return self._verdict("applies")
        if path in self.ground.tracked:
            return self._verdict(
                "conflict", "the patch makes it as a copy, and it exists; decide by hand whether it is the same"
            )
        return self._conflict(forward)

    def _rename(self, path: bytes, section: Section) -> FileVerdict:
        origin = section.origin or path
        content = self._content(section)
        if content.state == "conflict" and (reason := self._gone(origin, section)):
            also = f", and {shown(path)} exists" if path in self.ground.tracked else ""
            return self._verdict("target-gone", reason + also)
        entry = self.ground.tracked.get(origin) or self.ground.tracked.get(path)
        return self._with_mode(content, entry, section)

    def _edit(self, path: bytes, section: Section) -> FileVerdict:
        if reason := self._gone(path, section):
            return self._verdict("target-gone", reason)
        entry = self.ground.tracked[path]
        content = self._content(section, entry) if section.changes_content else None
        return self._with_mode(content, entry, section)

    def _with_mode(self, content: FileVerdict | None, entry: Entry | None, section: Section) -> FileVerdict:
        """Git only warns of a mode that is not the expected one, so that its verdict says nothing about modes."""
        if not section.changes_mode or entry is None:
            return content or self._verdict("conflict", "nothing to change")
        states: dict[str | None, PatchState] = {section.old_mode: "applies", section.new_mode: "already-there"}
        mode = states.get(entry.mode, "conflict")
        if content is None:
            wrong = f"its mode is {entry.mode}, the patch changes {section.old_mode}"
            return self._verdict(mode, wrong if mode == "conflict" else None)
        if content.state == "conflict":
            return content
        state = fold_patch((content.state, mode))
        said = f"its content is {_STANDS[content.state]}, its mode {_STANDS[mode]}"
        return self._verdict(state, said if state in ("partial", "conflict") else None)

    def _content(self, section: Section, entry: Entry | None = None) -> FileVerdict:
        forward = self._forward()
        by_name = section.binary and entry is not None  # a binary patch need not hold what it takes to reverse it
        backward = entry.oid == section.new_oid if by_name and entry is not None else self._backward()
        return self._weigh(forward, backward=backward)

    def _several(self) -> FileVerdict:
        """A file that the patch touches more than once, or files that swap places: git judges them together."""
        forward, backward = self._forward(), self._backward()
        made: set[bytes] = set()
        for path, section in () if backward else self.file.changes:
            origin = section.origin or path
            edits = section.kind == "edit" or (section.kind in ("rename", "copy") and forward.verdict != "fits")
            if edits and origin not in made and (reason := self._gone(origin, section)):
                return self._verdict("target-gone", reason)
            made.add(path)
        if backward and any(section.changes_mode for _, section in self.file.changes):
            return self._verdict("conflict", "touched more than once, its mode among that; decide by hand")
        return self._weigh(forward, backward=backward)

    def _weigh(self, forward: ApplyOutcome, *, backward: bool) -> FileVerdict:
        if forward.verdict == "fits":
            if backward:
                return self._verdict("conflict", "ambiguous: it fits, and its result is there as well")
            return self._verdict("applies")
        if not backward:
            return self._conflict(forward)
        if doubt := self._doubt():
            return self._verdict("conflict", doubt)
        return self._verdict("already-there")

    def _doubt(self) -> str | None:
        """A hunk that only removes lines leaves nothing behind that the reverse check could find."""
        for path, section in self.file.changes:
            hunks = [hunk for hunk in section.hunks if hunk.only_removes]
            entry = self.ground.tracked.get(path)
            if hunks and entry is not None:
                content = self._read(entry)
                for hunk in hunks:
                    if doubt := removal_doubt(hunk, content):
                        return doubt
        return None

    def _conflict(self, outcome: ApplyOutcome) -> FileVerdict:
        return self._verdict("conflict", self._why(outcome))

    def _why(self, outcome: ApplyOutcome) -> str:
        [(path, section), *others] = self.file.changes
        entry = self.ground.tracked.get(section.origin or path)
        known = not others and entry is not None and entry.kind == "blob" and bool(section.hunks)
        return why_not(self.file, self.reading, self._read(entry) if known and entry else None, outcome)

    def _read(self, entry: Entry) -> bytes:
        return self.ground.store.read_blob(Blob(entry.oid), CONTENT_LIMIT)


_STANDS: dict[PatchState, str] = {
    "applies": "still to be changed",
    "already-there": "there already",
    "conflict": "neither the old nor the new one",
}
