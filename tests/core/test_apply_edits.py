"""Edits that a carried patch explains, and what is decided of the others."""

import pytest

from regraft.core.apply_edits import decide, edits, is_as_recorded, prefixes
from regraft.core.baseline import BaselineDependency
from regraft.core.objects import Commit, Tree
from regraft.core.observation import CarriedPatch, Checkout, Difference
from regraft.errors import RefusedError


def look(*paths: str, kind: str = "modified") -> Checkout:
    differences = tuple(Difference(path, kind, "other content") for path in paths)  # type: ignore[arg-type]
    return Checkout("lib", "/src/lib", "/src/lib", "repository", differences=differences)


def paths(found: tuple[Difference, ...]) -> list[str]:
    return [one.path for one in found]


def test_a_file_that_one_of_the_looks_explains_is_no_edit() -> None:
    assert paths(edits([look("a", "b", "c"), look("a", "c"), look("b", "c")])) == ["c"]
    assert edits([look("a"), look()]) == ()
    assert paths(edits([look("a")])) == ["a"]


@pytest.mark.parametrize("kind", ["filter", "submodule-empty"])
def test_what_git_itself_would_not_call_an_edit_is_none(kind: str) -> None:
    assert edits([look("a", kind=kind)]) == ()


def test_a_series_may_have_grown_since_the_image_was_built() -> None:
    one, two = CarriedPatch("1", None, b""), CarriedPatch("2", None, b"")
    assert prefixes((one, two)) == ((one,), ())
    assert prefixes(()) == ()


def test_what_the_baseline_recorded_is_as_it_was() -> None:
    held = BaselineDependency(Commit("1" * 40), Tree("2" * 40), (), {}, ())
    found = Checkout("lib", "/l", "/l", "repository", head=Commit("1" * 40), tree=Tree("2" * 40))
    assert is_as_recorded(found, held)
    assert not is_as_recorded(found, None)
    moved = Checkout("lib", "/l", "/l", "repository", head=Commit("3" * 40), tree=Tree("2" * 40))
    assert not is_as_recorded(moved, held)


FOUND = look("a.py", "b.py").differences


@pytest.mark.parametrize("policy", ["stop", "carry", "drop"])
def test_without_an_edit_there_is_nothing_to_decide(policy: str) -> None:
    assert decide("lib", "/l", (), policy, kept_by_plan=frozenset()) is None  # type: ignore[arg-type]


def test_stop_lists_the_edits() -> None:
    with pytest.raises(RefusedError, match=r"2 tracked files were edited.*a\.py.*b\.py") as caught:
        decide("lib", "/l", FOUND, "stop", kept_by_plan=frozenset())
    assert caught.value.code == "local-edits"


def test_drop_says_what_goes() -> None:
    said = decide("lib", "/l", FOUND, "drop", kept_by_plan=frozenset())
    assert said is not None
    assert said.endswith("local-edits = drop: they go")


def test_carry_goes_on_where_the_planned_tree_holds_the_edits_and_stops_for_one_that_it_has_not() -> None:
    assert decide("lib", "/l", FOUND, "carry", kept_by_plan=frozenset({"a.py", "b.py"})) is None
    with pytest.raises(RefusedError, match=r"1 tracked files were edited.*b\.py.*the planned tree does not have them"):
        decide("lib", "/l", FOUND, "carry", kept_by_plan=frozenset({"a.py"}))


def test_a_hostile_name_stands_escaped_in_the_message() -> None:
    with pytest.raises(RefusedError) as caught:
        decide("lib", "/l", look("a\x1b[2J\n::error::x").differences, "stop", kept_by_plan=frozenset())
    assert caught.value.message.isprintable()
