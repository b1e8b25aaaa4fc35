"""`regraft apply` as a job runs it: each end is the plan or the baseline, and one message says which."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

MANIFEST = """\
[project]
name = "trial"
install = {project_install}
distributions = ["trial"]

[dependencies.lib]
url = "../upstreams/lib"
branch = "main"

[dependencies.kept]
url = "../upstreams/kept"
branch = "main"

[images.img]
python = "/opt/venv/bin/python"
{image}

[images.img.baked.lib]
path = "/src/lib"
install = {install}
distributions = ["lib"]
imports = ["lib"]
patches = ["patches/lib.patch"]
{lib}

[images.img.baked.kept]
path = "/src/kept"
distributions = ["kept"]
imports = ["kept"]
"""

PATCH = """\
--- a/lib/core.py
+++ b/lib/core.py
@@ -1,3 +1,4 @@
 a = 1
+carried = True
 b = 2
 c = 3
"""

# What an editable install of pip leaves, made by hand: it needs neither pip nor an index.
INSTALL = """\
import glob, os, shutil, sys, sysconfig

name, here = sys.argv[1], os.getcwd()
version = open("VERSION").read().strip()
site, scripts = sysconfig.get_path("purelib"), sysconfig.get_path("scripts")
for old in glob.glob(f"{site}/{name}-*.dist-info"):
    for line in open(f"{old}/RECORD"):
        path = os.path.normpath(os.path.join(site, line.split(",")[0]))
        if os.path.exists(path):
            os.unlink(path)
    os.rmdir(old)
info = f"{name}-{version}.dist-info"
files = {
    f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
    f"{info}/direct_url.json": '{"url": "file://%s", "dir_info": {"editable": true}}' % here,
    f"{info}/entry_points.txt": f"[console_scripts]\\n{name}-{version} = {name}:main\\n",
    f"{info}/RECORD": "",
    f"__editable__.{name}.pth": here + "\\n",
    os.path.relpath(f"{scripts}/{name}-{version}", site): f"#!{sys.executable}\\nimport {name}\\n",
}
files[f"{info}/RECORD"] = "".join(f"{path},,\\n" for path in files)
os.mkdir(f"{site}/{info}")
for path, text in files.items():
    with open(os.path.join(site, path), "w") as stream:
        stream.write(text)
print("installed", name, version)
"""

GOOD = ["python", "install.py", "lib"]
PROJECT = [["python", "install.py", "trial"]]


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    done = subprocess.run(argv, env=ENV, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(folder: Path, files: dict[str, str], tag: str | None = None) -> str:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "c")
    if tag:
        git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def last(self) -> str:
        return self.err.strip().splitlines()[-1]


@dataclass
class ApplyWorld:
    """`top` holds project, upstreams, image (the root) and outside; it may be copied as a whole before it is used."""

    top: Path

    @property
    def project(self) -> Path:
        return self.top / "project"

    @property
    def upstream(self) -> Path:
        return self.top / "upstreams/lib"

    @property
    def root(self) -> Path:
        return self.top / "image"

    @property
    def checkout(self) -> Path:
        return self.root / "src/lib"

    @property
    def kept(self) -> Path:
        return self.root / "src/kept"

    @property
    def site(self) -> Path:
        return next((self.root / "opt/venv/lib").glob("python3.*")) / "site-packages"

    @property
    def guarded(self) -> tuple[Path, ...]:
        return (self.root / "src", self.root / "opt")

    @property
    def plan_file(self) -> Path:
        return self.top / "plan.json"

    def manifest(
        self,
        *,
        install: list[list[str]] | None = None,
        project_install: list[list[str]] | None = None,
        image: str = "",
        lib: str = "",
    ) -> None:
        text = MANIFEST.format(
            install=json.dumps([GOOD] if install is None else install),
            project_install=json.dumps(PROJECT if project_install is None else project_install),
            image=image,
            lib=lib,
        )
        write(self.project, {"regraft.toml": text})

    def run(self, *words: str, check: int | None = None, **env: str) -> Answer:
        environment = {"PATH": ENV["PATH"], "HOME": str(self.top / "outside"), **env}
        done = subprocess.run(
            [sys.executable, "-m", "regraft", *words],
            cwd=self.project,
            env=environment,
            capture_output=True,
            check=False,
            timeout=120,
        )
        answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert check is None or answer.code == check, f"{answer.code}\n{answer.out}\n{answer.err}"
        return answer

    def plan(self, ref: str = "v2", *, output: Path | None = None) -> None:
        named = ["--set", f"ci_lib_pr={ref}"] if ref else []
        self.run("plan", "--image", "img", *named, "--output", str(output or self.plan_file), check=0)

    def apply(self, *words: str, check: int | None = None, plan: Path | None = None, **env: str) -> Answer:
        return self.run("apply", str(plan or self.plan_file), "--root", str(self.root), *words, check=check, **env)

    def restore(self, check: int | None = None) -> Answer:
        return self.run("restore", "--root", str(self.root), check=check)

    def verify(self, check: int | None = None) -> Answer:
        return self.run("verify", str(self.plan_file), "--root", str(self.root), check=check)

    def python(self, code: str) -> str:
        argv = [str(self.root / "opt/venv/bin/python"), "-B", "-c", code]
        return subprocess.run(
            argv, env={"PATH": ENV["PATH"]}, check=True, capture_output=True, text=True
        ).stdout.strip()


LIB = {
    "lib/__init__.py": "from lib.core import *\n",
    "lib/core.py": "a = 1\nb = 2\nc = 3\n",
    "lib/old.py": "old = True\n",
    "VERSION": "1.0\n",
    "install.py": INSTALL,
    ".gitignore": "__pycache__/\n*.so\n_version.py\n",
}


def _distribution(site: Path, name: str, version: str) -> None:
    info = f"{name}-{version}.dist-info"
    write(
        site,
        {
            f"{name}/__init__.py": f"version = {version!r}\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/RECORD": f"{name}/__init__.py,,\n{info}/METADATA,,\n{info}/RECORD,,\n",
        },
    )


@pytest.fixture(scope="session")
def apply_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("apply") / "top"
    world = ApplyWorld(top)
    for folder in ("upstreams/lib", "upstreams/kept", "project", "image/src", "image/opt", "outside"):
        (top / folder).mkdir(parents=True)
    for name in ("upstreams/lib", "upstreams/kept", "project"):
        git(top / name, "init", "-q")
        git(top / name, "symbolic-ref", "HEAD", "refs/heads/main")
    lib = world.upstream
    commit(lib, LIB, "v1")
    git(top, "clone", "-q", "--no-local", str(lib), str(world.checkout))
    git(world.checkout, "checkout", "-q", "-b", "baked")
    (lib / "lib/old.py").unlink()
    commit(lib, {"VERSION": "2.0\n", "lib/core.py": "a = 1\nb = 2\nc = 3\nd = 4\n", "lib/new/__init__.py": ""}, "v2")
    commit(lib, {"VERSION": "3.0\n", "lib/core.py": "a = 1\nb = 2\nc = 3\nd = 5\n"}, "v3")
    kept = {"kept/__init__.py": "", "VERSION": "1.0\n", "install.py": INSTALL, ".gitignore": "__pycache__/\n"}
    commit(top / "upstreams/kept", kept, "v1")
    own = {"trial/__init__.py": "", "VERSION": "0.1\n", "install.py": INSTALL, "patches/lib.patch": PATCH}
    commit(world.project, own)
    world.manifest()
    commit(world.project, {})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(world.root / "opt/venv")], check=True)
    git(world.checkout, "apply", str(world.project / "patches/lib.patch"))
    git(top, "clone", "-q", str(top / "upstreams/kept"), str(world.kept))
    write(world.checkout, {"lib/_version.py": "version = '1.0'\n", "lib/_C.so": "built of 1.0\n"})
    _distribution(world.site, "other", "1.0")
    world.plan()
    return top


@pytest.fixture
def apply_world(apply_template: Path, tmp_path: Path) -> ApplyWorld:
    """Lib is installed at 1.0 with its carried patch, and the plan file takes it to v2."""
    world = ApplyWorld(Path(shutil.copytree(apply_template, tmp_path / "top", symlinks=True)))
    bake(world)
    return world


def bake(world: ApplyWorld) -> None:
    """Install what the image holds."""
    for name, folder in (("lib", world.checkout), ("kept", world.kept)):
        argv = [str(world.root / "opt/venv/bin/python"), "install.py", name]
        env = {"PATH": ENV["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(argv, cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def git_of() -> Callable[..., str]:
    return git


Picture = Callable[..., dict[bytes, Any]]
Git = Callable[..., str]

GIVEN_BACK = "it was given back: the machine is at its baseline"
UNTOUCHED = "nothing was changed: the machine is at its baseline"
SITE = "import sysconfig, os; site = sysconfig.get_path('purelib');"


def code(text: str) -> list[str]:
    return ["python", "-c", SITE + text]


def findings(answer: Any) -> dict[str, dict[str, Any]]:
    return {one["rule"]: one for one in answer.json["findings"] if one["severity"] == "error"}


def test_a_patch_at_an_address_is_planned_applied_and_verified_from_its_checksum(apply_world: Any, api: Any) -> None:
    """Once it was fetched no server is asked; on a machine that has it not, and reaches no server, nothing is changed."""
    world = apply_world
    api.body = PATCH.encode()
    address = f"{api.url}/lib.patch#sha256={hashlib.sha256(PATCH.encode()).hexdigest()}"
    manifest = world.project / "regraft.toml"
    manifest.write_text(manifest.read_text().replace("patches/lib.patch", address))
    (world.project / "patches/lib.patch").unlink()
    world.plan()
    [planned] = json.loads(world.plan_file.read_text())["dependencies"]["lib"]["patches"]
    assert (planned["path"], planned["state"]) == (address, "applies")
    assert len(api.seen) == 1
    elsewhere = {"REGRAFT_CACHE": str(world.top / "nothing-here")}
    api.status = 503
    answer = world.apply(**elsewhere)
    assert (answer.code, "the server answers 503" in answer.err) == (3, True)
    asked = len(api.seen)
    assert world.apply().code == 0
    assert "carried = True" in (world.checkout / "lib/core.py").read_text()
    assert world.verify().code == 0
    assert len(api.seen) == asked
    (world.checkout / "lib/core.py").write_text("a = 1\n")
    assert world.verify().code == 1


def test_the_image_matches_the_plan_and_a_restore_gives_the_baseline_back(
    apply_world: Any, picture: Picture, git_of: Git
) -> None:
    world = apply_world
    before = picture(*world.guarded)
    receipt = world.top / "receipt.json"
    answer = world.apply("--receipt", str(receipt))
    assert answer.code == 0, answer.err + answer.out
    assert answer.last.startswith("applied: the machine holds the plan ")
    assert world.python("import lib, lib.new; print(lib.d, lib.carried)") == "4 True"
    assert git_of(world.checkout, "status", "--porcelain") == "M lib/core.py"
    assert (world.checkout / "lib/_C.so").read_text() == "built of 1.0\n"
    assert not (world.checkout / "lib/old.py").exists()
    assert (world.root / "opt/venv/bin/lib-2.0").exists()
    assert not (world.root / "opt/venv/bin/lib-1.0").exists()
    found = json.loads(receipt.read_text())
    lib = found["dependencies"]["lib"]
    assert found["verdict"] == "yes"
    assert lib["before"]["commit"] == git_of(world.upstream, "rev-parse", "v1")
    assert lib["after"]["commit"] == lib["planned"]["commit"] == git_of(world.upstream, "rev-parse", "v2")
    assert (lib["before"]["distributions"], lib["after"]["distributions"]) == ({"lib": "1.0"}, {"lib": "2.0"})
    assert {one["name"] for one in found["environment"]["before"]} == {"lib", "kept", "other"}
    assert {one["name"] for one in found["environment"]["after"]} == {"lib", "kept", "other", "trial"}
    assert world.verify().code == 0
    restored = world.restore()
    assert restored.code == 0, restored.err
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_what_is_merged_at_the_gate_is_merged_on_the_machine_and_verified(
    apply_world: Any, picture: Picture, git_of: Git
) -> None:
    """The patch was made on v1, and upstream has changed a line of its context: `apply = "3way"`, as the image's own build."""
    world = apply_world
    core = world.upstream / "lib/core.py"
    git_of(world.upstream, "checkout", "-q", "--detach", "v1")
    core.write_text("a = 1\ncarried = True\nb = 2\nc = 3\n")
    (world.project / "patches/lib.patch").write_text(git_of(world.upstream, "diff", "--full-index") + "\n")
    git_of(world.upstream, "checkout", "-q", "--force", "--detach", "v2")
    core.write_text("a = 1\nb = 2\nc = 33\nd = 4\n")
    git_of(world.upstream, "commit", "-q", "-a", "-m", "c")
    git_of(world.upstream, "tag", "v4")
    exact = world.run("plan", "--image", "img", "--set", "ci_lib_pr=v4", "--output", str(world.plan_file))
    assert exact.code == 1
    world.manifest(lib='apply = "3way"')
    world.plan("v4")
    plan = json.loads(world.plan_file.read_text())
    assert [one["state"] for one in plan["dependencies"]["lib"]["patches"]] == ["applies"]
    said = [one["message"] for one in plan["notes"] if one["code"] == "patch-merged"]
    assert len(said) == 1
    assert "by a three-way merge with the file that it was made on" in said[0]
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == 0, answer.err + answer.out
    assert world.python("import lib; print(lib.c, lib.d, lib.carried)") == "33 4 True"
    assert world.verify().code == 0
    assert world.restore().code == 0
    assert picture(*world.guarded) == before


def test_a_baseline_that_no_ref_holds_outlives_a_git_gc(apply_world: Any, picture: Picture, git_of: Git) -> None:
    world = apply_world
    who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    git_of(world.checkout, "checkout", "--quiet", "--detach")
    git_of(world.checkout, *who, "commit", "--quiet", "--allow-empty", "--message", "the image's own")
    head = git_of(world.checkout, "rev-parse", "HEAD")
    for ref in git_of(world.checkout, "for-each-ref", "--format=%(refname)").splitlines():
        git_of(world.checkout, "update-ref", "-d", ref)
    before = picture(*world.guarded)
    assert world.apply().code == 0
    git_of(world.checkout, "reflog", "expire", "--expire=now", "--all")
    git_of(world.checkout, "gc", "--quiet", "--prune=now")
    assert world.restore().code == 0
    assert git_of(world.checkout, "cat-file", "-t", head) == "commit"
    assert git_of(world.checkout, "rev-parse", "HEAD") == head
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_a_baseline_whose_commit_somebody_swept_away_is_named(apply_world: Any, git_of: Git) -> None:
    world = apply_world
    git_of(world.checkout, "checkout", "--quiet", "--detach")
    git_of(world.checkout, "commit", "--quiet", "--allow-empty", "--message", "the image's own")
    head = git_of(world.checkout, "rev-parse", "HEAD")
    world.apply(check=0)
    for ref in git_of(world.checkout, "for-each-ref", "--format=%(refname)", "refs/regraft-baseline").splitlines():
        git_of(world.checkout, "update-ref", "-d", ref)
    git_of(world.checkout, "reflog", "expire", "--expire=now", "--all")
    git_of(world.checkout, "gc", "--quiet", "--prune=now")
    answer = world.restore(check=1)
    assert f"{world.checkout}: HEAD names {head}, and its repository does not have that commit any more" in answer.out
    assert "1.0" in (world.checkout / "VERSION").read_text()
    again = world.restore(check=1)
    assert head in again.out


@pytest.mark.parametrize("through", ["apply", "restore"])
def test_a_root_is_known_by_any_of_its_names(apply_world: Any, picture: Picture, through: str) -> None:
    world = apply_world
    before = picture(*world.guarded)
    link = world.top / "link"
    link.symlink_to("image")
    roots = {"apply": str(world.root), "restore": str(world.root), through: str(link)}
    world.run("apply", str(world.plan_file), "--root", roots["apply"], check=0)
    world.run("restore", "--root", roots["restore"], check=0)
    assert picture(*world.guarded) == before


def test_the_same_plan_again_writes_nothing(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    world.apply(check=0)
    before = picture(*world.guarded, world.root / "var/lib/regraft/journal.json")
    again = world.apply(check=0)
    assert "already applied" in again.last
    assert picture(*world.guarded, world.root / "var/lib/regraft/journal.json") == before


@pytest.mark.slow
def test_a_plan_that_was_applied_and_does_not_hold_any_more_is_applied_again(
    apply_world: Any, picture: Picture
) -> None:
    world = apply_world
    before = picture(*world.guarded)
    world.apply(check=0)
    (world.site / "__editable__.lib.pth").unlink()
    answer = world.apply(check=0)
    assert answer.last.startswith("applied: ")
    assert world.python("import lib; print(lib.d)") == "4"
    world.restore(check=0)
    assert picture(*world.guarded) == before


def work_on(world: Any) -> dict[str, str]:
    """What somebody does on a machine after an apply: an edit, a new file, and one that git ignores, built anew."""
    work = {"lib/core.py": "a = 'mine'\n", "lib/notes.txt": "mine\n", "lib/_C.so": "built of 2.0\n"}
    write(world.checkout, work)
    return work


def copies(world: Any) -> dict[str, str]:
    """By the path in the checkout."""
    kept = world.root / "var/lib/regraft/kept"
    return {
        str(path).partition(str(world.checkout))[2].lstrip("/"): path.read_text()
        for path in kept.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("which", ["the same plan again", "another plan"])
def test_edits_newer_than_the_apply_stop_a_further_one_and_nothing_is_changed(
    apply_world: Any, picture: Picture, which: str
) -> None:
    world = apply_world
    world.apply(check=0)
    work_on(world)
    other = world.plan_file
    if which == "another plan":
        other = world.top / "other.json"
        world.plan("v3", output=other)
    before = picture(*world.guarded, world.root / "var/lib/regraft/journal.json")
    answer = world.apply("--replace", plan=other, check=1)
    assert "[local-edits]" in answer.err
    assert "1 tracked files were edited" in answer.err
    assert "lib/core.py" in answer.err
    assert "Nothing was changed now: the apply of the plan" in answer.err
    assert "notes.txt" not in answer.err
    assert picture(*world.guarded, world.root / "var/lib/regraft/journal.json") == before
    assert copies(world) == {}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["the same plan again", "another plan"])
def test_newer_edits_that_are_dropped_are_counted_and_their_copies_stay(
    apply_world: Any, picture: Picture, which: str
) -> None:
    world = apply_world
    world.manifest(lib='local-edits = "drop"')
    world.plan()
    before = picture(*world.guarded)
    world.apply(check=0)
    work = work_on(world)
    if which == "another plan":
        world.plan("v3")
    answer = world.apply("--replace", "--format", "json", check=0)
    found = {one["rule"]: one for one in answer.json["findings"]}
    assert "1 tracked files were edited" in found["local-edits"]["message"]
    assert "they go" in found["local-edits"]["message"]
    assert "3 files were made or changed" in found["newer-than-apply"]["message"]
    assert {one["path"].partition("src/lib/")[2] for one in found["newer-than-apply"]["witnesses"]} == {*work}
    assert copies(world) == work
    world.restore(check=0)
    assert picture(*world.guarded) == before
    assert copies(world) == work


@pytest.mark.slow
def test_a_newer_file_that_git_does_not_track_stops_nothing_and_is_not_lost(apply_world: Any) -> None:
    world = apply_world
    world.apply(check=0)
    write(world.checkout, {"lib/notes.txt": "mine\n"})
    (world.site / "__editable__.lib.pth").unlink()
    answer = world.apply(check=0)
    assert "1 files were made or changed since the earlier apply; their copies are in" in answer.err
    assert copies(world) == {"lib/notes.txt": "mine\n"}


@pytest.mark.slow
@pytest.mark.parametrize("fits", [True, False])
def test_a_newer_edit_is_carried_only_where_the_next_plan_holds_it_too(
    apply_world: Any, git_of: Git, fits: bool
) -> None:
    world = apply_world
    world.manifest(lib='local-edits = "carry"')
    world.plan()
    world.apply(check=0)
    held = git_of(world.upstream, "show", "v1:VERSION") + "\n"
    (world.checkout / "VERSION").write_text(held if fits else "9.9\n")
    world.plan("v1")
    answer = world.apply("--replace")
    assert answer.code == (0 if fits else 1), answer.err
    assert fits or "the planned tree does not have them" in answer.err


@pytest.mark.slow
def test_without_a_snapshot_edits_newer_than_the_apply_stop_a_further_one_too(
    apply_world: Any, picture: Picture
) -> None:
    world = apply_world
    world.apply("--no-snapshot", check=0)
    work_on(world)
    before = picture(*world.guarded)
    answer = world.apply("--no-snapshot", check=1)
    assert "[local-edits]" in answer.err
    assert "Nothing was changed now" in answer.err
    assert picture(*world.guarded) == before


def test_a_restore_names_and_keeps_what_is_newer_than_the_apply(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    before = picture(*world.guarded)
    world.apply(check=0)
    work = work_on(world)
    write(world.site, {"mine.py": "hand = 'made'\n"})
    world.python("import lib")
    answer = world.run("restore", "--root", str(world.root), "--format", "json", check=0)
    newer = answer.json["newer_than_apply"]
    paths = {str(world.checkout / name) for name in work} | {str(world.site / "mine.py")}
    assert (newer["count"], {*newer["paths"]}) == (4, paths)
    for path in paths:
        assert Path(newer["copies"] + path).is_file()
    assert {name: text for name, text in copies(world).items() if name} == work
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_a_commit_made_since_the_apply_leaves_its_branch_among_the_copies(apply_world: Any, git_of: Git) -> None:
    world = apply_world
    world.apply(check=0)
    git_of(world.checkout, "checkout", "-q", "-b", "mine")
    made = commit(world.checkout, {"lib/core.py": "a = 'mine'\n"})
    answer = world.restore(check=0)
    assert ".git/refs/heads/mine" in answer.out
    assert copies(world)[".git/refs/heads/mine"].strip() == made
    assert git_of(world.checkout, "cat-file", "-t", made) == "commit"


@pytest.mark.slow
def test_a_restore_right_after_an_apply_has_nothing_newer_to_name(apply_world: Any, git_of: Git) -> None:
    world = apply_world
    world.apply(check=0)
    git_of(world.checkout, "status")
    world.python("import lib.core")
    assert world.restore(check=0).out.splitlines()[0] == "the baseline is back"
    assert not (world.root / "var/lib/regraft/kept").exists()


@pytest.mark.slow
def test_what_a_daemon_of_an_install_would_write_after_the_apply_is_not_written(apply_world: Any) -> None:
    world = apply_world
    late = "import time, sys; time.sleep(2); open(sys.argv[1] + '/late.txt', 'w')"
    daemon = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}, site], start_new_session=True, close_fds=False)"
    world.manifest(install=[GOOD, code(daemon)])
    world.plan()
    answer = world.apply("--format", "json", check=0)
    assert "left-running" in {one["rule"] for one in answer.json["findings"]}
    time.sleep(2.5)
    assert not (world.site / "late.txt").exists()


@pytest.mark.slow
def test_what_an_install_writes_in_the_rest_of_a_virtual_environment_is_given_back(
    apply_world: Any, picture: Picture
) -> None:
    world = apply_world
    text = "p = sys.prefix; open(p + '/pyvenv.cfg', 'a').write('x = 1\\n'); os.makedirs(p + '/share/lib'); open(p + '/share/lib/x', 'w')"
    world.manifest(install=[GOOD, code(f"import sys; {text}"), ["python", "-c", "raise SystemExit(1)"]])
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply(check=1)
    assert "at its baseline, in its checkouts, its environment and what `also-writes` names" in answer.err
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_a_second_plan_is_refused_without_replace_and_the_baseline_stays_the_first_ones(
    apply_world: Any, picture: Picture
) -> None:
    world = apply_world
    before = picture(*world.guarded)
    world.apply(check=0)
    between = picture(*world.guarded)
    other = world.top / "other.json"
    world.plan("v3", output=other)
    refused = world.apply(plan=other)
    assert refused.code == 1
    assert "another-plan" in world.apply("--format", "json", plan=other).out
    assert picture(*world.guarded) == between
    world.apply("--replace", plan=other, check=0)
    assert world.python("import lib; print(lib.d)") == "5"
    world.restore(check=0)
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_nothing_overridden_runs_the_projects_own_install_and_touches_no_dependency(
    apply_world: Any, picture: Picture
) -> None:
    world = apply_world
    world.plan("")
    before = picture(world.root / "src")
    answer = world.apply("--format", "json", check=0)
    assert "the project: done in " in answer.err
    assert "lib: done in " not in answer.err
    assert "installed trial" not in answer.err, "what a command says is told where it failed"
    assert picture(world.root / "src") == before
    assert world.python("import importlib.metadata as m; print(m.version('trial'), m.version('lib'))") == "0.1 1.0"


# What goes wrong

BAD = {
    "a failing command": (
        [[*GOOD], code("open(site + '/half.txt', 'w').write('x'); raise SystemExit(3)")],
        "ended with exit code 3",
    ),
    "a killed command": ([code("os.kill(os.getpid(), 9)")], "was ended by signal 9"),
    "a hanging command": ([code("import time; print('waiting', flush=True); time.sleep(60)")], "did not end within 1 sec"),
    "a missing program": ([["no-such-program"]], "there is no program 'no-such-program'"),
    "no pip": ([["python", "-m", "pip", "install", "-e", ".", "--no-deps"]], "has no pip"),
    "nothing installed": ([["python", "-c", "pass"]], "installed nothing"),
    "an edit of the planned tree": ([[*GOOD], ["python", "-c", "open('lib/core.py', 'a').write('x = 1\\n')"]], "tracked files"),
    "an unimportable result": ([[*GOOD], ["python", "-c", "open('lib/_version.py', 'w')"], code("os.unlink(site + '/__editable__.lib.pth')")], "lib"),
    "another distribution rewritten": (
        [[*GOOD], code("open(site + '/other/__init__.py', 'w').write('version = 2\\n')")],
        "1 files of other changed",
    ),
    "another distribution removed": ([[*GOOD], code("os.unlink(site + '/other/__init__.py')")], "1 files of other changed"),
    "a new distribution": (
        [[*GOOD], code("d = site + '/extra-1.dist-info'; os.mkdir(d); open(d + '/METADATA', 'w').write('Name: extra\\nVersion: 1\\n')")],
        "files of extra changed",
    ),
    "a file of nobody": ([[*GOOD], code("open(site + '/sneaky.pth', 'w').write('/somewhere\\n')")], "no distribution"),
    "a script of nobody": ([[*GOOD], code("open(sysconfig.get_path('scripts') + '/tool', 'w').write('x')")], "no distribution"),
    "a kept checkout": ([[*GOOD], ["python", "-c", "open('../kept/kept/made.py', 'w').write('x')"]], "kept: 1 files"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_a_bad_install_ends_at_the_baseline_and_says_so(apply_world: Any, picture: Picture, name: str) -> None:
    world = apply_world
    commands, said = BAD[name]
    world.manifest(install=commands, image="install-timeout = 1" if "hanging" in name else "")
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == (3 if name == "a missing program" else 1), answer.err
    assert said in answer.err.splitlines()[-1] + answer.err.splitlines()[-2], answer.err
    assert "at its baseline" in answer.err.splitlines()[-1] + answer.err.splitlines()[-2]
    assert picture(*world.guarded) == before
    assert world.restore(check=0).code == 0


@pytest.mark.slow
def test_the_command_that_changed_what_it_may_not_is_named(apply_world: Any) -> None:
    world = apply_world
    guilty = code("import time; time.sleep(0.1); open(site + '/other/__init__.py', 'w').write('version = 2\\n')")
    world.manifest(install=[GOOD, guilty])
    world.plan()
    answer = world.apply("--format", "json", check=1)
    finding = findings(answer)["foreign-change"]
    assert "during `" in finding["message"]
    assert "time.sleep(0.1)" in finding["message"]
    assert finding["witnesses"][0]["path"].endswith("/other/__init__.py")


@pytest.mark.slow
def test_what_a_command_leaves_running_is_ended_and_said(apply_world: Any) -> None:
    world = apply_world
    late = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    world.manifest(install=[GOOD, ["python", "-c", late]])
    world.plan()
    begin = time.monotonic()
    answer = world.apply("--format", "json", check=0)
    assert time.monotonic() - begin < 30
    assert "left-running" in {one["rule"] for one in answer.json["findings"]}


@pytest.mark.slow
def test_a_path_file_that_all_develop_installs_share_may_name_the_checkout_and_nothing_else(apply_world: Any) -> None:
    world = apply_world
    (world.site / "easy-install.pth").write_text("/elsewhere\n")
    append = "open(site + '/easy-install.pth', 'a').write({line} + '\\n')"
    world.manifest(install=[GOOD, code(append.format(line="os.getcwd()"))])
    world.plan()
    world.apply(check=0)
    world.restore(check=0)
    world.manifest(install=[GOOD, code(append.format(line="'/tmp'"))])
    world.plan()
    assert "foreign-change" in findings(world.apply("--format", "json", check=1))


@pytest.mark.slow
def test_without_a_snapshot_the_message_says_that_the_machine_is_changed(apply_world: Any) -> None:
    world = apply_world
    world.manifest(install=[GOOD, ["python", "-c", "raise SystemExit(1)"]])
    world.plan()
    answer = world.apply("--no-snapshot", check=1)
    assert "THE MACHINE IS CHANGED, and not given back (--no-snapshot): throw this container away" in answer.err
    again = world.apply("--no-snapshot")
    assert again.code == 1
    assert "ended in the middle" in again.err


@pytest.mark.slow
def test_without_a_snapshot_what_fails_before_a_file_is_written_leaves_the_baseline(apply_world: Any) -> None:
    world = apply_world
    (world.upstream / ".git").rename(world.upstream / "gone.git")
    answer = world.apply("--no-snapshot", check=3)
    assert UNTOUCHED.capitalize() in answer.err
    (world.upstream / "gone.git").rename(world.upstream / ".git")
    world.apply("--no-snapshot", check=0)


@pytest.mark.slow
def test_without_a_snapshot_the_guard_still_sees_a_foreign_change(apply_world: Any) -> None:
    world = apply_world
    world.manifest(install=[GOOD, code("open(site + '/other/__init__.py', 'w').write('version = 2\\n')")])
    world.plan()
    assert "foreign-change" in findings(world.apply("--no-snapshot", "--format", "json", check=1))


def test_a_commit_that_the_server_lost_ends_at_the_baseline(apply_world: Any, picture: Picture, git_of: Git) -> None:
    world = apply_world
    before = picture(*world.guarded)
    git_of(world.upstream, "checkout", "-q", "-B", "main", "v1")
    for tag in ("v2", "v3"):
        git_of(world.upstream, "tag", "-d", tag)
    git_of(world.upstream, "reflog", "expire", "--expire=now", "--all")
    git_of(world.upstream, "gc", "-q", "--prune=now")
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == 3, answer.err
    assert "does not hand out" in answer.err
    assert "at its baseline" in answer.err
    assert picture(*world.guarded) == before


# What is refused before anything is changed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "exit_code", "said"),
    [
        ("plan", 2, "edited, or cut"),
        ("manifest", 2, "the plan was made for the manifest"),
        ("patch", 1, "is not the one that was planned"),
        ("edit", 1, "no carried patch explains it: lib/__init__.py"),
        ("kept", 1, "not the image that was planned: kept"),
        ("repository", 1, "not a repository that a commit could be put into"),
        ("interpreter", 3, "there is no interpreter"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_changed(
    apply_world: Any, picture: Picture, spoil: str, exit_code: int, said: str
) -> None:
    world = apply_world
    if spoil == "kept":
        world.run("image", "probe", "--image", "img", "--root", str(world.root), "--write", check=0)
        world.plan()
    match spoil:
        case "plan":
            world.plan_file.write_text(world.plan_file.read_text().replace('"trial"', '"other"'))
        case "manifest":
            world.manifest(image="install-timeout = 7")
        case "patch":
            (world.project / "patches/lib.patch").write_text("another\n")
        case "edit":
            (world.checkout / "lib/__init__.py").write_text("edited = True\n")
        case "kept":
            (world.kept / "kept/__init__.py").write_text("edited = True\n")
        case "repository":
            shutil.rmtree(world.checkout / ".git")
        case "interpreter":
            (world.root / "opt/venv/bin/python").unlink()
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == exit_code, answer.err
    assert said in answer.err, answer.err
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_local_edits_are_dropped_where_the_manifest_says_so_and_come_back(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    (world.checkout / "lib/__init__.py").write_text("edited = True\n")
    world.manifest(lib='local-edits = "drop"')
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=0)
    assert any("they go" in one["message"] for one in answer.json["findings"] if one["rule"] == "local-edits")
    world.restore(check=0)
    assert picture(*world.guarded) == before


@pytest.mark.slow
@pytest.mark.parametrize(("text", "fits"), [("b = 2\n", True), ("b = 'mine'\n", False)])
def test_an_edit_is_carried_only_where_the_planned_tree_holds_it_too(
    apply_world: Any, git_of: Git, picture: Picture, text: str, fits: bool
) -> None:
    world = apply_world
    planned = git_of(world.upstream, "show", "v2:VERSION") + "\n"
    (world.checkout / "VERSION").write_text(planned if fits else text)
    world.manifest(lib='local-edits = "carry"')
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == (0 if fits else 1), answer.err
    if not fits:
        assert "the planned tree does not have them" in answer.err
        assert picture(*world.guarded) == before


@pytest.mark.slow
def test_an_image_built_with_fewer_patches_than_the_project_has_now_is_no_local_edit(
    apply_world: Any, git_of: Git
) -> None:
    world = apply_world
    git_of(world.checkout, "checkout", "-q", "--", "lib/core.py")
    world.apply(check=0)


@pytest.mark.slow
def test_a_change_that_the_install_does_not_bring_in_stops_before_anything_is_written(apply_world: Any) -> None:
    world = apply_world
    world.manifest(lib='rebuild-when = ["lib/new/**"]')
    world.plan()
    answer = world.apply(check=1)
    assert "1 paths changed that this install does not bring in: 'lib/new/__init__.py'" in answer.err
    assert "files written" not in answer.err


@pytest.mark.slow
def test_a_held_lock_is_refused_at_once_and_waited_for_where_that_is_asked(apply_world: Any) -> None:
    world = apply_world
    world.apply(check=0)
    world.restore(check=0)
    with (world.root / "var/lib/regraft/lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begin = time.monotonic()
        refused = world.apply("--format", "json")
        assert (refused.code, refused.json["error"]["code"]) == (3, "locked")
        assert world.apply("--wait", "1").code == 3
        assert time.monotonic() - begin > 1
    world.apply(check=0)


@pytest.mark.slow
def test_an_interrupted_apply_gives_back_before_it_goes(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    mark = world.top / "started"
    world.manifest(install=[GOOD, ["python", "-c", f"open({str(mark)!r}, 'w'); import time; time.sleep(60)"]])
    world.plan()
    before = picture(*world.guarded)
    argv = [sys.executable, "-m", "regraft", "apply", str(world.plan_file), "--root", str(world.root)]
    env = {"PATH": os.environ["PATH"], "HOME": str(world.top)}
    process = subprocess.Popen(argv, cwd=world.project, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "error: interrupted. I" + GIVEN_BACK[1:] in said.decode()
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_a_receipt_is_replayed_on_another_machine(apply_world: Any, tmp_path: Path) -> None:
    world = apply_world
    receipt = world.top / "receipt.json"
    world.apply("--receipt", str(receipt), check=0)
    world.restore(check=0)
    again = world.top / "again.json"
    answer = world.run("replay", str(receipt), "--root", str(world.root), "--receipt", str(again), check=0)
    assert "applied" in answer.last
    one, other = json.loads(receipt.read_text()), json.loads(again.read_text())
    assert one["plan"] == other["plan"]
    assert one["dependencies"] == other["dependencies"]
    world.manifest(image="install-timeout = 7")
    assert world.run("replay", str(receipt), "--root", str(world.root)).code == 2


@pytest.mark.slow
def test_a_receipt_has_the_same_digest_below_another_root(apply_world: Any, apply_template: Path) -> None:
    world = apply_world
    receipt, again = world.top / "receipt.json", world.top / "again.json"
    world.apply("--receipt", str(receipt), check=0)
    other = ApplyWorld(Path(shutil.copytree(apply_template, world.top / "other", symlinks=True)))
    bake(other)
    world.run("replay", str(receipt), "--root", str(other.root), "--receipt", str(again), check=0)
    one = json.loads(receipt.read_text())
    assert one["dependencies"]["lib"]["imports"] == [{"name": "lib", "places": ["/src/lib/lib/__init__.py"]}]
    assert one["digest"] == json.loads(again.read_text())["digest"]


# What else is on the path, and the folders themselves


ELSEWHERE = "../../opt/extra"
ON_THE_PATH = {
    "a record": f"sed -i s/1.0/2.0/ {ELSEWHERE}/third-1.0.dist-info/METADATA",
    "content": f"echo evil = True >> {ELSEWHERE}/third/__init__.py",
    "a module of nobody": f"echo evil = True > {ELSEWHERE}/other.py",
    "sitecustomize": f"echo evil = True > {ELSEWHERE}/sitecustomize.py",
}


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False], ids=["baseline", "no baseline"])
@pytest.mark.parametrize("through", ["path file", "python-path", "folder above the checkouts"])
@pytest.mark.parametrize("what", ON_THE_PATH)
def test_what_lies_elsewhere_on_the_path_may_not_change_and_is_given_back(
    apply_world: Any, picture: Picture, what: str, through: str, recorded: bool
) -> None:
    world = apply_world
    above = through.startswith("folder above")
    place = world.root / ("src" if above else "opt/extra")
    _distribution(place, "third", "1.0")
    if through == "path file":
        (world.site / "extra.pth").write_text(f"{place}\n")
        image = ""
    else:
        image = f'python-path = ["{"/src" if above else "/opt/extra"}"]'
    command = ON_THE_PATH[what].replace(ELSEWHERE, ".." if above else ELSEWHERE)
    world.manifest(install=[GOOD, ["sh", "-c", command]], image=image)
    if recorded:
        world.run("image", "probe", "--image", "img", "--root", str(world.root), "--write", check=0)
    commit(world.project, {})
    world.plan()
    before = picture(*world.guarded)
    assert findings(world.apply("--format", "json", check=1)).keys() & {"foreign-change", "environment-changed"}
    assert picture(*world.guarded) == before
    answer = world.apply("--no-snapshot", check=1)
    assert "THE MACHINE IS CHANGED, and not given back (--no-snapshot)" in answer.last


@pytest.mark.slow
def test_what_may_change_may_also_lie_below_a_folder_on_the_path(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    world.manifest(image='python-path = ["/src"]\nalso-writes = ["/src/made"]', install=[GOOD, ["touch", "../made"]])
    world.plan()
    before = picture(*world.guarded)
    world.apply(check=0)
    world.restore(check=0)
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_the_configuration_of_a_virtual_environment_may_not_change(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    world.manifest(install=[GOOD, ["sh", "-c", "sed -i s/false/true/ ../../opt/venv/pyvenv.cfg"]])
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply(check=1)
    assert GIVEN_BACK.capitalize() in answer.last
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_a_change_outside_of_the_root_is_seen_and_never_called_given_back(apply_world: Any) -> None:
    world = apply_world
    outside = world.top / "outside/extra"
    _distribution(outside, "third", "1.0")
    (world.site / "extra.pth").write_text(f"{outside}\n")
    world.manifest(install=[GOOD, ["sed", "-i", "s/1.0/2.0/", str(outside / "third-1.0.dist-info/METADATA")]])
    world.plan()
    answer = world.apply(check=1)
    assert "not applied: one finding says no: third changed from 1.0 to 2.0" in answer.last
    assert "given back: the machine" not in answer.last
    assert f"THE MACHINE IS CHANGED, and this could not be given back: {outside}/third-1.0.dist-info" in answer.last


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["well", "badly"])
@pytest.mark.parametrize("swap", ["ln -s lib2 lib", "cp -a lib2 lib"])
def test_a_checkout_that_a_command_moved_away_is_noticed_and_given_back(
    apply_world: Any, picture: Picture, git_of: Git, swap: str, ends: str
) -> None:
    world = apply_world
    code = "" if ends == "well" else "; exit 3"
    world.manifest(install=[GOOD, ["sh", "-c", f"cd ..; mv lib lib2; {swap}{code}"]])
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=1)
    assert GIVEN_BACK.capitalize() in answer.err
    if ends == "well":
        assert findings(answer)["folder-replaced"]["path"].endswith("/src/lib")
    shutil.rmtree(world.root / "src/lib2")
    assert picture(*world.guarded) == before
    git_of(world.checkout, "fsck", "--strict")


@pytest.mark.slow
def test_a_restore_that_was_killed_still_knows_where_the_checkout_went(
    apply_world: Any, picture: Picture, git_of: Git
) -> None:
    world = apply_world
    before = picture(*world.guarded)
    world.apply(check=0)
    world.checkout.rename(world.root / "src/lib2")
    world.checkout.symlink_to("lib2")
    log = world.top / "log"
    twin = Path(shutil.copytree(world.root, world.top / "twin", symlinks=True))
    world.run("restore", "--root", str(world.root), check=0, REGRAFT_EFFECTS=str(log))
    first = next(number for number, line in enumerate(log.read_text().splitlines(), 1) if "second name" in line)
    shutil.rmtree(world.root)
    twin.rename(world.root)
    killed = world.run("restore", "--root", str(world.root), REGRAFT_KILL_AT=f"after:{first}")
    assert killed.code == -signal.SIGKILL
    world.restore(check=0)
    shutil.rmtree(world.root / "src/lib2")
    assert picture(*world.guarded) == before
    git_of(world.checkout, "fsck", "--strict")


# Checkouts and baselines of every kind


def as_worktree(world: Any, git: Git) -> None:
    main = world.root / "src/main"
    world.checkout.rename(main)
    git(main, "checkout", "-q", "--detach")
    git(main, "stash", "-q")
    git(main, "worktree", "add", "-q", "-b", "side", str(world.checkout), "v1")
    git(world.checkout, "apply", str(world.project / "patches/lib.patch"))


def as_shallow(world: Any, git: Git) -> None:
    shutil.rmtree(world.checkout)
    git(world.root, "clone", "-q", "--depth=1", "--branch=v1", f"file://{world.upstream}", str(world.checkout))
    git(world.checkout, "apply", str(world.project / "patches/lib.patch"))


def as_git_file(world: Any, git: Git) -> None:
    git(world.checkout, "init", "-q", f"--separate-git-dir={world.root / 'src/store.git'}")
    assert (world.checkout / ".git").is_file()


def as_dirty_index(world: Any, git: Git) -> None:
    git(world.checkout, "add", "-A")
    git(world.checkout, "rm", "-q", "--cached", "VERSION")


def as_patch_committed(world: Any, git: Git) -> None:
    git(world.checkout, "commit", "-q", "-a", "-m", "the carried patch")


def as_egg_link(world: Any, git: Git) -> None:
    """What `setup.py develop` left: a link, a line in a shared file, and metadata beside the source."""
    shutil.rmtree(world.site / "lib-1.0.dist-info")
    (world.site / "__editable__.lib.pth").unlink()
    info = world.checkout / "lib.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n")
    (world.site / "lib.egg-link").write_text(f"{world.checkout}\n.\n")
    (world.site / "easy-install.pth").write_text(f"{world.checkout}\n")
    develop = "os.unlink(site + '/lib.egg-link'); open(site + '/easy-install.pth', 'w')"
    world.manifest(install=[code(develop), GOOD])


def as_changed_clock(world: Any, git: Git) -> None:
    """Files from the future, as a clock leaves them that was set back."""
    future = time.time() + 10**8
    for folder in (world.site, world.checkout / "lib", world.kept):
        for path in folder.rglob("*"):
            os.utime(path, (future, future), follow_symlinks=False)


KINDS = [as_worktree, as_shallow, as_git_file, as_dirty_index, as_patch_committed, as_egg_link, as_changed_clock]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_checkout_of_any_kind_is_taken_to_the_plan_and_back(
    apply_world: Any, picture: Picture, git_of: Git, kind: Callable[[Any, Git], None]
) -> None:
    world = apply_world
    kind(world, git_of)
    world.plan()
    status = git_of(world.checkout, "status", "--porcelain=v2", "--branch", "--ignored")
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == 0, answer.err + answer.out
    assert world.python("import lib, lib.new; print(lib.d, lib.carried)") == "4 True"
    assert git_of(world.checkout, "status", "--porcelain") == "M lib/core.py"
    world.restore(check=0)
    assert picture(*world.guarded) == before
    assert git_of(world.checkout, "status", "--porcelain=v2", "--branch", "--ignored") == status


@pytest.mark.slow
def test_untracked_files_come_back_also_where_the_plan_has_a_file_of_that_name(
    apply_world: Any, picture: Picture, git_of: Git
) -> None:
    world = apply_world
    (world.checkout / "lib/new").mkdir()
    (world.checkout / "lib/new/__init__.py").write_text("mine = True\n")
    (world.checkout / "notes.txt").write_text("mine\n")
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=0)
    said = [one for one in answer.json["findings"] if one["rule"] == "set-aside"]
    assert [witness["path"] for witness in said[0]["witnesses"]] == ["notes.txt"]
    assert (world.checkout / "lib/new/__init__.py").read_text() == ""
    assert not (world.checkout / "notes.txt").exists()
    world.restore(check=0)
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_what_is_written_elsewhere_comes_back_where_the_manifest_names_it(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    cache = world.root / "var/cache/kernels"
    cache.mkdir(parents=True)
    (cache / "a").write_text("old\n")
    text = f"open({str(cache / 'a')!r}, 'w').write('new'); open({str(cache / 'b')!r}, 'w').write('new')"
    world.manifest(install=[GOOD, code(text)], image='also-writes = ["/var/cache/kernels", "/var/cache/absent"]')
    world.plan()
    before = picture(*world.guarded, cache)
    world.apply(check=0)
    assert (cache / "b").exists()
    world.restore(check=0)
    assert picture(*world.guarded, cache) == before


# The disk


@contextlib.contextmanager
def mounted(place: Path, options: str) -> Iterator[None]:
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_while_the_tree_is_written_ends_at_the_baseline(
    apply_world: Any, picture: Picture, git_of: Git
) -> None:
    world = apply_world
    git_of(world.upstream, "checkout", "-q", "main")
    for number in range(8):
        (world.upstream / f"lib/big{number}.bin").write_bytes(os.urandom(256 * 1024))
    git_of(world.upstream, "add", "-A")
    git_of(world.upstream, "commit", "-q", "-m", "big")
    git_of(world.upstream, "tag", "v4")
    world.plan("v4")
    kept = world.top / "outside/lib"
    shutil.copytree(world.checkout, kept, symlinks=True)
    with mounted(world.checkout, "size=3m"):
        shutil.copytree(kept, world.checkout, symlinks=True, dirs_exist_ok=True)
        before = picture(*world.guarded)
        answer = world.apply()
        assert answer.code == 3, answer.err
        assert "no space is left" in answer.err
        assert "at its baseline" in answer.err
        now = picture(*world.guarded)
        assert {path: what for path, what in now.items() if before.get(path) != what} == {}
        assert before.keys() - now.keys() == set()


@pytest.mark.slow
def test_a_read_only_checkout_is_said_and_nothing_is_changed(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    done = subprocess.run(
        ["mount", "--bind", str(world.checkout), str(world.checkout)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(world.checkout)], check=True)
        before = picture(*world.guarded)
        answer = world.apply()
        assert answer.code == 3, answer.err
        assert "Read-only file system" in answer.err
        assert "at its baseline" in answer.err
        assert picture(*world.guarded) == before
    finally:
        subprocess.run(["umount", "-l", str(world.checkout)], check=True)


@pytest.mark.slow
def test_a_permission_that_is_denied_is_said_and_nothing_is_changed(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    (world.checkout / "lib").chmod(0o555)
    before = picture(*world.guarded)
    argv = [sys.executable, "-m", "regraft", "apply", str(world.plan_file), "--root", str(world.root)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no program that gives up the rights of root")
        argv = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *argv]
    env = {"PATH": os.environ["PATH"], "HOME": str(world.top)}
    done = subprocess.run(argv, cwd=world.project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "Permission denied" in done.stderr
    assert "at its baseline" in done.stderr
    (world.checkout / "lib").chmod(0o555)
    assert picture(*world.guarded) == before


BACKEND = """\
import os, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    version = open("VERSION").read().strip()
    info = f"lib-{version}.dist-info"
    name = f"lib-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("__editable__.lib.pth", os.getcwd() + "\\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: lib\\nVersion: {version}\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nlib-tool = lib:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""


@pytest.mark.slow
def test_a_real_pip_replaces_the_baked_install_and_nothing_else(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    pyproject = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    git(world.upstream, "checkout", "-q", "main")
    commit(world.upstream, {"VERSION": "5.0\n", "backend.py": BACKEND, "pyproject.toml": pyproject}, "v5")
    python = str(world.root / "opt/venv/bin/python")
    env = {"PATH": ENV["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([python, "-m", "ensurepip"], env=env, check=True, capture_output=True)
    world.manifest(install=[["python", "-m", "pip", "install", "-e", ".", "--no-deps", "--no-build-isolation"]])
    world.plan("v5")
    before = picture(*world.guarded)
    answer = world.apply()
    assert answer.code == 0, answer.err + answer.out
    assert "Successfully" not in answer.err
    assert "lib: done in " in answer.err
    assert world.python("import importlib.metadata as m; print(m.version('lib'))") == "5.0"
    assert (world.root / "opt/venv/bin/lib-tool").exists()
    assert not (world.root / "opt/venv/bin/lib-1.0").exists()
    world.restore(check=0)
    assert picture(*world.guarded) == before


# Nobody else's

LISTED = "import glob; record = open(glob.glob(site + '/lib-2.0.dist-info/RECORD')[0], 'a');"


def claiming(path: str, text: str = "version = 2\\n") -> list[list[str]]:
    """An install that writes a file, and names it in the record of the distribution that it installs."""
    write = f"open(os.path.join(site, {path!r}), 'w').write({text!r}); record.write({path!r} + ',,\\n')"
    return [GOOD, code(LISTED + write)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("other/__init__.py", "version = 2\n"),
        ("../../../bin/other-tool", "#!python\n"),
        ("sitecustomize.py", "tampered = True\n"),
        ("zz.pth", "import os\n"),
    ],
)
def test_a_new_record_does_not_make_its_own_what_was_anothers_or_runs_at_every_start(
    apply_world: Any, picture: Picture, path: str, text: str
) -> None:
    world = apply_world
    write(world.root / "opt/venv/bin", {"other-tool": "#!python\nimport other\n"})
    with next(world.site.glob("other-*")).joinpath("RECORD").open("a") as record:
        record.write("../../../bin/other-tool,,\n")
    world.manifest(install=claiming(path, text))
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=1)
    found = findings(answer)["foreign-change"]
    assert [one["path"].rpartition("/")[2] for one in found["witnesses"]] == [path.rpartition("/")[2]]
    assert picture(*world.guarded) == before


PLANT = """\
import importlib.util, marshal
source = site + "/other/__init__.py"
stat = os.stat(source)
made = compile(TEXT, source, "exec")
head = importlib.util.MAGIC_NUMBER + bytes(4) + int(stat.st_mtime).to_bytes(4, "little") + stat.st_size.to_bytes(4, "little")
target = importlib.util.cache_from_source(source)
os.makedirs(os.path.dirname(target), exist_ok=True)
open(target, "wb").write(head + marshal.dumps(made))
"""


@pytest.mark.slow
@pytest.mark.parametrize("planted", [True, False])
def test_byte_code_of_another_distribution_may_come_and_must_be_made_from_its_source(
    apply_world: Any, picture: Picture, planted: bool
) -> None:
    world = apply_world
    text = "'tampered = True'" if planted else "open(source).read()"
    world.manifest(
        install=[
            GOOD,
            [
                "python",
                "-c",
                f"import os, sysconfig\nsite = sysconfig.get_path('purelib')\n{PLANT.replace('TEXT', text)}",
            ],
        ]
    )
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=1 if planted else 0)
    if planted:
        finding = findings(answer)["foreign-change"]
        assert "1 files of other changed" in finding["message"]
        assert finding["witnesses"][0]["message"].startswith("is not made from the source beside it")
        assert picture(*world.guarded) == before
    else:
        assert list((world.site / "other/__pycache__").glob("__init__.*.pyc"))


@pytest.mark.slow
def test_byte_code_of_a_kept_checkout_that_is_not_its_sources_is_red(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    plant = PLANT.replace("TEXT", "'tampered = True'").replace(
        'site + "/other/__init__.py"', '"../kept/kept/__init__.py"'
    )
    world.manifest(install=[GOOD, ["python", "-c", "import os\n" + plant]])
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=1)
    assert "stale-bytecode" in findings(answer)
    assert picture(*world.guarded) == before


def as_kept_worktree(world: Any, git: Git, main: Path) -> None:
    """The kept checkout becomes a worktree of a repository that lies elsewhere."""
    shutil.rmtree(world.kept)
    git(main, "worktree", "add", "-q", "--detach", str(world.kept))


@pytest.mark.slow
@pytest.mark.parametrize("file", ["config", "hooks/post-checkout", "refs/heads/main"])
def test_the_repository_behind_a_kept_worktree_is_guarded(
    apply_world: Any, picture: Picture, git_of: Git, file: str
) -> None:
    world = apply_world
    main = world.root / "src/main"
    git_of(world.top, "clone", "-q", str(world.top / "upstreams/kept"), str(main))
    as_kept_worktree(world, git_of, main)
    text = f"open({str(main / '.git' / file)!r}, 'a').write('# tampered')"
    asked = f"import subprocess; subprocess.run(['git', 'status'], cwd={str(world.kept)!r}, check=True)"
    world.manifest(install=[GOOD, ["python", "-c", asked]])
    world.plan()
    world.apply(check=0)
    world.restore(check=0)
    world.manifest(install=[GOOD, ["python", "-c", text]])
    world.plan()
    before = picture(*world.guarded)
    answer = world.apply("--format", "json", check=1)
    finding = findings(answer)["foreign-change"]
    assert [one["path"] for one in finding["witnesses"]] == [str(main / ".git" / file)]
    assert picture(*world.guarded) == before


@pytest.mark.slow
@pytest.mark.parametrize("override", ["the main checkout", "the worktree"])
def test_a_kept_checkout_may_share_the_repository_of_an_overridden_one(
    apply_world: Any, git_of: Git, override: str
) -> None:
    world = apply_world
    shutil.rmtree(world.kept)
    git_of(world.checkout, "stash", "-q")
    git_of(world.checkout, "worktree", "add", "-q", "--detach", str(world.kept), "v1")
    if override == "the worktree":
        world.checkout.rename(world.root / "src/main")
        world.kept.rename(world.checkout)
        (world.root / "src/main").rename(world.kept)
        git_of(world.kept, "worktree", "repair", str(world.checkout))
    git_of(world.checkout, "apply", str(world.project / "patches/lib.patch"))
    (world.site / "__editable__.kept.pth").unlink()
    shutil.rmtree(world.site / "kept-1.0.dist-info")
    text = (world.project / "regraft.toml").read_text()
    of_kept = 'distributions = ["kept"]\nimports = ["kept"]\n'
    assert of_kept in text
    (world.project / "regraft.toml").write_text(text.replace(of_kept, ""))
    world.plan()
    answer = world.apply()
    assert answer.code == 0, answer.err + answer.out
    world.restore(check=0)


BUILDS = {
    "setuptools": (
        "setuptools>=70.1",
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
        "finder.install()",
    ),
    "hatchling": (
        "hatchling editables",
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[tool.hatch.build.targets.wheel]\ndev-mode-exact = true\n',
        "import _editable_impl_lib",
    ),
    "meson": (
        "meson-python meson ninja",
        '[build-system]\nrequires = ["meson-python"]\nbuild-backend = "mesonpy"\n',
        "_lib_editable_loader.init()",
    ),
}
MESON = """\
project('lib', version: '5.0')
python = import('python').find_installation(pure: true)
python.install_sources('lib/__init__.py', 'lib/core.py', subdir: 'lib')
"""


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("backend", BUILDS)
def test_the_finder_of_a_real_backends_editable_install_may_come(
    apply_world: Any, picture: Picture, backend: str
) -> None:
    world = apply_world
    packages, pyproject, line = BUILDS[backend]
    pyproject += '[project]\nname = "lib"\nversion = "5.0"\n[tool.setuptools]\npackages = ["lib"]\n'
    git(world.upstream, "checkout", "-q", "main")
    commit(world.upstream, {"VERSION": "5.0\n", "pyproject.toml": pyproject, "meson.build": MESON}, "v5")
    python = str(world.root / "opt/venv/bin/python")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{world.root / 'opt/venv/bin'}:{ENV['PATH']}"}
    subprocess.run([python, "-m", "ensurepip"], env=env, check=True, capture_output=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages.split()], env=env, check=True, capture_output=True)
    world.manifest(install=[["python", "-m", "pip", "install", "-e", ".", "--no-deps", "--no-build-isolation"]])
    world.plan("v5")
    before = picture(*world.guarded)
    answer = world.apply(PATH=env["PATH"])
    assert answer.code == 0, answer.err + answer.out
    assert any(line in path.read_text() for path in world.site.glob("*.pth"))
    world.restore(check=0)
    assert picture(*world.guarded) == before


FILL = "cat /dev/zero > {place} 2>/dev/null; {then}"
FILLS = {
    "in the checkout, and goes on": (FILL.format(place="lib/fill", then="exit 0"), 3),
    "elsewhere, and fails": (FILL.format(place="../../var/fill", then="exit 1"), 1),
    "elsewhere, and regraft is killed": (FILL.format(place="../../var/fill", then="kill -9 $PPID"), -signal.SIGKILL),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILLS)
def test_an_install_that_fills_the_disk_ends_at_the_baseline(apply_world: Any, picture: Picture, name: str) -> None:
    world = apply_world
    command, exit_code = FILLS[name]
    big = world.checkout / "lib/big.bin"  # larger than what is kept in reserve
    big.write_bytes(os.urandom(1024 * 1024))
    (world.checkout / ".gitignore").write_text(LIB[".gitignore"] + "*.bin\n")
    world.manifest(install=[GOOD, ["sh", "-c", f": > lib/big.bin; {command}"]], lib='local-edits = "drop"')
    world.plan()
    kept = world.top / "outside/image"
    shutil.copytree(world.root, kept, symlinks=True)
    with mounted(world.root, "size=8m"):
        shutil.copytree(kept, world.root, symlinks=True, dirs_exist_ok=True)
        before = picture(*world.guarded)
        answer = world.apply()
        assert answer.code == exit_code, answer.err
        if exit_code > 0:
            assert "I" + GIVEN_BACK[1:] in answer.err
        else:
            restored = world.restore(check=0)
            assert restored.out.startswith("the baseline is back")
        assert picture(*world.guarded) == before
        assert world.restore(check=0).out.startswith("nothing to restore")


# Signals while something is given back

MANY = "mkdir lib/many; cd lib/many; seq 30000 | xargs touch; "
WAIT = "giving the baseline back; wait, or kill -9 and `regraft restore`"


def told_to_stop(world: Any, *words: str, numbers: tuple[signal.Signals, ...]) -> Answer:
    """A command that gets these signals as soon as it gives back."""
    argv = [sys.executable, "-m", "regraft", *words, "--root", str(world.root)]
    env = {"PATH": os.environ["PATH"], "HOME": str(world.top)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, cwd=world.project, env=env, stderr=pipe, stdout=pipe, text=True)
    journal = world.root / "var/lib/regraft/journal.json"
    deadline = time.monotonic() + 60
    while not (journal.exists() and '"restoring"' in journal.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.02)
    out, err = process.communicate(timeout=60)
    return Answer(process.returncode, out, err)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)], ids=len)
def test_signals_wait_for_a_roll_back_and_the_state_is_said(
    apply_world: Any, picture: Picture, numbers: tuple[signal.Signals, ...]
) -> None:
    world = apply_world
    world.manifest(install=[GOOD, ["sh", "-c", f"{MANY} exit 7"]])
    world.plan()
    before = picture(*world.guarded)
    answer = told_to_stop(world, "apply", str(world.plan_file), numbers=numbers)
    assert answer.code == 1
    assert answer.err.count(WAIT) == 1
    assert "ended with exit code 7. I" + GIVEN_BACK[1:] in answer.err
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_signals_wait_for_a_restore(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    before = picture(*world.guarded)
    world.manifest(install=[GOOD, ["sh", "-c", f"{MANY} kill -9 $PPID"]])
    world.plan()
    world.apply(check=-signal.SIGKILL)
    answer = told_to_stop(world, "restore", numbers=(signal.SIGINT, signal.SIGTERM))
    assert (answer.code, answer.err) == (0, f"{WAIT}\n")
    assert answer.out.startswith("the baseline is back")
    assert picture(*world.guarded) == before


@pytest.mark.slow
def test_an_interrupted_apply_is_an_error_in_json_and_in_the_receipt(apply_world: Any, picture: Picture) -> None:
    world = apply_world
    world.manifest(install=[GOOD, ["sh", "-c", "kill -TERM $PPID; sleep 60"]])
    world.plan()
    before = picture(*world.guarded)
    receipt = world.top / "receipt.json"
    answer = world.apply("--format", "json", "--receipt", str(receipt), check=130)
    error = answer.json["error"]
    assert (error["code"], error["outcome"]) == ("interrupted", "rolled-back")
    assert GIVEN_BACK[1:] in error["message"]
    found = json.loads(receipt.read_text())
    assert (found["outcome"], found["error"]["code"], found["verdict"]) == ("rolled-back", "interrupted", "no")
    assert picture(*world.guarded) == before


# Receipts, and outputs that nobody reads

FOREIGN = ["sh", "-c", "echo x > ../kept/kept/new.py"]


@pytest.mark.slow
def test_the_place_of_the_receipt_is_looked_at_before_anything_is_changed(apply_world: Any) -> None:
    world = apply_world
    places = {
        str(world.top): (2, "not-a-file"),
        "": (2, "no-receipt-file"),
        str(world.plan_file): (2, "receipt-is-source"),
        str(world.plan_file / "below"): (3, "system"),
    }
    plan = world.plan_file.read_bytes()
    for place, (exit_code, word) in places.items():
        for command in ("apply", "verify", "replay"):
            answer = world.run(command, str(world.plan_file), "--root", str(world.root), "--receipt", place)
            assert (answer.code, f"[{word}]" in answer.err) == (exit_code, True), (command, place, answer.err)
    assert not (world.root / "var").exists()
    assert world.plan_file.read_bytes() == plan
    assert [one.name for one in world.top.iterdir() if one.name.startswith(".")] == []


@pytest.mark.slow
def test_a_receipt_that_cannot_be_written_hides_neither_state_nor_verdict(apply_world: Any) -> None:
    answer = apply_world.apply("--receipt", "/dev/full", check=3)
    assert "verdict   yes" in answer.out
    assert "\napplied: the machine holds the plan " in answer.err
    assert "error: /dev/full: no space is left. Applied: the machine holds the plan " in answer.err


@pytest.mark.slow
@pytest.mark.parametrize(("install", "exit_code"), [([GOOD], 0), ([GOOD, FOREIGN], 1)])
def test_a_summary_page_that_cannot_be_written_hides_no_verdict(
    apply_world: Any, install: list[list[str]], exit_code: int
) -> None:
    world = apply_world
    world.manifest(install=install)
    world.plan()
    actions = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(world.top)}
    answer = world.apply(**actions, check=exit_code)
    assert answer.last.startswith("not applied: " if exit_code else "applied: ")
    assert "the summary page could not be written: " in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["> /dev/full", "2> /dev/full", "2> >(exec 2>&-; exit)"])
def test_an_answer_that_nobody_can_read_is_exit_3(apply_world: Any, stream: str) -> None:
    world = apply_world
    argv = f"{sys.executable} -m regraft apply {world.plan_file} --root {world.root} {stream}"
    env = {"PATH": os.environ["PATH"], "HOME": str(world.top)}
    done = subprocess.run(["bash", "-c", argv], cwd=world.project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "applied: the machine holds" in done.stderr or "outcome   applied" in done.stdout
    assert world.verify().code == 0


@pytest.mark.slow
def test_a_receipt_says_what_became_of_the_machine_and_no_more_than_is_known(apply_world: Any) -> None:
    world = apply_world
    receipt = world.top / "receipt.json"

    def end(*words: str, check: int) -> tuple[str, Any, Any]:
        receipt.unlink(missing_ok=True)
        world.apply(*words, "--receipt", str(receipt), check=check)
        found = json.loads(receipt.read_text())
        after, environment = found["dependencies"]["lib"]["after"], found["environment"]["after"]
        assert (after is None) == (environment is None)
        return found["outcome"], found["error"] and found["error"]["code"], after and after["commit"]

    planned = json.loads(world.plan_file.read_text())["dependencies"]["lib"]["commit"]
    assert end(check=0) == ("applied", None, planned)
    assert end(check=0) == ("unchanged", None, planned)
    world.plan("v3")
    assert end(check=1) == ("unchanged", "another-plan", None)
    world.restore(check=0)
    world.manifest(install=[GOOD, FOREIGN])
    world.plan("v2")
    assert end(check=1) == ("rolled-back", None, None)
    world.manifest(install=[GOOD, ["sh", "-c", "exit 7"]])
    world.plan("v2")
    assert end(check=1) == ("rolled-back", "install-failed", None)
    shown = world.run("show", str(receipt), check=0).out
    assert "after     not looked at" in shown
    assert "  outcome   rolled-back\n" in shown
    assert "[install-failed]" in shown
    assert end("--no-snapshot", check=1) == ("changed", "install-failed", None)


@pytest.mark.slow
def test_without_a_snapshot_a_plan_that_does_not_hold_leaves_what_was_found(apply_world: Any) -> None:
    world = apply_world
    world.manifest(install=[GOOD, FOREIGN])
    world.plan()
    answer = world.apply("--no-snapshot", "--format", "json", check=1)
    after = answer.json["dependencies"]["lib"]["after"]
    assert (answer.json["outcome"], after["distributions"]) == ("changed", {"lib": "2.0"})
    forgotten = world.run("restore", "--root", str(world.root), "--forget", check=1)
    assert "the image stays as it is" in forgotten.out
    assert world.restore(check=0).out.startswith("nothing to restore")


@pytest.mark.slow
def test_a_receipt_is_replayed_from_standard_input(apply_world: Any) -> None:
    world = apply_world
    receipt = world.top / "receipt.json"
    world.apply("--receipt", str(receipt), check=0)
    world.restore(check=0)
    argv = [sys.executable, "-m", "regraft", "replay", "-", "--root", str(world.root)]
    env = {"PATH": os.environ["PATH"], "HOME": str(world.top)}
    done = subprocess.run(
        argv, cwd=world.project, env=env, input=receipt.read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"applied: the machine holds the plan" in done.stderr
