"""A checkout is what its files are, whatever its repository says of itself."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regraft.adapters.checkout import CheckoutFolders
from regraft.adapters.git import Git
from regraft.adapters.places import Places
from regraft.core.manifest import Image
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.observation import CarriedPatch, Checkout, Extra, Wanted
from regraft.errors import OutsideError

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

PATCH = b"""\
--- a/pkg/core.py
+++ b/pkg/core.py
@@ -1,2 +1,2 @@
 one = 1
-two = 2
+two = 22
"""


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(argv, env=ENV, check=True, capture_output=True, text=True).stdout.strip()


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def commit(folder: Path, files: dict[str, bytes] | None = None, message: str = "c") -> Commit:
    write(folder, files or {})
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return Commit(git(folder, "rev-parse", "HEAD"))


def tree_of(folder: Path, name: str = "HEAD") -> Tree:
    return Tree(git(folder, "rev-parse", f"{name}^{{tree}}"))


FILES = {
    "pkg/__init__.py": b"",
    "pkg/core.py": b"one = 1\ntwo = 2\n",
    "pkg/run.sh": b"#!/bin/sh\n",
    "docs/a.md": b"a\n",
    ".gitignore": b"*.so\nbuild/\n__pycache__/\n",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    write(folder, FILES)
    (folder / "pkg/run.sh").chmod(0o755)
    (folder / "link").symlink_to("docs/a.md")
    commit(folder)
    return folder


@pytest.fixture
def repo(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "repo", symlinks=True))


def sha256(data: bytes) -> Sha256:
    return Sha256(hashlib.sha256(data).hexdigest())


Look = Callable[..., Checkout]


@pytest.fixture
def look(tmp_path: Path) -> Iterator[Look]:
    project = tmp_path / "project"
    project.mkdir()
    with Git(ENV) as program:

        def ask(place: Path, wanted: Wanted | None = None, root: Path | None = None) -> Checkout:
            folders = CheckoutFolders(program, Places(project, root))
            given = wanted or Wanted(Commit(git(place, "rev-parse", "HEAD")), tree_of(place))
            return folders.look("dep", str(place), given)

        yield ask


def kinds(found: Checkout) -> dict[str, str]:
    return {one.path: one.kind for one in found.differences}


def test_an_untouched_checkout_has_the_planned_tree_and_no_differences(repo: Path, look: Look) -> None:
    found = look(repo)
    assert (found.state, found.judged, found.trouble) == ("repository", "entries", None)
    assert found.head == git(repo, "rev-parse", "HEAD")
    assert found.tree == found.head_tree == found.expected == tree_of(repo)
    assert (found.differences, found.extras, found.unfinished, found.shallow) == ((), (), (), False)
    assert found.source_folders == ("pkg",)


def test_an_edit_of_the_same_size_and_time_is_seen(repo: Path, look: Look) -> None:
    path = repo / "pkg/core.py"
    before = path.stat()
    path.write_bytes(b"one = 1\ntwo = 3\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    found = look(repo)
    assert kinds(found) == {"pkg/core.py": "modified"}
    git(repo, "add", "pkg/core.py")
    assert found.tree == git(repo, "write-tree") != found.expected


def test_the_marks_that_hide_edits_from_git_hide_nothing(repo: Path, look: Look) -> None:
    git(repo, "update-index", "--assume-unchanged", "pkg/core.py")
    git(repo, "update-index", "--skip-worktree", "docs/a.md")
    (repo / "pkg/core.py").write_bytes(b"")
    (repo / "docs/a.md").write_bytes(b"")
    assert kinds(look(repo)) == {"docs/a.md": "modified", "pkg/core.py": "modified"}


def test_what_is_lost_or_became_something_else_is_named_by_its_kind(repo: Path, look: Look) -> None:
    (repo / "pkg/run.sh").chmod(0o644)
    (repo / "docs/a.md").unlink()
    (repo / "link").unlink()
    (repo / "link").write_bytes(b"docs/a.md")
    (repo / "pkg/__init__.py").unlink()
    (repo / "pkg/__init__.py").mkdir()
    (repo / "pkg/core.py").chmod(0o755)
    found = look(repo)
    assert kinds(found) == {
        "docs/a.md": "missing",
        "link": "type",
        "pkg/__init__.py": "type",
        "pkg/core.py": "mode",
        "pkg/run.sh": "mode",
    }
    assert "lost its executable bit" in {one.detail for one in found.differences}


def test_a_link_to_elsewhere_is_another_content_and_is_not_followed(repo: Path, look: Look) -> None:
    (repo / "link").unlink()
    (repo / "link").symlink_to("pkg/core.py")
    assert kinds(look(repo)) == {"link": "modified"}


def test_a_folder_behind_a_link_does_not_count_as_the_folder(repo: Path, look: Look, tmp_path: Path) -> None:
    shutil.move(repo / "pkg", tmp_path / "elsewhere")
    (repo / "pkg").symlink_to(tmp_path / "elsewhere")
    found = look(repo)
    assert {path for path, kind in kinds(found).items() if kind == "missing"} == {
        "pkg/__init__.py",
        "pkg/core.py",
        "pkg/run.sh",
    }


def test_a_pipe_in_place_of_a_file_does_not_hang(repo: Path, look: Look) -> None:
    (repo / "docs/a.md").unlink()
    os.mkfifo(repo / "docs/a.md")
    assert kinds(look(repo)) == {"docs/a.md": "type"}


def test_extras_are_told_apart(repo: Path, look: Look) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    commit(repo, {"pkg/old.py": b"x = 1\n"})
    write(repo, {"pkg/_C.abi3.so": b"so", "build/x.py": b"", "pkg/new.py": b"", "notes.txt": b"", ":(odd)name": b""})
    found = look(repo, wanted)
    assert found.extras == (
        Extra(":(odd)name", "untracked"),
        Extra("build/x.py", "ignored"),
        Extra("notes.txt", "untracked"),
        Extra("pkg/_C.abi3.so", "ignored"),
        Extra("pkg/new.py", "untracked", sha256(b"")),
        Extra("pkg/old.py", "left-over"),
    )


def test_what_to_ignore_is_said_by_the_planned_tree_and_by_nothing_on_the_machine(repo: Path, look: Look) -> None:
    write(repo, {"pkg/.gitignore": b"*\n", "pkg/evil.py": b"", ".git/info/exclude": b"*.py\n"})
    git(repo, "config", "core.excludesFile", str(repo / "pkg/.gitignore"))
    assert {one.path: one.kind for one in look(repo).extras} == {
        "pkg/.gitignore": "untracked",
        "pkg/evil.py": "untracked",
    }


def test_the_checkouts_own_configuration_is_never_run(repo: Path, look: Look, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.hooksPath", "filter.x.clean", "core.sshCommand", "diff.external"):
        git(repo, "config", key, f"touch {mark}")
    write(repo, {".git/info/attributes": b"* filter=x\n"})
    (repo / "pkg/core.py").write_bytes(b"changed\n")
    git_config = repo / ".git/config"
    included = tmp_path / "included"
    included.write_text(f"[core]\n\tfsmonitor = touch {mark}\n")
    more = f'[include]\n\tpath = {included}\n\tpath = {tmp_path}/none\n[core]\n\tworktree = "/"\n'
    git_config.write_text(git_config.read_text() + more)
    assert kinds(look(repo)) == {"pkg/core.py": "modified"}
    assert not mark.exists()


# Repositories in bad shape


def test_nothing_there_and_a_file_in_its_place(look: Look, tmp_path: Path) -> None:
    wanted = Wanted(Commit("1" * 40), Tree("2" * 40))
    assert look(tmp_path / "none", wanted).state == "absent"
    (tmp_path / "file").write_bytes(b"")
    assert look(tmp_path / "file", wanted).state == "no-folder"


@pytest.mark.parametrize(
    "case", ["no .git", "dangling", "empty .git", "garbage in .git", "worktree of a lost repository"]
)
def test_without_a_repository_the_content_decides(repo: Path, look: Look, tmp_path: Path, case: str) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    shutil.move(repo / ".git", tmp_path / "moved")
    match case:
        case "dangling":
            (repo / ".git").write_text("gitdir: ../.git/modules/dep\n")
        case "empty .git":
            (repo / ".git").mkdir()
        case "garbage in .git":
            (repo / ".git").write_bytes(b"\xff\0")
        case "worktree of a lost repository":
            (tmp_path / "gitdir").mkdir()
            (tmp_path / "gitdir/commondir").write_text("../lost\n")
            (repo / ".git").write_text(f"gitdir: {tmp_path}/gitdir\n")
    write(repo, {"pkg/_C.so": b"generated"})
    found = look(repo, wanted)
    assert found.state in {"no-repository", "dangling", "damaged"}
    assert found.trouble is not None
    assert (found.judged, found.head, found.tree) == ("content", None, wanted.tree)
    (repo / "pkg/core.py").write_bytes(b"one = 1\ntwo = 9\n")
    assert look(repo, wanted).tree != wanted.tree


def test_a_repository_above_is_not_taken_for_the_checkouts_own(repo: Path, look: Look) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    found = look(repo / "pkg", wanted)
    assert (found.state, found.head) == ("no-repository", None)


def test_a_linked_worktree_is_read_at_its_own_head(repo: Path, look: Look, tmp_path: Path) -> None:
    commit(repo, {"docs/b.md": b"b\n"})
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", "--detach", str(linked), "HEAD~1")
    found = look(linked)
    assert (found.state, found.judged, found.differences) == ("repository", "entries", ())
    assert found.head == git(repo, "rev-parse", "HEAD~1")


def test_a_worktrees_absolute_link_is_followed_below_the_root(repo: Path, look: Look, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    shutil.move(repo, root / "main")
    linked = root / "linked"
    git(root / "main", "worktree", "add", "-q", "--detach", str(linked))
    head, tree = Commit(git(linked, "rev-parse", "HEAD")), tree_of(linked)
    (linked / ".git").write_text("gitdir: /main/.git/worktrees/linked\n")
    with Git(ENV) as program:
        found = CheckoutFolders(program, Places(tmp_path, root)).look("dep", "/linked", Wanted(head, tree))
    assert (found.state, found.head, found.tree) == ("repository", head, tree)


def test_a_shallow_checkout_is_compared_like_any_other(repo: Path, look: Look, tmp_path: Path) -> None:
    first = Commit(git(repo, "rev-parse", "HEAD"))
    commit(repo, {"docs/b.md": b"b\n"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    found = look(tmp_path / "shallow")
    assert (found.shallow, found.judged, found.differences) == (True, "entries", ())
    with Git(ENV) as program:
        folders = CheckoutFolders(program, Places(tmp_path))
        assert folders.is_ancestor(str(tmp_path / "shallow"), first, found.head or first) is None
        assert folders.changed_paths(str(tmp_path / "shallow"), first, found.head or first) is None
        assert folders.changed_paths(str(repo), first, found.head or first) == ("docs/b.md",)


def test_where_a_shallow_history_ends_nothing_is_said_to_be_no_ancestor(repo: Path, tmp_path: Path) -> None:
    first = Commit(git(repo, "rev-parse", "HEAD"))
    second = commit(repo, {"docs/b.md": b"b\n"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path / "shallow", "fetch", "-q", "--depth", "1", "origin", first)
    with Git(ENV) as program:
        folders = CheckoutFolders(program, Places(tmp_path))
        assert folders.is_ancestor(str(tmp_path / "shallow"), first, second) is None
        assert folders.is_ancestor(str(repo), first, second) is True
        assert folders.is_ancestor(str(repo), second, first) is False


def test_a_shallow_checkout_of_another_commit_is_judged_by_content(repo: Path, look: Look, tmp_path: Path) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    commit(repo, {"docs/b.md": b"b\n"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    found = look(tmp_path / "shallow", wanted)
    assert (found.judged, found.descends) == ("content", None)
    assert found.tree != wanted.tree
    (tmp_path / "shallow/docs/b.md").unlink()
    assert look(tmp_path / "shallow", wanted).tree == wanted.tree


def test_left_over_states_and_locks_are_named(repo: Path, look: Look) -> None:
    (repo / ".git/rebase-merge").mkdir()
    write(repo, {".git/MERGE_HEAD": b"", ".git/index.lock": b""})
    assert look(repo).unfinished == ("rebase-merge", "MERGE_HEAD", "index.lock")


def test_tracked_files_named_like_refs_confuse_nothing(repo: Path, look: Look) -> None:
    commit(repo, {"FETCH_HEAD": b"x\n", "HEAD": b"y\n", "refs/heads/main": b"z\n"})
    (repo / "HEAD").write_bytes(b"changed\n")
    assert kinds(look(repo)) == {"HEAD": "modified"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_another_owner_makes_no_difference(repo: Path, look: Look) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    for folder, _, names in os.walk(repo):
        for name in (*names, "."):
            os.chown(Path(folder, name), 12345, 12345, follow_symlinks=False)
    found = look(repo, wanted)
    assert (found.judged, found.tree, found.differences) == ("entries", wanted.tree, ())


def test_packed_refs_and_an_unborn_branch(repo: Path, look: Look) -> None:
    head, tree = Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo)
    git(repo, "pack-refs", "--all")
    assert look(repo).head == head
    git(repo, "symbolic-ref", "HEAD", "refs/heads/unborn")
    found = look(repo, Wanted(head, tree))
    assert (found.state, found.head, found.judged, found.tree) == ("repository", None, "entries", tree)


def test_a_secret_in_the_baked_configuration_is_named_and_not_shown(repo: Path, look: Look) -> None:
    git(repo, "config", "http.https://example.org/.extraheader", "AUTHORIZATION: basic c2VjcmV0")
    git(repo, "config", "remote.origin.url", "https://user:s3cret@example.org/x")
    git(repo, "config", "remote.plain.url", "ssh://git@example.org/x")
    found = look(repo)
    assert found.credentials == ("http.extraheader", "remote.url")
    assert "s3cret" not in repr(found)


def test_objects_that_are_borrowed_are_found(repo: Path, look: Look, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(repo), "borrower")
    assert look(tmp_path / "borrower").judged == "entries"


# Patches


def carried(data: bytes | None, path: str = "p.patch") -> CarriedPatch:
    return CarriedPatch(path, Sha256(hashlib.sha256(data or b"").hexdigest()), data)


def test_a_carried_patch_is_part_of_what_is_expected(repo: Path, look: Look) -> None:
    head = Commit(git(repo, "rev-parse", "HEAD"))
    (repo / "pkg/core.py").write_bytes(b"one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    tree = Tree(git(repo, "write-tree"))
    found = look(repo, Wanted(head, tree, (carried(PATCH),)))
    assert (found.judged, found.tree, found.expected, found.differences) == ("entries", tree, tree, ())
    assert found.touched == ("pkg/core.py",)
    assert [one.outcome for one in found.patches] == ["applied"]
    (repo / "pkg/core.py").write_bytes(FILES["pkg/core.py"])
    assert kinds(look(repo, Wanted(head, tree, (carried(PATCH),)))) == {"pkg/core.py": "modified"}


@pytest.mark.parametrize(
    ("data", "strip", "root"),
    [
        (PATCH.replace(b" a/", b" ").replace(b" b/", b" "), None, ""),
        (PATCH.replace(b" a/", b" ").replace(b" b/", b" "), 0, ""),
        (PATCH.replace(b" a/pkg", b" a").replace(b" b/pkg", b" b"), None, "pkg"),
        (PATCH.replace(b" a/", b" x/a/").replace(b" b/", b" x/b/"), 2, ""),
    ],
)
def test_a_carried_patch_is_read_as_the_manifest_declares(
    data: bytes, strip: int | None, root: str, repo: Path, look: Look
) -> None:
    """The gate, the machine and the last proof before writing give a patch's names the same meaning."""
    head = Commit(git(repo, "rev-parse", "HEAD"))
    (repo / "pkg/core.py").write_bytes(b"one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    tree = Tree(git(repo, "write-tree"))
    found = look(repo, Wanted(head, tree, (CarriedPatch("p.patch", None, data, strip, root),)))
    assert ([one.outcome for one in found.patches], found.tree, found.expected) == (["applied"], tree, tree)


def test_a_patch_that_is_not_at_hand_leaves_the_tree_to_decide(repo: Path, look: Look) -> None:
    head = Commit(git(repo, "rev-parse", "HEAD"))
    (repo / "pkg/core.py").write_bytes(b"one = 1\ntwo = 22\n")
    git(repo, "add", "-A")
    tree = Tree(git(repo, "write-tree"))
    found = look(repo, Wanted(head, tree, (carried(None),)))
    assert (found.judged, found.tree, found.expected) == ("paths", tree, tree_of(repo))
    assert [one.outcome for one in found.patches] == ["not-tried"]


def test_a_patch_that_does_not_fit_is_no_crash(repo: Path, look: Look) -> None:
    found = look(
        repo, Wanted(None, None, (carried(b"no patch at all"), carried(PATCH.replace(b"-two = 2", b"-two = 7"), "q")))
    )
    assert [one.outcome for one in found.patches] == ["does-not-apply", "does-not-apply"]
    assert found.expected == tree_of(repo)


def test_the_planned_tree_committed_on_top_is_known_as_such(repo: Path, look: Look) -> None:
    planned = Commit(git(repo, "rev-parse", "HEAD"))
    commit(repo, {"pkg/core.py": b"one = 1\ntwo = 22\n"})
    found = look(repo, Wanted(planned, tree_of(repo), (carried(PATCH),)))
    assert (found.descends, found.head_tree, found.tree) == (True, tree_of(repo), tree_of(repo))


# Filters


def test_line_ends_that_git_converts_are_explained(repo: Path, look: Look) -> None:
    commit(repo, {".gitattributes": b"*.bat text eol=crlf\n*.u16 text working-tree-encoding=UTF-16\n"})
    commit(repo, {"run.bat": b"a\r\nb\r\n", "x.u16": "hé\n".encode("utf-16"), "plain.txt": b"a\nb\n"})
    (repo / "plain.txt").write_bytes(b"a\r\nb\r\n")
    found = look(repo)
    assert kinds(found) == {"plain.txt": "modified", "run.bat": "filter", "x.u16": "filter"}
    (repo / "plain.txt").write_bytes(b"a\nb\n")
    assert look(repo).tree == tree_of(repo)


def test_a_conversion_does_not_explain_another_content(repo: Path, look: Look) -> None:
    commit(repo, {".gitattributes": b"*.bat text eol=crlf\n", "run.bat": b"a\r\nb\r\n"})
    (repo / "run.bat").write_bytes(b"a\r\nc\r\n")
    assert kinds(look(repo)) == {"run.bat": "modified"}


def test_attributes_of_the_machine_explain_nothing(repo: Path, look: Look) -> None:
    write(repo, {".git/info/attributes": b"* text\n", "pkg/.gitattributes": b"* text\n"})
    (repo / "pkg/core.py").write_bytes(b"one = 1\r\ntwo = 2\r\n")
    assert kinds(look(repo)) == {"pkg/core.py": "modified"}


LFS = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"


def lfs_pointer(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n".encode()


def test_the_content_of_a_large_file_pointer_differs_only_through_the_filter(repo: Path, look: Look) -> None:
    content = b"\0weights\0"
    commit(repo, {".gitattributes": LFS, "w.bin": lfs_pointer(content)})
    found = look(repo)
    assert (found.differences, found.pointers) == ((), ("w.bin",))
    (repo / "w.bin").write_bytes(content)
    found = look(repo)
    assert (kinds(found), found.pointers) == ({"w.bin": "filter"}, ())
    assert found.tree == tree_of(repo)
    (repo / "w.bin").write_bytes(b"\0weightz\0")
    assert kinds(look(repo)) == {"w.bin": "modified"}


def test_plain_content_under_a_large_file_filter_is_not_modified(repo: Path, look: Look) -> None:
    commit(repo, {".gitattributes": LFS, "w.bin": b"\0plain\0", "pointer.txt": lfs_pointer(b"a text about pointers")})
    assert (look(repo).differences, look(repo).pointers) == ((), ())
    (repo / "w.bin").write_bytes(lfs_pointer(b"\0plain\0"))
    assert kinds(look(repo)) == {"w.bin": "modified"}


# Submodules


@pytest.fixture
def nested(repo: Path, tmp_path: Path) -> Path:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    commit(inner, {"lib.py": b"x = 1\n", ".gitignore": b"*.o\n"})
    git(repo, "submodule", "--quiet", "add", str(inner), "third/inner")
    commit(repo)
    return repo


def test_a_submodule_at_its_commit_is_compared_inside(nested: Path, look: Look) -> None:
    assert look(nested).differences == ()
    write(nested, {"third/inner/lib.py": b"x = 2\n", "third/inner/new.py": b"", "third/inner/a.o": b""})
    found = look(nested)
    assert kinds(found) == {"third/inner/lib.py": "modified"}
    assert {one.path: one.kind for one in found.extras} == {
        "third/inner/new.py": "untracked",
        "third/inner/a.o": "ignored",
    }


def test_what_is_tracked_is_told_inside_submodules_too_and_without_a_repository(nested: Path, look: Look) -> None:
    write(nested, {"loose.py": b"", "third/inner/a.o": b""})
    files = {".gitmodules", "third/inner/.gitignore", "third/inner/lib.py"}
    tracked = look(nested).tracked
    assert files <= tracked
    assert tracked.isdisjoint({"loose.py", "third/inner/a.o"})
    shutil.move(nested / ".git/HEAD", nested / ".git/was")
    (nested / "loose.py").unlink()
    alone = look(nested, Wanted(None, Tree("0" * 40)))
    assert alone.judged == "content"
    assert files <= alone.tracked
    assert "third/inner/a.o" not in alone.tracked


def test_a_submodule_at_another_commit_and_one_that_is_not_checked_out(nested: Path, look: Look) -> None:
    planned = Wanted(Commit(git(nested, "rev-parse", "HEAD")), tree_of(nested))
    commit(nested / "third/inner", {"lib.py": b"x = 3\n"})
    found = look(nested, planned)
    assert kinds(found) == {"third/inner": "submodule"}
    assert found.tree != planned.tree
    shutil.rmtree(nested / "third/inner")
    (nested / "third/inner").mkdir()
    found = look(nested, planned)
    assert (kinds(found), found.tree) == ({"third/inner": "submodule-empty"}, planned.tree)


def test_a_submodule_that_git_is_told_to_leave_out_may_be_empty(nested: Path, look: Look) -> None:
    git(nested, "config", "--file", ".gitmodules", "submodule.third/inner.update", "none")
    commit(nested)
    shutil.rmtree(nested / "third/inner")
    (nested / "third/inner").mkdir()
    assert look(nested).differences == ()
    git(nested, "config", "--file", ".gitmodules", "submodule.third/inner.update", "checkout")
    commit(nested)
    assert kinds(look(nested)) == {"third/inner": "submodule-empty"}


def test_the_packages_of_a_submodule_are_source_folders_as_those_of_the_outer_tree(nested: Path, look: Look) -> None:
    commit(nested / "third/inner", {"setup.py": b"", "pkg/__init__.py": b"", "pkg/sub/a.py": b""})
    commit(nested)
    assert look(nested).source_folders == ("pkg", "third/inner/pkg", "third/inner/pkg/sub")
    commit(nested / "third/inner", {"__init__.py": b""})
    commit(nested)
    assert "third/inner" in look(nested).source_folders


def test_a_submodule_whose_files_lost_their_repository_cannot_be_judged(nested: Path, look: Look) -> None:
    (nested / "third/inner/.git").unlink()
    assert kinds(look(nested)) == {"third/inner": "unreadable"}


# Without a plan


def test_without_a_plan_the_own_head_and_the_patches_are_the_measure(repo: Path, look: Look) -> None:
    (repo / "pkg/core.py").write_bytes(b"one = 1\ntwo = 22\n")
    found = look(repo, Wanted(None, None, (carried(PATCH),)))
    assert (found.judged, found.tree, found.differences) == ("entries", found.expected, ())
    assert found.tree != tree_of(repo)


def test_names_that_are_not_utf8_are_shown_with_escapes(repo: Path, look: Look) -> None:
    Path(os.fsdecode(bytes(repo) + b"/pkg/\xff.py")).write_bytes(b"")
    assert look(repo).extras == (Extra("pkg/\\xff.py", "untracked", sha256(b"")),)


# What would make a reader wait or fail


def spoil_head_pipe(repo: Path) -> None:
    (repo / ".git/HEAD").unlink()
    os.mkfifo(repo / ".git/HEAD")


def spoil_head_loop(repo: Path) -> None:
    (repo / ".git/HEAD").unlink()
    (repo / ".git/HEAD").symlink_to("HEAD")


def spoil_head_folder(repo: Path) -> None:
    (repo / ".git/HEAD").unlink()
    (repo / ".git/HEAD").mkdir()


def spoil_packed_refs(repo: Path) -> None:
    git(repo, "pack-refs", "--all")
    (repo / ".git/packed-refs").unlink()
    os.mkfifo(repo / ".git/packed-refs")


def spoil_git_pipe(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    os.mkfifo(repo / ".git")


def spoil_git_loop(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    (repo / ".git").symlink_to(".git")


def spoil_git_link(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    (repo / ".git").symlink_to("nowhere")


def spoil_git_link_to_file(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    (repo.parent / "file").write_text("gitdir: /nowhere")
    (repo / ".git").symlink_to("../file")


def spoil_long_gitdir(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    (repo / ".git").write_text("gitdir: /" + "a" * 5000)


@pytest.mark.parametrize(
    ("spoil", "state", "trouble"),
    [
        (spoil_head_pipe, "damaged", "its HEAD is no regular file"),
        (spoil_head_loop, "damaged", "its HEAD cannot be read: Too many levels of symbolic links"),
        (spoil_head_folder, "damaged", "its HEAD is no regular file"),
        (spoil_packed_refs, "damaged", "its packed-refs is no regular file"),
        (spoil_git_pipe, "damaged", "its .git is no regular file"),
        (spoil_git_loop, "damaged", "its .git cannot be read: Too many levels of symbolic links"),
        (spoil_long_gitdir, "dangling", "its .git file points to '/aaaa"),
        (spoil_git_link, "dangling", "its .git is a link to 'nowhere', which is not there"),
        (
            spoil_git_link_to_file,
            "dangling",
            "the file that its .git leads to points to '/nowhere', which is not there",
        ),
    ],
)
def test_a_repository_that_would_make_a_reader_wait_or_fail_is_named(
    repo: Path, look: Look, spoil: Callable[[Path], None], state: str, trouble: str
) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    spoil(repo)
    found = look(repo, wanted)
    assert (found.state, found.head, found.judged, found.tree) == (state, None, "content", wanted.tree)
    assert (found.trouble or "").startswith(trouble)


@pytest.mark.parametrize("name", ["refs/heads/" + "a" * 5000, "refs/heads/loop", "refs/heads/pipe", "refs/\0"])
def test_a_head_that_names_a_ref_which_cannot_be_read_names_no_commit(repo: Path, look: Look, name: str) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    (repo / ".git/refs/heads/loop").symlink_to("loop")
    os.mkfifo(repo / ".git/refs/heads/pipe")
    os.mkfifo(repo / ".git/refs/tags/pipe")
    (repo / ".git/HEAD").write_text(f"ref: {name}\n")
    found = look(repo, wanted)
    assert (found.state, found.head, found.judged, found.tree) == ("repository", None, "entries", wanted.tree)


def test_a_head_that_is_a_link_to_a_ref_is_read(repo: Path, look: Look) -> None:
    ref = git(repo, "symbolic-ref", "HEAD")
    head, tree = Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo)
    (repo / ".git/HEAD").unlink()
    (repo / ".git/HEAD").symlink_to(ref)
    assert look(repo, Wanted(head, tree)).head == head


def test_a_configuration_that_is_a_pipe_does_not_hang(repo: Path, look: Look) -> None:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    (repo / ".git/config").unlink()
    os.mkfifo(repo / ".git/config")
    found = look(repo, wanted)
    assert (found.head, found.credentials, found.judged) == (wanted.commit, (), "entries")


# Links of the image, below the root


@pytest.fixture
def rooted(repo: Path, tmp_path: Path) -> Path:
    """An image whose checkout is /srv/lib, and which has a folder of the host's name for a stranger to fall for."""
    root = tmp_path / "root"
    (root / "srv").mkdir(parents=True)
    shutil.move(repo, root / "srv/lib")
    return root


def look_below(root: Path, path: str, wanted: Wanted) -> Checkout:
    with Git(ENV) as program:
        return CheckoutFolders(program, Places(root.parent, root)).look("dep", path, wanted)


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("opt/stack", "/srv", "/opt/stack/lib"),
        ("opt/stack", "../srv", "/opt/stack/lib"),
        ("opt/stack", "../../../../../srv", "/opt/stack/lib"),
        ("stack", "/srv/lib", "/stack"),
        ("stack", "/srv/../srv/./lib/", "/stack"),
    ],
)
def test_a_link_of_the_image_leads_below_the_root_and_never_to_the_host(
    rooted: Path, link: str, target: str, path: str
) -> None:
    inside = rooted / "srv/lib"
    wanted = Wanted(Commit(git(inside, "rev-parse", "HEAD")), tree_of(inside))
    (rooted / link).parent.mkdir(exist_ok=True)
    (rooted / link).symlink_to(target)
    found = look_below(rooted, path, wanted)
    assert (found.state, found.real, found.tree) == ("repository", str(inside), wanted.tree)


def test_what_only_the_host_has_is_not_there(repo: Path, rooted: Path, tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(rooted / "srv/lib", host, symlinks=True)
    (rooted / "stack").symlink_to(host)
    assert look_below(rooted, "/stack", Wanted(None, None)).state == "absent"
    inside = rooted / "srv/lib"
    wanted = Wanted(Commit(git(inside, "rev-parse", "HEAD")), tree_of(inside))
    shutil.rmtree(inside / ".git")
    (inside / ".git").symlink_to(host / ".git")
    assert look_below(rooted, "/srv/lib", wanted).state != "repository"
    (inside / ".git").unlink()
    (inside / ".git").write_text(f"gitdir: {host}/.git\n")
    found = look_below(rooted, "/srv/lib", wanted)
    assert (found.state, (found.trouble or "").endswith("not there below the root")) == ("dangling", True)


def test_a_repository_behind_a_link_of_the_image_is_read_below_the_root(rooted: Path) -> None:
    inside = rooted / "srv/lib"
    wanted = Wanted(Commit(git(inside, "rev-parse", "HEAD")), tree_of(inside))
    (rooted / "git").mkdir()
    shutil.move(inside / ".git", rooted / "git/lib")
    (inside / ".git").symlink_to("/git/lib")
    shutil.move(rooted / "git/lib/objects", rooted / "git/objects")
    (rooted / "git/lib/objects").symlink_to("/git/objects")
    found = look_below(rooted, "/srv/lib", wanted)
    assert (found.state, found.head, found.judged) == ("repository", wanted.commit, "entries")


def test_a_loop_of_links_below_the_root_is_refused_by_name(rooted: Path) -> None:
    (rooted / "stack").symlink_to("/stack")
    with pytest.raises(OutsideError) as caught:
        look_below(rooted, "/stack/lib", Wanted(None, None))
    assert caught.value.code == "link-loop"


def test_an_interpreter_is_found_below_the_root_and_none_of_the_hosts_is_started(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "srv/venv/bin").mkdir(parents=True)
    (root / "srv/venv/bin/python").symlink_to("/usr/bin/env")
    (root / "opt").symlink_to("/srv")
    places = Places(tmp_path, root)
    image = Image(*("i", None, None, None, None, ("keep",), "/opt/venv/bin/python", (), "report", (), {}))
    assert places.interpreter(image) == str(root / "srv/venv/bin/python")
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/env").write_text("the image's")
    with pytest.raises(OutsideError) as caught:
        places.interpreter(image)
    assert caught.value.code == "outside-root"


# By content


def without_git(repo: Path) -> Wanted:
    wanted = Wanted(Commit(git(repo, "rev-parse", "HEAD")), tree_of(repo))
    shutil.rmtree(repo / ".git")
    return wanted


def own_repository(nested: Path) -> None:
    """As a submodule is that was cloned by hand: its repository lies in it."""
    inner = nested / "third/inner"
    (inner / ".git").unlink()
    shutil.move(nested / ".git/modules/third/inner", inner / ".git")
    config = inner / ".git/config"
    config.write_text("".join(line for line in config.read_text().splitlines(keepends=True) if "worktree" not in line))


def test_tracked_files_that_are_ignored_count_where_the_content_decides(repo: Path, look: Look) -> None:
    write(repo, {"build/tracked.txt": b"t\n", "lib.so": b"so"})
    git(repo, "add", "--force", "build/tracked.txt")
    git(repo, "commit", "-q", "-m", "c")
    write(repo, {"pkg/__pycache__/core.pyc": b"", "pkg/_C.so": b"generated"})
    wanted = without_git(repo)
    found = look(repo, wanted)
    assert (found.judged, found.tree) == ("content", wanted.tree)
    assert {one.path: one.kind for one in found.extras} == {
        "lib.so": "ignored",
        "pkg/__pycache__/core.pyc": "ignored",
        "pkg/_C.so": "ignored",
    }
    write(repo, {"build/tracked.txt": b"other\n"})
    found = look(repo, wanted)
    assert found.tree != wanted.tree
    assert "files that its .gitignore names and that may be tracked: 4" in (found.reason or "")


def test_every_file_may_be_tracked_though_all_are_ignored(repo: Path, look: Look) -> None:
    write(repo, {".gitignore": b"*\n"})
    git(repo, "add", "--force", "-A")
    git(repo, "commit", "-q", "-m", "c")
    wanted = without_git(repo)
    assert look(repo, wanted).tree == wanted.tree


def test_an_ignore_file_that_the_planned_tree_has_not_hides_nothing_where_the_content_decides(
    repo: Path, look: Look
) -> None:
    wanted = without_git(repo)
    write(repo, {"docs/.gitignore": b".gitignore\nevil.py\n", "docs/evil.py": b"x = 1\n"})
    found = look(repo, wanted)
    assert found.tree == wanted.tree
    assert found.extras == (
        Extra("docs/.gitignore", "untracked"),
        Extra("docs/evil.py", "untracked", sha256(b"x = 1\n")),
    )


def test_a_submodule_counts_by_its_own_head_and_is_judged_inside_where_the_content_decides(
    nested: Path, look: Look
) -> None:
    own_repository(nested)
    wanted = without_git(nested)
    found = look(nested, wanted)
    assert (found.judged, found.tree, found.differences, found.extras) == ("content", wanted.tree, (), ())
    assert "its submodules were judged by their own HEAD: third/inner" in (found.reason or "")
    write(nested, {"third/inner/lib.py": b"x = 2\n", "third/inner/new.py": b""})
    found = look(nested, wanted)
    assert (found.tree, kinds(found)) == (wanted.tree, {"third/inner/lib.py": "modified"})
    assert [one.inside for one in found.differences] == ["third/inner"]
    assert [one.path for one in found.extras] == ["third/inner/new.py"]
    commit(nested / "third/inner")
    assert look(nested, wanted).tree != wanted.tree


def test_a_submodule_whose_commit_nothing_tells_is_the_exact_reason(nested: Path, look: Look) -> None:
    found = look(nested, without_git(nested))
    assert found.tree != found.expected
    assert "nothing tells the commit of its submodules: third/inner" in (found.reason or "")


def test_a_repository_that_was_put_into_the_checkout_is_no_submodule_and_hides_nothing(repo: Path, look: Look) -> None:
    wanted = without_git(repo)
    stray = repo / "pkg/stray"
    stray.mkdir()
    git(stray, "init", "-q")
    commit(stray, {"evil.py": b"x = 1\n"})
    found = look(repo, wanted)
    assert found.tree == wanted.tree
    assert [(one.path, one.kind) for one in found.extras] == [("pkg/stray/evil.py", "untracked")]
