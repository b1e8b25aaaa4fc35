"""The demo's world in one folder: upstreams, an image's file system, and the project that is tested on it.

upstreams/engine.git, trainer.git    what a forge would serve
image/opt/venv                       the image's interpreter, a real virtual environment
image/opt/stack/engine, trainer      what was baked in, installed from these checkouts
bodies/                              what pull requests of the project say
workflows/                           the shell that regraft takes the place of, as a workflow
tinyrl/                              the project, with regraft.toml and the patch that it carries on engine
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from regraft.adapters import process
from regraft.adapters.process import Completed
from regraft.demo.upstreams import begin, identity, lay, make_engine, make_trainer
from regraft.errors import OutsideError

PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation")
PATCH = "patches/engine-lanes.patch"
TIMEOUT = 300.0  # seconds for one command


class World(Struct, frozen=True):
    root: Path
    env: Mapping[str, str]

    @property
    def project(self) -> Path:
        return self.root / "tinyrl"

    @property
    def image(self) -> Path:
        return self.root / "image"

    @property
    def python(self) -> Path:
        return self.image / "opt/venv/bin/python"

    def checkout(self, name: str) -> Path:
        return self.image / "opt/stack" / name

    def run(self, argv: Sequence[str], cwd: Path | None = None) -> Completed:
        """Run a command in the project, or at `cwd`, with nothing of the user's in its environment."""
        return process.run(argv, env=self.env, cwd=str(cwd or self.project), timeout=TIMEOUT)

    def git(self, *arguments: str, cwd: Path) -> str:
        """What git printed, trimmed. Raises OutsideError where it failed."""
        return self.must(["git", *arguments], cwd)

    def must(self, argv: Sequence[str], cwd: Path) -> str:
        """What a command printed, trimmed. Raises OutsideError where it failed."""
        completed = self.run(argv, cwd)
        if completed.returncode:
            said = (completed.stderr or completed.stdout).decode("utf-8", "replace").strip()
            raise OutsideError("demo-setup", f"{' '.join(argv)!r:.200} ended with {completed.returncode}: {said:.2000}")
        return completed.stdout.decode("utf-8", "replace").strip()


def build(root: Path, machine: Mapping[str, str]) -> World:
    """Lay out the whole world below `root`, an empty folder. `machine` is the environment that was found.

    Raises OutsideError where a program is missing or fails.
    """
    world = outline(root, machine)
    _bake(world)
    return world


def outline(root: Path, machine: Mapping[str, str]) -> World:
    """The world without its image: enough to plan in, and made in half a second."""
    world = World(root, _environment(root, machine))
    (root / "home").mkdir(parents=True)
    make_engine(world.git, root / "work/engine", root / "upstreams/engine.git")
    make_trainer(world.git, root / "work/trainer", root / "upstreams/trainer.git")
    shutil.rmtree(root / "work")
    lay(root / "bodies", "bodies")
    lay(root / "workflows", "workflows")
    begin(world.git, world.project, "Begin tinyrl", "backend", "project")
    return world


def fresh_image(world: World, stored: Path) -> None:
    """What a new container of the same image is: the file system as it was baked, at the same place."""
    shutil.rmtree(world.image)
    shutil.copytree(stored, world.image, symlinks=True)


def store_image(world: World, stored: Path) -> None:
    shutil.copytree(world.image, stored, symlinks=True)


def _bake(world: World) -> None:
    """What the image's Dockerfile would do. The address that it cloned from is gone by the time the image is used."""
    world.must([sys.executable, "-m", "venv", str(world.image / "opt/venv")], world.root)
    mirror = world.root / "mirror"
    for name in ("engine", "trainer"):
        checkout = world.checkout(name)
        world.git(
            "clone", "--quiet", "--bare", str(world.root / f"upstreams/{name}.git"), str(mirror / name), cwd=world.root
        )
        world.git("clone", "--quiet", str(mirror / name), str(checkout), cwd=world.root)
        world.git("checkout", "--quiet", "--detach", "main~1", cwd=checkout)
    world.git("apply", str(world.project / PATCH), cwd=world.checkout("engine"))
    both = [argument for name in ("engine", "trainer") for argument in ("-e", str(world.checkout(name)))]
    world.must([str(world.python), *PIP_INSTALL, *both], world.root)
    shutil.rmtree(mirror)


def _environment(root: Path, machine: Mapping[str, str]) -> Mapping[str, str]:
    """Nothing of the user's but the place of the programs; pip may not look for anything outside."""
    kept = {name: machine[name] for name in ("PATH", "TMPDIR", "LANG") if name in machine}
    pip = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": "/dev/null"}
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", **kept, **pip, **identity(root / "home"), "PYTHONNOUSERSITE": "1"}
