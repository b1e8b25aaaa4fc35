"""Reads git objects, and tries patches on temporary indexes: never a checkout, never a repository's own configuration.

The objects are borrowed by a scratch repository (objects/info/alternates) whose configuration is empty: it has no remote, so
that what is missing stays missing and is an error, never a silent fetch; and what is written stays in it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Self

from msgspec import Struct, field

from regraft.adapters import temporary
from regraft.adapters.bare_repository import make_bare
from regraft.adapters.git import At, Git
from regraft.adapters.process import Completed
from regraft.adapters.scratch_index import ScratchIndex, failure, parse_numstat
from regraft.core.globs import matching
from regraft.core.objects import Blob, Commit, Tree, parse_tree
from regraft.core.patterns import regex
from regraft.core.trees import SUBMODULE, Announced, Entry
from regraft.errors import OutsideError

READ_LIMIT = 64 * 1024 * 1024

_PACK = regex(r"pack-([0-9a-f]+)\.(?:pack|idx)")
_LOOSE = regex(r"[0-9a-f]{38}|[0-9a-f]{62}")


class Seen(Struct, frozen=True):
    """What was found in a repository already. A hash names one thing for ever, and nothing goes away while regraft runs."""

    trees: dict[Commit, Tree] = field(default_factory=dict)
    objects: set[Blob] = field(default_factory=set)


class ObjectStore:
    """The objects of one bare repository, whether or not it is whole."""

    def __init__(self, git: Git, git_dir: Path, seen: Seen | None = None) -> None:
        self._git = git
        self._folders: tuple[Path, ...] = (git_dir / "objects",)
        self._shallow: Path | None = git_dir / "shallow"
        self._scratch: Path | None = None
        self._seen = seen or Seen()
        self._listings: dict[Tree, tuple[Entry, ...]] = {}

    @classmethod
    def over(cls, git: Git, objects_dirs: Sequence[Path], shallow: Path | None = None) -> Self:
        """The objects of an existing checkout: its object folders, and its `shallow` file if it has one."""
        store = cls(git, Path())
        store._folders = tuple(objects_dirs)
        store._shallow = shallow
        return store

    @property
    def git_dir(self) -> Path:
        """The scratch repository, for questions of another kind than these."""
        return self._repository()

    def commit_tree(self, commit: Commit) -> Tree:
        """The tree of a commit. Raises OutsideError: missing-objects, not-a-commit."""
        if commit not in self._seen.trees:
            self._seen.trees[commit] = self._commit_tree(commit)
        return self._seen.trees[commit]

    def _commit_tree(self, commit: Commit) -> Tree:
        [(_, kind, _), (oid, _, _)] = self._described([commit, f"{commit}^{{tree}}"])
        if kind == "missing":
            raise _missing([commit])
        if kind != "commit":
            raise OutsideError("not-a-commit", f"{commit} is a {kind} and no commit")
        try:
            return parse_tree(oid)
        except ValueError:
            raise _missing([f"the tree of {commit}"]) from None

    def list_tree(self, tree: Tree) -> tuple[Entry, ...]:
        """Every path of a tree, folders walked through. Raises OutsideError: missing-objects."""
        if tree not in self._listings:
            listing = self._run(["ls-tree", "-r", "-z", "--full-tree", tree])
            self._listings[tree] = tuple(_tree_entries(listing.stdout))
        return self._listings[tree]

    def read_blob(self, oid: Blob, limit: int = READ_LIMIT) -> bytes:
        """The bytes of one blob of at most `limit` bytes. Raises OutsideError: missing-objects, too-large."""
        return self.read_blobs([oid], limit)[oid]

    def read_blobs(self, oids: Sequence[Blob], limit: int = READ_LIMIT) -> dict[Blob, bytes]:
        """The bytes of several blobs of at most `limit` bytes together. Raises OutsideError: missing-objects, too-large."""
        wanted = list(dict.fromkeys(oids))
        described = self._described(wanted)
        if lost := [oid for oid, (_, kind, _) in zip(wanted, described, strict=True) if kind == "missing"]:
            raise _missing(lost)
        size = sum(size for _, _, size in described)
        if size > limit:
            raise OutsideError("too-large", f"{len(wanted)} objects hold {size} bytes; at most {limit} are read")
        if not wanted:
            return {}
        stream = self._run(["cat-file", "--batch"], stdin=_lines(wanted)).stdout
        found, at = {}, 0
        for oid, (_, _, length) in zip(wanted, described, strict=True):
            at = stream.index(b"\n", at) + 1
            found[oid] = stream[at : at + length]
            at += length + 1
        return found

    def each_blob(self, oids: Sequence[Blob], limit: int = READ_LIMIT) -> Iterator[tuple[Blob, bytes]]:
        """Each blob with its bytes, read in batches of about `limit` bytes. Raises OutsideError: missing-objects, too-large."""
        wanted = list(dict.fromkeys(oids))
        batch: list[Blob] = []
        size = 0
        for oid, (_, kind, length) in zip(wanted, self._described(wanted), strict=True):
            if kind == "missing":
                raise _missing([oid])
            if batch and size + length > limit:
                yield from self.read_blobs(batch, limit).items()
                batch, size = [], 0
            batch.append(oid)
            size += length
            limit = max(limit, length)
        yield from self.read_blobs(batch, limit).items()

    def find_blobs(self, names: Sequence[str], limit: int = READ_LIMIT) -> dict[str, bytes]:
        """The blobs that are here, of at most `limit` bytes each, by the names that were given (the beginning of one will do).

        A name that is not here, names no blob, or begins several, is left out.
        """
        wanted = list(dict.fromkeys(names))
        full = {
            name: Blob(oid)
            for name, (oid, kind, size) in zip(wanted, self._described(wanted), strict=True)
            if kind == "blob" and size <= limit
        }
        contents = dict(self.each_blob([*full.values()], limit))
        return {name: contents[oid] for name, oid in full.items()}

    def missing(self, oids: Sequence[Blob]) -> tuple[Blob, ...]:
        """Those of the objects that are not here, in their order, each once."""
        wanted = [oid for oid in dict.fromkeys(oids) if oid not in self._seen.objects]
        described = self._described(wanted)
        missing = tuple(oid for oid, (_, kind, _) in zip(wanted, described, strict=True) if kind == "missing")
        self._seen.objects.update(wanted)
        self._seen.objects.difference_update(missing)
        return missing

    def read_tree(self, commit: Commit) -> ScratchIndex:
        """An index of its own that holds the commit's tree. Raises OutsideError: missing-objects."""
        scratch = self._repository()
        path = temporary.folder(scratch, "index-") / "index"
        self._run(["read-tree", commit], index=path)
        return ScratchIndex(self._git, scratch, path)

    def numstat(self, patch: bytes, *, names: Sequence[str] = ("-p1",)) -> Announced:
        """The path of each file section that git reads from a patch.

        `names` are the options that say how names are to be read (`PatchText.git_arguments`).
        """
        arguments = ["apply", "--numstat", "-z", *names, "-"]
        at = At(git_dir=self._repository())
        return parse_numstat(self._git.run(arguments, at, stdin=patch))

    def changed_paths(self, a: Commit | Tree, b: Commit | Tree, globs: Sequence[str]) -> tuple[str, ...]:
        """The paths that differ between two trees and that a pattern matches (`core.globs`); blobs are not read.

        The path of a submodule, before or after, ends in `/`.
        """
        if not globs:
            return ()
        arguments = ["diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-ext-diff"]
        fields = iter(self._run([*arguments, f"{a}^{{tree}}", f"{b}^{{tree}}"]).stdout.split(b"\0")[:-1])
        return matching(globs, (_changed_name(modes, name) for modes, name in zip(fields, fields, strict=True)))

    def is_ancestor(self, a: Commit, b: Commit) -> bool:
        """Whether `a` is `b` or before it, as far as the history is here: a shallow one may not reach back to it."""
        completed = self._run(["merge-base", "--is-ancestor", a, b], expected=(0, 1))
        return completed.returncode == 0

    def config_list(self, text: bytes) -> tuple[tuple[str, str], ...] | str:
        """The (key, value) pairs of a file in git's configuration format, or what git says is wrong with it."""
        path = temporary.folder(self._repository(), "config-") / "text"
        path.write_bytes(text)
        arguments = ["config", "--file", str(path), "--no-includes", "--null", "--list"]
        completed = self._git.run(arguments, At(git_dir=self._repository()))
        if completed.returncode != 0:
            said = completed.stderr.decode("utf-8", "replace").replace(str(path), "the file").strip()
            return said.split("\n", 1)[0]
        entries = completed.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return tuple((key, value) for key, _, value in (entry.partition("\n") for entry in entries))

    def _described(self, names: Sequence[str]) -> list[tuple[str, str, int]]:
        """(oid, kind, size) of each name; kind is "missing" where it is not here."""
        if not names:
            return []
        completed = self._run(
            ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"], stdin=_lines(names)
        )
        described = []
        for line in completed.stdout.decode("ascii", "replace").splitlines():
            oid, kind, *size = line.rsplit(" ", 2) if not line.endswith(" missing") else (line, "missing")
            described.append((oid, kind, int(size[0]) if size else 0))
        return described

    def _run(
        self, arguments: Sequence[str], *, stdin: bytes = b"", index: Path | None = None, expected: Sequence[int] = (0,)
    ) -> Completed:
        completed = self._git.run(arguments, At(git_dir=self._repository(), index=index), stdin=stdin)
        if completed.returncode not in expected:
            raise failure(completed)
        return completed

    def _repository(self) -> Path:
        """The scratch repository, made when it is first needed; a history that got deeper since is followed."""
        if self._scratch is None:
            path = temporary.folder(self._git.folder, "objects-")
            form = _format(self._folders)
            if form == "sha1":
                make_bare(path)
            else:
                self._make_sha256(path)
            write_alternates(path, self._folders)
            self._scratch = path
        if self._shallow is not None:
            _follow(self._shallow, self._scratch / "shallow")
        return self._scratch

    def _make_sha256(self, path: Path) -> None:
        """By git itself, which may be too old to know the format."""
        made = self._git.run(["init", "--quiet", "--bare", "--template=", "--object-format=sha256", str(path)])
        if made.returncode != 0:
            hint = "install git 2.29 or newer"
            raise OutsideError("object-format", "this git cannot read sha256 repositories", hint=hint)


def write_alternates(repository: Path, folders: Sequence[Path]) -> None:
    """Let a bare repository borrow the objects in these folders."""
    info = repository / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_bytes(b"".join(_alternate(folder) for folder in folders))


def _follow(shallow: Path, copy: Path) -> None:
    """Where the history ends, as it is now: a fetch may have moved that, or have brought all of it."""
    if shallow.is_file():
        copy.write_bytes(shallow.read_bytes())
    else:
        copy.unlink(missing_ok=True)


def _alternate(folder: Path) -> bytes:
    """A line of objects/info/alternates: quoted, so that no name is taken for a comment or for two."""
    name = bytes(folder.resolve()).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + name + b'"\n'


def _format(folders: Sequence[Path]) -> Literal["sha1", "sha256"]:
    """By the length of the names in the object folders. Raises OutsideError: object-format where both occur."""
    lengths = {length for folder in folders if (length := _name_length(folder))}
    if len(lengths) > 1 or not lengths <= {40, 64}:
        raise OutsideError("object-format", f"objects in {str(folders[0])!r:.200} have names of several lengths")
    return "sha256" if lengths == {64} else "sha1"


def _name_length(folder: Path) -> int | None:
    if not folder.is_dir():
        raise OutsideError("missing-objects", f"there is no folder of objects {str(folder)!r:.200}")
    try:
        for path in folder.glob("pack/pack-*"):
            if match := _PACK.fullmatch(path.name):
                return len(match[1])
        for path in folder.glob("[0-9a-f][0-9a-f]/*"):
            if _LOOSE.fullmatch(path.name):
                return len(path.name) + 2
    except OSError as error:
        raise OutsideError("no-permission", f"{str(folder)!r:.200} cannot be read: {error.strerror}") from None
    return None


def _changed_name(modes: bytes, name: bytes) -> str:
    """From `:OLDMODE NEWMODE OLD NEW STATUS` and a path, as `diff-tree --raw -z` has them."""
    end = "/" if SUBMODULE.encode() in modes[1:].split(b" ")[:2] else ""
    return name.decode("utf-8", "surrogateescape") + end


def _tree_entries(listing: bytes) -> Iterator[Entry]:
    for record in listing.split(b"\0")[:-1]:
        meta, _, path = record.partition(b"\t")
        mode, kind, oid = meta.decode("ascii").split(" ")
        yield Entry(mode, "commit" if kind == "commit" else "blob", oid, path)


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")


def _missing(names: Sequence[str]) -> OutsideError:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return OutsideError(
        "missing-objects",
        f"objects are not here: {', '.join(names[:3])}{more}",
        hint="fetch them first (a clone without blobs or with little history lacks them)",
    )
