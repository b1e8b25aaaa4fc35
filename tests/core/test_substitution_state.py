"""Replacements and anchors against a file: each state, with its reason, and what the file then holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.patch_text import Substitution
from regraft.core.substitution_state import SubstitutedVerdict, judge_substitutions

FILE = b"import os\n\ndef start(args):\n    load(args)\n    return run(args)\n"


def replace(old: bytes, new: bytes, count: int = 1, line: int = 1) -> Substitution:
    return Substitution(line, old, new, count)


def anchor(text: bytes, line: int = 1) -> Substitution:
    return Substitution(line, text, text)


def judged(content: bytes, *entries: Substitution) -> SubstitutedVerdict:
    return judge_substitutions(content, entries)


def states(verdict: SubstitutedVerdict) -> list[str]:
    return [one.state for one in verdict.hunks]


LOAD = replace(b"    load(args)\n", b"    load(args, fast=True)\n")


def test_what_stands_at_one_place_applies_and_its_line_is_told() -> None:
    verdict = judged(FILE, LOAD)
    assert (verdict.state, verdict.reason) == ("applies", None)
    assert verdict.content == FILE.replace(b"load(args)", b"load(args, fast=True)")
    assert [(one.state, one.place, one.offset) for one in verdict.hunks] == [("applies", 4, None)]


def test_what_has_its_new_text_and_not_its_old_one_is_there_already() -> None:
    verdict = judged(FILE.replace(b"load(args)", b"load(args, fast=True)"), LOAD)
    assert (verdict.state, verdict.reason, verdict.content) == ("already-there", None, None)
    assert verdict.hunks[0].place == 4


def test_an_old_text_within_the_new_one_is_not_taken_for_itself() -> None:
    """https://github.com/eugr/spark-vllm-docker/pull/177: an import that is put behind another one."""
    entry = replace(b"import os\n", b"import os\nimport sys\n")
    made = judged(FILE, entry).content
    assert made is not None
    assert made.startswith(b"import os\nimport sys\n\ndef")
    assert judged(made, entry).state == "already-there"
    assert judged(made.replace(b"import os\nimport sys", b"import sys\nimport os"), entry).state == "applies"


def test_the_new_text_beside_the_old_one_is_ambiguous() -> None:
    verdict = judged(FILE + b"    load(args, fast=True)\n", LOAD)
    assert verdict.state == "conflict"
    assert (verdict.reason or "").startswith("ambiguous: its new text stands there as well (line 6)")


def test_an_old_text_at_several_places_is_ambiguous_unless_their_number_is_declared() -> None:
    twice = FILE + b"    load(args)\n"
    verdict = judged(twice, LOAD)
    assert verdict.state == "conflict"
    assert "ambiguous: its old text stands at 2 places (lines 4, 6); one is expected" in (verdict.reason or "")
    both = judged(twice, replace(LOAD.old, LOAD.new, 2))
    assert (both.state, both.hunks[0].place, both.hunks[0].also) == ("applies", 4, (6,))
    assert both.content == twice.replace(LOAD.old, LOAD.new)
    assert judged(both.content or b"", replace(LOAD.old, LOAD.new, 2)).state == "already-there"


@pytest.mark.parametrize(
    ("old", "new", "now"),
    [
        (b"timeout=30", b"timeout=300", b"timeout=3000\n"),
        (b"x = 1", b"x = 2", b"x = 10\n"),
        (b"x = 1", b"x = 2", b"x = 25\n"),
        (b"load(", b"preload(", b"unpreload(a)\n"),
        (b"fast", b"slow", b"is_fast\n"),
    ],
)
def test_a_part_of_a_longer_word_or_number_is_neither_replaced_nor_taken_for_the_new_text(
    old: bytes, new: bytes, now: bytes
) -> None:
    assert judged(now, replace(old, new)).state == "conflict"


@pytest.mark.parametrize(
    ("old", "new", "now"),
    [(b"MOST = 30", b"MOST = 90", b"AT_MOST = 30\n"), (b"30s", b"300s", b"30sec\n"), (b"a", b"-", b"bab\n")],
)
def test_a_word_that_goes_on_beside_what_stays_is_none_of_its_business(old: bytes, new: bytes, now: bytes) -> None:
    made = judged(now, replace(old, new))
    assert made.content == now.replace(old, new)
    assert judged(made.content or b"", replace(old, new)).state == "already-there"


def test_of_several_places_some_of_which_have_it_nothing_is_guessed() -> None:
    mixed = FILE + LOAD.new
    verdict = judged(mixed, replace(LOAD.old, LOAD.new, 2))
    assert verdict.state == "conflict"
    assert "its old text stands at 1 place, and its new text at 1 (line 4); 2 are declared" in (verdict.reason or "")


def test_places_that_overlap_are_ambiguous() -> None:
    verdict = judged(b"aaa\n", replace(b"aa", b"b", 2))
    assert verdict.state == "conflict"
    assert "2 places that overlap" in (verdict.reason or "")


def test_a_new_text_that_stands_everywhere_is_no_proof() -> None:
    verdict = judged(b"return None\n" * 3, replace(b"return 1", b"return None"))
    assert verdict.state == "conflict"
    assert "its old text is nowhere, and its new one stands at 3 places" in (verdict.reason or "")


@pytest.mark.parametrize("new", [b"", b"def start(args):\n"])
def test_what_only_takes_text_away_is_never_there_already(new: bytes) -> None:
    entry = replace(b"def start(args):\n    load(args)\n", new)
    made = judged(FILE, entry)
    assert made.content == FILE.replace(entry.old, new)
    again = judged(made.content or b"", entry)
    assert again.state == "conflict"
    assert "it only takes text away, so that nothing shows whether it was there" in (again.reason or "")


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (FILE.replace(b"    load", b"\tload"), "it differs only in white space from what stands in line 3"),
        (FILE.replace(b"load(args)", b"load( args )"), "it differs only in white space from what stands in line 3"),
        (FILE.replace(b"    load", b"\n    load"), "it stands in line 3, split by a blank line"),
        (FILE.replace(b"\n", b"\r\n"), "it stands in line 3 with other line ends"),
        (
            FILE.replace(b"load(args)", b"load_all(args)"),
            "its line 'load(args)' is not there, and line 3 has another of its lines",
        ),
        (b"nothing\n", "it is not there"),
    ],
)
def test_what_is_nearest_to_a_text_that_is_missing_is_told(now: bytes, reason: str) -> None:
    text = b"def start(args):\n    load(args)\n"
    for entry in (replace(text, b"other\n", line=7), anchor(text, line=7)):
        verdict = judged(now, entry)
        word = "anchor" if entry.is_anchor else "replacement"
        assert verdict.state == "conflict"
        assert verdict.reason == f"{reason} ({word}, entry 1 of 1, declared in line 7)"


def test_a_text_that_lost_its_blank_line_is_told_so() -> None:
    verdict = judged(FILE.replace(b"\n\n", b"\n"), anchor(b"import os\n\ndef start"))
    assert (verdict.reason or "").startswith("it stands in line 1, without a blank line in it")


def test_a_renamed_call_is_found_by_its_words() -> None:
    verdict = judged(b"x = 1\nself.load_weights(args, device)\n", anchor(b"load_weights(args, device, fast)"))
    assert "; the nearest is line 2, 'self.load_weights(args, device)'" in (verdict.reason or "")


def test_an_anchor_changes_nothing() -> None:
    verdict = judged(FILE, anchor(b"def start(args):\n"))
    assert (verdict.state, verdict.content, verdict.watches) == ("applies", FILE, True)
    assert verdict.hunks[0].place == 3


def test_an_anchor_at_several_places_is_ambiguous() -> None:
    verdict = judged(FILE, anchor(b"args"))
    assert verdict.state == "conflict"
    assert "ambiguous: it stands at 3 places (lines 3, 4, 5)" in (verdict.reason or "")


def test_anchors_are_looked_for_in_what_the_replacements_make_wherever_they_stand() -> None:
    gone, made = anchor(b"    load(args)\n"), anchor(b"fast=True")
    assert states(judged(FILE, gone, LOAD, made)) == ["conflict", "applies", "applies"]


def test_what_is_there_and_what_still_fits_is_partial() -> None:
    verdict = judged(FILE, LOAD, replace(b"import sys", b"import os"))
    assert states(verdict) == ["applies", "already-there"]
    assert (verdict.state, verdict.content) == ("partial", None)
    assert verdict.reason == "entry 2 of 2 is there already, the others still fit"


def test_an_anchor_makes_nothing_partial() -> None:
    there = FILE.replace(b"load(args)", b"load(args, fast=True)")
    verdict = judged(there, LOAD, anchor(b"import os"))
    assert (verdict.state, verdict.watches) == ("already-there", True)
    assert judged(FILE, LOAD, anchor(b"import os")).state == "applies"


def test_one_that_is_missing_among_others_is_a_conflict_that_names_it() -> None:
    """https://github.com/eugr/spark-vllm-docker/pull/177: a script changed nothing where a string was not found."""
    verdict = judged(FILE, LOAD, replace(b"gone_for_good()", b"x", line=12), replace(b"import os", b"import io"))
    assert states(verdict) == ["applies", "conflict", "applies"]
    assert verdict.reason == "it is not there (replacement, entry 2 of 3, declared in line 12)"


def test_replacements_build_on_those_before_them_and_are_seen_as_there_below_later_ones() -> None:
    entries = (replace(b"load(args)", b"load(args, 1)"), replace(b"load(args, 1)", b"load_all(args)"))
    made = judged(FILE, *entries)
    assert made.content == FILE.replace(b"load(args)", b"load_all(args)")
    assert judged(made.content or b"", *entries).state == "already-there"


def test_what_could_not_be_told_afterwards_does_not_apply() -> None:
    """The old text would come about again, and a second run would replace it once more."""
    verdict = judged(b"aab\n", replace(b"ab", b"ba"))
    assert verdict.state == "conflict"
    assert "ambiguous: once made, it could not be told from what else stands there" in (verdict.reason or "")
    assert judged(b"aabb\n", replace(b"ab", b"")).state == "conflict"


SOME = st.text("ab\n -", max_size=12).map(str.encode)
PIECE = st.text("ab\n -", min_size=1, max_size=3).map(str.encode)


@given(SOME, PIECE, st.text("abc\n ", max_size=4).map(str.encode), st.integers(1, 2))
def test_what_applies_makes_the_text_with_old_replaced_and_is_there_the_second_time(
    content: bytes, old: bytes, new: bytes, count: int
) -> None:
    if old == new:
        return
    entry = replace(old, new, count)
    verdict = judged(content, entry)
    stands = content.count(old)
    if verdict.state == "applies":
        again = judged(verdict.content or b"", entry)
        assert again.state == ("conflict" if new in old else "already-there")
        if old not in new:
            assert stands == count
            assert verdict.content == content.replace(old, new)
    if not stands and (not new or new not in content):
        assert verdict.state == "conflict"
    if verdict.state == "already-there":
        assert new in content
        assert new not in old


@given(SOME, st.lists(st.tuples(PIECE, st.text("abcd", max_size=3).map(str.encode)), min_size=1, max_size=3))
def test_a_second_run_never_changes_what_the_first_one_made(content: bytes, pairs: list[tuple[bytes, bytes]]) -> None:
    entries = [replace(old, new) for old, new in pairs if old != new]
    verdict = judged(content, *entries)
    if verdict.state == "applies" and entries:
        again = judged(verdict.content or b"", *entries)
        assert again.state in {"already-there", "conflict"}
        if not any(one.new in one.old for one in entries):
            assert again.state == "already-there"


@given(SOME, PIECE)
def test_an_anchor_is_there_exactly_once_or_stops(content: bytes, text: bytes) -> None:
    verdict = judged(content, anchor(text))
    places = sum(content.startswith(text, at) for at in range(len(content)))
    assert (verdict.state == "applies") == (places == 1)
    assert verdict.content in {None, content}


def test_a_long_text_of_one_character_in_a_long_file_is_looked_for_once() -> None:
    """Without a place to begin at, a search that allows for blanks anywhere would take minutes."""
    verdict = judged(b"x" * 300_000 + b"\ny", anchor(b"x" * 4_000 + b" y"))
    assert "it differs only in white space from what stands in line 1" in (verdict.reason or "")


@pytest.mark.parametrize("entry", [replace(b"x", b"x" * 5_000), replace(b"x" * 5_000, b"y"), anchor(b"x" * 5_000)])
def test_a_text_that_stands_nearly_everywhere_is_not_counted_to_the_end(entry: Substitution) -> None:
    verdict = judged(b"x" * 30_000, entry)
    assert verdict.state == "conflict"
    assert (verdict.reason or "").startswith("ambiguous: ")
