"""Each kind of section against a tree: states, reasons, and what it makes."""

import hashlib
from dataclasses import dataclass

import pytest

from regraft.core.file_state import FileVerdict, judge_file
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import Section
from regraft.core.tree_view import Made, Overlay, TreeView, oid_of
from regraft.core.trees import Entry

LINES = b"".join(b"line %d\n" % number for number in range(1, 13))
CHANGED = LINES.replace(b"line 6\n", b"six\n")
HUNK = b"@@ -3,7 +3,7 @@ line 2\n line 3\n line 4\n line 5\n-line 6\n+six\n line 7\n line 8\n line 9\n"
EDIT = b"--- a/f\n+++ b/f\n" + HUNK
GIT = b"diff --git a/f b/f\n"
RENAME = b"diff --git a/f b/e\nsimilarity index 90%\nrename from f\nrename to e\n"
CREATE = b"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n"
DELETE = b"diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
COPY = b"diff --git a/f b/c\nsimilarity index 90%\ncopy from f\ncopy to c\n--- a/f\n+++ b/c\n" + HUNK
SUBMODULE = (
    GIT
    + b"index 1111111..2222222 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-Subproject commit %s\n+Subproject commit %s\n"
    % (
        b"1" * 40,
        b"2" * 40,
    )
)
MODE = GIT + b"old mode 100644\nnew mode 100755\n"

Tree = dict[str, bytes | tuple[str, bytes]]


def oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def view_of(files: Tree, *bases: bytes) -> TreeView:
    entries, blobs = {}, {oid(content): content for content in bases}
    for name, value in files.items():
        mode, content = value if isinstance(value, tuple) else ("100644", value)
        path = name.encode()
        if mode == "160000":
            entries[path] = Entry(mode, "commit", content.decode(), path)
        else:
            entries[path] = Entry(mode, "blob", oid(content), path)
            blobs[oid(content)] = content
    return TreeView(
        entries,
        blobs.__getitem__,
        lambda begin: next((content for name, content in blobs.items() if name.startswith(begin)), None),
    )


def section(patch: bytes) -> Section:
    text = read_patch_text(patch, strip=1, exists=lambda _: True)
    assert not text.problems, text.problems
    [one] = text.sections
    return one


def judged(patch: bytes, now: Tree, *bases: bytes) -> FileVerdict:
    return judge_file(section(patch), view_of(now, *bases))


def index(old: bytes, new: bytes) -> bytes:
    return b"index %s..%s 100644\n" % (oid(old)[:10].encode(), oid(new)[:10].encode())


@dataclass(frozen=True)
class Case:
    name: str
    patch: bytes
    now: Tree
    state: str
    says: str | None = None
    makes: dict[bytes, Made | None] | None = None
    bases: tuple[bytes, ...] = ()


BLANK: dict[bytes, Made | None] = {}
CASES = [
    Case("an edit", EDIT, {"f": LINES}, "applies", None, {b"f": Made("100644", CHANGED)}),
    Case("an edit keeps the mode", EDIT, {"f": ("100755", LINES)}, "applies", None, {b"f": Made("100755", CHANGED)}),
    Case(
        "made for another mode",
        GIT + b"index 1111111..2222222 100755\n" + EDIT,
        {"f": LINES},
        "applies",
        "its mode is 100644, and the patch was made for 100755",
        {b"f": Made("100644", CHANGED)},
    ),
    Case("an edit that landed", EDIT, {"f": b"top\n" + CHANGED}, "already-there"),
    Case("an edit of what is gone", EDIT, {"d/f": LINES}, "target-gone", "one file has that name: d/f, and the hunks fit there"),
    Case("an edit of a link", EDIT, {"f": ("120000", b"d/f")}, "target-gone", "is a symbolic link now, to d/f"),
    Case("an edit of a folder", EDIT, {"f/x": LINES}, "target-gone", "is a folder now"),
    Case("an edit below a submodule", EDIT.replace(b"/f", b"/s/f"), {"s": ("160000", b"1" * 40)}, "target-gone", "s is a submodule now"),
    Case("an invented index line", GIT + b"index 1234567..abcdef0\n" + EDIT, {"f": LINES}, "applies"),
    Case(
        "a larger change",
        GIT + index(LINES, CHANGED) + EDIT,
        {"f": LINES.replace(b"line 5\nline 6\n", b"five\nsix\nand more\n")},
        "already-there",
        "a larger change contains it",
        bases=(LINES,),
    ),
    Case(
        "a larger change, and no base",
        GIT + index(LINES, CHANGED) + EDIT,
        {"f": LINES.replace(b"line 5\nline 6\n", b"five\nsix\nand more\n")},
        "conflict",
        "hunk 1 of 1 does not fit (line 3 of the file)",
    ),
    Case(
        "replaced by something else",
        GIT + index(LINES, CHANGED) + EDIT,
        {"f": LINES.replace(b"line 6\n", b"call_helper()\n")},
        "conflict",
        "no longer there",
        bases=(LINES,),
    ),
    Case(
        "the lines beside it moved on",
        GIT + index(LINES, CHANGED) + EDIT,
        {"f": CHANGED.replace(b"line 4\n", b"four\n")},
        "already-there",
        "a three-way merge",
        bases=(LINES,),
    ),
    Case("a mode", MODE, {"f": LINES}, "applies", None, {b"f": Made("100755", LINES)}),
    Case("a mode that is there", MODE, {"f": ("100755", LINES)}, "already-there"),
    Case("a mode there, content to come", MODE + EDIT, {"f": ("100755", LINES)}, "applies", "its mode is 100755", {b"f": Made("100755", CHANGED)}),
    Case("content there, mode to come", MODE + EDIT, {"f": CHANGED}, "partial", "its mode still to be changed"),
    Case("a new file", CREATE, {}, "applies", None, {b"n": Made("100755", b"new\n")}),
    Case("a new file that is there", CREATE, {"n": ("100755", b"new\n")}, "already-there"),
    Case("a new file with another mode", CREATE, {"n": b"new\n"}, "conflict", "it exists with mode 100644, the patch creates it with 100755"),
    Case("a new file with other content", CREATE, {"n": ("100755", b"new\nmore\n")}, "conflict", "exists as another file"),
    Case("a new file where a folder is", CREATE, {"n/x": b""}, "conflict", "is a folder now"),
    Case("a new file below a file", CREATE.replace(b"a/n", b"a/f/n").replace(b"b/n", b"b/f/n"), {"f": b""}, "conflict", "f is a file now"),
    Case("a deletion", DELETE, {"g": b"a\nb\n"}, "applies", None, {b"g": None}),
    Case("a deletion of more", DELETE, {"g": b"a\nb\nc\n"}, "conflict", "the patch deletes it, and its content is another"),
    Case("a deletion of what is gone", DELETE, {}, "conflict", "no tree tells whether it was deleted or moved", bases=(b"a\nb\n",)),
    Case("a deletion of what never existed", DELETE, {}, "conflict", "nothing shows that it ever was"),
    Case("a deletion of what moved", DELETE, {"moved": b"a\nb\n"}, "conflict", "its content stands at moved"),
    Case("a deletion of a link now", DELETE, {"g": ("120000", b"x")}, "target-gone", "symbolic link now, to x"),
    Case("a rename", RENAME, {"f": LINES}, "applies", None, {b"f": None, b"e": Made("100644", LINES)}),
    Case("a rename with a change", RENAME + b"--- a/f\n+++ b/e\n" + HUNK, {"f": LINES}, "applies", None, {b"f": None, b"e": Made("100644", CHANGED)}),
    Case("a rename that landed", RENAME + b"--- a/f\n+++ b/e\n" + HUNK, {"e": CHANGED}, "already-there"),
    Case("a rename without its change", RENAME + b"--- a/f\n+++ b/e\n" + HUNK, {"e": LINES}, "partial", "content is still to be changed"),
    Case("a rename from what is gone", RENAME, {"x": b""}, "target-gone", "is not there"),
    Case("a rename from what is gone to what exists", RENAME, {"e": b"quite another\n"}, "target-gone", "nothing shows that it is the same file"),
    Case("a rename to what exists", RENAME, {"f": LINES, "e": LINES}, "conflict", "both the old name and the new one exist"),
    Case("a copy", COPY, {"f": LINES}, "applies", None, {b"c": Made("100644", CHANGED)}),
    Case("the same copy", COPY, {"f": LINES, "c": CHANGED}, "already-there"),
    Case("another copy", COPY, {"f": LINES, "c": LINES}, "conflict", "as a copy"),
    Case("described as a change, and new", b"--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", {}, "target-gone", "probably a new file"),
    Case("a type that changes", GIT + b"old mode 100644\nnew mode 120000\n" + EDIT, {"f": LINES}, "conflict", "the type of a file"),
    Case("a submodule that is there", SUBMODULE, {"f": ("160000", b"2" * 40)}, "already-there"),
    Case("a submodule at another commit", SUBMODULE, {"f": ("160000", b"3" * 40)}, "conflict", "does not fit"),
    Case("a submodule", SUBMODULE, {"f": ("160000", b"1" * 40)}, "applies"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}: {case.state}")
def test_a_section_has_its_state(case: Case) -> None:
    verdict = judged(case.patch, case.now, *case.bases)
    assert verdict.state == case.state, verdict.reason
    assert (case.says or "") in (verdict.reason or "")
    if case.says is None:
        assert verdict.reason is None
    if case.makes is not None:
        assert dict(verdict.results) == case.makes
    if case.state != "applies":
        assert dict(verdict.results) == BLANK


def test_of_several_places_that_hold_what_is_deleted_the_first_by_name_is_told() -> None:
    verdict = judged(DELETE, {"z": b"a\nb\n", "c": b"a\nb\n", "y": b"a\nb\n"})
    assert "its content stands at c" in (verdict.reason or "")


def test_hunks_are_counted_within_their_file_and_carry_their_line_of_the_patch() -> None:
    verdict = judged(EDIT, {"f": b"x\n" + LINES})
    assert [(one.index, one.line, one.state, one.offset) for one in verdict.hunks] == [(1, 3, "applies", 1)]


def test_an_overlay_shows_what_patches_made_and_took() -> None:
    overlay = Overlay(view_of({"a": b"a\n", "d/x": b"x\n"}))
    overlay.put({b"a": None, b"b": Made("100755", b"b\n"), b"d/x": None, b"e/y": Made("100644", b"y\n")})
    assert sorted(overlay.paths()) == [b"b", b"e/y"]
    assert overlay.entry(b"a") is None
    made = overlay.entry(b"b")
    assert made is not None
    assert (made.mode, overlay.content(made), oid_of(overlay, made)) == ("100755", b"b\n", oid(b"b\n"))
    assert [overlay.is_folder(path) for path in (b"d", b"e", b"z")] == [False, True, False]
