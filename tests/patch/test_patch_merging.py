"""`regraft patch status` and `history` where the image's build applies its patches three-way."""

from collections.abc import Callable
from typing import Any

Lines = Callable[..., str]


def test_a_patch_that_merges_applies_at_each_commit_and_says_how(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()}, "Begin")
    beside = lab.upstream.commit({"a.py": lines(l18="beside")}, "Edit beside it")
    patches = {"p/fix.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="the real fix")})}
    lab.carry(patches)
    assert (lab.row("status")["state"], lab.row("status")["culprit"]["commit"]) == ("conflict", beside)
    lab.carry(patches, more='apply = "3way"')
    code, out, _ = lab.run("status", "--hunks")
    assert code == 0
    assert "by a three-way merge with the file that it was made on" in out
    row = lab.row("status")
    assert [(one["state"], one["offset"]) for one in row["hunks"]] == [("applies", None)]
    assert lab.json("history", "--last", "9")[0]["turns"] == []
    rewritten = lab.upstream.commit({"a.py": lines(l18="beside", l20="rewritten")}, "Rewrite it")
    row = lab.row("status")
    assert (row["state"], row["culprit"]["commit"]) == ("conflict", rewritten)
