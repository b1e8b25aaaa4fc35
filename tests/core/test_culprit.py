"""Through merges to the commit that made a change: on worlds of a few letters, without git."""

from dataclasses import dataclass, field

import pytest

from regraft.core.culprit import descend, likely_moved, rewritten, side_line
from regraft.core.objects import Commit, Tree
from regraft.core.patch_history import Renamed, Version, View
from regraft.core.patch_text import Hunk

PATH = b"f"


@dataclass
class Fake:
    commit: Commit
    tree: Tree
    parents: tuple[Commit, ...]
    date: int


@dataclass
class Graph:
    """`add("c", "text", "b")`: commit c with that content of the file, after b. Its tree is named like its content."""

    commits: dict[str, Fake] = field(default_factory=dict)

    def add(self, name: str, content: str, *parents: str, date: int | None = None) -> None:
        when = len(self.commits) if date is None else date
        self.commits[name] = Fake(Commit(name), Tree(content), tuple(map(Commit, parents)), when)

    def find(self, oid: Commit) -> Fake | None:
        return self.commits.get(oid)

    def version(self, tree: Tree, path: bytes) -> Version | None:
        return Version("100644", tree) if tree and path == PATH else None


def fits(view: View) -> str:
    """ "good" where the content begins with g, "gone" without one, else "bad"."""
    found = view.get(PATH)
    return "gone" if found is None else "good" if found.oid.startswith("g") else "bad"


def who(graph: Graph, commit: str) -> str:
    return descend(Commit(commit), [PATH], fits, graph)


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    for name, content, *parents in (("root", "g1"), ("main1", "g1", "root"), ("main2", "g1", "main1")):
        graph.add(name, content, *parents)
    return graph


def test_a_plain_commit_made_it_itself(graph: Graph) -> None:
    graph.add("c", "bad", "main2")
    assert who(graph, "c") == "c"


def test_the_commit_of_the_side_branch_after_which_it_did_not_fit(graph: Graph) -> None:
    graph.add("s1", "g2", "main1")
    graph.add("s2", "bad", "s1")
    graph.add("s3", "bad2", "s2")
    graph.add("merge", "bad2", "main2", "s3")
    assert who(graph, "merge") == "s2"


def test_both_sides_edited_the_file_and_one_of_them_broke_it(graph: Graph) -> None:
    graph.add("main3", "g3", "main2")
    graph.add("s1", "bad", "main1")
    graph.add("merge", "bad of both", "main3", "s1")
    assert who(graph, "merge") == "s1"


def test_a_deletion_two_merges_deep(graph: Graph) -> None:
    graph.add("deep", "", "main1")
    graph.add("side", "g1", "main1")
    graph.add("inner", "", "side", "deep")
    graph.add("merge", "", "main2", "inner")
    assert who(graph, "merge") == "deep"


def test_an_octopus_is_followed_to_the_side_that_did_it(graph: Graph) -> None:
    graph.add("innocent", "g1", "main1")
    graph.add("guilty", "bad", "main1")
    graph.add("merge", "bad", "main2", "innocent", "guilty")
    assert who(graph, "merge") == "guilty"


def test_an_evil_merge_did_it_itself(graph: Graph) -> None:
    graph.add("side", "g2", "main1")
    graph.add("merge", "bad", "main2", "side")
    assert who(graph, "merge") == "merge"


def test_a_merge_that_takes_an_old_side_over_the_main_line_did_it_itself() -> None:
    graph = Graph()
    graph.add("root", "bad")
    graph.add("main1", "good", "root")
    graph.add("side", "bad", "root")  # never touched it
    graph.add("merge", "bad", "main1", "side")  # as `merge -s theirs` would
    assert who(graph, "merge") == "merge"


def test_a_side_that_was_merged_before_counts_from_there(graph: Graph) -> None:
    graph.add("d1", "g1", "main1")
    graph.add("m1", "g1", "main2", "d1")
    graph.add("d2", "bad", "d1")
    graph.add("m2", "bad", "m1", "d2")
    line = side_line(Commit("d2"), Commit("m1"), graph)
    assert line is not None
    assert [one.commit for one in line] == ["d2", "d1"]
    assert who(graph, "m2") == "d2"


@pytest.mark.parametrize("date", [0, 100])
def test_clocks_that_are_wrong_do_not_matter(graph: Graph, date: int) -> None:
    graph.add("s1", "bad", "main1", date=date)
    graph.add("s2", "bad", "s1", date=date)
    graph.add("merge", "bad", "main2", "s2")
    assert who(graph, "merge") == "s1"


def test_where_history_is_cut_off_the_merge_is_named(graph: Graph) -> None:
    graph.add("s2", "bad", "not here")
    graph.add("merge", "bad", "main2", "s2")
    assert who(graph, "merge") == "merge"


OLD = b"".join(b"line %d\n" % number for number in range(1, 11))


@pytest.mark.parametrize(
    ("new", "near", "lines"),
    [
        (OLD.replace(b"line 4\n", b"other\n"), None, (4, 4)),
        (OLD.replace(b"line 4\nline 5\n", b""), None, (4, 5)),
        (OLD.replace(b"line 4\n", b"line 4\nmore\n"), None, (5, 5)),
        (OLD.replace(b"line 2\n", b"x\n").replace(b"line 9\n", b"y\n"), (8, 10), (9, 9)),
        (OLD.replace(b"line 2\n", b"x\n").replace(b"line 9\n", b"y\n"), None, (2, 9)),
        (OLD.replace(b"line 2\n", b"x\n"), (8, 10), (2, 2)),
        (OLD, None, None),
    ],
)
def test_the_lines_that_were_rewritten(new: bytes, near: tuple[int, int] | None, lines: tuple[int, int] | None) -> None:
    assert rewritten(OLD, new, near) == lines


def test_a_faint_likeness_is_believed_for_the_same_name_or_the_patch_s_own_lines() -> None:
    hunk = Hunk(1, 1, 1, (b" def alpha():", b"-    return beta", b"+    return gamma"))
    content = b"import os\n\ndef alpha():\n        return beta\n"
    assert likely_moved(Renamed(b"a/x.py", b"b/x.py", 31), [hunk], b"")
    assert likely_moved(Renamed(b"a/x.py", b"b/y.py", 31), [hunk], content)
    assert not likely_moved(Renamed(b"a/x.py", b"b/y.py", 31), [hunk], b"nothing of it\n")
    assert likely_moved(Renamed(b"a/x.py", b"b/y.py", 50), [hunk], b"nothing of it\n")
