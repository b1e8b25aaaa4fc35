"""A fix that upstream took is there for as long as nothing takes it back, however the lines beside it moved on."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]


@pytest.fixture
def landed(lab: Any, lines: Lines) -> Any:
    """A plain diff without index lines: nothing but history can tell. Upstream took it, and edited the next line three weeks later."""
    lab.upstream.commit({"a.py": lines(), "b.py": lines()}, "Begin")
    patch = lab.diff({"a.py": lines()}, {"a.py": lines(l20="the real fix")})
    kept = [line for line in patch.splitlines(keepends=True) if not line.startswith(("diff", "index"))]
    lab.carry({"p/fix.patch": "".join(kept)})
    lab.fix = lab.upstream.commit({"a.py": lines(l20="the real fix")}, "Fix it (#12)")
    for day in range(20):
        lab.upstream.commit({"b.py": lines(l1=f"day {day}")}, f"Day {day}")
    return lab


def test_it_is_there_three_weeks_after_the_line_behind_it_was_edited(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="the real fix", l21="edited")}, "Edit the next line (#40)")
    code, out, _ = landed.run("status")
    assert code == 0
    assert out.startswith("already-there")
    row = landed.row("status")
    assert row["state"] == "already-there"
    assert f"it came in with {landed.fix[:12]}, and nothing has taken it back since" in row["reason"]
    assert row["culprit"]["commit"] == landed.fix
    assert row["action"] == "drop"


def test_history_has_one_change_of_state_and_not_the_edit(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="the real fix", l21="edited")}, "Edit the next line (#40)")
    [row] = landed.json("history", "--last", "100")
    assert [(one["before"], one["after"], one["culprit"]["commit"]) for one in row["turns"]] == [
        ("applies", "already-there", landed.fix)
    ]


def test_once_it_was_taken_back_it_applies_again(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines()}, "Revert the fix")
    assert landed.row("status")["state"] == "applies"


def test_once_it_was_rewritten_it_is_a_conflict(landed: Any, lines: Lines) -> None:
    landed.upstream.commit({"a.py": lines(l20="another fix", l21="edited")}, "Rewrite it")
    assert landed.row("status")["state"] == "conflict"


HEAD = "".join(f"# head {number}\n" for number in range(10))
TWIN = "def a():\n    x = load()\n    check(x)\n    use(x)\n    return x\n\n\n"
OTHER = "def b():\n    x = load()\n    use(x)\n    return x\n\n\n"
TAIL = "tail\n" * 5


def without_names(patch: str) -> str:
    return "".join(line for line in patch.splitlines(keepends=True) if not line.startswith(("diff", "index")))


def test_a_twin_function_that_always_had_the_line_is_no_proof_once_the_other_one_was_rewritten(lab: Any) -> None:
    """No index line names the file that the patch was made on. The result stands in `a`, where it stood all along."""
    base = HEAD + TWIN + OTHER + TAIL
    fixed = base.replace(OTHER, OTHER.replace("    use", "    check(x)\n    use"))
    lab.upstream.commit({"f.py": base}, "Begin")
    lab.carry({"p/a.patch": without_names(lab.diff({"f.py": base}, {"f.py": fixed}, "-U1"))})
    assert lab.row("status")["state"] == "conflict"
    lab.upstream.commit({"f.py": base.replace(OTHER, "def b():\n    return 3\n\n\n")}, "Rewrite b")
    row = lab.row("why", "a.patch")
    assert row["state"] == "conflict"
    assert "its result stood there before" in row["reason"]
    assert row["action"] != "drop"
    lab.upstream.commit({"g.py": "x\n"}, "Something else")
    lab.upstream.commit({"f.py": fixed}, "Take the fix (#7)")
    row = lab.row("status")
    assert (row["state"], row["culprit"]["subject"]) == ("already-there", "Take the fix (#7)")


LONG = "def {}(x):\n    a = open(x)\n    b = read(a)\n    c = parse(b)\n    d = use(c)\n    e = close(d)\n    return e\n\n\n"
SHORT = "def two(x):\n    return other(x)\n\n\n"


@pytest.mark.parametrize("plain", [False, True], ids=["with its base", "without names"])
@pytest.mark.parametrize("steps", [1, 2], ids=["in one commit", "rewritten, then fixed"])
def test_the_same_fix_of_the_first_of_two_equal_functions_is_no_proof_once_the_second_was_rewritten(
    lab: Any, steps: int, *, plain: bool
) -> None:
    """The patch is about the second one. The commit even has the patch-id of the patch, which leaves line numbers out."""
    one, two = LONG.format("one"), LONG.format("two")
    check = ("    c = parse(b)\n", "    c = parse(b)\n    check(c)\n")
    base = HEAD + one + HEAD + two + TAIL
    lab.upstream.commit({"f.py": base}, "Begin")
    patch = lab.diff({"f.py": base}, {"f.py": HEAD + one + HEAD + two.replace(*check) + TAIL})
    lab.carry({"p/a.patch": without_names(patch) if plain else patch})
    assert lab.row("status")["state"] == "applies"
    if steps == 2:
        lab.upstream.commit({"f.py": HEAD + one + HEAD + SHORT + TAIL}, "Rewrite two")
    lab.upstream.commit({"f.py": HEAD + one.replace(*check) + HEAD + SHORT + TAIL}, "Fix one")
    row = lab.row("status")
    assert (row["state"], row["action"] == "drop") == ("conflict", False)
    assert "another place than the patch's own" in row["reason"]
    assert "already-there" not in [turn["after"] for turn in lab.json("history", "--last", "9")[0]["turns"]]


def test_a_line_taken_out_of_one_function_and_put_into_another_was_taken_back(lab: Any) -> None:
    between = "".join(f"# between {number}\n" for number in range(12))
    f, g = (f"def {name}(x):\n    y = load_{name}(x)\n    z = use(y)\n    return z\n" for name in "fg")
    base, fixed = HEAD + f + between + g + TAIL, f.replace("    z =", "    check(y)\n    z =")
    lab.upstream.commit({"f.py": base}, "Begin")
    lab.carry({"p/a.patch": lab.diff({"f.py": base}, {"f.py": base.replace(f, fixed)})})
    lab.upstream.commit({"f.py": base.replace(f, fixed)}, "Take the fix")
    assert lab.row("status")["state"] == "already-there"
    undone = HEAD + f.replace("use(y)", "use(y, 1)") + between + g.replace("    z =", "    check(y)\n    z =") + TAIL
    lab.upstream.commit({"f.py": undone}, "Check in g")
    row = lab.row("why", "a.patch")
    assert (row["state"], row["culprit"]["subject"]) == ("conflict", "Check in g")
    assert row["action"] != "drop"


@pytest.fixture
def built(lab: Any, lines: Lines) -> Any:
    """The head has the fix, and the commit before it is `lab.old`."""
    lab.old = lab.upstream.commit({"f.py": lines()}, "Begin")
    lab.upstream.commit({"f.py": lines(l20="the real fix")}, "Fix it (#12)")
    lab.make = lambda **more: lab.carry(
        {"p/a.patch": lab.diff({"f.py": lines()}, {"f.py": lines(l20="the real fix")})}, **more
    )
    return lab


def track(lab: Any) -> None:
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=lab.project, check=True)


def test_what_the_lock_builds_keeps_a_patch_that_is_there_at_the_head(built: Any) -> None:
    built.make(extra='lock = { file = "lock.txt" }')
    lock = built.project / "lock.txt"
    lock.write_text(built.old + "\n")
    track(built)
    row = built.row("why", "a.patch")
    assert (row["state"], row["action"]) == ("already-there", "nothing")
    needed = f"keep it: the lock lock.txt is built, and it is not there yet: applies at {built.old[:12]}"
    assert row["grounds"][0] == needed
    assert needed in built.run("status")[1]
    for at in ((), ("--at", "main")):
        code, _, said = built.run("drop", "p/a.patch", "--dry-run", *at)
        assert code == 1
        assert f"applies at the lock lock.txt ({built.old[:12]})" in said
    lock.write_text("1" * 40)
    assert "cannot be told" in built.row("why", "a.patch")["grounds"][0]
    code, _, said = built.run("drop", "p/a.patch", "--dry-run")
    assert (code, "the lock lock.txt is built, and what it has cannot be told" in said) == (1, True)
    lock.write_text(built.upstream.heads["main"])
    assert built.row("why", "a.patch")["action"] == "drop"
    assert built.run("drop", "p/a.patch", "--dry-run")[0] == 0


def test_what_an_image_holds_keeps_a_patch_that_is_there_at_the_head(built: Any) -> None:
    built.make()
    (built.project / "baselines").mkdir()
    held = {"commit": built.old, "tree": built.old, "patches": [], "distributions": {}}
    baseline: dict[str, object] = {"schema": "regraft.baseline/1", "image": "i", "reference": None, "python": "3.12.1"}
    baseline |= {"dependencies": {"dep": held}, "environment": []}
    (built.project / "baselines/i.json").write_text(json.dumps(baseline))
    track(built)
    row = built.row("why", "a.patch")
    assert (row["state"], row["action"]) == ("already-there", "nothing")
    assert "the baseline of i is built" in row["grounds"][0]
    code, _, said = built.run("drop", "p/a.patch", "--dry-run")
    assert code == 1
    assert "applies at the baseline of i" in said


def take_out(lines: Lines) -> tuple[str, str]:
    """A file before and after a change that only removes a line."""
    before = lines(l20="debug(everything)")
    return before, before.replace("debug(everything)\n", "")


@pytest.fixture
def removed(lab: Any, lines: Lines) -> Any:
    """A plain diff that takes one line out. No file is known that it was made on, so no version can prove that it is there."""
    before, after = take_out(lines)
    lab.upstream.commit({"a.py": before, "b.py": "x\n"}, "Begin")
    lab.carry({"p/fix.patch": without_names(lab.diff({"a.py": before}, {"a.py": after}))})
    lab.fix = lab.upstream.commit({"a.py": after, "b.py": "y\n"}, "Take the debug line out (#7)")
    return lab


def test_a_commit_with_the_same_patch_id_for_the_file_proves_what_no_version_shows(removed: Any) -> None:
    row = removed.row("why", "fix.patch")
    assert (row["state"], row["action"]) == ("already-there", "drop")
    assert (row["culprit"]["commit"], row["culprit"]["pull"]) == (removed.fix, 7)
    assert f"{removed.fix[:12]} made the same change to it (patch-id " in row["reason"]
    assert "nothing has taken it back since" in row["reason"]
    assert removed.row("status")["state"] == "already-there"  # from what is remembered
    [row] = removed.json("history", "--last", "100")
    assert [(one["before"], one["after"], one["culprit"]["commit"]) for one in row["turns"]] == [
        ("applies", "already-there", removed.fix)
    ]


def test_the_patch_id_in_the_reason_is_the_one_that_git_says(removed: Any) -> None:
    diff = removed.upstream.git("diff-tree", "-p", f"{removed.fix}^", removed.fix, "--", "a.py")
    said = removed.upstream.git("patch-id", "--stable", stdin=diff).decode()
    assert f"(patch-id {said[:12]})" in removed.row("status")["reason"]


def test_the_same_change_stays_there_while_other_lines_move_on(removed: Any, lines: Lines) -> None:
    _, after = take_out(lines)
    removed.upstream.commit({"a.py": "new\n" * 3 + after.replace("line 18", "edited")}, "Edit near it")
    assert removed.row("status")["state"] == "already-there"
    assert removed.row("status")["culprit"]["commit"] == removed.fix


@pytest.mark.parametrize(
    ("old", "new", "back", "state"),
    [
        ("", "", True, "applies"),
        ("line 21", "edited", True, "conflict"),
        ("line 21\n", "debug(something)\nline 21\n", False, "conflict"),
        ("line 19", "edited", False, "conflict"),
        ("line 40\n", "line 40\ndebug(everything)\n", False, "conflict"),
    ],
)
def test_a_later_revert_defeats_the_same_patch_id(  # noqa: PLR0917 - its parameters
    removed: Any, lines: Lines, old: str, new: str, back: bool, state: str
) -> None:
    """Taken back whole, taken back and edited beside, another line in its place, its place rewritten, put elsewhere."""
    before, after = take_out(lines)
    removed.upstream.commit({"a.py": (before if back else after).replace(old, new)}, "Revert it")
    removed.upstream.commit({"b.py": "z\n"}, "Something else")
    row = removed.row("why", "fix.patch")
    assert row["state"] == state
    assert row["action"] != "drop"


def test_a_fix_that_was_reverted_and_taken_once_more_is_there_by_the_later_commit(removed: Any, lines: Lines) -> None:
    before, after = take_out(lines)
    removed.upstream.commit({"a.py": before}, "Revert it")
    again = removed.upstream.commit({"a.py": after}, "Take it again")
    row = removed.row("status")
    assert (row["state"], row["culprit"]["commit"]) == ("already-there", again)


def test_a_commit_that_did_more_to_the_file_has_another_patch_id(lab: Any, lines: Lines) -> None:
    before, after = take_out(lines)
    lab.upstream.commit({"a.py": before}, "Begin")
    lab.carry({"p/fix.patch": without_names(lab.diff({"a.py": before}, {"a.py": after}))})
    lab.upstream.commit({"a.py": after.replace("line 3\n", "line three\n")}, "Take it out, and more")
    row = lab.row("status")
    assert row["state"] == "conflict"
    assert "patch-id" not in row["reason"]


def test_the_same_change_with_other_white_space_is_there(lab: Any, lines: Lines) -> None:
    """Upstream indents by tabs, as git's patch-id does not see."""
    tabs = lines(**{f"l{at}": f"\tcall({at})" for at in range(10, 30)})
    spaces = tabs.replace("\t", "    ")
    lab.upstream.commit({"a.py": tabs}, "Begin")
    lab.carry({"p/fix.patch": lab.diff({"a.py": spaces}, {"a.py": spaces.replace("call(20)", "mended(20)")})})
    assert lab.row("status")["state"] == "conflict"
    fix = lab.upstream.commit({"a.py": tabs.replace("call(20)", "mended( 20 )")}, "Mend it")
    row = lab.row("status")
    assert (row["state"], row["culprit"]["commit"]) == ("already-there", fix)
    lab.upstream.commit({"a.py": tabs.replace("call(20)", "other(20)")}, "Rewrite it")
    assert lab.row("status")["state"] == "conflict"


def test_the_same_change_within_a_merge_is_that_commits(lab: Any, lines: Lines) -> None:
    before, after = take_out(lines)
    base = lab.upstream.commit({"a.py": before, "b.py": "x\n"}, "Begin")
    lab.carry({"p/fix.patch": without_names(lab.diff({"a.py": before}, {"a.py": after}))})
    side = lab.upstream.commit({"a.py": after}, "Take it out", branch="side", parents=(base,))
    main = lab.upstream.commit({"b.py": "y\n"}, "Go on")
    lab.upstream.commit({"a.py": after}, "Merge side (#9)", parents=(main, side))
    row = lab.row("status")
    assert (row["state"], row["culprit"]["commit"], row["culprit"]["pull"]) == ("already-there", side, 9)


@pytest.fixture
def added(lab: Any, lines: Lines) -> Any:
    """A patch that adds a file. Upstream took it."""
    lab.upstream.commit({"k": "1\n"}, "Begin")
    lab.carry({"p.patch": lab.diff({"k": "1\n"}, {"n.py": lines()})})
    lab.fix = lab.upstream.commit({"n.py": lines()}, "Take it (#5)")
    return lab


def test_a_file_that_the_patch_adds_is_there_after_lines_were_put_behind_its_own(added: Any, lines: Lines) -> None:
    added.upstream.commit({"n.py": lines() + "def more():\n    pass\n"}, "Append (#6)")
    row = added.row("status")
    assert (row["state"], row["action"], row["culprit"]["commit"]) == ("already-there", "drop", added.fix)
    assert f"it came in with {added.fix[:12]}, and nothing has taken it back" in row["reason"]


@pytest.mark.parametrize("now", [{"l9": "nine"}, {"l40": ""}], ids=["a line rewritten", "the last line emptied"])
def test_a_file_that_the_patch_adds_is_a_conflict_once_its_own_lines_were_changed(
    added: Any, lines: Lines, now: dict[str, str]
) -> None:
    added.upstream.commit({"n.py": lines(**now)}, "Change it (#6)")
    before = added.fix[:12]
    row = added.row("why", "p.patch")
    assert (row["state"], row["action"]) == ("conflict", "pin")
    said = added.run("why", "p.patch")[1]
    assert f"it was there already up to {before}" in said
    assert "it fitted up to" not in said
