"""What the tests of the directive grammar share: a small vocabulary, a reading as lines that a person can compare; and files without git."""

import hashlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from regraft.core.directives import Reading, Vocabulary
from regraft.core.refs import HashRef, NameRef, PullRef, Ref
from regraft.core.trees import Entry
from regraft.core.workflow_graph import Graph
from regraft.core.workflow_repository import FOLDER, Repository
from regraft.core.workflow_text import read_action, read_workflow

Outcomes = Callable[[Reading], list[str]]


@pytest.fixture(scope="session")
def grammar() -> Vocabulary:
    """Two dependencies and two images; megatron is baked into rocm only, and only rocm takes a tag."""
    return Vocabulary(
        dependencies={"ci-sglang-pr": "sglang", "ci-megatron-pr": "megatron"},
        tags={"ci-image-tag": frozenset({"rocm"})},
        images={"rocm": frozenset({"sglang", "megatron"}), "cuda": frozenset({"sglang"})},
    )


@pytest.fixture(scope="session")
def outcomes() -> Outcomes:
    """`LINE:COLUMN what it amounts to` for every line that was accounted for, in the order of the text."""
    return _outcomes


@pytest.fixture(scope="session")
def meaning() -> Callable[[Ref], str]:
    return _meaning


def _outcomes(reading: Reading) -> list[str]:
    found: list[tuple[int, int, str]] = []
    for one in (*reading.directives, *reading.tags):
        key = one.key + (f"[{one.scope}]" if one.scope is not None else "")
        value = f"tag {one.tag}" if not hasattr(one, "ref") else _meaning(one.ref)
        found.append((one.source.line or 0, one.source.column or 0, f"{key} asks for {value}"))
    found += [(one.line, one.column, f"ignored {one.reason}") for one in reading.ignored]
    found += [(one.line or 0, one.column or 0, f"note {one.code}") for one in reading.notes]
    for mistake in reading.mistakes:
        _, line, column = (mistake.where or "").split(":")
        found.append((int(line), int(column), f"error {mistake.code} ({mistake.hint})"))
    return [f"{line}:{column} {text}" for line, column, text in sorted(found, key=lambda one: one[:2])]


def _meaning(ref: Ref) -> str:
    target, host = ref.target, f" on {ref.host}" if ref.host else ""
    within = f" of {target.repository}" if target.repository else ""
    match target:
        case PullRef():
            return f"pull request {target.number}" + (f" at {target.head}" if target.head else "") + within + host
        case HashRef():
            return f"{'commit' if target.full else 'short hash'} {target.digits}{within}{host}"
        case NameRef():
            kind = "branch or tag" if target.kind == "any" else target.kind
            return f"{kind} {target.name}" + (f" of {target.owner}" if target.owner else "") + within + host


class Tracked(NamedTuple):
    """Files as a commit would have them, without git: what is hashed is the content."""

    tree: dict[str, Entry]
    contents: dict[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)


Track = Callable[..., Tracked]


@pytest.fixture(scope="session")
def track() -> Track:
    """`track({"a": "text"}, modes={"a": "100755"})`; a mode of 120000 makes a link to the text."""
    return _track


def _track(files: dict[str, str], modes: dict[str, str] | None = None) -> Tracked:
    contents = {path: text.encode() for path, text in files.items()}
    tree = {
        path: Entry(
            (modes or {}).get(path, "100644"),
            "blob",
            hashlib.sha1(data).hexdigest(),
            path.encode(errors="surrogateescape"),
        )
        for path, data in contents.items()
    }
    return Tracked(tree, contents)


GraphOf = Callable[[Mapping[str, str]], Graph]


@pytest.fixture(scope="session")
def graph_of() -> GraphOf:
    """`graph_of({"a.yml": "on: push…"})`: a name without a folder is a workflow, `x/action.yml` an action, the rest are files."""
    return _graph_of


def _graph_of(files: Mapping[str, str]) -> Graph:
    named = {
        path if "/" in path or not path.endswith(".yml") else f"{FOLDER}/{path}": text for path, text in files.items()
    }
    contents = {path: text.encode() for path, text in named.items()}
    workflows = {path: read_workflow(path, data) for path, data in contents.items() if path.startswith(FOLDER)}
    actions = [read_action(path, data) for path, data in contents.items() if path.endswith("/action.yml")]
    by_folder = {one.folder: one for one in actions}
    return Graph(Repository(workflows, by_folder, frozenset(contents), contents.get))
