"""`regraft init` on a repository of the usual size, beside what somebody would type to find the same lines: wall times of cold
processes. Exit 1: it takes a second, or more than its bound of those.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import image_world as worlds

ROUNDS = 7
BOUND = 40.0  # times the greps
SECONDS = 1.0
SLACK = 1.25  # a shared machine is not a quiet one

SHELL = """\
git ls-files '*Dockerfile*' '*.patch' '.github/workflows/*' > /dev/null
git grep -nE 'git (clone|checkout|fetch|apply|am)|patch -p|pip3? install' -- docker > /dev/null
git grep -nE 'ci-[a-z-]+-pr|container:|docker build' -- .github > /dev/null
git grep -nE '^(import|from) engine' -- '*.py' > /dev/null
"""


def wall(argv: list[str], cwd: Path, env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(argv, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(folder: Path) -> tuple[float, float]:
    """(seconds of init, seconds of the shell), medians, in turns."""
    root = worlds.make(folder / "project")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    ours, shell = [], []
    for _ in range(ROUNDS + 1):
        ours.append(wall([sys.executable, "-m", "regraft", "init", "--stdout"], root, env))
        shell.append(wall(["sh", "-e", "-c", SHELL], root, env))
    return statistics.median(ours[1:]), statistics.median(shell[1:])


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        return report(*measure(Path(name).resolve()))


def report(ours: float, shell: float) -> int:
    """Print both; 1 where a bound and the slack are passed."""
    ratio = ours / shell
    size = f"{worlds.DOCKERFILES} Dockerfiles, {worlds.PATCHES} patches, {worlds.WORKFLOWS} workflows"
    print(f"init: {ours * 1000:.0f} ms for {size}")
    print(f"{f'  to the greps for the same lines, {shell * 1000:.0f} ms':<50}{ratio:>8.1f}{BOUND:>8.1f}")
    if ours <= SECONDS * SLACK and ratio <= BOUND * SLACK:
        return 0
    print(
        f"init: {ours:.2f} s, the bound is {SECONDS}; {ratio:.1f} times the greps, the bound is {BOUND}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
