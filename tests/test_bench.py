"""The benchmark's verdict can be no."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "bench/bench.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["bench"] = module
    sys.path.insert(0, str(SCRIPT.parent))  # as for any script
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def running(bench: ModuleType) -> ModuleType:
    """The benchmark of `workflow run`, which stands beside."""
    assert bench.__file__ is not None
    return importlib.import_module("workflow_run")


@pytest.mark.parametrize(("codes", "code"), [([0], 0), ([1, 0], 0), ([1, 1], 1)])
def test_a_bound_is_broken_where_it_is_so_in_two_measurements(bench: ModuleType, codes: list[int], code: int) -> None:
    left = list(codes)
    assert bench.twice(lambda: left.pop(0)) == code
    assert left == []


@pytest.mark.parametrize(("ratio", "code"), [(2.0, 0), (2.6, 0), (4.0, 1)])
def test_a_ratio_above_bound_and_slack_is_red(
    bench: ModuleType, capsys: pytest.CaptureFixture[str], ratio: float, code: int
) -> None:
    rows = [bench.Row("python -c pass", 0.02), bench.Row("regraft --version", 0.02 * ratio, 2.5)]
    assert bench.report(rows) == code
    assert ("bound is 2.5" in capsys.readouterr().err) is bool(code)


def test_a_row_without_a_bound_is_for_information(bench: ModuleType) -> None:
    assert bench.report([bench.Row("python -c pass", 0.02), bench.Row("a shell", 2.0)]) == 0


def test_a_process_is_charged_for_itself_and_for_none_of_its_children(bench: ModuleType, tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    busy = "import time\nwhile time.process_time() < 0.4: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}], check=True)"
    env = dict(os.environ)
    assert bench.processor_time([sys.executable, "-c", busy], env, tmp_path) >= 0.4
    assert 0 < bench.processor_time([sys.executable, "-c", code], env, tmp_path) < 0.3
    with pytest.raises(subprocess.CalledProcessError):
        bench.processor_time([sys.executable, "-c", "raise SystemExit(3)"], env, tmp_path)


def test_the_logging_git_counts_each_process(bench: ModuleType, tmp_path: Path) -> None:
    import os
    import subprocess

    env, log = bench.logging_git(tmp_path, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    for _ in range(2):
        subprocess.run(["git", "--version"], env=env, check=True, capture_output=True)
    assert subprocess.run(["git", "no-such-verb"], env=env, check=False, capture_output=True).returncode == 1
    spent = [int(line) for line in log.read_text().split()]
    assert len(spent) == 3
    assert all(0 < one < 60_000_000 for one in spent)


@pytest.mark.parametrize(("wall", "code"), [(2.5, 0), (3.2, 0), (3.3, 1)])
def test_an_apply_that_costs_more_than_its_commands_allow_is_red(
    bench: ModuleType, capsys: pytest.CaptureFixture[str], wall: float, code: int
) -> None:
    assert bench.report_apply(bench.applying.Cost(wall, 0.5, 1.5)) == code
    assert ("bound is 1.3" in capsys.readouterr().err) is bool(code)


def test_the_middle_round_counts(bench: ModuleType) -> None:
    costs = [bench.applying.Cost(wall, 1.0, 1.0) for wall in (9.0, 2.4, 3.0, 2.2)]
    assert bench.applying.median(costs).wall == 2.4


@pytest.mark.parametrize(("ratio", "bound", "code"), [(0.3, 1 / 3, 0), (0.4, 1 / 3, 0), (0.5, 1 / 3, 1), (1.1, 1.0, 1)])
def test_patch_health_that_is_slower_than_its_bound_and_slack_is_red(
    bench: ModuleType, capsys: pytest.CaptureFixture[str], ratio: float, bound: float, code: int
) -> None:
    assert bench.patching.report([bench.patching.Row("ours", "1 ms", ratio, bound)]) == code
    assert ("and the bound is" in capsys.readouterr().err) is bool(code)


def test_the_large_upstream_is_the_same_one_every_time(bench: ModuleType, tmp_path: Path) -> None:
    worlds = bench.patching.worlds
    one, two = (worlds.make(tmp_path / name, commits=60, files=400) for name in "ab")
    assert one.patches == two.patches
    assert len(one.patches) == worlds.PATCHES
    assert sum(patch.count(b"diff --git") for patch in one.patches) == worlds.SECTIONS
    assert sum(patch.count(b"\n@@ ") for patch in one.patches) == worlds.HUNKS
    heads = {worlds.git(world.repository, "rev-parse", "main") for world in (one, two)}
    assert len(heads) == 1
    assert worlds.git(one.repository, "rev-list", "--first-parent", "--count", "main") == b"60\n"


@pytest.mark.parametrize(("ratio", "code"), [(99.0, 0), (124.0, 0), (126.0, 1)])
def test_a_check_of_workflows_that_takes_too_long_is_red(
    bench: ModuleType, capsys: pytest.CaptureFixture[str], ratio: float, code: int
) -> None:
    checking = bench.checking
    found = {checking.BARE: 0.01, "regraft workflow check": 0.01 * ratio, "zizmor": 9.0}
    assert checking.report("20 workflows", 2700, found, 100.0) == code
    assert ("the bound is 100" in capsys.readouterr().err) is bool(code)


@pytest.mark.parametrize("slow", ["resolve", "resolve, cold", "install", "install, cold"])
def test_a_step_that_costs_too_much_more_than_its_script_is_red(
    running: ModuleType, capsys: pytest.CaptureFixture[str], slow: str
) -> None:
    found = {running.BARE: 0.02, "resolve, bash": 0.005, "install, bash": 0.03}
    found |= {"resolve": 0.01, "resolve, cold": 0.1, "install": 0.03, "install, cold": 0.15}
    assert running.report(running.rows(found)) == 0
    found[slow] *= 10
    assert running.report(running.rows(found)) == 1
    assert capsys.readouterr().err.count("times the script alone") == 1


def test_a_run_that_did_not_do_its_work_is_no_measurement(running: ModuleType, tmp_path: Path) -> None:
    made = running.Bench(tmp_path)
    made.world.renew()
    with pytest.raises(RuntimeError, match="checked out"):
        made.installed()
    made.bash_job()
    made.installed()
    made.world.renew()
    made.own_job()
    made.installed()


def test_the_workflows_that_are_checked_have_the_size_that_is_said(bench: ModuleType, tmp_path: Path) -> None:
    worlds = bench.checking.worlds
    for name, (workflows, lines) in {"small": worlds.SMALL, "large": worlds.LARGE}.items():
        folder = tmp_path / name
        assert lines * 0.95 <= worlds.make(folder, workflows, lines) <= lines * 1.2  # whole jobs
        assert len(list((folder / ".github/workflows").iterdir())) == workflows
