"""How two looks at the same paths are compared, and how paths are written down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regraft.core.tree_record import (
    SLACK_NS,
    Change,
    Entry,
    Record,
    changes,
    clean,
    difference,
    escape,
    is_at_or_below,
    is_untouched,
    parents,
    unescape,
    without_inner,
)

NOW = 1_700_000_000_000_000_000
LONG_AGO = NOW - 60_000_000_000
FILE = Entry("/a/f", "file", 0o644, 0, 0, 3, LONG_AGO, LONG_AGO, 7, 1, None, "aa")
FOLDER = Entry("/a", "folder", 0o755, 0, 0, 0, LONG_AGO, LONG_AGO, 6, 1, None, None)
LINK = Entry("/a/l", "link", 0o777, 0, 0, 0, LONG_AGO, LONG_AGO, 8, 1, "f", None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (FILE, FILE, None),
        (FILE, FILE._replace(sha256=None), None),
        (FILE, FILE._replace(size=4), "content"),
        (FILE, FILE._replace(ctime_ns=NOW, sha256="bb"), "content"),
        (FILE, FILE._replace(ctime_ns=NOW, sha256="aa"), None),
        (FILE, FILE._replace(ctime_ns=NOW, sha256=None), "touched"),
        (FILE._replace(sha256=None), FILE._replace(ctime_ns=NOW), "touched"),
        (FILE, FILE._replace(inode=9, sha256="bb"), "content"),
        (FILE, FILE._replace(device=2, sha256="bb"), "content"),
        (FILE, FILE._replace(mode=0o755), "mode"),
        (FILE, FILE._replace(uid=1), "owner"),
        (FILE, FILE._replace(gid=1), "owner"),
        (FILE, FILE._replace(kind="link", target="x"), "type"),
        (FOLDER, FOLDER._replace(mtime_ns=NOW, ctime_ns=NOW, inode=99), None),
        (FOLDER, FOLDER._replace(mode=0o700), "mode"),
        (LINK, LINK._replace(target="g"), "target"),
        (LINK, LINK._replace(ctime_ns=NOW, inode=99), None),
        (LINK, LINK._replace(mode=0o700), None),
    ],
)
def test_what_counts_as_a_difference(old: Entry, new: Entry, expected: str | None) -> None:
    assert difference(old, new, NOW) == expected


@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns"])
@pytest.mark.parametrize("time", [NOW - SLACK_NS, NOW, NOW + 3_600_000_000_000])
def test_a_stat_proves_nothing_where_the_file_was_just_written_or_the_clock_is_wrong(field: str, time: int) -> None:
    young = FILE._replace(**{field: time})
    assert not is_untouched(young, young, NOW)
    assert difference(young, young._replace(sha256="bb"), NOW) == "content"


def test_a_stat_proves_a_file_that_was_left_alone_since_long() -> None:
    assert is_untouched(FILE, FILE, NOW)


def test_changes_name_what_came_what_went_and_what_differs() -> None:
    before = Record({one.path: one for one in (FOLDER, FILE, LINK)}, NOW)
    new = FILE._replace(path="/a/n")
    after = Record({one.path: one for one in (FOLDER._replace(mode=0o700), LINK, new)}, NOW)
    assert changes(before, after) == (Change("/a", "mode"), Change("/a/f", "gone"), Change("/a/n", "new"))
    assert changes(before, before) == ()


@given(st.binary(max_size=40))
def test_any_bytes_can_be_written_down(data: bytes) -> None:
    path = data.decode("utf-8", "surrogateescape")
    written = escape(path)
    written.encode("utf-8")
    assert unescape(written) == path


@pytest.mark.parametrize("text", ["%", "%4", "%41", "%ff", "%GG", "a%"])
def test_text_that_no_path_has_as_its_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="escaped form"):
        unescape(text)


def test_a_path_is_clean_for_people() -> None:
    assert clean("/a/\udcff") == "/a/\\xff"


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [("/a", "/a", True), ("/a/b", "/a", True), ("/ab", "/a", False), ("/a", "/a/b", False), ("/a", "/", True)],
)
def test_below_is_not_the_same_beginning(path: str, folder: str, expected: bool) -> None:
    assert is_at_or_below(path, folder) is expected


def test_parents_end_before_the_root() -> None:
    assert list(parents("/a/b/c")) == ["/a/b", "/a"]


def test_paths_below_others_are_dropped() -> None:
    assert without_inner(["/a/b", "/a", "/ab", "/a", "/c/d"]) == ("/a", "/ab", "/c/d")
