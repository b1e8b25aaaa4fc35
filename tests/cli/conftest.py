"""A small machine to apply plans on: real git, a real environment, and installs that take a few milliseconds."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}

# What pip does, as far as it matters here: it lies in the dependency's own tree, and runs in the image's interpreter.
INSTALL = """\
import os, pathlib, shutil, sysconfig
name, version, command, modules = "dep", open("VERSION").read().strip(), open("COMMAND").read().strip(), ["dep", "ns"]
here = pathlib.Path.cwd()
site, scripts = pathlib.Path(sysconfig.get_path("purelib")), pathlib.Path(sysconfig.get_path("scripts"))
(here / "dep/_version.py").write_text(f"version = {version!r}\\n")
for old in [*site.glob("dep-*.dist-info"), *site.glob("__editable__.dep*"), *site.glob("dep.egg-link")]:
    shutil.rmtree(old) if old.is_dir() else old.unlink()
easy = site / "easy-install.pth"
if easy.exists():
    lines = [line for line in easy.read_text().splitlines() if line != str(here)]
    easy.write_text("".join(line + "\\n" for line in lines)) if lines else easy.unlink()
for one in scripts.glob("dep*"):
    one.unlink()
(site / f"__editable__.dep-{version}.pth").write_text(f"{here}\\n")
info = site / f"dep-{version}.dist-info"
info.mkdir()
(info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: dep\\nVersion: {version}\\n")
(info / "INSTALLER").write_text("tests\\n")
(info / "entry_points.txt").write_text(f"[console_scripts]\\n{command} = dep:main\\n")
(info / "direct_url.json").write_text('{"url": "file://%s", "dir_info": {"editable": true}}' % here)
(scripts / command).write_text("#!python\\nimport dep; dep.main()\\n")
(scripts / command).chmod(0o755)
shutil.rmtree(here / "dep.egg-info", ignore_errors=True)
rows = [f"__editable__.dep-{version}.pth", f"../../../bin/{command}"]
rows += [f"{info.name}/{one}" for one in ("METADATA", "INSTALLER", "entry_points.txt", "direct_url.json", "RECORD")]
(info / "RECORD").write_text("".join(f"{row},,\\n" for row in rows))
"""

EGG = """\
import os, pathlib, sysconfig
here, site = pathlib.Path.cwd(), pathlib.Path(sysconfig.get_path("purelib"))
scripts = pathlib.Path(sysconfig.get_path("scripts"))
version = open("VERSION").read().strip()
(here / "dep/_version.py").write_text(f"version = {version!r}\\n")
(here / "dep.egg-info").mkdir()
(here / "dep.egg-info/PKG-INFO").write_text(f"Metadata-Version: 1.0\\nName: dep\\nVersion: {version}\\n")
(here / "dep.egg-info/entry_points.txt").write_text("[console_scripts]\\ndep-old = dep:main\\n")
(site / "dep.egg-link").write_text(f"{here}\\n.")
(site / "easy-install.pth").write_text(f"{here}\\n")
(scripts / "dep-old").write_text("#!python\\n")
(scripts / "dep-old").chmod(0o755)
"""

PROJECT_INSTALL = """\
import pathlib, sysconfig
info = pathlib.Path(sysconfig.get_path("purelib"), "proj-1.0.dist-info")
info.mkdir(exist_ok=True)
(info / "METADATA").write_text("Metadata-Version: 2.1\\nName: proj\\nVersion: 1.0\\n")
(info / "RECORD").write_text("proj-1.0.dist-info/METADATA,,\\nproj-1.0.dist-info/RECORD,,\\n")
"""

MANIFEST = """\
[project]
name = "proj"
install = [["python", "install.py"]]
distributions = ["proj"]

[dependencies.dep]
url = "{upstream}"
branch = "main"

[images.lane]
python = "/venv/bin/python"

[images.lane.baked.dep]
path = "/opt/dep"
install = [["python", "install.py"]]
distributions = ["dep"]
imports = ["dep", "ns.dep"]
patches = ["dep.patch"]
"""

Pictures = Callable[..., dict[bytes, tuple[object, ...]]]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


@dataclasses.dataclass
class Lane:
    """`root` is the image; `project` holds the manifest and, in plan.json, a plan for dep's second version."""

    base: Path
    picture: Pictures

    @property
    def root(self) -> Path:
        return self.base / "image"

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def checkout(self) -> Path:
        return self.root / "opt/dep"

    @property
    def site(self) -> Path:
        return next((self.root / "venv/lib").glob("python3*/site-packages"))

    @property
    def kept(self) -> Path:
        return self.base.with_name("kept")

    def renew(self) -> None:
        """As it was built."""
        shutil.rmtree(self.base)
        subprocess.run(["cp", "-a", str(self.kept), str(self.base)], check=True)

    def see(self) -> tuple[Any, ...]:
        env = {**ENV, "GIT_OPTIONAL_LOCKS": "0"}
        argv = ["git", "status", "--porcelain=v2", "--branch", "--ignored", "-z"]
        status = subprocess.run(argv, cwd=self.checkout, env=env, capture_output=True, check=True).stdout
        return self.picture(self.checkout, self.site, self.root / "venv/bin"), status

    def regraft(self, command: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """In a session of its own, so that a group that is killed is not the tests'."""
        argv = [sys.executable, "-m", "regraft", command, *arguments]
        environ = {"PATH": ENV["PATH"], "HOME": str(self.base / "home"), **env}
        return subprocess.run(
            argv, cwd=self.project, env=environ, capture_output=True, text=True, check=False, start_new_session=True
        )

    def apply(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.regraft("apply", "plan.json", "--root", str(self.root), *arguments, **env)

    def restore(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.regraft("restore", "--root", str(self.root), *arguments, **env)

    def effects(self, log: Path) -> list[str]:
        """Apply, and name every effect of that."""
        done = self.apply(REGRAFT_EFFECTS=str(log))
        assert done.returncode == 0, done.stdout + done.stderr
        return log.read_text().splitlines()

    def killed(self, at: str, *, group: bool) -> bool:
        """Apply with a kill at one effect. False: the apply came to its end before."""
        done = self.apply(REGRAFT_KILL_AT=at, REGRAFT_KILL_GROUP="1" if group else "0")
        assert done.returncode in {0, -signal.SIGKILL}, (at, done.returncode, done.stderr)
        return done.returncode != 0


def _upstream(base: Path) -> Path:
    """main: two versions. The second renames the console command, has one more package, and lacks one module."""
    work = base / "work"
    (work / "dep").mkdir(parents=True)
    (work / "ns/dep").mkdir(parents=True)
    git(base, "init", "--quiet", str(work))
    git(work, "symbolic-ref", "HEAD", "refs/heads/main")
    (work / ".gitignore").write_text("_version.py\n*.egg-info/\n__pycache__/\n")
    (work / "VERSION").write_text("1.0\n")
    (work / "COMMAND").write_text("dep-old\n")
    (work / "install.py").write_text(INSTALL)
    (work / "dep/__init__.py").write_text("A = 1\n\n\ndef main():\n    pass\n\n\nLAST = 1\n")
    (work / "dep/gone.py").write_text("")
    (work / "ns/dep/__init__.py").write_text("")
    (work / "data.txt").write_text("one\n")
    git(work, "add", "-A")
    git(work, "commit", "--quiet", "-m", "one")
    git(work, "tag", "v1.0")
    (work / "VERSION").write_text("2.0\n")
    (work / "COMMAND").write_text("dep-new\n")
    (work / "dep/__init__.py").write_text("A = 2\n\n\ndef main():\n    pass\n\n\nLAST = 1\n")
    (work / "dep/extra").mkdir()
    (work / "dep/extra/__init__.py").write_text("")
    (work / "data.txt").unlink()
    (work / "data.txt").symlink_to("VERSION")
    (work / "dep/gone.py").unlink()
    git(work, "add", "-A")
    git(work, "commit", "--quiet", "-m", "two")
    git(work, "tag", "v2.0")
    git(base, "clone", "--quiet", "--bare", str(work), str(base / "upstream.git"))
    return base / "upstream.git"


def _build(base: Path, *, egg: bool) -> None:
    (base / "home").mkdir(parents=True)
    upstream = _upstream(base)
    checkout = base / "image/opt/dep"
    checkout.parent.mkdir(parents=True)
    git(base, "clone", "--quiet", "--no-hardlinks", str(upstream), str(checkout))
    git(checkout, "checkout", "--quiet", "-B", "baked", "v1.0")
    git(checkout, "branch", "--quiet", "-D", "main")
    project = base / "project"
    project.mkdir()
    (checkout / "dep/__init__.py").write_text("A = 1\n\n\ndef main():\n    pass\n\n\nLAST = 9\n")
    (project / "dep.patch").write_text(git(checkout, "diff") + "\n")
    (project / "regraft.toml").write_text(MANIFEST.format(upstream=f"file://{upstream}"))
    (project / "install.py").write_text(PROJECT_INSTALL)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(base / "image/venv")], env=ENV, check=True
    )
    python = base / "image/venv/bin/python"
    program = EGG if egg else INSTALL
    subprocess.run([python, "-B", "-c", program], cwd=checkout, env=ENV, check=True)
    site = next((base / "image/venv/lib").glob("python3*/site-packages"))
    (site / "ns/other").mkdir(parents=True)
    (site / "ns/other/__init__.py").write_text("OTHER = 1\n")
    (site / "other-1.0.dist-info").mkdir()
    (site / "other-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (site / "other-1.0.dist-info/RECORD").write_text("ns/other/__init__.py,,\nother-1.0.dist-info/METADATA,,\n")
    (checkout / "notes.txt").write_text("untracked\n")
    (checkout / "dep/__pycache__").mkdir(exist_ok=True)
    (checkout / "dep/__pycache__/old.cpython-311.pyc").write_bytes(b"ignored")
    (project / "body.md").write_text("ci-dep-pr: v2.0\n")


@pytest.fixture(scope="session")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, egg in (("dist-info", False), ("egg-link", True)):
        base = tmp_path_factory.mktemp(name) / "lane"
        _build(base, egg=egg)
        found[name] = base
    return found


@pytest.fixture(params=["dist-info", "egg-link"])
def lane(request: pytest.FixtureRequest, lanes: dict[str, Path], picture: Pictures) -> Lane:
    """The machine stands where it was built, since absolute paths are in it; it is put back to how that was."""
    one = Lane(lanes[request.param], picture)
    if one.kept.exists():
        one.renew()
        return one
    plan = one.regraft("plan", "--image", "lane", "--body", "body.md", "--output", "plan.json")
    assert plan.returncode == 0, plan.stdout + plan.stderr
    subprocess.run(["cp", "-a", str(one.base), str(one.kept)], check=True)
    return one
