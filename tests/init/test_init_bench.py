"""The repository that the benchmark measures on is one that `init` reads, and the benchmark's verdict can be no."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from regraft.adapters.listed_project import ListedProject
from regraft.flows.init import propose

BENCH = Path(__file__).resolve().parents[2] / "bench"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(BENCH))  # as for any script
    spec.loader.exec_module(module)
    return module


def test_the_measured_repository_is_read_whole(tmp_path: Path) -> None:
    worlds = load("image_world")
    manifest = propose(ListedProject(worlds.make(tmp_path / "project"), {"PATH": "/usr/bin:/bin"})).manifest
    assert len(manifest.images) == worlds.DOCKERFILES
    assert len(manifest.suites) == worlds.WORKFLOWS
    carried = {path for image in manifest.images.values() for path in image.baked["engine"].patches}
    assert len(carried) == worlds.PATCHES


@pytest.mark.parametrize(("ours", "shell", "code"), [(0.3, 0.02, 0), (1.5, 0.1, 1), (0.9, 0.01, 1)])
def test_a_second_or_a_ratio_above_its_bound_is_red(ours: float, shell: float, code: int) -> None:
    assert load("init").report(ours, shell) == code
