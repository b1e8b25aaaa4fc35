import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.spelling import distance, near, nearest

KEYS = ("url", "branch", "directive", "allow", "token-env", "lock")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("brnch", "branch"),
        ("branchh", "branch"),
        ("brunch", "branch"),
        ("brnach", "branch"),
        ("token_env", "token-env"),
        ("Token Env", "token-env"),
        ("URL", "url"),
        ("uri", "url"),
        ("lokc", "lock"),
        ("branch", "branch"),
    ],
)
def test_a_slip_finds_the_word_that_was_meant(word: str, meant: str) -> None:
    assert nearest(word, KEYS) == meant


@pytest.mark.parametrize("word", ["", "commit", "xyz", "u", "b" * 101, "br"])
def test_what_is_near_nothing_gets_no_offer(word: str) -> None:
    assert nearest(word, KEYS) is None


def test_the_nearest_comes_first_and_ties_keep_their_order() -> None:
    assert near("main", ["mian", "maine", "min", "man", "main"], count=3) == ("main", "mian", "maine")
    assert near("main", ["other"], count=3) == ()


def test_a_candidate_that_is_given_twice_is_offered_once() -> None:
    assert near("abd", ["abc", "abc"]) == ("abc",)


@pytest.mark.parametrize(
    ("left", "right", "edits"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("ab", "ba", 1),
        ("abc", "acb", 1),
        ("abc", "xyz", 3),
        ("ca", "abc", 3),
        ("ab", "cab", 1),
    ],
)
def test_the_distance_counts_edits(left: str, right: str, edits: int) -> None:
    assert distance(left, right, 9) == edits
    assert distance(right, left, 9) == edits
    if edits:
        assert distance(left, right, edits - 1) == edits


@given(st.text(alphabet="ab-c", max_size=9), st.integers(0, 8), st.sampled_from("xyz"))
def test_one_letter_put_in_costs_one(word: str, at: int, letter: str) -> None:
    longer = word[:at] + letter + word[at:]
    assert distance(word, longer, 3) == 1


@given(st.text(max_size=8), st.text(max_size=8), st.integers(0, 8))
def test_a_limit_changes_no_distance_below_it(left: str, right: str, limit: int) -> None:
    assert distance(left, right, limit) == min(distance(left, right, 8), limit + 1)
