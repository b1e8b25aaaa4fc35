"""First-parent history of a set of paths, by one `git log` whose answer is read as it comes.

Git is given no paths: it compares each path of a tree with each of a hundred arguments, and takes fifteen times as long as
for the whole difference, which is picked over here.
"""

from collections.abc import Collection, Iterator, Sequence
from io import BufferedReader

from regraft.adapters.git import At, Git
from regraft.adapters.object_store import ObjectStore
from regraft.adapters.process import Completed
from regraft.adapters.scratch_index import failure
from regraft.core.objects import Commit, Tree, parse_commit, parse_tree
from regraft.core.patch_history import Change, Line, Renamed, Touch, Version
from regraft.core.patterns import regex
from regraft.core.trees import Entry, printable

PIECE = 256 * 1024
SUBJECT = 400  # characters kept
RENAMES = 1_000  # git compares at most the square of so many pairs

_LOG = ("log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-color")
_FORMAT = "--format=%H %T %ct %P%x00%s"
_NONE = "000000"
_PAIR = regex(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64})\n")


class Paths:
    """Which of the paths that a commit changed are of interest."""

    def __init__(self, paths: Collection[bytes], oids: Collection[str] = ()) -> None:
        """`oids` are names of blobs, or beginnings of them: what comes to hold one, or held one, is of interest too."""
        self._oids = regex(b"|".join(rb" %b[0-9a-f]* " % oid.encode("ascii") for oid in oids)) if oids else None
        self._paths = frozenset(paths)
        self._above = frozenset(above for path in paths for above in _above(path))

        self._folders: dict[bytes, bool] = {}  # whether a folder is one of the paths, or below one

    def has(self, path: bytes, meta: bytes) -> bool:
        """`meta` is what git says of the change, with both blobs' names."""
        if path in self._paths or path in self._above or (self._oids is not None and self._oids.search(meta)):
            return True
        folder = path.rpartition(b"/")[0]
        if folder not in self._folders:
            self._folders[folder] = any(above in self._paths for above in (folder, *_above(folder)))
        return self._folders[folder]


class FirstParent:
    """The first-parent history that one store holds. `shallow` are the commits whose parents were cut off."""

    def __init__(self, git: Git, store: ObjectStore, shallow: Collection[str] = ()) -> None:
        self._git = git
        self._store = store
        self._shallow = frozenset(shallow)

    def line(  # noqa: PLR0913 - keyword-only but for what is asked
        self,
        tip: Commit,
        paths: Collection[bytes],
        *,
        last: int | None = None,
        since: Commit | None = None,
        known: Collection[Commit] = (),
        oids: Collection[str] = (),
    ) -> Line:
        """The first-parent commits from `tip` on: `last` of them at most, none that `since` leads to, and none from the first
        of `known` on (which is then the line's `beyond`). Changes of files that hold one of `oids` count as well.

        One process. Raises OutsideError: missing-objects, git-failed.
        """
        arguments = [*_LOG, _FORMAT, "--encoding=UTF-8", *([f"--max-count={last}"] if last is not None else [])]
        wanted, stop = Paths(paths, oids), frozenset(known)
        commits: list[Commit] = []
        touches: list[Touch] = []
        beyond: Commit | None = None
        with self._git.piped(
            [*arguments, tip, *([f"^{since}"] if since else []), "--"], At(git_dir=self._store.git_dir)
        ) as pipe:
            for head, changes in _records(pipe.stdout):
                fields = head[0].decode("ascii").split(" ")
                commit = Commit(fields[0])
                if commit in stop:
                    return Line(tuple(commits), tuple(touches), commit)
                picked = _picked(changes, wanted)
                if picked and commit not in self._shallow:
                    touches.append(_touch(len(commits), fields, head[1], picked))
                commits.append(commit)
                beyond = Commit(fields[3]) if fields[3] else None
            code, said = pipe.end()
        if code != 0:
            raise failure(Completed(_LOG, code, b"", said))
        cut = bool(commits) and commits[-1] in self._shallow
        return Line(tuple(commits), tuple(touches), beyond, cut)

    def named(self, tree: str, names: Collection[bytes]) -> Iterator[Entry]:
        """The files anywhere in a tree that have one of these names. One process."""
        completed = self._git.run(["ls-tree", "-r", "-z", "--full-tree", tree], At(git_dir=self._store.git_dir))
        if completed.returncode != 0:
            raise failure(completed)
        for record in completed.stdout.split(b"\0"):
            if (record.rpartition(b"/")[2] if b"/" in record else record.partition(b"\t")[2]) in names:
                meta, _, path = record.partition(b"\t")
                mode, kind, oid = meta.decode("ascii").split(" ")
                yield Entry(mode, "commit" if kind == "commit" else "blob", oid, path)

    def renames(
        self, pairs: Collection[tuple[Tree, Tree]], similarity: int = 30
    ) -> dict[tuple[Tree, Tree], tuple[Renamed, ...]]:
        """The files that were moved from one tree to the other of each pair, down to that similarity in percent.

        One process for all of them; it reads files that a partial clone may lack: OutsideError `missing-objects`.
        """
        wanted = list(dict.fromkeys(pairs))
        if not wanted:
            return {}
        arguments = ["diff-tree", "--stdin", "-r", "--raw", "-z", "--no-ext-diff", "--no-abbrev"]
        arguments += [f"-M{similarity}%", f"-l{RENAMES}", "--diff-filter=R"]
        asked = "".join(f"{old} {new}\n" for old, new in wanted).encode("ascii")
        completed = self._git.run(arguments, At(git_dir=self._store.git_dir), stdin=asked)
        if completed.returncode != 0:
            raise failure(completed)
        found: dict[tuple[Tree, Tree], list[Renamed]] = {pair: [] for pair in wanted}
        fields = iter(completed.stdout.split(b"\0"))
        pair = wanted[0]
        for field in fields:
            meta = field
            while match := _PAIR.match(meta):
                pair = (Tree(match[1].decode("ascii")), Tree(match[2].decode("ascii")))
                meta = meta[match.end() :]
            if meta:
                score = int(meta.rpartition(b" R")[2])
                found[pair].append(Renamed(next(fields), next(fields), score))
        return {one: tuple(renames) for one, renames in found.items()}


def tree_changes(
    git: Git,
    store: ObjectStore,
    pairs: Sequence[tuple[Tree, Tree]],
    paths: Collection[bytes],
    oids: Collection[str] = (),
) -> list[tuple[Change, ...]]:
    """What differs between the two trees of each pair, as far as it is of interest (`Paths`). One process."""
    if not pairs:
        return []
    wanted = Paths(paths, oids)
    arguments = ["diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-abbrev"]
    asked = "".join(f"{old} {new}\n" for old, new in dict.fromkeys(pairs)).encode("ascii")
    completed = git.run(arguments, At(git_dir=store.git_dir), stdin=asked)
    if completed.returncode != 0:
        raise failure(completed)
    found: dict[tuple[str, str], list[tuple[bytes, bytes]]] = {}
    fields = iter(completed.stdout.split(b"\0"))
    for meta in fields:
        while match := _PAIR.match(meta):
            pair = match[1].decode("ascii"), match[2].decode("ascii")
            found.setdefault(pair, [])
            meta = meta[match.end() :]  # noqa: PLW2901 - what stands before an entry
        if meta:
            found[pair].append((meta, next(fields)))
    return [_picked(found.get(pair, []), wanted) for pair in pairs]


def _records(stream: BufferedReader) -> Iterator[tuple[tuple[bytes, bytes], list[tuple[bytes, bytes]]]]:
    """Per commit the two fields of the format, and its raw entries as (what changed, path)."""
    head: tuple[bytes, bytes] | None = None
    changes: list[tuple[bytes, bytes]] = []
    fields = _fields(stream)
    for field in fields:
        first = field.lstrip(b"\n")  # one stands between a commit and its entries
        if first.startswith(b":"):
            changes.append((first, next(fields)))
        elif first:
            if head is not None:
                yield head, changes
            head, changes = (first, next(fields)), []
    if head is not None:
        yield head, changes


def _fields(stream: BufferedReader) -> Iterator[bytes]:
    """What stands between NULs, read piece by piece."""
    rest = b""
    while piece := stream.read1(PIECE):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _touch(position: int, fields: list[str], said: bytes, changes: tuple[Change, ...]) -> Touch:
    commit, tree, date, *parents = fields
    subject = printable(said[: 4 * SUBJECT].decode("utf-8", "replace"), SUBJECT)
    found = tuple(parse_commit(parent) for parent in parents if parent)
    return Touch(position, parse_commit(commit), parse_tree(tree), int(date or 0), subject, found, changes)


def _picked(changes: list[tuple[bytes, bytes]], wanted: Paths) -> tuple[Change, ...]:
    return tuple(_change(meta, path) for meta, path in changes if wanted.has(path, meta))


def _change(meta: bytes, path: bytes) -> Change:
    """From `:OLDMODE NEWMODE OLD NEW STATUS`."""
    old_mode, new_mode, old, new, _ = meta[1:].decode("ascii").split(" ")
    before = None if old_mode == _NONE else Version(old_mode, old)
    return Change(path, before, None if new_mode == _NONE else Version(new_mode, new))


def _above(path: bytes) -> Iterator[bytes]:
    at = path.rfind(b"/")
    while at > 0:
        yield path[:at]
        at = path.rfind(b"/", 0, at)
