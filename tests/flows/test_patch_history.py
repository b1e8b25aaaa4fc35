"""Carried patches along the history of real repositories: states, changes, culprits, memory, and how few git processes it takes."""

import itertools
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.upstream_cache import UpstreamCache
from regraft.adapters.upstream_history import UpstreamHistory
from regraft.adapters.verdict_memory import VerdictMemory
from regraft.core.objects import Blob, Commit
from regraft.core.patch_history import SeriesHistory
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText
from regraft.core.resolution import Remote
from regraft.core.series_state import judge_series
from regraft.core.tree_view import TreeView
from regraft.errors import OutsideError
from regraft.flows.patch_history import walk

Files = Mapping[str, str | None]


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str, stdin: bytes = b"") -> str: ...


class Recording(Protocol):
    program: str

    @property
    def calls(self) -> list[list[str]]: ...


class World:
    """A repository whose commits are written one by one: full trees are never needed."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.stamp = 1_700_000_000
        self.main: str | None = None

    def commit(
        self, subject: str, files: Files, *parents: str, ref: str = "refs/heads/main", mode: str = "100644"
    ) -> Commit:
        """After `parents`, else after the last one on main. None deletes a file."""
        self.stamp += 60
        before = parents or ((self.main,) if self.main and ref == "refs/heads/main" else ())
        said = subject.encode()
        lines = [
            f"commit {ref}",
            "mark :1",
            f"committer A <a@example.org> {self.stamp} +0000",
            f"data {len(said)}",
            subject,
        ]
        lines += [f"{word} {parent}" for word, parent in zip(("from", "merge", "merge"), before, strict=False)]
        for path, text in files.items():
            lines += [f"D {path}"] if text is None else [f"M {mode} inline {path}", f"data {len(text.encode())}", text]
        stream = "\n".join([*lines, "", "get-mark :1", ""]).encode()
        made = self.repository.git("fast-import", "--quiet", "--force", stdin=stream)
        if ref == "refs/heads/main":
            self.main = made
        return Commit(made)

    def diff(self, before: str, after: str) -> bytes:
        return self.repository.git("diff", "--full-index", before, after).encode() + b"\n"


def numbered(count: int = 60, **other: str) -> str:
    """Lines with names; `line_7="x"` puts another one in the seventh's place."""
    lines = [other.get(f"line_{number}", f"the line of number {number}") for number in range(1, count + 1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def world(make_repository: Callable[..., Repository]) -> World:
    return World(make_repository())


Walk = Callable[..., SeriesHistory]


@pytest.fixture
def go(world: World, tmp_path: Path, machine: dict[str, str]) -> Walk:
    """`go(patches)`: the series at main's tip, through all of history unless `last` or `since` is given."""

    def walked(
        patches: Sequence[bytes], *, program: str = "git", memory: Path | None = None, **range_: object
    ) -> SeriesHistory:
        with source_of(world, tmp_path, machine, program) as (source, tip), memory_of(memory) as recall:
            return walk(read(patches), tip, source, recall=recall, **range_)  # type: ignore[arg-type]

    return walked


@contextmanager
def source_of(
    world: World, tmp_path: Path, machine: dict[str, str], program: str = "git"
) -> Iterator[tuple[UpstreamHistory, Commit]]:
    with Git(machine, program=program) as git:
        cache = UpstreamCache(git, tmp_path / "cache", tmp_path, {})
        upstream = cache.open(Remote(str(world.repository.path)))
        with UpstreamHistory.reading(git, cache, upstream) as source:
            yield source, upstream.refs["refs/heads/main"]


@contextmanager
def memory_of(path: Path | None) -> Iterator[VerdictMemory | None]:
    if path is None:
        yield None
    else:
        with VerdictMemory.at(path) as memory:
            yield memory


def read(patches: Sequence[bytes]) -> list[PatchText]:
    return [read_patch_text(patch, strip=1, exists=lambda _: True) for patch in patches]


def carried(world: World, base: str, files: Files) -> bytes:
    """A patch that makes `files` of the tree of `base`."""
    made = world.commit("carry", files, base, ref="refs/heads/carried")
    return world.diff(base, made)


def turns(history: SeriesHistory, patch: int = 0) -> list[tuple[str, str, str]]:
    return [(one.before.state, one.after.state, one.culprit.subject) for one in history.patches[patch].turns]


def test_a_deleted_target_names_the_commit_its_pull_request_and_the_file(world: World, go: Walk) -> None:
    base = world.commit("begin", {"pkg/f.py": numbered(), "other": "x\n"})
    patch = carried(world, base, {"pkg/f.py": numbered(line_9="patched")})
    world.commit("elsewhere", {"other": "y\n"})
    gone = world.commit("Drop f (#321)", {"pkg/f.py": None})
    world.commit("elsewhere again", {"other": "z\n"})
    found = go([patch])
    assert (found.state, found.commits, found.touching) == ("target-gone", 4, 2)
    [turn] = found.patches[0].turns
    assert (turn.before.state, turn.after.state) == ("applies", "target-gone")
    culprit = turn.culprit
    assert (culprit.commit, culprit.pull, culprit.deleted, culprit.through) == (gone, 321, "pkg/f.py", None)


def test_a_rewrite_names_the_lines_and_a_revert_ends_it(world: World, go: Walk) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    world.commit("rewrite", {"f": "new first\n" + numbered(line_31="rewritten")})
    world.commit('Revert "rewrite"', {"f": numbered()})
    world.commit("land", {"f": numbered(line_30="patched")})
    found = go([patch])
    assert found.state == "already-there"
    assert turns(found) == [
        ("applies", "already-there", "land"),
        ("conflict", "applies", 'Revert "rewrite"'),
        ("applies", "conflict", "rewrite"),
    ]
    assert found.patches[0].turns[2].culprit.rewrote == ("f", 31, 31)


def test_the_commit_behind_a_merge_is_named_and_the_merge_with_it(world: World, go: Walk) -> None:
    base = world.commit("begin", {"f": numbered(), "g": "1\n"})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    main = world.commit("elsewhere", {"g": "2\n"})
    side = world.commit("harmless", {"f": numbered(line_1="a")}, base, ref="refs/heads/side")
    bad = world.commit("break it", {"f": numbered(line_1="a", line_30="b")}, side, ref="refs/heads/side")
    last = world.commit(
        "harmless too", {"f": numbered(line_1="a", line_30="b", line_60="c")}, bad, ref="refs/heads/side"
    )
    merge = world.commit(
        "Merge pull request #77 from someone/side", {"f": numbered(line_1="a", line_30="b", line_60="c")}, main, last
    )
    [turn] = go([patch]).patches[0].turns
    assert turn.by.commit == merge
    assert (turn.culprit.commit, turn.culprit.pull, turn.culprit.through) == (bad, 77, merge)
    assert turn.culprit.rewrote == ("f", 30, 30)


def test_a_rename_is_followed_below_git_s_usual_similarity(world: World, go: Walk) -> None:
    base = world.commit("begin", {"old/name.py": numbered(30)})
    patch = carried(world, base, {"old/name.py": numbered(30, line_9="patched")})
    mostly_new = {f"line_{number}": f"quite another text {number * 7}" for number in range(13, 31)}
    world.commit("move", {"old/name.py": None, "new/place.py": numbered(30, **mostly_new)})
    [turn] = go([patch]).patches[0].turns
    assert (turn.after.state, turn.culprit.deleted, turn.culprit.renamed_to) == (
        "target-gone",
        "old/name.py",
        "new/place.py",
    )
    assert turn.culprit.similarity is not None
    assert 30 <= turn.culprit.similarity < 50


def test_a_file_that_became_a_link_is_told(world: World, go: Walk) -> None:
    base = world.commit("begin", {"Dockerfile": numbered()})
    patch = carried(world, base, {"Dockerfile": numbered(line_9="patched")})
    world.commit("link", {"Dockerfile": "docker/Dockerfile"}, mode="120000")
    [turn] = go([patch]).patches[0].turns
    assert (turn.after.state, turn.culprit.retyped) == ("target-gone", ("Dockerfile", "symbolic link"))


def test_a_landed_fix_is_still_there_after_the_line_beside_it_was_edited(world: World, go: Walk) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="the fix itself")}).replace(b"index ", b"# index ")
    patch = b"\n".join(line for line in patch.split(b"\n") if not line.startswith(b"# index"))
    landed = world.commit("land it (#5)", {"f": numbered(line_30="the fix itself")})
    world.commit("beside", {"f": numbered(line_30="the fix itself", line_31="edited", line_29="so was this")})
    world.commit(
        "elsewhere in it", {"f": numbered(line_30="the fix itself", line_31="edited", line_29="too", line_1="x")}
    )
    found = go([patch])
    assert found.state == "already-there"
    assert turns(found) == [("applies", "already-there", "land it (#5)")]
    assert landed[:12] in (found.patches[0].now.files[0].reason or "")
    assert go([patch], last=1).state == "conflict"  # a range that does not reach back proves nothing


def test_a_landed_fix_that_was_taken_back_is_not_there(world: World, go: Walk) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="the fix itself")})
    world.commit("land it", {"f": numbered(line_30="the fix itself")})
    world.commit("take it back, and edit", {"f": numbered(line_31="edited")})
    found = go([patch])
    assert turns(found) == [
        ("already-there", "conflict", "take it back, and edit"),
        ("applies", "already-there", "land it"),
    ]


def test_a_range_ends_where_it_is_told_to(world: World, go: Walk) -> None:
    base = world.commit("begin", {"f": numbered(), "g": "0\n"})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    world.commit("break", {"f": numbered(line_30="x")})
    broken = world.commit("1", {"g": "1\n"})
    world.commit("mend", {"f": numbered()})
    world.commit("2", {"g": "2\n"})
    assert [one[2] for one in turns(go([patch]))] == ["mend", "break"]
    for range_ in ({"last": 2}, {"since": broken}):
        found = go([patch], **range_)
        assert (found.commits, found.touching, found.reaches) == (2, 1, False)
        assert turns(found) == [("conflict", "applies", "mend")]
    assert turns(go([patch], last=1)) == []


def test_in_a_shallow_repository_the_oldest_commit_is_no_culprit(
    world: World, go: Walk, tmp_path: Path, make_repository: Callable[..., Repository]
) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    world.commit("break", {"f": numbered(line_30="x")})
    world.commit("apart", {"f": numbered(line_30="x", line_1="y")})
    shallow = make_repository("shallow/one")
    subprocess.run(
        [
            "git",
            "-C",
            str(shallow.path),
            "fetch",
            "--quiet",
            "--depth=2",
            f"file://{world.repository.path}",
            "main:main",
        ],
        check=True,
    )
    world.repository = shallow
    found = go([patch])
    assert (found.state, found.commits, turns(found)) == ("conflict", 2, [])


def test_paths_are_never_patterns(world: World, go: Walk) -> None:
    base = world.commit("begin", {":(top)*": numbered(), "ab": numbered(), "[a]*": numbered()})
    patch = carried(world, base, {"[a]*": numbered(line_30="patched"), ":(top)*": numbered(line_30="patched")})
    world.commit("another", {"ab": "no more\n"})
    found = go([patch])
    assert (found.state, found.touching) == ("applies", 1)


@pytest.mark.parametrize("commits", [5, 40])
def test_six_git_processes_do_whatever_the_number_of_commits(
    world: World, go: Walk, recording_git: Recording, commits: int
) -> None:
    base = world.commit("begin", {f"d{number}/f": numbered() for number in range(8)})
    patches = [carried(world, base, {f"d{number}/f": numbered(line_30="patched")}) for number in range(8)]
    for number in range(commits):
        side = world.commit(
            "side", {f"d{number % 8}/f": numbered(line_30=f"{number}")}, world.main or "", ref="refs/heads/s"
        )
        world.commit("merge", {f"d{number % 8}/f": numbered(line_30=f"{number}")}, world.main or "", side)
    world.commit("gone", {"d1/f": None, "d2/f": None})
    found = go(patches, program=recording_git.program)
    assert sum(len(one.turns) for one in found.patches) >= 7
    assert all(one.culprit.subject != "merge" for patch in found.patches for one in patch.turns)
    assert len([call for call in recording_git.calls if call[0] not in ("config", "ls-remote")]) <= 6


def random_world(world: World, seed: int) -> list[bytes]:
    """A few files, patches over them, and twenty commits that move, land, break, delete and restore."""
    chance = random.Random(seed)
    names = ["a", "d/b", "d/c", "e"]
    base = world.commit("begin", {name: numbered(40) for name in names})
    first = world.commit(
        "p1", {"a": numbered(40, line_10="one"), "d/b": numbered(40, line_20="two")}, base, ref="refs/heads/p"
    )
    second = world.commit(
        "p2", {"a": numbered(40, line_10="one", line_30="three"), "d/new": "new\n"}, first, ref="refs/heads/p"
    )
    third = world.commit(
        "p3",
        {"d/c": None, "a": numbered(40, line_9="four", line_10="one", line_30="three")},
        second,
        ref="refs/heads/p",
    )
    patches = [world.diff(old, new) for old, new in itertools.pairwise((base, first, second, third))]
    for number in range(20):
        name = chance.choice([*names, "d/new"])
        lines: Files = {
            name: chance.choice(
                [
                    numbered(40, **{f"line_{chance.choice((9, 10, 11, 20, 21, 30, 35))}": f"{chance.choice('xy')}"}),
                    numbered(40, **{"line_10": "one", "line_30": "three", f"line_{chance.randint(1, 40)}": "z"}),
                    numbered(40, line_20="two"),
                    None,
                    "new\n",
                    numbered(40),
                ]
            )
        }
        if chance.random() < 0.15:
            lines = {"d": None} if chance.random() < 0.5 else {"d/c": None, "moved/c": numbered(40)}
        world.commit(f"{number}", lines)
    return patches


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_each_version_has_the_state_that_its_whole_tree_has(
    world: World, tmp_path: Path, machine: dict[str, str], seed: int
) -> None:
    """Of one commit alone no history helps: what is remembered and left out must not change a verdict."""
    texts = read(random_world(world, seed))
    commits = world.repository.git("rev-list", "--first-parent", "main").split()
    states = []
    with source_of(world, tmp_path, machine) as (source, tip), Git(machine) as git:
        store = ObjectStore(git, world.repository.path)
        for commit in map(Commit, commits):
            entries = {entry.path: entry for entry in store.list_tree(store.commit_tree(commit))}
            view = TreeView(entries, lambda oid: store.read_blob(Blob(oid)), source.blob_named)
            states.append([one.state for one in judge_series(texts, view).patches])
            found = walk(texts, commit, source, last=1)
            assert [one.now.state for one in found.patches] == states[-1], commit
        whole = walk(texts, tip, source)
    for patch, one in enumerate(whole.patches):
        places = {commit: position for position, commit in enumerate(commits)}
        for turn in one.turns:  # what is taken for kept may be there where the tree alone shows a conflict
            at = places[turn.by.commit]
            assert turn.after.state in (states[at][patch], "already-there", "partial")
            assert turn.before.state in (states[at + 1][patch], "already-there", "partial")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_what_is_remembered_changes_nothing_but_the_cost(world: World, go: Walk, tmp_path: Path, seed: int) -> None:
    patches = random_world(world, seed)
    memory = tmp_path / "verdicts.sqlite"
    tips = world.repository.git("rev-list", "--first-parent", "main").split()

    def plain(found: SeriesHistory) -> list[tuple[str, list[tuple[str, str, str]]]]:
        return [(one.now.state, turns(found, patch)) for patch, one in enumerate(found.patches)]

    for tip, last in ((tips[12], 8), (tips[6], 8), (tips[0], 8), (tips[0], None), (tips[0], 3), (tips[3], None)):
        world.repository.git("update-ref", "refs/heads/main", tip)
        assert plain(go(patches, memory=memory, last=last)) == plain(go(patches, last=last))


def test_the_second_run_judges_only_what_is_new(world: World, go: Walk, tmp_path: Path) -> None:
    base = world.commit("begin", {f"f{number}": numbered() for number in range(6)})
    patches = [carried(world, base, {f"f{number}": numbered(line_30="patched")}) for number in range(6)]
    for number in range(6):
        world.commit("edit", {f"f{number}": numbered(line_30="edited")})
    memory = tmp_path / "verdicts.sqlite"
    assert go(patches, memory=memory).judged == 12
    assert go(patches, memory=memory).judged == 0
    world.commit("edit", {"f3": numbered(line_29="edited")})
    assert go(patches, memory=memory).judged == 1


def test_a_rewritten_branch_is_no_trouble_for_what_is_remembered(world: World, go: Walk, tmp_path: Path) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    one = world.commit("one", {"f": numbered(line_1="x")})
    world.commit("break", {"f": numbered(line_30="y")})
    memory = tmp_path / "verdicts.sqlite"
    assert [turn[2] for turn in turns(go([patch], memory=memory))] == ["break"]
    world.main = one
    world.commit("forced", {"f": numbered(line_30="z")}, one)
    assert [turn[2] for turn in turns(go([patch], memory=memory))] == ["forced"]


def test_a_partial_repository_that_lacks_a_file_cannot_decide(
    world: World, go: Walk, tmp_path: Path, machine: dict[str, str]
) -> None:
    base = world.commit("begin", {"f": numbered()})
    patch = carried(world, base, {"f": numbered(line_30="patched")})
    world.commit("edit", {"f": numbered(line_1="x")})
    clone = tmp_path / "partial.git"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{world.repository.path}", str(clone)],
        check=True,
    )
    world.repository = type("Clone", (), {"path": clone})()  # type: ignore[assignment]
    with pytest.raises(OutsideError) as caught:
        go([patch])
    assert caught.value.code == "missing-blobs"
    assert "cannot decide: blob missing" in caught.value.message


class Server(Protocol):
    url: str


def test_a_clone_without_files_has_the_same_verdicts_by_one_more_fetch(  # noqa: PLR0917 - fixtures
    world: World, go: Walk, git_server: Server, tmp_path: Path, machine: dict[str, str], recording_git: Recording
) -> None:
    base = world.commit("begin", {"f": numbered(), "g": numbered()})
    patches = [
        carried(world, base, {"f": numbered(line_30="patched")}),
        carried(world, base, {"g": numbered(line_5="x")}),
    ]
    stranger = patches[1].replace(b"index ", b"index 1111").replace(b"+x", b"+y")  # made on a file that nobody has
    stranger = b"\n".join(
        line[:6] + b"1" * 40 + line[50:] if line.startswith(b"index ") else line for line in stranger.split(b"\n")
    )
    world.commit("rewrite around it", {"f": numbered(line_27="a", line_28="b", line_29="c", line_30="patched")})
    world.commit("drop g", {"g": None})
    world.repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    for some in (patches, [*patches, stranger]):
        here = go(some)
        with Git(machine, program=recording_git.program) as git:
            cache = UpstreamCache(git, tmp_path / f"cold{len(some)}", tmp_path, {})
            upstream = cache.open(Remote(f"{git_server.url}/sgl-project/sglang"))
            before = len(recording_git.calls)
            with UpstreamHistory.reading(git, cache, upstream) as source:
                cold = walk(read(some), upstream.refs["refs/heads/main"], source)
        assert [one.now for one in cold.patches] == [one.now for one in here.patches]
        assert [turns(cold, number) for number in range(len(some))] == [
            turns(here, number) for number in range(len(some))
        ]
        calls = [call for call in recording_git.calls[before:] if call[0] != "config"]
        assert len(calls) <= (6 if some is patches else 7)
    assert here.patches[0].now.state == "already-there"
