import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MANIFEST = """\
[project]
name = "x"
[dependencies.one]
url = "../one"
[images.gpu.baked.one]
path = "/opt/one"
imports = ["one"]
patches = ["a.patch"]
[suites.all]
image = "gpu"
"""
DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "regraft.toml").write_text(MANIFEST)
    (tmp_path / "a.patch").write_text(DIFF)
    return tmp_path


def regraft(*words: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environ}
    return subprocess.run(
        [sys.executable, "-m", "regraft", *words], capture_output=True, text=True, env=env, check=False, cwd=cwd
    )


def test_a_project_that_is_right_ends_with_0(project: Path) -> None:
    done = regraft("check", "--project", str(project))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("checked: dependencies 1, images 1, suites 1, patch files 1, ")


def test_findings_end_with_1(project: Path) -> None:
    (project / "a.patch").write_text("")
    done = regraft("check", "--project", str(project), "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [(one["rule"], one["path"]) for one in document["findings"]] == [
        ("patch-unreadable", str(project / "a.patch"))
    ]
    assert document["checked"]["patch files"] == 1


def test_warnings_end_with_0(project: Path) -> None:
    (project / "regraft.toml").write_text(MANIFEST.replace('imports = ["one"]\n', ""))
    done = regraft("check", "--project", str(project))
    assert done.returncode == 0
    assert "regraft.toml:5:1: warning: " in done.stdout


def test_mistakes_of_the_manifest_end_with_2_and_are_all_said(project: Path) -> None:
    (project / "regraft.toml").write_text(MANIFEST.replace("imports", "import").replace('"gpu"', '"cpu"'))
    done = regraft("check", "--project", str(project))
    assert done.returncode == 2
    assert "regraft.toml:7:1: " in done.stderr
    assert "-> write `imports`" in done.stderr
    assert "regraft.toml:10:9: " in done.stderr


def test_a_syntax_error_shows_the_line_and_a_caret(project: Path) -> None:
    (project / "regraft.toml").write_text("[project]\nname = x\n")
    done = regraft("check", "--project", str(project))
    assert done.returncode == 2
    assert "  | name = x\n  |        ^\n" in done.stderr


@pytest.mark.parametrize("folder", ["empty", "absent"])
def test_a_project_without_a_manifest_ends_with_2(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    assert regraft("check", "--project", str(tmp_path / folder)).returncode == 2


def test_on_github_findings_are_annotations_and_a_summary(project: Path, tmp_path: Path) -> None:
    (project / "regraft.toml").write_text(MANIFEST.replace('"a.patch"', '"b.patch"'))
    summary = tmp_path / "summary.md"
    done = regraft("check", cwd=project, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "::error file=regraft.toml,line=8,col=12,title=regraft%3A patch-missing::" in done.stderr
    assert "b&#46;patch" in summary.read_text()


def test_the_schema_is_the_committed_one() -> None:
    done = regraft("schema")
    assert done.returncode == 0
    assert done.stdout == (Path(__file__).parents[2] / "docs/regraft.schema.json").read_text("utf-8")


def test_places_are_as_the_working_directory_names_them(project: Path) -> None:
    for words in (("--project", project.name), ("--project", str(project))):
        (project / "a.patch").write_text("")
        done = regraft("check", *words, "--format", "json", cwd=project.parent)
        [found] = json.loads(done.stdout)["findings"]
        witness = found["witnesses"][0]["path"]
        assert (found["path"], witness) == (f"{project.name}/a.patch", f"{project.name}/regraft.toml")
        (project / "a.patch").unlink()
        done = regraft("check", *words, cwd=project.parent, GITHUB_ACTIONS="true")
        assert f"::error file={project.name}/regraft.toml,line=8" in done.stderr


def test_check_and_plan_say_the_same_of_a_missing_manifest(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    answers = [regraft(command, "--project", "sub", cwd=tmp_path) for command in ("check", "plan")]
    assert [one.returncode for one in answers] == [2, 2]
    assert answers[0].stderr == answers[1].stderr
    assert "sub/regraft.toml" in answers[0].stderr


@pytest.mark.parametrize("words", [(), ("--image", "gpu")])
def test_plan_and_probe_say_the_same_of_a_manifest_without_images(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "regraft.toml").write_text("[project]\nname = 'x'\n")
    for command in (("plan",), ("image", "probe")):
        done = regraft(*command, *words, cwd=tmp_path)
        assert done.returncode == 2
        assert "error: the manifest has no images" in done.stderr


WORKFLOW = """on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: |
          git fetch origin && git checkout FETCH_HEAD
          make
"""


def test_a_project_without_workflows_says_0(project: Path) -> None:
    done = regraft("check", "--project", str(project), "--format", "json")
    assert json.loads(done.stdout)["checked"]["workflows"] == 0


def test_what_is_wrong_in_the_workflows_is_said_too(project: Path) -> None:
    place = project / ".github/workflows/suite.yml"
    place.parent.mkdir(parents=True)
    place.write_text(WORKFLOW)
    done = regraft("check", "--project", str(project), "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [(one["rule"], one["path"], one["line"]) for one in document["findings"]] == [
        ("swallowed-failure", str(place), 7)
    ]
    assert document["checked"]["workflows"] == 1
    sarif = json.loads(regraft("check", "--project", str(project), "--format", "sarif").stdout)
    [rule] = sarif["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] != rule["id"]


def test_what_was_frozen_in_the_workflows_is_not_said(project: Path) -> None:
    place = project / ".github/workflows/suite.yml"
    place.parent.mkdir(parents=True)
    place.write_text(WORKFLOW)
    regraft("workflow", "check", "--freeze", "old.json", cwd=project)
    done = regraft("check", "--baseline", "old.json", cwd=project)
    assert done.returncode == 0
    assert "workflows 1, ignored 0, frozen 1" in done.stdout
    assert regraft("check", "--baseline", "absent.json", cwd=project).returncode in (2, 3)
