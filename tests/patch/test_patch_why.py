"""`regraft patch why` and `history`: which upstream commit it was, what it did, and what still refers to what a patch edits."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regraft.core.patch_text import Section
from regraft.core.references import Hit, sorted_out, wanted

Lines = Callable[..., str]
FUSED = "pkg/legacy/fused_kernels/__init__.py"
LOAD = "import os\n\n\ndef load(args):\n    build(args)\n\ndef _get_cuda_bare_version(folder):\n    return os.listdir(folder)\n"


@pytest.fixture
def fused(lab: Any) -> Any:
    """https://github.com/radixark/miles/pull/2768: the target and the call to it go, five months before anybody notices."""
    init = "from pkg.legacy import fused_kernels\n\n\ndef start(args):\n    fused_kernels.load(args)\n"
    lab.upstream.commit({FUSED: LOAD, "pkg/init.py": init, "b.py": "b\n"}, "Begin")
    lab.carry(
        {"docker/fused.patch": lab.diff({FUSED: LOAD}, {FUSED: LOAD.replace("    build", "    return\n    build")})}
    )
    return lab


def test_the_target_was_deleted_and_nothing_refers_to_it(fused: Any) -> None:
    by = fused.upstream.commit(
        {FUSED: None, "pkg/init.py": "def start(args):\n    pass\n"}, "Remove legacy kernels (#321)"
    )
    fused.upstream.commit({"docs/old.md": "Once there was fused_kernels.\n", "b.py": "# fused_kernels are gone\n"})
    code, out, _ = fused.run("why", "fused.patch")
    assert code == 1
    assert f"changed   applies -> target-gone by {by[:12]} 2023-11-16 'Remove legacy kernels (#321)'" in out
    assert f"it took {FUSED} away" in out
    assert "looked    for fused_kernels, _get_cuda_bare_version in every file there: nothing refers to it" in out
    assert "except    docs/old.md:1: Once there was fused_kernels. (prose)" in out
    assert "except    b.py:1: # fused_kernels are gone (a comment)" in out
    assert "except    'load': a symbol that others may have as well" in out
    assert "do        drop it" in out
    row = fused.row("why", "fused.patch")
    assert row["culprit"] | {"date": 0} == {
        "commit": by,
        "subject": "Remove legacy kernels (#321)",
        "pull": 321,
        "date": 0,
        "through": None,
        "deleted": FUSED,
        "renamed_to": None,
        "similarity": None,
        "rewrote": None,
        "retyped": None,
    }
    assert (row["action"], row["references"]["found"]) == ("drop", [])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("import pkg.legacy.fused_kernels as fk", "module"),
        ("from .legacy import fused_kernels", "module"),
        ("path = 'pkg/legacy/fused_kernels/build'", "module"),
        ("run(fused_kernels, 1)", "name"),
        ("version = _get_cuda_bare_version(home)", "symbol"),
    ],
)
def test_what_still_refers_to_a_target_that_is_gone_keeps_the_patch(fused: Any, line: str, kind: str) -> None:
    fused.upstream.commit({FUSED: None, "pkg/init.py": f"x = 1\n{line}\n"})
    row = fused.row("why", "fused.patch")
    assert [(one["path"], one["line"], one["kind"]) for one in row["references"]["found"]] == [("pkg/init.py", 2, kind)]
    assert row["action"] != "drop"
    assert fused.row("status")["action"] == row["action"]


def test_a_file_of_that_name_elsewhere_keeps_the_patch(fused: Any) -> None:
    fused.upstream.commit({FUSED: None, "pkg/init.py": "pass\n", "new/fused_kernels.py": "x = 1\n"})
    row = fused.row("why", "fused.patch")
    assert [one["kind"] for one in row["references"]["found"]] == ["path"]
    assert row["action"] != "drop"


def test_only_whole_words_refer(fused: Any) -> None:
    fused.upstream.commit({FUSED: None, "pkg/init.py": "my_fused_kernels2 = unfused_kernels\n"})
    assert fused.row("why", "fused.patch")["references"]["found"] == []


def test_a_word_of_hostile_names_is_no_option_and_no_pattern() -> None:
    look = wanted(
        [Section(1, path=b"--open-files-in-pager=x.py"), Section(1, path=b"a/.*.py"), Section(1, path=b"a/ab.py")]
    )
    assert look.words == ()
    assert {word for word, _ in look.left_out} == {"--open-files-in-pager=x", "ab", ".*.py"}


def test_the_function_around_a_hunk_is_a_symbol_too(lab: Any) -> None:
    """It stands on the hunk's header only, and upstream moved it elsewhere."""
    body = "def merge_expert_lanes(args):\n" + "".join(f"    step({at})\n" for at in range(20))
    lab.upstream.commit({"pkg/lanes.py": body})
    lab.carry({"p.patch": lab.diff({"pkg/lanes.py": body}, {"pkg/lanes.py": body.replace("step(12)", "step(13)")})})
    lab.upstream.commit({"pkg/lanes.py": None, "pkg/other.py": "def merge_expert_lanes(args):\n    pass\n"})
    row = lab.row("why", "p.patch")
    assert [(one["path"], one["kind"]) for one in row["references"]["found"]] == [("pkg/other.py", "symbol")]


def test_lines_that_are_comments_or_prose_do_not_count() -> None:
    look = wanted([Section(1, path=b"a/fused.py")])
    hits = [
        Hit(b"README.md", 1, b"fused"),
        Hit(b"a.py", 1, b"  # fused"),
        Hit(b"a.c", 1, b"// fused"),
        Hit(b"a.h", 1, b"#include <fused.h>"),
        Hit(b"CMakeLists.txt", 1, b"add(fused)"),
        Hit(b"a.py", 2, b"x = fused  # y"),
    ]
    found = sorted_out(look, hits)
    assert [(one.path, one.line) for one in found.found] == [("a.h", 1), ("CMakeLists.txt", 1), ("a.py", 2)]


def test_the_lines_that_were_rewritten_and_the_merge_that_brought_it(lab: Any, lines: Lines) -> None:
    begin = lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})})
    main = lab.upstream.commit({"b.py": "b\n"})
    side = lab.upstream.commit(
        {"a.py": lines(l20="theirs", l21="more")}, "Do it otherwise", branch="side", parents=(begin,)
    )
    merge = lab.upstream.commit(
        {"a.py": lines(l20="theirs", l21="more")}, "Merge pull request #44 from x/side", parents=(main, side)
    )
    row = lab.row("why", "p.patch")
    assert (row["culprit"]["commit"], row["culprit"]["through"], row["culprit"]["pull"]) == (side, merge, 44)
    assert row["culprit"]["rewrote"] == {"path": "a.py", "first": 20, "last": 21}
    assert "it rewrote a.py, lines 20 to 21" in lab.run("why", "p.patch")[1]


def test_what_refers_to_a_file_that_is_there_is_told_from_elsewhere(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"lanes.py": lines(), "b.py": "import lanes\n"})
    lab.carry({"p.patch": lab.diff({"lanes.py": lines()}, {"lanes.py": lines(l20="mine")})})
    lab.upstream.commit({"lanes.py": lines(l20="theirs = lanes")})
    row = lab.row("why", "p.patch")
    assert [(one["path"], one["kind"]) for one in row["references"]["found"]] == [("b.py", "module")]
    lab.upstream.commit({"b.py": "pass\n"})
    row = lab.row("why", "p.patch")
    assert row["references"]["found"] == []
    assert "looked    for lanes in every file there: nothing refers to it" in lab.run("why", "p.patch")[1]
    assert row["action"] == lab.row("status")["action"] != "drop"


def test_history_has_each_change_newest_first(lab: Any, lines: Lines) -> None:
    begin = lab.upstream.commit({"a.py": lines()}, "Begin")
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})})
    took = lab.upstream.commit({"a.py": lines(l20="mine")}, "Take it")
    lab.upstream.commit({"b.py": "b\n"})
    lost = lab.upstream.commit({"a.py": lines(l20="theirs")}, "Lose it")
    row = lab.row("history", "--last", "10")
    turns = [(turn["before"], turn["after"], turn["commit"]) for turn in row["turns"]]
    assert turns == [("already-there", "conflict", lost), ("applies", "already-there", took)]
    assert (row["state"], row["commits"]) == ("conflict", 4)
    assert [turn["commit"] for turn in lab.row("history", "--last", "1")["turns"]] == [lost]
    assert [turn["commit"] for turn in lab.row("history", "--since", took)["turns"]] == [lost]
    assert [turn["commit"] for turn in lab.row("history", "--since", begin, "--at", f"{took}")["turns"]] == [took]
    assert lab.run("history", "--last", "2", "--at", took)[0] == 0
    out = lab.run("history", "--last", "10")[1]
    assert f"  already-there -> conflict by {lost[:12]} 2023-11-18 'Lose it'" in out
    assert out.endswith("  applies since the beginning of history\n")


@pytest.mark.parametrize("words", [[], ["--last", "0"], ["--last", "x"], ["--last", "1", "--since", "main"]])
def test_history_wants_one_range(lab: Any, words: list[str]) -> None:
    assert lab.run("history", *words)[0] == 2


def test_a_state_that_never_changed_says_so(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})})
    code, out, _ = lab.run("why", "p.patch")
    assert code == 0
    assert "changed   never, in all of its history" in out
    assert "do        nothing to do" in out


def test_hostile_subjects_and_lines_are_shown_harmless(fused: Any) -> None:
    fused.upstream.commit(
        {FUSED: None, "pkg/init.py": "import fused_kernels  # \x1b[2J ##[error]\n"}, "\x1b]0;x\x07::error::y"
    )
    out = fused.run("why", "fused.patch")[1] + fused.run("status")[1] + fused.run("history", "--last", "3")[1]
    assert "\x1b" not in out
    assert "##[" not in out
    assert not any(line.startswith("::") for line in out.splitlines())


NEVER = {
    "a misspelt path": "--- a/private/attention.py\n+++ b/private/attention.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    "a new file described as a change": "--- a/attention.py\n+++ b/attention.py\n@@ -0,0 +1 @@\n+x\n",
}


@pytest.mark.parametrize("patch", NEVER.values(), ids=NEVER)
def test_a_target_that_never_existed_did_not_go(lab: Any, lines: Lines, patch: str) -> None:
    lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.upstream.commit({"f.py": lines(l1="x")}, "Go on")
    lab.carry({"p/a.patch": patch})
    row = lab.row("why", "a.patch")
    assert (row["state"], row["action"]) == ("target-gone", "by-hand")
    assert any("nothing took" in ground and "in all of its history" in ground for ground in row["grounds"])


def test_a_file_that_comes_later_did_not_go(lab: Any, lines: Lines) -> None:
    old = lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.upstream.tag("old", old)
    new = lab.upstream.commit({"attention.py": lines()}, "Add it")
    lab.carry({"p/a.patch": lab.diff({"attention.py": lines()}, {"attention.py": lines(l20="x")})})
    row = lab.row("why", "a.patch", "--at", "old")
    assert (row["state"], row["action"]) == ("target-gone", "by-hand")
    assert row["grounds"][0] == f"it fits dep from {new[:12]} on"


def test_of_two_targets_that_went_one_after_the_other_both_went(lab: Any, lines: Lines) -> None:
    files = {"attention.py": lines(), "rotary.py": lines(), "f.py": "x\n"}
    lab.upstream.commit(files, "Begin")
    lab.carry({"p/a.patch": lab.diff(files, {"attention.py": lines(l20="x"), "rotary.py": lines(l20="x")})})
    lab.upstream.commit({"attention.py": None}, "Take one away")
    assert lab.row("why", "a.patch")["action"] != "drop"
    lab.upstream.commit({"rotary.py": None}, "Take the other away")
    assert lab.row("why", "a.patch")["action"] == "drop"


def test_a_history_that_is_cut_off_never_said_never(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="x")})})
    lab.upstream.commit({"f.py": lines(l19="culprit")}, "Change it")
    cut = lab.upstream.commit({"g.py": "1\n"}, "More")
    lab.upstream.commit({"g.py": "2\n"}, "Still more")
    (lab.upstream.path / "shallow").write_text(f"{cut}\n")
    _, out, _ = lab.run("why", "a.patch")
    assert f"history is cut off before {cut[:12]} (a shallow clone)" in out
    assert "in all of its history" not in out
    assert f"it is cut off before {cut[:12]}" in lab.run("history", "--last", "10")[1]
    assert lab.row("why", "a.patch")["cut"] == cut


def test_the_number_in_the_commits_own_subject_is_before_that_of_the_merge_that_brought_many(
    lab: Any, lines: Lines
) -> None:
    base = lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="x")})})
    side = lab.upstream.commit({"f.py": lines(l20="other")}, "Change it (#7)", branch="side", parents=(base,))
    lab.upstream.commit({"f.py": lines(l20="other")}, "Merge pull request #9 from o/sync", parents=(base, side))
    culprit = lab.row("why", "a.patch")["culprit"]
    assert (culprit["commit"], culprit["pull"]) == (side, 7)


def test_a_change_that_landed_and_whose_file_moved_is_looked_for_there_and_nothing_is_pinned(
    lab: Any, lines: Lines
) -> None:
    lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="the fix")})})
    lab.upstream.commit({"f.py": lines(l20="the fix")}, "Fix it")
    lab.upstream.commit({"f.py": None, "g.py": lines(l20="the fix")}, "Move it")
    row = lab.row("why", "a.patch")
    assert (row["state"], row["action"]) == ("target-gone", "by-hand")
    assert row["grounds"][0] == "its change stands in g.py, where its target went: look, then drop it"
    lab.upstream.commit({"g.py": lines(l20="another")}, "Rewrite it")
    row = lab.row("why", "a.patch")
    assert row["action"] == "by-hand"
    assert "stands in" not in row["grounds"][0]


def test_a_strip_level_other_than_one_is_said(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"pkg/f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"pkg/f.py": lines()}, {"pkg/f.py": lines(l20="x")}, "--no-prefix")})
    for words in (("why", "a.patch"), ("status",)):
        assert "its paths are read at strip level 0" in lab.run(*words)[1]


def test_what_names_no_commit_is_a_mistake_and_since_is_called_so(lab: Any, lines: Lines) -> None:
    head = lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="x")})})
    lab.upstream.tag("blob", lab.upstream.git("rev-parse", f"{head}:f.py").decode().strip())
    code, _, said = lab.run("why", "a.patch", "--at", "blob")
    assert (code, "names no commit" in said) == (2, True)
    code, _, said = lab.run("history", "--since", "nosuch")
    assert (code, "--since" in said, "--at" in said) == (2, True, False)


def test_a_damaged_cache_names_the_remedy(lab: Any, lines: Lines, tmp_path: Path) -> None:
    lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="x")})})
    assert lab.run("status")[0] == 0
    for path in (lab.upstream.path / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"damaged")
    shutil.rmtree(tmp_path / "cache")
    code, _, said = lab.run("status")
    assert code == 3
    assert f"if the cache is damaged, remove {tmp_path / 'cache/upstreams'} and run again" in said


@pytest.mark.parametrize("words", [("why", "a.patch"), ("history", "--last", "5"), ("status",)])
def test_on_the_runner_each_of_the_three_annotates(
    lab: Any, lines: Lines, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.upstream.commit({"f.py": lines(l20="other")}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="x")})})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(lab.root / "summary"))
    code, _, said = lab.run(*words)
    assert code == 1
    assert "::error" in said
    assert (lab.root / "summary").read_text().startswith(f"### regraft patch {words[0]}\n")


def test_lines_that_went_into_another_file_with_the_target_keep_the_patch(lab: Any) -> None:
    """The commit that took the file away put all of it into one that nobody would call a rename: that is no dead patch."""
    limits = "".join(f"setting_{at}: {at}\n" for at in range(30))
    other = "".join(f"other_{at}: {at}\n" for at in range(200))
    lab.upstream.commit({"limits_table.yaml": limits, "all.yaml": other}, "Begin")
    changed = limits.replace("setting_10: 10\n", "setting_10: 99\n")
    lab.carry({"p.patch": lab.diff({"limits_table.yaml": limits}, {"limits_table.yaml": changed})})
    lab.upstream.commit({"limits_table.yaml": None, "all.yaml": other + limits}, "Merge the two")
    row = lab.row("why", "p.patch")
    assert (row["state"], row["action"]) == ("target-gone", "by-hand")
    assert row["grounds"][0] == (
        "most of the lines that it edits stand in all.yaml now; the hunks fit all.yaml; "
        "its header would be: --- a/all.yaml +++ b/all.yaml"
    )
    lab.upstream.commit({"all.yaml": other}, "Take them away for good")
    assert lab.row("why", "p.patch")["action"] == "drop"


def test_a_function_that_went_into_another_class_keeps_the_patch(lab: Any) -> None:
    """With other indentation and one line rewritten no hunk fits, and the code lives all the same."""
    body = "def lane(args):\n" + "".join(f"    step_number_{at}(args)\n" for at in range(12))
    lab.upstream.commit({"lanes.py": body, "core.py": "x = 1\n"}, "Begin")
    lab.carry({"p.patch": lab.diff({"lanes.py": body}, {"lanes.py": body.replace("number_6(args)", "number_6(0)")})})
    moved = "class All:\n" + "".join(f"    {line}\n" for line in body.replace("_5(args)", "_5()").splitlines())
    lab.upstream.commit({"lanes.py": None, "core.py": f"x = 1\n{moved}"}, "One class for all")
    row = lab.row("why", "p.patch")
    assert (row["action"], row["grounds"][0]) == ("by-hand", "most of the lines that it edits stand in core.py now")


def test_lines_that_every_file_has_say_nothing_of_where_a_target_went(lab: Any) -> None:
    head = "import logging\nimport os\nimport sys\n\n"
    others: dict[str, str | None] = {f"m{at}.py": f"{head}x = {at}\n" for at in range(12)}
    lab.upstream.commit({"lanes.py": f"{head}rate_of_lanes = 1\n", **others}, "Begin")
    changed = f"import json\n{head}rate_of_lanes = 1\n"
    lab.carry({"p.patch": lab.diff({"lanes.py": f"{head}rate_of_lanes = 1\n"}, {"lanes.py": changed})})
    lab.upstream.commit({"lanes.py": None}, "Remove it")
    assert lab.row("why", "p.patch")["action"] == "drop"


def test_lines_that_came_elsewhere_before_the_target_went_count_and_those_that_always_stood_there_do_not(
    lab: Any,
) -> None:
    """Moved in two steps is moved. A twin that was there from the beginning was never patched."""
    lane = "".join(f"setting_{at}: {at}\n" for at in range(30))
    lab.upstream.commit({"lane_limits.yaml": lane, "all.yaml": "x: 1\n", "twin.yaml": lane}, "Begin")
    changed = lane.replace("setting_10: 10\n", "setting_10: 99\n")
    lab.carry({"p.patch": lab.diff({"lane_limits.yaml": lane}, {"lane_limits.yaml": changed})})
    lab.upstream.commit({"all.yaml": f"x: 1\n{lane}"}, "Copy it")
    lab.upstream.commit({"lane_limits.yaml": None}, "Remove it")
    row = lab.row("why", "p.patch")
    assert row["action"] == "by-hand"
    assert row["grounds"][0].startswith("most of the lines that it edits stand in all.yaml now; the hunks fit all.yaml")
    lab.upstream.commit({"all.yaml": "x: 1\n"}, "Remove that, too")
    assert lab.row("why", "p.patch")["action"] == "drop"
