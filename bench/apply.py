"""What an apply costs besides the git and install commands that it runs, on a checkout and an environment of a usual size.

The commands' own time is taken down by a wrapper in front of each; what the wrappers cost is measured in the same run,
and charged to nobody.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILES = 5_000  # in the checkout
DISTRIBUTIONS = 300
EACH = 40  # files of one distribution
BOUND = 1.3  # times the commands
ROUNDS = 5
RUNS = 15  # of a wrapper

WRAPPER = """\
#!/usr/bin/env bash
begin=$EPOCHREALTIME
{program} "$@"
code=$?
end=$EPOCHREALTIME
echo "{name} $((${{end/[.,]/}} - ${{begin/[.,]/}}))" >> {log}
exit $code
"""

MANIFEST = """\
[project]
name = "bench"

[dependencies.lib]
url = "../upstream"
branch = "main"

[images.img]
python = "/opt/venv/bin/python"

[images.img.baked.lib]
path = "/src/lib"
install = [{install}]
distributions = ["lib"]
imports = ["lib"]
"""

PYPROJECT = """\
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"

[project]
name = "lib"
version = "{version}"

[tool.setuptools]
packages = ["lib"]
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one apply: the whole, and what of it went to git and to install commands."""

    wall: float
    git: float
    install: float

    @property
    def ratio(self) -> float:
        return self.wall / (self.git + self.install)


def git(folder: Path, *arguments: str) -> None:
    env = {
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "HOME": "/nonexistent",
    }
    subprocess.run(["git", "-C", str(folder), *arguments], env=env, check=True, stdout=subprocess.DEVNULL)


def wrapped(path: Path, program: str, name: str, log: Path) -> None:
    path.write_text(WRAPPER.format(program=program, name=name, log=log), "utf-8")
    path.chmod(0o755)


def outline(top: Path) -> None:
    """Upstream of two releases, project, and an image below `top / "image"`."""
    upstream, project, image = top / "upstream", top / "project", top / "image"
    for folder in (upstream / "lib", project, image / "src", image / "opt"):
        folder.mkdir(parents=True)
    git(upstream, "init", "-q")
    git(upstream, "symbolic-ref", "HEAD", "refs/heads/main")
    for number in range(FILES):
        folder = upstream / f"lib/part{number // 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"module{number}.py").write_text(
            f"value = {number}\n" + "# a line of a usual length, as code has it\n" * 60
        )
    (upstream / "lib/__init__.py").write_text("")
    (upstream / ".gitignore").write_text("__pycache__/\n*.egg-info/\n")
    for version in ("1.0", "2.0", "3.0"):
        (upstream / "pyproject.toml").write_text(PYPROJECT.format(version=version))
        for number in range(0, FILES, 25):
            path = upstream / f"lib/part{number // 100}/module{number}.py"
            path.write_text(path.read_text() + f"released = {version!r}\n")
        git(upstream, "add", "-A")
        git(upstream, "commit", "-q", "-m", version)
        git(upstream, "tag", f"v{version}")
    git(top, "clone", "-q", str(upstream), str(image / "src/lib"))
    git(image / "src/lib", "checkout", "-q", "v1.0")
    subprocess.run([sys.executable, "-m", "venv", str(image / "opt/venv")], check=True)
    # What the isolated build of an install needs, so that no timing depends on a network.
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(top / "wheels"), "setuptools>=70.1"]
    subprocess.run(fetch, check=True, stdout=subprocess.DEVNULL)
    site = next((image / "opt/venv/lib").glob("python3.*")) / "site-packages"
    for number in range(DISTRIBUTIONS):
        _distribution(site, f"dist{number}")


def _distribution(site: Path, name: str) -> None:
    info = site / f"{name}-1.0.dist-info"
    for folder in (info, site / name):
        folder.mkdir()
    lines = []
    for number in range(EACH):
        (site / name / f"m{number}.py").write_text(f"value = {number}\n")
        lines.append(f"{name}/m{number}.py,,")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/METADATA,,", f"{info.name}/RECORD,,", ""]))


def measure(top: Path) -> list[Cost]:
    outline(top)
    log, tools = top / "log", top / "bin"
    tools.mkdir()
    wrapped(tools / "git", str(shutil.which("git")), "git", log)
    wrapped(tools / "install", str(top / "image/opt/venv/bin/python"), "install", log)
    words = [str(tools / "install"), "-m", "pip", "install", "-e", ".", "--no-deps", "-q"]
    words += ["--no-index", "--find-links", str(top / "wheels")]
    (top / "project/regraft.toml").write_text(MANIFEST.format(install=json.dumps(words)))
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(top)}
    plans = []
    for ref in ("v2.0", "v3.0"):
        plans.append(top / f"{ref}.json")
        argv = [sys.executable, "-m", "regraft", "plan", "--image", "img", "--set", f"ci_lib_pr={ref}"]
        _run([*argv, "--output", str(plans[-1])], top, env)
    costs = []
    wrapper = wrapper_cost(tools / "git", top, env)
    for number in range(ROUNDS + 1):  # the first round fills the caches
        log.write_text("")
        argv = [sys.executable, "-m", "regraft", "apply", str(plans[number % 2]), "--root", str(top / "image")]
        begin = time.perf_counter()
        _run([*argv, "--no-snapshot", "--replace"], top, env)
        wall = time.perf_counter() - begin
        spent = {"git": 0, "install": 0}
        lines = log.read_text().splitlines()
        for line in lines:
            name, _, microseconds = line.partition(" ")
            spent[name] += int(microseconds)
        costs.append(Cost(wall - len(lines) * wrapper, spent["git"] / 1e6, spent["install"] / 1e6))
    return costs[1:]


def wrapper_cost(wrapper: Path, cwd: Path, env: Mapping[str, str]) -> float:
    """What one run of a program takes longer because it is taken down, in seconds."""
    programs = (str(wrapper), str(shutil.which("git")))
    runs = [[timed([program, "--version"], env, cwd) for program in programs] for _ in range(RUNS)]
    wrapped, plain = (statistics.median(column) for column in zip(*runs, strict=True))
    return max(0.0, wrapped - plain)


def timed(argv: list[str], env: Mapping[str, str], cwd: Path) -> float:
    """The wall time of one run, in seconds. Raises CalledProcessError where it failed: a failure is never fast."""
    begin = time.perf_counter()
    subprocess.run(argv, env=env, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - begin


def _run(argv: list[str], top: Path, env: dict[str, str]) -> None:
    done = subprocess.run(argv, cwd=top / "project", env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[3:5]} ended with {done.returncode}: {done.stderr}")


def median(costs: list[Cost]) -> Cost:
    """The round whose ratio is the middle one, or the better of the two middle ones."""
    ordered = sorted(costs, key=lambda cost: cost.ratio)
    middle = statistics.median_low([cost.ratio for cost in ordered])
    return next(cost for cost in ordered if cost.ratio == middle)
