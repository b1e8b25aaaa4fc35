"""`regraft check --beside`: two branches that bring one patch path with different content."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from regraft.cli.main import main
from regraft.core.patch_difference import difference

WHO = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **WHO}
MANIFEST = """\
[project]
name = "x"
[dependencies.one]
url = "../one"
[images.gpu.baked.one]
path = "/opt/one"
imports = ["one"]
patches = [{}]
[suites.all]
image = "gpu"
"""


def diff(path: str, *added: str) -> str:
    """One hunk for each line that is added."""
    hunks = (
        f"@@ -{at},2 +{at + number},3 @@\n a\n+{line}\n b\n"
        for number, (at, line) in enumerate(zip(range(1, 99, 10), added, strict=False))
    )
    return f"--- a/{path}\n+++ b/{path}\n" + "".join(hunks)


class Repository:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.git("init", "--quiet", "--template=")
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        self.commit({"regraft.toml": MANIFEST.format(""), "readme": "x\n"})

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, env=ENV, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, files: dict[str, str | None], branch: str | None = None) -> str:
        """On the branch that is checked out, or on another one that begins at `main`, which is checked out then."""
        if branch:
            self.git("checkout", "--quiet", "-B", branch, "main")
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                (self.root / path).unlink()
            else:
                (self.root / path).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "m")
        return self.git("rev-parse", "HEAD")

    def check(self, *words: str) -> tuple[int, str, str]:
        self.capsys.readouterr()
        code = main(["check", "--project", str(self.root), *words])
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def found(self, *revisions: str) -> list[Any]:
        words = [word for one in revisions for word in ("--beside", one)]
        code, out, err = self.check(*words, "--format", "json")
        assert (code, err) == (0, ""), err
        return [one for one in json.loads(out)["findings"] if "beside" in one["rule"]]


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    return Repository(tmp_path, capsys)


def test_two_branches_that_add_the_same_patch_path_with_different_content(repository: Repository) -> None:
    """https://github.com/ai-dynamo/dynamo/pull/13616: both added one name, each with another payload."""
    path = "patches/01-x.patch"
    listed = MANIFEST.format(f'"{path}"')
    theirs = repository.commit({path: diff("a.py", "one", "two", "four"), "regraft.toml": listed}, "theirs")
    ours = repository.commit({path: diff("a.py", "one", "two", "three"), "regraft.toml": listed}, "ours")
    repository.commit({"readme": "later\n"})
    [one] = repository.found("theirs")
    assert (one["rule"], one["severity"], one["path"]) == ("patch-beside", "warning", str(repository.root / path))
    assert one["message"] == (
        "HEAD and theirs both add this patch, with different content:"
        " 2 hunks are the same; only at HEAD: a.py (+1 -0); only at theirs: a.py (+1 -0)"
    )
    assert [w["message"] for w in one["witnesses"]] == [
        f"HEAD has it so since {ours[:12]}",
        f"theirs has it so since {theirs[:12]}",
    ]
    assert one["fix"] == "give one of them another name, or make one patch of both, before the second is merged"
    code, out, _ = repository.check("--beside", "theirs")
    assert code == 0
    assert "branches 1" in out


def test_a_patch_that_both_branches_changed_is_told_and_one_that_a_single_branch_changed_is_not(
    repository: Repository,
) -> None:
    both = {"both.patch": diff("a", "x"), "mine.patch": diff("a", "x"), "theirs.patch": diff("a", "x")}
    repository.commit({**both, "gone.patch": diff("a", "x")})
    repository.commit({"both.patch": diff("a", "y"), "theirs.patch": diff("a", "y"), "gone.patch": None}, "theirs")
    repository.commit({"both.patch": diff("a", "z"), "mine.patch": diff("a", "z"), "gone.patch": diff("a", "z")}, "b")
    [one] = repository.found("theirs")
    assert one["path"].endswith("/both.patch")
    assert "both change this patch" in one["message"]


def test_the_same_content_on_both_and_files_that_are_no_patches_are_not_told(repository: Repository) -> None:
    repository.commit({"x.patch": diff("a", "x"), "notes": "theirs\n"}, "theirs")
    repository.commit({"x.patch": diff("a", "x"), "notes": "ours\n"}, "ours")
    assert repository.found("theirs") == []


def test_what_only_the_other_branch_lists_as_a_patch_is_one(repository: Repository) -> None:
    repository.commit({"fix.txt": diff("a", "x"), "regraft.toml": MANIFEST.format('"fix.txt"')}, "theirs")
    repository.commit({"fix.txt": diff("a", "y")}, "ours")
    [one] = repository.found("theirs")
    assert one["path"].endswith("/fix.txt")


def test_a_manifest_that_cannot_be_read_there_is_said(repository: Repository) -> None:
    repository.commit({"x.patch": diff("a", "x"), "regraft.toml": "no manifest"}, "theirs")
    repository.commit({"x.patch": diff("a", "y")}, "ours")
    assert [(one["rule"], one["severity"]) for one in repository.found("theirs")] == [
        ("beside-unread", "note"),
        ("patch-beside", "warning"),
    ]


def test_several_branches_are_each_compared(repository: Repository) -> None:
    repository.commit({"x.patch": diff("a", "x")}, "one")
    repository.commit({"y.patch": diff("a", "x")}, "two")
    repository.commit({"x.patch": diff("a", "3"), "y.patch": diff("a", "3")}, "ours")
    found = repository.found("one", "two", "main")
    assert [(one["path"].rpartition("/")[2], one["message"][:15]) for one in found] == [
        ("x.patch", "HEAD and one bo"),
        ("y.patch", "HEAD and two bo"),
    ]


def test_what_was_merged_already_is_no_difference(repository: Repository) -> None:
    repository.commit({"x.patch": diff("a", "x")}, "theirs")
    repository.commit({"readme": "ours\n"}, "ours")
    repository.git("merge", "--quiet", "--no-edit", "theirs")
    repository.commit({"x.patch": diff("a", "y")})
    assert repository.found("theirs") == []


def test_branches_without_a_common_commit_cannot_be_compared(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "--orphan", "alone")
    repository.git("commit", "--quiet", "--message", "another root")
    code, _, err = repository.check("--beside", "main")
    assert code == 2
    assert "--beside: HEAD and 'main' have no common commit here" in err
    assert "fetch-depth: 0" in err


@pytest.mark.parametrize("revision", ["nowhere", "--all", "", "HEAD:readme", "main\nHEAD"])
def test_what_is_no_commit_is_said(repository: Repository, revision: str) -> None:
    code, _, err = repository.check(f"--beside={revision}")
    assert code == 2
    assert "is no commit here" in err


def test_a_project_that_is_no_repository_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "regraft.toml").write_text(MANIFEST.format(""))
    assert main(["check", "--project", str(tmp_path), "--beside", "main"]) == 2
    assert "no git checkout" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (diff("a", "x"), diff("b", "x"), "only at A: a (+1 -0); only at B: b (+1 -0)"),
        (diff("a", "x", "y"), diff("a", "x"), "1 hunk is the same; only at A: a (+1 -0)"),
        (
            diff("a", *"vwxyz"),
            diff("b", "x"),
            "only at A: a (+1 -0), a (+1 -0), a (+1 -0) and 2 more; only at B: b (+1 -0)",
        ),
        (
            f"Subject: x\n\n{diff('a', 'x')}",
            diff("a", "x"),
            "they change the same lines, with other context, places or words around them",
        ),
        ("a\nb\n", "b\nc\nd\n", "1 lines stand only at A, 2 only at B"),
    ],
)
def test_the_difference_of_two_patches_in_a_line(ours: str, theirs: str, said: str) -> None:
    assert difference(ours.encode(), theirs.encode(), "A", "B") == said
