"""Files that a series of patches fits."""

import subprocess
from pathlib import Path

import pytest

from regraft.core.patch_base import base_files
from regraft.errors import InputError

FIRST = b"""\
diff --git a/engine/loop.py b/engine/loop.py
--- a/engine/loop.py
+++ b/engine/loop.py
@@ -10,4 +10,6 @@ def loop():
 a
-b
+B
+B2
+B3
 c
 d
@@ -40,2 +42,2 @@
-x
+X
 y
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+one
+two
"""
SECOND = b"""\
--- a/engine/loop.py
+++ b/engine/loop.py
@@ -12,3 +12,2 @@
 B2
-B3
 c
@@ -60,2 +59,2 @@
 far
-away
+near
--- a/new.py
+++ b/new.py
@@ -1,2 +1,2 @@
 one
-two
+three
"""


def lay(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def apply(folder: Path, patch: bytes) -> None:
    subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, check=True)


def test_git_applies_the_series_to_what_is_made_up(tmp_path: Path) -> None:
    files = base_files({"1": FIRST, "2": SECOND})
    assert set(files) == {"engine/loop.py"}
    lines = files["engine/loop.py"].split(b"\n")
    assert lines[9:13] == [b"a", b"b", b"c", b"d"]
    assert lines[0] == b"# line 1 of engine/loop.py"
    lay(tmp_path, files)
    apply(tmp_path, FIRST)
    apply(tmp_path, SECOND)
    assert (tmp_path / "new.py").read_bytes() == b"one\nthree\n"


def test_a_file_that_a_patch_deletes_is_there_before(tmp_path: Path) -> None:
    patch = b"--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n\\ No newline at end of file\n"
    files = base_files({"1": patch})
    assert files == {"old": b"one\ntwo"}
    lay(tmp_path, files)
    apply(tmp_path, patch)
    assert not (tmp_path / "old").exists()


def test_patches_that_contradict_each_other_by_line_are_refused() -> None:
    other = b"--- a/engine/loop.py\n+++ b/engine/loop.py\n@@ -11 +11 @@\n-not B\n+C\n"
    with pytest.raises(InputError, match="wants another line 11"):
        base_files({"1": FIRST, "2": other})


def test_what_is_no_patch_is_refused() -> None:
    with pytest.raises(InputError, match="no file can be made up"):
        base_files({"1": b"nothing\n"})
