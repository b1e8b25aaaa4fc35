"""`regraft patch drop` on real repositories: what is written, what is committed, and what is left as it was."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.git import Git
from regraft.adapters.project_tree import Committed, WorkTree
from regraft.core.drop_values import Change
from regraft.errors import InputError, OutsideError

ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}
MANIFEST = """\
[project]
name = "p"

[dependencies.dep]
url = "../upstream"
branch = "main"

[images.i.baked.dep]
path = "/dep"
patches = ["fixes/old fused.patch", "fixes/one.patch"]
"""
DOCKERFILE = """\
FROM x
COPY ["fixes/old fused.patch", "fixes/one.patch", "/p/"]
RUN cd /dep && \\
    git apply "/p/old fused.patch" && \\
    git apply /p/one.patch && \\
    make
"""


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def commit(folder: Path, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "m")


def edit(path: str, old: str, new: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n a\n-{old}\n+{new}\n c\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Upstream has deleted the fused kernels and all that refers to them, and has taken one of the fixes."""
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    git(upstream, "init", "--quiet")
    git(upstream, "symbolic-ref", "HEAD", "refs/heads/main")
    commit(
        upstream, {"pkg/legacy/fused/__init__.py": "a\nb\nc\n", "pkg/init.py": "import fused\n", "one.txt": "a\nb\nc\n"}
    )
    git(upstream, "tag", "old")
    commit(upstream, {"pkg/legacy/fused/__init__.py": None, "pkg/init.py": "pass\n", "one.txt": "a\nB\nc\n"})
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/main")
    commit(
        folder,
        {
            "regraft.toml": MANIFEST,
            "docker/Dockerfile": DOCKERFILE,
            "fixes/old fused.patch": edit("pkg/legacy/fused/__init__.py", "b", "return"),
            "fixes/one.patch": edit("one.txt", "b", "B"),
            "README.md": "See fixes/one.patch.\n",
        },
    )
    (folder / "docker/Dockerfile").chmod(0o755)
    git(folder, "commit", "--quiet", "-a", "-m", "mode")
    return folder


def drop(project: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "regraft", "patch", "drop", *arguments]
    environ = {**ENV, "HOME": str(project.parent / "home"), **env}
    return subprocess.run(argv, cwd=project, env=environ, capture_output=True, text=True, check=False)


def test_a_patch_that_is_there_already_goes_from_the_work_tree(project: Path) -> None:
    done = drop(project, "fixes/one.patch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "already-there at refs/heads/main" in done.stdout
    assert "  README.md:1:5: text: See fixes/one.patch." in done.stdout
    assert git(project, "status", "--short") == " M docker/Dockerfile\n D fixes/one.patch\n M regraft.toml\n"
    text = (project / "docker/Dockerfile").read_text()
    assert text == DOCKERFILE.replace(', "fixes/one.patch"', "").replace("    git apply /p/one.patch && \\\n", "")
    assert (project / "docker/Dockerfile").stat().st_mode & 0o777 == 0o755


def test_a_dead_patch_with_a_blank_in_its_name_goes_and_where_it_is_alive_it_stays(project: Path) -> None:
    kept = drop(project, "fixes/old fused.patch", "--at", "old")
    assert kept.returncode == 1
    assert "applies at old" in kept.stderr
    both = drop(project, "fixes/old fused.patch", "--at", "old", "--at", "main")
    assert both.returncode == 1
    assert git(project, "status", "--short") == ""
    done = drop(project, "fixes/old fused.patch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "target-gone at refs/heads/main" in done.stdout
    assert "nothing there refers to what it edits" in done.stdout
    assert "old fused" not in (project / "docker/Dockerfile").read_text()


def test_a_target_that_something_still_refers_to_is_no_proof(project: Path) -> None:
    commit(project.parent / "upstream", {"pkg/init.py": "import pkg.legacy.fused\n"})
    done = drop(project, "fixes/old fused.patch")
    assert done.returncode == 1
    assert "something there still refers to what it edits" in done.stderr


@pytest.mark.parametrize("how", [(), ("--dry-run",), ("--commit",)])
def test_a_use_that_is_left_stops_it_until_it_is_said_to_be_left(project: Path, how: tuple[str, ...]) -> None:
    commit(project, {"Makefile": "x:\n\tgit apply fixes/one.patch\n", "docker/Dockerfile": DOCKERFILE + "RUN bash -c 'cat /p/one.patch'\n"})  # fmt: skip
    done = drop(project, "fixes/one.patch", *how)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "  Makefile:2:12: use: git apply fixes/one.patch" in done.stdout.splitlines()
    assert "  docker/Dockerfile:7:18: use: RUN bash -c 'cat /p/one.patch'" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1].startswith("nothing was written: 2 uses are left")
    assert git(project, "status", "--short") == git(project, "branch", "--list", "drop-*") == ""
    told = json.loads(drop(project, "fixes/one.patch", *how, "--format", "json").stdout)
    assert (told["written"], [(one["path"], one["was"]) for one in told["uses"]]) == (False, [("Makefile", 2), ("docker/Dockerfile", 7)])  # fmt: skip
    assert drop(project, "fixes/one.patch", "--leave-uses", *how).returncode == 0
    written = how != ("--dry-run",)
    assert (git(project, "status", "--short") + git(project, "branch", "--list", "drop-*") != "") == written


@pytest.mark.parametrize("how", ["work tree", "commit"])
def test_links_of_the_project_are_followed(project: Path, how: str) -> None:
    (project / "docker/Dockerfile").rename(project / "docker/df")
    (project / "Dockerfile").symlink_to("docker/df")
    (project / "fixes/one.patch").rename(project / "real.txt")
    (project / "fixes/one.patch").symlink_to("../real.txt")
    (project / "away").symlink_to("/etc/passwd")
    commit(project, {})
    done = drop(project, "one.patch", *(("--commit",) if how == "commit" else ()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "note: it is a link: real.txt, which it leads to, stays" in done.stdout
    if how == "commit":
        git(project, "checkout", "--quiet", "drop-one")
    assert (project / "Dockerfile").is_symlink()
    assert "one.patch" not in (project / "Dockerfile").read_text()
    assert not (project / "fixes/one.patch").is_symlink()
    assert (project / "real.txt").exists()


@pytest.mark.parametrize("how", ["work tree", "commit"])
def test_a_project_below_the_top_of_its_repository(project: Path, how: str) -> None:
    (project / ".git").rename(project.parent / ".git")
    (project.parent / ".gitignore").write_text("/upstream\n/home\n")
    workflow = "on: push\njobs:\n  a:\n    steps:\n      - run: git apply project/fixes/one.patch\n      - run: make\n"
    commit(project.parent, {".github/workflows/x.yml": workflow})
    done = drop(project, "one.patch", *(("--commit",) if how == "commit" else ()))
    assert done.returncode == 0, done.stdout + done.stderr
    changed = git(project.parent, "diff", "--name-only", "main", *(("drop-one",) if how == "commit" else ()))
    assert changed.split() == [
        ".github/workflows/x.yml",
        "project/docker/Dockerfile",
        "project/fixes/one.patch",
        "project/regraft.toml",
    ]


def test_a_dry_run_shows_and_writes_nothing(project: Path) -> None:
    done = drop(project, "fixes/one.patch", "--dry-run")
    assert done.returncode == 0
    assert "-    git apply /p/one.patch && \\" in done.stdout.splitlines()
    assert done.stdout.endswith("nothing was written\n")
    assert git(project, "status", "--short") == ""


def test_without_proof_it_says_so_first(project: Path) -> None:
    done = drop(project, "fixes/one.patch", "--without-proof", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith("WITHOUT PROOF: ")
    assert drop(project, "fixes/one.patch", "--without-proof", "--at", "old").returncode == 2


def test_a_commit_touches_neither_the_work_tree_nor_the_index(project: Path) -> None:
    (project / "docker/Dockerfile").write_text("staged\n")
    git(project, "add", "docker/Dockerfile")
    (project / "docker/Dockerfile").write_text("dirty\n")
    (project / "new.txt").write_text("untracked\n")
    before = git(project, "status", "--short"), git(project, "diff", "--cached"), git(project, "rev-parse", "HEAD")
    done = drop(project, "fixes/one.patch", "--commit")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        git(project, "status", "--short"),
        git(project, "diff", "--cached"),
        git(project, "rev-parse", "HEAD"),
    ) == before
    changed = git(project, "diff", "--raw", "main", "drop-one").splitlines()
    assert [line.split()[4:] for line in changed] == [
        ["M", "docker/Dockerfile"],
        ["D", "fixes/one.patch"],
        ["M", "regraft.toml"],
    ]
    assert "100755 100755" in changed[0]
    assert git(project, "show", "drop-one:docker/Dockerfile").count("one.patch") == 0
    log = git(project, "log", "-1", "--format=%an <%ae>%n%B", "drop-one")
    assert log.startswith("t@example.org <t@example.org>\nDrop one.patch\n\nIt is already-there at ")
    assert git(project, "fsck", "--strict").strip() == ""


def test_who_commits_comes_from_the_users_configuration(project: Path) -> None:
    home = project.parent / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ü\n\temail = u@example.org\n[commit]\n\tgpgSign = true\n")
    nobody = {f"GIT_{who}_{what}": "" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {**nobody, "GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}
    clean = {name: value for name, value in {**ENV, "HOME": str(home), **environ}.items() if value}
    argv = [sys.executable, "-m", "regraft", "patch", "drop", "fixes/one.patch", "--commit", "topic/drop"]
    done = subprocess.run(argv, cwd=project, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert git(project, "log", "-1", "--format=%cn <%ce>", "topic/drop") == "Ü <u@example.org>\n"
    (home / ".gitconfig").write_text("")
    argv[-1] = "other"
    done = subprocess.run(argv, cwd=project, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "git does not know who commits [no-identity]" in done.stderr
    assert git(project, "branch", "--list", "other") == ""


@pytest.mark.parametrize(
    ("name", "code"),
    [("main", "branch-exists"), ("a..b", "bad-branch"), ("a b", "bad-branch"), ("x.lock", "bad-branch")],
)
def test_branches_that_cannot_be_made(project: Path, name: str, code: str) -> None:
    done = drop(project, "fixes/one.patch", "--commit", name)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr


def test_hooks_and_programs_of_the_repository_do_not_run(project: Path) -> None:
    hook = project / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ../ran\nexit 1\n")
    hook.chmod(0o755)
    git(project, "config", "core.fsmonitor", "touch ../ran")
    assert drop(project, "fixes/one.patch", "--commit").returncode == 0
    assert drop(project, "fixes/one.patch").returncode == 0
    assert not (project.parent / "ran").exists()


@pytest.mark.parametrize("how", ["worktree", "split-index"])
def test_a_linked_worktree_and_a_split_index_are_read(project: Path, how: str) -> None:
    place = project
    if how == "worktree":
        place = project.parent / "linked"
        git(project, "worktree", "add", "--quiet", str(place), "-b", "topic")
    else:
        git(project, "update-index", "--split-index")
    before = git(place, "status", "--short", "--branch")
    committed = drop(place, "fixes/one.patch", "--commit")
    assert committed.returncode == 0, committed.stderr
    assert git(place, "status", "--short", "--branch") == before
    assert git(project, "rev-parse", "drop-one~1") == git(place, "rev-parse", "HEAD")
    written = drop(place, "fixes/one.patch")
    assert written.returncode == 0, written.stderr
    assert git(place, "diff", "--name-only", "drop-one") == ""


def test_the_same_for_machines(project: Path) -> None:
    done = drop(project, "fixes/one.patch", "--dry-run", "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert {key: found[key] for key in ("patch", "proved", "written", "branch", "commit", "remarks")} == {
        "patch": "fixes/one.patch",
        "proved": True,
        "written": False,
        "branch": None,
        "commit": None,
        "remarks": [],
    }
    assert [(one["path"], one["deleted"], one["lines"]) for one in found["changes"]] == [
        ("docker/Dockerfile", False, [2, 5]),
        ("regraft.toml", False, [10]),
        ("fixes/one.patch", True, []),
    ]
    [mention] = found["mentions"]
    assert mention == {
        "path": "README.md",
        "line": 1,
        "column": 5,
        "kind": "text",
        "text": "See fixes/one.patch.",
        "was": 1,
    }
    assert found["uses"] == []
    assert [one["state"] for one in found["evidence"]] == ["already-there"]
    refused = drop(project, "README.md", "--format", "json")
    assert json.loads(refused.stdout)["error"]["code"] == "no-proof" if refused.returncode == 1 else "not-a-patch"


def test_control_characters_are_shown_and_not_sent(project: Path) -> None:
    commit(project, {"notes.txt": "\x1b[31mfixes/one.patch\u202e\n::error::one.patch\n"})
    done = drop(project, "fixes/one.patch", "--dry-run")
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert not any(line.startswith("::") for line in done.stdout.splitlines())


def test_what_is_no_checkout_is_refused(project: Path) -> None:
    (project / ".git").rename(project.parent / "away")
    done = drop(project, "fixes/one.patch", "--without-proof")
    assert done.returncode == 2
    assert "[not-a-repository]" in done.stderr


@pytest.fixture
def own_git(tmp_path: Path) -> Iterator[Git]:
    with Git({**ENV, "HOME": str(tmp_path)}) as found:
        yield found


@contextmanager
def file_size(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fails_midway_leaves_every_file_as_it_was(project: Path, own_git: Git) -> None:
    tree = WorkTree(own_git, project)
    before = {path: (project / path).read_bytes() for path in tree.paths()}
    changes = [
        Change("regraft.toml", before["regraft.toml"], b"small"),
        Change("fixes/one.patch", before["fixes/one.patch"], None),
        Change("README.md", before["README.md"], b"x" * 100_000),
    ]
    with file_size(20_000), pytest.raises(OutsideError):
        tree.write(changes)
    assert {path: (project / path).read_bytes() for path in before} == before


def test_a_file_that_changed_meanwhile_stops_all_of_it(project: Path, own_git: Git) -> None:
    tree = WorkTree(own_git, project)
    changes = [
        Change("regraft.toml", (project / "regraft.toml").read_bytes(), b""),
        Change("README.md", b"what it was\n", b""),
    ]
    with pytest.raises(OutsideError, match="not what it was"):
        tree.write(changes)
    assert git(project, "status", "--short") == ""


def test_links_and_deleted_files_are_not_read_and_a_merge_stops(project: Path, own_git: Git) -> None:
    (project / "link").symlink_to("README.md")
    git(project, "add", "link")
    (project / "docker/Dockerfile").unlink()
    tree = WorkTree(own_git, project)
    assert "link" not in tree.paths()
    assert [path for path, _ in tree.each(tree.paths(), 1000)] == [
        "README.md",
        "fixes/old fused.patch",
        "fixes/one.patch",
        "regraft.toml",
    ]
    blob = git(project, "hash-object", "-w", "README.md").strip()
    entries = "".join(f"100644 {blob} {stage}\tclash\n" for stage in (1, 2, 3))
    subprocess.run(["git", "update-index", "--index-info"], cwd=project, env=ENV, input=entries, text=True, check=True)
    with pytest.raises(InputError, match="merge"):
        tree.paths()


def test_a_repository_without_a_commit_has_nothing_to_commit_after(tmp_path: Path, own_git: Git) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(InputError, match="names no commit"):
        Committed(own_git, tmp_path / "empty", ENV)
