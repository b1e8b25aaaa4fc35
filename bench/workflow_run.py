"""`regraft workflow run`: the demo's resolve step and install step, beside `bash -e` on the same scripts without regraft. Wall
times, in turns: as the pytest plugin runs them, in this process, and cold by the command. Exit 1: a bound is broken.

The install is real: git fetches a pull ref of a throw-away upstream, checks it out and applies the carried patch; pip is a
stub on both sides. A bound is a ratio, since a machine's speed is not ours to say.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from regraft import demo
from regraft.adapters.runner import git_environment
from regraft.cli.workflow_ports import Workflows
from regraft.workflow_override import PULL, Override, World
from regraft.workflow_testing import Runs, commit_of

ROUNDS = 15
SLACK = 1.25  # a shared machine is not a quiet one
DATA = Path(demo.__file__).resolve().parent / "data"
URL = "https://github.com/example-org/engine"
IMAGE = "/opt/stack"
REF = f"pull/{PULL}/head"
BODY = f"Makes the lanes wider.\n\nci-engine: {REF}\n"
EVENT = {"pull_request": {"number": 5, "body": BODY}}
BARE = "python -c pass"


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds, and those of what a user has without regraft; `bound` is times those."""

    name: str
    seconds: float
    beside: float | None = None
    bound: float | None = None


def checked(argv: list[str], cwd: Path, env: dict[str, str]) -> None:
    done = subprocess.run(argv, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{argv} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")


class Bench:
    """A project with the demo's workflow, an upstream with a pull request, an image; and the same scripts for `bash -e`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.folder = folder
        shutil.copytree(DATA / "workflows", self.root / ".github/workflows")
        shutil.copytree(DATA / "project/patches", self.root / "patches")
        patches = ("patches/engine-lanes.patch",)
        override = Override("suite.yml", "suite", "example-org/engine", f"{IMAGE}/engine", self.asked, patches=patches)
        self.runs = Runs(Workflows(self.root), folder / "runs")
        self.world = World(override, self.runs, folder)
        self.event = folder / "event.json"
        self.event.write_text(json.dumps(EVENT), "utf-8")
        self.output = folder / "output"
        pip = folder / "bin/pip"
        pip.parent.mkdir()
        pip.write_text('#!/bin/sh\nprintf "%s\\n" "$*" >>"$CALLS"\n', "utf-8")
        pip.chmod(0o755)
        self.env = {**git_environment(os.environ, folder), "PATH": f"{pip.parent}:{os.environ['PATH']}"}
        self.scripts = self._scripts()

    @staticmethod
    def asked(ref: str) -> dict[str, Any]:
        return {"inputs": {"engine": ref}, "event_name": "workflow_dispatch"}

    def _scripts(self) -> dict[str, str]:
        steps = yaml.safe_load((self.root / ".github/workflows/suite.yml").read_text("utf-8"))["jobs"]["suite"]["steps"]
        return {one["id"]: one["run"] for one in steps if "run" in one and "id" in one}

    def bash(self, step: str, **env: str) -> None:
        """The step's script with nothing of regraft around it: the image's path and the upstream's URL are written in."""
        text = self.scripts[step].replace(f"{IMAGE}/engine", str(self.world.checkout))
        script = self.folder / f"{step}.sh"
        script.write_text(text.replace(URL, str(self.world.upstream.path)), "utf-8")
        given = {
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_WORKSPACE": str(self.root),
            "CALLS": str(self.output),
            **env,
        }
        checked(["bash", "-e", str(script)], self.root, {**self.env, **given})

    def bash_resolve(self) -> None:
        self.output.write_bytes(b"")
        self.bash("resolve", ASKED="", BODY=BODY)
        expect(self.output.read_text("utf-8") == f"ref={REF}\n", "bash resolved the ref")

    def own_resolve(self) -> None:
        found = self.runs.run_step("suite.yml", "suite", "resolve", event=EVENT)
        expect(found.outputs.get("ref") == REF, "the step resolved the ref")

    def cold_resolve(self) -> None:
        self.cold("resolve", "--event", str(self.event))

    def bash_job(self) -> None:
        self.bash_resolve()
        self.bash("install", REF=REF)

    def own_job(self) -> None:
        expect(self.world.run(REF).result == "success", "the job is green")

    def cold_job(self) -> None:
        upstream = f"example-org/engine={self.world.upstream.path}"
        image = f"{IMAGE}={self.world.checkout.parent}"
        self.cold("--event", str(self.event), "--map", image, "--upstream", upstream)

    def cold(self, *arguments: str) -> None:
        checked(
            [sys.executable, "-m", "regraft", "workflow", "run", "suite.yml", "suite", *arguments], self.root, self.env
        )

    def installed(self) -> None:
        wanted = self.world.refs["pull"][1]
        expect(commit_of(self.world.checkout) == wanted, "the pull request's commit is checked out")


def expect(held: bool, what: str) -> None:
    """What is measured did its work, else no number of it counts."""
    if not held:
        raise RuntimeError(f"not so: {what}")


def measure(bench: Bench, rounds: int = ROUNDS) -> dict[str, float]:
    """Median seconds of each, in turns; an image is made anew before each job, outside of what is timed."""
    bare = [sys.executable, "-c", "pass"]
    work: dict[str, tuple[Callable[[], object], bool]] = {
        BARE: (lambda: checked(bare, bench.root, bench.env), False),
        "resolve, bash": (bench.bash_resolve, False),
        "resolve": (bench.own_resolve, False),
        "resolve, cold": (bench.cold_resolve, False),
        "install, bash": (bench.bash_job, True),
        "install": (bench.own_job, True),
        "install, cold": (bench.cold_job, True),
    }
    spent: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):  # the first fills the caches
        for name, (once, installs) in work.items():
            if installs:
                bench.world.renew()
            begin = time.perf_counter()
            once()
            spent[name].append(time.perf_counter() - begin)
            if installs:
                bench.installed()
    return {name: statistics.median(times[1:]) for name, times in spent.items()}


# What there is to beat, in the same run: a start of bash with its programs; with git's work, the start of git is nearly all.
BOUNDS = {"resolve": 3.0, "install": 2.0, "resolve, cold": 8.0, "install, cold": 8.0}


def rows(found: dict[str, float]) -> list[Row]:
    """A cold command is held against the same script after a bare interpreter's start."""
    bare = found[BARE]
    made = [Row(BARE, bare)]
    for step in ("resolve", "install"):
        plain = found[f"{step}, bash"]
        made += [
            Row(f"{step} step: bash -e, without regraft", plain),
            Row("  as a pytest fixture runs it", found[step], plain, BOUNDS[step]),
            Row("  regraft workflow run, cold", found[f"{step}, cold"], plain + bare, BOUNDS[f"{step}, cold"]),
        ]
    return made


def report(table: list[Row]) -> int:
    """Print the table; 1 where a ratio is above its bound and the slack."""
    broken = []
    print(f"{'workflow run, median of ' + str(ROUNDS):<42}{'ms':>8}{'ratio':>8}{'bound':>8}")
    for row in table:
        judged = ""
        if row.beside is not None and row.bound is not None:
            ratio = row.seconds / row.beside
            judged = f"{ratio:>8.1f}{row.bound:>8.1f}"
            if ratio > row.bound * SLACK:
                broken.append(
                    f"workflow run, {row.name.strip()}: {ratio:.1f} times the script alone, "
                    f"and the bound is {row.bound} (slack {SLACK})"
                )
        print(f"{row.name:<42}{row.seconds * 1000:>8.1f}{judged}")
    for line in broken:
        print(line, file=sys.stderr)
    return int(bool(broken))


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        return report(rows(measure(Bench(Path(name).resolve()))))


if __name__ == "__main__":
    raise SystemExit(main())
