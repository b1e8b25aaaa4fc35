"""The second half: a real container image, built and run by buildah without a daemon.

Everything happens in mount namespaces of its own, so that no mount outlives it. Started by run.py as `start`, which
runs this file as a program there, as root.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import world
from steps import Place, Story, must, say
from supplies import Supplies, programs, python_of

PYTHON = "/opt/venv/bin/python"
IMAGE = "localhost/tinycli-ci"
JOB = {"CI": "true"}
MOUNTS = ("unshare", "--mount", "--propagation", "private")


@dataclass(frozen=True, slots=True)
class Engine:
    """buildah with a store of its own. `driver` is overlay where the kernel gives one, else vfs."""

    machine: Place
    store: Path
    driver: str
    work: Path

    def words(self) -> list[str]:
        places = ("--root", str(self.store / "images"), "--runroot", str(self.store / "run"))
        return ["buildah", *places, "--storage-driver", self.driver]

    def must(self, *arguments: str) -> str:
        return must(self.machine, *self.words(), *arguments)

    def has(self, image: str) -> bool:
        return image in self.must("images", "--all", "--format", "{{.Name}}:{{.Tag}}").split()

    def clear(self) -> None:
        """Leave nothing in the store but the operating system."""
        self.must("rm", "--all")
        if self.has(f"{IMAGE}:latest"):
            self.must("rmi", IMAGE)
        self.must("rmi", "--prune", "--force")

    def container(self, name: str, cwd: str, env: dict[str, str]) -> Place:
        """Where commands run in the container `name`, which has the work folder at /lane."""
        flags = [f"--env={key}={value}" for key, value in env.items()]
        shared = f"--volume={self.work}:/lane"
        run = [*self.words(), "run", "--isolation", "chroot", shared, f"--workingdir={cwd}", *flags, name, "--"]
        return Place(f"{name}:{cwd}", self.machine.env, prefix=run)


def tell(story: Story, work: Path, supplies: Supplies, driver: str | None = None) -> None:
    """`driver` is buildah's storage driver; None: overlay where the kernel gives one, else vfs."""
    env = world.quiet_environment(supplies.machine.env, work / "home")
    world.lay_out(work, supplies.sdists(), env)
    engine = _engine(supplies, work, driver)
    try:
        _build(engine, supplies)
        _tell(story, engine, Place("gate", env, work / "project", words=_regraft()))
    finally:
        engine.clear()


def _tell(story: Story, engine: Engine, gate: Place) -> None:
    inside = {
        key: value for key, value in gate.env.items() if key not in {"PATH", "HOME"} and not key.startswith("GIT_")
    }
    engine.must("from", "--name", "job", IMAGE)
    job = engine.container("job", "/lane/project", {**inside, **JOB})
    click = engine.container("job", "/opt/src/click", {**inside, **JOB})
    baked = _what_is_baked(story, job, click, engine.driver)
    _gate(story, gate)
    _job(story, job, click, baked)
    engine.must("from", "--name", "lasting", IMAGE)
    project, click = (engine.container("lasting", cwd, inside) for cwd in ("/lane/project", "/opt/src/click"))
    _lasting(story, project, click, baked)


def _what_is_baked(story: Story, job: Place, click: Place, driver: str) -> str:
    story.chapter(
        "A container of the image",
        "click 8.1.7 with the project's patches in /opt/src/click, installed in /opt/venv; regraft has its own /opt/regraft.",
    )
    said = story.run(job, "stat", "--file-system", "--format", "the root is on: %T", "/")
    story.expect(
        ("overlay" in said) is (driver == "overlay"),
        "A real overlay mount." if driver == "overlay" else "Not an overlay mount, but plain folders.",
    )
    story.run(job, "regraft", "image", "probe", "--write", says=["baseline of ci", "click"])
    return world.passed(story, click, PYTHON, *world.CLICK_TESTS)


def _gate(story: Story, gate: Place) -> None:
    story.chapter("At the gate, outside of the container", "It has the baseline, and no image.")
    for body, plan in (("release-8.2.1", "plan.json"), ("pull-7", "plan-7.json")):
        plan_of = ("regraft", "plan", "--body", f"../bodies/{body}.md", "--output", plan)
        story.run(gate, *plan_of, says=["click-no-editor.patch applies", "overridden: true"])


def _job(story: Story, job: Place, click: Place, baked: str) -> None:
    story.chapter(
        "A job in a container that is thrown away",
        "CI is set, so that nothing is kept for a restore; what was not named is still compared before and after.",
    )
    story.run(job, "regraft", "apply", "plan.json", "--receipt", "receipt.json", shown=24)
    story.run(job, PYTHON, "-c", world.SHOW_VERSION, says=["8.2.1 /opt/src/click/src/click/__init__.py"])
    tested = world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    story.expect(tested != baked, f"Other tests than before: {tested}, and not {baked}.")
    world.passed(story, job, PYTHON, *world.PROJECT_TESTS)
    story.run(job, "regraft", "verify", "plan.json", "--receipt", "receipt-of-verify.json", says=["verdict   yes"])


def _lasting(story: Story, project: Place, click: Place, baked: str) -> None:
    story.chapter("A container that lasts: another plan, and back", "CI is not set, so that a snapshot is kept.")
    before = _listing(project)
    story.run(project, "regraft", "apply", "plan-7.json", "--snapshot", "--receipt", "receipt-7.json", shown=24)
    story.run(click, "grep", "--line-number", "in this thread", "src/click/globals.py", says=["in this thread"])
    world.changed(story, before, _listing(project))
    world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    story.run(
        project, "regraft", "verify", "plan-7.json", "--receipt", "receipt-of-verify-7.json", says=["verdict   yes"]
    )
    story.run(project, "regraft", "restore")
    world.same(story, before, _listing(project))
    story.run(project, PYTHON, "-c", world.SHOW_VERSION, says=["8.1.7 /opt/src/click/src/click/__init__.py"])
    tested = world.passed(story, click, PYTHON, *world.CLICK_TESTS)
    story.expect(tested == baked, f"The same tests as in the beginning: {tested}.")


def _listing(place: Place) -> str:
    return must(place, "python3", "/lane/listing.py", "/opt/src/click", "/opt/venv")


def _build(engine: Engine, supplies: Supplies) -> None:
    """The image, from an operating system that is kept in the store."""
    rootfs = supplies.rootfs()
    system = f"localhost/system:{rootfs.parent.name}"
    if not engine.has(system):
        say("Building the image of the operating system.")
        engine.must("rmi", "--all", "--force")
        engine.must(
            "build", "--quiet", "--tag", system, "--file", str(world.HERE / "Containerfile.system"), str(rootfs.parent)
        )
    wheels = engine.work / "wheels"
    shutil.copytree(supplies.image_wheels(), wheels / "image")
    shutil.copytree(supplies.regraft_wheels(python_of(rootfs)), wheels / "regraft")
    shutil.copy(world.HERE / "listing.py", engine.work)
    say("Building the project's image on it.")
    mounts = (f"--volume={engine.work}:/mnt/lane:ro", f"--volume={wheels}:/mnt/wheels:ro")
    how = ("--isolation", "chroot", "--build-arg", f"SYSTEM={system}", "--tag", IMAGE, *mounts)
    engine.must("build", "--quiet", *how, "--file", str(engine.work / "project/Containerfile"), str(world.HERE))


def _engine(supplies: Supplies, work: Path, driver: str | None) -> Engine:
    driver = driver or ("overlay" if _gives_overlay(work) else "vfs")
    engine = Engine(supplies.machine, supplies.cache / f"store-{driver}", driver, work)
    engine.store.mkdir(exist_ok=True)
    say(f"buildah keeps its images by the driver {driver}.")
    engine.clear()
    return engine


def _gives_overlay(folder: Path) -> bool:
    """Whether the kernel mounts an overlay on this file system."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        names = [f"{place}/{name}" for name in ("lower", "upper", "work", "merged")]
        for name in names:
            os.mkdir(name)
        options = "lowerdir={},upperdir={},workdir={}".format(*names)
        argv = ["mount", "-t", "overlay", "overlay", "-o", options, names[3]]
        mounted = subprocess.run(argv, capture_output=True, check=False).returncode == 0
        if mounted:
            subprocess.run(["umount", names[3]], check=True)
        else:
            say("This kernel gives no overlay mount here.")
        return mounted


def _regraft() -> dict[str, Sequence[str]]:
    return {"regraft": [sys.executable, "-m", "regraft"]}


def start(supplies: Supplies, driver: str | None) -> int:
    """Tell this half in a mount namespace of its own; how it ended. Raises SystemExit where this user may not."""
    if os.geteuid() != 0:
        raise SystemExit(
            "the second half builds and runs a container as root: `sudo make example`, or leave it at the first"
        )
    programs(supplies.machine)
    own = [*MOUNTS, sys.executable, str(world.HERE / "run.py"), "--here"]
    own += ["--driver", driver] if driver else []
    return subprocess.run(own, check=False).returncode
