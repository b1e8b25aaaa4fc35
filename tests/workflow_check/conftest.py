"""A repository in memory, checked."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from regraft.core.findings import Finding
from regraft.core.manifest_reader import read_manifest
from regraft.core.workflow_rules import RULES
from regraft.flows.workflow_check import Asked, workflow_check
from regraft.flows.workflow_load import load

Found = Callable[..., list[Finding]]


class MemoryFiles:
    """`regraft.flows.ports.ListedFiles` over texts by path."""

    folder = "project"

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {path: text.encode() for path, text in texts.items()}

    def place(self, path: str) -> str:
        return path

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._texts))

    def exists(self, path: str) -> bool:
        return path in self._texts

    def names(self, folder: str) -> tuple[str, ...]:
        return tuple(path.rpartition("/")[2] for path in self.paths() if path.rpartition("/")[0] == folder)

    def read(self, path: str, limit: int) -> bytes | None:
        data = self._texts.get(path)
        assert data is None or len(data) <= limit
        return data


@pytest.fixture
def found() -> Found:
    """`found(texts by path, *rules)`: what those rules (all where none is named) find in such a repository.

    A path without a folder that ends in .yml is one below .github/workflows. `regraft.toml` is the manifest.
    """

    def find(texts: Mapping[str, str], *rules: str, **asked: Any) -> list[Finding]:
        texts = {_path(path): text for path, text in texts.items()}
        manifest = texts.get("regraft.toml")
        files = MemoryFiles(texts)
        graph = load(files, None if manifest is None else read_manifest(manifest.encode(), "regraft.toml"))
        chosen = frozenset(rules) or frozenset(one.name for one in RULES)
        assert chosen <= {one.name for one in RULES}
        return list(workflow_check(graph, files, Asked(chosen, **asked)).findings)

    return find


def _path(path: str) -> str:
    bare = "/" not in path and path.endswith((".yml", ".yaml")) and path not in ("action.yml", "action.yaml")
    return f".github/workflows/{path}" if bare else path
