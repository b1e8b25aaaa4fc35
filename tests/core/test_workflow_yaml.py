"""A workflow's YAML: what YAML 1.1 would change stays as written, and hostile input ends soon."""

from itertools import pairwise

import pytest

from regraft.core.workflow_values import Data, Place, Text
from regraft.core.workflow_yaml import LIMIT, is_null, mapping, read_yaml, text, texts


def read(source: str | bytes) -> Data:
    data, problems = read_yaml("w.yml", source.encode() if isinstance(source, str) else source)
    assert data is not None
    assert problems == []
    return data


def refused(source: bytes) -> tuple[int, str]:
    data, problems = read_yaml("w.yml", source)
    if data is not None:
        pytest.fail("it was read")  # and is not shown: it may be very large
    (one,) = problems
    return one.place.line, one.message


def noted(source: str) -> list[tuple[int, str]]:
    data, problems = read_yaml("w.yml", source.encode())
    assert data is not None
    return [(one.place.line, one.message) for one in problems]


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "y", "0o17", "1_000", "1:30", "1e3", "2024-01-01", "0x1F"])
def test_words_that_yaml_gives_other_types_stay_as_written(word: str) -> None:
    data = read(f"{word}: {word}\n")
    assert list(mapping(data)) == [word]
    found = text(data.get(word))
    assert found is not None
    assert (found.value, found.plain) == (word, True)


@pytest.mark.parametrize(
    ("written", "plain"), [("true", True), ("'true'", False), ('"true"', False), (">-\n  true", False)]
)
def test_a_quoted_scalar_is_not_plain(written: str, plain: bool) -> None:
    found = text(read(f"a: {written}\n").get("a"))
    assert found is not None
    assert (found.value, found.plain) == ("true", plain)


def test_places_begin_at_one_and_keys_have_theirs() -> None:
    data = read("a:\n  b:   c\n")
    inner = data.get("a")
    assert inner is not None
    assert inner.keys["b"].place == Place("w.yml", 2, 3)
    assert inner.get("b") == Data(Text("c", Place("w.yml", 2, 8), plain=True), Place("w.yml", 2, 8))


def test_a_byte_order_mark_and_crlf_change_nothing() -> None:
    found = text(read(b"\xef\xbb\xbfa: |\r\n  one\r\n  two\r\n").get("a"))
    assert found is not None
    assert found.value == "one\ntwo\n"
    assert found.line(found.value.index("two")) == 3


def test_a_literal_block_knows_the_line_of_every_character() -> None:
    found = text(read("a: 1\nrun: |  # why\n\n  one\n\n  two\nb: 2\n").get("run"))
    assert found is not None
    assert [found.line(found.value.index(word)) for word in ("one", "two")] == [4, 6]


@pytest.mark.parametrize("written", [">\n  one\n  two\n", "one\n  two\n", '"one\n  two"\n'])
def test_lines_that_yaml_joins_stand_at_their_beginning(written: str) -> None:
    found = text(read(f"a: {written}").get("a"))
    assert found is not None
    assert found.line(found.value.index("two")) == 1


def test_an_alias_is_what_its_anchor_is_and_stands_there() -> None:
    data = read("a: &x\n  k: v\nb: *x\n")
    assert data.get("b", "k") == data.get("a", "k")


def test_a_merge_key_stays_a_key_as_on_github() -> None:
    data = read("a: &x\n  k: v\nb:\n  <<: *x\n")
    assert list(mapping(data.get("b"))) == ["<<"]


def test_nothing_written_is_null_and_an_empty_quoted_text_is_not() -> None:
    data = read("a:\nb: ''\nc: ~\nd: null\n")
    assert {key: is_null(one) for key, one in mapping(data).items()} == {"a": True, "b": False, "c": True, "d": True}


def test_a_word_or_a_list_of_words() -> None:
    data = read("a: x\nb: [x, y]\nc: {x: y}\n")
    assert [[one.value for one in texts(data.get(key))] for key in "abcd"] == [["x"], ["x", "y"], [], []]


def test_a_key_that_stands_twice_is_said_and_the_first_counts() -> None:
    data, problems = read_yaml("w.yml", b"a: 1\nb: 2\nA: 3\n")
    assert [(one.place.line, one.message) for one in problems] == [
        (3, "`A` stands here twice; GitHub refuses the file")
    ]
    assert data is not None
    assert text(data.get("a")) == Text("1", Place("w.yml", 1, 4), plain=True)


def test_an_exclamation_mark_begins_a_tag() -> None:
    assert noted("if: !cancelled()\n") == [(1, "`!` begins a YAML tag here; quote the text, or write `${{ ! … }}`")]


def test_a_key_that_is_no_text_is_said() -> None:
    assert noted("a: b\n? [c]\n: d\n") == [(2, "a key that is no text")]


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (b"", 1, "empty"),
        (b"# only words\n", 1, "empty"),
        (b"a: 1\nb: \xff\n", 2, "not UTF-8"),
        (b"a: 1\nb: *no\n", 2, "not YAML: found undefined alias"),
        (b"a: 1\n\tb: 2\n", 2, "not YAML: found a tab character that violates indentation"),
        (b"a: \x00\n", 1, "not YAML: a character or a nesting that YAML does not allow"),
        (b"a: 1\n---\nb: 2\n", 2, "not YAML: but found another document"),
        (b"a: &x [*x]\n", 1, "nested more deeply than workflows may be"),
        (b"- " * 200 + b"a", 1, "nested more deeply than workflows may be"),
        (b" " * LIMIT + b"a", 1, f"larger than {LIMIT} bytes"),
    ],
    ids=lambda one: repr(one[:12]) if isinstance(one, bytes) else "",
)
def test_what_cannot_be_read_says_where_and_why(source: bytes, line: int, message: str) -> None:
    assert refused(source) == (line, message)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_endless_nesting_ends(opening: str) -> None:
    _, message = refused(opening.encode() * 100_000)
    assert message == "not YAML: exceeded maximum nesting depth"


def test_aliases_of_aliases_are_counted_not_written_out() -> None:
    names = "abcdefghijklmnopqrst"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{one}: &{one} [{', '.join([f'*{last}'] * 9)}]" for last, one in pairwise(names)]
    line, message = refused("\n".join(lines).encode())
    assert (line, message) == (6, "more than 100000 values once its aliases are written out")
