"""Start-up and planning, as ratios to a bare interpreter on the same machine in the same run, and an apply as a ratio to the
commands that it runs (`apply.py`); patches along an upstream's history beside what people do (`patch.py`); workflows that are
checked and run (`workflows.py`, `workflow_run.py`). Exit 1: a bound is broken.

What is compared is the processor time of the one process, without its children's: the same on a busy machine as on a quiet
one. Beside it stand the wall times of the whole command and of the git processes that it ran, which a `git` first on PATH
takes down.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apply as applying
import images as imaging
import workflows as checking
from apply import timed

import init as initiating
import patch as patching
from regraft.demo import world as worlds
from regraft.demo.world import World

HERE = Path(__file__).resolve().parent
ROUNDS = 15
SLACK = 1.25  # a shared machine is not a quiet one
VERSION_BOUND = 2.5
PLAN_BOUND = 10.0

WRAPPER = """\
#!/usr/bin/env bash
begin=$EPOCHREALTIME
{git} "$@"
code=$?
end=$EPOCHREALTIME
echo "$((${{end/[.,]/}} - ${{begin/[.,]/}}))" >> {log}
exit $code
"""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    seconds: float
    bound: float | None = None  # times a bare interpreter


def logging_git(folder: Path, env: Mapping[str, str]) -> tuple[dict[str, str], Path]:
    """An environment whose git writes down the microseconds of each run, and the file it writes them to."""
    git = shutil.which("git", path=env["PATH"])
    log = folder / "git.log"
    wrapper = folder / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(git=git, log=log), "utf-8")
    wrapper.chmod(0o755)
    return {**env, "PATH": f"{wrapper.parent}:{env['PATH']}"}, log


def processor_time(argv: list[str], env: Mapping[str, str], cwd: Path) -> float:
    """What one process takes of a processor, its children left out, in seconds. Raises CalledProcessError where it failed."""
    with subprocess.Popen(argv, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and can be asked still: proc(5)
        nanoseconds = int(Path(f"/proc/{process.pid}/schedstat").read_text("ascii").split()[0])
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv)
    return nanoseconds / 1e9


def planner(
    world: World, body: Path, env: Mapping[str, str], log: Path
) -> Callable[[], tuple[float, float, float, int]]:
    """A function that plans twice: (own seconds, wall, seconds in git, git processes)."""
    argv = [sys.executable, "-m", "regraft", "plan", "--image", "rl", "--body", str(body), "--output", "plan.json"]

    def once() -> tuple[float, float, float, int]:
        own = processor_time(argv, env, world.project)
        log.write_text("", "utf-8")
        wall = timed(argv, env, world.project)
        spent = [int(line) for line in log.read_text("utf-8").split()]
        if not spent:
            raise RuntimeError("plan ran no git that the wrapper saw")
        return own, wall, sum(spent) / 1e6, len(spent)

    return once


def measure(world: World, folder: Path) -> list[Row]:
    env = dict(world.env)
    logged, log = logging_git(folder, env)
    checkout = folder / "checkout"
    engine = world.root / "upstreams/engine.git"
    world.git("clone", "--quiet", str(engine), str(checkout), cwd=world.root)
    simple = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "regraft --version": [str(Path(sys.executable).parent / "regraft"), "--version"],
    }
    usual = ["bash", str(HERE / "usual_step.sh"), str(HERE / "realistic.md"), str(engine), str(checkout)]
    plans = {name: planner(world, HERE / f"{name}.md", logged, log) for name in ("minimal", "realistic")}
    spent: dict[str, list[float]] = {name: [] for name in simple}
    shell: list[float] = []
    planned: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in plans}
    for _ in range(ROUNDS + 1):  # in turns, so that a busy moment is everybody's; the first round fills the caches
        for name, argv in simple.items():
            spent[name].append(processor_time(argv, env, world.project))
        shell.append(timed(usual, env, world.project))
        for name, once in plans.items():
            planned[name].append(once())
    bare, version = (statistics.median(spent[name][1:]) for name in simple)
    rows = [Row("python -c pass", bare), Row("regraft --version", version, VERSION_BOUND)]
    for name, runs in planned.items():
        own, wall, git, count = (statistics.median(column) for column in zip(*runs[1:], strict=True))
        rows += [
            Row(f"plan, {name} body", own, PLAN_BOUND),
            Row("  wall, its git and what notes that down", wall),
            Row(f"  of that in {count:.0f} git", git),
        ]
    return [*rows, Row("the shell it replaces: wall, git included", statistics.median(shell[1:]))]


def report(rows: list[Row]) -> int:
    """Print the table; 1 where a ratio is above its bound and the slack."""
    bare = rows[0].seconds
    broken = []
    print(f"{'median of ' + str(ROUNDS):<42}{'ms':>8}{'ratio':>8}{'bound':>8}")
    for row in rows:
        ratio = row.seconds / bare
        judged = f"{ratio:>8.1f}{row.bound:>8.1f}" if row.bound else ""
        print(f"{row.name:<42}{row.seconds * 1000:>8.1f}{judged}")
        if row.bound and ratio > row.bound * SLACK:
            broken.append(
                f"{row.name}: {ratio:.1f} times a bare interpreter, and the bound is {row.bound} (slack {SLACK})"
            )
    for line in broken:
        print(line, file=sys.stderr)
    return int(bool(broken))


def report_apply(cost: applying.Cost) -> int:
    """One line for an apply; 1 where it costs more than the bound and the slack allow."""
    spent = f"git {cost.git * 1000:.0f} ms, install {cost.install * 1000:.0f} ms"
    print(f"{f'apply: {cost.wall * 1000:.0f} ms for {spent}':<50}{cost.ratio:>8.2f}{applying.BOUND:>8.1f}")
    if cost.ratio <= applying.BOUND * SLACK:
        return 0
    times = f"{cost.ratio:.2f} times the git and install commands that it runs"
    print(f"apply: {times}, and the bound is {applying.BOUND} (slack {SLACK})", file=sys.stderr)
    return 1


def alone(name: str) -> int:
    """A benchmark that measures its own process needs one that nothing else has filled."""
    sys.stdout.flush()
    return subprocess.run([sys.executable, str(Path(__file__).with_name(name))], check=False).returncode


def twice(measured: Callable[[], int]) -> int:
    """A bound is broken if it is so in two measurements: a shared machine has bad minutes, and what is slow stays slow."""
    if measured() == 0:
        return 0
    print("a bound is broken: measured once more", file=sys.stderr)
    return measured()


def starting() -> int:
    """Start-up and plan."""
    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        folder = Path(name).resolve()
        return report(measure(worlds.outline(folder / "world", os.environ), folder))


def applied() -> int:
    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        return report_apply(applying.median(applying.measure(Path(name).resolve())))


def main() -> int:
    running = partial(alone, "workflow_run.py")
    parts = (starting, applied, initiating.main, patching.main, imaging.main, checking.main, running)
    return max([twice(one) for one in parts])


if __name__ == "__main__":
    raise SystemExit(main())
