"""What a step writes to the runner's files, read as the runner reads it."""

import pytest

from regraft.core.runner_files import BadLineError, read_pairs, read_paths


def test_lines_and_blocks() -> None:
    text = "ref=main\nbody<<EOF\nfirst\n\nref=other\nEOF\nempty=\n"
    assert read_pairs(text) == (("ref", "main"), ("body", "first\n\nref=other"), ("empty", ""))


def test_an_equals_sign_before_the_arrows_makes_it_a_line() -> None:
    assert read_pairs("command=cat <<EOF\n") == (("command", "cat <<EOF"),)


def test_arrows_before_an_equals_sign_make_it_a_block() -> None:
    assert read_pairs("name<<A=B\nvalue\nA=B\n") == (("name", "value"),)


def test_an_empty_block_is_an_empty_value() -> None:
    assert read_pairs("name<<E\nE") == (("name", ""),)


def test_the_last_of_two_is_there_too() -> None:
    assert read_pairs("a=1\na=2") == (("a", "1"), ("a", "2"))


def test_a_carriage_return_stays_in_the_value() -> None:
    assert read_pairs("number=12\r\n") == (("number", "12\r"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no sign at all\n", "Invalid format 'no sign at all'"),
        ("=value\n", "Name must not be empty"),
        ("name<<\nx\n", "delimiter must not be empty"),
        ("<<E\nx\nE\n", "Name must not be empty"),
        ("name<<E\nx\n", "Matching delimiter not found 'E'"),
        ("name<<E\nx\nE\r\n", "Matching delimiter not found 'E'"),
    ],
)
def test_what_the_runner_cannot_read(text: str, said: str) -> None:
    with pytest.raises(BadLineError, match=said):
        read_pairs(text)


def test_a_path_that_is_said_again_moves_to_the_front() -> None:
    assert read_paths("/a\n\n/b\r\n/a\n") == ("/b", "/a")
