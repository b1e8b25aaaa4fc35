"""Patch health along history, side by side with what people do instead: ratios that hold on every machine.

apply in a checkout    per commit: check the commit out, then `git apply --check` (and `--reverse --check`) of each patch;
                       measured on a sample of commits, and scaled
apply in an index      per commit: read its tree into a temporary index, and check those patches of whose files it holds
                       other content than any commit before it (what was asked once is remembered)
ours                   a state for every hunk, and the culprit of every change
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import patch_world as worlds

from regraft.adapters.git import Git
from regraft.adapters.upstream_cache import UpstreamCache
from regraft.adapters.upstream_history import UpstreamHistory
from regraft.adapters.verdict_memory import VerdictMemory, engine_digest
from regraft.core.patch_history import SeriesHistory
from regraft.core.patch_read import read_patch_text
from regraft.core.resolution import Remote
from regraft.flows.patch_history import walk

FEW, MANY, NEW = 500, 5_000, 10
SAMPLE = 10  # commits that are really checked out
ROUNDS = 3

OF_CHECKOUT = 1 / 60
OF_INDEX = 1 / 20
OF_FEW = 8.0
OF_FIRST = 1 / 3
MEGABYTES = 200
PROCESSES = 6
SLACK = 1.25  # of a busy machine

RECORDER = """\
#!/bin/sh
echo "$1 $2" >> {log}
exec {git} "$@"
"""


@dataclass
class Run:
    """One process that judged history: seconds of `walk` and all around it, its peak in megabytes, and what it found."""

    seconds: float
    megabytes: int
    commits: int
    touching: int
    judged: int
    hunks: int
    turns: int


def judge(repository: Path, patches: list[Path], folder: Path, last: int, back: int) -> SeriesHistory:
    """What a command does, from patch files to states: all of it but the start of an interpreter."""
    with Git(dict(os.environ)) as git:
        cache = UpstreamCache(git, folder / "cache", folder, {})
        upstream = cache.open(Remote(str(repository)))
        with (
            UpstreamHistory.reading(git, cache, upstream) as source,
            VerdictMemory.at(upstream.folder / "verdicts.sqlite") as memory,
        ):
            tip = upstream.refs["refs/heads/main"]
            for _ in range(back):
                tip = source.commit(tip).parents[0]
            texts = [read_patch_text(path.read_bytes(), exists=lambda _: True) for path in patches]
            return walk(texts, tip, source, last=last, recall=memory, engine=engine_digest())


def peak() -> int:
    """Megabytes that this process held at most. (What getrusage says of it begins with what its parent held.)"""
    [line] = [line for line in Path("/proc/self/status").read_text("ascii").splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) // 1024


def child(repository: str, folder: str, last: int, back: int) -> None:
    """The measured process: prints its `Run` as JSON."""
    patches = sorted(Path(folder, "patches").glob("*.patch"))
    begin = time.perf_counter()
    found = judge(Path(repository), patches, Path(folder), last, back)
    seconds = time.perf_counter() - begin
    megabytes = peak()
    hunks = sum(len(file.hunks) for one in found.patches for file in one.now.files)
    turns = sum(len(one.turns) for one in found.patches)
    run = Run(seconds, megabytes, found.commits, found.touching, found.judged, hunks, turns)
    print(json.dumps(asdict(run)))


def ours(repository: Path, folder: Path, last: int, back: int = 0, *, path: str = "") -> Run:
    argv = [sys.executable, __file__, "child", str(repository), str(folder), str(last), str(back)]
    env = {**os.environ, "PATH": path or os.environ["PATH"]}
    return Run(**json.loads(subprocess.run(argv, env=env, check=True, stdout=subprocess.PIPE).stdout))


def forget(folder: Path) -> None:
    shutil.rmtree(folder / "cache", ignore_errors=True)


def probe(folder: Path, patches: list[Path], *extra: str, index: Path | None = None) -> None:
    """The usual one of every patch: does it apply, else does it reverse?"""
    env = {**worlds.ENVIRONMENT, **({"GIT_INDEX_FILE": str(index)} if index else {})}
    for path in patches:
        for direction in ((), ("--reverse",)):
            argv = ["git", "apply", "--check", *extra, *direction, str(path)]
            done = subprocess.run(argv, cwd=folder, env=env, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                break


def in_checkout(repository: Path, folder: Path, patches: list[Path], commits: list[str]) -> float:
    """Seconds for `FEW` commits, from those of a sample."""
    tree = folder / "tree"
    worlds.git(folder, "clone", "--quiet", "--shared", str(repository), str(tree))
    worlds.git(tree, "checkout", "--quiet", "--detach", commits[-1])
    step = len(commits) // SAMPLE
    sample = list(reversed(commits))[step - 1 :: step][:SAMPLE]
    begin = time.perf_counter()
    for commit in sample:
        worlds.git(tree, "checkout", "--quiet", "--detach", commit)
        probe(tree, patches)
    return (time.perf_counter() - begin) * len(commits) / len(sample)


def in_index(repository: Path, folder: Path, patches: list[Path], commits: list[str]) -> float:
    """Seconds for all the commits."""
    index = folder / "index"
    named = {
        path: {line[6:] for line in path.read_bytes().split(b"\n") if line.startswith(b"+++ b/")} for path in patches
    }
    seen: set[tuple[Path, frozenset[bytes]]] = set()
    begin = time.perf_counter()
    for commit in commits:
        worlds.git(repository, "read-tree", commit, extra={"GIT_INDEX_FILE": str(index)})
        listing = worlds.git(repository, "ls-files", "--stage", "-z", extra={"GIT_INDEX_FILE": str(index)})
        entries = {line.partition(b"\t")[2]: line for line in listing.split(b"\0")}
        held = {path: frozenset(entries[name] for name in names if name in entries) for path, names in named.items()}
        fresh = [path for path in patches if (path, held[path]) not in seen]
        seen.update((path, held[path]) for path in fresh)
        probe(repository, fresh, "--cached", index=index)
    return time.perf_counter() - begin


def count_processes(repository: Path, folder: Path) -> int:
    log = folder / "git.log"
    wrapper = folder / "bin/git"
    wrapper.parent.mkdir(exist_ok=True)
    wrapper.write_text(RECORDER.format(log=log, git=shutil.which("git")), "utf-8")
    wrapper.chmod(0o755)
    ours(repository, folder, FEW, path=f"{wrapper.parent}:{os.environ['PATH']}")
    return len([line for line in log.read_text("utf-8").splitlines() if not line.startswith("ls-remote")])


@dataclass
class Row:
    name: str
    value: str
    ratio: float
    bound: float


def best(measure: Callable[[], Run]) -> Run:
    return min((measure() for _ in range(ROUNDS)), key=lambda run: run.seconds)


def measure(folder: Path) -> list[Row]:
    world = worlds.make(folder / "world")
    repository = world.repository
    (folder / "patches").mkdir()
    patches = [folder / f"patches/{number:02}.patch" for number in range(len(world.patches))]
    for path, data in zip(patches, world.patches, strict=True):
        path.write_bytes(data)
    commits = worlds.git(repository, "rev-list", "--first-parent", f"--max-count={FEW}", "main").decode().split()

    def first(last: int, back: int = 0) -> Run:
        forget(folder)
        return ours(repository, folder, last, back)

    checkout = in_checkout(repository, folder, patches, commits)
    few = best(lambda: first(FEW))
    index = in_index(repository, folder, patches, commits)
    few = min(few, best(lambda: first(FEW)), key=lambda run: run.seconds)
    many = best(lambda: first(MANY))

    def second() -> Run:
        first(FEW, NEW)
        return ours(repository, folder, FEW)

    again = best(second)
    forget(folder)
    processes = count_processes(repository, folder)
    highest = max(run.megabytes for run in (few, many, again))
    print(
        f"{few.commits} commits, {few.touching} touch {len(patches)} patches with {few.hunks} hunks; {few.turns} changes of state"
    )
    print(f"{many.commits} commits, {many.touching} touch them; {many.turns} changes of state")
    return [
        Row(
            f"{FEW} commits, of checkout and apply ({checkout:.1f} s, scaled from {SAMPLE})",
            _ms(few),
            few.seconds / checkout,
            OF_CHECKOUT,
        ),
        Row(f"{FEW} commits, of a memoised apply in an index ({index:.1f} s)", _ms(few), few.seconds / index, OF_INDEX),
        Row(f"{MANY} commits, of {FEW}", _ms(many), many.seconds / few.seconds, OF_FEW),
        Row(f"{NEW} new commits, of the first run", _ms(again), again.seconds / few.seconds, OF_FIRST),
        Row("peak memory, MB of the bound", f"{highest} MB", highest / MEGABYTES, 1.0),
        Row("git processes per ref, of the bound", str(processes), processes / PROCESSES, 1.0),
    ]


def _ms(run: Run) -> str:
    return f"{run.seconds * 1000:.0f} ms"


def report(rows: list[Row]) -> int:
    """Print the table; 1 where a ratio is above its bound and the slack."""
    print(f"{'patch health':<72}{'':>9}{'ratio':>9}{'bound':>9}")
    broken = [row for row in rows if row.ratio > row.bound * (SLACK if row.bound != 1.0 else 1.0)]
    for row in rows:
        print(f"{row.name:<72}{row.value:>9}{row.ratio:>9.4f}{row.bound:>9.4f}")
    for row in broken:
        print(f"{row.name}: {row.ratio:.4f}, and the bound is {row.bound:.4f} (slack {SLACK})", file=sys.stderr)
    return int(bool(broken))


def main() -> int:
    import patch_real  # noqa: PLC0415 - which needs this module

    with tempfile.TemporaryDirectory(prefix="regraft-bench-") as name:
        folder = Path(name).resolve()
        (folder / "real").mkdir()
        return report(measure(folder)) | patch_real.main(folder / "real")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        raise SystemExit(main())
