"""A change that came in once, and is proved to be there still although its surroundings moved on."""

from collections.abc import Iterable

import pytest

from regraft.core.landed import followed, mark
from regraft.core.patch_text import Hunk

FIX = Hunk(
    1, 1, 1, (b" def load(path):", b"-    data = open(path)", b"+    data = open(path, 'rb')", b"     return data")
)
ADDS = Hunk(1, 1, 1, (b" start", b"+a telling line", b"+another one", b" end"))
LANDED = b"def load(path):\n    data = open(path, 'rb')\n    return data\n"


def landed_and_kept(hunk: Hunk, landed: bytes, later: Iterable[bytes | None]) -> bool:
    """Whether a hunk that was wholly there in `landed` is there in each of the `later` versions too."""
    found = mark(hunk, landed)
    for content in later:
        found = followed(found, content) if found is not None else None
    return found is not None


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


def test_of_two_equal_pairs_in_a_row_nobody_can_say_whose_was_taken_away() -> None:
    """A difference shows the second pair as the one that went, whichever it was; the line after them was edited as well."""
    pair = b"    check(x)\n    log(x)\n"
    fix = Hunk(
        1, 1, 1, (b" def f(x):", b"+    check(x)", b"+    log(x)", b"     check(x)", b"     log(x)", b"     return x")
    )
    landed = b"def f(x):\n" + 2 * pair + b"    return x\n"
    assert landed_and_kept(fix, landed, [landed.replace(b"return x", b"return y")])
    assert not landed_and_kept(fix, landed, [b"def f(x):\n" + pair + b"    return y\n"])


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


HEAD = b"".join(b"# head %d\n" % number for number in range(8))
F = b"def f(x):\n    value = load(x)\n    final = use(value)\n    return final\n"
G = b"def g(x):\n    other = read(x)\n    taken = take(other)\n    return taken\n"
CHECK = Hunk(1, 9, 9, (b" def f(x):", b"     value = load(x)", b"+    check(value)", b"     final = use(value)"))


def test_a_line_taken_out_of_one_function_and_put_into_another_was_taken_back() -> None:
    def file(f: bytes, g: bytes) -> bytes:
        return HEAD + f + HEAD + g + HEAD

    checked = F.replace(b"    final", b"    check(value)\n    final")
    landed = file(checked, G)
    moved_on = checked.replace(b"use(value)", b"use(value, 1)")
    assert landed_and_kept(CHECK, landed, [file(moved_on, G)])
    elsewhere = file(
        F.replace(b"use(value)", b"use(value, 1)"), G.replace(b"    taken", b"    check(value)\n    taken")
    )
    assert not landed_and_kept(CHECK, landed, [elsewhere])
    both = file(moved_on, G.replace(b"    taken", b"    check(value)\n    taken"))
    assert landed_and_kept(CHECK, landed, [both])
    assert not landed_and_kept(CHECK, landed, [both, elsewhere])


def test_what_may_have_come_in_at_two_places_is_not_followed() -> None:
    once = b"start\na telling line\nanother one\nend\n"
    assert landed_and_kept(ADDS, once, [once + b"more\n"])
    assert not landed_and_kept(Hunk(1, 5, 5, ADDS.body), b"top\n" + once * 2, [b"top\n" + once * 2])


def test_a_lone_line_that_all_its_neighbours_left_may_be_another_functions() -> None:
    """Both functions were rewritten at once, and the only line that is the same stands in the other one now."""
    landed = HEAD + F.replace(b"    final", b"    check(value)\n    final") + G
    rewritten = b"def g(y, log):\n    value = get(y)\n    check(value)\n    log(value)\n    return value, log\n"
    assert not landed_and_kept(CHECK, landed, [HEAD + rewritten])


def test_lines_that_stand_in_another_function_after_theirs_was_rewritten_were_taken_back() -> None:
    """A difference keeps two lines that both functions have, whichever function they are in now."""
    landed = HEAD + F.replace(b"    final", b"    check(value)\n    final")
    other = b"def h(x):\n    value = load(x)\n    check(value)\n    return value\n"
    assert not landed_and_kept(CHECK, landed, [HEAD + b"def f(x):\n    return 1\n\n\n" + other])
    renamed = landed.replace(b"def f(x)", b"def f(x, log)").replace(b"use(value)", b"use(value, log)")
    assert landed_and_kept(CHECK, landed, [renamed])
