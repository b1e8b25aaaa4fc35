"""The example's workflows, run: what a line of a pull request leads to, on each step of the ladder."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

PULL_12 = "Please test the two together:\n\nci-engine-pr: #12\n"
REPLACE = "Replace what is named"
VERIFY = "Is this machine what the plan says?"


@pytest.fixture(scope="module")
def named(make_world: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A run of both images whose pull request names one dependency."""
    world = make_world(tmp_path_factory.mktemp("named") / "world", "2-plan")
    return world, world.run(PULL_12)


@pytest.fixture(scope="module")
def unnamed(make_world: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    world = make_world(tmp_path_factory.mktemp("unnamed") / "world", "2-plan")
    return world, world.run("Nothing of the image is asked for.\n")


@pytest.mark.slow
@pytest.mark.parametrize("image", ["cuda", "rocm"])
def test_the_plan_of_the_gate_reaches_the_machine_and_is_proved_there(named: tuple[Any, Any], image: str) -> None:
    world, jobs = named
    stage = world.stage(jobs, image)
    assert (jobs["gate"].result, jobs["gate"].outputs["overridden"], jobs[image].result) == (
        "success",
        "true",
        "success",
    )
    assert world.commit(image, "engine") == world.pull(12)
    assert world.version(image, "engine") == "1.1.0"
    digest = json.loads(jobs["gate"].outputs["plan"])[image]["digest"]
    assert f"receipt of {image}, plan {digest[:12]}" in stage.step(VERIFY).said
    assert "verdict   yes" in stage.step(VERIFY).said
    assert stage.step("Run the suite").outcome == "success"
    assert world.commit(image, "trainer") == world.baked("trainer")
    assert touching(world, image, "trainer") == []


@pytest.mark.slow
def test_the_carried_patch_is_there_afterwards_where_the_image_carries_it(named: tuple[Any, Any]) -> None:
    world, _ = named
    lanes = {
        image: (world.image(image) / "opt/stack/engine/src/engine/kernels.py").read_text().splitlines()[-1]
        for image in ("cuda", "rocm")
    }
    assert lanes == {"cuda": "LANES = 32", "rocm": "LANES = 64"}


def test_checkout_then_patch_check_then_apply_then_install_and_the_project_last(named: tuple[Any, Any]) -> None:
    world, jobs = named
    engine = f"{world.image('rocm')}/opt/stack/engine"
    stage = [call for call in world.calls() if f"-C {engine} " in call or call.startswith("pip install")]
    first = next(number for number, call in enumerate(stage) if f"-C {engine} " in call)
    words = [call.removeprefix("git ").removeprefix(f"-C {engine} ").split(" ") for call in stage[first:]]
    assert [" ".join(one[:2]) for one in words] == [
        "fetch --quiet",
        "checkout --quiet",
        "apply --check",
        f"apply {words[3][1]}",
        "pip install",
        "pip install",
    ]
    assert words[3][1].endswith("/workspace/docker/patches/rocm/engine-lanes.patch")
    assert words[4][2] == engine
    assert words[5][2].endswith("/workspace")
    assert [one.name for one in world.stage(jobs, "rocm").steps][2:] == [
        REPLACE,
        "Install the project",
        VERIFY,
        "Run the suite",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("image", ["cuda", "rocm"])
def test_nothing_named_and_the_install_does_not_run_and_the_stage_does(unnamed: tuple[Any, Any], image: str) -> None:
    world, jobs = unnamed
    stage = world.stage(jobs, image)
    assert jobs["gate"].outputs["overridden"] == "false"
    assert stage.step(REPLACE).outcome == "skipped"
    assert [one.outcome for one in stage.steps if one.name != REPLACE] == ["success"] * 5
    assert "verdict   yes" in stage.step(VERIFY).said
    assert world.commit(image, "engine") == world.baked("engine")
    assert world.version(image, "engine") == "1.0.0"


@pytest.mark.slow
def test_nothing_named_and_no_checkout_is_touched_and_only_the_project_is_installed(unnamed: tuple[Any, Any]) -> None:
    world, jobs = unnamed
    assert jobs["gate"].result == "success"
    assert [touching(world, image, name) for image in ("cuda", "rocm") for name in ("engine", "trainer")] == [[]] * 4
    installed = [call for call in world.calls() if call.startswith("pip install")]
    assert [call.rpartition("/")[2] for call in installed] == ["workspace", "workspace"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "engine", "trainer"),
    [
        ("ci-engine-pr: #12\n", "1.1.0", "baked"),
        ("ci-trainer-pr: main\n", "1.0.0", "main"),
        ("ci-engine-pr: #12\n\nci-trainer-pr: main\n", "1.1.0", "main"),
    ],
    ids=["engine", "trainer", "both"],
)
def test_only_the_named_side_changes(world: Any, body: str, engine: str, trainer: str) -> None:
    world.only("cuda")
    before = {name: state(world, name) for name in ("engine", "trainer")}
    jobs = world.run(body)
    assert jobs["cuda"].result == "success", world.stage(jobs, "cuda").step(VERIFY).said
    assert world.version("cuda", "engine") == engine
    moved = world.git("rev-parse", "main", cwd=world.upstreams / "trainer.git")
    assert world.commit("cuda", "trainer") == (moved if trainer == "main" else world.baked("trainer"))
    for name in ("engine", "trainer"):
        assert (state(world, name) == before[name]) is (f"ci-{name}-pr" not in body)
        assert bool(touching(world, "cuda", name)) is (f"ci-{name}-pr" in body)


def touching(world: Any, image: str, name: str) -> list[str]:
    """What the stage's scripts did to a checkout, with git or with pip."""
    checkout = f"{world.image(image)}/opt/stack/{name}"
    return [call for call in world.calls() if f"-C {checkout} " in call or call == f"pip install {checkout}"]


def state(world: Any, name: str) -> tuple[str, str, dict[str, bytes]]:
    """Commit, what git sees of the files, and the bytes of the metadata."""
    checkout = world.image("cuda") / "opt/stack" / name
    site = next((world.image("cuda") / "opt/venv/lib").glob("python*/site-packages"))
    metadata = {path.name: path.read_bytes() for path in site.glob(f"{name}-*.dist-info/*")}
    return world.commit("cuda", name), world.git("status", "--porcelain", cwd=checkout), metadata


@pytest.mark.slow
def test_a_dispatch_input_leads_where_the_body_leads_and_an_empty_one_names_nothing(world: Any) -> None:
    world.only("rocm")
    jobs = world.run(None, {"ci_engine_pr": "#12", "ci_trainer_pr": ""})
    assert jobs["rocm"].result == "success"
    assert world.commit("rocm", "engine") == world.pull(12)
    assert world.commit("rocm", "trainer") == world.baked("trainer")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("ci-engine-pr: #99\n", "no-such-ref"),
        ("ci-engin-pr: #12\n", "misspelt-key"),
        ("ci-engine-pr: #13\n", "patch-target-gone"),
    ],
)
def test_what_cannot_be_tested_stops_at_the_gate_and_no_machine_is_asked_for(world: Any, body: str, says: str) -> None:
    jobs = world.run(body)
    assert jobs["gate"].result == "failure"
    assert says in jobs["gate"].step("example-org/regraft").said
    assert jobs["gate"].outputs == {"overridden": "", "plan": "", "image": ""}
    assert (jobs["cuda"].result, jobs["rocm"].result) == ("skipped", "skipped")
    assert not (world.root / "images").exists()


@pytest.mark.slow
def test_a_large_plan_goes_by_artifact(world: Any) -> None:
    world.take("2-plan-by-artifact")
    world.only("rocm")
    jobs = world.run(PULL_12)
    assert jobs["rocm"].result == "success"
    assert "plan" not in jobs["gate"].outputs
    assert sorted(path.name for path in world.plans["plans"].iterdir()) == ["cuda.json", "rocm.json"]
    assert "verdict   yes" in world.stage(jobs, "rocm").step(VERIFY).said
    assert world.commit("rocm", "engine") == world.pull(12)


def test_the_first_step_only_reads_and_is_red_on_a_manifest_with_a_mistake(world: Any) -> None:
    world.take("1-check")
    assert world.run("", file="check.yml")["check"].result == "success"
    (world.project / "docker/patches/rocm/engine-lanes.patch").unlink()
    job = world.run("", file="check.yml")["check"]
    assert job.result == "failure"
    assert "patch-missing" in job.step("example-org/regraft").said
    assert not (world.root / "images").exists()


@pytest.fixture
def api() -> Iterator[dict[str, Any]]:
    """A forge's API: it says one pull request, as it is now, and keeps who asked."""
    known: dict[str, Any] = {"asked": []}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            pass

        def do_GET(self) -> None:
            known["asked"].append((self.path, self.headers["Authorization"]))
            head = {"sha": "1" * 40, "ref": "work", "repo": {"full_name": "example-org/tinyrl"}}
            said = {"number": 5, "body": known["body"], "state": "open", "merged": False, "head": head, "base": head}
            data = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield known | {"url": f"http://127.0.0.1:{server.server_port}", "known": known}
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_re_run_reads_the_body_as_it_is_now(world: Any, api: dict[str, Any]) -> None:
    world.api, world.token = api["url"], "t0ken"
    world.results = {"cuda": "skipped", "rocm": "skipped"}
    api["known"]["body"] = PULL_12
    jobs = world.run("The line was added after the run had started.\n")
    assert jobs["gate"].outputs["overridden"] == "true"
    assert "body-changed" in jobs["gate"].step("example-org/regraft").said
    assert [path for path, _ in api["asked"]] == ["/repos/example-org/tinyrl/pulls/5"]
    assert "t0ken" in api["asked"][0][1]


@pytest.mark.slow
@pytest.mark.parametrize("image", ["cuda", "rocm"])
def test_the_committed_baselines_are_what_the_images_hold(world: Any, image: str) -> None:
    path = world.project / f"baselines/{image}.json"
    committed = path.read_text()
    path.unlink()
    probe = ["image", "probe", "--project", world.project, "--image", image, "--root", world.image(image), "--write"]
    subprocess.run([sys.executable, "-m", "regraft", *probe], env=world.environment(), check=True, capture_output=True)
    found, known = json.loads(path.read_text()), json.loads(committed)
    assert found.pop("site") is not None  # hashes of files that name this machine's folders
    known.pop("site", None)
    assert found == known


def test_the_shell_of_before_throws_the_carried_patch_away_and_is_green(world: Any) -> None:
    world.take("0-shell")
    world.only("rocm")
    jobs = world.run(PULL_12)
    assert jobs["rocm"].result == "success"
    assert world.commit("rocm", "engine") == world.pull(12)
    assert "LANES = 64" not in (world.image("rocm") / "opt/stack/engine/src/engine/kernels.py").read_text()


def test_the_shell_of_before_tests_the_baked_copy_of_a_ref_that_does_not_exist_and_is_green(world: Any) -> None:
    world.take("0-shell")
    world.only("rocm")
    jobs = world.run("ci-engine-pr: #99\n")
    assert jobs["rocm"].result == "success"
    assert "engine #99 is installed" in world.stage(jobs, "rocm").step("Replace engine").said
    assert world.commit("rocm", "engine") == world.baked("engine")
