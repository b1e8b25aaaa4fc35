"""First-parent history of a set of paths, as one `git log` tells it, and objects by one `git cat-file`."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from regraft.adapters.first_parent import FirstParent
from regraft.adapters.git import Git
from regraft.adapters.object_reader import ObjectReader
from regraft.adapters.object_store import ObjectStore
from regraft.core.objects import Commit, Tree
from regraft.core.patch_history import Version
from regraft.errors import OutsideError

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...
    def commit(self, ref: str, files: dict[str, str] | None = None, *, parent: str | None = None) -> str: ...


Make = Callable[..., Repository]


@pytest.fixture
def git(machine: dict[str, str]) -> Iterator[Git]:
    with Git(machine) as git:
        yield git


def first_parent(git: Git, repository: Repository) -> FirstParent:
    return FirstParent(git, ObjectStore(git, repository.path))


def run(path: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=path, env=ENVIRONMENT, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_what_touched_the_paths_with_all_that_is_said_of_it(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    first = repository.commit("main", {"a": "1", "b": "1"})
    second = repository.commit("main", {"b": "2"})
    third = repository.commit("main", {"a": "3", "d/e": "3"})
    line = first_parent(git, repository).line(Commit(third), [b"a", b"d/e"])
    assert line.commits == (third, second, first)
    assert (line.beyond, line.cut) == (None, False)
    newest, oldest = line.touches
    assert (newest.position, newest.commit, newest.parents, newest.subject) == (0, third, (second,), "m")
    assert newest.tree == repository.git("rev-parse", f"{third}^{{tree}}")
    assert newest.date == int(repository.git("show", "-s", "--format=%ct", third))
    one, three = (repository.git("rev-parse", f"{commit}:a") for commit in (first, third))
    [a, e] = newest.changes
    assert (a.path, a.old, a.new) == (b"a", Version("100644", one), Version("100644", three))
    assert (e.path, e.old) == (b"d/e", None)
    assert (oldest.position, oldest.commit, [change.path for change in oldest.changes]) == (2, first, [b"a"])


def test_a_merge_is_compared_with_its_first_parent(make_repository: Make, git: Git, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run(work, "init", "--quiet")
    run(work, "checkout", "--quiet", "-b", "main")
    for name in ("f", "g"):
        (work / name).write_text("1\n")
    run(work, "add", "-A")
    run(work, "commit", "--quiet", "-m", "begin")
    run(work, "checkout", "--quiet", "-b", "side")
    (work / "f").write_text("2\n")
    run(work, "commit", "--quiet", "-am", "side")
    run(work, "checkout", "--quiet", "main")
    (work / "g").write_text("2\n")
    run(work, "commit", "--quiet", "-am", "main")
    run(work, "merge", "--quiet", "--no-edit", "side")
    tip = Commit(run(work, "rev-parse", "HEAD"))
    line = FirstParent(git, ObjectStore(git, work / ".git")).line(tip, [b"f", b"g"])
    assert [(touch.subject, [change.path for change in touch.changes]) for touch in line.touches] == [
        ("Merge branch 'side'", [b"f"]),
        ("main", [b"g"]),
        ("begin", [b"f", b"g"]),
    ]
    assert len(line.touches[0].parents) == 2


def test_ranges_end_by_number_at_a_commit_or_at_what_is_known(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    commits = [Commit(repository.commit("main", {"f": f"{number}"})) for number in range(6)]
    history, tip = first_parent(git, repository), commits[-1]
    for line in (
        history.line(tip, [b"f"], last=2),
        history.line(tip, [b"f"], since=commits[3]),
        history.line(tip, [b"f"], known=[commits[0], commits[3]]),
    ):
        assert (line.commits, len(line.touches), line.beyond) == ((commits[5], commits[4]), 2, commits[3])
    assert history.line(tip, [b"f"], known=[tip]).commits == ()
    assert history.line(tip, [b"f"], last=99).beyond is None


def test_hostile_paths_and_subjects_are_data(git: Git, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run(work, "init", "--quiet")
    names = [":100644 x", "a\nb", "--output=x", ":(glob)*", "ü"]
    for name in names:
        (work / name).write_text("1\n")
    run(work, "add", "-A")
    run(work, "commit", "--quiet", "-m", ":100644 100644 \x1b[31mred\x07\nsecond line")
    run(work, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    tip = Commit(run(work, "rev-parse", "HEAD"))
    store = ObjectStore(git, work / ".git")
    [touch] = FirstParent(git, store).line(tip, [name.encode() for name in names]).touches
    assert {change.path for change in touch.changes} == {name.encode() for name in names}
    assert touch.subject == ":100644 100644 \\x1b[31mred\\x07 second line"
    with ObjectReader.over(git, store) as reader:
        tree = reader.commit(tip).tree
        assert set(reader.versions(tree, [name.encode() for name in names])) == {name.encode() for name in names}
        assert {entry.path for entry in reader.listing(tree)} == {name.encode() for name in names}


def test_what_stands_above_or_below_a_path_counts_as_well(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    repository.commit("main", {"x": "1"})
    above = repository.commit("main", {"a": "a file where a folder is wanted"})
    line = first_parent(git, repository).line(Commit(above), [b"a/b/c"])
    assert [touch.commit for touch in line.touches] == [above]
    below = repository.commit("main", {"x/y/z": "a folder where a file is wanted"})
    line = first_parent(git, repository).line(Commit(below), [b"x"], last=1)
    assert {change.path for change in line.touches[0].changes} == {b"x", b"x/y/z"}


def test_a_file_that_holds_a_wanted_blob_counts_wherever_it_is(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    repository.commit("main", {"a": "1"})
    moved = repository.commit("main", {"elsewhere/b": "wanted"})
    oid = repository.git("rev-parse", f"{moved}:elsewhere/b")
    for name in (oid, oid[:9]):
        line = first_parent(git, repository).line(Commit(moved), [b"none"], oids=[name])
        assert [change.path for touch in line.touches for change in touch.changes] == [b"elsewhere/b"]


def test_a_commit_that_is_not_here_is_an_error(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    repository.commit("main")
    with pytest.raises(OutsideError):
        first_parent(git, repository).line(Commit("1" * 40), [b"a"])


def test_renames_of_many_pairs_come_from_one_process(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    text = "".join(f"line {number}\n" for number in range(20))
    first = repository.commit("main", {"old": text})
    stream = f"commit refs/heads/main\ncommitter A <a@b> 1 +0000\ndata 1\nm\nfrom {first}\nD old\nM 100644 inline new\ndata {len(text)}\n{text}\n"
    repository.git("fast-import", "--quiet", "--force", stdin=stream.encode())
    second = repository.git("rev-parse", "main")
    trees = [Tree(repository.git("rev-parse", f"{commit}^{{tree}}")) for commit in (first, second)]
    found = first_parent(git, repository).renames([(trees[0], trees[1]), (trees[1], trees[0]), (trees[0], trees[0])])
    assert [[(one.old, one.new, one.similarity) for one in some] for some in found.values()] == [
        [(b"old", b"new", 100)],
        [(b"new", b"old", 100)],
        [],
    ]
    assert first_parent(git, repository).renames([]) == {}


def test_objects_are_read_by_name_and_missing_ones_are_none(make_repository: Make, git: Git) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main", {"d/f": "text\n", "big": "x" * 200_000}))
    oid = repository.git("rev-parse", f"{commit}:d/f")
    with ObjectReader.over(git, ObjectStore(git, repository.path)) as reader:
        assert reader.commit(commit).subject == "m"
        assert reader.blob(oid) == b"text\n"
        assert reader.blob_named(oid[:8]) == b"text\n"
        assert reader.blob_named(oid) == b"text\n"
        assert reader.blob("1" * 40) is None
        assert reader.find(Commit("1" * 40)) is None
        tree = reader.commit(commit).tree
        assert reader.version(tree, b"d/f") == Version("100644", oid)
        assert [reader.version(tree, path) for path in (b"d", b"d/x", b"big/x", b"no/f")] == [None] * 4
        assert reader.folder(tree, b"d") == repository.git("rev-parse", f"{commit}:d")
        assert reader.folder(tree, b"big") is None
        big = repository.git("rev-parse", f"{commit}:big")
        names = [big, oid, "1" * 40] * 60  # more than two pipes hold
        assert [len(data or b"") for _, data in reader.each(names)] == [200_000, 5, 0] * 60
        with pytest.raises(OutsideError) as caught:
            reader.blob(tree)
        assert caught.value.code == "not-that-kind"
