"""The same on a real upstream: releases of Megatron Core from the registry, a commit each, and patches of our own over the first."""

import subprocess
import sys
import tarfile
import time
from pathlib import Path

import patch_world as worlds

import patch as side_by_side

PACKAGE = "megatron-core"
RELEASES = ("0.10.0", "0.11.0", "0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.16.0")
PATCHES, FILES, EVERY = 6, 8, 45  # files of a patch; a line of so many is changed
BOUND = 1.0  # of a checkout and `git apply --check` a release: every release rewrites what the one before had


def fetched(folder: Path) -> list[Path] | None:
    """The source archives, or None where the registry does not have them or does not answer."""
    found = []
    for release in RELEASES:
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", PACKAGE]
        argv += ["--retries", "1", "--dest", str(folder), f"{PACKAGE}=={release}"]
        if subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        found += [path for path in folder.glob("*.tar.gz") if path not in found]
    return found


def files_of(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        members = [member for member in tar.getmembers() if member.isfile() and "/" in member.name]
        opened = ((member.name.partition("/")[2], tar.extractfile(member)) for member in members)
        return {name: stream.read() for name, stream in opened if stream is not None}


def upstream(folder: Path, releases: list[dict[str, bytes]]) -> Path:
    """A commit a release, and branches `carried0` … on the first."""
    repository = folder / "upstream.git"
    repository.mkdir()
    worlds.git(repository, "init", "--quiet", "--bare", "--template=", ".")
    worlds.git(repository, "symbolic-ref", "HEAD", "refs/heads/main")
    stream: list[bytes] = []
    for number, files in enumerate(releases, 1):
        stream += _commit("main", number, RELEASES[number - 1], number - 1 or None)
        stream.append(b"deleteall\n")
        stream += [_file(name, data) for name, data in sorted(files.items())]
    chosen = [name for name, data in sorted(releases[0].items()) if name.endswith(".py") and data.count(b"\n") > 90]
    mark = 1
    for number in range(PATCHES):
        mark_before, mark = mark, len(releases) + number + 1
        stream += _commit(f"carried{number}", mark, f"carry {number}", mark_before)
        stream += [_file(name, _edited(releases[0][name])) for name in chosen[number::PATCHES][:FILES]]
    worlds.git(repository, "fast-import", "--quiet", stdin=b"".join(stream))
    return repository


def _commit(branch: str, mark: int, said: str, parent: int | None) -> list[bytes]:
    head = f"commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@example.org> {1_600_000_000 + mark} +0000\n"
    return [f"{head}data {len(said)}\n{said}\n".encode(), f"from :{parent}\n".encode() if parent else b""]


def _file(name: str, data: bytes) -> bytes:
    return f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"


def _edited(data: bytes) -> bytes:
    lines = data.split(b"\n")
    for at in range(30, len(lines) - 5, EVERY):
        lines[at] += b"  # carried"
    return b"\n".join(lines)


def taken_by_git(tree: Path, patches: list[Path], commit: str) -> list[bool]:
    worlds.git(tree, "checkout", "--quiet", "--detach", commit)
    argv = ["git", "apply", "--check"]
    return [
        subprocess.run(
            [*argv, str(path)], cwd=tree, env=worlds.ENVIRONMENT, stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
        for path in patches
    ]


def states(repository: Path, patches: list[Path], folder: Path, commits: list[str]) -> list[list[str]]:
    """Per release, oldest first, the state of each patch, from what changed between them."""
    found = side_by_side.judge(repository, patches, folder, len(commits), 0)
    table = []
    for commit in commits:
        row = []
        for one in found.patches:
            newer = [turn for turn in one.turns if commits.index(turn.by.commit) > commits.index(commit)]
            row.append(newer[-1].before.state if newer else one.now.state)
        table.append(row)
    return table


def main(folder: Path) -> int:
    """Print what was measured; 1 where git disagrees, or the bound is broken."""
    archives = fetched(folder)
    if archives is None:
        print(f"{PACKAGE}: the registry does not answer; left out")
        return 0
    repository = upstream(folder, [files_of(path) for path in archives])
    (folder / "patches").mkdir()
    patches = []
    for number in range(PATCHES):
        path = folder / f"patches/{number}.patch"
        before = f"carried{number - 1}" if number else f"main~{len(archives) - 1}"
        path.write_bytes(worlds.git(repository, "diff", "--full-index", before, f"carried{number}"))
        patches.append(path)
    commits = worlds.git(repository, "rev-list", "--first-parent", "--reverse", "main").decode().split()
    tree = folder / "tree"
    worlds.git(folder, "clone", "--quiet", "--shared", "--no-checkout", str(repository), str(tree))
    begin = time.perf_counter()
    taken = [taken_by_git(tree, patches, commit) for commit in commits]
    theirs = time.perf_counter() - begin
    table = states(repository, patches, folder, commits)
    side_by_side.forget(folder)
    run = side_by_side.ours(repository, folder, len(commits))
    print(f"{PACKAGE}, {len(commits)} releases, {PATCHES} patches with {run.hunks} hunks; {run.turns} changes of state")
    wrong = 0
    for release, row, git in zip(RELEASES, table, taken, strict=True):
        print(f"  {release:<8}" + "".join(f"{state:<15}" for state in row))
        # What git takes is `applies` or, away from its own line at several places, an ambiguous conflict: here never unknown.
        wrong += sum((state == "applies") and not fits for state, fits in zip(row, git, strict=True))
    ratio = run.seconds / theirs
    print(
        f"{'ours, of a checkout and git apply --check a release':<72}{run.seconds * 1000:>6.0f} ms{ratio:>9.4f}{BOUND:>9.4f}"
    )
    if wrong:
        print(f"{wrong} states say `applies` where git does not take the patch", file=sys.stderr)
    return int(bool(wrong) or ratio > BOUND * side_by_side.SLACK)
