"""A patch that only restores what another one of the series removed: what is said where that other one does not fit any more."""

import difflib

import pytest

from regraft.core.partners import partners, together
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.series_state import judge_series
from regraft.core.tree_view import TreeView
from regraft.core.trees import Entry

LINES = [f"line {number}\n" for number in range(1, 31)]
HELPER = ["def helper():\n", "    return 1\n", "\n"]
OLD = "".join([*LINES[:10], *HELPER, *LINES[10:]])
WITHOUT = "".join([*LINES[:3], "import own\n", *LINES[3:]])  # the helper goes, and something else comes
AGAIN = "".join([*LINES[:3], "import own\n", *LINES[3:10], *HELPER, *LINES[10:]])
UPSTREAM = OLD.replace("line 3\n", "third\n").replace("line 4\n", "fourth\n")  # the first patch does not fit any more


def text(old: str, new: str, name: str = "f") -> PatchText:
    rows = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}")
    return read_patch_text("".join(rows).encode(), strip=1, exists=lambda _: True)


def judge(now: str, *texts: PatchText) -> tuple[PatchVerdict, ...]:
    view = TreeView({b"f": Entry("100644", "blob", "1" * 40, b"f")}, lambda _: now.encode())
    return together(texts, judge_series(texts, view).patches)


def test_a_patch_that_only_restores_what_a_dead_one_removes_is_to_be_dropped_with_it() -> None:
    """https://github.com/radixark/miles/pull/3321"""
    first, second = judge(UPSTREAM, text(OLD, WITHOUT), text(WITHOUT, AGAIN))
    assert first.state == "conflict"
    assert (first.reason or "").endswith(
        "; patch 2 of the series only puts back what it takes away: drop both together"
    )
    assert second.state == "already-there"
    assert second.reason == (
        "it only puts back what patch 1 of the series takes away, and that does not fit: drop both together"
    )


def test_while_both_fit_nothing_is_said() -> None:
    first, second = judge(OLD, text(OLD, WITHOUT), text(WITHOUT, AGAIN))
    assert [(one.state, one.reason) for one in (first, second)] == [("applies", None), ("applies", None)]


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (text(WITHOUT, AGAIN), {1: 0}),
        (text(WITHOUT, OLD), {1: 0}),  # all of it is taken back
        (text(WITHOUT, AGAIN.replace("return 1", "return 2")), {}),  # another helper
        (text(WITHOUT, AGAIN + "more\n"), {}),  # and more than that
        (text(WITHOUT, AGAIN, "g"), {}),  # in another file
        (text(WITHOUT, WITHOUT.replace("line 20\n", "twenty\n")), {}),
        (text("", ""), {}),
    ],
)
def test_only_a_patch_that_does_nothing_else_is_a_partner(second: PatchText, found: dict[int, int]) -> None:
    assert partners([text(OLD, WITHOUT), second]) == found


def test_a_brace_that_comes_back_tells_nothing() -> None:
    old, new = "{\n" + "".join(LINES), "".join(LINES)
    assert partners([text(old, new), text(new, old)]) == {}
