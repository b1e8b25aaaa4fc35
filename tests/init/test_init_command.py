"""`regraft init` as a command: what it writes, and what it leaves alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCKERFILE = "FROM a\nCOPY p /p\nRUN git clone -b work https://x.org/o/eng /eng && cd /eng && git apply /p/1.patch\n"
PATCH = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work/p").mkdir(parents=True)
    (tmp_path / "work/Dockerfile").write_text(DOCKERFILE)
    (tmp_path / "work/p/1.patch").write_text(PATCH)
    return tmp_path / "work"


def regraft(cwd: Path, *words: str) -> tuple[int, str, str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd.parent)}
    argv = [sys.executable, "-m", "regraft", *words]
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def git(cwd: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd.parent)}
    subprocess.run(["git", *words], cwd=cwd, env=env, check=True, capture_output=True)


def test_it_writes_what_both_checks_then_accept(project: Path) -> None:
    code, said, _ = regraft(project, "init")
    assert code == 0
    assert said.startswith("wrote regraft.toml: dependencies 1, images 1, patches 1, suites 0; open questions ")
    assert "regraft.toml:10: dependencies" not in said
    assert regraft(project, "init", "--check")[0] == 0
    code, said, _ = regraft(project, "check")
    assert (code, said.count("\n")) == (0, 1)
    assert "found: errors 0, warnings 0, notes 0" in said


@pytest.mark.parametrize("kind", ["file", "link"])
def test_it_never_writes_over_a_manifest(project: Path, kind: str) -> None:
    manifest = project / "regraft.toml"
    if kind == "file":
        manifest.write_text("mine\n")
    else:
        manifest.symlink_to("nowhere")
    code, said, error = regraft(project, "init")
    assert (code, said) == (1, "")
    assert "[manifest-exists]" in error
    assert (manifest.read_text() == "mine\n") if kind == "file" else not (project / "nowhere").exists()


def test_force_writes_over_it(project: Path) -> None:
    (project / "regraft.toml").write_text("mine\n")
    assert regraft(project, "init", "--force")[0] == 0
    assert "[dependencies.eng]" in (project / "regraft.toml").read_text()


def test_stdout_writes_nothing(project: Path) -> None:
    code, said, _ = regraft(project, "init", "--stdout")
    assert code == 0
    assert 'url = "https://x.org/o/eng"  # Dockerfile:3' in said
    assert sorted(one.name for one in project.iterdir()) == ["Dockerfile", "p"]


def test_json(project: Path) -> None:
    answer = json.loads(regraft(project, "init", "--stdout", "--format", "json")[1])
    assert answer["written"] is None
    assert answer["holds"] == {"dependencies": 1, "images": 1, "patches": 1, "suites": 0}
    assert {one["text"].partition(":")[0] for one in answer["questions"]} >= {"images.default.repository", "suites"}


def test_check_is_red_where_they_differ_and_needs_a_manifest(project: Path) -> None:
    code, _, error = regraft(project, "init", "--check")
    assert code == 2
    assert "[no-manifest]" in error
    regraft(project, "init")
    (project / "p/2.patch").write_text(PATCH)
    dockerfile = project / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text() + "RUN cd /eng && git apply /p/2.patch\n")
    code, said, _ = regraft(project, "init", "--check")
    assert code == 1
    assert "Dockerfile:4 applies p/2.patch, which is not in the manifest [patches-differ]" in said
    answer = json.loads(regraft(project, "init", "--check", "--format", "json")[1])
    assert [one["rule"] for one in answer["findings"]] == ["patches-differ"]


def test_check_without_a_manifest_is_about_the_proposed_one_and_says_so(project: Path) -> None:
    (project / "p/1.patch").write_text("")
    code, said, told = regraft(project, "check")
    assert code == 1
    assert "p/1.patch: error: the patch is empty [patch-unreadable]" in said
    assert "regraft.toml (proposed):" in said
    assert "there is no regraft.toml: this is about the one that `regraft init` would write" in told
    assert not (project / "regraft.toml").exists()


def test_patch_status_without_a_manifest_judges_what_would_be_proposed(project: Path, tmp_path: Path) -> None:
    upstream = tmp_path / "eng"
    upstream.mkdir()
    git(upstream, "init", "--quiet")
    git(upstream, "checkout", "--quiet", "-b", "work")
    (upstream / "f").write_text("a\n")
    git(upstream, "add", "f")
    git(upstream, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "One")
    (project / "Dockerfile").write_text(DOCKERFILE.replace("https://x.org/o/eng", f"file://{upstream}"))
    code, said, told = regraft(project, "patch", "status", "--format", "json")
    assert code == 0, told
    assert "would write" in told
    assert '"state": "applies"' in said


def test_other_commands_still_want_a_manifest(project: Path) -> None:
    assert regraft(project, "patch", "why", "p/1.patch")[0] == 2


def test_nothing_to_propose_is_no_manifest(tmp_path: Path) -> None:
    code, _, error = regraft(tmp_path, "check")
    assert code == 2
    assert "[no-manifest]" in error


def test_files_that_git_ignores_are_not_read(project: Path) -> None:
    git(project, "init", "--quiet")
    (project / "build").mkdir()
    (project / "build/Dockerfile").write_text(DOCKERFILE)
    (project / ".gitignore").write_text("build/\n")
    assert json.loads(regraft(project, "init", "--stdout", "--format", "json")[1])["holds"]["images"] == 1
    (project / ".gitignore").write_text("")
    assert json.loads(regraft(project, "init", "--stdout", "--format", "json")[1])["holds"]["images"] == 2


def test_a_link_that_leads_out_of_the_project_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("FROM a\nRUN git clone https://secret.example.org/o/x /x\n")
    (project / "Dockerfile.more").symlink_to(tmp_path / "secret")
    assert "secret.example.org" not in regraft(project, "init", "--stdout")[1]
