"""`regraft image decide` in a workflow: real commits, a registry on loopback, events as GitHub writes them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regraft.core import image_labels as labels

MANIFEST = """\
[project]
name = "proj"

[images.gpu]
repository = "{host}/o/gpu"
tag = "nightly"
tag-directive = "ci-image-tag"
dockerfile = "Dockerfile"
"""
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


class Workflow:
    def __init__(self, folder: Path, stand_in: Any) -> None:
        self.folder, self.stand_in = folder, stand_in
        self.project = folder / "project"
        self.head = "1" * 40
        self.project.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        (self.project / "regraft.toml").write_text(MANIFEST.format(host=stand_in.host))
        (self.project / "Dockerfile").write_text("FROM scratch\nCOPY build.sh /\n")
        self.commit("build.sh", "echo 1\n")

    def git(self, *words: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *WHO, *words], cwd=self.project, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, name: str, text: str) -> str:
        (self.project / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)
        return self.git("rev-parse", "HEAD")

    def pull_request(self, name: str, text: str) -> None:
        """HEAD is the merge commit of a pull request that changes one file."""
        self.git("checkout", "--quiet", "-b", "feature")
        self.head = self.commit(name, text)
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "--message", "Merge", "feature")

    def event(self, *, head: str | None = "o/proj", names: tuple[str, ...] = (), body: str = "") -> dict[str, Any]:
        return {
            "repository": {"full_name": "o/proj"},
            "pull_request": {
                "number": 7, "body": body, "head": {"sha": self.head, "repo": {"full_name": head} if head else None},
                "labels": [{"name": name} for name in names],
            },
        }  # fmt: skip

    def decide(self, *words: str, event: Any = None, kind: str = "pull_request", **env: str) -> Any:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **env}
        output = self.folder / "output"
        output.write_bytes(b"")
        if event is not None:
            (self.folder / "event.json").write_text(event if isinstance(event, str) else json.dumps(event))
            environ |= {
                "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": kind, "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            }  # fmt: skip
        argv = [
            sys.executable,
            "-m",
            "regraft",
            "image",
            "decide",
            "--format",
            "json",
            "--platform",
            "linux/amd64",
            *words,
        ]
        done = subprocess.run(argv, cwd=self.project, env=environ, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)
        return done.returncode, found.get("images", {}).get("gpu", found), done.stderr, output.read_text()

    def publish(self, tag: str = "nightly") -> str:
        """Label an image with what `decide` says for HEAD, as a project's own build would."""
        _, found, _, _ = self.decide()
        digest: str = self.stand_in.put_image("o/gpu", tag, found["labels"])
        return digest


@pytest.fixture
def workflow(tmp_path: Path, stand_in: Any) -> Workflow:
    return Workflow(tmp_path, stand_in)


def reasons(found: Any) -> list[str]:
    return [one["code"] for one in found["reasons"]]


def test_a_build_with_these_labels_is_used_again_and_an_unrelated_commit_changes_nothing(workflow: Workflow) -> None:
    digest = workflow.publish()
    workflow.commit("README.md", "other\n")
    code, found, _, _ = workflow.decide()
    assert (code, found["decision"], found["digest"]) == (0, "reuse", digest)


def test_a_build_step_that_rewrites_a_file_changes_no_decision(workflow: Workflow) -> None:
    """What counts is what was committed, not what a step left in the work tree."""
    workflow.publish()
    (workflow.project / "build.sh").write_text("rewritten by a step\n")
    assert workflow.decide()[1]["decision"] == "reuse"


def test_a_stamp_that_is_new_with_each_commit_is_named_as_what_changed(workflow: Workflow) -> None:
    """A file that holds the commit is copied early, so that everything is built again: the reason names file and line."""
    workflow.publish()
    workflow.commit("build.sh", "echo stamp-2\n")
    code, found, _, _ = workflow.decide()
    assert code == 1
    assert reasons(found) == ["inputs-changed", "input-changed"]
    assert "file build.sh changed (Dockerfile:2)" in found["reasons"][1]["message"]


def test_a_pull_request_is_compared_with_its_first_parent(workflow: Workflow) -> None:
    digest = workflow.publish()
    workflow.pull_request("README.md", "other\n")
    code, found, _, outputs = workflow.decide(event=workflow.event())
    assert (code, found["digest"]) == (0, digest)
    assert "decision<<" in outputs
    assert f"{workflow.stand_in.host}/o/gpu@{digest}" in outputs


def test_a_pull_request_that_changes_the_image_gets_a_tag_of_its_own(workflow: Workflow) -> None:
    workflow.publish()
    workflow.pull_request("build.sh", "echo 2\n")
    code, found, _, outputs = workflow.decide("--rebuild-ok", event=workflow.event())
    assert (code, found["decision"], found["tag"]["kind"]) == (0, "rebuild", "own")
    assert found["tag"]["tag"] == f"pr-7-{found['inputs'][:16]}"
    assert found["publish"] is True
    assert f"{labels.INPUTS}={found['inputs']}" in outputs


def test_a_checkout_that_is_not_the_pull_requests_is_said_and_no_reuse(workflow: Workflow) -> None:
    """`pull_request_target` checks out the base, of which the last commit may well be a merge: of another one."""
    workflow.publish()
    workflow.pull_request("README.md", "other\n")
    assert workflow.decide(event=workflow.event())[1]["decision"] == "reuse"
    workflow.head = "3" * 40
    code, found, _, _ = workflow.decide(event=workflow.event())
    assert (code, found["decision"], found["tag"]["kind"]) == (1, "rebuild", "own")
    assert "other-checkout" in [note["code"] for note in found["notes"]]


def test_a_pull_requests_branch_that_merged_its_base_is_no_merge_of_it(workflow: Workflow) -> None:
    """Compared with its first parent, the commit before, it would seem to change nothing."""
    workflow.publish()
    workflow.pull_request("build.sh", "echo 2\n")
    workflow.git("checkout", "--quiet", "feature")
    workflow.git("checkout", "--quiet", "-b", "base", "feature~1")
    workflow.commit("README.md", "words\n")
    workflow.git("checkout", "--quiet", "feature")
    workflow.git("merge", "--quiet", "--no-ff", "--message", "Merge the base", "base")
    workflow.head = workflow.git("rev-parse", "HEAD")
    _, found, _, _ = workflow.decide(event=workflow.event())
    notes = [note["code"] for note in found["notes"]]
    assert ("no-merge-commit" in notes, "untouched" in notes) == (True, False)


PUSHED = {"after": "1" * 40, "repository": {"full_name": "o/proj", "default_branch": "main"}}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("push", {"ref": "refs/heads/feature"}),
        ("push", {"ref": "refs/tags/v1"}),
        ("workflow_dispatch", {"ref": "refs/heads/feature"}),
        ("merge_group", {"merge_group": {"head_ref": "refs/heads/gh-readonly-queue/main/pr-7"}}),
    ],
)
def test_what_is_not_of_the_default_branch_does_not_publish_its_tag(
    workflow: Workflow, kind: str, more: dict[str, Any]
) -> None:
    _, found, _, _ = workflow.decide(event=PUSHED | more, kind=kind)
    assert (found["decision"], found["publish"]) == ("rebuild", False)
    assert "other-branch" in [note["code"] for note in found["notes"]]
    _, found, _, _ = workflow.decide(event=PUSHED | {"ref": "refs/heads/main"}, kind="push")
    assert (found["decision"], found["publish"]) == ("rebuild", True)


@pytest.mark.parametrize("head", ["stranger/proj", None])
def test_a_forks_pull_request_cannot_publish(workflow: Workflow, head: str | None) -> None:
    workflow.publish()
    workflow.pull_request("build.sh", "echo 2\n")
    _, found, _, outputs = workflow.decide(event=workflow.event(head=head))
    assert (found["decision"], found["publish"]) == ("rebuild", False)
    assert "fork-cannot-publish" in [note["code"] for note in found["notes"]]
    assert "publish<<" in outputs


def test_a_label_asks_once_and_is_taken_off(workflow: Workflow, answer: Any) -> None:
    workflow.publish()
    workflow.pull_request("README.md", "other\n")
    api = workflow.stand_in
    api.answers["/repos/o/proj/issues/7/labels"] = answer(body=b'[{"name": "rebuild-image"}]')
    api.answers["/repos/o/proj/pulls/7"] = answer(
        body=json.dumps(
            {"number": 7, "body": "", "head": {"sha": "1" * 40}, "base": {"ref": "main"}, "state": "open"}
        ).encode(),
        headers={"Content-Type": "application/json; charset=utf-8"},
    )
    env = {"GITHUB_TOKEN": "a-token", "GITHUB_API_URL": f"http://{api.host}"}
    event = workflow.event(names=("rebuild-image",))
    _, found, said, _ = workflow.decide("--consume", event=event, **env)
    assert reasons(found)[0] == "requested"
    assert ("DELETE", "/repos/o/proj/issues/7/labels/rebuild-image", "token a-token") in api.seen
    assert "is taken off" in said
    api.answers["/repos/o/proj/issues/7/labels"] = answer(body=b"[]")
    _, found, said, _ = workflow.decide("--consume", event=event, **env)  # the same event, run again
    assert found["decision"] == "reuse"
    assert "was heeded before" in said


def test_a_label_that_cannot_be_taken_off_is_said(workflow: Workflow) -> None:
    workflow.publish()
    workflow.pull_request("README.md", "other\n")
    _, found, said, _ = workflow.decide("--consume", event=workflow.event(names=("rebuild-image",)))
    assert reasons(found)[0] == "requested"
    assert "without GITHUB_TOKEN it cannot be taken off" in said


def test_a_tag_directive_in_the_body_is_looked_up(workflow: Workflow) -> None:
    workflow.pull_request("build.sh", "echo 2\n")
    digest = workflow.stand_in.put_image("o/gpu", "mine")
    code, found, _, _ = workflow.decide(event=workflow.event(body="ci-image-tag: mine\n"))
    assert (code, found["digest"]) == (0, digest)
    assert [loser["kind"] for loser in found["losers"]] == ["own", "default"]
    code, found, _, outputs = workflow.decide(event=workflow.event(body="ci-image-tag: nobodys\n"))
    assert (code, found["decision"], outputs) == (2, "refuse", "")


@pytest.mark.parametrize("tag", ["a b", "-x", "a:b", "x" * 129])
def test_a_tag_in_the_body_that_is_none_is_a_mistake(workflow: Workflow, tag: str) -> None:
    code, found, _, _ = workflow.decide(event=workflow.event(body=f"ci-image-tag: {tag}\n"))
    assert code == 2
    assert found["error"]["where"] == "body:1:15"


@pytest.mark.slow
def test_a_schedule_has_an_age(workflow: Workflow) -> None:
    workflow.publish()
    event = {"schedule": "0 3 * * *", "repository": {"full_name": "o/proj"}}
    assert workflow.decide("--max-age", "24h", event=event, kind="schedule")[1]["decision"] == "reuse"
    _, data = workflow.stand_in.manifests["o/gpu", "nightly"]
    config = json.loads(data)["config"]["digest"]
    old = json.loads(workflow.stand_in.blobs["o/gpu", config])["config"]["Labels"]
    workflow.stand_in.put_image("o/gpu", "nightly", {**old, labels.CREATED: "2020-01-01T00:00:00Z"})
    assert reasons(workflow.decide("--max-age", "24h", event=event, kind="schedule")[1]) == ["too-old"]
    assert workflow.decide(event=event, kind="schedule")[1]["decision"] == "reuse"


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_what_a_registry_answers_is_never_a_wrong_reuse(workflow: Workflow, answer: Any, status: int) -> None:
    workflow.publish()
    workflow.stand_in.answers["/v2/"] = answer(status=status)
    code, found, _, _ = workflow.decide()
    assert (code, found["decision"]) == (1, "rebuild")


@pytest.mark.parametrize(
    "dockerfile", ["", "FROM\n", "FROM scratch\nCOPY gone.sh /\n", "FROM scratch\nCOPY --from=7 /a /\n"]
)
def test_a_dockerfile_that_cannot_be_built_is_an_error_and_no_decision(workflow: Workflow, dockerfile: str) -> None:
    workflow.commit("Dockerfile", dockerfile)
    code, found, _, _ = workflow.decide()
    assert code == 2
    assert "error" in found


@pytest.mark.parametrize("event", ["", "[]", "{", '{"pull_request": 1}', '{"pull_request": {"number": "7"}}'])
def test_an_event_that_cannot_be_read_is_an_error(workflow: Workflow, event: str) -> None:
    code, found, _, _ = workflow.decide(event=event)
    assert code == 2
    assert found["error"]["code"].startswith("event-")


def test_an_occasion_that_is_none_of_an_image_is_an_error(workflow: Workflow) -> None:
    code, found, _, _ = workflow.decide(event={}, kind="issue_comment")
    assert (code, found["error"]["code"]) == (2, "other-event")


BUILDS = """\
on: push
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - run: docker build -t {host}/o/gpu:nightly -f Dockerfile.gpu . && docker push {host}/o/gpu:nightly
"""


@pytest.fixture
def unadopted(workflow: Workflow) -> Workflow:
    """The image is built by a workflow, and nothing says so but that workflow."""
    workflow.git("rm", "--quiet", "regraft.toml", "Dockerfile")
    (workflow.project / ".github/workflows").mkdir(parents=True)
    (workflow.project / ".github/workflows/build.yml").write_text(BUILDS.format(host=workflow.stand_in.host))
    clone = "RUN git clone -b v1.0.0 https://x.org/o/eng /eng && git -C /eng checkout " + "1" * 40
    workflow.commit("Dockerfile.gpu", f"FROM scratch\nCOPY build.sh /\n{clone}\n")
    return workflow


def test_without_a_manifest_it_decides_about_the_one_that_init_would_write_and_says_so(unadopted: Workflow) -> None:
    code, found, said, _ = unadopted.decide()
    assert (code, reasons(found)) == (1, ["absent"]), said
    assert said.count("this is about the one that `regraft init` would write") == 2
    digest = unadopted.publish()
    code, found, _, _ = unadopted.decide()
    assert (code, found["decision"], found["digest"]) == (0, "reuse", digest)
    unadopted.pull_request("build.sh", "echo 2\n")
    code, found, _, _ = unadopted.decide(event=unadopted.event())
    assert (code, found["decision"], found["tag"]["kind"]) == (1, "rebuild", "own")
    assert not (unadopted.project / "regraft.toml").exists()


def test_without_a_manifest_and_an_image_to_propose_it_stops(unadopted: Workflow) -> None:
    unadopted.git("rm", "--quiet", "Dockerfile.gpu")
    unadopted.commit("README.md", "words\n")
    code, found, _, _ = unadopted.decide()
    assert (code, found["error"]["code"]) == (2, "no-manifest")


def notes(found: Any, code: str) -> list[str]:
    return [one["message"] for one in [*found["reasons"], *found["notes"]] if one["code"] == code]


def test_the_commits_since_the_published_image_are_counted_and_named(workflow: Workflow) -> None:
    workflow.publish()
    first = workflow.commit("build.sh", "echo 2\n")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(f"and this is {first}: 1 commit, {first[:12]} 'build.sh'")
    workflow.commit("README.md", "words\n")
    last = workflow.commit("other.sh", "x\n")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(f": 3 commits, first {first[:12]} 'build.sh', last {last[:12]} 'other.sh'")


def test_an_image_that_was_built_from_what_is_not_in_this_history_says_so(workflow: Workflow) -> None:
    """The released tag holds another commit: https://github.com/THUDM/slime/issues/1794"""
    workflow.git("checkout", "--quiet", "-b", "release")
    workflow.commit("build.sh", "echo of the release\n")
    workflow.publish()
    workflow.git("checkout", "--quiet", "main")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(": 1 commit of it is not there any more")
    here = workflow.commit("README.md", "words\n")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(f": 1 commit of it is not there any more; 1 commit, {here[:12]} 'README.md'")


@pytest.mark.parametrize("known", [False, True])
def test_a_history_that_is_cut_off_is_not_counted(workflow: Workflow, known: bool) -> None:
    """Nor where both commits are there, and not what lies between them."""
    workflow.publish()
    workflow.git("tag", "published")
    workflow.commit("README.md", "1\n")
    here = workflow.commit("README.md", "2\n")
    shallow = workflow.folder / "shallow"
    workflow.git("clone", "--quiet", "--depth=1", "--no-tags", f"file://{workflow.project}", str(shallow))
    workflow.project = shallow
    if known:
        workflow.git("fetch", "--quiet", "--depth=1", "origin", "tag", "published")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(f"and this is {here}")


def test_the_commits_of_an_upstream_that_moved_are_named_where_it_is_at_hand(workflow: Workflow) -> None:
    upstream, project = workflow.folder / "eng", workflow.project
    upstream.mkdir()
    workflow.project = upstream
    workflow.git("init", "--quiet", "--initial-branch=work")
    workflow.commit("a", "1\n")
    workflow.project = project
    text = MANIFEST.format(host=workflow.stand_in.host)
    baked = '\n[images.gpu.baked.eng]\npath = "/eng"\n\n[dependencies.eng]\nurl = "' + str(upstream) + '"\n'
    (project / "regraft.toml").write_text(text + baked)
    workflow.commit("Dockerfile", f"FROM scratch\nCOPY build.sh /\nRUN git clone -b work {upstream} /eng\n")
    workflow.publish()
    workflow.project = upstream
    first, last = workflow.commit("b", "one\n"), workflow.commit("c", "two\n")
    workflow.project = project
    code, found, _, _ = workflow.decide("--occasion", "schedule")
    (message,) = notes(found, "upstream-moved")
    assert (code, found["decision"]) == (1, "rebuild")
    assert message.endswith(f": 2 commits, first {first[:12]} 'b', last {last[:12]} 'c'")


def test_a_subject_stays_in_its_line(workflow: Workflow) -> None:
    workflow.publish()
    (workflow.project / "x").write_text("x")
    workflow.git("add", "--all")
    workflow.git("commit", "--quiet", "--message", "red \x1b[31m ::error::no")
    (message,) = notes(workflow.decide()[1], "other-revision")
    assert message.endswith(r"'red \x1b[31m ::error::no'")
