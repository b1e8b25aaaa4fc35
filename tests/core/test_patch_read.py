"""Every kind of patch file that people carry, and what is said of it."""

from collections.abc import Iterable

import pytest

from regraft.core.patch_read import LIMIT, read_patch_text
from regraft.core.patch_text import BinaryPart, BinaryPatch, PatchText

HUNK = b"@@ -1,2 +1,2 @@\n a\n-b\n+B\n"
GIT = b"diff --git a/p/f b/p/f\nindex 1111111..2222222 100644\n--- a/p/f\n+++ b/p/f\n" + HUNK


def read(data: bytes, there: Iterable[str] = ("p/f",), strip: int | None = None, root: str = "") -> PatchText:
    return read_patch_text(data, strip=strip, root=root.encode(), exists={one.encode() for one in there}.__contains__)


def whole(data: bytes, there: Iterable[str] = ("p/f",), strip: int | None = None, root: str = "") -> PatchText:
    text = read(data, there, strip, root)
    assert text.problems == []
    return text


def shape(text: PatchText) -> list[tuple[str, bytes, bytes | None]]:
    return [(one.kind, one.path, one.origin) for one in text.sections]


def troubles(text: PatchText) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in text.problems]


def remarks(text: PatchText) -> list[tuple[int, str]]:
    return [(remark.line, remark.message) for remark in text.tolerated]


def test_a_git_diff() -> None:
    text = whole(GIT)
    [section] = text.sections
    assert (section.line, section.kind, section.path, section.index_mode) == (1, "edit", b"p/f", "100644")
    assert (section.old_oid, section.new_oid) == ("1111111", "2222222")
    [hunk] = section.hunks
    assert (hunk.line, hunk.start, hunk.new_start, hunk.body) == (5, 1, 1, (b" a", b"-b", b"+B"))
    assert (text.strip, text.git_arguments, text.tolerated) == (1, ("-p1",), [])


@pytest.mark.parametrize(
    ("old", "new", "there", "level"),
    [
        ("p/f", "p/f", ["p/f"], 0),
        ("a/p/f", "b/p/f", ["p/f"], 1),
        ("i/p/f", "w/p/f", ["p/f"], 1),
        ("c/p/f", "i/p/f", ["p/f"], 1),
        ("lib-1.0/p/f", "lib-1.1/p/f", ["p/f"], 1),
        ("lib.orig/p/f", "lib/p/f", ["p/f"], 1),
        ("tmp/old/p/f", "tmp/new/p/f", ["p/f"], 2),
        ("lib/p/f", "lib/p/f", ["p/f"], 1),
        ("/usr/lib/site-packages/p/f", "/usr/lib/site-packages/p/f", ["p/f"], 4),
        ("./p/f", "./p/f", ["p/f"], 1),
    ],
)
def test_the_same_change_with_and_without_prefixes(old: str, new: str, there: list[str], level: int) -> None:
    """https://github.com/packit/packit/pull/978: level 0 and 1 in one series, and the wrong one gives file-not-found."""
    plain = b"--- %s\n+++ %s\n" % (old.encode(), new.encode()) + HUNK
    for data in (plain, b"diff --git %s %s\n" % (old.encode(), new.encode()) + plain):
        text = whole(data, there)
        assert (text.strip, shape(text)) == (level, [("edit", b"p/f", None)])


def test_a_level_that_is_not_clear_is_an_error_and_not_the_first_that_fits() -> None:
    data = b"--- p/f\n+++ p/f\n" + HUNK
    [(line, message)] = troubles(read(data, ["p/f", "f"]))
    assert line == 1
    assert message == (
        "the strip level is not clear (there is p/f at level 0, f at level 1); declare `strip` for this patch in the manifest: 0, 1"
    )
    assert shape(whole(data, ["p/f", "f"], strip=1)) == [("edit", b"f", None)]
    assert shape(whole(data, ["p/f", "f"], strip=0)) == [("edit", b"p/f", None)]


def test_a_new_file_decides_no_strip_level() -> None:
    """https://github.com/prefix-dev/rattler-build/pull/2400: a file of that name one level up made it land elsewhere."""
    new = b"--- /dev/null\n+++ sub/config.txt\n@@ -0,0 +1 @@\n+x\n"
    [(line, message)] = troubles(read(new, ["config.txt"]))
    assert (line, "only creates files" in message, message[-5:]) == (1, True, " 0, 1")
    assert shape(whole(new, ["config.txt"], strip=0)) == [("create", b"sub/config.txt", None)]
    assert shape(whole(new.replace(b"+++ ", b"+++ b/"), ["config.txt"])) == [("create", b"sub/config.txt", None)]
    both = new + b"--- p/f\n+++ p/f\n" + HUNK
    assert [one.path for one in whole(both, ["config.txt", "p/f"]).sections] == [b"sub/config.txt", b"p/f"]


def test_prefixes_of_git_say_the_level_though_another_one_has_such_a_file() -> None:
    """A file that moved up a folder is gone for this patch: nobody applies it with another strip level."""
    text = whole(GIT, ["f"])
    assert (text.strip, shape(text)) == (1, [("edit", b"p/f", None)])
    message = "no file that it edits exists at strip level 1, and f at level 2: declare `strip` if that one is meant"
    assert remarks(text) == [(1, message)]


def test_a_bare_file_name_deep_down_proves_no_level() -> None:
    text = whole(b"--- x/y/setup.py\n+++ x/y/setup.py\n" + HUNK, ["setup.py"])
    assert shape(text) == [("edit", b"x/y/setup.py", None)]


def test_headers_with_the_authors_scratch_folder_are_taken_as_written() -> None:
    """https://github.com/tonyd2wild/DeepSeek-V4.1-Flash-vLLM-DGX-Spark/pull/4: no tool could place the diff."""
    data = b"--- a/private/tmp/x/attention.py\n+++ b/private/tmp/x/attention.py\n" + HUNK
    assert shape(whole(data, ["pkg/models/attention.py"])) == [("edit", b"private/tmp/x/attention.py", None)]


def test_a_patch_made_in_site_packages_has_a_root() -> None:
    text = whole(GIT, ["python/p/f"], root="python")
    assert shape(text) == [("edit", b"python/p/f", None)]
    assert text.git_arguments == ("-p1", "--directory=python")
    assert whole(b"--- p/f\n+++ p/f\n" + HUNK, ["python/p/f"], root="python/").strip == 0


def test_the_same_change_with_a_git_header_and_without_one_is_one_change() -> None:
    """https://github.com/oven-sh/bun/pull/35099: git looked for the one at the repository's top, and skipped it."""
    plain = GIT[GIT.index(b"--- ") :]
    [git], [other] = whole(GIT).sections, whole(plain).sections
    assert (git.kind, git.path) == (other.kind, other.path)
    assert [hunk.body for hunk in git.hunks] == [hunk.body for hunk in other.hunks]


def test_a_plain_diff_below_another_repository_keeps_its_own_names() -> None:
    """https://github.com/prefix-dev/rattler-build/pull/1675: git skips what lies outside of the folder, and exits with 0."""
    assert shape(whole(b"--- src/p/f\n+++ src/p/f\n" + HUNK, ["p/f"])) == [("edit", b"p/f", None)]


STAMP = b"\t2024-01-02 10:00:00.123456789 +0100"
EPOCHS = [b"\t1970-01-01 00:00:00.000000000 +0000", b"\t1969-12-31 19:00:00 -0500", b"\t1970-01-01 01:00:00 +01:00"]


@pytest.mark.parametrize("epoch", EPOCHS)
def test_the_beginning_of_time_stands_for_no_file(epoch: bytes) -> None:
    created = b"--- old/n" + epoch + b"\n+++ new/n" + STAMP + b"\n@@ -0,0 +1 @@\n+x\n"
    deleted = b"--- old/o" + STAMP + b"\n+++ new/o" + epoch + b"\n@@ -1 +0,0 @@\n-x\n"
    assert shape(whole(b"diff -ruN old/n new/n\n" + created + deleted, ["o"])) == [
        ("create", b"n", None),
        ("delete", b"o", None),
    ]


@pytest.mark.parametrize("stamp", [STAMP, b"\tWed Jan  3 10:00:00 2024", b"  2024-01-02 10:00:00", b"\t(revision 7)"])
def test_what_diff_writes_behind_a_name_is_none_of_it(stamp: bytes) -> None:
    data = b"--- old/a b" + stamp + b"\n+++ new/a b" + stamp + b"\n" + HUNK
    assert shape(whole(data, ["a b"])) == [("edit", b"a b", None)]


def test_a_new_file_that_the_patch_calls_a_change_is_seen() -> None:
    """https://github.com/status-im/status-go/pull/647: made on a tree that had the file already."""
    as_git = b"diff --git a/n b/n\nindex 1..2 100644\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
    [section] = whole(as_git, []).sections
    assert (section.kind, section.creates_if_absent, section.hunks[0].start) == ("edit", False, 0)
    [plain] = whole(as_git[as_git.index(b"--- ") :], []).sections
    assert (plain.kind, plain.creates_if_absent) == ("edit", True)


def test_mails_and_plain_diffs_are_read_alike() -> None:
    """https://github.com/stackabletech/docker-images/pull/1003: a splitter for mails failed on the plain ones."""
    head = b"From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: A <a@x>\nSubject: x\n\nText.\n---\n p/f | 2 +-\n\n"
    mail = head + GIT + b"-- \n2.39.5\n\n"
    assert shape(whole(mail)) == shape(whole(GIT))
    two = whole(mail + mail.replace(b"p/f", b"q"), ["p/f", "q"])
    assert [one.path for one in two.sections] == [b"p/f", b"q"]
    assert two.tolerated == []


def test_several_diffs_of_one_file_in_one_text() -> None:
    text = whole(GIT + GIT.replace(b"@@ -1,2 +1,2 @@", b"@@ -9,2 +9,2 @@"))
    assert [(one.line, one.path, one.hunks[0].start) for one in text.sections] == [(1, b"p/f", 1), (9, b"p/f", 9)]


def test_renames_copies_and_modes() -> None:
    data = (
        b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n" + HUNK
        + b"diff --git a/p/f b/c\nsimilarity index 100%\ncopy from p/f\ncopy to c\n"
        + b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
    )  # fmt: skip
    text = whole(data, ["x", "p/f", "m"])
    assert shape(text) == [("rename", b"y", b"x"), ("copy", b"c", b"p/f"), ("edit", b"m", None)]
    mode = text.sections[2]
    assert (mode.old_mode, mode.new_mode, mode.changes_mode, mode.changes_content) == ("100644", "100755", True, False)


def test_a_mode_that_the_file_does_not_have_is_kept_beside_its_hunk() -> None:
    """https://github.com/dusty-nv/jetson-containers/issues/847: the warning hid the hunk that failed."""
    data = b"diff --git a/p/f b/p/f\nold mode 100755\nnew mode 100644\n--- a/p/f\n+++ b/p/f\n" + HUNK
    [section] = whole(data).sections
    assert (section.old_mode, section.new_mode, len(section.hunks)) == ("100755", "100644", 1)


def test_binary_content_keeps_both_directions() -> None:
    data = (
        b"diff --git a/z b/z\nindex 1..2 100644\nGIT binary patch\ndelta 14\nVcmZn=XcE|<!^otlxKZZ{8vq@N1N#5~\n\n"
        b"delta 19\nZcmZn?Xb{+-!?;<G=?d#4MxDt(8UQ=G1`+@O\n\n"
    )
    [section] = whole(data, ["z"]).sections
    forward = BinaryPart(4, "delta", 14, (b"VcmZn=XcE|<!^otlxKZZ{8vq@N1N#5~",))
    reverse = BinaryPart(7, "delta", 19, (b"ZcmZn?Xb{+-!?;<G=?d#4MxDt(8UQ=G1`+@O",))
    assert section.binary == BinaryPatch(forward, reverse)
    [alone] = whole(data[: data.index(b"delta 19")], ["z"]).sections
    assert alone.binary == BinaryPatch(forward)


def test_damaged_binary_content_after_a_good_section_is_no_success() -> None:
    """Git says that it is corrupt, applies what stands before it, and exits with 0."""
    bad = b"diff --git a/z b/z\nindex 1..2 100644\nGIT binary patch\nliteral 5\nMcmxxx\n\n"
    [(line, message)] = troubles(read(GIT + bad))
    assert line == 13
    assert (
        "git says 'corrupt binary patch at line 13: Mcmxxx'; it takes what stands before that, and calls it a"
        in message
    )


def test_a_hunk_without_context_and_a_file_without_a_last_newline() -> None:
    data = GIT.replace(HUNK, b"@@ -3 +2,0 @@\n-c\n@@ -9,0 +9 @@\n+x\n\\ No newline at end of file\n")
    first, second = whole(data).sections[0].hunks
    assert (first.start, first.new_start, first.has_context) == (3, 2, False)
    assert second.body == (b"+x", b"\\ No newline at end of file")


def test_quoted_names_and_names_with_blanks() -> None:
    data = (
        b'diff --git "a/\\303\\274\\"" "b/\\303\\274\\""\n--- "a/\\303\\274\\""\n+++ "b/\\303\\274\\""\n' + HUNK
        + b"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n" + HUNK
        + b"diff --git a/no lines b/no lines\nold mode 100644\nnew mode 100755\n"
    )  # fmt: skip
    assert [one.path for one in whole(data, ['ü"', "a b", "no lines"]).sections] == ['ü"'.encode(), b"a b", b"no lines"]


def test_svns_headers() -> None:
    data = b"Index: p/f\n" + b"=" * 67 + b"\n--- p/f\t(revision 1)\n+++ p/f\t(working copy)\n" + HUNK
    text = whole(data + b"\nProperty changes on: p/f\n" + b"_" * 67 + b"\n")
    assert (text.strip, shape(text), text.tolerated) == (0, [("edit", b"p/f", None)], [])


def test_an_invented_hash_in_the_index_line_makes_no_difference() -> None:
    """https://github.com/vllm-project/vime/pull/230: `index 1234567..abcdef0`, as a machine writes it."""
    [section] = whole(GIT.replace(b"1111111..2222222", b"1234567..abcdef0")).sections
    assert [hunk.body for hunk in section.hunks] == [(b" a", b"-b", b"+B")]


def test_a_last_context_line_that_is_cut_off() -> None:
    """https://github.com/vllm-project/vime/pull/230: `corrupt patch at line 78`."""
    data = GIT.replace(HUNK, b"@@ -1,3 +1,3 @@\n a\n-b\n+B\n")
    [problem] = read(data).problems
    assert (problem.line, problem.said) == (5, "corrupt patch at line 9")
    assert problem.message == (
        "the header says 3 old and 3 new lines, the body has 2 and 2; git says 'corrupt patch at line 9'"
    )


def test_a_hand_edited_hunk_is_not_recounted_in_silence() -> None:
    """https://github.com/tpope/vim-fugitive/issues/551: a line was deleted, and the header counts it still."""
    body = b" a\n b\n c\n d\n e\n f\n"
    [(line, message)] = troubles(read(GIT.replace(HUNK, b"@@ -3,6 +3,7 @@\n" + body)))
    assert line == 5
    assert message.startswith("the header says 6 old and 7 new lines, the body has 6 and 6; git says 'corrupt patch at")


def test_line_ends_that_were_rewritten_are_the_cause_that_is_named() -> None:
    """https://github.com/city96/ComfyUI-GGUF/issues/166: `corrupt patch at line 27`, and people suspected git."""
    text = read(GIT.replace(b"\n", b"\r\n"))
    assert troubles(text)[0] == (
        1,
        "a diff header ends in a carriage return; something rewrote the file's line ends",
    )
    assert text.returns == 1


def test_carriage_returns_in_content_are_content() -> None:
    text = whole(GIT.replace(b" a\n-b\n+B\n", b" a\r\n-b\r\n+B\r\n"))
    assert text.sections[0].hunks[0].body == (b" a\r", b"-b\r", b"+B\r")


def test_a_rewritten_new_file_names_the_carriage_returns_and_not_dev_null_alone() -> None:
    """https://github.com/SuperElastix/SuperElastix/issues/59: git spoke of /dev/null on line 8."""
    new = b"diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
    assert "carriage return" in troubles(read(new.replace(b"\n", b"\r\n"), []))[0][1]


def test_rewritten_bytes_are_never_an_empty_success() -> None:
    """https://github.com/mastra-ai/mastra/pull/21148: an installer took what it could not read for nothing to do."""
    for data in (GIT.replace(b"\n", b"\r\n"), GIT.replace(b"\n", b"\r"), GIT.replace(b"@@ -1,2 +1,2 @@", b"@@@@")):
        assert read(data).problems


def test_empty_lines_of_context_that_lost_their_blank_are_tolerated_and_said() -> None:
    """https://github.com/AlexanderMattTurner/claude-automation-template/pull/482: a hook rewrites committed patches."""
    text = whole(GIT.replace(HUNK, b"@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n"))
    assert (text.bare, remarks(text)) == ([7], [(7, "line 7 lost the blank of an empty line of context")])
    assert text.sections[0].hunks[0].body[1] == b""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html>\n<html><body>" + GIT + b"</body></html>", "the file is an HTML page"),
        (b"404: Not Found\n", "the file holds no diff"),
        (GIT.decode().encode("utf-16"), "the file is UTF-16"),
    ],
)
def test_what_is_no_patch_is_said(data: bytes, says: str) -> None:
    """https://github.com/chobits/ngx_http_proxy_connect_module/issues/222: the page that shows the file was downloaded."""
    [first, *_] = troubles(read(data))
    assert first[0] == 1
    assert first[1].startswith(says)


def test_a_patch_file_has_a_limit() -> None:
    [(line, message)] = troubles(read(GIT + b"#" * LIMIT))
    assert (line, message.endswith("at most 16777216 are read")) == (1, True)


@pytest.mark.parametrize(
    ("third", "line"),
    [
        (GIT.replace(b"@@ -1,2 +1,2 @@", b"@@ 1,2 1,2 @@"), 17),
        (GIT[: GIT.index(b"@@")], 17),
        (b"--- a/p/f\n+++ b/p/f\n@@ 1,2 +1,2 @@\n a\n-b\n+B\n", 17),
        (b"diff --git a/p/f b/p/f\n-a\n+b\n", 17),
        (b"Binary files a/p/f and b/p/f differ\n", 17),
    ],
)
def test_a_section_that_git_would_skip_is_counted(third: bytes, line: int) -> None:
    """https://github.com/intel/intel-xpu-backend-for-triton/pull/6670: one file's section had no effect for months."""
    found = read(GIT + GIT + third)
    assert found.problems
    assert {problem.said for problem in found.problems} == {None}
    assert found.problems[0].line == line


def test_a_script_without_a_mode_is_said() -> None:
    """https://github.com/unraid/webgui/pull/2678: a plain diff carries no mode, and the new script could not be run."""
    plain = b"--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n"
    message = "run.sh begins with an interpreter line, and the patch carries no mode: it will not be executable"
    assert remarks(whole(plain, [])) == [(1, message)]
    with_mode = b"diff --git a/run.sh b/run.sh\nnew file mode 100755\n" + plain
    assert remarks(whole(with_mode, [])) == []


def test_text_between_sections_is_tolerated_and_said() -> None:
    text = whole(
        GIT + b"\nNext comes q.\nIt is small.\n" + GIT.replace(b"p/f", b"q") + b"Only in new: r\n", ["p/f", "q"]
    )
    assert remarks(text) == [
        (10, "text that belongs to no file's section; git skips it"),
        (20, "a file on one side only, which the patch leaves out (diff -N takes it in)"),
    ]


@pytest.mark.parametrize("path", ["../f", "x/../f", ".git/config", "x/.GIT/hooks"])
def test_a_path_that_leaves_the_tree_is_a_problem_under_any_root(path: str) -> None:
    for root in ("", "python"):
        found = read(GIT.replace(b"p/f", path.encode()), [], 1, root)
        assert any("the path " in problem.message for problem in found.problems)
