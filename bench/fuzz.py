"""Patches against trees, by the thousand: what regraft says of each, and whether git agrees. `make fuzz`.

Every case has a folder of its own in one tree, so that one `git diff` writes all patches and one `git apply --check` judges all of them: it goes on
after a section that fails, and names its path. What regraft says applies is then applied, all at once, and every name of the result is compared.
"""

import argparse
import collections
import itertools
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz_cases import QUOTAS, Case, Maker, Tree

from regraft.core.checkout_tree import object_hash
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.series_state import judge_series
from regraft.core.tree_view import Overlay, TreeView, oid_of
from regraft.core.trees import Entry

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C",
}
OPTIONS = (
    ["-U3"],
    ["-U3"],
    ["-U3"],
    ["-U3"],
    ["-U1"],
    ["-U1"],
    ["-U0"],
    ["-U2", "--no-renames"],
    ["-U3", "-C", "--find-copies-harder"],
)
BATCH = 400
STRICTER = re.compile(
    r"probably a new file|would make a new file|is a symbolic link now|Git LFS pointer"
)  # where regraft stops on purpose, and git goes on


@dataclass
class Trial:
    """A case, its patches, and what regraft says."""

    name: str
    case: Case
    patches: list[bytes]
    texts: list[PatchText] = field(default_factory=list)
    verdicts: Sequence[PatchVerdict] = ()
    overlay: Overlay | None = None


@dataclass
class Lie:
    what: str
    trial: Trial
    number: int

    def __str__(self) -> str:
        case, verdict = self.trial.case, self.trial.verdicts[self.number]
        parts = [f"LIE: {self.what} (kind {case.kind}, patch {self.number + 1}): {verdict.state}: {verdict.reason}"]
        parts += [f"  now {path}: {value!r}" for path, value in case.now.items()]
        parts += [f"  patch {number}: {data!r}" for number, data in enumerate(self.trial.patches, 1)]
        return "\n".join(parts)


class Oracle:
    """One scratch repository, and git in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        folder.mkdir()
        self.run("init", "--quiet", "--bare", str(folder))
        self.index = {"GIT_INDEX_FILE": str(folder / "fuzz-index")}

    def run(self, *argv: str, stdin: bytes = b"", okay: Iterable[int] = (0,)) -> subprocess.CompletedProcess[bytes]:
        environment = ENVIRONMENT | {"GIT_DIR": str(self.path)} | getattr(self, "index", {})
        done = subprocess.run(
            ["git", *argv], cwd=self.path, env=environment, input=stdin, capture_output=True, check=False
        )
        if done.returncode not in okay:
            raise SystemExit(f"git {argv}: {done.stderr[-2000:].decode(errors='replace')}")
        return done

    def commits(self, trees: Sequence[dict[str, Tree]]) -> list[str]:
        """A commit for each, made by one process."""
        stream: list[bytes] = []
        for mark, folders in enumerate(trees, 1):
            stream.append(
                b"commit refs/heads/t%d\nmark :%d\ncommitter A <a@b> 1 +0000\ndata 0\ndeleteall\n" % (mark, mark)
            )
            for folder, tree in folders.items():
                for path, (mode, content) in tree.items():
                    stream.append(
                        b"M %s inline %s/%s\ndata %d\n%s\n"
                        % (mode.encode(), folder.encode(), path.encode(), len(content), content)
                    )
        stream += [b"get-mark :%d\n" % mark for mark in range(1, len(trees) + 1)]
        return self.run("fast-import", "--quiet", "--force", stdin=b"".join(stream)).stdout.decode().split()

    def diff(self, old: str, new: str, options: Sequence[str]) -> dict[str, bytes]:
        """The diff of each folder."""
        text = self.run("diff", "--binary", "--full-index", "-M", "-l0", *options, old, new).stdout
        found: dict[str, bytes] = collections.defaultdict(bytes)
        crossed: set[str] = set()
        for part in re.split(rb"(?m)^(?=diff --git )", text)[1:]:
            names = [name.decode() for name in re.findall(rb"\b(c\d+)/", part.partition(b"\n@@")[0])]
            crossed |= set(names) if len(set(names)) > 1 else set()  # a rename from one case to another
            found[names[0]] += part
        return {name: data for name, data in found.items() if name not in crossed}

    def check(self, patches: dict[str, bytes]) -> set[str] | None:
        """The folders whose patch git refuses; None where it cannot read one of them."""
        done = self.run("apply", "--cached", "--check", "-", stdin=b"\n".join(patches.values()), okay=(0, 1, 128))
        if done.returncode == 128:
            return None
        return {
            name.decode()
            for line in done.stderr.split(b"\n")
            if line.startswith(b"error: ")
            for name in re.findall(rb"\bc\d+(?=/)", line)
        }

    def apply(self, data: bytes) -> bool:
        return self.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=data, okay=(0, 1, 128)).returncode == 0

    def entries(self) -> dict[str, dict[str, tuple[str, str]]]:
        found: dict[str, dict[str, tuple[str, str]]] = collections.defaultdict(dict)
        for record in self.run("ls-files", "-s", "-z").stdout.split(b"\0")[:-1]:
            meta, _, path = record.decode().partition("\t")
            mode, oid, _ = meta.split(" ")
            found[path.partition("/")[0]][path] = (mode, oid)
        return found


def oid(content: bytes) -> str:
    return object_hash("blob", len(content), [content], sha256=False).hex()


def plain(data: bytes) -> bytes:
    """The same diff as `diff -u` writes it."""
    return b"".join(
        line
        for line in data.splitlines(keepends=True)
        if not re.match(rb"diff --git |index |(?:new|deleted) file mode ", line)
    )


def patches_of(case: Case, diffs: Sequence[bytes]) -> list[bytes]:
    made = [
        plain(one) if case.plain and b"GIT binary patch" not in one and b"old mode" not in one else one for one in diffs
    ]
    made = [one for one in made if one]
    if case.joined and made:
        made = [b"".join(made)]
    return [case.damage(one) for one in made] if case.damage else made


def judged(trial: Trial) -> None:
    """What regraft says, in memory."""
    case = trial.case
    blobs = {oid(content): content for _, content in case.now.values()}
    entries = {}
    for path, (mode, content) in case.now.items():
        name = f"{trial.name}/{path}".encode()
        entries[name] = Entry(mode, "blob", oid(content), name)
    known = dict(blobs)
    if case.base:
        known |= {oid(content): content for step in case.steps for _, content in step.values()}

    def blob(begin: str) -> bytes | None:
        return next((content for name, content in known.items() if name.startswith(begin)), None)

    view = TreeView(entries, blobs.__getitem__, blob)
    trial.texts = [read_patch_text(data, strip=1, exists=entries.__contains__) for data in trial.patches]
    series = judge_series(trial.texts, view)
    trial.verdicts, trial.overlay = series.patches, series.overlay


def batch(oracle: Oracle, maker: Maker, kinds: Sequence[str], first: int, options: Sequence[str]) -> list[Trial]:
    cases = {}
    for number, kind in enumerate(kinds, first):
        cases[f"c{number}"] = maker.case(kind, number)
        cases[f"c{number}"].kind = kind
    most = max(len(case.steps) for case in cases.values())
    layers = [{name: case.steps[min(at, len(case.steps) - 1)] for name, case in cases.items()} for at in range(most)]
    *steps, now = oracle.commits([*layers, {name: case.now for name, case in cases.items()}])
    diffs = [oracle.diff(old, new, options) for old, new in itertools.pairwise(steps)]
    trials = []
    for name, case in cases.items():
        patches = patches_of(case, [one.get(name, b"") for one in diffs])
        if patches:
            trials.append(Trial(name, case, patches))
    oracle.run("read-tree", now)
    return trials


def compare(oracle: Oracle, trials: Sequence[Trial]) -> list[Lie]:
    """Patch by patch of the series: does git take it, and does it make the same of it?"""
    lies = []
    for number in range(max(len(trial.patches) for trial in trials)):
        here = [trial for trial in trials if number < len(trial.patches)]
        readable = {one.name: one.patches[number] for one in here if one.verdicts[number].state != "unreadable"}
        refused = refusals(oracle, readable)
        apply_all(oracle, here, number, refused)
        for trial in here:
            taken = None if trial.name not in readable else trial.name not in refused
            if what := contradiction(oracle, trial, number, taken):
                lies.append(Lie(what, trial, number))
    found = oracle.entries()
    lies += [Lie("another result than git's", trial, 0) for trial in trials if not same_tree(trial, found[trial.name])]
    return lies


def refusals(oracle: Oracle, patches: dict[str, bytes]) -> set[str]:
    """Which of the patches git refuses; one by one where it cannot read them all together."""
    if not patches:
        return set()
    refused = oracle.check(patches)
    if refused is not None:
        return refused
    if len(patches) == 1:
        return set(patches)
    names = list(patches)
    half = len(names) // 2
    return refusals(oracle, {name: patches[name] for name in names[:half]}) | refusals(
        oracle, {name: patches[name] for name in names[half:]}
    )


def apply_all(oracle: Oracle, trials: Sequence[Trial], number: int, refused: set[str]) -> None:
    ready = [one for one in trials if one.verdicts[number].state == "applies" and one.name not in refused]
    if ready and not oracle.apply(b"\n".join(one.patches[number] for one in ready)):
        for one in ready:
            if not oracle.apply(one.patches[number]):
                refused.add(one.name)


def contradiction(oracle: Oracle, trial: Trial, number: int, taken: bool | None) -> str | None:
    """What of a verdict git contradicts. `taken`: whether git takes the patch; None: regraft calls it unreadable."""
    verdict, case = trial.verdicts[number], trial.case
    reason = verdict.reason or ""
    if verdict.state == "unreadable":
        return None
    if verdict.state == "applies" and not taken:
        return "applies, and git refuses it"
    lenient = verdict.state in ("applies", "already-there") or "ambiguous" in reason or STRICTER.search(reason)
    if taken and not lenient:
        done = oracle.run("apply", "--cached", "-", stdin=trial.patches[number], okay=(0, 1, 128))
        if done.returncode == 0:
            return "git takes it"
    return meaning(case, trial.texts[number], verdict) if len(case.steps) == 2 and not case.damage else None


def meaning(case: Case, text: PatchText, verdict: PatchVerdict) -> str | None:
    """What the trees themselves contradict."""
    old, new = case.steps
    adds = all(any(line.startswith(b"+") for line in hunk.body) for one in text.sections for hunk in one.hunks)
    touched = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
    if verdict.state == "already-there" and all(case.now.get(path) == old.get(path) for path in touched):
        return "already there, and nothing of it is"
    modes = any(old[path][1] == new[path][1] for path in touched & old.keys() & new.keys())
    if verdict.state in ("applies", "partial") and not modes and case.now == new and adds:
        return "applies, and all of it is there"
    return None


def same_tree(trial: Trial, found: dict[str, tuple[str, str]]) -> bool:
    assert trial.overlay is not None
    entries = (trial.overlay.entry(path) for path in trial.overlay.paths())
    ours = {entry.name: (entry.mode, oid_of(trial.overlay, entry)) for entry in entries if entry is not None}
    return ours == found


def run(seed: int, count: int, out: Path | None = None) -> tuple[collections.Counter[str], list[str]]:
    """`count` cases from this seed: how many of each state and of each kind with each state, and the lies."""
    kinds = [kind for kind, share in QUOTAS.items() for _ in range(share)]
    source, maker = random.Random(seed), Maker(seed)
    counts: collections.Counter[str] = collections.Counter()
    lies: list[str] = []
    with tempfile.TemporaryDirectory(prefix="regraft-fuzz-", dir=out) as folder:
        for number, first in enumerate(range(1, count + 1, BATCH)):
            oracle = Oracle(Path(folder, f"r{number}"))
            chosen = [kinds[(first + at) % len(kinds)] for at in range(min(BATCH, count - first + 1))]
            trials = batch(oracle, maker, chosen, first, source.choice(OPTIONS))
            for trial in trials:
                judged(trial)
                for verdict in trial.verdicts:
                    ambiguous = verdict.state == "conflict" and "ambiguous" in (verdict.reason or "")
                    state = "conflict (ambiguous)" if ambiguous else verdict.state
                    counts.update((state, f"{trial.case.kind:14} {state}", "patches"))
            counts["pairs"] += len(trials)
            lies += map(str, compare(oracle, trials))
            subprocess.run(["rm", "-rf", str(oracle.path)], check=True)
    return counts, lies


def job(arguments: tuple[int, int]) -> tuple[collections.Counter[str], list[str]]:
    return run(*arguments)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=110_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    size = min(4000, max(BATCH, -(-arguments.cases // arguments.jobs)))
    work = [(arguments.seed * 1000 + at, size) for at in range(-(-arguments.cases // size))]
    started = time.monotonic()
    counts: collections.Counter[str] = collections.Counter()
    lies: list[str] = []
    with multiprocessing.Pool(arguments.jobs) as pool:
        for found, wrong in pool.imap_unordered(job, work):
            counts.update(found)
            lies += wrong
    print(
        f"seed {arguments.seed}: {counts['pairs']} pairs, {counts['patches']} patches, {time.monotonic() - started:.0f} s"
    )
    for name, number in sorted(counts.items()):
        print(f"{number:8} {name}")
    for lie in lies[:20]:
        print(lie)
    print(f"{len(lies)} lies")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
