"""What the flows need from outside, in the outside world's own verbs. Adapters satisfy these; tests bring fakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # annotations only, and what they name is half of the package
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from regraft.core.apply_values import Ran, Step, Target, Written
    from regraft.core.journal import Journal, Running, Subject
    from regraft.core.manifest import Image
    from regraft.core.objects import Blob, Commit, Tree
    from regraft.core.observation import ByteCode, Checkout, Environment, Import, Installed, Wanted
    from regraft.core.patch_history import CommitObject, Line, Renamed, Version
    from regraft.core.resolution import Fetched, Reach, Remote, Tip
    from regraft.core.restored import Kept
    from regraft.core.tree_record import Change, Record
    from regraft.core.trees import Announced, ApplyOutcome, Entry, Merge


class ProjectFiles(Protocol):
    """The project's checkout, to read from."""

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a regular file at a relative POSIX path, or None where there is none; of a patch that is given by its
        address (`core.patch_address`) those that are pinned, or None where nothing is asked for them and they are not here.

        InputError: it leaves the project (itself or through a link), is no regular file, or holds more than `limit` bytes.
        OutsideError: other-bytes, patch-not-fetched, of an address alone.
        """

    def names(self, folder: str) -> tuple[str, ...]:
        """The names of the regular files in a folder ("" for the project's root), sorted; none where there is no such folder."""

    def place(self, path: str) -> str:
        """The same path as the caller's working directory names it: what messages and annotations show."""


class ListedFiles(ProjectFiles, Protocol):
    """The same with a list of all files: what git tracks there or would track, else what lies there."""

    @property
    def folder(self) -> str:
        """The name of the project's folder."""

    def paths(self) -> tuple[str, ...]:
        """Every file, as a relative POSIX path, sorted."""

    def exists(self, path: str) -> bool:
        """Whether anything of that name is there, whatever it is."""


class Interpreter(Protocol):
    """An image's Python, asked in fresh processes."""

    def describing(
        self, image: Image, modules: Sequence[str] | None, distributions: Sequence[str]
    ) -> AbstractContextManager[Callable[[], Environment]]:
        """Its environment, where it would find each of `modules` (None: that is not asked), and the commands of `distributions` (normalized names).

        It is at work from the beginning, and what is entered waits for its answer.
        OutsideError, there: it is not there, too old, or gives no answer.
        """

    def try_import(self, image: Image, name: str) -> Import:
        """Import one module; whatever that does is an answer."""

    def byte_code(self, image: Image, sources: Sequence[str]) -> ByteCode:
        """Whether the cached byte code that it would take for these files (absolute paths) is theirs."""


class Checkouts(Protocol):
    """The source trees of a machine, by the manifest's paths."""

    def look(self, dependency: str, path: str, wanted: Wanted) -> Checkout:
        """What is there, compared with what is wanted. OutsideError: git or the disk failed."""

    def changed_paths(self, path: str, old: Commit, new: Commit) -> tuple[str, ...] | None:
        """The paths that differ between two commits, those of submodules with a `/`; None where it does not have both."""

    def tags(self, path: str) -> Mapping[str, Commit]:
        """The tags of a checkout, and what they name: a commit, or the object of an annotated tag."""

    def is_ancestor(self, path: str, old: Commit, new: Commit) -> bool | None:
        """Whether `new` has `old` (a commit or a tag) in its history; None where that history is not all there."""


class Upstream(Protocol):
    """The repositories that refs are looked up in. Each method raises OutsideError where a server or git failed."""

    def ls_remote(self, remote: Remote) -> tuple[Tip, ...]:
        """All branches and tags."""

    def reachable(self, remote: Remote, commits: Sequence[Commit]) -> Reach:
        """Those of the commits that a branch or a tag leads to, or else a pull ref."""

    def fetch(self, remote: Remote, wants: Sequence[str]) -> Fetched:
        """Commits with their trees, by full hash or full ref name, in one fetch; what is missing does not stop the rest."""

    def fetch_blobs(self, url: str, token_env: str | None, blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
        """Bring files that a filtered fetch left out, in one more fetch; `helpful` ones where the server has them."""


class FetchBlobs(Protocol):
    def __call__(self, blobs: Sequence[Blob], helpful: Sequence[Blob] = (), /) -> None:
        """Bring files that a store lacks, in one fetch. That `helpful` ones do not come is no error."""


class ScratchIndex(Protocol):
    """A temporary index, and git's own verdict on patches there."""

    def apply(
        self,
        patch: bytes,
        *,
        names: Sequence[str] = ("-p1",),
        merges: Sequence[Merge] = (),
    ) -> ApplyOutcome:
        """Apply all of it, or nothing. `names` are `PatchText.git_arguments`.

        The files in `merges` are merged three-way by git.

        OutsideError: git itself failed.
        """

    def write_tree(self) -> Tree:
        """The tree of what the index holds."""

    def entries(self) -> tuple[Entry, ...]:
        """Every path in the index."""


class GateStore(Protocol):
    """The objects that were fetched, without a checkout. OutsideError `missing-objects`: one that is needed is not here."""

    def commit_tree(self, commit: Commit) -> Tree:
        """The tree of a commit."""

    def list_tree(self, tree: Tree) -> tuple[Entry, ...]:
        """Every path of a tree, folders walked through."""

    def read_blob(self, oid: Blob, limit: int) -> bytes:
        """The bytes of a blob of at most `limit` bytes."""

    def each_blob(self, oids: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Each blob with its bytes, read in batches."""

    def find_blobs(self, names: Sequence[str], limit: int) -> dict[str, bytes]:
        """Those that are here, of at most `limit` bytes each, by their names or by what their names begin with."""

    def missing(self, oids: Sequence[Blob]) -> tuple[Blob, ...]:
        """Those that are not here."""

    def changed_paths(self, a: Commit, b: Commit, globs: Sequence[str]) -> tuple[str, ...]:
        """The paths that differ between two commits, those of submodules with a `/`, and that a pattern matches."""

    def read_tree(self, commit: Commit) -> ScratchIndex:
        """An index of its own that holds the commit's tree."""

    def numstat(self, patch: bytes, *, names: Sequence[str] = ("-p1",)) -> Announced:
        """The path of each file section that git reads from a patch.

        `names` are `PatchText.git_arguments`.
        """

    def config_list(self, text: bytes) -> tuple[tuple[str, str], ...] | str:
        """The (key, value) pairs of a text in git's configuration format, or what git says is wrong with it."""


class HistorySource(Protocol):
    """One upstream's first-parent history and its objects. OutsideError where git failed."""

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
        """The commits from `tip` on that touched the paths, or files that hold one of `oids`, down to the first of `known`."""

    def renames(self, pairs: Collection[tuple[Tree, Tree]]) -> Mapping[tuple[Tree, Tree], Sequence[Renamed]]:
        """What was moved between the trees of each pair."""

    def complete(self, blobs: Collection[str], helpful: Collection[str] = ()) -> None:
        """Have these files here, and helpful ones if anybody has them, by one batch. OutsideError `missing-blobs`: cannot decide."""

    def commit(self, oid: Commit, /) -> CommitObject:
        """A commit. OutsideError `missing-objects`."""

    def find(self, oid: Commit, /) -> CommitObject | None:
        """A commit, or None where history is cut off before it."""

    def version(self, tree: str, path: bytes, /) -> Version | None:
        """What a tree holds at a path; None for nothing, and for a folder."""

    def versions(self, tree: str, paths: Iterable[bytes], /) -> dict[bytes, Version]:
        """What stands at those of the paths where a file does."""

    def prefetch(self, blobs: Collection[str], /) -> None:
        """Have blobs at hand that are going to be read."""

    def folder(self, tree: str, path: bytes, /) -> str | None:
        """The tree of a folder."""

    def listing(self, tree: str, prefix: bytes = b"", /) -> Iterator[Entry]:
        """Every path of a tree, with a prefix."""

    def named(self, tree: str, names: Collection[bytes], /) -> Iterator[Entry]:
        """The files anywhere in a tree that have one of these names."""

    def blob(self, oid: str, /) -> bytes | None:
        """The bytes of a blob, or None where it is not here."""

    def blob_named(self, prefix: str, /) -> bytes | None:
        """The only blob whose name begins so, or None."""


class Lock(Protocol):
    """Held for as long as anybody has the file open: this process, and each child that was given `fd`."""

    @property
    def fd(self) -> int:
        """What children that may outlive regraft are started with: `process.run(..., keep=(lock.fd,))`."""


class StateFolder(Protocol):
    """Where an apply writes down how far it came. Each method raises OutsideError where the disk failed."""

    def exists(self) -> bool:
        """Whether anything was ever written down here."""

    def lock(self, wait: float, *, end_orphans: bool = False) -> AbstractContextManager[Lock]:
        """Nobody else applies or restores meanwhile. Waits up to `wait` seconds for who does.

        With `end_orphans`, commands that a killed apply left running are waited for as long, and then ended.
        OutsideError: locked (says by whom, and since when). RefusedError: the folder is a link, or another user's.
        """

    def read(self) -> Journal | None:
        """How far the last apply came; None: nothing to give back. RefusedError `damaged-journal`."""

    def write(self, journal: Journal) -> None:
        """Whole or not at all."""

    def reserve(self) -> None:
        """Take some space that a roll-back has when everything else is full; nothing where it is taken already."""

    def release(self) -> None:
        """Give that space free, if it is there."""

    def clear(self) -> None:
        """Forget it all: journal, snapshot, and what was set aside."""

    @property
    def aside(self) -> str:
        """A folder, perhaps not there yet, for files that an apply moves out of the way. It goes with `clear`."""


class Snapshots(Protocol):
    """The baseline as it was before the first change, in the state folder. To be used under the lock."""

    def take(self, subjects: Sequence[Subject]) -> Record:
        """Copy everything below the subjects and note it down. What is there already from an earlier apply stays as it is,
        and the subjects that it does not have are added.

        OutsideError: disk-full (needed and available are said), no-permission, not-saved. Nothing of the image is changed.
        """

    def scan(self, subjects: Sequence[Subject], *, content: bool) -> Record:
        """What is there now, with the digest of every file where `content` is wanted. Copies nothing."""

    def changed_since(self, before: Record, subjects: Sequence[Subject]) -> Record:
        """What is there now; of the files, those have a digest whose stat alone does not prove that they are the same."""

    def hold(self, subjects: Sequence[Subject]) -> Callable[[], tuple[str, ...]]:
        """Keep hold of the folders themselves. What is given back says, once, in whose place something else stands now."""

    def note(self) -> None:
        """Write down what is there now, when an apply has come to its end: what differs from it later is newer."""

    def newer(self) -> tuple[Change, ...] | None:
        """What is neither as the last `note` has it nor as in the baseline; None: there is no note.

        RefusedError: other-version, damaged-snapshot.
        """

    def keep(self, found: Sequence[Change], run: str) -> Kept:
        """Copy the files among these into a folder that stays, and is `run`'s. OutsideError `not-kept`."""

    def give_back(self) -> tuple[str, ...]:
        """Make everything as it was. What could not be given back, a line each; may be run again after any end.

        RefusedError: no-snapshot, other-version, damaged-snapshot (its list cannot be read; then nothing was changed).
        """


class TreeWriter(Protocol):
    """Puts a planned tree into a checkout. Each method raises OutsideError where git or the disk failed."""

    def subjects(self, path: str) -> tuple[Subject, ...]:
        """What is to be recorded for the checkout at a path of the manifest: it, and a repository that lies elsewhere.

        RefusedError `no-repository`.
        """

    def place(self, path: str) -> str:
        """Where a path of the manifest is on this machine: absolute, and through no link but for its last part."""

    def fetch(self, target: Target) -> None:
        """Have the planned commit in the checkout, under a ref of its own. OutsideError `commit-gone`."""

    def prove(self, target: Target) -> None:
        """The patches go on and make the planned tree. RefusedError: patch-does-not-apply, not-the-planned-tree."""

    def write(self, target: Target, aside: str) -> Written:
        """Make files, index and HEAD those of the target. RefusedError for a submodule that cannot follow."""


class Commands(Protocol):
    """Runs install commands."""

    def run(  # noqa: PLR0913 - keyword-only but for what is run
        self,
        step: Step,
        image: Image,
        *,
        run: str,
        externally_managed: bool,
        lock: int,
        started: Callable[[Running], None],
    ) -> Ran:
        """Run one to its end, or past its time to the end of its group. It inherits `lock`; `run` is its REGRAFT_RUN.

        OutsideError: missing-program, no-permission, no-such-folder.
        """


class InstalledFiles(Protocol):
    """What installed distributions say of themselves."""

    def of(self, installed: Installed) -> tuple[str, ...]:
        """The files that the record of one lists, as absolute paths."""
