"""Reading a patch without git, and with it: what git refuses, where, and what it makes of every name."""

import random
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regraft.core.patch_read import NOTHING, read_patch_text
from regraft.core.patch_repair import repair
from regraft.core.patch_text import PatchText

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
ENVIRONMENT |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/", "HOME": "/nonexistent"}

EDIT = b"""diff --git a/f b/f
index 1111111..2222222 100755
--- a/f
+++ b/f
@@ -2,2 +2,3 @@ def x():
 a
+b

@@ -9,1 +10,2 @@
 c
+d
\\ No newline at end of file
"""
MAIL = b"""From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Subject: [PATCH] x

---
 x | 2 +-

diff --git a/d/x b/d/y
similarity index 90%
rename from d/x
rename to d/y
index 1..2 100644
--- a/d/x
+++ b/d/y
@@ -1 +1 @@
-a
+b
-- \n2.39.5

"""
PLAIN = b"""diff -ru old/e/f new/e/f
--- old/e/f\t2024-01-01 10:00:00.000000000 +0100
+++ new/e/f\t2024-01-02 10:00:00 +0100
@@ -1,2 +1 @@
-a
 b
--- old/n\t1970-01-01 00:00:00 +0000
+++ new/n\t2024-01-02 10:00:00 +0100
@@ -0,0 +1 @@
+a
--- old/n m\t2020-01-01 00:00:00 +0000
+++ new/n m\t1970-01-01 01:00:00.000 +0100
@@ -1 +0,0 @@
-a
"""
FILES = b"""diff --git a/n b/n
new file mode 100755
index 0000000..2222222
--- /dev/null
+++ b/n
@@ -0,0 +1 @@
+a
\\ No newline at end of file
diff --git a/o b/o
deleted file mode 100644
index 2..0
--- a/o
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
diff --git a/e b/e
new file mode 100644
index 0..0
diff --git a/m b/m
old mode 100644
new mode 100755
diff --git a/c b/d
similarity index 100%
copy from c
copy to d
"""
NAMES = b"""diff --git "a/q\\303\\274 x" "b/q\\303\\274 x"
index 1..2 100644
--- "a/q\\303\\274 x"
+++ "b/q\\303\\274 x"
@@ -1 +1 @@
-a
+b
diff --git a/a b c b/a b c
old mode 100644
new mode 100755
diff --git a/a b b/a b
index 1..2
--- a/a b\t
+++ b/a b\t
@@ -1 +1,2 @@
 a
+b
"""
SVN = b"""Index: svn/f
===================================================================
--- svn/f\t(revision 1)
+++ svn/f\t(working copy)
@@ -1 +1 @@
-a
+b

Property changes on: svn/f
___________________________________________________________________
Added: svn:x
"""
BINARY = b"""diff --git a/z b/z
index e57fd5b4e8e07e39a62591e0851986e97116111c..bf1d56cc2da9b7b66694e0811178248d78e4d862 100644
GIT binary patch
delta 14
VcmZn=XcE|<!^otlxKZZ{8vq@N1N#5~

delta 19
ZcmZn?Xb{+-!?;<G=?d#4MxDt(8UQ=G1`+@O

"""
WHOLE = [EDIT, MAIL, PLAIN, FILES, NAMES, SVN, BINARY]
PIECES = [
    *(line for text in WHOLE for line in text.split(b"\n")),
    *(b"", b" ", b"@@ -1 +1 @@", b"@@ -0,0 +1 @@", b"--- /dev/null", b"+++ /dev/null", b"--- a/f", b"+++ b/f", b"\r"),
    *(b"index zz..1 abc", b"new mode 1x", b"old mode ", b"rename from x", b"diff --git a/f b/f", b"diff --git f g"),
    *(b"Binary files a/f and b/f differ", b"GIT binary patch", b"\\ No newline", b'--- "a/x', b"--- a//x"),
    *(b"@@ -1,999999999999999999999999 +1 @@", b"+++ x/y/z  2024-01-01"),
]


def git(data: bytes, level: int, root: str = "") -> tuple[str | None, list[bytes]]:
    """What git says where it refuses, or the paths of the sections that it reads."""
    arguments = ["git", "apply", "--numstat", "-z", f"-p{level}", *([f"--directory={root}"] if root else []), "-"]
    done = subprocess.run(arguments, input=data, env=ENVIRONMENT, cwd="/", capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        said = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        # zlib and base85 speak first where a binary block is corrupt
        return next(line for line in said if not line.startswith(("inflate", "invalid base85"))), []
    return None, [record.split(b"\t", 2)[2] for record in done.stdout.split(b"\0")[:-1]]


def everywhere(data: bytes, level: int, root: str = "") -> PatchText:
    return read_patch_text(data, strip=level, root=root.encode(), exists=lambda _: True)


def mutated(rng: random.Random) -> bytes:
    lines = b"".join(rng.choices(WHOLE, k=rng.choice([1, 1, 2]))).split(b"\n")
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        at = rng.randrange(len(lines))
        line = lines[at]
        byte = rng.randrange(len(line) + 1)
        kind = rng.randrange(8)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind in (1, 2):
            lines.insert(at, rng.choice(lines if kind == 1 else PIECES))
        elif kind == 3:
            lines[at] = rng.choice(PIECES)
        elif kind == 4:
            lines[at] += rng.choice([b"\r", b" ", b"\t", b"x"])
        elif kind == 5:
            lines[at] = line[:byte] + bytes([rng.choice(b' \t"/abx0159-+@,\\\r')]) + line[byte + 1 :]
        elif kind == 6:
            lines[at] = line[:byte] + line[byte + 1 :]
        else:
            lines = lines[: at + 1]
    data = b"\n".join(lines)
    if rng.random() < 0.08:
        data = data[: rng.randrange(len(data) + 1)]
    return data.replace(b"\n", b"\r\n") if rng.random() < 0.03 else data


def test_damaged_patches_are_refused_where_git_refuses_them_and_in_its_words() -> None:
    rng = random.Random(20240229)
    accepted = refused = 0
    for _ in range(400):
        data, level, root = mutated(rng), rng.choice([1, 1, 1, 0, 2]), rng.choice(["", "", "r"])
        said, paths = git(data, level, root)
        text = everywhere(data, level, root)
        ours = next((problem.said for problem in text.problems if problem.said is not None), None)
        assert (said is None) == (ours is None), (data, said, text.problems)
        if said is None:
            accepted += 1
            if not text.problems:
                assert [section.path for section in text.sections] == paths, data
        else:
            refused += 1
            known = said.startswith("corrupt binary") or (said.startswith(NOTHING) and ours == NOTHING)
            assert known or (ours or "")[:60] == said[:60], data
    assert min(accepted, refused) > 100


@pytest.mark.parametrize("data", WHOLE, ids=["edit", "mail", "plain", "files", "names", "svn", "binary"])
@pytest.mark.parametrize(("level", "root"), [(0, ""), (1, ""), (1, "python/x"), (2, "")])
def test_names_are_gits_under_any_level_and_root(data: bytes, level: int, root: str) -> None:
    said, paths = git(data, level, root)
    text = everywhere(data, level, root)
    assert [problem.said for problem in text.problems if problem.said] == ([said] if said else [])
    if said is None:
        assert [section.path for section in text.sections] == paths
        assert text.git_arguments == (f"-p{level}", *([f"--directory={root}"] if root else []))


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_what_is_offered_as_a_repair_is_read_by_git(rng: random.Random) -> None:
    offered = repair(mutated(rng))
    if offered is not None:
        said = git(offered.text, 1)[0]
        assert said is None or not said.startswith(("corrupt patch", "patch fragment")), offered
