"""The hash of an image's inputs over real commits, and what `image check` says of a work tree."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MANIFEST = """\
[project]
name = "x"
[dependencies.one]
url = "../one"
lock = { file = "lock.txt" }
[images.gpu]
dockerfile = "docker/Dockerfile"
build-args = { MODE = "fast" }
inputs = ["tools/*.py"]
[images.gpu.baked.one]
path = "/opt/one"
imports = ["one"]
patches = ["docker/a.patch"]
[images.lane]
"""
DOCKERFILE = """\
FROM ubuntu:24.04
ARG MODE
COPY docker/a.patch /patches/
RUN cd /opt/one && git apply /patches/a.patch
RUN --mount=type=bind,source=docker/build.sh,target=/b.sh sh /b.sh
"""
FILES = {
    "regraft.toml": MANIFEST,
    "docker/Dockerfile": DOCKERFILE,
    "docker/a.patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "docker/build.sh": "make\n",
    "tools/generate.py": "print()\n",
    "lock.txt": "1" * 40 + "\n",
    "readme.md": "words\n",
}
WHO = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENV = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **WHO,
}


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, env=ENV, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path) -> str:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "m")
    return git(root, "rev-parse", "HEAD")


def regraft(root: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "regraft", *words]
    return subprocess.run(argv, capture_output=True, text=True, env={**ENV, **environ}, check=False, cwd=root)


def inputs(root: Path, *words: str) -> dict[str, Any]:
    done = regraft(root, "image", "inputs", "--format", "json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    (one,) = json.loads(done.stdout)["images"]
    assert isinstance(one, dict)
    return one


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "--quiet")
    commit(root)
    return root


def test_the_inputs_are_named_with_their_places(project: Path) -> None:
    found = inputs(project)
    assert [(one["kind"], one["name"]) for one in found["inputs"] if one["kind"] not in ("instruction", "setting")] == [
        ("base", "ubuntu:24.04"),
        ("build-argument", "MODE"),
        ("file", "docker/a.patch"),
        ("file", "docker/build.sh"),
        ("file", "tools/generate.py"),
        ("pin", "one"),
    ]
    blob = git(project, "rev-parse", "HEAD:docker/build.sh")
    (script,) = [one for one in found["inputs"] if one["name"] == "docker/build.sh"]
    assert script["value"] == f"100644 {blob}"
    assert script["place"] == {"path": "docker/Dockerfile", "line": 5}
    assert [one["kind"] for one in found["loose"]] == ["base"]


def test_the_work_tree_does_not_count(project: Path) -> None:
    before = inputs(project)
    (project / "docker/build.sh").write_text("make all\n")
    (project / "docker/a.patch").unlink()
    (project / "docker/Dockerfile").chmod(0o755)
    (project / "tools/untracked.py").write_text("")
    os.utime(project / "tools/generate.py", (1, 1))
    git(project, "add", "docker/build.sh")
    (project / "regraft.toml").write_text("no manifest")
    assert inputs(project) == before


def test_a_patch_at_an_address_counts_by_its_checksum_and_is_no_unused_file(project: Path) -> None:
    before = inputs(project)["hash"]
    hashes = []
    for digit in "01":
        address = f"https://example.org/x.patch#sha256={digit * 64}"
        text = MANIFEST.replace('["docker/a.patch"]', f'["docker/a.patch", "{address}"]')
        (project / "regraft.toml").write_text(text)
        commit(project)
        found = inputs(project)
        hashes.append(found["hash"])
        (one,) = [one for one in found["inputs"] if one["name"] == "https://example.org/x.patch"]
        assert (one["kind"], one["value"]) == ("file", f"sha256 {digit * 64}")
    assert len({before, *hashes}) == 3
    done = regraft(project, "image", "check")
    assert "example.org" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["docker/build.sh", "docker/a.patch", "tools/generate.py", "docker/Dockerfile", "lock.txt", "regraft.toml"]
)
def test_each_committed_change_of_an_input_counts(project: Path, path: str) -> None:
    before = inputs(project)["hash"]
    new = {
        "lock.txt": "2" * 40,
        "regraft.toml": MANIFEST.replace('"fast"', '"slow"'),
        "docker/Dockerfile": f"{DOCKERFILE}ENV A=1\n",
    }
    (project / path).write_text(new.get(path, "changed\n"))
    commit(project)
    assert inputs(project)["hash"] != before
    assert inputs(project, "--at", "HEAD~1")["hash"] == before


def test_the_mode_of_an_input_counts_and_an_unrelated_file_does_not(project: Path) -> None:
    before = inputs(project)["hash"]
    (project / "readme.md").write_text("other words\n")
    commit(project)
    assert inputs(project)["hash"] == before
    (project / "docker/build.sh").chmod(0o755)
    commit(project)
    assert inputs(project)["hash"] != before


def test_explain_names_what_differs(project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    (project / "docker/build.sh").write_text("make all\n")
    second = commit(project)
    done = regraft(project, "image", "inputs", "--explain", first, "HEAD", "--format", "json")
    (one,) = json.loads(done.stdout)["images"]
    assert done.returncode == 1
    assert (one["before"]["commit"], one["after"]["commit"]) == (first, second)
    assert [each["name"] for each in one["moved"]] == ["docker/build.sh"]
    same = regraft(project, "image", "inputs", "--explain", first, first)
    assert (same.returncode, same.stdout.splitlines()[-1][-19:]) == (0, "inputs are the same")


def test_explain_says_of_an_image_that_only_one_of_the_commits_builds_that_it_does(project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    (project / "regraft.toml").write_text(MANIFEST + '[images.late]\ndockerfile = "docker/Dockerfile"\n')
    second = commit(project)
    done = regraft(project, "image", "inputs", "--explain", first, second)
    assert done.returncode == 1
    gpu, late = done.stdout.splitlines()
    assert gpu.endswith("the inputs are the same")
    assert late.startswith(f"late: only the second, {second[:12]} builds it")
    done = regraft(project, "image", "inputs", "--explain", second, first, "--image", "late", "--format", "json")
    (one,) = json.loads(done.stdout)["images"]
    assert (done.returncode, one["before"]["commit"], one["after"], one["moved"]) == (1, second, None, [])
    done = regraft(project, "image", "inputs", "--explain", first, second, "--image", "nobody")
    assert (done.returncode, "no image 'nobody'" in done.stderr) == (2, True)


def test_a_mistake_in_one_of_two_commits_names_the_commit(project: Path) -> None:
    (project / "regraft.toml").write_text("x=")
    commit(project)
    (project / "regraft.toml").write_text(MANIFEST)
    commit(project)
    done = regraft(project, "image", "inputs", "--explain", "HEAD~1", "HEAD")
    assert (done.returncode, done.stdout) == (2, "")
    assert "at HEAD~1" in done.stderr


def test_a_repository_without_a_commit_is_said_to_have_none(project: Path) -> None:
    git(project, "checkout", "--quiet", "--orphan", "other")
    done = regraft(project, "image", "inputs")
    assert (done.returncode, "there is no commit yet" in done.stderr, "--at" in done.stderr) == (2, True, False)


def test_a_file_that_nobody_committed_is_told_what_to_do_with(project: Path) -> None:
    (project / "docker/Dockerfile").write_text("FROM scratch\nCOPY dist/new.whl /\n")
    commit(project)
    done = regraft(project, "image", "inputs")
    assert "if a step before the build makes it, name it in `generated`" in done.stderr


def test_a_build_argument_of_two_lines_is_refused(project: Path) -> None:
    """It is handed on as a line NAME=VALUE, of which the second half would be another argument."""
    (project / "regraft.toml").write_text(MANIFEST.replace('"fast"', '"fast\\nB=x"'))
    commit(project)
    done = regraft(project, "image", "inputs")
    assert (done.returncode, "text on one line" in done.stderr) == (2, True)


@pytest.mark.parametrize("revision", ["no-such", "-x", "--upload-pack=x", "HEAD\nHEAD", "HEAD:docker", ""])
def test_what_is_no_commit_is_an_error(project: Path, revision: str) -> None:
    done = regraft(project, "image", "inputs", f"--at={revision}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is no commit here" in done.stderr


def test_a_project_without_a_repository_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "regraft.toml").write_text(MANIFEST)
    done = regraft(tmp_path, "image", "inputs")
    assert done.returncode == 2
    assert "no git checkout" in done.stderr


def test_a_manifest_that_is_not_committed_is_an_error(project: Path) -> None:
    git(project, "rm", "--quiet", "--cached", "regraft.toml")
    git(project, "commit", "--quiet", "--message", "m")
    done = regraft(project, "image", "inputs")
    assert (done.returncode, "commit it" in done.stderr) == (2, True)


def test_an_image_without_a_dockerfile_is_left_out_and_asked_for_an_error(project: Path) -> None:
    assert regraft(project, "image", "inputs", "--image", "lane").returncode == 2
    unknown = regraft(project, "image", "inputs", "--image", "gpo")
    assert (unknown.returncode, "did you mean gpu?" in unknown.stderr) == (2, True)


def test_everything_wrong_is_one_error_with_places(project: Path) -> None:
    (project / "docker/Dockerfile").write_text(f"{DOCKERFILE}COPY docker/bild.sh /\nRUNN x\n")
    commit(project)
    done = regraft(project, "image", "inputs", "--format", "json")
    assert done.returncode == 2
    text = done.stdout + done.stderr
    assert "docker/Dockerfile:6" in text
    assert "docker/Dockerfile:7" in text
    assert "docker/build.sh" in text


def test_check_reads_the_work_tree_and_with_at_a_commit(project: Path) -> None:
    assert regraft(project, "image", "check").returncode == 0
    text = DOCKERFILE.replace("a.patch\nRUN --", "a.patch || echo no\nRUN --")
    (project / "docker/Dockerfile").write_text(text)
    done = regraft(project, "image", "check", "--format", "json")
    assert done.returncode == 1
    assert [(one["rule"], one["path"], one["line"]) for one in json.loads(done.stdout)["findings"]] == [
        ("apply-unchecked", "docker/Dockerfile", 4)
    ]
    assert regraft(project, "image", "check", "--at", "HEAD").returncode == 0
    whole = regraft(project, "check", "--format", "json")
    assert "apply-unchecked" in [one["rule"] for one in json.loads(whole.stdout)["findings"]]
    assert json.loads(whole.stdout)["checked"]["builds"] == 1


def test_check_writes_annotations_in_actions(project: Path, tmp_path: Path) -> None:
    (project / "docker/a.patch").unlink()
    summary = tmp_path / "summary.md"
    done = regraft(project, "image", "check", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "::error file=docker/Dockerfile,line=3" in done.stderr
    assert "regraft image check" in summary.read_text()


def test_paths_are_those_of_the_working_directory(project: Path) -> None:
    (project / "docker/a.patch").unlink()
    done = regraft(project.parent, "image", "check", "--project", "project")
    assert done.stdout.startswith("project/docker/Dockerfile:3: error: ")


def below(project: Path, tmp_path: Path, folder: str = "apps/x") -> Path:
    """The same files as a commit of a repository that has other things, too."""
    top = tmp_path / "mono"
    for path in (*FILES, "docker/../../y/docker/a.patch"):
        place = top / folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(FILES.get(path, "of another project\n"))
    (top / "docker").mkdir()
    (top / "docker/build.sh").write_text("of the top\n")
    git(top, "init", "--quiet")
    commit(top)
    return top / folder


def test_a_project_below_the_top_of_its_repository_has_the_same_inputs(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    found, wanted = inputs(nested), inputs(project)
    assert (found["hash"], found["inputs"]) == (wanted["hash"], wanted["inputs"])
    from_the_top = json.loads(
        regraft(nested.parent.parent, "image", "inputs", "--project", "apps/x", "--format", "json").stdout
    )
    assert from_the_top["images"][0]["hash"] == wanted["hash"]


def test_what_lies_beside_a_nested_project_counts_for_nothing(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    before = inputs(nested)["hash"]
    (nested.parent.parent / "docker/build.sh").write_text("other\n")
    commit(nested.parent.parent)
    assert inputs(nested)["hash"] == before
    (nested / "docker/build.sh").write_text("other\n")
    second = commit(nested)
    assert inputs(nested)["hash"] != before
    done = regraft(nested, "image", "inputs", "--explain", "HEAD~1", second, "--format", "json")
    assert [one["name"] for one in json.loads(done.stdout)["images"][0]["moved"]] == ["docker/build.sh"]


@pytest.mark.parametrize("line", ['context = ".."', 'dockerfile = "../Dockerfile"', 'inputs = ["../y/**"]'])
def test_what_a_nested_project_takes_from_beside_it_is_refused(project: Path, tmp_path: Path, line: str) -> None:
    nested = below(project, tmp_path)
    key = line.partition(" ")[0]
    lines = [one for one in MANIFEST.splitlines() if not one.startswith(key)]
    lines.insert(lines.index("[images.gpu]") + 1, line)
    (nested / "regraft.toml").write_text("\n".join(lines))
    commit(nested)
    done = regraft(nested, "image", "inputs")
    assert (done.returncode, done.stdout) == (2, "")
    assert "must not hold `..`" in done.stderr
    assert "let a folder that holds both be the project" in done.stderr


def test_a_source_and_a_link_that_leave_a_nested_project_are_errors(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    (nested / "docker/out").symlink_to("../../y/docker/a.patch")
    (nested / "docker/Dockerfile").write_text(f"{DOCKERFILE}COPY docker/out /\nCOPY ../y/docker/a.patch /\n")
    commit(nested)
    done = regraft(nested, "image", "inputs")
    assert (done.returncode, done.stdout) == (2, "")
    assert "docker/Dockerfile:6: 'docker/out' is a link that leads out of the build context [link-out]" in done.stderr
    assert "docker/Dockerfile:7: COPY of '../y/docker/a.patch'" in done.stderr


def test_git_is_in_a_context_only_at_the_top_of_the_repository(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    for root in (project, nested):
        (root / "docker/Dockerfile").write_text("FROM ubuntu:24.04\nCOPY . /src\n")
        (root / "regraft.toml").write_text(MANIFEST.replace('build-args = { MODE = "fast" }\n', ""))
        commit(root)
    for root, there in ((project, True), (nested, False)):
        base, context = inputs(root)["loose"]
        assert (base["kind"], context["kind"], "`.git`" in context["what"]) == ("base", "context", there)


def test_check_reads_a_project_below_the_top(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    assert regraft(nested, "image", "check").returncode == 0
    (nested / "docker/a.patch").unlink()
    done = regraft(nested.parent.parent, "image", "check", "--project", "apps/x")
    assert done.stdout.startswith("apps/x/docker/Dockerfile:3: error: ")
    assert regraft(nested, "image", "check", "--at", "HEAD").returncode == 0


PROPOSABLE = {
    "Dockerfile": "FROM a:1\nCOPY p /p\nRUN git clone -b work https://x.org/o/eng /eng && cd /eng && git apply /p/1.patch\n",
    "p/1.patch": FILES["docker/a.patch"],
}


@pytest.fixture
def unadopted(tmp_path: Path) -> Path:
    """A repository that has no manifest, in its first commit nor in its work tree."""
    root = tmp_path / "unadopted"
    (root / "p").mkdir(parents=True)
    for path, text in PROPOSABLE.items():
        (root / path).write_text(text)
    git(root, "init", "--quiet")
    commit(root)
    return root


def test_inputs_without_a_manifest_are_of_what_init_would_write_and_it_says_so(unadopted: Path) -> None:
    head = git(unadopted, "rev-parse", "HEAD")
    (unadopted / "Dockerfile").write_text("no Dockerfile")
    done = regraft(unadopted, "image", "inputs", "--format", "json")
    assert done.returncode == 0
    (found,) = json.loads(done.stdout)["images"]
    assert [one["name"] for one in found["inputs"] if one["kind"] == "file"] == ["p/1.patch"]
    assert done.stderr.startswith(
        f"there is no regraft.toml at {head[:12]}: this is about the one that `regraft init` would write; "
    )
    assert done.stderr.count("\n") == 1
    assert not (unadopted / "regraft.toml").exists()


def test_explain_without_a_manifest_compares_what_init_would_write_of_each_commit(unadopted: Path) -> None:
    (unadopted / "p/2.patch").write_text(FILES["docker/a.patch"])
    commit(unadopted)
    done = regraft(unadopted, "image", "inputs", "--explain", "HEAD~1", "HEAD", "--format", "json")
    (one,) = json.loads(done.stdout)["images"]
    assert (done.returncode, [each["name"] for each in one["moved"]]) == (1, ["p/2.patch"])
    assert done.stderr.count("would write") == 2


def test_nothing_to_propose_at_a_commit_is_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("words\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    done = regraft(tmp_path, "image", "inputs")
    assert (done.returncode, done.stdout, "[no-manifest]" in done.stderr) == (2, "", True)


def test_init_lists_what_git_tracks_of_a_project_below_the_top(project: Path, tmp_path: Path) -> None:
    nested = below(project, tmp_path)
    (nested / "regraft.toml").unlink()
    (nested / "docker/Dockerfile").write_text(PROPOSABLE["Dockerfile"])
    (nested.parent.parent / ".gitignore").write_text("build/\n")
    (nested / "build").mkdir()
    (nested / "build/Dockerfile").write_text(PROPOSABLE["Dockerfile"])
    holds = json.loads(regraft(nested, "init", "--stdout", "--format", "json").stdout)["holds"]
    assert holds["images"] == 1
    (nested.parent.parent / ".gitignore").write_text("apps/\n")
    git(nested, "rm", "-r", "--quiet", "--cached", ".")
    holds = json.loads(regraft(nested, "init", "--stdout", "--format", "json").stdout)["holds"]
    assert holds["images"] == 2
