"""An upstream repository made from sdists: a commit and a tag for each release, and pull requests beside them.

The same sdists give the same hashes on every machine: people are fixed, and a commit's time is that of the newest file
in its sdist. The files go from the archive to `git fast-import`; nothing is unpacked.
"""

import os
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PERSON = "Upstream <upstream@example.org>"
IGNORED = b"__pycache__/\n*.egg-info/\n"  # a repository has such a file, and sdists leave it out
LIMIT = 8 * 1024 * 1024  # bytes of one file
GENERATED = re.compile(r"PKG-INFO|(.*/)?[^/]+\.egg-info/.*")


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request on top of `release`: in the file `path`, `old`, which stands there once, becomes `new`."""

    number: int
    release: str
    path: str
    old: str
    new: str
    title: str


@dataclass(frozen=True, slots=True)
class Release:
    version: str
    time: int  # seconds since 1970
    files: Mapping[str, tuple[str, bytes]]  # path -> git's mode, content


def read_sdist(path: Path) -> Release:
    """Raises ValueError where the archive holds anything that an sdist of plain files does not."""
    files = {}
    newest = 0
    with tarfile.open(path) as archive:
        for member in archive:
            top, _, name = member.name.partition("/")
            if member.isdir():
                continue
            if not member.isfile() or not name or member.size > LIMIT or ".." in PurePosixPath(member.name).parts:
                raise ValueError(f"{path.name}: no plain file of an sdist: {member.name!r:.200}")
            newest = max(newest, int(member.mtime))
            stream = archive.extractfile(member)
            if stream and not GENERATED.fullmatch(name):
                files[name] = ("100755" if member.mode & 0o100 else "100644", stream.read())
    if not files:
        raise ValueError(f"{path.name}: an sdist without files")
    return Release(top.rpartition("-")[2], newest, {".gitignore": ("100644", IGNORED), **files})


def build(bare: Path, sdists: Sequence[Path], pulls: Sequence[Pull] = ()) -> list[str]:
    """Make the bare repository `bare`, with `main` at the last of `sdists`, in their order; the versions.

    Raises ValueError for an sdist or a pull request that does not fit, CalledProcessError where git fails.
    """
    releases = [read_sdist(path) for path in sdists]
    stream = b"".join(_release(number, release) for number, release in enumerate(releases, 1))
    stream += b"".join(_pull(pull, releases) for pull in pulls)
    bare.mkdir(parents=True)
    _git(bare, "init", "--quiet", "--bare", "--template=")
    _git(bare, "symbolic-ref", "HEAD", "refs/heads/main")
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        _git(bare, "config", setting, "true")
    _git(bare, "fast-import", "--quiet", stdin=stream)
    return [release.version for release in releases]


def _release(number: int, release: Release) -> bytes:
    head = _head("refs/heads/main", number, release.time, f"Release {release.version}")
    parent = f"from :{number - 1}\n" if number > 1 else ""
    files = b"".join(_file(path, mode, content) for path, (mode, content) in sorted(release.files.items()))
    tag = f"tag {release.version}\nfrom :{number}\ntagger {PERSON} {release.time} +0000\n".encode()
    return head + parent.encode() + b"deleteall\n" + files + tag + _data(f"Release {release.version}".encode())


def _pull(pull: Pull, releases: Sequence[Release]) -> bytes:
    number = [release.version for release in releases].index(pull.release)
    mode, content = releases[number].files[pull.path]
    if content.count(pull.old.encode()) != 1:
        raise ValueError(f"pull request {pull.number}: {pull.path} of {pull.release} does not hold its text once")
    head = _head(f"refs/pull/{pull.number}/head", None, releases[number].time + 3600, pull.title)
    changed = content.replace(pull.old.encode(), pull.new.encode())
    return head + f"from :{number + 1}\n".encode() + _file(pull.path, mode, changed)


def _head(ref: str, mark: int | None, time: int, message: str) -> bytes:
    marked = f"mark :{mark}\n" if mark else ""
    return f"commit {ref}\n{marked}committer {PERSON} {time} +0000\n".encode() + _data(message.encode())


def _file(path: str, mode: str, content: bytes) -> bytes:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'M {mode} inline "{quoted}"\n'.encode() + _data(content)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _git(bare: Path, *arguments: str, stdin: bytes = b"") -> None:
    nobody = {"HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env = {"PATH": os.environ.get("PATH", os.defpath), **nobody}
    subprocess.run(["git", *arguments], cwd=bare, env=env, input=stdin, check=True)
