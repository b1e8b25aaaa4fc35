"""Nobody else's: what the run does not name is looked at before and after, by stat, and by content where that differs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core import apply_guard
from regraft.core.apply_allowed import ByteCode, Look, allowed, byte_code, foreign
from regraft.core.apply_guard import Foreign
from regraft.core.apply_values import Ran
from regraft.core.findings import Finding
from regraft.core.journal import Subject
from regraft.core.manifest import Image
from regraft.core.observation import Checkout, Environment, Installed, Unreadable
from regraft.core.tree_record import Change, Record, changes, is_at_or_below
from regraft.core.verdict_environment import as_distributions, judge_distributions
from regraft.flows.ports import InstalledFiles, Interpreter, Snapshots

BATCH = 5_000  # sources that one process of the interpreter compiles

# What git itself writes in a repository when it is only asked something.
_GIT_ASKED = frozenset({"index", "FETCH_HEAD", "ORIG_HEAD"})


class Guarded(Struct, frozen=True):
    """What is looked at: the environment's own folders, what else is on its path, and the checkouts that are kept, by dependency."""

    environment: tuple[Subject, ...]
    others: tuple[Subject, ...]  # what lies in one of these and in `own` as well is judged as what it is there
    own: tuple[
        str, ...
    ]  # real paths of all checkouts and their repositories, of the project, of what `also-writes` names
    roots: tuple[Subject, ...]  # what has to be the very folder that it was
    kept: Mapping[str, tuple[Subject, ...]]
    sources: tuple[str, ...]  # real paths of the overridden checkouts and of the project
    installs: Mapping[str, frozenset[str]]  # the distributions that the commands of an override install, by dependency
    written: tuple[str, ...] = ()  # what an override writes in a repository that a kept checkout may share

    @property
    def all(self) -> tuple[Subject, ...]:
        return (*self.environment, *self.others, *(one for subjects in self.kept.values() for one in subjects))


class Guard:
    """One look before anything is changed, and one when everything is done."""

    def __init__(
        self, guarded: Guarded, image: Image, snapshots: Snapshots, files: InstalledFiles, interpreter: Interpreter
    ) -> None:
        self._guarded = guarded
        self._image = image
        self._snapshots = snapshots
        self._files = files
        self._interpreter = interpreter
        self._before = Record({}, 0)
        self._listed: dict[str, tuple[str, ...]] = {}
        self._replaced: Callable[[], tuple[str, ...]] = tuple

    def before(self, environment: Environment, named: frozenset[str]) -> None:
        self._replaced = self._snapshots.hold(self._guarded.roots)
        self._before = self._snapshots.scan(self._guarded.all, content=False)
        self._listed = self._list(environment.distributions)
        look = Look(environment, self._listed)
        # Of a file that a named distribution shares with another, a reinstall writes the same content again.
        shared = look.listed(look.of(named)) & look.listed(look.of(named, others=True))
        if shared:
            subjects = [Subject("environment", path, recursive=False) for path in sorted(shared)]
            read = self._snapshots.scan(subjects, content=True).entries
            self._before = Record({**self._before.entries, **read}, self._before.since)

    def after(
        self, before: Environment, after: Environment, named: frozenset[str], ran: Sequence[Ran]
    ) -> Iterator[Finding]:
        """A finding, always an error, for each distribution and each kept checkout that is not as it was, and for each
        checkout that is another folder.
        """
        yield from map(apply_guard.replaced, self._replaced())
        now = self._snapshots.changed_since(self._before, self._guarded.all)
        found = changes(self._before, now)
        fresh = self._list(one for one in after.distributions if one.name in named or one.metadata not in self._listed)
        first, last = Look(before, self._listed), Look(after, {**self._listed, **fresh})
        yield from self._unwritten((first, last), now)
        may = allowed(named, first, last, self._before.entries, self._guarded.sources)
        inside = [change for change in found if self._is_environments(change) and self._counts(change, now)]
        stale, troubles = self._byte_code(byte_code(inside, may, after.version))
        yield from troubles
        told = [
            Foreign(
                one.path,
                one.kind,
                tuple(dict.fromkeys((*apply_guard.owners(first, one.path), *apply_guard.owners(last, one.path)))),
                apply_guard.blame(one, now, ran),
            )
            for one in foreign(inside, may, before, after)
        ]
        told += [
            Foreign(one.path, "byte code", apply_guard.owners(first, source), apply_guard.blame(one, now, ran))
            for source, one in stale
        ]
        yield from apply_guard.environment_findings(told, self._image.python)
        for name, subjects in self._guarded.kept.items():
            own = [
                Foreign(change.path, change.kind, (), apply_guard.blame(change, now, ran))
                for change in found
                if _in(change, subjects) and self._counts_in_checkout(change, subjects, now)
            ]
            if own:
                yield apply_guard.checkout_finding(name, self._image.baked[name].path, own)
        yield from judge_distributions(as_distributions(before), after, named, self._image.python)

    def _is_environments(self, change: Change) -> bool:
        if _in(change, self._guarded.environment):
            return True
        return _in(change, self._guarded.others) and not any(
            is_at_or_below(change.path, one) for one in self._guarded.own
        )

    def _byte_code(self, found: ByteCode) -> tuple[list[tuple[str, Change]], list[Finding]]:
        """(source, its byte code) for what an import would take, or another interpreter; and what hinders an answer."""
        stale = [(one.path, one) for one in found.others]
        sources = sorted(found.by_source)
        for start in range(0, len(sources), BATCH):
            answer = self._interpreter.byte_code(self._image, sources[start : start + BATCH])
            if answer.trouble is not None or answer.left:
                why = answer.trouble or "there are too many"
                return stale, [apply_guard.not_compared(len(sources), why, self._image.python)]
            wrong = {one.path for one in answer.stale}
            stale += [(source, one) for source, one in found.by_source.items() if one.path in wrong]
        return stale, []

    def _unwritten(self, looks: Sequence[Look], now: Record) -> Iterator[Finding]:
        """An install that exits with 0 and writes nothing: what is imported may be new, what is installed is not."""
        for name, distributions in self._guarded.installs.items():
            paths: set[str] = set()
            for look in looks:
                installed = look.of(distributions)
                paths |= look.listed(installed) | {one.metadata for one in installed}
            known = [path for path in paths if path in self._before.entries or path in now.entries]
            if known and not apply_guard.written(known, self._before, now):
                yield apply_guard.nothing_installed(name, self._image.baked[name].path, distributions)

    def _counts(self, change: Change, now: Record) -> bool:
        """A folder that came or went counts by its files."""
        entry = now.entries.get(change.path) or self._before.entries[change.path]
        return entry.kind != "folder" or change.kind not in {"new", "gone"}

    def _counts_in_checkout(self, change: Change, subjects: Sequence[Subject], now: Record) -> bool:
        """`verify` compares a checkout's byte code with its sources; what an override writes is judged as an override."""
        if not self._counts(change, now) or "/__pycache__/" in change.path or _is_asked(change, subjects):
            return False
        return not any(is_at_or_below(change.path, path) for path in self._guarded.written)

    def _list(self, installed: Iterable[Installed]) -> dict[str, tuple[str, ...]]:
        return {one.metadata: self._files.of(one) for one in installed}


def _in(change: Change, subjects: Sequence[Subject]) -> bool:
    return any(is_at_or_below(change.path, one.path) for one in subjects)


def _is_asked(change: Change, subjects: Sequence[Subject]) -> bool:
    folder, _, name = change.path.rpartition("/")
    is_repository = folder.endswith("/.git") or "/.git/modules/" in folder
    return name in _GIT_ASKED and (is_repository or folder in {one.path for one in subjects if one.kind == "git-dir"})


def repository_of(checkout: str, subjects: Sequence[Subject]) -> tuple[str, str]:
    """(the folder of HEAD and index, the one of refs) of a checkout at a real path, by the subjects of its writer."""
    elsewhere = [one.path for one in subjects if one.kind == "git-dir"] or [f"{checkout}/.git"]
    return elsewhere[0], elsewhere[-1]


def written_in(folder: str, common: str) -> tuple[str, ...]:
    """What putting a tree into a checkout writes in its repository."""
    return (
        *(f"{folder}/{name}" for name in ("HEAD", "index")),
        *(f"{common}/{name}" for name in ("refs/regraft", "refs/regraft-baseline", "refs/tags", "shallow")),
    )


def sources_of(found: Mapping[str, Checkout | Unreadable], overridden: Sequence[str], project: str) -> tuple[str, ...]:
    """The folders that a `.pth` file may lead to."""
    real = [one.real for name in overridden if isinstance(one := found[name], Checkout)]
    return (*real, project)
