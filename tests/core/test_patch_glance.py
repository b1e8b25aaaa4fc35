import pytest

from regraft.core.patch_glance import patch_fault

DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "data",
    [
        DIFF,
        DIFF.replace(b"\n", b"\r\n"),
        b"From 0 Mon Sep 17\nSubject: x\n\n---\n x | 2 +-\n\n" + DIFF,
        b"--- a/x\t2024\n+++ b/x\t2024\n@@ -1 +1 @@\n-a\n+b\n",
        b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        b"\xff latin\n" + DIFF,
    ],
)
def test_a_diff_is_left_to_git(data: bytes) -> None:
    assert patch_fault(data) is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\t\r\n", "is empty"),
        (b"<!DOCTYPE html>\n<html></html>", "HTML"),
        (b"\n  <html lang=en>" + DIFF, "HTML"),
        (b"404: Not Found", "holds no diff"),
        (b'{"message": "Not Found"}', "holds no diff"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
        (b"\xff\xfe" + DIFF.decode().encode("utf-16-le"), "UTF-16"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n--a\n++b\n", "combined diff"),
        (b"--- a title\nand text\n", "holds no diff"),
        (b" diff --git a/x b/x\n", "holds no diff"),
        (b"\x00" * 100, "holds no diff"),
    ],
)
def test_what_is_no_diff_is_said(data: bytes, says: str) -> None:
    assert says in str(patch_fault(data))
