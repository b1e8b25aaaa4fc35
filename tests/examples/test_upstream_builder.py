"""The upstream of the example on real software: releases become commits and tags, whatever machine makes them."""

import importlib.util
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "examples/real-image/upstream.py"
OLD = {
    "PKG-INFO": "made",
    "setup.py": "0.1\n",
    "src/pair.egg-info/SOURCES.txt": "made",
    "src/pair.py": 'WORD = "one"\n',
}
NEW = {"pyproject.toml": "0.2\n", "src/pair.py": 'WORD = "two"\n', 'docs/a "b".txt': "text"}


@pytest.fixture(scope="module")
def upstream() -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_image_upstream", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def sdist(folder: Path, version: str, files: dict[str, str], *, time: int = 1_600_000_000, mode: int = 0o644) -> Path:
    path = folder / f"pair-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"pair-{version}/{name}")
            member.size, member.mtime, member.mode = len(text), time, mode
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def git(bare: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", bare, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


@pytest.fixture
def bare(tmp_path: Path, upstream: ModuleType) -> Path:
    pull = upstream.Pull(7, "0.1", "src/pair.py", '"one"', '"seven"', "Say seven")
    sdists = [sdist(tmp_path, "0.1", OLD), sdist(tmp_path, "0.2", NEW, time=1_700_000_000)]
    assert upstream.build(tmp_path / "pair.git", sdists, [pull]) == ["0.1", "0.2"]
    return tmp_path / "pair.git"


def test_each_release_is_a_commit_with_a_tag_after_the_one_before(bare: Path) -> None:
    assert git(bare, "log", "--format=%s %ct", "main").splitlines() == [
        "Release 0.2 1700000000",
        "Release 0.1 1600000000",
    ]
    for tag, commit in (("0.1", "main~1"), ("0.2", "main")):
        assert git(bare, "cat-file", "-t", f"refs/tags/{tag}") == "tag"
        assert git(bare, "rev-parse", f"refs/tags/{tag}^{{commit}}") == git(bare, "rev-parse", commit)


def test_a_release_holds_its_files_and_nothing_that_the_sdist_generated(bare: Path) -> None:
    def names(ref: str) -> list[str]:
        return git(bare, "ls-tree", "-r", "-z", "--name-only", ref).rstrip("\0").split("\0")

    assert names("0.1") == [".gitignore", "setup.py", "src/pair.py"]
    assert names("0.2") == [".gitignore", 'docs/a "b".txt', "pyproject.toml", "src/pair.py"]
    assert git(bare, "show", "0.2:src/pair.py") == 'WORD = "two"'


def test_a_pull_request_stands_beside_the_branch_on_its_release(bare: Path) -> None:
    assert git(bare, "show", "refs/pull/7/head:src/pair.py") == 'WORD = "seven"'
    assert git(bare, "rev-parse", "refs/pull/7/head~1") == git(bare, "rev-parse", "0.1^{commit}")
    refs = git(bare, "for-each-ref", "--format=%(refname)").splitlines()
    assert refs == ["refs/heads/main", "refs/pull/7/head", "refs/tags/0.1", "refs/tags/0.2"]


def test_the_hashes_are_the_same_whoever_makes_it(
    bare: Path, tmp_path: Path, upstream: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Other\n[core]\n\tautocrlf = true\n")
    for name, value in (("HOME", str(tmp_path)), ("GIT_DIR", "/nowhere"), ("TZ", "Asia/Tokyo")):
        monkeypatch.setenv(name, value)
    pull = upstream.Pull(7, "0.1", "src/pair.py", '"one"', '"seven"', "Say seven")
    upstream.build(tmp_path / "again.git", [tmp_path / "pair-0.1.tar.gz", tmp_path / "pair-0.2.tar.gz"], [pull])
    monkeypatch.undo()
    assert git(tmp_path / "again.git", "show-ref") == git(bare, "show-ref")


def test_the_executable_bit_stays(tmp_path: Path, upstream: ModuleType) -> None:
    upstream.build(tmp_path / "pair.git", [sdist(tmp_path, "0.1", {"run.sh": "#!/bin/sh\n"}, mode=0o755)])
    assert git(tmp_path / "pair.git", "ls-tree", "main", "run.sh").startswith("100755 blob")


@pytest.mark.parametrize("name", ["../outside", "a/../../outside"])
def test_a_path_that_leads_out_of_the_sdist_is_refused(tmp_path: Path, upstream: ModuleType, name: str) -> None:
    with pytest.raises(ValueError, match="no plain file"):
        upstream.build(tmp_path / "pair.git", [sdist(tmp_path, "0.1", {name: "x"})])
    assert not (tmp_path / "pair.git").exists()


def test_a_pull_request_whose_text_is_not_there_is_refused(tmp_path: Path, upstream: ModuleType) -> None:
    pull = upstream.Pull(7, "0.1", "src/pair.py", '"three"', '"seven"', "Say seven")
    with pytest.raises(ValueError, match="does not hold its text once"):
        upstream.build(tmp_path / "pair.git", [sdist(tmp_path, "0.1", OLD)], [pull])
