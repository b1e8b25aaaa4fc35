"""The demo's world is what the story says of it."""

import os
import subprocess
from pathlib import Path

import pytest

from regraft.demo import world as worlds
from regraft.demo.world import World


@pytest.fixture(scope="module")
def outline(tmp_path_factory: pytest.TempPathFactory) -> World:
    return worlds.outline(tmp_path_factory.mktemp("outline") / "world", os.environ)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return worlds.build(tmp_path_factory.mktemp("built") / "world", os.environ)


def subject(world: World, name: str, ref: str) -> str:
    return world.git("log", "--format=%s", "-1", ref, cwd=world.root / f"upstreams/{name}.git")


def test_upstreams_serve_a_branch_that_moved_on_and_pull_requests(outline: World) -> None:
    assert subject(outline, "engine", "refs/heads/main") == "Batch sixteen requests"
    assert subject(outline, "engine", "refs/heads/main~1") == "Begin engine"
    assert subject(outline, "engine", "refs/pull/12/head") == "Pad with the library's ceiling"
    assert subject(outline, "trainer", "refs/heads/main") == "Square the differences"
    refs = outline.git("for-each-ref", "--format=%(refname)", cwd=outline.root / "upstreams/engine.git")
    assert refs.split() == ["refs/heads/main", "refs/pull/12/head", "refs/pull/13/head"]


def test_hashes_are_the_same_wherever_and_whenever_it_is_built(outline: World, tmp_path: Path) -> None:
    hostile = {**os.environ, "GIT_AUTHOR_NAME": "Somebody", "HOME": str(tmp_path / "elsewhere")}
    other = worlds.outline(tmp_path / "again", hostile)
    for name in ("engine", "trainer"):
        listing = [one.git("show-ref", cwd=one.root / f"upstreams/{name}.git") for one in (outline, other)]
        assert listing[0] == listing[1]


def test_the_carried_patch_fits_pull_12_and_has_lost_its_target_in_13(outline: World, tmp_path: Path) -> None:
    bare = outline.root / "upstreams/engine.git"
    outline.git("clone", "--quiet", str(bare), str(tmp_path / "engine"), cwd=tmp_path)
    for number, fits in ((12, True), (13, False)):
        outline.git("fetch", "--quiet", "origin", f"refs/pull/{number}/head", cwd=tmp_path / "engine")
        outline.git("checkout", "--quiet", "--detach", "FETCH_HEAD", cwd=tmp_path / "engine")
        patch = str(outline.project / worlds.PATCH)
        checked = outline.run(["git", "apply", "--check", patch], tmp_path / "engine")
        assert (checked.returncode == 0) is fits
    assert not (tmp_path / "engine/src/engine/kernels.py").exists()


def test_no_path_or_address_of_this_machine_is_committed(outline: World) -> None:
    for name in ("engine", "trainer"):
        log = outline.git("log", "--all", "--format=%an %ae %cn %ce", cwd=outline.root / f"upstreams/{name}.git")
        assert set(log.splitlines()) == {"Demo demo@example.org Demo demo@example.org"}


@pytest.mark.slow
def test_the_image_imports_both_from_their_checkouts_with_the_patch(world: World) -> None:
    code = "import engine, trainer; print(engine.__file__, trainer.__file__, engine.LANES, sep='\\n')"
    found = subprocess.run([world.python, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    engine, trainer, lanes = found.stdout.split()
    assert Path(engine) == world.checkout("engine") / "src/engine/__init__.py"
    assert Path(trainer) == world.checkout("trainer") / "src/trainer/__init__.py"
    assert lanes == "64"


@pytest.mark.slow
def test_the_image_holds_the_commits_of_before_the_branches_moved(world: World) -> None:
    for name in ("engine", "trainer"):
        assert world.git("log", "--format=%s", "-1", cwd=world.checkout(name)) == f"Begin {name}"


@pytest.mark.slow
def test_the_address_that_the_image_was_cloned_from_has_gone(world: World) -> None:
    fetched = world.run(["git", "fetch", "origin"], world.checkout("engine"))
    assert fetched.returncode != 0


@pytest.mark.slow
def test_a_fresh_image_has_lost_what_a_run_did_to_it(world: World, tmp_path: Path) -> None:
    worlds.store_image(world, tmp_path / "stored")
    kernels = world.checkout("engine") / "src/engine/kernels.py"
    before = kernels.read_bytes()
    kernels.write_bytes(b"LANES = 1\n")
    (world.checkout("trainer") / "left-over").touch()
    worlds.fresh_image(world, tmp_path / "stored")
    assert kernels.read_bytes() == before
    assert not (world.checkout("trainer") / "left-over").exists()
    assert world.git("status", "--porcelain", cwd=world.checkout("trainer")) == ""
