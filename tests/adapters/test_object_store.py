"""Objects read without a checkout, without a repository's configuration, and without fetching anything by itself."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.core.objects import Blob, Commit, parse_blob, parse_tree
from regraft.errors import OutsideError

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C",
}
ABSENT = Blob("1" * 40)
PATCH = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n"


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...
    def commit(self, ref: str, files: dict[str, str] | None = None, *, parent: str | None = None) -> str: ...
    def tree(self, commit: str) -> str: ...


class MakeRepository(Protocol):
    def __call__(self, name: str = ...) -> Repository: ...


@pytest.fixture
def git(machine: dict[str, str]) -> Iterator[Git]:
    with Git(machine) as git:
        yield git


def run(path: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=path, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def test_a_tree_is_listed_with_modes_kinds_and_bytes_of_names(tmp_path: Path, git: Git) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run(work, "init", "--quiet")
    (work / "d").mkdir()
    (work / "d" / "ü\n").write_bytes(b"x")
    (work / "run").write_bytes(b"#!")
    (work / "run").chmod(0o755)
    (work / "l").symlink_to("d")
    run(work, "add", "--all")
    run(work, "update-index", "--add", "--cacheinfo", f"160000,{'2' * 40},s")
    tree = parse_tree(run(work, "write-tree"))
    store = ObjectStore(git, work / ".git")
    listed = [(entry.mode, entry.kind, entry.path) for entry in store.list_tree(tree)]
    assert listed == [
        ("100644", "blob", "d/ü\n".encode()),
        ("120000", "blob", b"l"),
        ("100755", "blob", b"run"),
        ("160000", "commit", b"s"),
    ]
    assert store.list_tree(tree)[0].name == "d/ü\n"
    assert store.list_tree(tree)[3].oid == "2" * 40


def test_blobs_are_found_by_the_beginning_of_their_name(make_repository: MakeRepository, git: Git) -> None:
    repository = make_repository()
    commit = repository.commit("main", {"f": "one\n", "g": "a longer text\n"})
    short, long = (repository.git("rev-parse", f"{commit}:{name}") for name in ("f", "g"))
    store = ObjectStore(git, repository.path)
    assert store.find_blobs([short[:9], long, ABSENT, "1234567", commit]) == {
        short[:9]: b"one\n",
        long: b"a longer text\n",
    }
    assert store.find_blobs([short, long[:9]], 5) == {short: b"one\n"}
    assert store.find_blobs([]) == {}


def test_blobs_are_read_within_a_limit(make_repository: MakeRepository, git: Git) -> None:
    repository = make_repository()
    commit = repository.commit("main", {"a": "one\n", "b": "two\n\n", "empty": ""})
    a, b, empty = (parse_blob(repository.git("rev-parse", f"{commit}:{name}")) for name in ("a", "b", "empty"))
    store = ObjectStore(git, repository.path)
    assert store.read_blob(a, 4) == b"one\n"
    assert store.read_blobs([b, a, b, empty]) == {b: b"two\n\n", a: b"one\n", empty: b""}
    assert store.read_blobs([]) == {}
    assert store.missing([a, ABSENT, b, ABSENT]) == (ABSENT,)
    assert store.missing([]) == ()
    with pytest.raises(OutsideError) as caught:
        store.read_blob(b, 4)
    assert caught.value.code == "too-large"
    with pytest.raises(OutsideError) as caught:
        store.read_blob(ABSENT, 4)
    assert caught.value.code == "missing-objects"


def test_a_commit_that_is_none_is_told_from_one_that_is_missing(make_repository: MakeRepository, git: Git) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main"))
    store = ObjectStore(git, repository.path)
    assert store.commit_tree(commit) == repository.tree(commit)
    for name, code in ((repository.tree(commit), "not-a-commit"), ("3" * 40, "missing-objects")):
        with pytest.raises(OutsideError) as caught:
            store.commit_tree(Commit(name))
        assert caught.value.code == code


def test_what_a_filter_left_out_is_an_error_and_not_fetched(
    make_repository: MakeRepository, git: Git, tmp_path: Path
) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main", {"f": "one\n"}))
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "clone.git"
    run(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{repository.path}", str(clone))
    assert run(clone, "config", "remote.origin.promisor") == "true"  # git would fetch by itself in there
    store = ObjectStore(git, clone)
    [entry] = store.list_tree(store.commit_tree(commit))
    blob = Blob(entry.oid)
    assert store.missing([blob]) == (blob,)
    with pytest.raises(OutsideError) as caught:
        store.read_blob(blob, 100)
    assert caught.value.code == "missing-objects"
    with pytest.raises(OutsideError) as caught:
        store.read_tree(commit).apply(PATCH)
    assert caught.value.code == "missing-objects"
    run(clone, "fetch", "--quiet", "origin", blob)  # what comes later is seen
    assert store.missing([blob]) == ()
    assert store.read_tree(commit).apply(PATCH).verdict == "fits"


def test_missing_trees_are_an_error(make_repository: MakeRepository, git: Git, tmp_path: Path) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main", {"d/f": "one\n"}))
    clone = tmp_path / "clone.git"
    run(tmp_path, "clone", "--quiet", "--bare", "--filter=tree:0", f"file://{repository.path}", str(clone))
    store = ObjectStore(git, clone)
    for call in (lambda: store.commit_tree(commit), lambda: store.read_tree(commit)):
        with pytest.raises(OutsideError) as caught:
            call()
        assert caught.value.code == "missing-objects"


def test_an_index_takes_a_patch_whole_or_not_at_all(make_repository: MakeRepository, git: Git) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main", {"f": "one\n", "g": "one\n"}))
    both = PATCH + PATCH.replace(b"/f", b"/g").replace(b"-one", b"-other")
    store = ObjectStore(git, repository.path)
    index = store.read_tree(commit)
    assert index.write_tree() == repository.tree(commit)
    failed = index.apply(both)
    assert (failed.verdict, failed.message) == ("fails", "patch failed: g:1")
    assert index.write_tree() == repository.tree(commit)
    assert index.apply(PATCH).verdict == "fits"
    changed = index.write_tree()
    assert [entry.path for entry in index.entries()] == [b"f", b"g"]
    assert store.read_blob(Blob(index.entries()[0].oid), 10) == b"two\n"
    assert index.apply(b"rubbish\n").verdict == "unreadable"
    assert store.changed_paths(commit, changed, ["*"]) == ("f",)
    assert store.read_tree(commit).write_tree() == repository.tree(commit)  # each index is its own


def test_the_paths_of_a_patch_are_gits(make_repository: MakeRepository, git: Git) -> None:
    rename = b"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"
    store = ObjectStore(git, make_repository().path)
    assert store.numstat(PATCH + rename).paths == (b"f", b"new")
    assert "No valid patches" in (store.numstat(b"x\n").complaint or "")


def test_changed_paths_follow_the_manifests_patterns(make_repository: MakeRepository, git: Git) -> None:
    repository = make_repository()
    old = {"kernel/a.cu": "1", "kernel/sub/b.cu": "1", "python/c.py": "1", "same.cu": "1"}
    first = Commit(repository.commit("main", old))
    second = Commit(repository.commit("main", {name: "2" for name in old if name != "same.cu"}))
    store = ObjectStore(git, repository.path)
    assert store.changed_paths(first, second, ["kernel/**"]) == ("kernel/a.cu", "kernel/sub/b.cu")
    assert store.changed_paths(first, second, ["kernel/*", "python/*.py"]) == ("kernel/a.cu", "python/c.py")
    assert store.changed_paths(first, second, ["**/*.cu"]) == ("kernel/a.cu", "kernel/sub/b.cu")
    assert store.changed_paths(first, second, ["-O/x", "--output=/tmp/x"]) == ()
    assert store.changed_paths(first, second, []) == ()


def test_ancestors_as_far_as_the_history_is_here(make_repository: MakeRepository, git: Git, tmp_path: Path) -> None:
    repository = make_repository()
    first = Commit(repository.commit("main"))
    second = Commit(repository.commit("main"))
    store = ObjectStore(git, repository.path)
    assert store.is_ancestor(first, second)
    assert not store.is_ancestor(second, first)
    shallow = tmp_path / "shallow.git"
    run(tmp_path, "clone", "--quiet", "--bare", "--depth=1", f"file://{repository.path}", str(shallow))
    with pytest.raises(OutsideError) as caught:
        ObjectStore(git, shallow).is_ancestor(first, second)
    assert caught.value.code == "missing-objects"


def test_a_shallow_repository_that_gets_deeper_is_followed(
    make_repository: MakeRepository, git: Git, tmp_path: Path
) -> None:
    repository = make_repository()
    first = Commit(repository.commit("main"))
    second = Commit(repository.commit("main"))
    third = Commit(repository.commit("main"))
    shallow = tmp_path / "shallow.git"
    run(tmp_path, "clone", "--quiet", "--bare", "--depth=2", f"file://{repository.path}", str(shallow))
    store = ObjectStore(git, shallow)
    assert store.is_ancestor(second, third)
    run(shallow, "fetch", "--quiet", "--unshallow", "origin", "main")
    assert store.is_ancestor(first, third)


def test_the_objects_of_a_checkout_are_borrowed_and_its_configuration_is_not(
    make_repository: MakeRepository, git: Git, tmp_path: Path
) -> None:
    repository = make_repository()
    commit = Commit(repository.commit("main", {"f": "one\n"}))
    work = tmp_path / 'a "quoted"\n#name'
    run(tmp_path, "clone", "--quiet", "--shared", str(repository.path), str(work))
    witness = tmp_path / "executed"
    for key in ("core.fsmonitor", "core.sshCommand", "apply.whitespace"):
        run(work, "config", key, f"touch {witness}; error-all" if key != "apply.whitespace" else "error-all")
    store = ObjectStore.over(git, [work / ".git" / "objects"])
    index = store.read_tree(commit)
    assert index.apply(PATCH.replace(b"+two", b"+two  ")).verdict == "fits"
    assert run(work, "-c", "core.fsmonitor=", "status", "--porcelain") == ""
    (work / ".git" / "config").write_text("[core\n")
    assert store.commit_tree(commit) == repository.tree(commit)
    assert not witness.exists()


def test_several_folders_of_objects_are_one_store(make_repository: MakeRepository, git: Git) -> None:
    one, two = make_repository("o/one"), make_repository("o/two")
    commits = [Commit(one.commit("main", {"f": "1"})), Commit(two.commit("main", {"g": "2"}))]
    store = ObjectStore.over(git, [one.path / "objects", two.path / "objects"])
    assert [store.commit_tree(commit) for commit in commits] == [one.tree(commits[0]), two.tree(commits[1])]


def test_a_sha256_repository_is_read(git: Git, tmp_path: Path) -> None:
    if git.version() < (2, 29):
        pytest.skip("git makes no sha256 repositories before 2.29")
    work = tmp_path / "work"
    run(tmp_path, "init", "--quiet", "--object-format=sha256", str(work))
    (work / "f").write_bytes(b"one\n")
    run(work, "add", "f")
    run(work, "commit", "--quiet", "--message=m")
    commit = Commit(run(work, "rev-parse", "HEAD"))
    assert len(commit) == 64
    store = ObjectStore.over(git, [work / ".git" / "objects"])
    index = store.read_tree(commit)
    assert index.apply(PATCH).verdict == "fits"
    assert len(index.write_tree()) == 64
    run(work, "gc", "--quiet")
    assert ObjectStore.over(git, [work / ".git" / "objects"]).commit_tree(commit) == run(
        work, "rev-parse", "HEAD^{tree}"
    )


def test_sha1_and_sha256_together_are_refused_by_name(
    make_repository: MakeRepository, git: Git, tmp_path: Path
) -> None:
    repository = make_repository()
    repository.commit("main")
    other = tmp_path / "objects"
    (other / "ab").mkdir(parents=True)
    (other / "ab" / ("c" * 62)).write_bytes(b"")
    with pytest.raises(OutsideError) as caught:
        ObjectStore.over(git, [repository.path / "objects", other]).missing([ABSENT])
    assert caught.value.code == "object-format"


def test_a_folder_of_objects_that_is_not_there_is_said(git: Git, tmp_path: Path) -> None:
    with pytest.raises(OutsideError) as caught:
        ObjectStore(git, tmp_path / "nowhere").missing([ABSENT])
    assert caught.value.code == "missing-objects"
    assert "nowhere" in caught.value.message


def test_a_text_in_gits_configuration_format_is_split_by_git(
    make_repository: MakeRepository, git: Git, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text('[submodule "x"]\n\tpath = leaked\n')
    text = f'[include]\n\tpath = {secret}\n[submodule "a.b"]\n\tpath = "x\\ty"\n\tURL = u\n\tflag\n'.encode()
    store = ObjectStore(git, make_repository().path)
    assert store.config_list(text) == (
        ("include.path", str(secret)),
        ("submodule.a.b.path", "x\ty"),
        ("submodule.a.b.url", "u"),
        ("submodule.a.b.flag", ""),
    )
    said = store.config_list(b"[broken\n")
    assert isinstance(said, str)
    assert "the file" in said
