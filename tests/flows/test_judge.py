"""Each state of a carried patch, judged by the real git, and each tree against a checkout that somebody patched by hand."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regraft.adapters.git import Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.scratch_index import ScratchIndex
from regraft.core.objects import Blob, Commit
from regraft.core.trees import Announced, ApplyOutcome
from regraft.errors import OutsideError
from regraft.flows.judge import Judged, PatchFile, Series, judge

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}

Files = dict[str, bytes | tuple[str, bytes]]  # content, or (mode, content); of a submodule the hash


@dataclass
class Upstream:
    """A bare repository, and what to compare with."""

    path: Path
    git: Git

    def run(self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
        environment = {**ENVIRONMENT, "GIT_DIR": str(self.path), **(env or {})}
        cwd = environment.get("GIT_WORK_TREE", str(self.path))
        done = subprocess.run(
            ["git", *arguments], env=environment, cwd=cwd, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, (arguments, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def commit(self, files: Files) -> Commit:
        """A commit without a parent that holds these files."""
        stream = [
            b"commit refs/heads/main\nmark :1\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nm\n",
            b"deleteall\n",
        ]
        for path, value in files.items():
            mode, content = value if isinstance(value, tuple) else ("100644", value)
            name = "".join(f"\\{byte:03o}" for byte in path.encode("utf-8", "surrogateescape")).encode()
            if mode == "160000":
                stream.append(b'M 160000 %s "%s"\n' % (content, name))
            else:
                stream.append(b'M %s inline "%s"\ndata %d\n%s\n' % (mode.encode(), name, len(content), content))
        stream.append(b"get-mark :1\n")
        self.run("update-ref", "-d", "refs/heads/main")
        return Commit(self.run("fast-import", "--quiet", "--force", stdin=b"".join(stream)).decode().strip())

    def diff(self, old: Files, new: Files, *options: str) -> bytes:
        return self.run("diff", *options, self.commit(old), self.commit(new))

    def judge(self, now: Files, *patches: bytes) -> Series:
        files = [PatchFile(f"patches/{number}.patch", data) for number, data in enumerate(patches, 1)]
        return judge(self.commit(now), files, ObjectStore(self.git, self.path), None)

    def by_hand(self, now: Files, patches: Sequence[bytes], work: Path, strip: int = 1) -> str:
        """The tree of a checkout in which the patches were applied, and everything was added."""
        work.mkdir()
        env = {"GIT_WORK_TREE": str(work), "GIT_INDEX_FILE": str(work.parent / "by-hand-index")}
        self.run("read-tree", self.commit(now), env=env)
        self.run("checkout-index", "--all", env=env)
        for data in patches:
            self.run("apply", f"-p{strip}", "-", stdin=data, env=env)
        self.run("add", "--all", "--force", ".", env=env)
        return self.run("write-tree", env=env).decode().strip()


@pytest.fixture
def upstream(tmp_path: Path, bare_template: Path, machine: dict[str, str]) -> Iterator[Upstream]:
    path = tmp_path / "upstream.git"
    subprocess.run(["cp", "-R", str(bare_template), str(path)], check=True)
    with Git(machine) as git:
        yield Upstream(path, git)


def state(series: Series, number: int = 1) -> str | None:
    return series.patches[number - 1].patch.state


def reason(series: Series, number: int = 1) -> str:
    return series.patches[number - 1].reason or ""


def lines(*changed: tuple[int, str], count: int = 30) -> bytes:
    """`line 1` to `line 30`, some of them replaced ("" takes the line out)."""
    texts = {number: f"line {number}\n" for number in range(1, count + 1)}
    texts.update({number: f"{text}\n" if text else "" for number, text in changed})
    return "".join(texts.values()).encode()


PLAIN = lines()
CHANGED = lines((10, "ten"))
BLOCK = b"".join(b"word %d\n" % number for number in range(8))
PNG = b"\x89PNG\0" + bytes(range(256)) * 3
PNG2 = PNG[:300] + b"!" + PNG[300:]
CRLF = PLAIN.replace(b"\n", b"\r\n")


@dataclass(frozen=True)
class Case:
    """A patch from `old` to `new`, and the upstream as it is now. `says` are parts of the reason."""

    name: str
    old: Files
    new: Files
    now: Files
    state: str
    says: tuple[str, ...] = ()
    options: tuple[str, ...] = ("--binary",)
    strip: int = 1


CASES = [
    # applies
    Case("as it was made", {"f": PLAIN}, {"f": CHANGED}, {"f": PLAIN}, "applies"),
    Case(
        "with an offset",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": b"new\nhead\n" + PLAIN},
        "applies",
        ("1 hunks fit away", "+2"),
    ),
    Case("a new file", {"g": b"g\n"}, {"g": b"g\n", "d/n": b"n\n"}, {"g": b"g\n"}, "applies"),
    Case("a new empty file", {"g": b"g\n"}, {"g": b"g\n", "n": b""}, {"g": b"g\n"}, "applies"),
    Case("a deleted file", {"f": PLAIN, "g": b"g\n"}, {"g": b"g\n"}, {"f": PLAIN, "g": b"g\n"}, "applies"),
    Case("mode only", {"f": PLAIN}, {"f": ("100755", PLAIN)}, {"f": PLAIN}, "applies"),
    Case("mode and content", {"f": PLAIN}, {"f": ("100755", CHANGED)}, {"f": PLAIN}, "applies"),
    Case("a pure rename", {"f": PLAIN}, {"e": PLAIN}, {"f": PLAIN}, "applies"),
    Case("a rename with a change", {"f": PLAIN}, {"e": CHANGED}, {"f": PLAIN}, "applies"),
    Case(
        "a copy with a change",
        {"f": PLAIN},
        {"f": PLAIN, "e": CHANGED},
        {"f": PLAIN},
        "applies",
        options=("--find-copies-harder",),
    ),
    Case("binary, delta", {"i": PNG}, {"i": PNG2}, {"i": PNG}, "applies"),
    Case("binary, literal", {"g": b"g\n"}, {"g": b"g\n", "i": PNG}, {"g": b"g\n"}, "applies"),
    Case("binary, deleted", {"g": b"g\n", "i": PNG}, {"g": b"g\n"}, {"g": b"g\n", "i": PNG}, "applies"),
    Case("a symbolic link", {"l": ("120000", b"a")}, {"l": ("120000", b"b")}, {"l": ("120000", b"a")}, "applies"),
    Case("no newline at the end", {"f": b"a\nb\nc"}, {"f": b"a\nB\nc"}, {"f": b"a\nb\nc"}, "applies"),
    Case(
        "CRLF content under LF headers",
        {"f": CRLF},
        {"f": CRLF.replace(b"line 9\r", b"nine\r")},
        {"f": CRLF},
        "applies",
    ),
    Case("a name with blanks", {"a b c": PLAIN}, {"a b c": CHANGED}, {"a b c": PLAIN}, "applies"),
    Case(
        "a quoted Unicode name",
        {"größe/日本.py": PLAIN},
        {"größe/日本.py": CHANGED},
        {"größe/日本.py": PLAIN},
        "applies",
    ),
    Case("a name that is not UTF-8", {"\udcff.py": PLAIN}, {"\udcff.py": CHANGED}, {"\udcff.py": PLAIN}, "applies"),
    Case("a name with quotes and a backslash", {'"\\f': PLAIN}, {'"\\f': CHANGED}, {'"\\f': PLAIN}, "applies"),
    Case(
        "names that look like patterns",
        {"[f]*?": PLAIN, "x": PLAIN},
        {"[f]*?": CHANGED, "x": CHANGED},
        {"[f]*?": PLAIN, "x": PLAIN},
        "applies",
    ),
    Case("a name like an option", {"-R": PLAIN}, {"-R": CHANGED}, {"-R": PLAIN}, "applies"),
    Case(
        "prefixes i/ and w/",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": PLAIN},
        "applies",
        options=("--src-prefix=i/", "--dst-prefix=w/"),
    ),
    Case(
        "a submodule moved",
        {"s": ("160000", b"1" * 40)},
        {"s": ("160000", b"2" * 40)},
        {"s": ("160000", b"1" * 40)},
        "applies",
    ),
    # already there
    Case("the same change", {"f": PLAIN}, {"f": CHANGED}, {"f": CHANGED}, "already-there"),
    Case("a larger change", {"f": PLAIN}, {"f": CHANGED}, {"f": lines((10, "ten"), (25, "more"))}, "already-there"),
    Case("the same new file", {}, {"n": b"n\n"}, {"n": b"n\n"}, "already-there"),
    Case("the same new binary", {}, {"n": PNG}, {"n": PNG}, "already-there"),
    Case(
        "deleted, or moved and edited",
        {"f": PLAIN, "g": b"g\n"},
        {"g": b"g\n"},
        {"g": b"g\n"},
        "conflict",
        ("no tree tells",),
    ),
    Case("an empty file deleted", {"e": b"", "g": b""}, {"g": b""}, {"g": b""}, "conflict", ("no tree tells",)),
    Case("the mode", {"f": PLAIN}, {"f": ("100755", PLAIN)}, {"f": ("100755", PLAIN)}, "already-there"),
    Case("the rename", {"f": PLAIN}, {"e": CHANGED}, {"e": CHANGED}, "already-there"),
    Case("the binary change", {"i": PNG}, {"i": PNG2}, {"i": PNG2}, "already-there"),
    Case(
        "lines removed, proved",
        {"f": PLAIN},
        {"f": lines((10, ""), (11, ""))},
        {"f": b"head\n" + lines((10, ""), (11, ""))},
        "already-there",
    ),
    # partial: some files there already, the others apply
    Case(
        "one file of two",
        {"f": PLAIN, "g": PLAIN},
        {"f": CHANGED, "g": CHANGED},
        {"f": CHANGED, "g": PLAIN},
        "partial",
        ("f there already", "g still to be changed"),
    ),
    Case(
        "the mode of two",
        {"f": PLAIN},
        {"f": ("100755", CHANGED)},
        {"f": CHANGED},
        "partial",
        ("its content is there already", "its mode still to be changed"),
    ),
    Case(
        "a new file of two",
        {"f": PLAIN},
        {"f": CHANGED, "n": b"n\n"},
        {"f": PLAIN, "n": b"n\n"},
        "partial",
        ("n there already",),
    ),
    # conflict
    Case(
        "the line is another",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": lines((10, "X"))},
        "conflict",
        ("hunk 1 of 1 does not fit (line 7",),
    ),
    Case(
        "half of it fits",
        {"f": PLAIN},
        {"f": lines((3, "three"), (25, "x"))},
        {"f": lines((25, "other"))},
        "conflict",
        ("hunk 2 of 2 does not fit (line 22",),
    ),
    Case(
        "one hunk of three is there",
        {"f": PLAIN},
        {"f": lines((3, "a"), (15, "b"), (28, "c"))},
        {"f": lines((15, "b"))},
        "partial",
        ("f: hunk 2 of 3 is there already, the others still fit",),
    ),
    Case(
        "a new file exists",
        {},
        {"n": b"n\n"},
        {"n": b"other\n"},
        "conflict",
        ("n: the patch creates it, and it exists as another file",),
    ),
    Case("a new file exists as a link", {}, {"n": b"n\n"}, {"n": ("120000", b"n\n")}, "conflict", ("symbolic link",)),
    Case(
        "a new file has another mode",
        {},
        {"n": ("100755", b"n\n")},
        {"n": b"n\n"},
        "conflict",
        ("mode 100644", "100755"),
    ),
    Case("a new binary exists", {}, {"n": PNG}, {"n": PNG2}, "conflict", ("exists as another file",)),
    Case(
        "a deleted file differs",
        {"f": PLAIN, "g": b""},
        {"g": b""},
        {"f": CHANGED, "g": b""},
        "conflict",
        ("the patch deletes it",),
    ),
    Case(
        "a deleted file was moved",
        {"f": PLAIN, "g": b""},
        {"g": b""},
        {"sub/e": PLAIN, "g": b""},
        "conflict",
        ("stands at sub/e", "decide by hand"),
    ),
    Case(
        "a deleted binary was moved",
        {"i": PNG, "g": b""},
        {"g": b""},
        {"e": PNG, "g": b""},
        "conflict",
        ("stands at e",),
    ),
    Case(
        "the binary is another",
        {"i": PNG},
        {"i": PNG2},
        {"i": PNG + b"x"},
        "conflict",
        ("neither the old content nor the new",),
    ),
    Case(
        "only white space differs",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": PLAIN.replace(b"line 9\n", b"line 9 \n")},
        "conflict",
        ("differs only in white space",),
    ),
    Case(
        "only line ends differ", {"f": PLAIN}, {"f": CHANGED}, {"f": CRLF}, "conflict", ("differs only in white space",)
    ),
    Case(
        "fits both ways",
        {"f": BLOCK + b"a\n" + BLOCK},
        {"f": BLOCK + b"a\nb\n" + BLOCK},
        {"f": BLOCK + b"a\nb\n" + BLOCK + BLOCK + b"a\n" + BLOCK},
        "conflict",
        ("ambiguous",),
    ),
    Case(
        "one file fits both ways, the other applies",
        {"f": BLOCK + b"a\n" + BLOCK, "g": PLAIN},
        {"f": BLOCK + b"a\nb\n" + BLOCK, "g": CHANGED},
        {"f": BLOCK + b"a\nb\n" + BLOCK + BLOCK + b"a\n" + BLOCK, "g": PLAIN},
        "conflict",
        ("f: ambiguous", "1 of 2 files would fit"),
    ),
    Case(
        "removed lines live on",
        {"f": PLAIN},
        {"f": lines((10, ""))},
        {"f": lines((10, "")) + b"line 10\n"},
        "conflict",
        ("only removes lines", "still occur"),
    ),
    Case(
        "context of removed lines stands twice",
        {"f": b"begin\n{\n  check(1)\n}\nend\n" + PLAIN},
        {"f": b"begin\n{\n}\nend\n" + PLAIN},
        {"f": b"begin\n{\n}\nend\n" + PLAIN + b"begin\n{\n  check(2)\n}\nend\n"},
        "already-there",
        ("three-way merge with the file that it was made on",),
    ),
    Case(
        "without context",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": b"0\n" + PLAIN},
        "conflict",
        ("no lines of context",),
        ("-U0",),
    ),
    Case(
        "the same copy",
        {"f": PLAIN},
        {"f": PLAIN, "e": CHANGED},
        {"f": PLAIN, "e": CHANGED},
        "already-there",
        (),
        ("--find-copies-harder",),
    ),
    Case(
        "the copy exists with other content",
        {"f": PLAIN},
        {"f": PLAIN, "e": CHANGED},
        {"f": PLAIN, "e": lines((10, "TEN"))},
        "conflict",
        ("as a copy",),
        ("--find-copies-harder",),
    ),
    Case("a mode of another kind", {"f": PLAIN}, {"f": ("100755", PLAIN)}, {"f": PLAIN, "f2": b""}, "applies"),
    # target gone
    Case(
        "deleted upstream", {"p/f.py": PLAIN}, {"p/f.py": CHANGED}, {"q": b""}, "target-gone", ("p/f.py: is not there",)
    ),
    Case(
        "renamed upstream",
        {"p/f.py": PLAIN},
        {"p/f.py": CHANGED},
        {"q/f.py": PLAIN},
        "target-gone",
        ("one file has that name: q/f.py",),
    ),
    Case(
        "several of that name",
        {"f.py": PLAIN},
        {"f.py": CHANGED},
        {f"{d}/f.py": b"" for d in "abcd"},
        "target-gone",
        ("4 files have that name: a/f.py, b/f.py, c/f.py, …",),
    ),
    Case(
        "became a symbolic link",
        {"Dockerfile": PLAIN},
        {"Dockerfile": CHANGED},
        {"Dockerfile": ("120000", b"docker/amd64/Dockerfile"), "docker/amd64/Dockerfile": PLAIN},
        "target-gone",
        ("symbolic link now, to docker/amd64/Dockerfile",),
    ),
    Case("became a folder", {"f": PLAIN}, {"f": CHANGED}, {"f/g": PLAIN}, "target-gone", ("f: is a folder now",)),
    Case(
        "became a submodule",
        {"f": PLAIN},
        {"f": CHANGED},
        {"f": ("160000", b"1" * 40)},
        "target-gone",
        ("submodule now",),
    ),
    Case(
        "its folder became a submodule",
        {"d/f": PLAIN},
        {"d/f": CHANGED},
        {"d": ("160000", b"1" * 40)},
        "target-gone",
        ("d is a submodule now",),
    ),
    Case(
        "its folder became a link",
        {"d/f": PLAIN},
        {"d/f": CHANGED},
        {"d": ("120000", b"e"), "e/f": PLAIN},
        "target-gone",
        ("d is a symbolic link now",),
    ),
    Case(
        "a link became a file",
        {"l": ("120000", b"a")},
        {"l": ("120000", b"b")},
        {"l": b"a"},
        "target-gone",
        ("is a file now",),
    ),
    Case("the mode's file is gone", {"f": PLAIN}, {"f": ("100755", PLAIN)}, {"g": b""}, "target-gone"),
    Case("the rename's origin is gone", {"f": PLAIN}, {"e": CHANGED}, {"g": b""}, "target-gone", ("is not there",)),
    Case(
        "the rename went elsewhere", {"f": PLAIN}, {"e": CHANGED}, {"e": b"other\n"}, "target-gone", ("and e exists",)
    ),
    Case(
        "the copy's origin is gone",
        {"f": PLAIN},
        {"f": PLAIN, "e": CHANGED},
        {"g": b""},
        "target-gone",
        (),
        ("--find-copies-harder",),
    ),
    Case(
        "the deleted became a folder",
        {"f": PLAIN, "g": b""},
        {"g": b""},
        {"f/x": b"", "g": b""},
        "target-gone",
        ("folder now",),
    ),
    Case(
        "the deleted became a link",
        {"f": PLAIN, "g": b""},
        {"g": b""},
        {"f": ("120000", b"g"), "g": b""},
        "target-gone",
        ("symbolic link now, to g",),
    ),
    Case("the binary is gone", {"i": PNG}, {"i": PNG2}, {"g": b""}, "target-gone"),
    Case(
        "gone beats conflict",
        {"f": PLAIN, "g": PLAIN},
        {"f": CHANGED, "g": CHANGED},
        {"g": lines((10, "X"))},
        "target-gone",
        ("f: is not there",),
    ),
    Case(
        "conflict beats partial",
        {"a": PLAIN, "b": PLAIN, "c": PLAIN},
        {"a": CHANGED, "b": CHANGED, "c": CHANGED},
        {"a": CHANGED, "b": PLAIN, "c": b"\n"},
        "conflict",
        ("c: ", "1 of 3 files would fit"),
    ),
    # without its content
    Case(
        "a binary without its content", {"i": PNG}, {"i": PNG2}, {"i": PNG}, "unreadable", ("without its content",), ()
    ),
    Case(
        "without prefixes",
        {"p/f.py": PLAIN},
        {"p/f.py": CHANGED},
        {"p/f.py": PLAIN},
        "applies",
        (),
        ("--no-prefix",),
        strip=0,
    ),
    Case(
        "a new file without prefixes",
        {"c": b""},
        {"c": b"", "sub/c": b"x\n"},
        {"c": b""},
        "unreadable",
        ("the strip level is not clear (it only creates files",),
        ("--no-prefix",),
    ),
    Case(
        "a rename without prefixes",
        {"p/f": PLAIN},
        {"p/e": PLAIN},
        {"p/f": PLAIN},
        "unreadable",
        ("the strip level is not clear (there is p/f at level 0",),
        ("--no-prefix",),
    ),
    Case(
        "a mode without prefixes",
        {"p/f": PLAIN},
        {"p/f": ("100755", PLAIN)},
        {"p/f": PLAIN},
        "applies",
        (),
        ("--no-prefix",),
        strip=0,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.state}: {case.name}")
def test_a_patch_has_the_state_and_leaves_the_tree_of_a_checkout(
    case: Case, upstream: Upstream, tmp_path: Path
) -> None:
    patch = upstream.diff(case.old, case.new, "-M", *case.options)
    series = upstream.judge(case.now, patch)
    assert (state(series), series.state) == (case.state, case.state), reason(series)
    for part in case.says:
        assert part in reason(series)
    applied = [patch] if case.state == "applies" else []
    assert series.tree == upstream.by_hand(case.now, applied, tmp_path / "work", case.strip) or "160000" in str(
        case.now
    )
    assert reason(series).isprintable()


def test_a_tree_is_judged_without_touching_the_repository(upstream: Upstream) -> None:
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED, "n": b"new here\n"})
    commit = upstream.commit({"f": PLAIN})
    before = {path: path.read_bytes() for path in upstream.path.rglob("*") if path.is_file()}
    series = judge(
        commit, [PatchFile("p", patch), PatchFile("q", patch)], ObjectStore(upstream.git, upstream.path), None
    )
    assert [state(series, 1), state(series, 2)] == ["applies", "already-there"]
    assert {path: path.read_bytes() for path in upstream.path.rglob("*") if path.is_file()} == before


def test_no_patches_is_an_answer_and_reads_no_standard_input(upstream: Upstream) -> None:
    series = upstream.judge({"f": PLAIN})
    assert (series.patches, series.state) == ((), None)
    assert series.tree == upstream.run("rev-parse", "refs/heads/main^{tree}").decode().strip()


HEADER = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n"
HUNK = b"@@ -9,3 +9,3 @@\n line 9\n-line 10\n+ten\n line 11\n"
GOOD = HEADER + HUNK
OTHER = GOOD.replace(b"/f", b"/g")

UNREADABLE = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n", "the file is empty"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>--- a/f</body></html>\n", "HTML page"),
    "an error message": (b"404: Not Found\n", "the file holds no diff"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "UTF-16"),
    "a git-lfs pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
    "truncated": (GOOD[: GOOD.index(b"+ten")], "corrupt patch at line 7"),
    "counts of a hunk that was edited by hand": (
        GOOD.replace(b"@@ -9,3 +9,3 @@", b"@@ -9,3 +9,4 @@"),
        "line 4: the header says 3 old and 4 new lines, the body has 3 and 3",
    ),
    "a hunk longer than it says": (GOOD + b"+one more\n", "line 9: the hunk of line 4 goes on"),
    "a context line too many": (GOOD + b" line 12\n", "goes on after the lines that its header counts"),
    "a hunk header that is broken": (GOOD + b"@@ -20,2 20,2 @@\n line 20\n-line 21\n+x\n", "corrupt patch at line 9"),
    "a section whose only hunk header is broken": (
        GOOD + OTHER.replace(b"@@ -9,3 +9,3 @@", b"@@ 9,3 9,3 @@"),
        "line 9: announces a file, and changes nothing in it",
    ),
    "a plain section whose hunk header is broken": (
        GOOD + b"--- a/g\n+++ b/g\n@@ 9,3 +9,3 @@\n line 9\n-line 10\n+ten\n line 11\n",
        "line 9: announces a file, and no hunk that can be read follows",
    ),
    "a hunk that lost its file's names": (GOOD + b"diff -ru a/g b/g\n@@ -1 +1 @@\n-a\n+b\n", "line 10"),
    "headers alone": (HEADER, "changes nothing in it"),
    "an index line alone": (b"diff --git a/f b/f\nindex 1111111..2222222 100644\n", "changes nothing in it"),
    "binaries in a plain diff": (GOOD + b"Binary files a/x and b/x differ\n", "line 9: says that binary files differ"),
    "a context diff": (GOOD + b"*** a/g\n--- b/g\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n", "context diff"),
    "a combined diff": (
        GOOD + b"diff --cc g\n--- a/g\n+++ b/g\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n",
        "combined diff",
    ),
    "binary rubbish": (
        b"diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 5\nMcmxxx\n\n",
        "corrupt binary",
    ),
    "a path upwards": (GOOD.replace(b"/f", b"/../f"), "../f leaves its tree"),
    "a path upwards, within": (GOOD.replace(b"/f", b"/x/../f"), "leaves its tree"),
    "a path into .git": (GOOD.replace(b"/f", b"/.git/config"), ".git/config leads into a .git folder"),
    "a path into a .GIT": (GOOD.replace(b"/f", b"/sub/.GIT/hooks/x"), "leads into a .git folder"),
    "an absolute path": (b"--- /etc/passwd\n+++ /etc/passwd\n" + HUNK, "the path /etc/passwd is absolute"),
    "a doubled slash": (GOOD.replace(b"a/f", b"a//f").replace(b"b/f", b"b//f"), "absolute"),
    "a rename from outside": (
        b"diff --git a/x b/f\nsimilarity index 100%\nrename from ../x\nrename to f\n",
        "",
    ),
    "a control character in a path": (
        GOOD.replace(b"a/f", b'"a/f\\033[2J"').replace(b"b/f", b'"b/f\\033[2J"'),
        "\\x1b[2J holds a control",
    ),
    "a new file in a plain diff, unprefixed": (
        b"--- /dev/null\n+++ sub/c\n@@ -0,0 +1 @@\n+x\n",
        "the strip level is not clear (it only creates files",
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    "a new file that depends on old lines": (
        b"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n",
        "depends on old contents",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_damaged_patch_is_unreadable_and_says_why(name: str, upstream: Upstream) -> None:
    data, says = UNREADABLE[name]
    series = upstream.judge({"f": PLAIN, "g": PLAIN, "c": b""}, data)
    assert state(series) == "unreadable", reason(series)
    assert says in reason(series)
    assert reason(series).isprintable()
    assert len(reason(series)) < 800


def test_the_damaged_patches_are_only_damaged_where_it_is_said(upstream: Upstream) -> None:
    assert state(upstream.judge({"f": PLAIN, "g": PLAIN}, GOOD + OTHER)) == "applies"


def test_a_patch_file_has_a_limit(upstream: Upstream) -> None:
    series = upstream.judge({"f": PLAIN}, GOOD + b"#" * (16 * 1024 * 1024))
    assert state(series) == "unreadable"
    assert "at most 16777216" in reason(series)


def test_carriage_returns_in_headers_make_a_patch_unreadable(upstream: Upstream) -> None:
    """https://github.com/city96/ComfyUI-GGUF/issues/166: the checkout had rewritten the patch file's line ends."""
    now: Files = {"f": PLAIN}
    fits = upstream.judge(now, GOOD.replace(b"\n", b"\r\n"))
    assert state(fits) == "unreadable"
    assert "line 1: a diff header ends in a carriage return" in reason(fits)
    assert reason(fits).endswith("without the carriage returns it would fit")
    assert upstream.judge({"f": lines((10, "X"))}, GOOD.replace(b"\n", b"\r\n")).patches[0].reason is not None
    assert reason(upstream.judge({"f": b""}, GOOD.replace(b"\n", b"\r\n"))).endswith("it would not fit either")


def test_carriage_returns_in_a_new_file_leave_no_half_series(upstream: Upstream) -> None:
    """https://github.com/SuperElastix/SuperElastix/issues/59: git spoke of /dev/null on line 8, and the series was half in."""
    now: Files = {"f": PLAIN}
    patch = upstream.diff({"f": PLAIN}, {"f": PLAIN, "n": b"n\n"}).replace(b"\n", b"\r\n")
    series = upstream.judge(now, GOOD, patch)
    assert [one.patch.state for one in series.patches] == ["applies", "unreadable"]
    assert "carriage return" in reason(series, 2)
    assert series.state == "unreadable"


def test_content_that_lost_its_trailing_blanks_is_a_conflict_and_names_the_lines(upstream: Upstream) -> None:
    """https://github.com/AlexanderMattTurner/claude-automation-template/pull/482: a hook strips committed patches."""
    old = b"a\n\nb  \nc\nd\ne\n"
    patch = upstream.diff({"f": old}, {"f": old.replace(b"c\n", b"C\n")})
    stripped = b"\n".join(line.rstrip(b" ") for line in patch.split(b"\n"))
    series = upstream.judge({"f": old}, stripped)
    assert state(series) == "conflict"
    number = stripped.split(b"\n").index(b"", 4) + 1
    assert f"differs only in white space; lines {number} of the patch lost" in reason(series)


@pytest.mark.parametrize("whitespace", ["nowarn", "fix", "error-all"])
def test_the_machines_configuration_changes_no_verdict(whitespace: str, upstream: Upstream, tmp_path: Path) -> None:
    """https://github.com/git-pile/git-pile/pull/67: trailing blanks of the payload vanished, and later patches failed."""
    home = tmp_path / "user"
    home.mkdir()
    text = f"[apply]\n\twhitespace = {whitespace}\n\tignoreWhitespace = change\n[core]\n\tautocrlf = true\n\tfileMode = false\n"
    (home / ".gitconfig").write_text(text)
    first: Files = {"f": lines((10, "blanks  "))}
    second: Files = {"f": lines((10, "blanks  "), (11, "eleven"))}
    patches = [upstream.diff({"f": PLAIN}, first), upstream.diff(first, second)]
    machine = {"PATH": ENVIRONMENT["PATH"], "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    with Git(machine) as git:
        series = Upstream(upstream.path, git).judge({"f": PLAIN}, *patches)
    assert [one.patch.state for one in series.patches] == ["applies", "applies"]
    assert series.tree == upstream.run("rev-parse", f"{upstream.commit(second)}^{{tree}}").decode().strip()


def test_a_missing_mark_for_the_final_newline_is_named(upstream: Upstream) -> None:
    """https://github.com/src-d/go-git/issues/936: the tool that wrote the diff left the mark out."""
    old, new = b"a\nb\nc", b"a\nB\nc"
    patch = upstream.diff({"f": old}, {"f": new})
    assert b"\\ No newline" in patch
    assert state(upstream.judge({"f": old}, patch)) == "applies"
    series = upstream.judge({"f": old}, patch.replace(b"\\ No newline at end of file\n", b""))
    assert state(series) == "conflict"
    assert "differs only in the newline at the end of the file" in reason(series)


def test_a_patch_of_a_pointer_file_is_refused_with_the_reason(upstream: Upstream) -> None:
    """https://github.com/git-lfs/git-lfs/issues/3958: what a checkout holds there is the file, or the pointer."""
    old, new = (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (digit * 64, size)
        for digit, size in ((b"1", 5), (b"2", 7))
    )
    patch = upstream.diff({"weights.bin": old, "f": b"a\n"}, {"weights.bin": new, "f": b"b\n"})
    series = upstream.judge({"weights.bin": old, "f": b"a\n"}, patch)
    assert state(series) == "conflict"
    assert "weights.bin: it is a Git LFS pointer" in reason(series)


def test_plain_diffs_and_mails_are_judged_alike(upstream: Upstream, tmp_path: Path) -> None:
    """https://github.com/stackabletech/docker-images/pull/1003: a mailbox splitter refused the plain ones."""
    mail = b"From 1111 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\n\n- a list\n+ in prose\n---\n f | 2 +-\n\n"
    second = GOOD.replace(b"line 10", b"line 20").replace(b"line 9", b"line 19").replace(b"line 11", b"line 21")
    second = second.replace(b"-9,3 +9,3", b"-19,3 +19,3")
    mails = mail + GOOD + b"-- \n2.39.5\n\n" + mail + second.replace(b"ten", b"twenty") + b"-- \n2.39.5\n\n"
    plain = (
        b"diff -ru old/g new/g\n--- old/g\t2024-01-02 03:04:05.000 +0000\n+++ new/g\t2024-01-02 03:04:06.000 +0000\n"
        + HUNK
    )
    now: Files = {"f": PLAIN, "g": PLAIN}
    series = upstream.judge(now, mails, plain)
    assert [one.patch.state for one in series.patches] == ["applies", "applies"], reason(series)
    assert series.tree == upstream.by_hand(now, [mails, plain], tmp_path / "work")
    done = upstream.judge({"f": lines((10, "ten"), (20, "twenty")), "g": CHANGED}, mails, plain)
    assert [one.patch.state for one in done.patches] == ["already-there", "already-there"]


def test_a_plain_diff_that_makes_and_takes_away_files(upstream: Upstream, tmp_path: Path) -> None:
    for name, content in {"old/gone": b"x\n", "old/same": b"s\n", "new/same": b"s\n", "new/made": b"m\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    for zone in ("UTC0", "EST5", "IST-5:30"):
        patch = subprocess.run(
            ["diff", "-ruN", "old", "new"],
            cwd=tmp_path,
            env={**ENVIRONMENT, "TZ": zone},
            capture_output=True,
            check=False,
        ).stdout
        assert b"19" in patch
        assert state(upstream.judge({"gone": b"x\n", "same": b"s\n"}, patch)) == "applies"
        landed = upstream.judge({"made": b"m\n", "same": b"s\n"}, patch)
        assert (state(landed), "gone: it is not there, and no tree tells" in reason(landed)) == ("conflict", True)


def test_the_authors_scratch_folder_in_the_headers(upstream: Upstream) -> None:
    """https://github.com/tonyd2wild/DeepSeek-V4.1-Flash-vLLM-DGX-Spark/pull/4"""
    patch = GOOD.replace(b"/f", b"/private/tmp/x/attention.py")
    series = upstream.judge({"pkg/models/attention.py": PLAIN}, patch)
    assert state(series) == "target-gone"
    assert "private/tmp/x/attention.py: is not there; one file has that name: pkg/models/attention.py" in reason(series)


@pytest.mark.parametrize("head", [b"diff --git a/n b/n\n", b""])
def test_a_new_file_described_as_a_change(head: bytes, upstream: Upstream) -> None:
    """https://github.com/status-im/status-go/pull/647. Of a plain diff git would make a file, which is a guess."""
    series = upstream.judge({"f": PLAIN}, head + b"--- a/n\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n")
    assert state(series) == "target-gone"
    assert "old side is empty: probably a new file" in reason(series)


def test_every_patch_is_judged_on_the_tree_without_those_that_do_not_fit(upstream: Upstream, tmp_path: Path) -> None:
    two = upstream.diff({"f": CHANGED}, {"f": lines((10, "ten"), (25, "x"))})
    on_two = upstream.diff({"f": lines((10, "ten"), (25, "x"))}, {"f": lines((10, "ten"), (25, "y"))})
    new = upstream.diff({}, {"n": b"n\n"})
    again = upstream.diff({"n": b"n\n"}, {"n": b"m\n"})
    now: Files = {"f": lines((25, "other"))}
    series = upstream.judge(now, GOOD, b"", two, new, on_two, again, GOOD)
    states = [one.patch.state for one in series.patches]
    assert states == ["applies", "unreadable", "conflict", "applies", "conflict", "applies", "already-there"]
    assert series.state == "unreadable"
    assert series.patches[0].reason is None
    assert "without patches/2.patch, which" in reason(series, 3)
    assert reason(series, 4) == "judged on the tree without patches/2.patch, patches/3.patch, which does not fit"
    assert series.tree == upstream.by_hand(now, [GOOD, new, again], tmp_path / "work")


def test_a_name_that_breaks_lines_cannot_forge_a_reason(upstream: Upstream) -> None:
    evil = "x\nerror: patch failed: f"
    patch = upstream.diff({evil: PLAIN}, {evil: CHANGED})
    series = judge(
        upstream.commit({evil: b""}),
        [PatchFile("p\n::error::x", patch)],
        ObjectStore(upstream.git, upstream.path),
        None,
    )
    assert state(series) == "unreadable"
    assert reason(series).isprintable()


def test_a_hostile_name_of_a_patch_file_is_escaped_in_the_reasons_of_others(upstream: Upstream) -> None:
    patches = [PatchFile("p\n::error::x", b""), PatchFile("q", GOOD)]
    series = judge(upstream.commit({"f": PLAIN}), patches, ObjectStore(upstream.git, upstream.path), None)
    assert "without p\\n::error::x, which" in reason(series, 2)


def filtered(upstream: Upstream, tmp_path: Path, commit: str) -> Path:
    """A store without files, as a fetch with `--filter=blob:none` leaves it."""
    upstream.run("config", "uploadpack.allowAnySHA1InWant", "true")
    store = tmp_path / "store.git"
    upstream.run("init", "--quiet", "--bare", str(store), env={"GIT_DIR": str(store)})
    url = f"file://{upstream.path}"
    upstream.run("fetch", "--quiet", "--depth=1", "--filter=blob:none", url, commit, env={"GIT_DIR": str(store)})
    return store


def test_files_that_are_missing_are_fetched_once_for_the_whole_series(upstream: Upstream, tmp_path: Path) -> None:
    now: Files = {"f": PLAIN, "g": b"g\n" + PLAIN, "r": b"r\n" + PLAIN, "i": PNG, "other": b"not touched\n"}
    changed: Files = {"g": b"g\n" + CHANGED, "e": b"r\n" + CHANGED, "i": PNG2}
    second = upstream.diff({name: now[name] for name in ("g", "r", "i")}, changed, "-M", "--binary")
    assert b"rename from r" in second
    assert b"delta" in second
    commit = upstream.commit(now)
    path = filtered(upstream, tmp_path, commit)
    store = ObjectStore(upstream.git, path)
    asked: list[list[str]] = []

    def fetch(blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        asked.append(sorted((*blobs, *helpful)))
        upstream.run(
            "fetch", "--quiet", "--filter=blob:none", f"file://{upstream.path}", *blobs, env={"GIT_DIR": str(path)}
        )

    series = judge(commit, [PatchFile("a", GOOD), PatchFile("b", second), PatchFile("c", GOOD)], store, fetch)
    assert [one.patch.state for one in series.patches] == ["applies", "applies", "already-there"]
    touched = [upstream.run("rev-parse", f"{commit}:{name}").decode().strip() for name in ("f", "g", "r", "i")]
    assert asked == [sorted(touched)]
    assert series.tree == upstream.by_hand(now, [GOOD, second], tmp_path / "work")


def test_each_patch_costs_one_reading_and_each_that_applies_one_application(
    upstream: Upstream, recording_git: Any, machine: dict[str, str]
) -> None:
    patches = [PatchFile("a", GOOD), PatchFile("b", OTHER), PatchFile("c", GOOD)]
    commit = upstream.commit({"f": PLAIN, "g": lines((10, "X"))})
    with Git(machine, program=recording_git.program) as git:
        series = judge(commit, patches, ObjectStore(git, upstream.path), None)
    assert [one.patch.state for one in series.patches] == ["applies", "conflict", "already-there"]
    applies = [call for call in recording_git.calls if call[0] == "apply"]
    assert ["--numstat" in call for call in applies] == [True, True, True, False]


class OtherReader(ObjectStore):
    """A git that reads something else in a patch file than we do."""

    announced = Announced()

    def numstat(self, patch: bytes, **options: Any) -> Announced:
        return self.announced if patch and options else Announced()


@pytest.mark.parametrize(
    ("announced", "says"),
    [
        (Announced((b"f", b"g")), "git reads other files in it than regraft does: f, g"),
        (Announced(complaint="corrupt patch at line 7"), "git says 'corrupt patch at line 7'"),
    ],
)
def test_where_git_reads_a_patch_otherwise_it_is_unreadable(
    announced: Announced, says: str, upstream: Upstream
) -> None:
    store = OtherReader(upstream.git, upstream.path)
    store.announced = announced
    series = judge(upstream.commit({"f": PLAIN}), [PatchFile("p", GOOD)], store, None)
    assert (state(series), reason(series)) == ("unreadable", f"line 1: {says}")


class OtherGit(ObjectStore):
    """A git that applies something else than it is given."""

    def read_tree(self, commit: Commit) -> ScratchIndex:
        index = super().read_tree(commit)

        class Other(ScratchIndex):
            def apply(self, patch: bytes, **options: Any) -> ApplyOutcome:
                return index.apply(self.instead(patch), **options)

            instead = staticmethod(self.instead)

        return Other(self._git, self._repository(), Path(str(index.at.index)))

    instead: Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("instead", "says"),
    [
        (lambda patch: patch.replace(b"+ten", b"+eleven"), "git makes something else of f than regraft does"),
        (lambda patch: patch.replace(b"-line 10", b"-line X"), "p applies, and git says"),
    ],
)
def test_where_git_disagrees_it_is_an_error_and_never_a_state(
    instead: Callable[[bytes], bytes], says: str, upstream: Upstream
) -> None:
    store = OtherGit(upstream.git, upstream.path)
    store.instead = instead
    with pytest.raises(OutsideError) as caught:
        judge(upstream.commit({"f": PLAIN}), [PatchFile("p", GOOD)], store, None)
    assert caught.value.code == "engine-disagrees"
    assert says in caught.value.message


def test_the_file_that_a_patch_was_made_on_is_looked_for_in_the_store(upstream: Upstream) -> None:
    """The change landed, and the line after it was edited: without the base that is a conflict."""
    patch = upstream.diff({"f": PLAIN}, {"f": CHANGED})
    now: Files = {"f": lines((10, "ten"), (11, "eleven"))}
    series = upstream.judge(now, patch)
    assert (state(series), reason(series)) == ("already-there", "f: a larger change contains it")
    assert state(upstream.judge(now, patch.replace(b"\nindex ", b"\nindex 1234567890"))) == "conflict"


def test_a_declared_strip_level_and_root_are_gits_too(upstream: Upstream, tmp_path: Path) -> None:
    """A patch that was made for site-packages, on a tree that has the package further down."""
    now: Files = {"python/sglang/f": PLAIN, "sglang/f": PLAIN}
    patch = GOOD.replace(b"a/f", b"x/y/sglang/f").replace(b"b/f", b"x/y/sglang/f")
    files = [PatchFile("p", patch, strip=2, root=b"python/")]
    commit = upstream.commit(now)
    series = judge(commit, files, ObjectStore(upstream.git, upstream.path), None)
    assert state(series) == "applies", reason(series)
    assert series.tree == upstream.by_hand({**now, "python/sglang/f": CHANGED}, [], tmp_path / "work")


def bring_nothing(blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
    pass


@pytest.mark.parametrize("fetch", [None, bring_nothing], ids=["no way to fetch", "the fetch brings nothing"])
def test_missing_files_are_an_error_and_never_a_state(
    fetch: Callable[..., None] | None, upstream: Upstream, tmp_path: Path
) -> None:
    commit = upstream.commit({"f": PLAIN})
    store = ObjectStore(upstream.git, filtered(upstream, tmp_path, commit))
    with pytest.raises(OutsideError) as caught:
        judge(commit, [PatchFile("a", GOOD)], store, fetch)
    assert caught.value.code == "missing-objects"
    assert "1 files that the patches touch are not here" in caught.value.message


def test_a_missing_git_is_an_error_and_never_a_state(upstream: Upstream, machine: dict[str, str]) -> None:
    commit = upstream.commit({"f": PLAIN})
    with Git(machine, program="/nonexistent/git") as git, pytest.raises(OutsideError) as caught:
        judge(commit, [PatchFile("a", GOOD)], ObjectStore(git, upstream.path), None)
    assert caught.value.code == "missing-program"


def test_the_plan_gets_the_digest_of_the_files_bytes(upstream: Upstream) -> None:
    planned: Judged = upstream.judge({"f": PLAIN}, GOOD).patches[0]
    assert planned.patch.path == "patches/1.patch"
    assert len(planned.patch.sha256) == 64
    crlf = upstream.judge({"f": PLAIN}, GOOD.replace(b"\n", b"\r\n")).patches[0]
    assert crlf.patch.sha256 != planned.patch.sha256


@pytest.mark.slow
def test_no_single_line_can_be_lost_without_a_word(upstream: Upstream, tmp_path: Path) -> None:
    """Whatever applies after one line of a patch was lost, doubled or cut: it is what git makes of it, in both files."""
    new: Files = {"f": CHANGED, "g": lines((5, "five"), (25, ""))}
    now: Files = {"f": PLAIN, "g": PLAIN}
    rows = upstream.diff(now, new).split(b"\n")[:-1]
    applied = 0
    for number, row in enumerate(rows):
        for instead in ([], [row, row], [row[:-1]]):
            damaged = b"\n".join([*rows[:number], *instead, *rows[number + 1 :]]) + b"\n"
            series = upstream.judge(now, damaged)
            if state(series) == "applies":
                applied += 1
                assert series.tree == upstream.by_hand(now, [damaged], tmp_path / f"work{applied}")
                touched = upstream.run("diff-tree", "--name-only", "-r", upstream.commit(now), series.tree).split()
                assert touched == [b"f", b"g"], damaged
    assert applied > 0


def test_what_was_taken_out_upstream_is_proved_by_the_file_that_the_patch_names(
    upstream: Upstream, tmp_path: Path
) -> None:
    """A shallow store holds neither the deleted file nor the lines that were taken out: their names are enough to fetch them."""
    old: Files = {"f": PLAIN, "g": b"g\n" + PLAIN}
    new: Files = {"f": lines((10, ""))}
    patch = upstream.diff(old, new, "--full-index")
    commit = upstream.commit(new)
    path = filtered(upstream, tmp_path, commit)
    files = [PatchFile("p", patch)]
    calls: list[int] = []

    def fetch(blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        calls.append(len(blobs) + len(helpful))
        url = f"file://{upstream.path}"
        wanted = blobs if len(calls) == 1 else [*blobs, *helpful]
        if wanted:
            upstream.run("fetch", "--quiet", "--filter=blob:none", url, *wanted, env={"GIT_DIR": str(path)})

    without = judge(commit, files, ObjectStore(upstream.git, path), fetch)
    assert state(without) == "conflict"
    assert "2 of the files that it was made on could not be had, and might show more" in reason(without)
    with_both = judge(commit, files, ObjectStore(upstream.git, path), fetch)
    assert "g: it is not there, and no tree tells whether it was deleted" in reason(with_both)
    assert "could not be had" not in reason(with_both)
    assert "f: " not in reason(with_both)  # the lines are proved to be gone
    assert calls == [3, 2]
