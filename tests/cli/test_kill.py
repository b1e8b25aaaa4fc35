"""An apply that is killed at any of its effects is one restore away from the baseline.

An effect is a file written, renamed or removed, a folder made, a process started: `regraft.adapters.effects` counts them. An
apply is run once for each, with SIGKILL before it or after it, to regraft alone or to its whole group and the groups of the
processes it runs; then restore; then a walker that shares no code with either compares. The runs go on until one comes to
its end, so none is left out.

By default each machine sees one side; REGRAFT_KILL_TEST=all runs the four of them on both.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

Lane = Any  # tests/cli/conftest.py has the class; a conftest cannot be imported

SHARES = 4  # how many tests, which may run at the same time, a matrix is cut into
MODES = [("before", False), ("after", True), ("after", False), ("before", True)]
SIDES = {"dist-info": [MODES[0]], "egg-link": [MODES[1]]}
MATRIX = [
    pytest.param(lane, side, group, share, id=f"{lane}-{side}-{'group' if group else 'alone'}-{share}")
    for lane, sides in SIDES.items()
    for side, group in (MODES if os.environ.get("REGRAFT_KILL_TEST") == "all" else sides)
    for share in range(SHARES)
]


@pytest.mark.slow
@pytest.mark.parametrize(("lane", "side", "group", "share"), MATRIX, indirect=["lane"])
def test_a_kill_at_any_effect_is_one_restore_away_from_the_baseline(
    lane: Lane, side: str, group: bool, share: int
) -> None:
    before = lane.see()
    number, ended = share + 1, False
    while not ended:
        lane.renew()
        ended = not lane.killed(f"{side}:{number}", group=group)
        done = lane.restore()
        assert done.returncode == 0, (number, done.stdout, done.stderr)
        assert lane.see() == before, number
        assert not (lane.root / "var/lib/regraft/snapshot").exists(), number
        number += SHARES
    assert number > 60, "an apply has more effects than that"


@pytest.mark.slow
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_kill_while_a_second_plan_goes_over_a_first_still_leads_to_the_first_baseline(lane: Lane, side: str) -> None:
    """Every seventh effect, or with REGRAFT_KILL_TEST=all every one."""
    stride = 1 if os.environ.get("REGRAFT_KILL_TEST") == "all" else 7
    before = lane.see()
    (lane.project / "body.md").write_text("ci-dep-pr: v1.0\n")
    assert lane.regraft("plan", "--image", "lane", "--body", "body.md", "--output", "second.json").returncode == 0
    assert lane.apply().returncode == 0
    applied = lane.base.with_name("applied")
    shutil.rmtree(applied, ignore_errors=True)
    subprocess.run(["cp", "-a", str(lane.base), str(applied)], check=True)
    number, ended = 1, False
    while not ended:
        shutil.rmtree(lane.base)
        subprocess.run(["cp", "-a", str(applied), str(lane.base)], check=True)
        done = lane.regraft(
            *("apply", "second.json", "--replace", "--root", str(lane.root)), REGRAFT_KILL_AT=f"{side}:{number}"
        )
        ended = done.returncode == 0
        assert ended or done.returncode == -signal.SIGKILL, (number, done.stderr)
        restored = lane.restore()
        assert restored.returncode == 0, (number, restored.stdout, restored.stderr)
        assert lane.see() == before, number
        number += stride
    assert number > 60, "such an apply has more effects than that"


@pytest.mark.slow
def test_the_effects_of_an_apply_are_of_every_kind(lane: Lane, tmp_path: Path) -> None:
    """What the kill test counts: were a module to write past the counter, a kind would be missing, or a number smaller."""
    before = lane.see()
    names = lane.effects(tmp_path / "log")
    assert {"open-lock", "sign", "create", "rename", "mkdir", "link", "unlink", "start"} <= set(names)
    assert names.count("create while a process runs") >= 2, "the journal names each command that runs"
    changed = {path for path, what in lane.see()[0].items() if before[0].get(path) != what}
    assert len(changed) > 10
    assert lane.restore().returncode == 0
    assert lane.see() == before


# A command that runs on when regraft is killed.

WRITES = """
import pathlib, subprocess, sys, sysconfig, time
site = pathlib.Path(sysconfig.get_path("purelib"))
(site / "early").write_text("")
{then}
(site / "late").write_text("")
"""


def _killed_in_the_install(lane: Lane, then: str) -> None:
    (lane.project / "install.py").write_text(WRITES.format(then=then))
    argv = [sys.executable, "-m", "regraft", "apply", "plan.json", "--root", str(lane.root)]
    env = {"PATH": os.environ["PATH"], "HOME": str(lane.base / "home")}
    with subprocess.Popen(
        argv, cwd=lane.project, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (lane.site / "early").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_a_restore_ends_an_install_that_still_runs(lane: Lane) -> None:
    before = lane.see()
    _killed_in_the_install(lane, "time.sleep(600)")
    refused = lane.apply()
    assert refused.returncode == 3
    assert "[locked]" in refused.stderr
    began = time.monotonic()
    assert lane.restore().returncode == 0
    assert time.monotonic() - began < 60
    assert lane.see() == before


@pytest.mark.slow
def test_a_restore_waits_for_an_install_that_still_runs(lane: Lane) -> None:
    before = lane.see()
    (lane.base / "done").unlink(missing_ok=True)
    _killed_in_the_install(lane, f"time.sleep(1); pathlib.Path({str(lane.base / 'done')!r}).write_text('')")
    assert lane.restore("--wait", "60").returncode == 0
    assert (lane.base / "done").exists(), "it was not ended"
    assert lane.see() == before


@pytest.mark.slow
def test_a_restore_ends_what_an_install_started_without_the_lock(lane: Lane) -> None:
    """A child of pip's does not inherit the lock; it is known by the group and the mark in its environment."""
    before = lane.see()
    late = "import time, sys; time.sleep(1.5); open(sys.argv[1], 'w').close()"
    then = f"subprocess.Popen([sys.executable, '-c', {late!r}, str(site / 'later')]); time.sleep(0.2)"
    _killed_in_the_install(lane, then)
    time.sleep(0.4)
    assert lane.restore().returncode == 0
    time.sleep(1.8)
    assert lane.see() == before


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_can_be_caught_rolls_back_by_itself(lane: Lane, signal_number: int) -> None:
    before = lane.see()
    (lane.project / "install.py").write_text(WRITES.format(then="time.sleep(600)"))
    argv = [sys.executable, "-m", "regraft", "apply", "plan.json", "--root", str(lane.root)]
    env = {"PATH": os.environ["PATH"], "HOME": str(lane.base / "home")}
    with subprocess.Popen(
        argv, cwd=lane.project, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (lane.site / "early").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal_number)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 130
    assert "baseline" in said
    assert lane.see() == before
    assert lane.restore().stdout.startswith("nothing to restore")
