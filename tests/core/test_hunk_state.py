"""Where a hunk fits, whether its result is there, and what cannot be told: one file, in memory."""

import difflib
import subprocess
from pathlib import Path

import pytest

from regraft.core.hunk_state import HunksVerdict, judge_hunks
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import Hunk


def hunks(old: bytes, new: bytes, context: int = 3) -> list[Hunk]:
    rows = difflib.diff_bytes(
        difflib.unified_diff, old.splitlines(True), new.splitlines(True), b"a/f", b"b/f", n=context, lineterm=b"\n"
    )
    text = b"".join(row if row.endswith(b"\n") else row + b"\n\\ No newline at end of file\n" for row in rows)
    read = read_patch_text(text, strip=1, exists=lambda _: True)
    assert not read.problems, (text, read.problems)
    [section] = read.sections
    return section.hunks


def states(verdict: HunksVerdict) -> list[str]:
    return [hunk.state for hunk in verdict.hunks]


def numbered(count: int = 30, **changed: str) -> bytes:
    """`line 1` to `line 30`; `_10="ten"` makes the tenth another, "" takes it out."""
    texts = {f"_{number}": f"line {number}" for number in range(1, count + 1)} | changed
    return "".join(f"{text}\n" for text in texts.values() if text).encode()


PLAIN = numbered()
TEN = numbered(_10="ten")


def test_a_hunk_applies_at_its_own_line() -> None:
    verdict = judge_hunks(PLAIN, hunks(PLAIN, TEN))
    assert (states(verdict), verdict.hunks[0].offset, verdict.content) == (["applies"], 0, TEN)


def test_a_hunk_applies_at_the_one_other_place_and_the_offset_is_noted() -> None:
    verdict = judge_hunks(b"new\nhead\n" + PLAIN, hunks(PLAIN, TEN))
    assert (states(verdict), verdict.hunks[0].offset) == (["applies"], 2)
    assert verdict.content == b"new\nhead\n" + TEN


def test_the_offset_counts_from_where_the_earlier_hunks_moved_it() -> None:
    new = numbered(_5="five\nand\nmore", _25="x")
    verdict = judge_hunks(b"top\n" + PLAIN, hunks(PLAIN, new))
    assert [hunk.offset for hunk in verdict.hunks] == [1, 1]
    assert verdict.content == b"top\n" + new


BLOCK = b"def f():\n    a = 1\n    b = 2\n    return a\n"
FIXED = BLOCK.replace(b"b = 2", b"b = 3")


def test_other_places_are_noted_where_it_fits_at_its_own_line() -> None:
    body = b"# one\n" + BLOCK + b"# two\n" + BLOCK + b"# end\n"
    patch = [Hunk(1, 7, 7, (b" def f():", b"     a = 1", b"-    b = 2", b"+    b = 3", b"     return a"))]
    verdict = judge_hunks(body, patch)
    assert (states(verdict), verdict.hunks[0].also) == (["applies"], (2,))
    assert verdict.content == b"# one\n" + BLOCK + b"# two\n" + FIXED + b"# end\n"


def test_several_places_and_none_its_own_line_is_ambiguous() -> None:
    body = b"# zero\n# one\n" + BLOCK + b"# two\n" + BLOCK + b"# end\n"
    patch = [Hunk(1, 2, 2, (b" def f():", b"     a = 1", b"-    b = 2", b"+    b = 3", b"     return a"))]
    verdict = judge_hunks(body, patch)
    assert states(verdict) == ["conflict"]
    assert verdict.hunks[0].reason == "ambiguous: it fits at 2 places, and none of them is its own line"
    assert verdict.content is None
    assert verdict.taken is not None  # git takes the nearest, and calls it a success


def test_a_line_inserted_among_its_equals_is_never_inserted_twice() -> None:
    old, new = b"{\n" + b"pad\n" * 9 + b"}\n", b"{\n" + b"pad\n" * 10 + b"}\n"
    at_the_end, in_the_middle = hunks(old, new), [Hunk(1, 4, 4, (b" pad", b" pad", b"+pad", b" pad", b" pad"))]
    for patch in (at_the_end, in_the_middle):
        assert judge_hunks(old, patch, base=old).content == new
        verdict = judge_hunks(new, patch)
        assert states(verdict) == ["conflict"]
        assert verdict.taken == new.replace(b"{\n", b"{\npad\n")  # git inserts it once more
        assert verdict.hunks[0].reason == "ambiguous: it fits, and its result is there as well"
        assert states(judge_hunks(new, patch, base=old)) == ["conflict"]


def test_of_two_equal_functions_upstream_fixed_the_first() -> None:
    old = b"# one\n" + BLOCK + b"# two\n" + BLOCK
    patch = [Hunk(1, 2, 2, (b" def f():", b"     a = 1", b"-    b = 2", b"+    b = 3", b"     return a"))]
    fixed = b"# one\n" + FIXED + b"# two\n" + BLOCK
    verdict = judge_hunks(fixed, patch)
    assert states(verdict) == ["conflict"]
    assert "ambiguous: it fits, and its result is there as well" in str(verdict.hunks[0].reason)
    assert states(judge_hunks(fixed, patch, base=old)) == ["conflict"]


def test_a_result_that_always_stood_elsewhere_does_not_keep_a_hunk_from_applying() -> None:
    """The second function gets what the first one has: on the file that it was made on, and on one that only moved."""
    old, new = (
        b"# one\n" + FIXED + b"# two\n" + BLOCK + b"# end\n",
        b"# one\n" + FIXED + b"# two\n" + FIXED + b"# end\n",
    )
    patch = [Hunk(1, 7, 7, (b" def f():", b"     a = 1", b"-    b = 2", b"+    b = 3", b"     return a"))]
    assert judge_hunks(old, patch, base=old).content == new
    assert judge_hunks(b"top\n" + old, patch, base=old).content == b"top\n" + new
    assert states(judge_hunks(old, patch)) == ["conflict"]


def test_a_near_equal_function_that_always_had_the_line_proves_nothing() -> None:
    """https://github.com/landley/toybox/issues/533: five of six lines of context were the same in both places."""
    old = b"# one\n" + FIXED + b"# two\n" + BLOCK + b"# end\n"
    patch = [Hunk(1, 7, 7, (b" def f():", b"     a = 1", b"-    b = 2", b"+    b = 3", b"     return a"))]
    now = b"# one\n" + FIXED + b"# two\n" + BLOCK.replace(b"return a", b"return a, b") + b"# end\n"
    verdict = judge_hunks(now, patch, base=old)
    assert states(verdict) == ["conflict"]
    assert verdict.hunks[0].reason == "its result stood there before the patch was made"


def test_what_landed_is_there_wherever_it_moved_and_whatever_else_changed() -> None:
    verdict = judge_hunks(b"top\n" * 5 + numbered(_10="ten", _25="other"), hunks(PLAIN, TEN))
    assert verdict.state == "already-there"
    assert verdict.content is None


def test_some_hunks_there_and_the_others_fit_is_partial() -> None:
    patch = hunks(PLAIN, numbered(_3="a", _15="b", _28="c"))
    verdict = judge_hunks(numbered(_15="b"), patch)
    assert (states(verdict), verdict.state) == (["applies", "already-there", "applies"], "partial")


def test_one_there_and_one_in_conflict_is_a_conflict() -> None:
    """https://github.com/ai-dynamo/dynamo/pull/9522: the exit code for "already in" is that of "rejected" as well."""
    verdict = judge_hunks(numbered(_10="ten", _25="other"), hunks(PLAIN, numbered(_10="ten", _25="x")))
    assert (states(verdict), verdict.state) == (["already-there", "conflict"], "conflict")


def test_a_hunk_of_which_another_hunk_failed_keeps_its_own_line() -> None:
    new = numbered(_5="five\nand\nmore", _25="x")
    verdict = judge_hunks(numbered(_5="other"), hunks(PLAIN, new))
    assert states(verdict) == ["conflict", "applies"]
    assert verdict.hunks[1].offset == 0


def test_lines_removed_that_never_were_there_are_no_proof() -> None:
    patch = hunks(numbered(_10="line 10\nnever here"), PLAIN)
    verdict = judge_hunks(PLAIN, patch)
    assert states(verdict) == ["conflict"]
    assert "nothing shows that they ever were" in str(verdict.hunks[0].reason)
    assert "the file that it was made on does not have either" in str(
        judge_hunks(PLAIN, patch, base=PLAIN).hunks[0].reason
    )


def test_lines_removed_are_proved_gone_by_the_file_that_the_patch_was_made_on() -> None:
    old = numbered(_10="line 10\nonce here")
    assert judge_hunks(b"top\n" + PLAIN, hunks(old, PLAIN), base=old).state == "already-there"
    moved = PLAIN + b"once here\n"
    assert "still occur" in str(judge_hunks(moved, hunks(old, PLAIN), base=old).hunks[0].reason)


def test_a_hunk_that_only_removes_applies_at_its_own_line_whatever_its_context_says_elsewhere() -> None:
    old = b"{\n}\n" + b"x\n" * 3 + b"{\n  gone\n}\n" + b"y\n" * 3
    new = old.replace(b"  gone\n", b"")
    [hunk] = hunks(old, new, 1)
    assert hunk.only_removes
    assert judge_hunks(old, [hunk]).content == new


@pytest.mark.parametrize("now", [b"a\nB\n", b"0\na\nb\n"])
def test_no_context_proves_nothing(now: bytes) -> None:
    verdict = judge_hunks(now, hunks(b"a\nb\n", b"a\nB\n", 0))
    assert states(verdict) == ["conflict"]
    assert "no lines of context" in str(verdict.hunks[0].reason)


@pytest.mark.parametrize(
    ("old", "new", "now", "reason"),
    [
        (PLAIN, TEN, PLAIN.replace(b"line 9\n", b"line 9 \n"), "it differs only in white space"),
        (PLAIN, TEN, PLAIN.replace(b"\n", b"\r\n"), "it differs only in white space"),
        (b"a\nb\nc\n", b"a\nB\nc\n", b"a\nb\nc", "it differs only in the newline at the end of the file"),
        (PLAIN, TEN, numbered(_10="other"), "a line that it removes is no longer there"),
        (PLAIN, TEN, numbered(_9="other"), "the lines around it changed"),
        (PLAIN, TEN, b"quite\nanother\n", "the block no longer exists at this path"),
    ],
)
def test_the_reason_names_what_is_nearest(old: bytes, new: bytes, now: bytes, reason: str) -> None:
    assert judge_hunks(now, hunks(old, new)).hunks[0].reason == reason


def test_a_mark_for_a_missing_newline_counts() -> None:
    """https://github.com/src-d/go-git/issues/936: the tool that wrote the diff left the mark out."""
    old, new = b"a\nb\nc", b"a\nB\nc"
    assert judge_hunks(old, hunks(old, new)).content == new
    without = hunks(old + b"\n", new + b"\n")
    assert "newline at the end of the file" in str(judge_hunks(old, without).hunks[0].reason)


def test_a_file_that_grew_behind_a_missing_newline_is_not_glued_together(tmp_path: Path) -> None:
    """Git itself joins the two lines, and calls it a success."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "f").write_bytes(b"a\nb\nc\nd\n")
    patch = b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n\\ No newline at end of file\n"
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, check=True)
    assert (tmp_path / "f").read_bytes() == b"A\nb\ncd\n"
    verdict = judge_hunks(b"a\nb\nc\nd\n", hunks(b"a\nb\nc", b"A\nb\nc"))
    assert states(verdict) == ["conflict"]
    assert "ambiguous: a line lacks its newline" in str(verdict.hunks[0].reason)


def test_carriage_returns_are_content() -> None:
    old, new = PLAIN.replace(b"\n", b"\r\n"), TEN.replace(b"\n", b"\r\n")
    assert judge_hunks(old, hunks(old, new)).content == new
    assert states(judge_hunks(PLAIN, hunks(old, new))) == ["conflict"]


def test_a_line_that_an_earlier_hunk_wrote_is_not_matched_again() -> None:
    """The second hunk would fit the first one's result; git does not look there."""
    patch = [
        Hunk(1, 5, 5, (b" line 5", b"-line 6", b"+marker", b" line 7")),
        Hunk(5, 8, 8, (b" line 5", b"-marker", b"+x", b" line 7")),
    ]
    verdict = judge_hunks(PLAIN, patch)
    assert states(verdict) == ["applies", "conflict"]


def test_a_large_file_with_many_hunks_is_judged_whole() -> None:
    old = b"".join(b"the line number %d of a long file\n" % number for number in range(3000))
    new = b"".join(
        b"changed\n" if number % 300 == 150 else b"the line number %d of a long file\n" % number
        for number in range(3000)
    )
    patch = hunks(old, new)
    assert len(patch) == 10
    assert judge_hunks(b"top\n" + old, patch).content == b"top\n" + new
    assert judge_hunks(new, patch).state == "already-there"


@pytest.mark.parametrize("copied", [False, True])
def test_the_very_file_that_it_was_made_on_is_no_proof_whatever_stands_in_it(*, copied: bool) -> None:
    """And the question whether something came in ends, where the base is the file itself."""
    base = bytes(bytearray(TEN)) if copied else TEN
    verdict = judge_hunks(TEN, hunks(PLAIN, TEN), base=base)
    assert states(verdict) == ["conflict"]
    assert verdict.hunks[0].reason == "its result stood there before the patch was made"


def function(name: str, *body: str) -> bytes:
    return "".join(f"{line}\n" for line in (f"def {name}(x):", *(f"    {one}" for one in body), "", "")).encode()


LOAD = ("a = open(x)", "b = read(a)", "c = parse(b)", "d = use(c)", "e = close(d)", "return e")
CHECKED = (*LOAD[:3], "check(c)", *LOAD[3:])


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (function("one", *CHECKED) + PLAIN + function("two", "return other(x)"), "conflict"),
        (function("one", *CHECKED) + PLAIN, "conflict"),
        (function("one", *CHECKED), "conflict"),
        (function("one", "return other(x)") + PLAIN + function("two", *CHECKED), "already-there"),
        (function("two", *CHECKED) + PLAIN + function("one", "pass"), "already-there"),
        (function("one", *CHECKED) + PLAIN + function("two", *CHECKED), "already-there"),
        (PLAIN + function("one", "pass") + PLAIN + function("two", "log(x)", *CHECKED), "already-there"),
    ],
    ids=["rewritten", "taken out", "all but the first", "its own", "its own, moved", "both", "its own, edited above"],
)
def test_of_two_equal_functions_only_the_patch_s_own_counts_where_its_other_side_is_gone(
    now: bytes, state: str
) -> None:
    """Upstream fixed one and did something else to the other: the result stands there, with all of its context."""
    old = function("one", *LOAD) + PLAIN + function("two", *LOAD)
    new = function("one", *LOAD) + PLAIN + function("two", *CHECKED)
    verdict = judge_hunks(now, hunks(old, new), base=old)
    assert verdict.state == state
    if state == "conflict":
        assert "another place than the patch's own" in str(verdict.hunks[0].reason)
