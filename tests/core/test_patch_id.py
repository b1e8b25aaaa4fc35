"""A patch's id is git's, and a commit is taken for the patch's own change only where its difference has the same one."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from regraft.core.landed import Mark, followed, mark_made
from regraft.core.patch_id import file_patch_id, landed_hunks
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import Section

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def git_diff(folder: Path, before: bytes | None, after: bytes | None, *options: str) -> bytes:
    """Git's diff of one file, `f.py`, outside of any repository's settings."""
    names = []
    for side, content in (("a", before), ("b", after)):
        path = folder / side / "f.py"
        path.parent.mkdir(exist_ok=True)
        if content is not None:
            path.write_bytes(content)
        names.append(f"{side}/f.py" if content is not None else "/dev/null")
    argv = ["git", "diff", "--no-index", "--no-prefix", *options, "--", *names]
    done = subprocess.run(argv, cwd=folder, env=ENV, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    text = done.stdout.replace(b"diff --git a/f.py a/f.py", b"diff --git a/f.py b/f.py")
    return text.replace(b"diff --git b/f.py b/f.py", b"diff --git a/f.py b/f.py")


def git_id(diff: bytes) -> str:
    done = subprocess.run(
        ["git", "patch-id", "--stable"], env=ENV, cwd="/", input=diff, capture_output=True, check=True
    )
    return done.stdout.decode().partition(" ")[0]


def section_of(diff: bytes) -> Section:
    text = read_patch_text(diff, exists=lambda _: True)
    assert not text.problems, text.problems
    [section] = text.sections
    return section


WORDS = ("if a:", "    return 1", "x = load(y)", "}", "", "\tmake", "# a remark", "use( x )", 'say("a  b")')


def content(chance: random.Random, lines: int) -> list[str]:
    return [f"{chance.choice(WORDS)}{chance.choice(('', f' {chance.randrange(9)}'))}" for _ in range(lines)]


def edited(chance: random.Random, lines: list[str]) -> list[str]:
    new = list(lines)
    for _ in range(chance.randrange(1, 5)):
        at, kind = chance.randrange(len(new) + 1), chance.randrange(3)
        if kind == 0 or at == len(new):
            new[at:at] = content(chance, chance.randrange(1, 4))
        elif kind == 1:
            del new[at : at + chance.randrange(1, 3)]
        else:
            new[at] = chance.choice((new[at] + " changed", "  " + new[at], "another line"))
        new = new or ["one"]
    return new


def as_bytes(lines: list[str], chance: random.Random) -> bytes:
    return ("\n".join(lines) + chance.choice(("\n", "\n", ""))).encode()


@pytest.mark.parametrize("seed", range(60))
def test_the_id_is_the_one_that_git_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = content(chance, chance.randrange(1, 40))
    before, after = as_bytes(old, chance), as_bytes(edited(chance, old), chance)
    if before == after:
        pytest.skip("the edits undid each other")
    diff = git_diff(tmp_path, before, after, f"-U{chance.choice((0, 1, 3, 3, 10))}")
    assert file_patch_id(section_of(diff)) == git_id(diff)


def test_the_id_of_a_new_and_of_a_deleted_file_is_the_one_that_git_says(tmp_path: Path) -> None:
    for sides in ((None, b"one\ntwo\n"), (b"one\ntwo", None)):
        diff = git_diff(tmp_path, *sides).replace(b"a/dev/null", b"a/f.py").replace(b"b/dev/null", b"b/f.py")
        for broken in (b"diff --git /dev/null b/f.py", b"diff --git a/f.py /dev/null"):
            diff = diff.replace(broken, b"diff --git a/f.py b/f.py")
        assert file_patch_id(section_of(diff)) == git_id(diff)


@pytest.mark.parametrize("seed", range(120))
def test_a_commit_is_the_patchs_change_just_where_git_gives_both_one_id(tmp_path: Path, seed: int) -> None:
    """The patch was made on one file, the commit on another one: lines were put before it, or something else was changed too."""
    chance = random.Random(seed)
    old = [f"line {number}" for number in range(30)]
    new = edited(chance, old)
    section = section_of(git_diff(tmp_path, "\n".join([*old, ""]).encode(), "\n".join([*new, ""]).encode()))
    head = [f"head {number}" for number in range(chance.randrange(4))] + ["head"] * 4
    tail = ["tail"] * 4
    theirs_old, theirs_new = [*head, *old, *tail], [*head, *new, *tail]
    if chance.randrange(2):
        at = chance.randrange(len(theirs_new))
        theirs_new[at] += chance.choice((" more", ""))
    before, after = ("\n".join([*lines, ""]).encode() for lines in (theirs_old, theirs_new))
    theirs = git_diff(tmp_path, before, after)
    same = git_id(theirs) == file_patch_id(section)
    found = landed_hunks(section, before, after)
    if same and all(section_tells(section)):
        assert found is not None
    if found is not None:
        made = Section(1, path=b"f.py", hunks=list(found))
        assert file_patch_id(made) == file_patch_id(section)
        assert applied(before, found) == after


def section_tells(section: Section) -> list[bool]:
    """Of each hunk, whether it changes more than white space, and something that stands not everywhere."""
    sides = [
        [b"".join(line[1:].split()) for line in hunk.body if line.startswith(sign)]
        for hunk in section.hunks
        for sign in (b"-", b"+")
    ]
    both = [(b"".join(one), b"".join(other)) for one, other in zip(sides[::2], sides[1::2], strict=True)]
    return [one != other and re.search(rb"\w{3}", one + b" " + other) is not None for one, other in both]


def applied(before: bytes, hunks: tuple[object, ...]) -> bytes:
    """What the hunks make of it, at their own lines: by replacing, with nothing of ours."""
    lines = before.split(b"\n")
    shift = 0
    for hunk in hunks:
        pre = [line[1:] for line in hunk.body if not line.startswith(b"+")]  # type: ignore[attr-defined]
        post = [line[1:] for line in hunk.body if not line.startswith(b"-")]  # type: ignore[attr-defined]
        at = hunk.start - 1 + shift  # type: ignore[attr-defined]
        assert lines[at : at + len(pre)] == pre
        lines[at : at + len(pre)] = post
        shift += len(post) - len(pre)
    return b"\n".join(lines)


BEFORE = b"def a():\n    x = load()\n    debug(x)\n    use(x)\n    return x\n"
AFTER = b"def a():\n    x = load()\n    use(x)\n    return x\n"
REMOVAL = b"--- a/f.py\n+++ b/f.py\n@@ -2,3 +2,2 @@\n     x = load()\n-    debug(x)\n     use(x)\n"


def test_white_space_does_not_count_where_it_is_no_text() -> None:
    patch = b"--- a/f.py\n+++ b/f.py\n@@ -2,3 +2,2 @@\n \tx = load( )\n-\tdebug( x )\n \tuse( x )\n"
    section = section_of(patch)
    found = landed_hunks(section, BEFORE, AFTER)
    assert found is not None
    assert found[0].body == (b"     x = load()", b"-    debug(x)", b"     use(x)")
    assert (found[0].start, found[0].new_start) == (2, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, AFTER.replace(b"return x", b"return  x")),  # something else was changed too
        (BEFORE, AFTER + b"more\n"),
        (BEFORE.replace(b"debug(x)", b"debug(y)"), AFTER),
        (BEFORE.replace(b"    x = load()", b"  x = load()"), AFTER),  # a line of context was changed
        (AFTER, BEFORE),
        (BEFORE, BEFORE),
        (BEFORE, b""),
        (b"", AFTER),
    ],
)
def test_another_change_is_not_the_patchs(before: bytes, after: bytes) -> None:
    assert landed_hunks(section_of(REMOVAL), before, after) is None


@pytest.mark.parametrize(
    ("patch", "before", "after"),
    [
        # Only white space: another change of white space has the same id.
        (b"@@ -1,2 +1,2 @@\n a = 1\n-  if b:\n+    if b:\n", b"a = 1\n  if b:\n", b"a = 1\n\tif b:\n"),
        # A text: white space in it is what the patch is about.
        (b"@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 'x y'\n", b"a = 1\nb = 2\n", b"a = 1\nb = 'xy'\n"),
        # No context.
        (b"@@ -2 +2 @@\n-bbb = 2\n+bbb = 3\n", b"a = 1\nbbb = 2\n", b"a = 1\nbbb = 3\n"),
        # Nothing that tells it from others.
        (b"@@ -1,2 +1,3 @@\n a = 1\n+}\n b = 2\n", b"a = 1\nb = 2\n", b"a = 1\n}\nb = 2\n"),
    ],
)
def test_what_proves_nothing_is_not_taken(patch: bytes, before: bytes, after: bytes) -> None:
    assert landed_hunks(section_of(b"--- a/f.py\n+++ b/f.py\n" + patch), before, after) is None


def landed_removal() -> Mark:
    hunks = landed_hunks(section_of(REMOVAL), BEFORE, AFTER)
    assert hunks is not None
    found = mark_made(hunks[0], AFTER)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("later", "there"),
    [
        (AFTER, True),
        (b"import os\n\n\n" + AFTER + b"more\n", True),
        (AFTER.replace(b"return x", b"return x + 1"), True),
        (BEFORE, False),  # taken back
        (AFTER + b"    debug(x)\n", False),  # put elsewhere
        (AFTER.replace(b"    use", b"    trace(x)\n    use"), False),  # something stands in its place
        (AFTER.replace(b"x = load()", b"x = load(1)"), False),  # the place was rewritten
        (None, False),
    ],
)
def test_a_removal_is_there_while_its_neighbours_are_neighbours(later: bytes | None, there: bool) -> None:
    assert (followed(landed_removal(), later) is not None) is there


def test_a_removal_at_the_end_of_a_file_has_no_neighbour_to_show_that_it_stayed() -> None:
    section = section_of(b"--- a/f.py\n+++ b/f.py\n@@ -1,2 +1 @@\n first = 1\n-second = 2\n")
    hunks = landed_hunks(section, b"first = 1\nsecond = 2\n", b"first = 1\n")
    assert hunks is not None
    assert mark_made(hunks[0], b"first = 1\n") is None
