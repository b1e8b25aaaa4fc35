"""The merge of lines against `git merge-file`, and what a larger change is said to contain."""

import random
import subprocess
from pathlib import Path

import pytest

from regraft.core.contained import contained
from regraft.core.line_diff import changed_blocks, split_lines
from regraft.core.patch_text import Hunk
from regraft.core.three_way import Conflict, merge, settled

BASE = b"".join(b"line %d\n" % number for number in range(20))


def by_git(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    for name, text in {"base": base, "ours": ours, "theirs": theirs}.items():
        (folder / name).write_bytes(text)
    done = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def edited(source: random.Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    for _ in range(source.randint(0, 3)):
        at = source.randrange(len(lines) + 1)
        lines[at : at + source.randint(0, 2)] = [b"new %d\n" % source.randrange(4)] * source.randint(0, 2)
    return b"".join(lines)


@pytest.mark.parametrize("seed", range(3))
def test_it_merges_what_git_merges_and_as_git_does(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    clean = 0
    for _ in range(60):
        ours, theirs = edited(source, BASE), edited(source, BASE)
        made, git = merge(BASE, ours, theirs), by_git(tmp_path, BASE, ours, theirs)
        assert (None if isinstance(made, Conflict) else made) == git, (ours, theirs)
        clean += git is not None
    assert 10 < clean < 60


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE, BASE + b"more\n", BASE + b"more\n"),
        (BASE.replace(b"line 3\n", b"x\n"), BASE.replace(b"line 3\n", b"x\n"), BASE.replace(b"line 3\n", b"x\n")),
        (b"top\n" + BASE, BASE + b"end\n", b"top\n" + BASE + b"end\n"),
    ],
)
def test_both_sides_are_kept(ours: bytes, theirs: bytes, merged: bytes) -> None:
    assert merge(BASE, ours, theirs) == merged


def test_changes_that_touch_are_a_conflict_with_its_place() -> None:
    ours, theirs = BASE.replace(b"line 3\n", b"x\n"), BASE.replace(b"line 4\n", b"y\n")
    assert merge(BASE, ours, theirs) == Conflict(3, 5)


def test_where_lines_repeat_git_may_match_them_otherwise_and_then_a_merge_is_not_settled(tmp_path: Path) -> None:
    source = random.Random(1)
    words = [b"\n", b"}\n", b"    return x\n"]
    settled_ones = 0
    for _ in range(150):
        base = b"".join(source.choice([*words, *[b"line %d\n" % at] * 2]) for at in range(24))
        ours, theirs = repeating(source, base, words), repeating(source, base, words)
        made = merge(base, ours, theirs)
        if isinstance(made, Conflict):
            continue
        git = by_git(tmp_path, base, ours, theirs)
        if settled(base, ours, theirs, made):
            settled_ones += 1
            assert made == git, (base, ours, theirs)
    assert settled_ones > 30
    base, ours, theirs = b"a\nc\nc\nc\n", b"c\nc\nc\n", b"c\na\n"
    assert (merge(base, ours, theirs), by_git(tmp_path, base, ours, theirs)) == (theirs, None)
    assert not settled(base, ours, theirs, theirs)


def repeating(source: random.Random, text: bytes, words: list[bytes]) -> bytes:
    lines = text.splitlines(keepends=True)
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(lines) + 1)
        lines[at : at + source.randint(0, 4)] = [source.choice(words)] * source.randint(0, 3)
    return b"".join(lines)


def test_the_blocks_that_differ_make_the_one_text_of_the_other() -> None:
    source = random.Random(7)
    for _ in range(300):
        a = [b"%d\n" % source.randrange(4) for _ in range(source.randrange(12))]
        b = [b"%d\n" % source.randrange(4) for _ in range(source.randrange(12))]
        made: list[bytes] = []
        at = 0
        for i1, i2, j1, j2 in changed_blocks(a, b):
            made += a[at:i1] + b[j1:j2]
            at = i2
        assert made + a[at:] == b


def test_lines_keep_a_missing_newline() -> None:
    assert split_lines(b"a\nb") == [b"a\n", b"b"]
    assert split_lines(b"") == []


@pytest.mark.parametrize(
    ("now", "there"),
    [
        (BASE.replace(b"line 9\n", b"before\nnine\nafter\n"), True),
        (BASE.replace(b"line 8\nline 9\n", b"eight\nnine\n"), True),
        (BASE.replace(b"line 9\n", b"ninth\n"), False),
        (BASE.replace(b"line 9\n", b""), False),
        (BASE.replace(b"line 9\n", b"nine\nline 9\n"), False),
        (BASE.replace(b"line 9\n", b"other\n").replace(b"line 2\n", b"nine\n"), False),
    ],
)
def test_a_larger_change_contains_a_hunk_that_lies_in_it_whole(now: bytes, there: bool) -> None:
    hunk = Hunk(1, 9, 9, (b" line 8", b"-line 9", b"+nine", b" line 10"))
    assert contained(BASE, now, [hunk]) == (frozenset({0}) if there else frozenset())


def test_a_removal_is_not_contained_in_a_larger_removal() -> None:
    hunk = Hunk(1, 9, 9, (b" line 8", b"-line 9", b" line 10"))
    assert contained(BASE, BASE.replace(b"line 8\nline 9\nline 10\n", b""), [hunk]) == frozenset()


def test_a_line_that_came_in_with_another_function_is_not_contained() -> None:
    """Upstream took `old_helper` away and wrote two others, one of which returns what the patch lets `old_helper` return."""
    around = BASE + b"%sdef last():\n    pass\n"
    base = around % b"def old_helper(x):\n    total = x + 1\n    return 1\n\n"
    hunk = Hunk(1, 21, 21, (b" def old_helper(x):", b"     total = x + 1", b"-    return 1", b"+    return None", b" "))
    others = b"def first(x):\n    if x:\n        pass\n    return None\n\ndef second(z):\n    return z\n\n"
    assert contained(base, around % others, [hunk]) == frozenset()
    kept = b"def helper(x, log):\n    total = x + 1\n    return None\n\ndef second(z):\n    return z\n\n"
    assert contained(base, around % kept, [hunk]) == frozenset({0})
    behind = b"def old_helper(x):\n    total = x + 1\n    return total\n\ndef second(z):\n    return None\n\n"
    assert contained(base, around % behind, [hunk]) == frozenset()


def test_a_neighbour_that_stands_in_several_places_anchors_nothing() -> None:
    base = b"def f(x):\n    check(x)\n    return x\n"
    hunk = Hunk(1, 1, 1, (b" def f(x):", b"     check(x)", b"-    return x", b"+    return x or None"))
    now = b"def g(x):\n    check(x)\n    return x or None\ndef h(x):\n    check(x)\n    pass\n"
    assert contained(base, now, [hunk]) == frozenset()


RUN = b"def run(x):\n    a = load(x)\n    b = step(a)\n    return b\n\n\n"
CHECKED = Hunk(
    1, 21, 21, (b" def run(x):", b"     a = load(x)", b"+    check(a)", b"     b = step(a)", b"     return b")
)


def around(body: bytes) -> bytes:
    return BASE + body + BASE.replace(b"line", b"tail")


@pytest.mark.parametrize(
    ("now", "there"),
    [
        (RUN.replace(b"    b = step(a)", b"    check(a)\n    b = step(a, 2)"), True),
        (
            b"def run(x):\n    return other(x)\n\n\ndef new(x):\n    a = load(x)\n    check(a)\n    q = zoom(a)\n    return q\n\n\n",
            False,
        ),
        (
            b'def run(x):\n    """Was:\n\n    a = load(x)\n    check(a)\n    b = zoom(a)\n    """\n    return other(x)\n\n\n',
            False,
        ),
        (RUN.replace(b"    b = step(a)", b"    check(a)\n    uncheck(a)\n    b = step(a, 2)"), False),
        (RUN.replace(b"    b = step(a)", b"    return a\n    check(a)\n    b = step(a, 2)"), False),
    ],
    ids=["edited beside", "in another function", "in a docstring", "undone at once", "behind a return"],
)
def test_a_line_counts_only_where_the_patch_puts_it_and_where_nothing_undoes_it(now: bytes, *, there: bool) -> None:
    assert contained(around(RUN), around(now), [CHECKED]) == (frozenset({0}) if there else frozenset())


def test_a_value_in_another_section_is_not_contained() -> None:
    old = b"[serving]\nname = 'a'\ntimeout = 30\nretries = 2\n\n[training]\nname = 'b'\nworkers = 4\n"
    hunk = Hunk(1, 21, 21, (b" [serving]", b" name = 'a'", b"-timeout = 30", b"+timeout = 90", b" retries = 2", b" "))
    batch = old.replace(b"[serving]\nname = 'a'\ntimeout = 30", b"[batch]\nname = 'z'\ntimeout = 90")
    assert contained(around(old), around(batch), [hunk]) == frozenset()
    named = old.replace(b"name = 'a'\ntimeout = 30", b"name = 'z'\ntimeout = 90")
    assert contained(around(old), around(named), [hunk]) == frozenset({0})


def test_a_line_that_is_written_again_behind_it_is_not_contained() -> None:
    fix = Hunk(1, 21, 21, (b" def run(x):", b"     a = load(x)", b"+    a = fix(a)", b"     b = step(a)"))
    now = RUN.replace(b"    b = step(a)", b"    a = fix(a)\n    a = load(x)\n    b = step(a)")
    assert contained(around(RUN), around(now), [fix]) == frozenset()
