"""A patch that deletes or renames a file: only the commit that took the file away tells whether its change is there."""

from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]
Tree = dict[str, str | None]


@pytest.fixture
def deletes(lab: Any, lines: Lines) -> Any:
    """A patch that deletes `f.py`."""
    lab.upstream.commit({"f.py": lines(), "k": "1\n"}, "Begin")
    lab.carry({"p.patch": lab.diff({"f.py": lines(), "k": "1\n"}, {"f.py": None})})
    return lab


def test_a_file_that_upstream_moved_and_edited_is_not_deleted(deletes: Any, lines: Lines) -> None:
    commit = deletes.upstream.commit({"f.py": None, "g.py": lines(l3="edited")}, "Move it (#3)")
    row = deletes.row("status")
    assert row["state"] == "conflict"
    assert row["action"] != "drop"
    assert f"with {commit[:12]} most of its lines came into g.py" in row["reason"]


def test_lines_that_went_into_a_file_that_was_there_are_not_deleted(deletes: Any, lines: Lines) -> None:
    deletes.upstream.commit({"big.py": "head\n" * 50}, "Another")
    deletes.upstream.commit({"f.py": None, "big.py": "head\n" * 50 + lines()}, "Merge the two (#3)")
    row = deletes.row("status")
    assert (row["state"], "came into big.py" in row["reason"]) == ("conflict", True)


def test_a_file_that_a_commit_deleted_and_whose_lines_went_nowhere_is_deleted(deletes: Any, lines: Lines) -> None:
    deletes.upstream.commit({"f.py": lines(l9="nine")}, "Edit it")
    commit = deletes.upstream.commit({"f.py": None, "other.py": "something\nelse\n"}, "Take it out (#3)")
    deletes.upstream.commit({"k": "2\n"}, "Go on")
    for _ in range(2):  # the second time it is remembered
        row = deletes.row("status")
        assert (row["state"], row["action"], row["culprit"]["commit"]) == ("already-there", "drop", commit)
        assert f"{commit[:12]} deleted it, and its lines went nowhere" in row["reason"]
    deletes.upstream.commit({"f.py": lines()}, "Put it back")
    assert deletes.row("status")["state"] == "applies"


@pytest.fixture
def renames(lab: Any, lines: Lines) -> Any:
    """A patch that renames `f.py` to `g.py`, and changes nothing in it."""
    before: Tree = {"f.py": lines(), "k": "1\n"}
    lab.upstream.commit(before, "Begin")
    lab.carry({"p.patch": lab.diff(before, {"f.py": None, "g.py": lines()}, "-M")})
    return lab


@pytest.mark.parametrize(
    "steps",
    [
        [{"f.py": None, "g.py": "unrelated\n"}],
        [{"f.py": None}, {"g.py": "unrelated\n"}],
        [{"g.py": "unrelated\n"}, {"f.py": None}],
    ],
    ids=["at once", "later", "before"],
)
def test_an_unrelated_file_of_the_new_name_is_no_rename(renames: Any, steps: list[Tree]) -> None:
    for step in steps:
        renames.upstream.commit(step, "Up")
    row = renames.row("status")
    assert (row["state"], row["action"] == "drop") == ("target-gone", False)
    assert "already-there" not in [turn["after"] for turn in renames.json("history", "--last", "9")[0]["turns"]]


def test_a_rename_that_a_commit_made_is_there_however_the_file_was_edited_since(renames: Any, lines: Lines) -> None:
    commit = renames.upstream.commit({"f.py": None, "g.py": lines()}, "Rename it (#3)")
    renames.upstream.commit({"g.py": lines(l5="edited")}, "Edit it")
    row = renames.row("status")
    assert (row["state"], row["action"], row["culprit"]["commit"]) == ("already-there", "drop", commit)
    assert f"{commit[:12]} renamed it" in row["reason"]
    renames.upstream.commit({"g.py": None, "f.py": lines()}, "Rename it back")
    assert renames.row("status")["state"] == "applies"
