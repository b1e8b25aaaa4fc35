"""`regraft image probe --explain`: what a baked checkout is made of, with real git and the files of an image below a folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MANIFEST = """\
[project]
name = "mine"

[dependencies.eng]
url = "../eng.git"
branch = "main"
lock = { file = "eng.commit" }

[images.img]
dockerfile = "Dockerfile"
python = "/usr/bin/python3"

[images.img.baked.eng]
path = "/opt/eng"
patches = ["one.patch", "two.patch"]
"""


def patch(path: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{path} 1\n+{path} patched\n"


class World:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.project, self.eng, self.baked = root / "project", root / "eng", root / "image/opt/eng"
        self.eng.mkdir()
        self.git("init", "--quiet")
        self.git("checkout", "--quiet", "-b", "main")
        self.commits = [self.commit("one", "two", "rest"), self.commit("more"), self.commit("last")]
        subprocess.run(["git", "clone", "--quiet", "--bare", "eng", "eng.git"], cwd=root, env=self.env, check=True)
        self.project.mkdir()
        self.write("regraft.toml", MANIFEST)
        self.write("one.patch", patch("one"))
        self.write("two.patch", patch("two"))
        self.write("eng.commit", self.commits[1])
        pin = f"ARG C={self.commits[1]}\nRUN git clone https://x.org/o/eng /opt/eng && git -C /opt/eng checkout $C\n"
        self.write("Dockerfile", f"FROM a\n{pin}")
        shutil.copytree(self.eng, self.baked)
        (root / "image/usr/bin").mkdir(parents=True)
        self.python = root / "image/usr/bin/python3"
        self.python.symlink_to(sys.executable)
        self.at(1)
        for name in ("one", "two"):
            (self.baked / name).write_text(f"{name} patched\n")

    @property
    def env(self) -> dict[str, str]:
        who = {f"GIT_{one}_{what}": "t@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "XDG_CACHE_HOME": str(self.root / "cache"), **who}

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.eng, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, *names: str) -> str:
        for name in names:
            (self.eng / name).write_text(f"{name} 1\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", names[0])
        return self.git("rev-parse", "HEAD")

    def at(self, number: int) -> None:
        self.git("checkout", "--quiet", "--detach", self.commits[number], cwd=self.baked)

    def write(self, name: str, text: str) -> None:
        (self.project / name).write_text(text)

    def probe(self, *words: str, codes: tuple[int, ...] = (0, 1)) -> tuple[int, str]:
        argv = [
            sys.executable,
            "-m",
            "regraft",
            "image",
            "probe",
            "--explain",
            "--root",
            str(self.root / "image"),
            *words,
        ]
        done = subprocess.run(argv, cwd=self.project, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode in codes, done.stderr
        return done.returncode, done.stdout if done.returncode in (0, 1) else f"{done.stdout}{done.stderr}"

    def eng_of(self, *words: str) -> Any:
        return json.loads(self.probe("--format", "json", *words)[1])["dependencies"]["eng"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_everything_as_the_project_says(world: World) -> None:
    code, said = world.probe()
    assert code == 0
    assert said == (
        "eng at /opt/eng\n"
        f"  commit    {world.commits[1]} (recorded in the checkout)\n"
        "  expected  the same (eng.commit)\n"
        "  expected  the same (Dockerfile:3)\n"
        "  patch     one.patch: is in it\n"
        "  patch     two.patch: is in it\n"
        "  changed   one: by one.patch\n"
        "  changed   two: by two.patch\n"
    )


@pytest.mark.slow
def test_files_that_nothing_explains_are_told_from_those_of_a_patch(world: World) -> None:
    """https://github.com/radixark/miles/issues/603"""
    (world.baked / "rest").write_text("edited\n")
    (world.baked / "stray.py").write_text("x = 1\n")
    code, said = world.probe()
    assert code == 1
    assert "  modified  rest: explained by nothing\n  untracked stray.py: explained by nothing\n" in said
    assert "  changed   one: by one.patch\n" in said


@pytest.mark.slow
def test_a_patch_that_was_left_out_and_one_whose_file_was_edited_since(world: World) -> None:
    (world.baked / "one").write_text("one 1\n")
    (world.baked / "two").write_text("two patched and edited\n")
    states = {one["path"]: one["state"] for one in world.eng_of()["patches"]}
    assert states == {"one.patch": "not-in", "two.patch": "differs"}
    assert world.eng_of()["by_patch"] == {}


@pytest.mark.slow
def test_a_file_that_a_left_out_patch_edits_is_explained_by_that(world: World) -> None:
    (world.baked / "one").write_text("one 1\n")
    (world.baked / "rest").write_text("edited\n")
    assert [one["path"] for one in world.eng_of()["by_nothing"]] == ["rest"]


def test_an_interpreter_that_cannot_be_started_is_an_error_after_what_could_be_looked_at(world: World) -> None:
    world.python.unlink()
    code, said = world.probe(codes=(3,))
    assert code == 3
    assert "  patch     one.patch: is in it\n" in said
    assert "[missing-interpreter]" in said


@pytest.mark.slow
def test_a_checkout_that_is_not_there_is_an_error_and_no_unknown_commit(world: World) -> None:
    shutil.rmtree(world.baked)
    code, said = world.probe("--candidates", "10", codes=(3,))
    assert code == 3
    assert "commit" not in said.partition("error:")[0]
    assert "/opt/eng" in said


def test_everything_that_could_not_be_looked_at_is_in_the_error(world: World) -> None:
    shutil.rmtree(world.baked)
    world.python.unlink()
    said = world.probe(codes=(3,))[1]
    assert said.startswith("error: ")
    assert "there is no interpreter at" in said
    assert "; /opt/eng: what eng holds cannot be told" in said


@pytest.mark.parametrize("words", [(), ("--write",), ("--explain",)])
def test_a_bare_name_below_a_root_is_never_this_machines_interpreter(world: World, words: tuple[str, ...]) -> None:
    world.write("regraft.toml", MANIFEST.replace('python = "/usr/bin/python3"', ""))
    argv = [sys.executable, "-m", "regraft", "image", "probe", "--root", str(world.root / "image"), *words]
    done = subprocess.run(argv, cwd=world.project, env=world.env, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "[missing-interpreter]" in done.stderr
    assert 'images.img.python = "/usr/bin/python3" is there' in done.stderr
    assert not (world.project / "baselines").exists()


@pytest.mark.slow
def test_a_patch_that_does_not_fit_the_commit(world: World) -> None:
    world.write("one.patch", patch("one").replace("-one 1", "-one 0"))
    assert world.eng_of()["patches"][0]["state"] == "does-not-fit"


@pytest.mark.slow
def test_another_commit_than_lock_and_dockerfile_expect(world: World) -> None:
    world.at(1)
    world.git("checkout", "--quiet", "--force", "--detach", world.commits[2], cwd=world.baked)
    for name in ("one", "two"):
        (world.baked / name).write_text(f"{name} patched\n")
    code, said = world.probe()
    assert code == 1
    assert f"  expected  another: {world.commits[1]} (eng.commit)\n" in said
    assert f"  expected  another: {world.commits[1]} (Dockerfile:3)\n" in said


@pytest.mark.slow
def test_without_a_repository_the_commit_is_unknown_and_never_guessed(world: World) -> None:
    """https://github.com/NVIDIA-NeMo/Speech/issues/11943"""
    shutil.rmtree(world.baked / ".git")
    code, said = world.probe()
    assert code == 1
    assert "  commit    unknown: nothing records it; `--candidates 50` compares" in said
    assert "one.patch: not known" in said


@pytest.mark.slow
@pytest.mark.parametrize("patched", [True, False])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_it_is_found_by_the_files_among_candidates(world: World, patched: bool, number: int) -> None:
    world.git("checkout", "--quiet", "--force", "--detach", world.commits[number], cwd=world.baked)
    if patched:
        for name in ("one", "two"):
            (world.baked / name).write_text(f"{name} patched\n")
    shutil.rmtree(world.baked / ".git")
    found = world.eng_of("--candidates", "10")
    assert (found["commit"], found["how"]) == (world.commits[number], "found")
    assert {one["state"] for one in found["patches"]} == {"in" if patched else "not-in"}


@pytest.mark.slow
def test_files_of_no_candidate_are_unknown(world: World) -> None:
    (world.baked / "rest").write_text("edited\n")
    shutil.rmtree(world.baked / ".git")
    code, said = world.probe("--candidates", "10")
    assert code == 1
    assert "  commit    unknown: none of 3 candidates has just these files\n" in said


@pytest.mark.slow
def test_no_more_candidates_are_tried_than_were_asked_for(world: World) -> None:
    world.write("eng.commit", "")
    world.write("Dockerfile", "FROM a\n")
    world.git("checkout", "--quiet", "--force", "--detach", world.commits[0], cwd=world.baked)
    shutil.rmtree(world.baked / ".git")
    assert world.eng_of("--candidates", "1")["compared"] == 1
    assert world.eng_of("--candidates", "1")["commit"] is None
    assert world.eng_of("--candidates", "3")["commit"] == world.commits[0]


@pytest.mark.slow
def test_two_commits_with_the_same_files_are_both_named(world: World) -> None:
    world.git("commit", "--quiet", "--allow-empty", "--message", "Nothing")
    world.git("push", "--quiet", str(world.root / "eng.git"), "main")
    world.git("checkout", "--quiet", "--force", "--detach", world.commits[2], cwd=world.baked)
    shutil.rmtree(world.baked / ".git")
    found = world.eng_of("--candidates", "10")
    assert {found["commit"], *found["alike"]} == {world.commits[2], world.git("rev-parse", "main")}
    assert "(which has the same files)" in world.probe("--candidates", "10")[1]
