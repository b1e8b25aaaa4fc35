"""Patches of a dependency whose build applies them three-way: what merges is merged by git too, and what does not is a conflict."""

import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.scratch_index import ScratchIndex
from regraft.core.objects import Blob, Commit
from regraft.core.trees import ApplyOutcome
from regraft.errors import OutsideError
from regraft.flows.judge import PatchFile, Series, judge

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}

Files = dict[str, bytes]


class Upstream:
    """A bare repository, and a work tree to build in."""

    def __init__(self, path: Path, git: Git) -> None:
        self.path = path
        self.git = git

    def run(
        self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> bytes:
        argv = ["git", *([] if cwd else ["--git-dir", str(self.path)]), *arguments]
        environment = {**ENVIRONMENT, **(env or {})}
        done = subprocess.run(argv, cwd=cwd, env=environment, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, (arguments, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def commit(self, files: Files) -> Commit:
        stream = (
            b"commit refs/heads/main\nmark :1\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nm\ndeleteall\n"
        )
        for path, content in files.items():
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)
        self.run("update-ref", "-d", "refs/heads/main")
        return Commit(self.run("fast-import", "--quiet", stdin=stream + b"get-mark :1\n").decode().strip())

    def diff(self, old: Files, new: Files, *options: str) -> bytes:
        return self.run("diff", "--full-index", *options, self.commit(old), self.commit(new))

    def judge(self, now: Files, *patches: bytes, merges: bool = True, store: ObjectStore | None = None) -> Series:
        files = [PatchFile(f"p/{number}.patch", data, merges=merges) for number, data in enumerate(patches, 1)]
        self.store = store or ObjectStore(self.git, self.path)
        return judge(self.commit(now), files, self.store, None)

    def content(self, series: Series, path: str) -> bytes:
        """What the tree holds, whose new objects are in the gate's store alone."""
        return self.gate("cat-file", "blob", f"{series.tree}:{path}")

    def gate(self, *arguments: str) -> bytes:
        return self.run("--git-dir", str(self.store.git_dir), *arguments, cwd=self.path)

    def by_git(self, now: Files, patch: bytes, work: Path) -> bytes | None:
        """The tree that `git apply --3way` makes in a clone of its own, or None where it leaves a conflict."""
        self.run("clone", "--quiet", "--no-checkout", str(self.path), str(work), cwd=self.path)
        self.run("checkout", "--quiet", "--detach", self.commit_of(now), cwd=work)
        argv = ["git", "apply", "--3way", "-"]
        done = subprocess.run(argv, cwd=work, env=ENVIRONMENT, input=patch, capture_output=True, check=False)
        return self.run("write-tree", cwd=work).strip() if done.returncode == 0 else None

    def commit_of(self, now: Files) -> Commit:
        commit = self.commit(now)
        self.run("update-ref", "refs/heads/now", commit)
        return commit


@pytest.fixture
def upstream(tmp_path: Path, bare_template: Path, machine: dict[str, str]) -> Iterator[Upstream]:
    path = tmp_path / "upstream.git"
    subprocess.run(["cp", "-R", str(bare_template), str(path)], check=True)
    with Git(machine) as git:
        yield Upstream(path, git)


def lines(*changed: tuple[int, str]) -> bytes:
    texts = {number: f"line {number}\n" for number in range(1, 31)}
    texts.update({number: f"{text}\n" if text else "" for number, text in changed})
    return "".join(texts.values()).encode()


PLAIN = lines()
CHANGED = lines((10, "ten"))
BESIDE = lines((8, "eight"))  # a line of the hunk's context
MERGED = lines((8, "eight"), (10, "ten"))
OTHER = lines((10, "X"))


def test_what_merges_applies_and_says_so(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    series = upstream.judge({"f": BESIDE}, patch)
    assert series.patches[0].patch.state == series.state == "applies"
    assert "f: it goes on by a three-way merge with the file that it was made on" in (series.patches[0].reason or "")
    assert upstream.content(series, "f") == MERGED


def test_the_default_is_exact(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    series = upstream.judge({"f": BESIDE}, patch, merges=False)
    assert series.state == "conflict"
    assert series.tree == upstream.judge({"f": BESIDE}).tree


def test_where_both_sides_changed_the_same_it_is_a_conflict_and_no_side_is_taken(upstream: Upstream) -> None:
    """https://github.com/sgl-project/sglang/pull/20554"""
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    series = upstream.judge({"f": OTHER}, patch)
    assert series.state == "conflict"
    assert "nor does it merge: both sides changed what was line 10" in (series.patches[0].reason or "")
    assert series.tree == upstream.judge({"f": OTHER}).tree


def test_a_file_that_fits_and_one_that_merges_are_one_patch(upstream: Upstream) -> None:
    old, new = {"f": PLAIN, "g[1]*": PLAIN, "h": b"h\n"}, {"f": CHANGED, "g[1]*": CHANGED, "h": b"h\n", "n": b"n\n"}
    series = upstream.judge({"f": BESIDE, "g[1]*": b"top\n" + PLAIN, "h": b"h\n"}, upstream.diff(old, new))
    assert series.state == "applies"
    made = {path: upstream.content(series, path) for path in ("f", "g[1]*", "n")}
    assert made == {"f": MERGED, "g[1]*": b"top\n" + CHANGED, "n": b"n\n"}


def test_a_later_patch_is_judged_on_what_the_merge_made(upstream: Upstream) -> None:
    first = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    second = upstream.diff({"f": MERGED}, {"f": MERGED.replace(b"line 11\n", b"eleven\n")})
    series = upstream.judge({"f": BESIDE}, first, second)
    assert [one.patch.state for one in series.patches] == ["applies", "applies"]
    assert upstream.content(series, "f") == MERGED.replace(b"line 11\n", b"eleven\n")


def test_a_rename_with_a_change_merges(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"e": CHANGED}, "--find-renames=50%")
    assert b"rename to e" in patch
    series = upstream.judge({"f": BESIDE}, patch)
    assert series.state == "applies"
    assert upstream.content(series, "e") == MERGED
    assert b"\tf\n" not in upstream.gate("ls-tree", series.tree)


def test_half_of_it_is_there_and_the_rest_merges(upstream: Upstream) -> None:
    """Exactly it would be partial."""
    patch = upstream.diff({"f": PLAIN}, {"f": lines((3, "three"), (25, "twenty-five"))})
    now = {"f": lines((3, "three"), (23, "twenty-three"))}
    assert upstream.judge(now, patch, merges=False).state == "conflict"
    series = upstream.judge(now, patch)
    assert series.state == "applies"
    assert upstream.content(series, "f") == lines((3, "three"), (23, "twenty-three"), (25, "twenty-five"))


def test_what_has_landed_is_there_and_merges_to_nothing(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    assert upstream.judge({"f": lines((10, "ten"), (11, "edited since"))}, patch).state == "already-there"


def test_what_came_in_elsewhere_is_not_merged_in_a_second_time(upstream: Upstream) -> None:
    """`git apply --3way` makes the block twice, and calls it a success."""
    block = "def fix():\n    return clean(1)"
    patch = upstream.diff({"f": PLAIN}, {"f": lines((10, f"line 10\n{block}"))})
    series = upstream.judge({"f": lines((9, "nine"), (20, f"line 20\n{block}"))}, patch)
    assert series.state == "conflict"
    assert "a merge would make it twice" in (series.patches[0].reason or "")


def test_without_the_file_that_it_was_made_on_nothing_is_decided(upstream: Upstream) -> None:
    """An index line with an invented hash: https://github.com/vllm-project/vime/pull/230"""
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    begin = patch.index(b"index ") + 6
    invented = patch[:begin] + b"1" * 40 + patch[begin + 40 :]
    series = upstream.judge({"f": BESIDE}, invented)
    assert series.state == "conflict"
    assert f"cannot decide: blob missing ({'1' * 40}" in (series.patches[0].reason or "")
    without = b"".join(line for line in patch.splitlines(keepends=True) if not line.startswith(b"index "))
    said = upstream.judge({"f": BESIDE}, without).patches[0].reason or ""
    assert "no index line names the file that it was made on" in said


def test_an_index_line_that_names_another_file_is_no_base(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    other = upstream.run("hash-object", "-w", "--stdin", stdin=OTHER).strip()
    begin = patch.index(b"index ") + 6
    series = upstream.judge({"f": BESIDE}, patch[:begin] + other + patch[begin + 40 :])
    assert series.state == "conflict"
    assert "it does not fit the file that its index line names" in (series.patches[0].reason or "")


class OtherGit(ObjectStore):
    """A git that merges from another file than it is given."""

    def read_tree(self, commit: Commit) -> ScratchIndex:
        index = super().read_tree(commit)

        class Other(ScratchIndex):
            def apply(self, patch: bytes, **options: Any) -> ApplyOutcome:
                return index.apply(patch.replace(b"+ten", b"+eleven"), **options)

        return Other(self._git, self._repository(), Path(str(index.at.index)))


def test_it_is_git_that_merges_and_what_it_makes_counts(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    store = OtherGit(upstream.git, upstream.path)
    with pytest.raises(OutsideError, match="git makes something else of f") as caught:
        upstream.judge({"f": BESIDE}, patch, store=store)
    assert caught.value.code == "engine-disagrees"


def edited(source: random.Random, text: bytes, words: Sequence[bytes], first: int, last: int) -> bytes:
    found = text.splitlines(keepends=True)
    for _ in range(source.randint(1, 2)):
        at = source.randint(first, last)
        found[at : at + source.randint(0, 2)] = [source.choice(words) + b"\n"] * source.randint(0, 2)
    return b"".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_applies_is_what_git_apply_3way_makes(upstream: Upstream, seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    merged = 0
    old = lines((5, "same"), (15, "same"))
    for number in range(20):
        new = edited(source, old, [b"same", b"alpha", b"beta"], 10, 12)
        now = edited(source, old, [b"same", b"alpha", b"gamma"], 6, 16)
        patch = upstream.diff({"f": old}, {"f": new})
        series = upstream.judge({"f": now}, patch) if patch else None
        if series is not None and series.state == "applies":
            assert upstream.by_git({"f": now}, patch, tmp_path / f"work{number}") == series.tree.encode()
            merged += "three-way" in (series.patches[0].reason or "")
    assert merged >= 3


def test_the_file_that_it_was_made_on_may_be_one_that_was_fetched(upstream: Upstream, machine: dict[str, str]) -> None:
    """A shallow store: the verdict must not depend on the depth. https://github.com/m-ab-s/media-autobuild_suite/pull/3168"""
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    shallow = upstream.path.parent / "shallow.git"
    commit = upstream.commit_of({"f": BESIDE})
    arguments = ["clone", "--quiet", "--bare", "--depth=1", "--branch=now", f"file://{upstream.path}", str(shallow)]
    upstream.run(*arguments, cwd=upstream.path)
    asked: list[tuple[list[Blob], list[Blob]]] = []

    def fetch(blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        asked.append((list(blobs), list(helpful)))
        for blob in helpful:
            data = upstream.run("cat-file", "blob", blob)
            upstream.run("hash-object", "-w", "--stdin", stdin=data, env={"GIT_DIR": str(shallow)}, cwd=shallow)

    with Git(machine) as git:
        store = ObjectStore(git, shallow)
        series = judge(commit, [PatchFile("p", patch, merges=True)], store, fetch)
    assert series.state == "applies"
    assert asked == [([], [upstream.run("hash-object", "--stdin", stdin=PLAIN).decode().strip()])]
