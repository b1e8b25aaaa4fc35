"""A change that came in once, and is proved to be there still although its surroundings moved on."""

import pytest

from regraft.core.landed import landed_and_kept
from regraft.core.patch_text import Hunk

FIX = Hunk(
    1, 1, 1, (b" def load(path):", b"-    data = open(path)", b"+    data = open(path, 'rb')", b"     return data")
)
ADDS = Hunk(1, 1, 1, (b" start", b"+a telling line", b"+another one", b" end"))
LANDED = b"def load(path):\n    data = open(path, 'rb')\n    return data\n"


def test_the_line_after_a_landed_fix_was_edited() -> None:
    edited = b"def load(path):\n    data = open(path, 'rb')\n    return data.read()\n"
    moved = b"# note\n\n" + edited.replace(b"path", b"name").replace(b"open(name, 'rb')", b"open(path, 'rb')")
    assert landed_and_kept(FIX, LANDED, [edited])
    assert landed_and_kept(FIX, LANDED, [edited, moved])


@pytest.mark.parametrize(
    "later",
    [
        b"def load(path):\n    data = open(path)\n    return data\n",  # taken back whole
        b"def read(path):\n    data = open(path)\n    return data\n",  # taken back, under another name
        b"def load(path):\n    data = open(path, 'rb')\n    return data\n\ndef load(path):\n    data = open(path)\n    return data\n",
        b"def load(path):\n    return fetch(path)\n",  # rewritten
        None,  # deleted
        b"",
    ],
)
def test_what_was_taken_back_or_rewritten_is_not_there(later: bytes | None) -> None:
    assert not landed_and_kept(FIX, LANDED, [later])
    assert not landed_and_kept(FIX, LANDED, [later, LANDED])


def test_added_lines_that_were_torn_apart_are_not_there() -> None:
    landed = b"start\na telling line\nanother one\nend\n"
    assert landed_and_kept(ADDS, landed, [b"other start\na telling line\nanother one\nother end\n"])
    assert not landed_and_kept(ADDS, landed, [b"start\na telling line\nbetween\nanother one\nend\n"])


def test_one_of_two_copies_taken_away_is_a_change_taken_back() -> None:
    twice = b"start\na telling line\nanother one\nend\na telling line\nanother one\n"
    assert not landed_and_kept(ADDS, twice, [b"begin\na telling line\nanother one\n"])


@pytest.mark.parametrize(
    "body",
    [
        (b" a", b"-gone for good", b" b"),  # only removes
        (b" a", b"+}", b" b"),  # adds what stands everywhere
        (b" a", b"+", b"+    )", b" b"),
    ],
)
def test_what_proves_nothing_is_never_taken_for_there(body: tuple[bytes, ...]) -> None:
    landed = b"a\n}\n\n    )\nb\n"
    assert not landed_and_kept(Hunk(1, 1, 1, body), landed, [landed])


def test_a_hunk_that_was_not_there_to_begin_with_proves_nothing() -> None:
    assert not landed_and_kept(FIX, b"def load(path):\n    data = open(path)\n    return data\n", [LANDED])
