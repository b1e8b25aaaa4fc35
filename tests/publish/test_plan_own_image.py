"""`regraft plan` takes the image that the manifest prefers, as `image decide` does: a directive's, the pull request's own, the default."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.core.plan import Plan
from regraft.core.plan_document import decode_plan

MANIFEST = """\
[project]
name = "proj"

[dependencies.dep]
url = "{upstream}"
branch = "main"

[images.gpu]
repository = "{host}/o/gpu"
tag = "nightly"
tag-directive = "ci-image-tag"
dockerfile = "Dockerfile"
{prefer}

[images.gpu.baked.dep]
path = "/opt/dep"
"""
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


class PullRequest:
    """HEAD is the merge commit of pull request 7, which changes what the image is made of unless `file` is another."""

    def __init__(self, folder: Path, stand_in: Any, upstream: Path) -> None:
        self.folder, self.stand_in, self.upstream = folder, stand_in, upstream
        self.project = folder / "project"
        self.project.mkdir()
        self.head = "1" * 40
        self.git("init", "--quiet", "--initial-branch=main")
        stand_in.put_image("o/gpu", "nightly")

    def git(self, *words: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
        argv = ["git", *WHO, *words]
        done = subprocess.run(argv, cwd=self.project, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        (self.project / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)

    def open(self, file: str = "build.sh", prefer: str = "") -> None:
        text = MANIFEST.format(host=self.stand_in.host, upstream=self.upstream, prefer=prefer)
        (self.project / "regraft.toml").write_text(text)
        (self.project / "Dockerfile").write_text("FROM scratch\nCOPY build.sh /\n")
        self.write("build.sh", "echo 1\n")
        self.git("checkout", "--quiet", "-b", "feature")
        self.write(file, "echo 2\n")
        self.head = self.git("rev-parse", "HEAD")
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "--message", "Merge", "feature")

    def run(self, *words: str, body: str = "", event: dict[str, Any] | None = None) -> tuple[int, Any, str]:
        told = event or {
            "repository": {"full_name": "o/proj"},
            "pull_request": {"number": 7, "body": body, "head": {"sha": self.head}},
        }
        (self.folder / "event.json").write_text(json.dumps(told))
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        argv = [sys.executable, "-m", "regraft", *words, "--event", "../event.json", "--format", "json"]
        done = subprocess.run(argv, cwd=self.project, env=env, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    def plan(self, *words: str, body: str = "", event: dict[str, Any] | None = None) -> Plan:
        code, found, said = self.run("plan", "--output", "plan.json", *words, body=body, event=event)
        assert code == 0, (found, said)
        return decode_plan((self.project / "plan.json").read_bytes(), "plan.json")

    def own(self) -> str:
        """The tag that `image decide` tells the workflow to build."""
        _, found, _ = self.run("image", "decide", "--occasion", "pull_request")
        return str(found["images"]["gpu"]["tag"]["tag"])

    def tag(self, plan: Plan) -> str:
        assert plan.image.reference is not None
        return plan.image.reference.rpartition(":")[2]


@pytest.fixture
def pull(tmp_path: Path, stand_in: Any, make_repository: Any) -> PullRequest:
    repository = make_repository("o/dep")
    repository.commit("main")
    return PullRequest(tmp_path, stand_in, repository.path)


def notes(plan: Plan, code: str) -> list[str]:
    return [note.message for note in plan.notes if note.code == code]


def test_the_own_image_that_decide_had_built_is_planned_with_and_the_default_loses(pull: PullRequest) -> None:
    pull.open()
    own = pull.own()
    assert own.startswith("pr-7-")
    digest = pull.stand_in.put_image("o/gpu", own)
    plan = pull.plan()
    assert (pull.tag(plan), plan.image.digest) == (own, digest)
    assert notes(plan, "overruled") == ["gpu: tag 'nightly' (images.gpu.tag) is overruled"]


def test_an_own_image_that_nobody_built_is_a_warning_and_the_default(pull: PullRequest) -> None:
    pull.open()
    plan = pull.plan()
    assert pull.tag(plan) == "nightly"
    (note,) = [one for one in plan.notes if one.code == "own-absent"]
    assert note.level == "warning"
    assert f"the registry has no {pull.own()}" in note.message
    (note,) = [one for one in pull.plan("--no-registry").notes if one.code == "own-absent"]
    assert "no registry is asked" in note.message


def test_a_pull_request_that_changes_nothing_of_it_asks_for_nothing(pull: PullRequest) -> None:
    pull.open("readme.md")
    plan = pull.plan()
    assert pull.tag(plan) == "nightly"
    assert {note.code for note in plan.notes} & {"own-absent", "own-unknown", "overruled"} == set()
    assert not any("/manifests/pr-" in path for _, path, _ in pull.stand_in.seen)


@pytest.mark.parametrize(
    ("prefer", "wins"),
    [
        ("", "mine"),
        ('prefer = ["own", "directive", "default"]', "own"),
        ('prefer = ["default", "own", "directive"]', "nightly"),
        ('prefer = ["own"]', "own"),
    ],
)
def test_plan_and_decide_take_the_same_by_the_manifests_order(pull: PullRequest, prefer: str, wins: str) -> None:
    pull.open(prefer=prefer)
    own = pull.own()
    for tag in {"mine", own} - {"nightly"}:
        pull.stand_in.put_image("o/gpu", tag)
    body = "ci-image-tag: mine\n"
    _, decided, _ = pull.run("image", "decide", "--occasion", "pull_request", "--rebuild-ok", body=body)
    plan = pull.plan(body=body)
    wanted = own if wins == "own" else wins
    assert pull.tag(plan) == wanted
    if wins != "nightly":  # decide builds no default for a pull request, and this one was never labelled
        assert decided["images"]["gpu"]["tag"]["tag"] == wanted
    losers = " ".join(notes(plan, "overruled"))
    assert [tag in losers for tag in ("mine", own, "nightly")] == [tag != wanted for tag in ("mine", own, "nightly")]


def test_a_directive_that_loses_does_not_stop_the_plan_where_its_tag_is_not_there(pull: PullRequest) -> None:
    pull.open("readme.md", prefer='prefer = ["default", "directive", "own"]')
    plan = pull.plan(body="ci-image-tag: gone\n")
    assert pull.tag(plan) == "nightly"
    assert notes(plan, "overruled") == ["gpu: tag 'gone' (body:1:1) is overruled"]


def test_without_the_merge_commit_it_is_said_what_is_not_known(pull: PullRequest) -> None:
    pull.open()
    own = pull.own()
    pull.head = "2" * 40
    plan = pull.plan()
    assert pull.tag(plan) == "nightly"
    assert "is the merge of" in notes(plan, "own-unknown")[0]
    pull.head = pull.git("rev-parse", "HEAD^2")
    pull.git("checkout", "--quiet", "--detach", pull.head)
    (note,) = [one for one in pull.plan().notes if one.code == "own-absent"]
    assert (note.level, "may change" in note.message) == ("notice", True)
    pull.stand_in.put_image("o/gpu", own)
    assert pull.tag(pull.plan()) == own


def test_inputs_that_cannot_be_read_are_a_note(pull: PullRequest) -> None:
    pull.open()
    pull.write("Dockerfile", "RUNN\n")
    plan = pull.plan()
    assert pull.tag(plan) == "nightly"
    assert len(notes(plan, "own-unknown")) == 1


def test_a_comment_on_a_pull_request_has_no_image_of_its_own(pull: PullRequest) -> None:
    """The default branch is checked out then, and its last merge is another pull request's."""
    pull.open()
    event = {"repository": {"full_name": "o/proj"}, "issue": {"number": 8, "body": "", "pull_request": {"url": "x"}}}
    plan = pull.plan(event=event)
    assert pull.tag(plan) == "nightly"
    assert not any(note.code.startswith("own-") for note in plan.notes)


@pytest.mark.parametrize("dockerfile", [True, False])
def test_what_tells_the_own_image_is_imported_for_a_pull_request_with_a_dockerfile_only(
    pull: PullRequest, dockerfile: bool
) -> None:
    pull.open("readme.md")
    manifest = pull.project / "regraft.toml"
    if not dockerfile:
        manifest.write_text(manifest.read_text().replace('dockerfile = "Dockerfile"\n', ""))
    pull.run("image", "decide", "--occasion", "push")
    code = (
        "import sys; from regraft.cli.main import main; main(['plan', '--event', '../event.json', '--set', 'ci_dep_pr=']); "
        "print('regraft.core.image_inputs' in sys.modules, 'regraft.flows.image_decide' in sys.modules)"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(pull.folder)}
    argv = [sys.executable, "-c", code]
    done = subprocess.run(argv, cwd=pull.project, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{dockerfile} {dockerfile}"
