"""A scratch repository that borrows a checkout's objects, and asks git about them under our own configuration."""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regraft.adapters.git import At, Git
from regraft.adapters.process import Completed
from regraft.core.checkout_tree import Entry
from regraft.core.objects import Commit, Tree, parse_tree
from regraft.core.observation import CarriedPatch
from regraft.errors import OutsideError

ATTRIBUTES = ("text", "eol", "working-tree-encoding", "ident", "filter")


@dataclass(frozen=True, slots=True)
class Expected:
    """A commit with patches on it, in an index of its own. `applied` says for each patch whether it went on."""

    tree: Tree
    entries: Mapping[str, Entry]
    touched: tuple[str, ...]
    applied: Mapping[str, bool]
    index: Path
    sha256: bool


class Scratch:
    """Lives as long as its `Git`. The lender's configuration, hooks, index and refs play no part."""

    def __init__(self, git: Git, folder: Path, *, shallow: bool) -> None:
        self._git = git
        self._folder = folder
        self._shallow = shallow
        self._indexes = 0

    @classmethod
    def over(cls, git: Git, objects: Sequence[Path], shallow: Path | None, *, sha256: bool = False) -> "Scratch":
        """A repository that sees the objects in these folders. `shallow` is the lender's file of that name."""
        folder = Path(tempfile.mkdtemp(prefix="scratch-", dir=git.folder))
        form = ["--object-format=sha256"] if sha256 else []
        made = git.run(["init", "--quiet", "--bare", "--template=", *form, str(folder)])
        if made.returncode != 0:
            raise _failed(made)
        info = folder / "objects" / "info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "alternates").write_bytes(b"".join(os.fsencode(path) + b"\n" for path in objects))
        if shallow is not None:
            (folder / "shallow").write_bytes(shallow.read_bytes())
        return cls(git, folder, shallow=shallow is not None)

    def expect(self, commit: Commit, patches: Sequence[CarriedPatch]) -> Expected | None:
        """What the commit and those of the patches that have data make; None where the commit's trees are not at hand."""
        self._indexes += 1
        index = self._folder / f"index-{self._indexes}"
        at = At(git_dir=self._folder, index=index)
        if self.tree_of(commit) is None or self._git.run(["read-tree", commit], at).returncode != 0:
            return None
        before = self._listed(at)
        applied = {}
        for patch in patches:
            if patch.data is not None:
                applied[patch.path] = self._git.run(["apply", "--cached", "-"], at, stdin=patch.data).returncode == 0
        after = self._listed(at) if any(applied.values()) else before
        written = self._git.run(["write-tree", "--missing-ok"], at)
        if written.returncode != 0:
            raise _failed(written)
        touched = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
        tree = parse_tree(written.stdout.decode("ascii").strip())
        return Expected(tree, after, tuple(sorted(touched)), applied, index, len(commit) == 64)

    def _listed(self, at: At) -> dict[str, Entry]:
        listing = self._git.run(["ls-files", "--stage", "-z"], at)
        if listing.returncode != 0:
            raise _failed(listing)
        return _entries(listing.stdout, mode=0, name=1)

    def entries(self, commit: Commit) -> dict[str, Entry] | None:
        """The entries of a commit, or None where its trees are not at hand."""
        listing = self._git.run(["ls-tree", "-r", "-z", "--full-tree", commit], At(git_dir=self._folder))
        return _entries(listing.stdout, mode=0, name=2) if listing.returncode == 0 else None

    def tree_of(self, commit: Commit) -> Tree | None:
        answer = self._git.run(["rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}"], At(git_dir=self._folder))
        return parse_tree(answer.stdout.decode("ascii").strip()) if answer.returncode == 0 else None

    def blob(self, name: str) -> bytes | None:
        answer = self._git.run(["cat-file", "blob", name], At(git_dir=self._folder))
        return answer.stdout if answer.returncode == 0 else None

    def changed_paths(self, old: Commit, new: Commit) -> tuple[str, ...] | None:
        """The paths that differ between two commits, without guessing at renames; None where one is not at hand."""
        arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", old, new]
        answer = self._git.run(arguments, At(git_dir=self._folder))
        return tuple(map(os.fsdecode, _split(answer.stdout))) if answer.returncode == 0 else None

    def is_ancestor(self, old: Commit, new: Commit) -> bool | None:
        """Whether `new` has `old` in its history; None where that history is not all there."""
        answer = self._git.run(["merge-base", "--is-ancestor", old, new], At(git_dir=self._folder))
        if answer.returncode == 0:
            return True
        return False if answer.returncode == 1 and not self._shallow else None

    def attributes(self, expected: Expected, paths: Sequence[str]) -> dict[str, dict[str, str]]:
        """Path -> attribute -> value, by the `.gitattributes` of the expected tree and no others."""
        stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
        at = At(git_dir=self._folder, index=expected.index)
        answer = self._git.run(["check-attr", "-z", "--stdin", "--cached", *ATTRIBUTES], at, stdin=stdin)
        if answer.returncode != 0:
            raise _failed(answer)
        fields = iter(_split(answer.stdout))
        found: dict[str, dict[str, str]] = {}
        for path, attribute, value in zip(fields, fields, fields, strict=True):
            found.setdefault(os.fsdecode(path), {})[attribute.decode("ascii")] = value.decode("utf-8", "replace")
        return found

    def ignored(self, paths: Sequence[str], expected: Expected | None, place: Path) -> frozenset[str]:
        """Those of the paths that git ignores: by the expected tree's `.gitignore` files, or else by those at `place`."""
        if not paths:
            return frozenset()
        tree = place if expected is None else self._ignore_files(expected)
        # A leading ./ keeps a name like `:(top)` from being read as a pattern.
        stdin = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        at = At(git_dir=self._folder, index=self._folder / "no-index", work_tree=tree, cwd=tree)
        answer = self._git.run(["check-ignore", "--no-index", "-z", "--stdin"], at, stdin=stdin)
        if answer.returncode not in {0, 1}:
            raise _failed(answer)
        return frozenset(os.fsdecode(path.removeprefix(b"./")) for path in _split(answer.stdout))

    def _ignore_files(self, expected: Expected) -> Path:
        """A folder that holds the `.gitignore` files of a tree and nothing else."""
        folder = Path(tempfile.mkdtemp(prefix="ignore-", dir=self._folder))
        names = [path for path in expected.entries if path.rpartition("/")[2] == ".gitignore"]
        if names:
            stdin = b"".join(os.fsencode(name) + b"\0" for name in names)
            at = At(git_dir=self._folder, index=expected.index, work_tree=folder, cwd=folder)
            made = self._git.run(["checkout-index", "--force", "-z", "--stdin"], at, stdin=stdin)
            if made.returncode != 0:
                raise _failed(made)
        return folder


def _entries(listing: bytes, *, mode: int, name: int) -> dict[str, Entry]:
    found = {}
    for line in _split(listing):
        fields, _, path = line.partition(b"\t")
        parts = fields.decode("ascii").split(" ")
        found[os.fsdecode(path)] = Entry(parts[mode], parts[name])
    return found


def _split(data: bytes) -> Iterable[bytes]:
    return data.split(b"\0")[:-1]


def _failed(completed: Completed) -> OutsideError:
    said = completed.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
    return OutsideError(
        "git-failed", f"git {completed.argv[1]} failed: {said[0] if said else completed.returncode!r:.300}"
    )
