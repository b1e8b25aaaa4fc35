"""What of a tree may be written: hosts take names apart in more ways than one."""

import pytest

from regraft.core.apply_outcome import state_of, with_state
from regraft.core.apply_tree import links_of, unsafe_paths
from regraft.core.checkout_tree import Entry
from regraft.core.restored import Restored
from regraft.core.trees import EXECUTABLE, FILE, LINK, SUBMODULE
from regraft.errors import InputError, MistakesError, OutsideError, RefusedError, RegraftError, StoppedError

HASH = "1" * 40


@pytest.mark.parametrize(
    "path",
    ["../a", "a/../b", "/etc/passwd", "a//b", "./a", ".git/config", "a/.git/hooks/x", "a/.GIT/x", ".git./x", "git~1/x", "a/.git:x"],
)  # fmt: skip
def test_a_path_that_leads_out_or_into_a_repository_is_unsafe(path: str) -> None:
    assert unsafe_paths({"fine.py": Entry(FILE, HASH), path: Entry(FILE, HASH)}) == (path,)


@pytest.mark.parametrize("path", ["a/..b", ".gitignore", ".github/x", "git", "new\nline", "a\udcffb", "-x", "...", " "])
def test_an_odd_name_that_stays_inside_is_a_name(path: str) -> None:
    assert unsafe_paths({path: Entry(FILE, HASH)}) == ()


def test_only_files_links_and_submodules_are_written() -> None:
    modes = {mode: Entry(mode, HASH) for mode in (FILE, EXECUTABLE, LINK, SUBMODULE, "040000", "100664")}
    assert unsafe_paths(modes) == ("040000", "100664")


def test_a_submodule_moves_where_the_machine_has_another_commit_or_none() -> None:
    expected = {"a": Entry(SUBMODULE, HASH), "b": Entry(SUBMODULE, HASH), "f": Entry(FILE, HASH)}
    found = links_of(expected, {"a": Entry(SUBMODULE, HASH)})
    assert [(one.path, one.moved) for one in found] == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    ("restored", "outcome", "words"),
    [
        (Restored("nothing"), "rolled-back", "nothing was changed"),
        (Restored("unchanged"), "rolled-back", "nothing was changed"),
        (Restored("given-back"), "rolled-back", "given back: the machine is at its baseline"),
        (Restored("no-snapshot"), "changed", "THE MACHINE IS CHANGED, and not given back (--no-snapshot)"),
        (Restored("incomplete", named=("/a", "/b")), "changed", "this could not be given back: /a; /b"),
    ],
)
def test_each_end_of_a_roll_back_is_one_state(restored: Restored, outcome: str, words: str) -> None:
    found = state_of(restored)
    assert found[0] == outcome
    assert words in found[1]


@pytest.mark.parametrize("kind", [RefusedError, InputError, OutsideError, StoppedError])
def test_an_error_stays_what_it_is_and_says_the_state(kind: type[RegraftError]) -> None:
    error = with_state(kind("code", "it failed", where="here", hint="do"), "rolled-back", "nothing was changed")
    assert type(error) is kind
    assert (error.code, error.where, error.hint) == ("code", "here", "do")
    assert error.message == "it failed. Nothing was changed"
    assert error.outcome == "rolled-back"


def test_of_several_mistakes_the_last_one_says_the_state() -> None:
    error = with_state(MistakesError([InputError("a", "one"), InputError("b", "two")]), "changed", "it is changed")
    assert isinstance(error, MistakesError)
    assert [(one.code, one.message) for one in error.mistakes] == [("a", "one"), ("b", "two. It is changed")]
    assert error.outcome == "changed"
