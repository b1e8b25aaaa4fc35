"""`regraft plan` as a gate runs it: a process of its own, real upstreams, and what GitHub's runner would take."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regraft.core.plan_document import decode_plan

MANIFEST = """\
[project]
name = "miles"

[dependencies.sglang]
url = "{sglang}"
branch = "main"

[dependencies.megatron]
url = "{megatron}"
branch = "main"
lock = {{ file = "lock.json", key = "/megatron" }}

[images.rocm]
python = "/opt/venv/bin/python"
repository = "rocm/sgl-dev"
tag = "nightly"
tag-directive = "ci-image-tag"

[images.rocm.baked.sglang]
path = "/sgl-workspace/sglang"
patches = ["docker/sglang.patch"]

[images.rocm.baked.megatron]
path = "/root/Megatron-LM"

[images.cuda]
python = "/usr/bin/python3"

[images.cuda.baked.sglang]
path = "/sgl-workspace/sglang"

[suites.mi350]
image = "rocm"

[suites.h100]
image = "cuda"
"""

PATCH = """\
--- a/kernel.py
+++ b/kernel.py
@@ -1,3 +1,4 @@
 a = 1
+carried = True
 b = 2
 c = 3
"""


@dataclass
class Answer:
    code: int
    out: str
    err: str
    outputs: dict[str, str]
    summary: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Gate:
    """A project with two upstreams; `calls` counts what git was asked for."""

    project: Path
    sglang: Any
    megatron: Any
    git: Any
    commits: dict[str, str]

    def run(
        self, *words: str, body: str | bytes | None = None, actions: bool = False, cwd: Path | None = None, **env: str
    ) -> Answer:
        scratch = self.project.parent
        environment = {"PATH": f"{Path(self.git.program).parent}:{os.environ['PATH']}", "HOME": str(scratch), **env}
        if actions:
            for name in ("output", "summary"):
                (scratch / name).write_bytes(b"")
            environment |= {
                "GITHUB_ACTIONS": "true",
                "GITHUB_OUTPUT": str(scratch / "output"),
                "GITHUB_STEP_SUMMARY": str(scratch / "summary"),
            }
        given = ["--body", "-"] if body is not None else []
        done = subprocess.run(
            [sys.executable, "-m", "regraft", "plan", "--no-registry", *words, *given],
            input=body.encode() if isinstance(body, str) else body or b"",
            capture_output=True,
            cwd=cwd or self.project,
            env=environment,
            check=False,
            timeout=60,
        )
        return Answer(
            done.returncode,
            done.stdout.decode(),
            done.stderr.decode(),
            _outputs(scratch / "output") if actions else {},
            (scratch / "summary").read_text() if actions else "",
        )

    def count(self, command: str) -> int:
        return int(self.git.count(command))


def _outputs(path: Path) -> dict[str, str]:
    found = {}
    lines = iter(path.read_text().split("\n"))
    for line in lines:
        if line:
            name, _, delimiter = line.partition("<<")
            found[name] = "\n".join(iter(lambda: next(lines), delimiter))
    return found


@pytest.fixture
def gate(make_repository: Callable[..., Any], recording_git: Any, tmp_path: Path) -> Gate:
    sglang = make_repository("sgl-project/sglang")
    megatron = make_repository("NVIDIA/Megatron-LM")
    base = sglang.commit("main", {"kernel.py": "a = 1\nb = 2\nc = 3\n"})
    commits = {
        "base": base,
        "pull": sglang.commit("refs/pull/12/head", {"kernel.py": "a = 1\nb = 2\nc = 3\nd = 4\n"}, parent=base),
        "rewritten": sglang.commit("rewritten", {"kernel.py": "z = 1\n"}, parent=base),
        "landed": sglang.commit("landed", {"kernel.py": "a = 1\ncarried = True\nb = 2\nc = 3\n"}, parent=base),
        "megatron": megatron.commit("main", {"core.py": "x = 1\n"}),
        "feature": megatron.commit("feature", {"core.py": "x = 2\n"}),
    }
    project = tmp_path / "project"
    (project / "docker").mkdir(parents=True)
    (project / "docker/sglang.patch").write_text(PATCH)
    (project / "lock.json").write_text(json.dumps({"megatron": commits["megatron"]}))
    (project / "regraft.toml").write_text(MANIFEST.format(sglang=sglang.path, megatron=megatron.path))
    return Gate(project, sglang, megatron, recording_git, commits)


def actions_of(answer: Answer) -> dict[str, dict[str, str]]:
    plans = answer.json["plans"]
    return {image: {name: one["action"] for name, one in plan["dependencies"].items()} for image, plan in plans.items()}


def test_nothing_named_keeps_everything_and_asks_git_for_nothing(gate: Gate) -> None:
    answer = gate.run("--format", "json", body="Fixes a typo.")
    assert answer.code == 0
    assert answer.json["overridden"] is False
    assert actions_of(answer) == {"rocm": {"sglang": "keep", "megatron": "keep"}, "cuda": {"sglang": "keep"}}
    assert gate.git.calls == []


@pytest.mark.parametrize("body", ["", "\r\n\r\n", "  \n"])
def test_an_empty_body_is_no_directive(gate: Gate, body: str) -> None:
    assert gate.run(body=body).code == 0


def test_only_the_named_dependency_is_overridden_in_each_image_that_has_it(gate: Gate) -> None:
    answer = gate.run("--format", "json", body="ci-sglang-pr: #12")
    assert actions_of(answer) == {"rocm": {"sglang": "override", "megatron": "keep"}, "cuda": {"sglang": "override"}}
    for image in ("rocm", "cuda"):
        assert answer.json["plans"][image]["dependencies"]["sglang"]["commit"] == gate.commits["pull"]
    assert answer.json["directives"] == [
        {
            "text": "ci-sglang-pr: #12",
            "source": {"kind": "body", "line": 1, "column": 1},
            "images": ["rocm", "cuda"],
            "suites": ["mi350", "h100"],
            "overruled": [],
        }
    ]


@pytest.mark.parametrize(
    ("body", "ls_remote", "fetch"),
    [
        ("ci-megatron-pr: feature", 1, 1),
        ("ci-sglang-pr: #12", 0, 2),  # the second is the batch of files that the patch touches
        ("ci-sglang-pr: main", 1, 2),
        ("ci-sglang-pr: main\n\nci-megatron-pr: feature", 2, 3),
    ],
)
def test_what_is_asked_of_a_server_is_counted(gate: Gate, body: str, ls_remote: int, fetch: int) -> None:
    assert gate.run(body=body).code == 0
    assert (gate.count("ls-remote"), gate.count("fetch")) == (ls_remote, fetch)


def test_the_planned_tree_is_what_git_makes_of_commit_and_patch(gate: Gate, tmp_path: Path) -> None:
    answer = gate.run("--format", "json", "--image", "rocm", body="ci-sglang-pr: #12")
    work = tmp_path / "work"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=work, env=env, capture_output=True, text=True, check=True).stdout

    work.mkdir()
    git("init", "-q")
    git("fetch", "-q", str(gate.sglang.path), gate.commits["pull"])
    git("checkout", "-q", gate.commits["pull"])
    git("apply", "--index", str(gate.project / "docker/sglang.patch"))
    assert answer.json["plans"]["rocm"]["dependencies"]["sglang"]["tree"] == git("write-tree").strip()


@pytest.mark.parametrize(
    ("ref", "state", "code"), [("rewritten", "conflict", 1), ("landed", "already-there", 0), ("main", "applies", 0)]
)
def test_a_patch_that_does_not_fit_stops_before_a_plan_is_written(gate: Gate, ref: str, state: str, code: int) -> None:
    output = gate.project.parent / "plan.json"
    answer = gate.run(
        "--format", "json", "--image", "rocm", "--output", str(output), body=f"ci-sglang-pr: {ref}", actions=True
    )
    [patch] = answer.json["plans"]["rocm"]["dependencies"]["sglang"]["patches"]
    assert (patch["state"], answer.code, output.exists()) == (state, code, code == 0)
    assert ("overridden" in answer.outputs) == (code == 0)
    assert ("::error" in answer.err) == (code == 1)


def test_the_outputs_of_a_gate_with_one_image(gate: Gate) -> None:
    answer = gate.run("--image", "rocm", body="ci-sglang-pr: #12\n\nci-image-tag: other", actions=True)
    assert answer.outputs["overridden"] == "true"
    plan = json.loads(answer.outputs["plan"])
    assert answer.outputs["digest"] == plan["digest"]
    assert answer.outputs["request"] == plan["request"]
    assert answer.outputs["image"] == plan["image"]["reference"] == "rocm/sgl-dev:other"
    assert sorted(answer.outputs) == ["digest", "image", "overridden", "plan", "request"]


def test_the_outputs_of_a_gate_with_several_images_are_objects_by_image(gate: Gate) -> None:
    answer = gate.run(body="nothing", actions=True)
    assert answer.outputs["overridden"] == "false"
    assert json.loads(answer.outputs["image"]) == {"rocm": "rocm/sgl-dev:nightly", "cuda": ""}
    assert {name: plan["digest"] for name, plan in json.loads(answer.outputs["plan"]).items()} == json.loads(
        answer.outputs["digest"]
    )


def test_the_request_changes_with_what_is_asked_and_not_with_prose(gate: Gate) -> None:
    def request(body: str) -> str:
        return gate.run("--image", "rocm", body=body, actions=True).outputs["request"]

    first = request("ci-sglang-pr: #12")
    assert request("Some prose.\n\nci-sglang-pr: #12\n\nMore.") == first
    assert request("ci-sglang-pr: main") != first
    assert request("no directive") != first


def test_an_input_beats_the_body_and_the_loser_is_printed(gate: Gate) -> None:
    answer = gate.run("--set", "ci_megatron_pr= feature ", "--image", "rocm", body="ci-megatron-pr: main")
    assert answer.code == 0
    assert f"override feature named by an input -> {gate.commits['feature']}" in answer.out
    assert "'main' (body:1:1) loses to 'feature'" in answer.out


def test_a_scoped_line_holds_for_its_image_only(gate: Gate) -> None:
    answer = gate.run("--format", "json", body="ci-sglang-pr: #12\n\nci-sglang-pr[cuda]: rewritten")
    commits = {image: plan["dependencies"]["sglang"]["commit"] for image, plan in answer.json["plans"].items()}
    assert commits == {"rocm": gate.commits["pull"], "cuda": gate.commits["rewritten"]}


def test_a_directive_that_reaches_no_planned_image_is_said(gate: Gate) -> None:
    answer = gate.run("--image", "cuda", body="ci-megatron-pr: feature")
    assert "reaches none of the images" in answer.out
    assert answer.code == 0


def test_unnamed_may_follow_the_lock_or_the_head(gate: Gate) -> None:
    manifest = gate.project / "regraft.toml"
    text = manifest.read_text().replace('tag-directive = "ci-image-tag"', 'unnamed = ["lock", "head"]')
    manifest.write_text(text)
    answer = gate.run("--format", "json", "--image", "rocm", body="")
    found = answer.json["plans"]["rocm"]["dependencies"]
    assert (found["megatron"]["source"]["kind"], found["megatron"]["commit"]) == ("lock", gate.commits["megatron"])
    assert (found["sglang"]["source"]["kind"], found["sglang"]["commit"]) == ("head", gate.commits["base"])


def test_a_moved_branch_makes_no_second_answer_in_one_run(gate: Gate) -> None:
    """https://github.com/pachyderm/pachyderm/issues/5393: each shard resolved the name by itself."""
    answer = gate.run("--format", "json", body="ci-sglang-pr: rewritten\n\nci-megatron-pr: feature")
    assert answer.code == 1  # the patch does not fit the rewritten tree, in one image of the two
    assert len({plan["dependencies"]["sglang"]["commit"] for plan in answer.json["plans"].values()}) == 1
    assert gate.count("ls-remote") == 2


def test_all_mistakes_of_body_and_inputs_are_said_at_once(gate: Gate) -> None:
    answer = gate.run("--set", "ci_sglang_pr=nope", body="ci-megatron-pr: gone\n", actions=True)
    assert answer.code == 2
    assert answer.err.count("[no-such-ref]") == 2
    assert answer.outputs == {}


@pytest.mark.parametrize(
    "value",
    ["--upload-pack=touch pwned", "x; touch pwned", "$(touch pwned)", "`touch pwned`", "a..b", "a@{1}", "-x", "a\x00b",
     "x\u202e", "::set-output name=a::b", "refs/heads/../x", "a\x1b[2Jb"],
)  # fmt: skip
def test_a_hostile_value_is_exit_2_and_never_runs(gate: Gate, value: str) -> None:
    """https://github.com/yugabyte/yugabyte-db/issues/33169: the body was pasted into a script."""
    for answer in (
        gate.run(body=f"ci-sglang-pr: {value}", actions=True),
        gate.run("--set", f"ci_sglang_pr={value}".replace("\x00", "\x01"), actions=True),
    ):
        assert answer.code == 2
        assert "\x1b" not in answer.err
        assert not any(line.lstrip().startswith("::set-output") for line in (answer.err + answer.out).splitlines())
        assert not [*gate.project.rglob("pwned")]
    assert gate.count("fetch") == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"\xff\xfe", "not-utf-8"), (b"a" * 300_000, "body-too-long"), (b"ab" * 32_769, "body-too-long")],
)
def test_a_body_that_is_no_text_is_a_named_error(gate: Gate, body: bytes, code: str) -> None:
    answer = gate.run(body=body)
    assert answer.code == 2
    assert f"[{code}]" in answer.err


def test_hostile_prose_is_text_on_the_summary_page(gate: Gate) -> None:
    answer = gate.run(body="```\nci-sglang-pr: <img src=x>@everyone | [a](b)\n```\n", actions=True)
    assert answer.code == 0
    assert "<img" not in answer.summary
    assert "@everyone" not in answer.summary
    assert "ignored, body line 2" in answer.summary


def test_an_events_null_body_and_dispatch_inputs(gate: Gate) -> None:
    event = gate.project.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"body": None, "number": 1}, "inputs": {"ci_sglang_pr": "#12"}}))
    answer = gate.run("--event", str(event), "--format", "json")
    assert answer.code == 0
    assert answer.json["directives"][0]["source"]["kind"] == "input"


def test_a_rerun_reads_the_body_as_it_is_now(gate: Gate, api: Any) -> None:
    """https://github.com/radixark/miles/pull/2674: a removed directive needed a new commit to be gone."""
    event = gate.project.parent / "event.json"
    frozen = {"pull_request": {"body": "ci-sglang-pr: #99", "number": 7}, "repository": {"full_name": "o/r"}}
    event.write_text(json.dumps(frozen))
    api.body = json.dumps(api.pull | {"body": "ci-sglang-pr: #12"}).encode()
    token = {"GITHUB_TOKEN": "secret", "GITHUB_API_URL": api.url}
    answer = gate.run("--event", str(event), **token)
    assert answer.code == 0
    assert "body: as it is now" in answer.out
    assert "[body-changed]" in answer.out
    assert gate.commits["pull"] in answer.out
    assert "secret" not in answer.out + answer.err
    api.status, api.body = 502, b"down"
    assert gate.run("--event", str(event), **token).code == 3


def test_in_actions_the_runs_own_event_is_read(gate: Gate) -> None:
    event = gate.project.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"body": "ci-sglang-pr: #12"}}))
    answer = gate.run("--format", "json", actions=True, GITHUB_EVENT_PATH=str(event))
    assert answer.json["overridden"] is True


def test_a_missing_patch_file_is_an_error_of_its_own(gate: Gate) -> None:
    (gate.project / "docker/sglang.patch").unlink()
    answer = gate.run(body="ci-sglang-pr: #12")
    assert answer.code == 2
    assert "docker/sglang.patch: the project has no such patch file [patch-missing]" in answer.err


def test_an_empty_series_is_a_good_series(gate: Gate) -> None:
    manifest = gate.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace('["docker/sglang.patch"]', "[]"))
    assert gate.run("--format", "json", "--image", "rocm", body="ci-sglang-pr: rewritten").code == 0


def test_the_upstream_being_down_is_exit_3(gate: Gate) -> None:
    manifest = gate.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace(str(gate.sglang.path), "http://127.0.0.1:9/o/r"))
    answer = gate.run(body="ci-sglang-pr: #12")
    assert answer.code == 3
    assert "->" in answer.err


def test_no_git_is_exit_3(gate: Gate, tmp_path: Path) -> None:
    answer = gate.run(body="ci-sglang-pr: #12", PATH=str(tmp_path))
    assert answer.code == 3
    assert "[missing-program]" in answer.err


def test_one_image_is_a_file_and_several_are_a_folder(gate: Gate) -> None:
    out = gate.project.parent / "out"
    assert gate.run("--output", str(out / "plans"), body="").code == 0
    assert sorted(path.name for path in (out / "plans").iterdir()) == ["cuda.json", "rocm.json"]
    assert gate.run("--output", str(out / "plan.json"), "--image", "cuda", body="").code == 0
    assert json.loads((out / "plan.json").read_text())["image"]["name"] == "cuda"
    assert gate.run("--output", str(out / "plans"), "--image", "cuda", body="").code == 2
    assert gate.run("--output", str(out / "plan.json"), body="").code == 2


def test_an_unknown_image_names_the_nearest(gate: Gate) -> None:
    answer = gate.run("--image", "rocn", body="")
    assert answer.code == 2
    assert "did you mean rocm?" in answer.err


def event_file(gate: Gate, payload: dict[str, Any]) -> str:
    path = gate.project.parent / "event.json"
    path.write_text(json.dumps(payload))
    return str(path)


def test_a_given_body_does_not_drop_the_inputs_of_the_runs_own_event(gate: Gate) -> None:
    event = event_file(gate, {"inputs": {"ci_sglang_pr": "#12"}, "pull_request": {"body": "ci-megatron-pr: feature"}})
    answer = gate.run("--format", "json", body="nothing", actions=True, GITHUB_EVENT_PATH=event)
    assert [one["text"] for one in answer.json["directives"]] == ["ci-sglang-pr: #12"]
    assert answer.json["body"] == "given"


@pytest.mark.parametrize("path", [{}, {"GITHUB_EVENT_PATH": ""}])
def test_in_actions_a_missing_event_is_an_error_and_not_an_empty_body(gate: Gate, path: dict[str, str]) -> None:
    answer = gate.run(actions=True, **path)
    assert answer.code == 2
    assert "[no-event]" in answer.err
    assert "--event FILE" in answer.err
    assert answer.outputs == {}


def test_outside_of_actions_the_first_line_says_whether_there_was_a_body(gate: Gate) -> None:
    assert gate.run().out.splitlines()[0] == "no body was given"
    event = event_file(gate, {"schedule": "0 0 * * *"})
    assert gate.run("--event", event).out.splitlines()[0] == "no body: this event has no pull request"


def test_a_list_among_the_inputs_of_others_does_not_stop_the_run(gate: Gate) -> None:
    event = event_file(gate, {"inputs": {"suites": ["a"], "ci_sglang_pr": "#12"}})
    assert gate.run("--event", event, "--format", "json").json["overridden"] is True


def test_on_a_stop_the_summary_says_what_was_read_and_what_is_wrong(gate: Gate) -> None:
    body = "ci-sglang-pr: #12\n\nci-megatron-pr: <b>\n\n    ci-sglang-pr: #13\n"
    answer = gate.run(body=body, actions=True)
    assert answer.code == 2
    for part in (
        "understood: ci&#45;sglang&#45;pr&#58; &#35;12",
        "ignored, body line 5",
        "body&#58;3&#58;17",
        "bad&#45;ref",
    ):
        assert part in answer.summary
    assert "<b>" not in answer.summary
    manifest = gate.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace(str(gate.sglang.path), "http://127.0.0.1:9/o/r"))
    answer = gate.run(body="ci-sglang-pr: #12", actions=True)
    assert answer.code == 3
    assert "understood: ci&#45;sglang&#45;pr" in answer.summary
    assert "127&#46;0&#46;0&#46;1" in answer.summary


def test_the_longest_body_of_mentions_makes_no_large_outputs(gate: Gate) -> None:
    """An output of more than a megabyte is refused by the runner, and an environment variable is smaller still."""
    body = ("ci-sglang-pr\n" * 6000)[:65_536]
    answer = gate.run(body=body, actions=True)
    assert answer.code == 0
    assert json.loads(answer.outputs["plan"]).keys() == {"rocm", "cuda"}
    assert sum(len(value.encode()) for value in answer.outputs.values()) < 65_536
    assert "more such notes (mentioned)" in answer.out


def test_an_overruled_line_names_what_overruled_it(gate: Gate) -> None:
    body = "ci-megatron-pr: main\n\nci-sglang-pr: #12\n\nci-sglang-pr[cuda]: rewritten\n"
    words = ("--set", "ci_megatron_pr[rocm]=feature")
    answer = gate.run(*words, body=body, actions=True)
    assert answer.code == 0
    assert "ci-megatron-pr: main named by body:1:1 -> overruled by an input in rocm\n" in answer.out
    assert "ci-sglang-pr: #12 named by body:3:1 -> rocm (mi350); overruled by body:5:1 in cuda\n" in answer.out
    assert "loses to 'feature' (input ci_megatron_pr[rocm])" in answer.out
    assert "overruled by an input in rocm" in answer.summary
    found = gate.run(*words, "--format", "json", body=body).json["directives"]
    by_input = {"image": "rocm", "by": {"kind": "input", "line": None, "column": None}}
    assert [one["overruled"] for one in found if one["text"] == "ci-megatron-pr: main"] == [[by_input]]


def test_the_place_of_an_input_is_as_its_caller_wrote_it(gate: Gate) -> None:
    for name, value in (("ci_sglang_pr[rocm]", "1234"), ("ci_sglang_pr[rocm]", "gone"), ("ci-sglang_pr", "gone")):
        answer = gate.run("--set", f"{name}={value}", body="")
        assert answer.code == 2
        assert f"error: input {name}: " in answer.err


@pytest.mark.parametrize("words", [(), ("--image", "rocm"), ("--set", "ci_sglang_pr=#12")])
def test_a_manifest_without_images_plans_nothing_and_says_so(gate: Gate, words: tuple[str, ...]) -> None:
    (gate.project / "regraft.toml").write_text("[project]\nname = 'x'\n[dependencies.sglang]\nurl = '../x'\n")
    answer = gate.run(*words, body="", actions=True)
    assert answer.code == 2
    assert "the manifest has no images" in answer.err
    assert "[no-images]" in answer.err
    assert answer.outputs == {}


def test_an_output_that_cannot_be_is_refused_before_a_server_is_asked(gate: Gate) -> None:
    folder = gate.project.parent / "plans"
    for output in ("", f"{folder}/", str(gate.project)):
        answer = gate.run("--output", output, "--image", "rocm", body="ci-sglang-pr: #12", actions=True)
        assert (answer.code, answer.outputs) == (2, {})
        assert "name a file" in answer.err
    assert not folder.exists()
    assert gate.git.calls == []


@pytest.mark.parametrize("folder", ["project", "./project/", "absolute"])
def test_a_patch_is_named_from_the_working_directory_and_planned_by_the_projects_own_path(
    gate: Gate, folder: str
) -> None:
    words = ("--project", str(gate.project) if folder == "absolute" else folder)
    answer = gate.run(*words, body="ci-sglang-pr: rewritten", actions=True, cwd=gate.project.parent)
    assert answer.code == 1
    assert "error: project/docker/sglang.patch: conflict" in answer.out
    assert "::project/docker/sglang.patch: conflict" in answer.err
    answer = gate.run(*words, "--format", "json", body="", cwd=gate.project.parent)
    [patch] = answer.json["plans"]["rocm"]["dependencies"]["sglang"]["patches"]
    assert patch["path"] == "docker/sglang.patch"


def test_places_are_as_the_working_directory_names_them(gate: Gate) -> None:
    above, manifest = gate.project.parent, gate.project / "regraft.toml"
    text = manifest.read_text()

    def said() -> str:
        return gate.run("--project", "project", body="", actions=True, cwd=above).err

    manifest.write_text(text.replace("[images.cuda]", 'images = 3\n[images.cuda]\nnmae = "x"'))
    assert "file=project/regraft.toml,line=" in said()
    manifest.write_text(text.replace('tag-directive = "ci-image-tag"', 'unnamed = ["lock", "head"]'))
    (gate.project / "lock.json").write_text("{}")
    assert "error: project/lock.json: " in said()
    (gate.project / "lock.json").unlink()
    assert "error: project/lock.json: " in said()
    manifest.write_text(text)
    (gate.project / "baselines").mkdir()
    (gate.project / "baselines/rocm.json").write_text("{}")
    assert "error: project/baselines/rocm.json: " in said()
    (gate.project / "baselines/rocm.json").unlink()
    (gate.project / "docker/sglang.patch").unlink()
    assert "error: project/docker/sglang.patch: the project has no such patch file" in said()
    (gate.project / "docker/sglang.patch").symlink_to("/etc/hostname")
    assert "error: project/docker/sglang.patch: a link leads out" in said()
    manifest.unlink()
    assert "error: project/regraft.toml: there is no regraft.toml [no-manifest]" in said()


def with_submodule(repository: Any, branch: str, parent: str) -> None:
    """A commit on a branch whose one submodule is at a commit that its repository does not have."""
    modules = repository.git("hash-object", "-w", "--stdin", stdin=b'[submodule "s"]\n\tpath = s\n\turl = ../sub\n')
    rows = f"100644 blob {modules}\t.gitmodules\n160000 commit {'1' * 40}\ts\n"
    rows += repository.git("ls-tree", parent) + "\n"
    tree = repository.git("mktree", "--missing", stdin=rows.encode())
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    repository.ref(f"refs/heads/{branch}", repository.git(*name, "commit-tree", "-m", "m", "-p", parent, tree))


def test_submodules_of_all_overrides_are_said_at_once_where_each_was_named(
    gate: Gate, make_repository: Callable[..., Any]
) -> None:
    for owner in ("sgl-project", "NVIDIA"):
        make_repository(f"{owner}/sub").commit("main")
    with_submodule(gate.sglang, "linked", gate.commits["base"])
    with_submodule(gate.megatron, "linked", gate.commits["megatron"])
    answer = gate.run("--set", "ci_megatron_pr=linked", body="Text.\n\nci-sglang-pr: linked")
    assert answer.code == 2
    assert answer.err.count("[submodule-missing]") == 2
    assert "error: body:3:1: submodule 's' wants commit" in answer.err
    assert "error: input ci_megatron_pr: submodule 's' wants commit" in answer.err
    assert str(gate.sglang.path.parent / "sub") in answer.err


@pytest.mark.parametrize("token", [{}, {"UPSTREAM_TOKEN": ""}, {"UPSTREAM_TOKEN": "secret"}])
def test_a_token_that_is_not_there_is_said_where_it_would_be_used(gate: Gate, token: dict[str, str]) -> None:
    manifest = gate.project / "regraft.toml"
    url = f'url = "{gate.sglang.path}"'
    manifest.write_text(manifest.read_text().replace(url, f'{url}\ntoken-env = "UPSTREAM_TOKEN"'))
    said = "sglang: UPSTREAM_TOKEN is unset or empty" in gate.run(body="ci-sglang-pr: #12", **token).out
    assert said == (token.get("UPSTREAM_TOKEN") != "secret")
    assert "token-unset" not in gate.run(body="ci-megatron-pr: feature", **token).out


def test_a_shard_gets_its_own_plan_from_the_outputs(gate: Gate) -> None:
    """As `jq` or `toJSON(fromJSON(...)[matrix.image])` hands it on: the same document in another layout."""
    out = gate.project.parent / "plans"
    answer = gate.run("--output", str(out), body="ci-sglang-pr: #12", actions=True)
    for image in ("rocm", "cuda"):
        handed_on = json.dumps(json.loads(answer.outputs["plan"])[image], indent=2)
        plan = decode_plan(handed_on.encode(), "plan.json")
        assert plan.image.name == image
        assert plan == decode_plan((out / f"{image}.json").read_bytes(), image)
