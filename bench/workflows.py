"""`regraft workflow check` on two repositories of workflows, beside actionlint and zizmor in the same run: wall times of cold
processes. Those two look at each file alone. Exit 1: the check takes more than its bound of a bare interpreter's start.

A bound is a ratio, since a machine's speed is not ours to say. actionlint is a fork whose wheel carries its program; it is left
out where it is missing.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import workflow_world as worlds

ROUNDS = 3
SLACK = 1.25  # a shared machine is not a quiet one
BARE = "python -c pass"
WORK = {"20 workflows": (worlds.SMALL, 60.0), "50 workflows": (worlds.LARGE, 180.0)}


def wall(argv: list[str], cwd: Path, env: dict[str, str]) -> float:
    begin = time.perf_counter()
    done = subprocess.run(argv, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode not in {0, 1, 11, 12, 13, 14}:  # zizmor ends with 11 to 14 by what it found
        raise RuntimeError(f"{argv}: {done.stderr[-500:]}")
    return seconds


def measure(folder: Path, size: tuple[int, int]) -> tuple[int, dict[str, float]]:
    """The lines that there are, and the median seconds of each program, in turns."""
    lines = worlds.make(folder, *size)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=env, check=True)
    subprocess.run(["git", "add", "--all"], cwd=folder, env=env, check=True)
    beside = Path(sys.executable).parent
    programs = {
        BARE: [sys.executable, "-c", "pass"],
        "regraft workflow check": [sys.executable, "-m", "regraft", "workflow", "check"],
        "actionlint": [str(beside / "actionlint")],
        "zizmor": [str(beside / "zizmor"), "--offline", "--quiet", "."],
    }
    there = {name: argv for name, argv in programs.items() if Path(argv[0]).exists()}
    spent: dict[str, list[float]] = {name: [] for name in there}
    for _ in range(ROUNDS + 1):  # the first fills the caches
        for name, argv in there.items():
            spent[name].append(wall(argv, folder, env))
    return lines, {name: statistics.median(times[1:]) for name, times in spent.items()}


def report(title: str, lines: int, found: dict[str, float], bound: float) -> int:
    """Print a table; 1 where the check is above its bound and the slack."""
    print(f"{title}, {lines} lines")
    for name, seconds in found.items():
        judged = f"{seconds / found[BARE]:>8.1f}{bound:>8.1f}" if name.startswith("regraft") else ""
        print(f"{'  ' + name:<42}{seconds * 1000:>8.0f}{judged}")
    ratio = found["regraft workflow check"] / found[BARE]
    if ratio <= bound * SLACK:
        return 0
    print(
        f"{title}: {ratio:.0f} times a bare interpreter, and the bound is {bound:.0f} (slack {SLACK})", file=sys.stderr
    )
    return 1


def main() -> int:
    code = 0
    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        for title, (size, bound) in WORK.items():
            folder = Path(name).resolve() / title.partition(" ")[0]
            folder.mkdir()
            code |= report(title, *measure(folder, size), bound)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
