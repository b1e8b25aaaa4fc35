"""`regraft patch refresh`: what is written is proved, and what is not proved is not written."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]


def changed(text: str) -> list[str]:
    """The added and removed lines of a patch, in order."""
    return [line for line in text.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def applies(lab: Any, patch: str, ref: str = "main") -> bool:
    """Whether git takes it at a ref, exactly."""
    work = lab.root / "work"
    lab.upstream.git("worktree", "add", "--quiet", "--detach", str(work), ref)
    done = subprocess.run(["git", "apply", "--check", lab.project / patch], cwd=work, capture_output=True, check=False)
    lab.upstream.git("worktree", "remove", "--force", str(work))
    return done.returncode == 0


def test_only_the_context_moved_on(lab: Any, lines: Lines) -> None:
    """https://github.com/Igalia/meta-webkit/pull/471: it fitted with fuzz only, and somebody wanted to delete it."""
    lab.upstream.commit({"a.py": lines()})
    old = lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})
    lab.carry({"p.patch": old})
    lab.upstream.commit({"a.py": "\n" * 3 + lines(l22="theirs")})
    row = lab.row("why", "p.patch")
    assert (row["state"], row["action"]) == ("conflict", "refresh")
    assert "still needed: its change is not in the tree" in row["grounds"]
    code, out, _ = lab.run("refresh", "p.patch", "--dry-run")
    assert (code, out.splitlines()[-1]) == (0, "p.patch: would be refreshed; nothing was written")
    assert (lab.project / "p.patch").read_text() == old
    code, out, _ = lab.run("refresh", "p.patch")
    new = (lab.project / "p.patch").read_text()
    assert (code, out.splitlines()[-1]) == (0, "p.patch: refreshed")
    assert changed(new) == changed(old) == ["-line 20", "+mine"]
    assert " theirs\n" in new
    assert "@@ -20,7 +20,7 @@" in new
    assert applies(lab, "p.patch")
    assert lab.row("status")["hunks"] == [{"file": "a.py", "index": 1, "state": "applies", "offset": 0}]
    assert lab.run("refresh", "p.patch")[:2] == (0, "p.patch: nothing to refresh, it fits at its own lines\n")


def test_a_message_and_a_series_are_kept(lab: Any, lines: Lines) -> None:
    """The mail around the diff stays; the patch is made to fit what the earlier one leaves."""
    lab.upstream.commit({"a.py": lines()})
    one, two = lines(l18="one"), lines(l18="one", l20="two")
    mail = "From: A <a@example.org>\nSubject: [PATCH] Two\n\nWhy.\n---\n 1 file changed\n\n"
    second = mail + lab.diff({"a.py": one}, {"a.py": two}) + "-- \n2.39.5\n"
    lab.carry({"1.patch": lab.diff({"a.py": lines()}, {"a.py": one}), "2.patch": second})
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    assert [row["state"] for row in lab.json("status")] == ["applies", "conflict"]
    assert lab.run("refresh", "2.patch")[0] == 0
    new = (lab.project / "2.patch").read_text()
    assert new.startswith(mail)
    assert new.endswith("-- \n2.39.5\n")
    assert " one\n" in new
    assert [row["state"] for row in lab.json("status")] == ["applies", "applies"]


def test_an_earlier_patch_that_does_not_fit_is_refreshed_first(lab: Any, lines: Lines) -> None:
    """On a tree without the earlier one, the later one would lose the lines that it is made on."""
    one, two = lines(l20="one"), lines(l20="one", l22="two")
    lab.upstream.commit({"a.py": lines(), "b.py": lines()})
    patches = {"1.patch": lab.diff({"a.py": lines()}, {"a.py": one}), "2.patch": lab.diff({"a.py": one}, {"a.py": two})}
    lab.carry({**patches, "3.patch": lab.diff({"b.py": lines()}, {"b.py": lines(l20="mine")})})
    lab.upstream.commit({"a.py": lines(l18="theirs", l24="theirs"), "b.py": lines(l22="theirs")})
    code, out, _ = lab.run("refresh", "2.patch")
    assert code == 1
    assert "1.patch does not fit, and this one is made on it: refresh that first" in out
    assert (lab.project / "2.patch").read_text() == patches["2.patch"]
    assert [row["action"] for row in lab.json("status")] == ["refresh", "by-hand", "refresh"]
    for patch in ("1.patch", "2.patch", "3.patch"):
        assert lab.run("refresh", patch)[0] == 0
    assert [row["state"] for row in lab.json("status")] == ["applies"] * 3
    assert changed((lab.project / "2.patch").read_text()) == changed(patches["2.patch"])


def test_a_real_conflict_is_shown_with_who_made_it_and_nothing_is_written(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines(), "b.py": lines()})
    old = lab.diff({"a.py": lines(), "b.py": lines()}, {"a.py": lines(l20="mine"), "b.py": lines(l20="mine")})
    lab.carry({"p.patch": old})
    by = lab.upstream.commit({"a.py": lines(l20="theirs"), "b.py": lines(l22="theirs")}, "Rewrite (#12)")
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert f"since {by[:12]} 2023-11-16 'Rewrite (#12)'" in out
    for line in ("<<<<<<< upstream", "    theirs", "||||||| made on", "    line 20", "    mine"):
        assert line in out
    assert out.endswith("nothing was written\n")
    assert (lab.project / "p.patch").read_text() == old


def test_a_rename_upstream_is_followed_and_said(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"src/a.py": lines()})
    lab.carry({"p.patch": lab.diff({"src/a.py": lines()}, {"src/a.py": lines(l20="mine")})})
    lab.upstream.commit({"src/a.py": None, "src/hardware/b.py": lines(l22="theirs")}, "Move it (#5)")
    row = lab.row("why", "p.patch")
    assert (row["state"], row["action"]) == ("target-gone", "refresh")
    assert "src/a.py is src/hardware/b.py now" in row["grounds"]
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 0
    assert "src/a.py is src/hardware/b.py now" in out
    new = (lab.project / "p.patch").read_text()
    assert "--- a/src/hardware/b.py\n+++ b/src/hardware/b.py\n" in new
    assert changed(new) == ["-line 20", "+mine"]
    assert applies(lab, "p.patch")


def test_renames_one_after_another_are_followed_to_where_the_file_is(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"pkg/a1.py": lines(), "z": ""})
    lab.carry({"p.patch": lab.diff({"pkg/a1.py": lines()}, {"pkg/a1.py": lines(l20="mine")})})
    lab.upstream.commit({"pkg/a1.py": None, "pkg/b1.py": lines()})
    lab.upstream.commit({"pkg/b1.py": lines(l22="theirs")})
    lab.upstream.commit({"pkg/b1.py": None, "lib/c1.py": lines(l3="drei", l22="theirs")})
    lab.upstream.commit({"z": "z"})
    assert lab.row("why", "p.patch")["action"] == "refresh"
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 0
    assert "pkg/a1.py is lib/c1.py now" in out
    assert applies(lab, "p.patch")


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["base named", "base from history"])
@pytest.mark.parametrize("mode", ["", "old mode 100644\nnew mode 100755\n"])
@pytest.mark.parametrize("moves", [True, False])
def test_a_patch_that_moves_the_file_or_changes_its_mode_is_carried_over_with_that(
    lab: Any, lines: Lines, moves: bool, mode: str, known: bool
) -> None:
    lab.upstream.commit({"a.py": lines(), "z": ""})
    new = "b.py" if moves else "a.py"
    made = lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")}).splitlines(keepends=True)
    head = [f"diff --git a/a.py b/{new}\n", mode]
    head += ["similarity index 90%\nrename from a.py\nrename to b.py\n"] if moves else []
    index = [made[1].replace(" 100644", "") if mode else made[1]] if known else []
    old = "".join([*head, *index, "--- a/a.py\n", f"+++ b/{new}\n", *made[4:]])
    lab.carry({"p.patch": old})
    assert lab.row("status")["state"] == "applies"
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    assert lab.row("status")["action"] == "refresh"
    assert lab.run("refresh", "p.patch")[0] == 0
    text = (lab.project / "p.patch").read_text()
    assert changed(text) == ["-line 20", "+mine"]
    assert text.startswith("".join(head))
    assert applies(lab, "p.patch")
    assert lab.row("status")["state"] == "applies"


def test_two_sections_about_one_file_are_said_to_be_the_reason(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    first = lab.diff({"a.py": lines()}, {"a.py": lines(l10="mine")})
    second = lab.diff({"a.py": lines(l10="mine")}, {"a.py": lines(l10="mine", l30="mine")})
    lab.carry({"p.patch": first + second})
    assert lab.row("status")["state"] == "applies"
    lab.upstream.commit({"a.py": lines(l8="theirs")})
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert "more than one section of the patch is about this file" in out


def test_renames_in_a_circle_end(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines(), "z": ""})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})})
    for old, new in (("a.py", "b.py"), ("b.py", "a.py"), ("a.py", "b.py")):
        lab.upstream.commit({old: None, new: lines(l22="theirs")})
    lab.upstream.commit({"b.py": None})
    assert lab.run("refresh", "p.patch")[0] == 1


def test_a_file_of_the_same_name_that_is_hardly_alike_is_left_to_people_by_why_and_refresh_alike(
    lab: Any, lines: Lines
) -> None:
    lab.upstream.commit({"pkg/attention.py": lines(), "z": ""})
    lab.carry({"p.patch": lab.diff({"pkg/attention.py": lines()}, {"pkg/attention.py": lines(l10="mine")})})
    new = "".join(f"new text {at} foo bar baz\n" for at in range(60))
    part = "".join(lines().splitlines(keepends=True)[5:14])
    lab.upstream.commit({"pkg/attention.py": None, "lib/attn/attention.py": new + part})
    row = lab.row("why", "p.patch")
    assert row["action"] == "by-hand"
    assert any("the hunks fit lib/attn/attention.py" in one for one in row["grounds"])
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert "the hunks fit lib/attn/attention.py" in out
    assert "no commit moved it there: change the header by hand" in out


def test_the_drop_question_comes_first(lab: Any, lines: Lines) -> None:
    """https://github.com/eugr/spark-vllm-docker/pull/213: a refresh was made for a patch that nobody needed."""
    lab.upstream.commit({"a.py": lines(), "fused.py": lines(), "b.py": lines()})
    before = {"a.py": lines(), "fused.py": lines(), "b.py": lines()}
    patches = {
        "there.patch": lab.diff(before, {"a.py": lines(l20="mine")}),
        "dead.patch": lab.diff(before, {"fused.py": lines(l20="mine")}),
        "half.patch": lab.diff(before, {"b.py": lines(l5="mine", l20="mine")}),
    }
    lab.carry(patches)
    lab.upstream.commit({"a.py": lines(l20="mine"), "fused.py": None, "b.py": lines(l5="mine")})
    said = {name: lab.run("refresh", name) for name in patches}
    assert {code for code, _, _ in said.values()} == {1}
    assert "its change is there already: drop it instead" in said["there.patch"][1]
    assert "it is dead: what it edits is gone, and nothing at" in said["dead.patch"][1]
    assert "a part of it is there already" in said["half.patch"][1]
    assert {name: (lab.project / name).read_text() for name in patches} == patches


def test_without_a_known_base_nothing_is_written(lab: Any, lines: Lines) -> None:
    """It never fitted in the history that is here, and the file that its index line names is not here."""
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    lab.carry({"p.patch": lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})})
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert "the file that it was made on is not known" in out


def test_a_plain_diff_is_carried_over_from_the_last_commit_that_it_fitted(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    lab.upstream.commit({"a.py": "first\n" + lines()})
    plain = "".join(
        line + "\n"
        for line in lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")}).splitlines()
        if not line.startswith(("diff ", "index "))
    )
    lab.carry({"p.patch": plain})
    lab.upstream.commit({"a.py": "first\n" + lines(l18="theirs")})
    assert lab.run("refresh", "p.patch")[0] == 0
    assert changed((lab.project / "p.patch").read_text()) == ["-line 20", "+mine"]
    assert lab.row("status")["state"] == "applies"


def test_two_images_that_follow_it_must_both_take_the_new_text(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"a.py": lines()})
    old = lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})
    second = '[dependencies.other]\nurl = "../upstream.git"\nbranch = "other"\n'
    more = '[images.j.baked.other]\npath = "/dep"\npatches = ["p.patch"]\n'
    lab.upstream.heads["other"] = lab.upstream.heads["main"]
    lab.upstream.commit({"b.py": "b\n"}, branch="other")
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    lab.carry({"p.patch": old}, extra=second, more=more)
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert "p.patch: applies at other" in out
    assert (lab.project / "p.patch").read_text() == old
    assert lab.run("refresh", "p.patch", "--dependency", "dep")[0] == 0


def test_a_missing_final_newline_stays_one(lab: Any, lines: Lines) -> None:
    short = lines(20)[:-1]
    lab.upstream.commit({"a.py": short})
    mine = short.replace("line 19", "mine")
    old = lab.diff({"a.py": short}, {"a.py": mine})
    assert "\\ No newline" in old
    lab.carry({"p.patch": old})
    lab.upstream.commit({"a.py": short.replace("line 17", "theirs")})
    assert lab.run("refresh", "p.patch")[0] == 0
    new = (lab.project / "p.patch").read_text()
    assert new.count("\\ No newline at end of file") == 1
    assert applies(lab, "p.patch")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_pinned_patch_says_that_the_pin_is_to_be_renewed(lab: Any, lines: Lines, form: str) -> None:
    import hashlib

    lab.upstream.commit({"a.py": lines()})
    old = lab.diff({"a.py": lines()}, {"a.py": lines(l20="mine")})
    lab.carry({"p.patch": old})
    digest = hashlib.sha256(old.encode()).hexdigest()
    manifest = (lab.project / "regraft.toml").read_text()
    pinned = manifest.replace('["p.patch"]', f'[{{ file = "p.patch", sha256 = "{digest}" }}]')
    (lab.project / "regraft.toml").write_text(pinned)
    lab.upstream.commit({"a.py": lines(l22="theirs")})
    code, out, _ = lab.run("refresh", "p.patch", "--dry-run", "--format", form)
    assert code == 0
    assert ("pins the old bytes" in out) == (form == "text")


@pytest.mark.parametrize(
    ("old", "new"), [("f", "g"), ("a", "bb/x"), ("b/b.py", "c/b.py"), ("g i", "d.py"), ("f", "g h")]
)
def test_a_new_name_takes_the_place_of_the_old_one_and_of_nothing_else(
    lab: Any, lines: Lines, old: str, new: str
) -> None:
    lab.upstream.commit({old: lines(), "z": ""})
    lab.carry({"p.patch": lab.diff({old: lines()}, {old: lines(l20="mine")})})
    lab.upstream.commit({old: None, new: lines()})
    assert lab.run("refresh", "p.patch")[0] == 0
    made = (lab.project / "p.patch").read_text().splitlines()
    assert made[0] == f"diff --git a/{new} b/{new}"
    assert [line.rstrip("\t") for line in made[2:4]] == [f"--- a/{new}", f"+++ b/{new}"]
    assert lab.row("status")["state"] == "applies"


@pytest.mark.parametrize("head", ["", "# the other\n"])
def test_a_file_that_went_to_two_places_at_once_is_followed_to_neither(lab: Any, lines: Lines, head: str) -> None:
    """Two copies, equal or nearly so: the change would go into one of them, and the other would be forgotten."""
    lab.upstream.commit({"lanes.py": lines(), "b.py": "b\n"}, "Begin")
    lab.carry({"p.patch": lab.diff({"lanes.py": lines()}, {"lanes.py": lines(l20="x")})})
    copies = {"one/lanes_one.py": lines(), "two/lanes_two.py": head + lines()}
    lab.upstream.commit({"lanes.py": None, **copies}, "One for each")
    before = (lab.project / "p.patch").read_bytes()
    code, out, _ = lab.run("refresh", "p.patch")
    assert code == 1
    assert "it went to one/lanes_one.py, two/lanes_two.py, and the hunks fit each: decide which the patch is for" in out
    assert (lab.project / "p.patch").read_bytes() == before
    row = lab.row("why", "p.patch")
    assert row["action"] == "by-hand"
    assert all(f"+++ b/{path}" in row["grounds"][0] for path in copies)


def test_a_copy_that_stood_there_before_the_move_is_no_second_place(lab: Any, lines: Lines) -> None:
    lab.upstream.commit({"lanes.py": lines(), "old/lanes.py": lines()}, "Begin")
    lab.carry({"p.patch": lab.diff({"lanes.py": lines()}, {"lanes.py": lines(l20="x")})})
    lab.upstream.commit({"lanes.py": None, "new/lanes.py": lines()}, "Move it")
    assert lab.run("refresh", "p.patch")[0] == 0
    assert "+++ b/new/lanes.py" in (lab.project / "p.patch").read_text()
