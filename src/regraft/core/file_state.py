"""One section of a patch against a tree: does it fit, is it there already, or is its target gone? And what it makes."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec import Struct, field

from regraft.core.content_state import ContentVerdict, judge_content
from regraft.core.hunk_state import HunkVerdict
from regraft.core.patch_text import Section
from regraft.core.plan import PatchState
from regraft.core.removal import blob_oid
from regraft.core.substitution_state import judge_substitutions
from regraft.core.target import gone
from regraft.core.tree_view import Made, View, canonical, kind_of, occupied, odd, oid_of
from regraft.core.trees import FILE, Entry, shown

UNTOLD = "it is not there, and no tree tells whether it was deleted or moved and edited (`regraft patch status` looks at history)"
UNSHOWN = "nothing shows that it is the same file"


class FileVerdict(Struct, frozen=True):
    """`results`: what the section makes of each path where it applies (None: takes it away).

    `reason` does not name the file. `mode_only`: nothing but a mode is there already, which keeps nothing from applying.
    `again`: it is there already, and git would take it once more. `base` is the full name of the blob that a three-way merge
    made it from, where it does not fit exactly. `watches`: anchors are looked for in it, and each is there; without results it
    holds nothing else that applies.
    """

    path: bytes
    state: PatchState
    reason: str | None = None
    hunks: tuple[HunkVerdict, ...] = ()
    results: Mapping[bytes, Made | None] = field(default_factory=dict)
    mode_only: bool = False
    again: bool = False
    base: str | None = None
    watches: bool = False


def judge_file(
    section: Section,
    view: View,
    *,
    vacated: frozenset[bytes] = frozenset(),
    bare: Sequence[int] = (),
    merges: bool = False,
) -> FileVerdict:
    """`vacated` are paths that other sections of the patch take away; `bare` lines of the patch that lost their blank.

    With `merges`, an edit that does not fit exactly applies where a three-way merge is clean.

    Raises what the view raises where content is missing.
    """
    return _Judge(section, view, vacated, bare, merges).judge()


class _Judge(Struct, frozen=True):
    section: Section
    view: View
    vacated: frozenset[bytes]
    bare: Sequence[int]
    merges: bool

    def judge(self) -> FileVerdict:
        section = self.section
        if section.touches_pointer:
            # https://github.com/git-lfs/git-lfs/issues/3958: the checkout may hold the real file in the pointer's place
            return self._conflict("it is a Git LFS pointer, which stands for a file that no text patch can edit")
        if section.kind != "create" and any(map(odd, (section.old_mode, section.new_mode, section.index_mode))):
            return self._conflict("the patch names a mode that no file has")
        if section.kind in ("edit", "rename", "copy") and self._other_type():
            return self._conflict("it changes the type of a file, which git takes as a deletion and a new file only")
        if section.kind == "create":
            return self._create()
        if section.kind == "delete":
            return self._delete()
        if section.kind == "copy":
            return self._copy()
        if section.kind == "rename":
            return self._rename()
        if section.kind == "edit":
            return self._edit()
        assert_never(section.kind)

    def _other_type(self) -> bool:
        old, new = self.section.old_mode or self.section.index_mode, self.section.new_mode
        return old is not None and new is not None and kind_of(canonical(old)) != kind_of(canonical(new))

    def _verdict(
        self, state: PatchState, reason: str | None = None, content: ContentVerdict | None = None
    ) -> FileVerdict:
        return FileVerdict(self.section.path, state, reason, content.hunks if content else ())

    def _conflict(self, reason: str | None, content: ContentVerdict | None = None) -> FileVerdict:
        return self._verdict("conflict", reason, content)

    def _content(self, entry: Entry) -> ContentVerdict:
        merges = self.merges and self.section.kind in ("edit", "rename")
        return judge_content(self.section, self.view.content(entry), entry, self.view, self.bare, merges=merges)

    def _applies(
        self, mode: str, content: ContentVerdict, *, takes: bytes | None = None, note: str | None = None
    ) -> FileVerdict:
        assert content.content is not None
        results: dict[bytes, Made | None] = {takes: None} if takes is not None else {}
        results[self.section.path] = Made(mode, content.content)
        said = "; ".join(filter(None, (content.reason, note))) or None
        return FileVerdict(self.section.path, "applies", said, content.hunks, results, base=content.base)

    def _create(self) -> FileVerdict:
        section, entry = self.section, self.view.entry(self.section.path)
        mode = canonical(section.new_mode) if section.new_mode else FILE
        content = judge_content(section, b"", None, self.view)
        if entry is None or entry.path in self.vacated:
            if reason := occupied(section.path, self.view, self.vacated):
                return self._conflict(f"the patch creates it, and it {reason}", content)
            if content.state == "applies":
                return self._applies(mode, content)
            return self._conflict(content.reason, content)
        other = content.content is None or self.view.content(entry) != content.content
        if other or kind_of(entry.mode) != kind_of(mode):
            return self._conflict(f"the patch creates it, and it exists as another {kind_of(entry.mode)}")
        if section.new_mode is not None and mode != entry.mode:
            return self._conflict(f"it exists with mode {entry.mode}, the patch creates it with {mode}")
        return self._there(content)

    def _there(self, content: ContentVerdict) -> FileVerdict:
        hunks = tuple(HunkVerdict(hunk.index, hunk.line, "already-there") for hunk in content.hunks)
        return FileVerdict(self.section.path, "already-there", None, hunks)

    def _delete(self) -> FileVerdict:
        section = self.section
        entry = self.view.entry(section.path)
        if entry is None:
            return self._deleted()
        if reason := gone(section.path, section, self.view):
            return self._verdict("target-gone", reason)
        content = self._content(entry)
        if content.state == "applies" and content.content == b"":
            return FileVerdict(section.path, "applies", None, content.hunks, {section.path: None})
        why = content.reason or "it holds more than the patch removes"
        if content.taken == b"":  # git takes it
            return self._conflict(why, content)
        if why.startswith("ambiguous"):
            why = "it holds more than the patch removes"
        return self._conflict(f"the patch deletes it, and its content is another: {why}", content)

    def _deleted(self) -> FileVerdict:
        """It is not there: that alone does not show that it ever was."""
        if reason := occupied(self.section.path, self.view):
            return self._verdict("target-gone", reason)
        oid = (
            blob_oid(self.section.hunks, sha256=self.view.sha256) if self.section.hunks else self.section.old_oid or ""
        )
        if twin := self._twin(oid):
            return self._conflict(
                f"it is not there, and its content stands at {shown(twin)}: moved, or a copy? decide by hand"
            )
        if not oid or self.view.blob(oid) is None:
            return self._conflict(
                "it is not there, and nothing shows that it ever was (the content that the patch deletes is not among the objects here)"
            )
        return self._conflict(UNTOLD)

    def _twin(self, oid: str) -> bytes | None:
        """Another path that holds what the patch deletes."""
        if not self.section.changes_content or not oid:
            return None
        entries = (self.view.entry(path) for path in sorted(self.view.paths()))
        return next(
            (entry.path for entry in entries if entry is not None and oid_of(self.view, entry).startswith(oid)), None
        )

    def _copy(self) -> FileVerdict:
        section = self.section
        if reason := gone(section.old_path, section, self.view):
            return self._verdict("target-gone", reason)
        source = self.view.entry(section.old_path)
        assert source is not None
        content = self._content(source)
        there = self.view.entry(section.path)
        mode = self._new_mode(source)
        if there is not None and there.path not in self.vacated:
            if content.content is not None and there.mode == mode and self.view.content(there) == content.content:
                return self._there(content)
            return self._conflict(
                "the patch makes it as a copy, and it exists otherwise; decide by hand whether it is the same"
            )
        if reason := occupied(section.path, self.view, self.vacated):
            return self._conflict(f"the patch makes it as a copy, and it {reason}")
        if content.state != "applies":
            return self._verdict("conflict", content.reason, content)
        return self._applies(mode, content)

    def _new_mode(self, entry: Entry) -> str:
        return canonical(self.section.new_mode) if self.section.new_mode else entry.mode

    def _rename(self) -> FileVerdict:
        section = self.section
        source, there = self.view.entry(section.old_path), self.view.entry(section.path)
        if there is not None and there.path in self.vacated:
            there = None
        if source is None and there is not None:
            return self._renamed(there)
        if source is None or (reason := gone(section.old_path, section, self.view)):
            why = gone(section.old_path, section, self.view)
            also = f", and {shown(section.path)} exists" if there is not None else ""
            return self._verdict("target-gone", f"{why}{also}")
        content = self._content(source)
        if there is not None:
            return self._conflict("the patch renames it, and both the old name and the new one exist", content)
        if reason := occupied(section.path, self.view, self.vacated | {section.old_path}):
            return self._conflict(f"the patch renames it to here, and it {reason}", content)
        if content.state != "applies":
            if content.state == "conflict":
                return self._conflict(content.reason, content)
            return self._verdict("partial", "its content is there already, its new name is not", content)
        return self._applies(self._new_mode(source), content, takes=section.old_path, note=self._mode_note(source))

    def _renamed(self, there: Entry) -> FileVerdict:
        """The new name is there, the old one is not."""
        why = gone(self.section.old_path, self.section, self.view)
        expected = kind_of(self.section.old_mode or self.section.index_mode or "")
        if kind_of(there.mode) != expected:
            return self._verdict("target-gone", f"{why}, and {shown(there.path)} exists")
        if not self.section.changes_content:
            return self._verdict("target-gone", f"{why}, and {shown(there.path)} exists; {UNSHOWN}")
        content = self._content(there)
        if content.state == "conflict":
            return self._verdict("target-gone", f"{why}, and {shown(there.path)} exists")
        if content.state != "already-there":
            return self._verdict(
                "partial", "it has its new name already, and its content is still to be changed", content
            )
        if self.section.new_mode is not None and self._new_mode(there) != there.mode:
            return self._verdict("partial", "it has its new name already, and its mode is still to be changed", content)
        return self._there(content)

    def _edit(self) -> FileVerdict:
        section = self.section
        if reason := gone(section.path, section, self.view):
            return self._verdict("target-gone", reason)
        entry = self.view.entry(section.path)
        assert entry is not None
        if section.substitutions:
            return self._substituted(entry)
        mode = self._new_mode(entry)
        if not section.changes_content:
            if not section.changes_mode:
                return self._conflict("nothing to change")
            if mode == entry.mode:
                return FileVerdict(section.path, "already-there", mode_only=True)
            made = Made(mode, self.view.content(entry))
            return FileVerdict(section.path, "applies", results={section.path: made})
        content = self._content(entry)
        if content.state == "applies":
            return self._applies(mode, content, note=self._mode_note(entry))
        if content.state == "already-there" and section.changes_mode and mode != entry.mode:
            return self._verdict("partial", "its content is there already, its mode still to be changed", content)
        again = content.state == "already-there" and content.taken is not None
        return FileVerdict(section.path, content.state, content.reason, content.hunks, again=again)

    def _substituted(self, entry: Entry) -> FileVerdict:
        content, path = self.view.content(entry), self.section.path
        one = judge_substitutions(content, self.section.substitutions)
        made: Mapping[bytes, Made | None] = {}
        if one.content is not None and one.content != content:
            made = {path: Made(entry.mode, one.content)}
        return FileVerdict(path, one.state, one.reason, one.hunks, made, watches=one.watches)

    def _mode_note(self, entry: Entry) -> str | None:
        """Git warns of a mode that is not the expected one, and goes on."""
        written = self.section.old_mode or self.section.index_mode
        if written is None or canonical(written) == entry.mode:
            return None
        return f"its mode is {entry.mode}, and the patch was made for {written}"
