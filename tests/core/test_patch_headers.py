"""Headers of a patch with another name: only the name changes, wherever else the same letters stand."""

import pytest

from regraft.core.patch_headers import renamed


@pytest.mark.parametrize(
    ("line", "old", "now", "made"),
    [
        (b"diff --git a/f b/f", b"f", b"g", b"diff --git a/g b/g"),
        (b"diff --git a/a b/a", b"a", b"bb/x", b"diff --git a/bb/x b/bb/x"),
        (b"diff --git a/b/b.py b/b/b.py", b"b/b.py", b"c/b.py", b"diff --git a/c/b.py b/c/b.py"),
        (b"diff --git a/b b b/b b", b"b b", b"c", b"diff --git a/c b/c"),
        (b'diff --git "a/\\303\\274" "b/\\303\\274"', "ü".encode(), b"u", b"diff --git a/u b/u"),
        (b"diff --git a/f b/f\r", b"f", b"g", b"diff --git a/g b/g\r"),
        (b"diff --git f f", b"f", b"g", b"diff --git g g"),
        (b"diff --git a/f b/x", b"f", b"g", None),
        (b"diff -Nru old/f new/f", b"f", b"g", b"diff -Nru old/g new/g"),
        (b"diff of something else", b"f", b"g", b"diff of something else"),
        (b"--- a/a", b"a", b"b", b"--- a/b"),
        (b"--- a/f\t2020-01-01 00:00:00 +0000", b"f", b"g", b"--- a/g\t2020-01-01 00:00:00 +0000"),
        (b"+++ b/f", b"f", b"g h", b"+++ b/g h\t"),
        (b"+++ b/g h\t", b"g h", b"f", b"+++ b/f"),
        (b"+++ b/f\r", b"f", b"g", b"+++ b/g\r"),
        (b'--- "a/\\303\\274"', "ü".encode(), b"u", b"--- a/u"),
        (b"--- a/f", b"f", "ü".encode(), b'--- "a/\\303\\274"'),
        (b"--- a/xf", b"f", b"g", None),
        (b"Index: f", b"f", b"g", b"Index: g"),
        (b"index 1234567..89abcde 100644", b"index", b"g", b"index 1234567..89abcde 100644"),
        (b"new mode 100755", b"mode", b"g", b"new mode 100755"),
    ],
)
def test_only_the_name_changes(line: bytes, old: bytes, now: bytes, made: bytes | None) -> None:
    assert renamed(line, old, now) == made
