"""The versions of a small world, newest first, and what changed between them."""

from regraft.core.history_walk import Moment, moments, states
from regraft.core.objects import Commit, Tree
from regraft.core.patch_history import Change, Line, Touch, Version

A1, A2, B1 = Version("100644", "a1"), Version("100644", "a2"), Version("100755", "b1")


def touch(position: int, *changes: Change) -> Touch:
    return Touch(position, Commit(f"c{position}"), Tree(f"t{position}"), 0, "s", (Commit("p"),), changes)


LINE = Line(
    tuple(Commit(f"c{number}") for number in range(9)),
    (touch(1, Change(b"a", A1, A2)), touch(4, Change(b"b", None, B1)), touch(8, Change(b"a", None, A1))),
    Commit("c9"),
)


def test_each_touch_is_undone_in_turn_down_to_what_stood_before_the_range() -> None:
    seen = [(one.by and one.by.commit, dict(one.view)) for one in moments({b"a": A2, b"b": B1}, LINE)]
    assert seen == [
        ("c1", {b"a": A2, b"b": B1}),
        ("c4", {b"a": A1, b"b": B1}),
        ("c8", {b"a": A1}),
        (None, {}),
    ]


def test_where_history_begins_in_the_range_nothing_stood_before_it() -> None:
    begun = Line(LINE.commits, LINE.touches, None)
    assert [one.by is None for one in moments({b"a": A2, b"b": B1}, begun)] == [False, False, False]


def test_where_history_is_cut_off_the_oldest_version_is_what_stood_there() -> None:
    cut = Line(LINE.commits, LINE.touches[:2], None, cut=True)
    assert [dict(one.view) for one in moments({b"a": A2, b"b": B1}, cut)][-1] == {b"a": A1}


def test_a_range_without_touches_is_one_version() -> None:
    [only] = moments({b"a": A1}, Line((Commit("c0"),), (), Commit("c1")))
    assert only == Moment(None, {b"a": A1})


def test_worlds_that_are_alike_are_judged_once() -> None:
    there_and_back = Line(
        tuple(Commit(f"c{number}") for number in range(4)),
        (touch(0, Change(b"a", A2, A1)), touch(2, Change(b"a", A1, A2))),
        Commit("c4"),
    )
    judged: list[Version] = []

    def judge(moment: Moment) -> str:
        judged.append(moment.view[b"a"])
        return moment.view[b"a"].oid

    found = list(states(moments({b"a": A1}, there_and_back), judge))
    assert [(one.by and one.by.commit, oid) for one, oid in found] == [("c0", "a1"), ("c2", "a2"), (None, "a1")]
    assert judged == [A1, A2]
