"""A real interpreter and real checkouts, installed by plain commands as a project's own shell would, and then proved."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from regraft.adapters.checkout import CheckoutFolders
from regraft.adapters.git import Git
from regraft.adapters.machine import Machine
from regraft.adapters.places import Places
from regraft.adapters.project_files import ProjectFolder
from regraft.core.baseline import Baseline, BaselinePatch
from regraft.core.findings import Finding
from regraft.core.manifest import Image, Manifest
from regraft.core.manifest_reader import read_manifest
from regraft.core.objects import Commit, Sha256, Tree
from regraft.core.observation import Checkout
from regraft.core.plan import Plan, PlannedDependency, PlannedImage, PlannedPatch, Source
from regraft.errors import InputError, OutsideError
from regraft.flows.observe import as_baked, as_baseline, observe
from regraft.flows.verify import Verified, verify

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_", "GIT_"))}
ENV = {
    **CLEAN,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

PATCH = b"""\
--- a/python/lib/core.py
+++ b/python/lib/core.py
@@ -1,2 +1,2 @@
 one = 1
-two = 2
+two = 22
"""

MANIFEST = """\
[project]
name = "proj"
distributions = ["proj"]

[dependencies.lib]
url = "https://example.org/lib"

[images.img]
python = "/venv/bin/python"
python-path = ["/stack/lib/python"]

[images.img.baked.lib]
path = "/stack/lib"
install = [["python", "-m", "pip", "install", "-e", "python", "--no-deps"]]
distributions = ["lib"]
imports = ["lib", "lib.core"]
locate = ["lib.heavy"]
patches = ["p.patch"]
rebuild-when = ["csrc/**"]
"""


def run(*argv: str, cwd: Path, home: Path | None = None) -> str:
    env = {**ENV, "HOME": str(home)} if home else ENV
    done = subprocess.run(argv, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def git(folder: Path, *arguments: str) -> str:
    return run("git", *arguments, cwd=folder)


def digest_of(text: str) -> str:
    """As a RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@dataclass
class World:
    folder: Path
    manifest_text: str = MANIFEST
    baseline: Baseline | None = None
    first: str = field(init=False)
    second: str = field(init=False)

    def __post_init__(self) -> None:
        self.second = git(self.lib, "rev-parse", "new")
        self.first = git(self.lib, "rev-parse", "new~1")

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def lib(self) -> Path:
        return self.root / "stack/lib"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def site(self) -> Path:
        return next((self.root / "venv/lib").glob("python3*/site-packages"))

    @property
    def manifest(self) -> Manifest:
        return read_manifest(self.manifest_text.encode(), "regraft.toml")

    @property
    def image(self) -> Image:
        return self.manifest.images["img"]

    # What a Dockerfile and a project's shell do

    def metadata(
        self, name: str, version: str, *requires: str, site: Path | None = None, files: dict[str, str] | None = None
    ) -> None:
        """As an installer leaves it: the files of the distribution, and a RECORD of them."""
        for old in (site or self.site).glob(f"{name}-*.dist-info"):
            shutil.rmtree(old)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {one}" for one in requires]
        info = f"{name}-{version}.dist-info"
        every = {f"{info}/METADATA": "\n".join(lines) + "\n", **(files or {})}
        rows = [f"{path},sha256={digest_of(text)},{len(text)}" for path, text in every.items()]
        write(site or self.site, {**every, f"{info}/RECORD": "\n".join([*rows, f"{info}/RECORD,,", ""])})

    def editable(self, version: str, *requires: str) -> None:
        self.metadata("lib", version, *requires)
        source, info = self.lib / "python", f"lib-{version}.dist-info"
        url = f'{{"url": "file://{source}", "dir_info": {{"editable": true}}}}'
        write(self.site, {"__editable__.lib.pth": f"{source}\n", f"{info}/direct_url.json": url})
        with (self.site / info / "RECORD").open("a") as record:
            # Without their hashes: they name places of this machine, and the baseline is another copy's.
            record.write(f"__editable__.lib.pth,,\n{info}/direct_url.json,,\n")

    def baked(self) -> "World":
        self.check_out(self.first)
        self.metadata("torch", "2.3")
        self.metadata("proj", "0.9")
        self.editable("1.0")
        return self

    def bake(self) -> Baseline:
        self.baked()
        assert self.baseline is not None
        return self.baseline

    def check_out(self, commit: str) -> None:
        git(self.lib, "checkout", "-q", "--force", "--detach", commit)
        git(self.lib, "apply", str(self.project / "p.patch"))

    def install(self, version: str = "2.0", *requires: str) -> None:
        self.check_out(self.second)
        self.editable(version, *requires)
        self.metadata("proj", "1.0")

    # What regraft does

    def probe(self) -> Baseline:
        with Git(ENV) as program:
            places = Places(self.project, self.root)
            seen = observe(
                self.image,
                self.manifest,
                as_baked(self.image, ProjectFolder(self.project)),
                interpreter=Machine(ENV, places),
                checkouts=CheckoutFolders(program, places),
            )
        return as_baseline(seen, self.image, "repo:tag")

    def tree(self, commit: str) -> Tree:
        """What git makes of the commit and the patch, on an index of its own."""
        index = self.folder / "tree-index"
        env = {**ENV, "GIT_INDEX_FILE": str(index)}
        for argv in (["read-tree", commit], ["apply", "--cached", str(self.project / "p.patch")]):
            subprocess.run(["git", *argv], cwd=self.lib, env=env, check=True)
        argv = ["git", "write-tree"]
        made = subprocess.run(argv, cwd=self.lib, env=env, check=True, capture_output=True, text=True)
        return Tree(made.stdout.strip())

    def plan(self) -> Plan:
        patch = PlannedPatch("p.patch", Sha256(hashlib.sha256(PATCH).hexdigest()), "applies")
        tree = self.tree(self.second)
        url = "https://example.org/lib"
        lib = PlannedDependency("override", "#1", Source("body", 1, 1), url, Commit(self.second), tree, (patch,))
        return self._plan(lib)

    def keep(self, baseline: Baseline | None) -> Plan:
        held = baseline.dependencies["lib"] if baseline else None
        patch = PlannedPatch("p.patch", Sha256(hashlib.sha256(PATCH).hexdigest()), None)
        commit, tree = (held.commit, held.tree) if held else (None, None)
        url = "https://example.org/lib"
        return self._plan(PlannedDependency("keep", None, Source("unnamed"), url, commit, tree, (patch,)))

    def _plan(self, lib: PlannedDependency) -> Plan:
        unused = Sha256("0" * 64)
        image = PlannedImage("img", "repo:tag", None)
        return Plan("regraft.plan/1", unused, unused, "proj", self.manifest.sha256, (), image, None, {"lib": lib}, ())

    def verify(self, baseline: Baseline | None, plan: Plan | None = None, **environ: str) -> Verified:
        with Git(ENV) as program:
            places = Places(self.project, self.root)
            return verify(
                plan or self.plan(),
                self.manifest,
                baseline,
                files=ProjectFolder(self.project),
                interpreter=Machine({**ENV, **environ}, places),
                checkouts=CheckoutFolders(program, places),
            )

    def found(self, baseline: Baseline | None, plan: Plan | None = None) -> dict[str, Finding]:
        return {one.rule: one for one in self.verify(baseline, plan).findings}

    def errors(self, baseline: Baseline | None, plan: Plan | None = None) -> list[str]:
        return sorted({one.rule for one in self.verify(baseline, plan).findings if one.severity == "error"})


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    venv = folder / "root/venv"
    run(sys._base_executable, "-m", "venv", "--without-pip", "--symlinks", str(venv), cwd=folder)
    write(folder / "project", {"p.patch": PATCH.decode()})
    lib = folder / "root/stack/lib"
    lib.mkdir(parents=True)
    git(lib, "init", "-q")
    git(lib, "symbolic-ref", "HEAD", "refs/heads/new")
    files = {
        "python/lib/__init__.py": "",
        "python/lib/core.py": "one = 1\ntwo = 2\n",
        "python/lib/heavy.py": "raise SystemExit('needs an accelerator')\n",
        "python/pyproject.toml": '[project]\nname = "lib"\nrequires-python = ">=3.8"\n',
        "csrc/a.cu": "old\n",
        ".gitignore": "*.so\n__pycache__/\n",
    }
    for number in ("1", "2"):
        write(lib, {**files, "python/lib/version.py": f"version = {number}\n"})
        git(lib, "add", "-A")
        git(lib, "commit", "-q", "-m", number)
    return folder


@pytest.fixture(scope="session")
def baked(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Baseline:
    """What the image holds. It names no place of the machine, so that it holds for each copy."""
    folder = tmp_path_factory.mktemp("baked") / "world"
    return World(Path(shutil.copytree(template, folder, symlinks=True))).baked().probe()


@pytest.fixture
def world(template: Path, baked: Baseline, tmp_path: Path) -> World:
    return World(Path(shutil.copytree(template, tmp_path / "world", symlinks=True)), baseline=baked)


def test_an_honest_install_is_proved(world: World) -> None:
    baseline = world.bake()
    world.install()
    verified = world.verify(baseline)
    assert verified.findings == ()
    assert not verified.stopped
    # the checkout, three modules, the distributions `lib` and `proj`
    assert verified.checks == 6
    assert verified.observation.imports["lib.core"].file == f"{world.lib}/python/lib/core.py"


def test_an_install_that_left_the_old_copy_in_place_is_red(world: World) -> None:
    baseline = world.bake()
    found = world.found(baseline)
    assert "the baked copy: nothing was checked out" in found["head-differs"].message
    assert {"tree-differs", "tree-modified"} <= found.keys()
    assert [one.path for one in found["tree-modified"].witnesses] == ["python/lib/version.py"]


def test_a_checkout_without_its_carried_patch_is_red(world: World) -> None:
    baseline = world.bake()
    world.install()
    git(world.lib, "reset", "-q", "--hard", world.second)
    assert world.errors(baseline) == ["tree-differs", "tree-modified"]


def test_the_planned_tree_committed_is_accepted_and_said(world: World) -> None:
    baseline = world.bake()
    world.install()
    git(world.lib, "commit", "-q", "-a", "-m", "carried")
    found = world.found(baseline)
    assert found.keys() == {"patches-committed"}


@pytest.mark.slow
def test_a_patch_that_changed_since_the_plan_is_red_though_the_machine_has_the_planned_tree(world: World) -> None:
    baseline = world.bake()
    world.install()
    plan = world.plan()
    (world.project / "p.patch").write_bytes(PATCH.replace(b"+two = 22", b"+two = 23"))
    assert world.errors(baseline, plan) == ["patch-changed"]
    checkout = world.verify(baseline, plan).observation.checkouts["lib"]
    assert isinstance(checkout, Checkout)
    assert [one.outcome for one in checkout.patches] == ["not-tried"]
    (world.project / "p.patch").unlink()
    assert world.errors(baseline, plan) == ["patch-missing"]


def test_a_wheel_of_the_old_version_under_an_editable_install_is_two_copies(world: World) -> None:
    baseline = world.bake()
    world.install()
    write(world.site, {"lib/__init__.py": "", "lib/core.py": ""})
    found = world.found(baseline)
    assert found["second-copy"].severity == "error"
    assert f"{world.site}/lib/__init__.py" in found["second-copy"].message
    assert f"{world.lib}/python/lib/__init__.py" in found["second-copy"].message


def test_a_path_file_that_puts_another_copy_in_front_is_named(world: World) -> None:
    baseline = world.bake()
    world.install()
    other = world.folder / "other"
    write(other, {"lib/__init__.py": "", "lib/core.py": "", "lib/heavy.py": ""})
    (world.site / "zzz.pth").write_text(f"import sys; sys.path.insert(0, '{other}')\n")
    finding = world.found(baseline)["import-elsewhere"]
    assert [(one.path, one.line) for one in finding.witnesses] == [(f"{world.site}/zzz.pth", 1)]


def test_metadata_with_nothing_behind_it_is_named(world: World) -> None:
    baseline = world.bake()
    world.install()
    plan = world.plan()
    shutil.rmtree(world.lib)
    errors = world.errors(baseline, plan)
    assert errors == ["checkout-missing", "stale-metadata"]


def test_a_private_folder_in_front_that_brings_another_stack_is_a_change(world: World) -> None:
    baseline = world.bake()
    world.install()
    private = world.root / "private"
    world.metadata("torch", "2.9", site=private)
    world.metadata("helper", "1", site=private)
    world.manifest_text = MANIFEST.replace('["/stack/lib/python"]', '["/private", "/stack/lib/python"]')
    messages = [one.message for one in world.verify(baseline).findings if one.rule == "environment-changed"]
    assert messages == [
        "helper was added (1), and is not among what this run names",
        "torch changed from 2.3 to 2.9, and is not among what this run names",
    ]


@pytest.mark.slow
def test_a_requirement_that_is_violated_since_the_install(world: World) -> None:
    baseline = world.bake()
    world.install("2.0", "torch<2.3", 'other>1; sys_platform == "never"')
    assert world.found(baseline)["requirement-violated"].severity == "warning"
    world.manifest_text = MANIFEST.replace("[images.img.baked", 'requirements = "stop"\n\n[images.img.baked')
    assert world.errors(baseline) == ["requirement-violated"]


def test_a_version_from_a_clone_without_tags_is_red(world: World) -> None:
    baseline = world.bake()
    world.install("0.1.dev2+g1234567")
    finding = world.found(baseline)["fallback-version"]
    assert (finding.severity, "the baked version is 1.0" in finding.message) == ("error", True)


def test_a_newer_tag_on_a_side_branch_is_noted(world: World) -> None:
    baseline = world.bake()
    git(world.lib, "tag", "v1.0.0", world.first)
    git(world.lib, "branch", "side", world.first)
    side = git(world.lib, "commit-tree", "-p", "side", "-m", "rc", "side^{tree}")
    git(world.lib, "tag", "-a", "-m", "rc", "v1.1rc1", side)
    world.install("1.0.1.dev1+g1234567")
    assert "v1.1rc1 is not an ancestor" in world.found(baseline)["newer-tag-aside"].message


def test_compiled_inputs_that_changed_need_a_rebuild(world: World) -> None:
    baseline = world.bake()
    git(world.lib, "checkout", "-q", "--force", "new")
    write(world.lib, {"csrc/a.cu": "new\n"})
    git(world.lib, "commit", "-q", "-a", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    world.install()
    found = world.found(baseline)
    assert [one.path for one in found["rebuild-when"].witnesses] == ["csrc/a.cu"]
    assert found["rebuild-when"].severity == "error"


def test_without_a_baseline_what_the_install_does_not_rebuild_stops(world: World) -> None:
    world.bake()
    world.install()
    finding = world.found(None)["rebuild-when"]
    assert (finding.severity, "regraft image probe --write" in (finding.fix or "")) == ("error", True)
    world.manifest_text = MANIFEST.replace('rebuild-when = ["csrc/**"]', "")
    assert world.errors(None) == []


@pytest.mark.slow
def test_a_submodule_that_moved_needs_a_rebuild(world: World) -> None:
    old, new = "1" * 40, "2" * 40
    git(world.lib, "checkout", "-q", "--force", "new")
    commits = []
    for link in (old, new):
        git(world.lib, "update-index", "--add", "--cacheinfo", f"160000,{link},third/cutlass")
        git(world.lib, "commit", "-q", "-m", link)
        commits.append(git(world.lib, "rev-parse", "HEAD"))
    world.first, world.second = commits
    (world.lib / "third/cutlass").mkdir(parents=True)
    baseline = world.baked().probe()
    world.install()
    for pattern in ("third/cutlass/**", "third/cutlass/include/x.h", "**/*.cu"):
        world.manifest_text = MANIFEST.replace('"csrc/**"', f'"{pattern}"')
        assert [one.path for one in world.found(baseline)["rebuild-when"].witnesses] == ["third/cutlass/"]
    world.manifest_text = MANIFEST
    assert "rebuild-when" not in world.found(baseline)


@pytest.mark.slow
def test_a_carried_patch_that_the_image_had_not_may_need_a_rebuild_too(world: World) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('["csrc/**"]', '["python/**/core.py"]')
    world.install()
    assert world.found(baseline) == {}
    bare = replace(baseline, dependencies={"lib": replace(baseline.dependencies["lib"], patches=())})
    assert [one.path for one in world.found(bare)["rebuild-when"].witnesses] == ["python/lib/core.py"]


def test_a_file_that_the_old_commit_left_over_is_red(world: World) -> None:
    baseline = world.bake()
    world.install()
    git(world.lib, "reset", "-q", "--soft", world.first)
    write(world.lib, {"python/lib/extra.py": "", "python/lib/_C.so": "", "notes.txt": ""})
    found = world.found(baseline)
    assert [one.path for one in found["untracked-module"].witnesses] == ["python/lib/extra.py"]
    assert [one.path for one in found["generated-files"].witnesses] == ["python/lib/_C.so"]
    assert [one.path for one in found["untracked-files"].witnesses] == ["notes.txt"]


@pytest.mark.slow
def test_a_repository_that_cannot_be_read_is_proved_by_content(world: World) -> None:
    baseline = world.bake()
    world.install()
    plan = world.plan()
    shutil.move(world.lib / ".git", world.folder / "moved")
    (world.lib / ".git").write_text("gitdir: ../../.git/modules/lib\n")
    found = world.found(baseline, plan)
    assert found.keys() == {"no-repository", "proved-by-content", "rebuild-when"}
    assert [one.rule for one in found.values() if one.severity != "note"] == ["rebuild-when"]
    assert f"fetch {world.first} and {world.second}" in (found["rebuild-when"].fix or "")
    world.manifest_text = MANIFEST.replace('rebuild-when = ["csrc/**"]', "")
    plan = replace(plan, manifest=world.manifest.sha256)
    assert world.errors(baseline, plan) == []
    write(world.lib, {"python/lib/core.py": "one = 1\ntwo = 3\n"})
    assert world.errors(baseline, plan) == ["not-proved"]


def test_the_interpreter_must_be_one_that_the_commit_takes(world: World) -> None:
    baseline = world.bake()
    git(world.lib, "checkout", "-q", "--force", "new")
    write(world.lib, {"python/pyproject.toml": '[project]\nname = "lib"\nrequires-python = ">=3.99"\n'})
    git(world.lib, "commit", "-q", "-a", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    world.install()
    assert world.errors(baseline) == ["requires-python"]


def test_an_import_that_swallows_nothing_and_fails_is_red(world: World) -> None:
    baseline = world.bake()
    git(world.lib, "checkout", "-q", "--force", "new")
    write(world.lib, {"python/lib/__init__.py": "from torch import gone\n"})
    git(world.lib, "commit", "-q", "-a", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    world.install()
    finding = world.found(baseline)["import-fails"]
    assert "No module named 'torch'" in finding.message
    assert finding.witnesses[0].path == f"{world.lib}/python/lib/__init__.py"


def test_a_missing_interpreter_is_an_answer_and_the_checkout_is_still_judged(world: World) -> None:
    baseline = world.bake()
    world.install()
    (world.root / "venv/bin/python").unlink()
    verified = world.verify(baseline)
    assert [one.rule for one in verified.findings] == ["environment-unreadable"]
    assert verified.checks == 1


def test_the_machine_against_the_projects_lock(world: World) -> None:
    baseline = world.bake()
    world.install()
    world.manifest_text = MANIFEST.replace(
        'url = "https://example.org/lib"', 'url = "https://example.org/lib"\nlock = { file = "verified.commit" }'
    )
    write(world.project, {"verified.commit": world.first + "\n"})
    found = world.found(baseline)
    assert found.keys() == {"not-the-lock"}
    assert world.first in found["not-the-lock"].message
    write(world.project, {"verified.commit": world.second + "\n"})
    assert world.found(baseline) == {}


def test_a_path_variable_of_the_caller_is_noted_and_not_used(world: World) -> None:
    baseline = world.bake()
    world.install()
    verified = world.verify(baseline, PYTHONPATH="/elsewhere")
    assert [(one.rule, one.severity) for one in verified.findings] == [("ambient-python-path", "note")]


# Copies that lie in the checkout, and what stands before its sources


def commit(world: World, files: dict[str, str]) -> None:
    """A third commit, installed in the way of a project's shell."""
    git(world.lib, "checkout", "-q", "--force", "new")
    write(world.lib, files)
    git(world.lib, "add", "-A")
    git(world.lib, "commit", "-q", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    world.install()


def old_copy(world: World, folder: Path) -> None:
    """What a build of the first commit leaves: the package, and nothing of git."""
    for name in ("__init__.py", "core.py", "heavy.py", "version.py"):
        write(folder, {f"lib/{name}": git(world.lib, "show", f"{world.first}:python/lib/{name}") + "\n"})


def without_python_path(world: World) -> None:
    world.manifest_text = world.manifest_text.replace('python-path = ["/stack/lib/python"]\n', "")


def test_an_old_wheel_in_an_environment_inside_the_checkout_is_not_the_checkouts(world: World) -> None:
    baseline = world.bake()
    without_python_path(world)
    world.manifest_text = world.manifest_text.replace("/venv/bin/python", "/stack/lib/.venv/bin/python")
    commit(world, {".gitignore": "*.so\n__pycache__/\n.venv/\n"})
    shutil.copytree(world.root / "venv", world.lib / ".venv", symlinks=True)
    assert world.errors(baseline) == []  # the environment may well lie there
    site = next((world.lib / ".venv/lib").glob("python3*/site-packages"))
    (site / "__editable__.lib.pth").unlink()
    old_copy(world, site)
    found = [one for one in world.verify(baseline).findings if one.severity == "error"]
    assert {one.rule for one in found} == {"import-elsewhere", "loose-module"}
    assert f"lib is imported from {site}/lib/__init__.py" in found[0].message
    assert "that is the environment, which merely lies in the checkout" in found[0].message


def test_a_path_file_that_leads_to_an_old_build_in_the_checkout_is_red(world: World) -> None:
    baseline = world.bake()
    without_python_path(world)
    commit(world, {".gitignore": "build/\n__pycache__/\n"})
    old_copy(world, world.lib / "build/lib")
    (world.site / "__editable__.lib.pth").write_text(f"{world.lib}/build/lib\n")
    found = [one for one in world.verify(baseline).findings if one.severity == "error"]
    assert {one.rule for one in found} == {"import-untracked"}
    assert f"lib is imported from {world.lib}/build/lib/lib/__init__.py" in found[0].message
    assert "the planned source is python/lib/__init__.py" in found[0].message
    assert (found[0].witnesses[0].path, found[0].witnesses[0].line) == (f"{world.site}/__editable__.lib.pth", 1)


def test_an_old_build_behind_the_planned_sources_is_red_too(world: World) -> None:
    baseline = world.bake()
    commit(world, {".gitignore": "build/\n__pycache__/\n"})
    old_copy(world, world.lib / "build/lib")
    (world.site / "zzz.pth").write_text(f"{world.lib}/build/lib\n")
    assert world.errors(baseline) == ["import-untracked"]


def test_a_generated_module_may_be_imported(world: World) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('"lib.core"]', '"lib.core", "lib._made"]')
    commit(world, {".gitignore": "_made.py\n__pycache__/\n"})
    write(world.lib, {"python/lib/_made.py": "number = 1\n"})
    assert world.errors(baseline) == []


def compile_into_cache(world: World, source: str, text: str, mode: str) -> Path:
    """Byte code of `text` where that of `source` belongs, by the image's interpreter; the source stays as it is."""
    path, other = world.lib / source, world.folder / "other.py"
    other.write_text(text)
    os.utime(other, (1_700_000_000, 1_700_000_000))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    code = """
import importlib.util, py_compile, sys
source, other, mode = sys.argv[1:]
cache = importlib.util.cache_from_source(source)
py_compile.compile(other, cache, source, doraise=True, invalidation_mode=py_compile.PycInvalidationMode[mode])
print(cache)
"""
    argv = [str(world.root / "venv/bin/python"), "-c", code, str(path), str(other), mode]
    return Path(run(*argv, cwd=world.folder))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("mode", ["TIMESTAMP", "UNCHECKED_HASH"])
def test_byte_code_of_another_source_is_red_where_an_import_takes_it(world: World, mode: str, kept: bool) -> None:
    baseline = world.bake()
    if not kept:
        world.install()
    plan = world.keep(baseline) if kept else world.plan()
    number = "1" if kept else "2"
    honest = compile_into_cache(world, "python/lib/version.py", f"version = {number}\n", mode)
    assert (honest.exists(), world.errors(baseline, plan)) == (True, [])
    stale = compile_into_cache(world, "python/lib/version.py", "version = 9\n", mode)
    finding = world.found(baseline, plan)["stale-bytecode"]
    assert finding.severity == "error"
    assert [one.path for one in finding.witnesses] == [str(stale)]
    # The interpreter does take it:
    code = "import lib.version; print(lib.version.version)"
    argv = [str(world.root / "venv/bin/python"), "-B", "-c", code]
    assert run(*argv, cwd=world.folder) == "9"


def test_byte_code_that_an_import_does_not_take_is_no_finding(world: World) -> None:
    baseline = world.bake()
    world.install()
    cache = compile_into_cache(world, "python/lib/version.py", "version = 9\n", "TIMESTAMP")
    os.utime(world.lib / "python/lib/version.py", (1_800_000_000, 1_800_000_000))
    shutil.copy(cache, cache.with_name("heavy.cpython-30.pyc"))
    (cache.with_name(cache.name.replace("version", "core"))).write_bytes(b"no byte code")
    assert world.errors(baseline) == []


def test_byte_code_whose_source_has_gone_is_a_module_that_nobody_planned(world: World) -> None:
    baseline = world.bake()
    commit(world, {".gitignore": "*.pyc\n"})
    cache = compile_into_cache(world, "python/lib/version.py", "version = 9\n", "TIMESTAMP")
    shutil.copy(cache, world.lib / "python/lib/version.pyc")  # its source goes before it
    assert "untracked-module" not in world.errors(baseline)
    cache.unlink()
    shutil.copy(world.lib / "python/lib/version.pyc", world.lib / "python/lib/gone.pyc")
    found = world.found(baseline)
    assert [one.path for one in found["untracked-module"].witnesses] == ["python/lib/gone.pyc"]
    assert found["untracked-module"].severity == "error"


SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


@pytest.mark.slow
def test_a_compiled_module_beside_its_tracked_source_is_red(world: World) -> None:
    baseline = world.bake()
    write(world.lib, {f"python/lib/heavy{SUFFIX}": "", "python/lib/core.cpython-30-x86_64-linux-gnu.so": ""})
    keep = world.found(baseline, world.keep(baseline))
    assert keep["shadowed-source"].severity == "warning"
    world.install()
    finding = world.found(baseline)["shadowed-source"]
    assert world.errors(baseline) == ["shadowed-source"]
    assert [(one.path, one.message) for one in finding.witnesses] == [
        (f"python/lib/heavy{SUFFIX}", "taken in place of python/lib/heavy.py")
    ]
    world.manifest_text = MANIFEST.replace('["csrc/**"]', '["python/lib/heavy.py"]')
    assert world.errors(baseline) == []


def test_an_ignored_package_beside_a_tracked_module_goes_before_it(world: World) -> None:
    baseline = world.bake()
    commit(world, {".gitignore": "heavy/\n__pycache__/\n"})
    write(world.lib, {"python/lib/heavy/__init__.py": ""})
    assert world.errors(baseline) == ["shadowed-source"]


SPACE = {"python/space/core/__init__.py": "", "python/space/deep/leaf.py": "", ".gitignore": "__pycache__/\n"}


@pytest.mark.slow
@pytest.mark.parametrize("behind", [False, True])
def test_a_namespace_whose_other_portion_has_the_same_package_is_red(world: World, behind: bool) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('imports = ["lib", "lib.core"]', 'imports = ["space"]')
    if not behind:
        without_python_path(world)
    commit(world, SPACE)
    # The site's own folder comes before what its .pth files add.
    write(world.site, {"space/core/__init__.py": "", "space/other/__init__.py": "", "space/deep/twig.py": ""})
    finding = world.found(baseline)["second-copy"]
    assert world.errors(baseline) == ["loose-module", "second-copy"]
    assert f"space.core is in two portions of space: {world.lib}/python/space/core" in finding.message
    assert f"{world.site}/space/core" in finding.message
    assert any(one.path == str(world.site) for one in finding.witnesses)
    shutil.rmtree(world.site / "space/core")
    # Other portions with other modules are what a namespace is for; that they came after the baseline is another matter.
    assert world.errors(baseline) == ["loose-module"]
    write(world.site, {"space/deep/leaf.py": ""})
    assert "space.deep.leaf is in two portions" in world.found(baseline)["second-copy"].message


def test_a_namespace_above_a_declared_package_is_looked_at_as_well(world: World) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('imports = ["lib", "lib.core"]', 'imports = ["space.deep.leaf"]')
    commit(world, SPACE)
    write(world.site, {"space/core.py": ""})
    assert "space.core is in two portions of space" in world.found(baseline)["second-copy"].message


def test_a_namespace_that_the_planned_tree_has_no_part_of_is_elsewhere(world: World) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('imports = ["lib", "lib.core"]', 'imports = ["space"]')
    write(world.lib, {"python/space/__pycache__/x.txt": ""})
    world.install()
    assert world.errors(baseline) == ["import-elsewhere"]


# The project's own install


INSTALLED = MANIFEST.replace(
    "[dependencies.lib]", 'install = [["python", "-m", "pip", "install", "."]]\n\n[dependencies.lib]'
)


@pytest.mark.slow
def test_a_project_that_was_never_installed_is_red_though_the_image_had_none_either(world: World) -> None:
    baseline = replace(world.bake(), environment=tuple(one for one in world.bake().environment if one.name != "proj"))
    world.install()
    shutil.rmtree(world.site / "proj-1.0.dist-info")
    assert world.found(baseline)["distribution-missing"].severity == "warning"
    world.manifest_text = INSTALLED
    assert world.errors(baseline) == ["distribution-missing"]
    world.metadata("proj", "1.0")
    assert world.errors(baseline) == []


def test_a_dependencys_distribution_that_its_install_did_not_bring_is_red(world: World) -> None:
    baseline = world.bake()
    world.manifest_text = MANIFEST.replace('distributions = ["lib"]', 'distributions = ["lib", "lib-kernel"]')
    keep = world.found(baseline, world.keep(baseline))
    assert keep["distribution-missing"].severity == "warning"
    world.install()
    assert world.errors(baseline) == ["distribution-missing"]


def test_a_project_that_is_installed_from_another_folder_is_red(world: World) -> None:
    baseline = world.bake()
    world.install()
    (world.folder / "link").symlink_to("project")
    for folder, errors in ((world.folder / "baked-project", ["distribution-elsewhere"]), (world.folder / "link", [])):
        url = f'{{"url": "file://{folder}", "dir_info": {{"editable": true}}}}'
        write(world.site, {"proj-1.0.dist-info/direct_url.json": url})
        assert world.errors(baseline) == errors


def test_a_path_variable_of_the_caller_that_brings_another_copy_is_a_warning(world: World) -> None:
    baseline = world.bake()
    world.install()
    write(world.folder, {"other/lib/__init__.py": ""})
    verified = world.verify(baseline, PYTHONPATH=f"{world.folder}/other")
    assert [(one.rule, one.severity) for one in verified.findings] == [
        ("ambient-python-path", "note"),
        ("ambient-module", "warning"),
    ]
    assert f"{world.folder}/other" in verified.findings[1].message


@pytest.mark.slow
def test_an_install_that_was_skipped_leaves_the_version_of_before(world: World) -> None:
    baseline = world.bake()
    commit(world, {"python/pyproject.toml": '[project]\nname = "lib"\nversion = "1.1.0"\n'})
    world.editable("1.0.0")
    assert world.errors(baseline) == ["stale-version"]
    world.editable("1.1.0")
    assert world.errors(baseline) == []


# The rest of the environment, beyond names and versions


@pytest.fixture
def furnished(world: World) -> tuple[World, Baseline]:
    """An image whose environment holds something of everything, and its baseline."""
    world.baked()
    world.metadata("torch", "2.3", files={"torch/__init__.py": "version = '2.3'\n", "torch/ops.py": "a = 1\n"})
    world.metadata("edited", "1", files={"edited.py": "a = 1\n"})
    write(
        world.site,
        {
            "edited.py": "a = 2\n",
            "mine.py": "a = 1\n",
            "vendored/__init__.py": "",
            "vendored/sub/a.py": "a = 1\n",
            "a.pth": "import os\n",
            "torch/extra.py": "",
        },
    )
    write(world.lib, {"python/lib/local.py": "a = 1\n"})
    baseline = world.probe()
    world.install()
    return world, baseline


def test_the_rest_of_an_environment_that_did_not_change_is_proved(furnished: tuple[World, Baseline]) -> None:
    world, baseline = furnished
    assert baseline.site is not None
    assert [one.path.rpartition("/")[2] for one in baseline.site.loose] == ["mine.py", "extra.py", "vendored"]
    assert [(one.distribution, one.path.rpartition("/")[2]) for one in baseline.site.edited] == [
        ("edited", "edited.py")
    ]
    assert [one.path.rpartition("/")[2] for one in baseline.site.path_files] == ["a.pth"]
    assert world.verify(baseline).findings == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("sitecustomize.py", "", "loose-module"),
        ("usercustomize/__init__.py", "", "loose-module"),
        ("helper.py", "", "loose-module"),
        ("helper/__init__.py", "", "loose-module"),
        ("helper/space/a.py", "", "loose-module"),
        ("torch/added.py", "", "loose-module"),
        ("mine.py", "a = 2\n", "loose-module"),
        ("vendored/sub/a.py", "a = 2\n", "loose-module"),
        ("z.pth", "import sys\n", "path-file-changed"),
        ("z.pth", "/srv\n", "path-file-changed"),
        ("a.pth", "import os, sys\n", "path-file-changed"),
        ("torch/ops.py", "a = 2\n", "installed-file-edited"),
        ("torch/ops.py", "longer = 2\n", "installed-file-edited"),
        ("edited.py", "a = 3\n", "installed-file-edited"),
        ("edited.py", "a = 1\n", "installed-file-edited"),
    ],
)
def test_what_came_or_changed_in_the_environment_and_is_no_distributions_is_red(
    furnished: tuple[World, Baseline], path: str, text: str, rule: str
) -> None:
    world, baseline = furnished
    write(world.site, {path: text})
    finding = world.found(baseline)[rule]
    assert world.errors(baseline) == [rule]
    named = path.partition("/")[0] if rule == "loose-module" and "torch" not in path else path
    assert f"{world.site}/{named}" in finding.message


def test_a_file_that_an_installed_distribution_lost_is_red(furnished: tuple[World, Baseline]) -> None:
    world, baseline = furnished
    (world.site / "torch/ops.py").unlink()
    assert f"{world.site}/torch/ops.py is not there" in world.found(baseline)["installed-file-edited"].message


def test_the_same_version_installed_again_with_other_content_is_red(furnished: tuple[World, Baseline]) -> None:
    world, baseline = furnished
    world.metadata("torch", "2.3", files={"torch/__init__.py": "version = '2.3'\n", "torch/ops.py": "a = 99\n"})
    finding = world.found(baseline)["environment-changed"]
    assert f"{world.site}/torch-2.3.dist-info is not what it was" in finding.message
    assert world.errors(baseline) == ["environment-changed"]


def test_an_untracked_module_that_the_image_had_with_other_content_is_red(furnished: tuple[World, Baseline]) -> None:
    world, baseline = furnished
    write(world.lib, {"python/lib/local.py": "a = 2\n"})
    assert [one.path for one in world.found(baseline)["untracked-module"].witnesses] == ["python/lib/local.py"]


@pytest.mark.slow
def test_what_the_named_distribution_brings_with_it_may_change(world: World) -> None:
    """An editable install by setuptools names its finder by the version, so that one goes and another comes."""
    finder = "import sys\nclass F:\n    def find_spec(*_):\n        return None\ndef install():\n    sys.meta_path.append(F)\n"

    def hooked(version: str) -> dict[str, str]:
        name = f"__editable___lib_{version.replace('.', '_')}_finder"
        return {f"{name}.py": finder, f"__editable__.lib-{version}.pth": f"import {name}; {name}.install()\n"}

    world.baked()
    world.metadata("lib", "1.0", files=hooked("1.0"))
    baseline = world.probe()
    assert baseline.site is not None
    assert [(len(one.owners), one.name) for one in baseline.site.finders] == [(1, "__editable___lib_1_0_finder.F")]
    for name in hooked("1.0"):
        (world.site / name).unlink()
    world.install()
    world.metadata("lib", "2.0", files=hooked("2.0"))
    assert world.errors(baseline) == []
    write(world.site, {"evil_finder.py": finder, "evil.pth": "import evil_finder; evil_finder.install()\n"})
    assert world.errors(baseline) == ["finder-changed", "loose-module", "path-file-changed"]


def test_a_baseline_of_an_older_regraft_is_still_compared_with(furnished: tuple[World, Baseline]) -> None:
    world, baseline = furnished
    held = replace(baseline.dependencies["lib"], untracked_content=None, empty_submodules=None)
    found = world.found(replace(baseline, site=None, dependencies={"lib": held}))
    assert found.keys() == {"baseline-older"}
    assert found["baseline-older"].severity == "note"


# Submodules


@pytest.fixture
def nested(world: World) -> World:
    """The planned commit has a submodule with a package; the baked one has none."""
    inner = world.folder / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner, {"ext/__init__.py": "", "setup.py": ""})
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "1")
    git(world.lib, "checkout", "-q", "--force", "new")
    git(world.lib, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "third/inner")
    git(world.lib, "commit", "-q", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    return world


@pytest.mark.slow
def test_a_planned_submodule_with_an_empty_folder_is_red(nested: World) -> None:
    baseline = nested.baseline
    nested.baked()
    nested.install()
    assert nested.errors(baseline) == []
    shutil.rmtree(nested.lib / "third/inner")
    (nested.lib / "third/inner").mkdir()
    assert nested.errors(baseline) == ["submodule-empty"]


def test_an_untracked_module_inside_a_submodules_package_is_red(nested: World) -> None:
    nested.baked()
    nested.install()
    write(nested.lib, {"third/inner/ext/evil.py": "", "third/inner/ext/_C.so": "", "third/inner/notes.py": ""})
    found = nested.found(nested.baseline)
    assert [one.path for one in found["untracked-module"].witnesses] == [
        "third/inner/ext/_C.so",
        "third/inner/ext/evil.py",
    ]
    assert [one.path for one in found["untracked-files"].witnesses] == ["third/inner/notes.py"]


# What is kept, and the baseline


def test_a_baseline_says_what_the_image_holds(world: World) -> None:
    write(world.lib, {"notes.txt": "", "python/lib/_C.so": ""})
    baseline = world.baked().probe()
    lib = baseline.dependencies["lib"]
    assert (lib.commit, lib.tree) == (world.first, world.tree(world.first))
    assert lib.patches == (BaselinePatch("p.patch", Sha256(hashlib.sha256(PATCH).hexdigest())),)
    assert (lib.distributions, lib.untracked) == ({"lib": "1.0"}, ("notes.txt",))
    assert [(one.name, one.version) for one in baseline.environment] == [
        ("lib", "1.0"),
        ("proj", "0.9"),
        ("torch", "2.3"),
    ]
    assert (baseline.image, baseline.reference) == ("img", "repo:tag")


def test_a_baseline_of_an_edited_checkout_names_no_patches(world: World) -> None:
    world.bake()
    write(world.lib, {"python/lib/core.py": "one = 1\ntwo = 2222\n"})
    lib = world.probe().dependencies["lib"]
    assert lib.patches == ()
    assert lib.tree != world.tree(world.first)


def test_a_baseline_has_no_holes(world: World) -> None:
    world.bake()
    shutil.rmtree(world.lib)
    with pytest.raises(OutsideError, match="what lib holds cannot be told"):
        world.probe()
    (world.root / "venv/bin/python").unlink()
    with pytest.raises(OutsideError, match="there is no interpreter"):
        world.probe()


def test_an_untouched_image_is_what_its_baseline_says(world: World) -> None:
    baseline = world.bake()
    assert world.verify(baseline, world.keep(baseline)).findings == ()


@pytest.mark.parametrize("change", ["edit", "commit", "install"])
def test_a_kept_dependency_that_changed_is_red(world: World, change: str) -> None:
    baseline = world.bake()
    match change:
        case "edit":
            write(world.lib, {"python/lib/core.py": "one = 1\ntwo = 9\n"})
        case "commit":
            world.check_out(world.second)
        case "install":
            world.editable("1.1")
    errors = world.errors(baseline, world.keep(baseline))
    assert errors[0] == ("environment-changed" if change == "install" else "kept-changed")


def test_what_is_kept_without_a_baseline_is_said_to_be_unknown(world: World) -> None:
    world.bake()
    found = world.found(None, world.keep(None))
    assert found.keys() == {"nothing-to-compare", "environment-unknown"}
    write(world.site, {"lib/__init__.py": ""})
    assert "second-copy" in world.errors(None, world.keep(None))


def test_an_image_whose_copy_has_no_repository_is_compared_by_content(world: World) -> None:
    world.bake()
    shutil.rmtree(world.lib / ".git")
    baseline = world.probe()
    assert baseline.dependencies["lib"].commit is None
    assert world.errors(baseline, world.keep(baseline)) == []
    write(world.lib, {"python/lib/core.py": "one = 1\ntwo = 9\n"})
    assert world.errors(baseline, world.keep(baseline)) == ["not-proved"]


# Plans for something else


def test_a_plan_for_something_else_is_refused(world: World) -> None:
    world.bake()
    plan = world.plan()
    for other, code in (
        (replace(plan, project="other"), "other-project"),
        (replace(plan, manifest=Sha256("1" * 64)), "other-manifest"),
        (replace(plan, image=PlannedImage("none", None, None)), "other-image"),
    ):
        with pytest.raises(InputError) as caught:
            world.verify(None, other)
        assert caught.value.code == code


# Installed for real

BACKEND = """\
import os, zipfile

METADATA = "Metadata-Version: 2.1\\nName: lib\\nVersion: 2.0\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "lib-2.0-py3-none-any.whl"
    files = {"__editable__.lib.pth": os.getcwd() + "\\n", "lib-2.0.dist-info/METADATA": METADATA,
             "lib-2.0.dist-info/WHEEL": WHEEL,
             "lib-2.0.dist-info/entry_points.txt": "[console_scripts]\\nlib-run = lib.core:main\\n"}
    files["lib-2.0.dist-info/RECORD"] = "".join(path + ",,\\n" for path in [*files, "lib-2.0.dist-info/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name

def build_wheel(*arguments, **more):
    raise SystemExit("only editable")
"""


def installable(world: World, files: dict[str, str]) -> Path:
    """The interpreter, with pip, of an image whose checkout has these files more."""
    python = world.root / "venv/bin/python"
    run(str(python), "-m", "ensurepip", cwd=world.folder, home=world.folder / "home")
    world.manifest_text = MANIFEST.replace('rebuild-when = ["csrc/**"]', "")  # no baseline says what changed
    git(world.lib, "checkout", "-q", "--force", "new")
    write(world.lib, {**files, ".gitignore": "*.egg-info/\nbuild/\n__pycache__/\n"})
    git(world.lib, "add", "-A")
    git(world.lib, "commit", "-q", "-m", "3")
    world.second = git(world.lib, "rev-parse", "HEAD")
    world.check_out(world.second)
    world.metadata("torch", "2.3")
    world.metadata("proj", "1.0")
    return python


@pytest.mark.slow
def test_an_editable_install_by_pip_is_proved(world: World) -> None:
    build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    python = installable(world, {"python/backend.py": BACKEND, "python/pyproject.toml": build})
    argv = ["-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-e", "python"]
    run(str(python), *argv, cwd=world.lib, home=world.folder / "home")
    assert world.errors(None) == []
    assert world.verify(None).observation.imports["lib"].file == f"{world.lib}/python/lib/__init__.py"
    (python.parent / "lib-run").unlink()
    assert world.found(None)["command-missing"].severity == "warning"
    shutil.copytree(world.lib / "python/lib", world.site / "lib")
    assert world.errors(None) == ["second-copy"]


@pytest.mark.slow
def test_an_egg_link_by_an_old_setuptools_is_proved_and_one_that_leads_elsewhere_is_red(world: World) -> None:
    setup = 'from setuptools import setup\nsetup(name="lib", version="2.0", packages=["lib"])\n'
    python = installable(world, {"python/setup.py": setup})
    if subprocess.run([python, "-c", "import setuptools"], env=ENV, capture_output=True, check=False).returncode:
        pytest.skip("this Python does not bring setuptools along")
    run(str(python), "setup.py", "-q", "develop", "--no-deps", cwd=world.lib / "python", home=world.folder / "home")
    links = [one for one in world.verify(None).observation.environment.distributions if one.kind == "egg-link"]
    if not links:
        pytest.skip("this setuptools makes no egg-links any more")
    assert world.errors(None) == []
    (world.site / "lib.egg-link").write_text("/elsewhere\n.")
    assert world.errors(None) == ["distribution-elsewhere"]
