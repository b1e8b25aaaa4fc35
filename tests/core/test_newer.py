"""What counts as work that is newer than an apply, and which of it is an edit of a tracked file."""

import pytest

from regraft.core.journal import Subject
from regraft.core.newer import candidates, edits, newer
from regraft.core.observation import Checkout
from regraft.core.tree_record import Change, Entry, Record

ROOT = "/src/lib"
FILE = Entry(f"{ROOT}/f", "file", 0o644, 0, 0, 3, 1, 1, 7, 1, None, "aa")
FOLDER = Entry(f"{ROOT}/d", "folder", 0o755, 0, 0, 0, 1, 1, 6, 1, None, None)


def record(*entries: Entry) -> Record:
    return Record({one.path: one for one in entries}, 10**18)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (FILE, FILE._replace(ctime_ns=2, sha256="bb"), "content"),
        (FILE, FILE._replace(ctime_ns=2), None),
        (FILE, FILE._replace(mode=0o755), "mode"),
        (FILE, FILE._replace(mode=0o664), None),
        (FILE, FILE._replace(uid=5), None),
        (FILE, None, "gone"),
        (None, FILE, "new"),
        (None, FOLDER, None),
        (FOLDER, None, None),
        (FOLDER, FOLDER._replace(mode=0o700), None),
        (FILE, FOLDER._replace(path=FILE.path), "type"),
    ],
)
def test_a_candidate_is_what_somebody_made(old: Entry | None, new: Entry | None, kind: str | None) -> None:
    found = candidates(record(*([old] if old else [])), record(*([new] if new else [])))
    assert [one.kind for one in found] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("f", True),
        ("index", True),
        (".git/index", False),
        (".git/modules/sub/ORIG_HEAD", False),
        (".git/refs/heads/index-of-things", True),
        ("__pycache__/f.cpython-311.pyc", False),
        (".regraft-0123456789ab-f", False),
        (".regraft-notes", True),
    ],
)
def test_what_nobody_made_does_not_count(path: str, counts: bool) -> None:
    entry = FILE._replace(path=f"{ROOT}/{path}")
    found = newer(record(), record(entry), [Change(entry.path, "new")], [Subject("checkout", ROOT)])
    assert [one.path for one in found] == ([entry.path] if counts else [])


def test_the_index_of_a_repository_elsewhere_does_not_count_either() -> None:
    entry = FILE._replace(path="/store/worktrees/lib/index")
    roots = [Subject("checkout", ROOT), Subject("git-dir", "/store/worktrees/lib")]
    assert list(newer(record(), record(entry), [Change(entry.path, "new")], roots)) == []


@pytest.mark.parametrize(
    ("base", "now", "counts"),
    [(FILE, FILE._replace(ctime_ns=2), False), (None, None, False), (FILE, None, True), (None, FILE, True)],
)
def test_what_is_as_in_the_baseline_is_not_newer(base: Entry | None, now: Entry | None, counts: bool) -> None:
    records = [record(*([one] if one else [])) for one in (base, now)]
    found = [*newer(*records, [Change(FILE.path, "content")], [])]
    assert bool(found) is counts


FOUND = [
    Change("/src/lib", "mode"),
    Change("/src/lib/a.py", "content"),
    Change("/src/lib/b\udcff.py", "gone"),
    Change("/src/lib/notes", "new"),
    Change("/src/lib/built.so", "content"),
    Change("/src/lib/.git/HEAD", "content"),
    Change("/src/library/a.py", "content"),
]


def test_edits_are_of_the_tracked_files_of_that_checkout() -> None:
    checkout = Checkout("lib", "lib", ROOT, "repository", tracked=frozenset({"a.py", "b\\xff.py", "c.py"}))
    assert [(one.path, one.kind) for one in edits(FOUND, checkout)] == [("a.py", "modified"), ("b\\xff.py", "missing")]


def test_without_a_repository_all_that_the_apply_left_counts() -> None:
    found = edits(FOUND, Checkout("lib", "lib", ROOT, "no-repository"))
    assert [one.path for one in found] == ["a.py", "b\\xff.py", "built.so"]
