"""What the gate says of an override, with a real repository: what an install does not bring in stops before a machine is asked for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.core.baseline import SCHEMA, Baseline, BaselineDependency
from regraft.core.manifest import Baked, Dependency
from regraft.core.objects import Blob, Commit, Tree
from regraft.flows.gate import Gate, Verdict
from regraft.flows.resolve import Pin

URL = "https://example.org/sglang"
DEPENDENCY = Dependency("sglang", URL, None, "ci-sglang-pr", (), None, None)


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...


class NoSubmodules:
    """Every submodule can be had: what is in it plays no part here."""

    def commit(self, url: str, commit: Commit) -> bool:  # noqa: ARG002 - the port's names
        return True

    def blobs(self, url: str, blobs: Sequence[Blob]) -> None:  # noqa: ARG002 - likewise
        raise AssertionError(url)


class Store(ObjectStore):
    """Where a submodule's own trees are not looked into."""

    def commit_tree(self, commit: Commit) -> Tree:
        return Tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904") if commit in LINKS else super().commit_tree(commit)


LINKS = (Commit("1" * 40), Commit("2" * 40))


def with_link(repository: Repository, link: Commit, text: str = "") -> Commit:
    """A commit that holds `csrc/a.cu` and the submodule `third_party/cutlass`."""
    modules = '[submodule "c"]\n\tpath = third_party/cutlass\n\turl = https://example.org/cutlass\n'
    stream = f"""\
commit refs/heads/main
committer A <a@example.org> 1700000000 +0000
data 1
m
deleteall
M 100644 inline .gitmodules
data {len(modules)}
{modules}
M 100644 inline csrc/a.cu
data {len(text)}
{text}
M 160000 {link} third_party/cutlass
"""
    repository.git("fast-import", "--quiet", "--force", stdin=stream.encode())
    return Commit(repository.git("rev-parse", "refs/heads/main"))


def judge(
    repository: Repository, git: Git, old: Commit, new: Commit, *, known: bool = True, **patterns: Any
) -> Verdict:
    store = Store(git, repository.path)
    baked = Baked("sglang", "/sglang", (), (), (), (), local_edits="stop", patches=(), **{**EMPTY, **patterns})
    pin = Pin(URL, None, new, store.commit_tree(new), known, filtered=False, notes=())
    held = {"sglang": BaselineDependency(old, None, (), {})}
    baseline = Baseline(SCHEMA, "rocm", None, None, held, ())
    return Gate(store, lambda *_: None, NoSubmodules()).judge(DEPENDENCY, baked, pin, [], baseline)


EMPTY = {"not_installed": (), "rebuild_when": ()}


@pytest.fixture
def git(machine: dict[str, str]) -> Any:
    with Git(machine) as program:
        yield program


@pytest.mark.parametrize("key", ["rebuild_when", "not_installed"])
def test_a_changed_file_that_the_install_does_not_bring_in_stops(make_repository: Any, git: Git, key: str) -> None:
    repository = make_repository()
    old, new = with_link(repository, LINKS[0], "1"), with_link(repository, LINKS[0], "2")
    [finding] = judge(repository, git, old, new, **{key: ("csrc/**",)}).findings
    assert (finding.rule, finding.severity) == (key.replace("_", "-"), "error")
    assert "csrc/a.cu" in finding.message
    assert judge(repository, git, old, new, **{key: ("other/**",)}).findings == ()


@pytest.mark.parametrize("key", ["rebuild_when", "not_installed"])
@pytest.mark.parametrize("pattern", ["third_party/cutlass/**", "third_party/cutlass/include/x.h", "**/*.cuh"])
def test_a_submodule_that_moved_stops_where_a_pattern_could_match_inside(
    make_repository: Any, git: Git, key: str, pattern: str
) -> None:
    repository = make_repository()
    old, new = with_link(repository, LINKS[0]), with_link(repository, LINKS[1])
    [finding] = judge(repository, git, old, new, **{key: (pattern,)}).findings
    assert (finding.rule, finding.severity) == (key.replace("_", "-"), "error")
    assert "third_party/cutlass/" in finding.message
    assert judge(repository, git, old, new, **{key: ("csrc/**",)}).findings == ()


def test_what_the_gate_cannot_know_is_left_to_the_machine_and_said(make_repository: Any, git: Git) -> None:
    repository = make_repository()
    old, new = with_link(repository, LINKS[0], "1"), with_link(repository, LINKS[0], "2")
    verdict = judge(repository, git, old, new, known=False, rebuild_when=("csrc/**",))
    assert ([one.code for one in verdict.notes], verdict.findings) == (["changes-unknown"], ())
