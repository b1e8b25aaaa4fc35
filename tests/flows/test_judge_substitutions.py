"""Replacements at the gate: git itself writes what regraft makes of them, and the tree is the one of the changed files."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.core.objects import Commit
from regraft.flows.judge import PatchFile, Series, judge

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass
class Bare:
    path: Path
    git: Git

    def run(self, *arguments: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=ENVIRONMENT, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, tuple[str, bytes]]) -> Commit:
        head = b"commit refs/heads/main\nmark :1\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nm\ndeleteall\n"
        stream = [head]
        for path, (mode, content) in files.items():
            name = "".join(f"\\{byte:03o}" for byte in path.encode()).encode()
            stream.append(b'M %s inline "%s"\ndata %d\n%s\n' % (mode.encode(), name, len(content), content))
        stream.append(b"get-mark :1\n")
        return Commit(self.run("fast-import", "--quiet", "--force", stdin=b"".join(stream)))

    def tree(self, files: dict[str, tuple[str, bytes]]) -> str:
        return self.run("rev-parse", f"{self.commit(files)}^{{tree}}")

    def judge(self, files: dict[str, tuple[str, bytes]], *patches: PatchFile) -> Series:
        return judge(self.commit(files), patches, ObjectStore(self.git, self.path), None)


@pytest.fixture
def bare(tmp_path: Path, bare_template: Path, machine: dict[str, str]) -> Iterator[Bare]:
    path = tmp_path / "upstream.git"
    subprocess.run(["cp", "-R", str(bare_template), str(path)], check=True)
    with Git(machine) as git:
        yield Bare(path, git)


def declared(*entries: tuple[str, str, str], root: bytes = b"") -> PatchFile:
    text = "".join(f'[[replace]]\nfile = \'{file}\'\nold = "{old}"\nnew = "{new}"\n' for file, old, new in entries)
    return PatchFile("x.toml", text.encode(), root=root)


@pytest.mark.parametrize(
    ("path", "mode", "before", "after"),
    [
        ("f", "100644", b"a\nold\nb\n", b"a\nnew\nb\n"),
        ("bin/run", "100755", b"#!/bin/sh\nold\n", b"#!/bin/sh\nnew\n"),
        ("no newline", "100644", b"a\nold", b"a\nnew"),
        ("within", "100644", b"x = b.old(1)", b"x = b.new(1)"),
        ("crlf", "100644", b"a\r\nold\r\nb\r\n", b"a\r\nnew\r\nb\r\n"),
        ('d/sp ace \\ " ü.py', "100644", b"\xff\0old\0\n\n", b"\xff\0new\0\n\n"),
        ("\\ No end of file", "100644", b"-old\n+x\n\\ No end of file\n", b"-new\n+x\n\\ No end of file\n"),
    ],
)  # fmt: skip
def test_the_tree_is_the_one_with_the_text_replaced(
    bare: Bare, path: str, mode: str, before: bytes, after: bytes
) -> None:
    files = {path: (mode, before), "other": ("100644", b"old\n")}
    series = bare.judge(files, declared((path, "old", "new")))
    assert (series.state, series.patches[0].reason) == ("applies", None)
    assert series.tree == bare.tree({**files, path: (mode, after)})


def test_a_file_may_become_empty_and_stays(bare: Bare) -> None:
    files = {"f": ("100644", b"old\n")}
    series = bare.judge(files, declared(("f", "old\\n", "")))
    assert series.tree == bare.tree({"f": ("100644", b"")})


def test_what_stands_below_a_root_is_found_there(bare: Bare) -> None:
    files = {"python/f": ("100644", b"old\n"), "f": ("100644", b"old\n")}
    series = bare.judge(files, declared(("f", "old", "new"), root=b"python"))
    assert series.tree == bare.tree({**files, "python/f": ("100644", b"new\n")})


def test_anchors_alone_leave_the_tree_as_it_is(bare: Bare) -> None:
    files = {"f": ("100644", b"def hook():\n")}
    series = bare.judge(files, PatchFile("x.toml", b"[[anchor]]\nfile = 'f'\ntext = 'def hook'\n"))
    assert (series.state, series.tree) == ("applies", bare.tree(files))


def test_diffs_and_replacements_build_on_one_another(bare: Bare) -> None:
    first = b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+old\n c\n"
    last = b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-new\n+end\n c\n"
    files = {"f": ("100644", b"a\nb\nc\n")}
    series = bare.judge(files, PatchFile("1.patch", first), declared(("f", "old", "new")), PatchFile("3.patch", last))
    assert [one.patch.state for one in series.patches] == ["applies"] * 3
    assert series.tree == bare.tree({"f": ("100644", b"a\nend\nc\n")})


def test_what_does_not_fit_is_left_out_whole(bare: Bare) -> None:
    files = {"f": ("100644", b"old\n"), "g": ("100644", b"other\n")}
    series = bare.judge(files, declared(("f", "old", "new"), ("g", "old", "new")))
    assert (series.state, series.tree) == ("conflict", bare.tree(files))
    assert "g: it is not there (replacement, entry 1 of 1, declared in line 5)" in (series.patches[0].reason or "")


def test_what_is_a_link_now_is_gone(bare: Bare) -> None:
    assert bare.judge({"f": ("120000", b"old")}, declared(("f", "old", "new"))).state == "target-gone"
