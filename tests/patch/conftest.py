"""An upstream with a history, a project that carries patches on it, and the command line over both."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from regraft.cli.main import main

ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}
Tree = dict[str, str | None]


@dataclass
class History:
    """A bare repository. Each commit is one git process."""

    path: Path
    heads: dict[str, str] = field(default_factory=dict)
    stamp: int = 1_700_000_000

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=ENV, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return done.stdout

    def commit(self, files: Tree, message: str = "m", *, branch: str = "main", parents: tuple[str, ...] = ()) -> str:
        """On top of `branch`, or of `parents`; None deletes a file. Returns the hash."""
        self.stamp += 86_400
        text = message.encode()
        parents = parents or tuple(filter(None, (self.heads.get(branch),)))
        lines = [f"commit refs/heads/{branch}", "mark :1", f"committer A <a@example.org> {self.stamp} +0000"]
        lines += [f"data {len(text)}", message]
        lines += [f"{'merge' if at else 'from'} {parent}" for at, parent in enumerate(parents)]
        for path, content in files.items():
            if content is None:
                lines.append(f"D {path}")
            else:
                lines += [f"M 100644 inline {path}", f"data {len(content.encode())}", content]
        stream = "\n".join([*lines, "", "get-mark :1", ""]).encode()
        self.heads[branch] = self.git("fast-import", "--quiet", "--force", stdin=stream).decode().strip()
        return self.heads[branch]

    def tag(self, name: str, commit: str) -> None:
        self.git("update-ref", f"refs/tags/{name}", commit)


def numbered(count: int = 40, **changed: str) -> str:
    """Lines `line 1` to `line N`; `l7="x"` puts another in place of the seventh."""
    return "".join(changed.get(f"l{at}", f"line {at}") + "\n" for at in range(1, count + 1))


@dataclass
class Lab:
    root: Path
    upstream: History
    scratch: History
    capsys: pytest.CaptureFixture[str]

    @property
    def project(self) -> Path:
        return self.root / "project"

    def diff(self, before: Tree, after: Tree, *options: str) -> str:
        """What `git diff` says, with index lines, made where upstream does not see it. `after`: what changes."""
        old = self.scratch.commit(before, branch="x")
        new = self.scratch.commit(after, branch="x")
        self.scratch.heads.clear()
        return self.scratch.git("diff-tree", "-p", "--full-index", *options, old, new).decode()

    def carry(self, patches: dict[str, str], extra: str = "", image: str = "", more: str = "") -> None:
        """A project whose image carries them, in this order. `extra` goes to the dependency, `more` to the end."""
        self.project.mkdir(exist_ok=True)
        for path, text in patches.items():
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_bytes(text.encode())
        listed = ", ".join(json.dumps(path) for path in patches)
        manifest = f"""\
[project]
name = "p"

[dependencies.dep]
url = "../upstream.git"
branch = "main"
{extra}
[images.i]
{image}
[images.i.baked.dep]
path = "/dep"
patches = [{listed}]
{more}
"""
        (self.project / "regraft.toml").write_text(manifest)

    def track(self) -> None:
        """Have the project in a repository of its own, as `drop` needs it."""
        for words in (["init", "--quiet"], ["add", "-A"]):
            subprocess.run(["git", *words], cwd=self.project, env=ENV, check=True)

    def run(self, *words: str) -> tuple[int, str, str]:
        """`regraft patch WORDS` in the project: exit code, standard output and error."""
        self.capsys.readouterr()
        code = main(["patch", *words, "--project", str(self.project)])
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str) -> Any:
        _, out, _ = self.run(*words, "--format", "json")
        return json.loads(out)

    def row(self, *words: str) -> Any:
        """The only one."""
        [row] = self.json(*words)
        return row


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Lab]:
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITHUB_", "XDG_", "REGRAFT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REGRAFT_CACHE", str(tmp_path / "cache"))
    repositories = []
    for name in ("upstream.git", "scratch.git"):
        subprocess.run(["git", "init", "--quiet", "--bare", "--template=", name], cwd=tmp_path, env=ENV, check=True)
        subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=tmp_path / name, env=ENV, check=True)
        repositories.append(History(tmp_path / name))
    yield Lab(tmp_path, *repositories, capsys)
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


@pytest.fixture
def lines() -> Callable[..., str]:
    return numbered
