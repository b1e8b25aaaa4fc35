"""A repository as a dictionary of files, read by `init`: its manifest, its text, and the questions in it."""

import textwrap
from collections.abc import Callable, Mapping

import pytest

from regraft.core.init_questions import QUESTION
from regraft.core.manifest import Manifest
from regraft.core.manifest_reader import read_manifest
from regraft.flows.init import Proposed, compare, propose


class Repository:
    """`flows.ports.ListedFiles` over a dictionary."""

    def __init__(self, files: Mapping[str, str], folder: str = "project") -> None:
        self.files = {path: textwrap.dedent(text).lstrip("\n").encode() for path, text in files.items()}
        self.folder = folder

    def read(self, path: str, limit: int) -> bytes | None:  # noqa: ARG002 - the port has it
        return self.files.get(path)

    def names(self, folder: str) -> tuple[str, ...]:
        start = f"{folder}/" if folder else ""
        return tuple(sorted(p[len(start) :] for p in self.files if p.startswith(start) and "/" not in p[len(start) :]))

    def place(self, path: str) -> str:
        return path

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def exists(self, path: str) -> bool:
        return path in self.files

    def propose(self) -> Proposed:
        return propose(self)

    def manifest(self) -> Manifest:
        return read_manifest(self.propose().text)

    def questions(self) -> dict[str, str]:
        """key path -> what is asked; of several on one key the texts together."""
        found: dict[str, str] = {}
        for line in self.propose().text.decode().split("\n"):
            if line.startswith(QUESTION):
                key, _, text = line.removeprefix(QUESTION).partition(": ")
                found[key] = f"{found[key]}\n{text}" if key in found else text
        return found

    def differences(self, manifest: str | None = None) -> list[tuple[str, str]]:
        """(rule, place) of what a manifest (None: the proposed one) and the repository say differently."""
        text = self.propose().text if manifest is None else textwrap.dedent(manifest).lstrip("\n").encode()
        other = Repository({}, self.folder)
        other.files = {**self.files, "regraft.toml": text}
        return [(one.rule, f"{one.path}:{one.line}") for one in compare(other).findings]


Build = Callable[..., Repository]


@pytest.fixture
def repository() -> Build:
    """`repository({path: text})`, or `repository(Dockerfile="…", **{"a.patch": "…"})`."""

    def build(files: Mapping[str, str] | None = None, **named: str) -> Repository:
        return Repository({**(files or {}), **named})

    return build


def edit(path: str, old: str = "a", new: str = "b") -> str:
    """A patch that edits one line of a file."""
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


@pytest.fixture
def patch() -> Callable[..., str]:
    return edit
