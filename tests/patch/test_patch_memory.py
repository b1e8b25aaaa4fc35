"""What is remembered of one question changes no answer to another: of another series, of another image, of another commit."""

from collections.abc import Callable
from typing import Any

import pytest

Lines = Callable[..., str]

SECOND_IMAGE = '[images.j]\n[images.j.baked.dep]\npath = "/dep"\npatches = ["p1.patch", "p2.patch"]\n'


@pytest.fixture
def stack(lab: Any, lines: Lines) -> tuple[str, str]:
    """Two patches of which the second is made on the first."""
    lab.upstream.commit({"f.py": lines()})
    first = lab.diff({"f.py": lines()}, {"f.py": lines(l10="ten")})
    return first, lab.diff({"f.py": lines(l10="ten")}, {"f.py": lines(l10="ten more")})


def states(lab: Any, *words: str) -> list[tuple[str, str, str]]:
    return [(row["image"], row["patch"], row["state"]) for row in lab.json("status", *words)]


def test_a_patch_on_top_of_one_that_was_judged_alone_applies_as_it_does_without_memory(
    lab: Any, stack: tuple[str, str]
) -> None:
    first, second = stack
    lab.carry({"p1.patch": first})
    assert states(lab) == [("i", "p1.patch", "applies")]
    lab.carry({"p1.patch": first, "p2.patch": second})
    both = [("i", "p1.patch", "applies"), ("i", "p2.patch", "applies")]
    assert states(lab) == both
    assert states(lab) == both
    assert [row["turns"] for row in lab.json("history", "--last", "9")] == [[], []]


def test_an_image_that_carries_one_patch_more_is_judged_as_if_it_were_alone(lab: Any, stack: tuple[str, str]) -> None:
    first, second = stack
    lab.carry({"p1.patch": first, "p2.patch": second}, more=SECOND_IMAGE)
    manifest = lab.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace('["p1.patch", "p2.patch"]', '["p1.patch"]', 1))
    expected = [("i", "p1.patch", "applies"), ("j", "p1.patch", "applies"), ("j", "p2.patch", "applies")]
    assert states(lab) == expected
    assert states(lab) == expected


def test_history_looks_for_what_was_deleted_in_the_very_tree_that_is_judged(lab: Any, lines: Lines) -> None:
    """The first patch deletes `h`, and the second edits `g`, which holds the same: whether `h` was moved depends on `g`."""
    other = "".join(f"other {number}\n" for number in range(20))
    everything = {"f": other, "g": lines(), "h": lines()}
    lab.upstream.commit(everything)
    away = lab.diff(everything, {"h": None})
    edit = lab.diff({"g": lines()}, {"g": lines(l9="nine")})
    lab.carry({"p0.patch": away, "p1.patch": edit})
    commits = [lab.upstream.commit(files) for files in ({"h": None}, {"g": None}, {"g": lines()}, {"h": lines()})]
    alone = [lab.json("status", "--at", commit, "p0.patch")[0]["state"] for commit in commits]
    [row] = lab.json("history", "--last", "50", "p0.patch")
    told = [(one["culprit"]["commit"], one["after"]) for one in reversed(row["turns"])]
    assert told == [
        (commit, state)
        for commit, state, before in zip(commits, alone, ["applies", *alone], strict=False)
        if state != before
    ]
    assert alone[2:] == ["conflict", "applies"]
