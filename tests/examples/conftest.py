"""The example project as its workflows find it: throw-away upstreams, tiny images, and a runner that is none."""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from regraft.demo import upstreams

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLE = ROOT / "examples/shell-to-regraft"
PULL_12 = "ci-engine-pr: #12\n"
IMAGES = ("cuda", "rocm")


def load(name: str) -> ModuleType:
    """A module that stands beside the tests; pytest puts no folder on the path here."""
    sys.path.insert(0, str(HERE))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(HERE))


runner = load("runner")


@pytest.fixture(scope="session")
def expressions() -> ModuleType:
    return load("expressions")


@pytest.fixture(scope="session")
def workflow_runner() -> ModuleType:
    return runner


@dataclass
class World:
    """One project on one forge. `run` is one workflow run; the images stay as it left them."""

    root: Path
    upstreams: Path
    api: str = "http://127.0.0.1:9"
    token: str = ""
    plans: dict[str, Path] = field(default_factory=dict)  # artifacts
    results: dict[str, Any] = field(default_factory=dict)
    ours: Path = ROOT
    python: str = sys.executable  # what the action's own environment has for an interpreter

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def workflows(self) -> Path:
        return self.project / ".github/workflows"

    def image(self, name: str) -> Path:
        """The folder that holds the image's files; made when it is first asked for."""
        place = self.root / "images" / name
        if not place.exists():
            bake(self, name, place)
        return place

    def take(self, rung: str) -> None:
        """The workflows of that step of the ladder."""
        shutil.rmtree(self.workflows, ignore_errors=True)
        shutil.copytree(EXAMPLE / "ladder" / rung, self.workflows)

    def only(self, image: str) -> None:
        """Leave the other image's stage out: what it shows is shown elsewhere."""
        self.results |= {one: "skipped" for one in IMAGES if one != image}

    def stage(self, jobs: Mapping[str, Any], image: str) -> Any:
        """The job that ran on the image."""
        return jobs[image].jobs["suite"]

    def edit(self, name: str, old: str, new: str, times: int) -> None:
        """Change a wiring. What is to be changed must be there, and exactly so often."""
        path = self.workflows / name
        text = path.read_text()
        assert text.count(old) == times, f"{name} has {text.count(old)} times {old!r}"
        path.write_text(text.replace(old, new))

    def git(self, *words: str, cwd: Path) -> str:
        done = subprocess.run(
            ["git", *words], cwd=cwd, env=self.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.strip()

    def commit(self, image: str, name: str) -> str:
        return self.git("rev-parse", "HEAD", cwd=self.image(image) / "opt/stack" / name)

    def version(self, image: str, name: str) -> str:
        """What a fresh interpreter of the image says is installed."""
        code = f"import importlib.metadata as m; print(m.version({name!r}))"
        python = self.image(image) / "opt/venv/bin/python"
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout.strip()

    def pull(self, number: int, name: str = "engine") -> str:
        return self.git("rev-parse", f"refs/pull/{number}/head", cwd=self.upstreams / f"{name}.git")

    def baked(self, name: str) -> str:
        return self.git("rev-parse", "main~1", cwd=self.upstreams / f"{name}.git")

    def calls(self) -> list[str]:
        log = self.root / "calls.log"
        return log.read_text().splitlines() if log.exists() else []

    def environment(self, container: str = "") -> dict[str, str]:
        env = {
            "PATH": f"{self.root / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(self.root / "home"),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "CALLS": str(self.root / "calls.log"),
            "GITHUB_API_URL": self.api,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_EVENT_PATH": str(self.root / "event.json"),
        }
        if container:
            image = self.image(image_of(container))
            return env | {"PATH": f"{image / 'opt/venv/bin'}:{env['PATH']}", "IMAGE_ROOT": str(image)}
        return env

    def run(self, body: str | None, inputs: Mapping[str, str] | None = None, file: str = "tests.yml") -> dict[str, Any]:
        """The jobs of a run for a pull request with this body (None: a dispatch), by name."""
        event: dict[str, Any] = {"repository": {"full_name": "example-org/tinyrl"}}
        event |= {"inputs": dict(inputs or {})} if body is None else {"pull_request": {"number": 5, "body": body}}
        (self.root / "event.json").write_text(json.dumps(event))
        machine = runner.Machine(
            root=self.root / f"run-{len(list(self.root.glob('run-*')))}",
            files=self.workflows,
            github={"event": event, "token": self.token, "run_id": "1"},
            env_of=self.environment,
            actions={
                "actions/checkout": lambda at, _: shutil.copytree(self.project, at.workspace, dirs_exist_ok=True),
                "actions/upload-artifact": self._upload,
                "actions/download-artifact": self._download,
            },
            ours=self.ours,
            prepare=self._prepare,
            added=lambda given: {"root": str(self.image(image_of(given["container"])))},
            results=self.results,
        )
        return dict(machine.run(self.workflows / file, inputs))

    def _upload(self, at: Any, given: Mapping[str, str]) -> None:
        self.plans[given["name"]] = at.workspace / given["path"]
        assert self.plans[given["name"]].exists()

    def _download(self, at: Any, given: Mapping[str, str]) -> None:
        shutil.copytree(self.plans[given["name"]], at.workspace / given["path"])

    def _prepare(self, at: Any) -> None:
        """regraft's own environment is there already: installing it needs a registry, and has a test of its own."""
        place = at.temp / f"regraft-{checksum(str(self.ours))}"
        (place / "bin").mkdir(parents=True)
        (place / "bin/python").write_text(f'#!/bin/sh\nexec {self.python} "$@"\n')
        (place / "bin/python").chmod(0o755)
        (place / ".ready").touch()


def image_of(reference: str) -> str:
    """`registry.example.org/tinyrl-rocm:nightly` is the image `rocm`."""
    return reference.removeprefix("registry.example.org/tinyrl-").removesuffix(":nightly")


@functools.cache
def checksum(text: str) -> str:
    return subprocess.run(["cksum"], input=text.encode(), capture_output=True, check=True).stdout.decode().split()[0]


def bake(world: World, name: str, place: Path) -> None:
    """What the image's Dockerfile does, with a pip that is a stand-in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "opt/venv"], check=True)
    site = next((place / "opt/venv/lib").glob("python*/site-packages"))
    (site / "pip").mkdir()
    (site / "pip/__init__.py").touch()
    shutil.copyfile(HERE / "pip_stand_in.py", site / "pip/__main__.py")
    commits = dict(
        line.removeprefix("ARG ").split("=", 1)
        for line in (EXAMPLE / f"docker/Dockerfile.{name}").read_text().splitlines()
        if line.startswith("ARG ")
    )
    for one in ("engine", "trainer"):
        checkout = place / "opt/stack" / one
        world.git("clone", "--quiet", str(world.upstreams / f"{one}.git"), str(checkout), cwd=world.root)
        world.git("checkout", "--quiet", "--detach", commits[f"{one.upper()}_COMMIT"], cwd=checkout)
        world.git("remote", "remove", "origin", cwd=checkout)
        if name == "rocm" and one == "engine":
            world.git("apply", str(EXAMPLE / "docker/patches/rocm/engine-lanes.patch"), cwd=checkout)
        subprocess.run([place / "opt/venv/bin/python", "-m", "pip", "install", "-e", checkout], check=True)


@pytest.fixture(scope="session")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The upstreams, `engine.git` and `trainer.git`."""
    root = tmp_path_factory.mktemp("forge")
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **upstreams.identity(root)}

    def git(*words: str, cwd: Path) -> str:
        return subprocess.run(["git", *words], cwd=cwd, env=env, capture_output=True, text=True, check=True).stdout

    upstreams.make_engine(git, root / "work/engine", root / "engine.git")
    upstreams.make_trainer(git, root / "work/trainer", root / "trainer.git")
    return root


MakeWorld = Callable[[Path, str], World]


@pytest.fixture(scope="session")
def make_world(forge: Path) -> MakeWorld:
    def make(root: Path, rung: str) -> World:
        world = World(root, forge)
        (root / "home").mkdir(parents=True)
        (root / "bin").mkdir()
        real = shutil.which("git")
        (root / "bin/git").write_text(f'#!/bin/sh\nprintf \'git %s\\n\' "$*" >>"$CALLS"\nexec {real} "$@"\n')
        (root / "bin/git").chmod(0o755)
        address = f'[url "file://{forge}/"]\n\tinsteadOf = https://git.example.org/stack/\n'
        (root / "home/.gitconfig").write_text(address)
        shutil.copytree(EXAMPLE, world.project, ignore=shutil.ignore_patterns("ladder"))
        for path in (world.project / "baselines").glob("*.json"):
            said = json.loads(path.read_text())
            said["python"] = platform.python_version()
            path.write_text(json.dumps(said))
        world.take(rung)
        return world

    return make


@pytest.fixture
def world(make_world: MakeWorld, tmp_path: Path) -> World:
    return make_world(tmp_path / "world", "2-plan")
