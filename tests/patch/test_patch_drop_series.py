"""`regraft patch drop` and the rest of the series: what is left goes on as before."""

from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]


@pytest.fixture
def stacked(lab: Any, lines: Lines) -> Any:
    """One patch on top of the other, and upstream took what both together make."""
    first, second = lines(l10="first change"), lines(l10="second change")
    lab.upstream.commit({"a.py": lines()}, "Begin")
    patches = {"one.patch": lab.diff({"a.py": lines()}, {"a.py": first})}
    patches["two.patch"] = lab.diff({"a.py": first}, {"a.py": second})
    lab.upstream.commit({"a.py": second}, "Take both")
    lab.carry(patches)
    lab.track()
    return lab


def test_a_patch_below_which_another_has_landed_does_not_go_before_it(stacked: Any) -> None:
    code, _, said = stacked.run("drop", "two.patch")
    assert code == 1
    assert "'two.patch' cannot go alone: the series that is left would stop a run [others-need-it]" in said
    assert "without it one.patch is conflict at main" in said
    assert "-> drop one.patch first, then this one" in said
    assert (stacked.project / "two.patch").exists()
    assert stacked.row("why", "two.patch")["grounds"][-1] == (
        "without it one.patch would be conflict: drop that one first"
    )


def test_both_of_a_stack_that_landed_go_from_below(stacked: Any) -> None:
    assert stacked.run("drop", "one.patch")[0] == 0
    assert stacked.run("status")[0] == 0
    assert stacked.run("drop", "two.patch")[0] == 0
    assert stacked.run("status")[1] == "no patches: the manifest carries none here\n"


def test_a_patch_that_needs_what_has_landed_only_behind_it_does_not_stop_a_drop(lab: Any, lines: Lines) -> None:
    """The second applies on what the first makes, which upstream has: without the first it applies as well."""
    first = lines(l10="first change")
    lab.upstream.commit({"a.py": lines()}, "Begin")
    patches = {"one.patch": lab.diff({"a.py": lines()}, {"a.py": first})}
    patches["two.patch"] = lab.diff({"a.py": first}, {"a.py": lines(l10="second change")})
    lab.upstream.commit({"a.py": first}, "Take the first")
    lab.carry(patches)
    lab.track()
    assert lab.run("drop", "one.patch")[0] == 0
    assert [row["state"] for row in lab.json("status")] == ["applies"]


def test_what_to_do_with_two_that_undo_each_other_is_what_their_reasons_say(lab: Any, lines: Lines) -> None:
    """Nothing is pinned, and nothing is to be mended, of which no line is left in the end."""
    changed = lines(l10="for a day")
    lab.upstream.commit({"a.py": lines()}, "Begin")
    patches = {"one.patch": lab.diff({"a.py": lines()}, {"a.py": changed})}
    patches["two.patch"] = lab.diff({"a.py": changed}, {"a.py": lines()})
    lab.upstream.commit({"a.py": lines(l10="another")}, "Rewrite it")
    lab.carry(patches)
    rows = lab.json("why", "one.patch") + lab.json("why", "two.patch")
    assert all("drop both together" in row["reason"] for row in rows)
    assert [(row["action"], row["grounds"][0]) for row in rows] == [
        ("by-hand", "it and two.patch only undo each other, and the first does not fit: drop both together"),
        ("by-hand", "it and one.patch only undo each other, and the first does not fit: drop both together"),
    ]
