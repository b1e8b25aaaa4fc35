"""`action.yml` itself: what its scripts do with their inputs, and the environment that they make."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LADDER = ROOT / "examples/shell-to-regraft/ladder"
WORKFLOWS = sorted(LADDER.rglob("*.yml"))
HOW_TO = ROOT / "docs/how-to/adopt.md"
PYTHONS = {"python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"}


@pytest.fixture
def echo(world: Any, tmp_path: Path) -> Any:
    """A world in which regraft only says how it was called."""
    program = tmp_path / "echo.sh"
    program.write_text(
        '#!/bin/sh\n[ "$2" = -c ] && exec ' + sys.executable + ' "$@"\nprintf "called"; printf " <%s>" "$@"; echo\n'
        'echo "token <$GITHUB_TOKEN> $(for word; do :; done; cat -- "$word" 2>/dev/null | tr -d \'\\n\')"\n'
    )
    program.chmod(0o755)
    world.python = str(program)
    return world


def call(world: Any, given: dict[str, str]) -> Any:
    """The one step of a job that is given to the action."""
    inputs = "".join(f"          {name}: {json.dumps(value)}\n" for name, value in given.items())
    text = "on: push\njobs:\n  one:\n    runs-on: x\n    steps:\n      - uses: example-org/regraft@v1\n        with:\n"
    (world.workflows / "one.yml").write_text(text + inputs)
    return world.run("", file="one.yml")["one"].steps[0]


def test_inputs_become_arguments(echo: Any) -> None:
    echo.token = "t0ken"
    given = {"command": "plan", "image": " cuda\n rocm ", "project": "sub dir", "plan": "-plans", "body-from": "b.md"}
    said = call(echo, given).said
    words = "<--project> <sub dir> <--image=cuda> <--image=rocm> <--body=b.md> <--output=-plans>"
    assert f"called <-I> <-m> <regraft> <plan> {words}\n" in said
    assert "token <t0ken>" in said


def test_only_plan_is_given_the_token(echo: Any) -> None:
    echo.token = "t0ken"
    said = call(echo, {"command": "check"}).said
    assert "called <-I> <-m> <regraft> <check>" in said
    assert "t0ken" not in said


@pytest.mark.parametrize("command", ["verify", "apply"])
def test_a_plan_is_its_text_or_the_name_of_its_file(echo: Any, command: str) -> None:
    text = '{"image": {"name": "rocm"}, "note": "$(touch pwned) `id` %s"}'
    said = call(echo, {"command": command, "plan": text, "root": "/r t", "receipt": "out.json", "image": "rocm"}).said
    assert f"<{command}> <--project> <.> <--image=rocm> <--root=/r t> <--receipt=out.json> <--> </" in said
    assert said.rstrip().endswith(text)
    assert "<--> <-plan.json>" in call(echo, {"command": command, "plan": "-plan.json"}).said


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"command": ""}, "there is no command ''"),
        ({"command": "demo"}, "there is no command demo"),
        ({"command": "plan\n::set-output"}, r"there is no command $'plan\n::set-output'"),
        ({"command": "check", "image": "rocm"}, "takes no input image"),
        ({"command": "check", "plan": "p"}, "takes no input plan"),
        ({"command": "check", "body-from": "b"}, "takes no input body-from"),
        ({"command": "plan", "root": "/x"}, "takes no input root"),
        ({"command": "plan", "receipt": "r"}, "takes no input receipt"),
        ({"command": "verify"}, "nobody handed the plan of the gate on"),
        ({"command": "apply", "plan": ""}, "nobody handed the plan of the gate on"),
        ({"command": "apply", "plan": " \n\t"}, "nobody handed the plan of the gate on"),
        ({"command": "verify", "plan": "null"}, "nobody handed the plan of the gate on"),
        ({"command": "apply", "plan": ' ""\n'}, "nobody handed the plan of the gate on"),
        ({"command": "apply", "plan": '[{"schema":\n"regraft.plan/1"}]'}, "nobody handed the plan of the gate on"),
        ({"command": "verify", "plan": "p", "body-from": "b"}, "takes no input body-from"),
    ],
)
def test_inputs_that_say_nothing_to_the_command_are_refused(echo: Any, given: dict[str, str], says: str) -> None:
    step = call(echo, given)
    assert step.code == 2
    assert "::error title=regraft: usage::" in step.said
    assert says in step.said
    assert "called" not in step.said.partition("::error")[2]
    assert sum(line.startswith("::") for line in step.said.splitlines()) == 1


def test_apply_is_given_the_plan_of_the_gate_and_the_suite_follows(echo: Any, workflow_runner: ModuleType) -> None:
    """The third step of the ladder, with a regraft that only says how it was called."""
    echo.take("3-apply")
    plan = '{"cuda": {"image": {"name": "cuda"}}, "rocm": {"image": {"name": "rocm"}}}'
    image = '{"cuda": "registry.example.org/tinyrl-cuda:nightly", "rocm": "registry.example.org/tinyrl-rocm:nightly"}'
    echo.only("rocm")
    gate = workflow_runner.Job("success", {"plan": plan, "image": image})
    echo.results["gate"] = gate
    job = echo.run("")["rocm"].jobs["suite"]
    step = job.step("Make the image match the plan")
    root = echo.image("rocm")
    assert f"<-m> <regraft> <apply> <--project> <.> <--image=rocm> <--root={root}> <--receipt=receipt.json> <--> <" in step.said
    assert '"name": "rocm"' in step.said
    assert [one.name for one in job.steps] == ["actions/checkout", "Make the image match the plan", "Run the suite"]


def install_script(workflow_runner: ModuleType) -> str:
    steps = workflow_runner.read(ROOT / "action.yml")["runs"]["steps"]
    (script,) = [one["run"] for one in steps if one["name"] == "Install regraft into an environment of its own"]
    return str(script)


def run_install(workflow_runner: ModuleType, temp: Path, path: str, **more: str) -> subprocess.CompletedProcess[str]:
    script = temp / "script.sh"
    script.write_text(install_script(workflow_runner))
    kept = {
        name: os.environ[name]
        for name in os.environ
        if name.startswith(("PIP_", "SSL_CERT")) or "proxy" in name.lower()
    }
    env = {"PATH": path, "HOME": os.environ.get("HOME", "/"), "NAMED": "", **kept, "RUNNER_TEMP": str(temp), **more}
    env["GITHUB_ACTION_PATH"] = str(ROOT)
    words = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(words, env=env, cwd=temp, capture_output=True, text=True, check=False)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH without any Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("cksum", "cut", "rm", "touch", "sh", "dirname", "readlink"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder


def test_no_python_is_said(workflow_runner: ModuleType, tools: Path, tmp_path: Path) -> None:
    done = run_install(workflow_runner, tmp_path, str(tools))
    assert done.returncode == 3
    assert done.stderr.startswith("::error title=regraft: python::no Python of 3.11 or newer")
    assert "'python3.11' 'python3' 'python'" in done.stderr


@pytest.mark.parametrize("named", ["", "python3", "/no/such/python"])
def test_an_old_python_is_not_taken(workflow_runner: ModuleType, tools: Path, tmp_path: Path, named: str) -> None:
    for name in PYTHONS:
        (tools / name).write_text("#!/bin/sh\nexit 1\n")  # what `sys.version_info < (3, 11)` ends with
        (tools / name).chmod(0o755)
    done = run_install(workflow_runner, tmp_path, str(tools), NAMED=named)
    assert done.returncode == 3
    assert "name one with the input python" in done.stderr
    assert list(tmp_path.glob("regraft-*")) == []


@pytest.mark.network
def test_the_environment_is_its_own_and_the_images_is_left_alone(
    workflow_runner: ModuleType, tools: Path, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "image"], check=True)
    held = sorted(path for path in (tmp_path / "image").rglob("*") if "__pycache__" not in path.parts)
    path = f"{tmp_path / 'image/bin'}:{tools}:/usr/bin:/bin"
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "msgspec.py").write_text("raise RuntimeError('the image has another msgspec')\n")
    more = {
        "PIP_TARGET": str(tmp_path / "image/lib"),
        "PYTHONPATH": str(trap),
        "NAMED": str(tmp_path / "image/bin/python"),
    }
    for _ in range(2):  # the second call of a job finds what the first one made
        done = run_install(workflow_runner, tmp_path, path, **more)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "regraft 0.1.0\n"
    assert sorted(path for path in (tmp_path / "image").rglob("*") if "__pycache__" not in path.parts) == held
    (place,) = tmp_path.glob("regraft-*")
    found = subprocess.run(
        [place / "bin/python", "-I", "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    )
    pinned = set((ROOT / "constraints.txt").read_text().splitlines())
    assert {line for line in found.stdout.splitlines() if not line.startswith("regraft")} <= pinned


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_audit_passes(path: Path) -> None:
    zizmor = Path(sys.executable).parent / "zizmor"
    words = [zizmor, "--offline", "--no-progress", "--persona", "pedantic", "--strict-collection", path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_script_holds_an_expression(path: Path, workflow_runner: ModuleType) -> None:
    read = workflow_runner.read(path)
    steps = (
        read["runs"]["steps"]
        if "runs" in read
        else [one for job in read["jobs"].values() for one in job.get("steps", [])]
    )
    scripts = [one["run"] for one in steps if "run" in one]
    assert steps or path.name == "tests.yml"
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.relative_to(LADDER).as_posix())
def test_the_page_shows_the_workflow_that_is_run_here(path: Path) -> None:
    assert f"\n```yaml\n{path.read_text()}```\n" in HOW_TO.read_text()
