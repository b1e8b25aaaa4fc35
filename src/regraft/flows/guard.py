"""Nobody else's: what the run does not name is looked at before and after, by stat, and by content where that differs."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core import apply_guard
from regraft.core.apply_guard import Foreign
from regraft.core.apply_values import Ran
from regraft.core.findings import Finding
from regraft.core.journal import Subject
from regraft.core.manifest import Image
from regraft.core.observation import Checkout, Environment, Installed, Unreadable
from regraft.core.tree_record import Change, Record, changes, is_at_or_below
from regraft.flows.ports import InstalledFiles, Snapshots

# What git itself writes when it is only asked something.
_GIT_ASKED = ("/.git/index", "/.git/FETCH_HEAD", "/.git/ORIG_HEAD")


class Guarded(Struct, frozen=True):
    """What is looked at: the environment's folders, and the checkouts that are kept, by dependency."""

    environment: tuple[Subject, ...]
    kept: Mapping[str, tuple[Subject, ...]]
    sources: tuple[str, ...]  # real paths of the overridden checkouts and of the project
    installs: Mapping[str, frozenset[str]]  # the distributions that the commands of an override install, by dependency

    @property
    def all(self) -> tuple[Subject, ...]:
        return (*self.environment, *(one for subjects in self.kept.values() for one in subjects))


class Guard:
    """One look before anything is changed, and one when everything is done."""

    def __init__(self, guarded: Guarded, image: Image, snapshots: Snapshots, files: InstalledFiles) -> None:
        self._guarded = guarded
        self._image = image
        self._snapshots = snapshots
        self._files = files
        self._before = Record({}, 0)
        self._listed: dict[str, tuple[str, ...]] = {}

    def before(self, environment: Environment, named: frozenset[str]) -> None:
        self._before = self._snapshots.scan(self._guarded.all, content=False)
        self._listed = self._list(one for one in environment.distributions if one.name in named)

    def after(
        self, before: Environment, after: Environment, named: frozenset[str], ran: Sequence[Ran]
    ) -> Iterator[Finding]:
        """A finding, always an error, for each distribution and each kept checkout that is not as it was."""
        now = self._snapshots.changed_since(self._before, self._guarded.all)
        found = changes(self._before, now)
        self._listed.update(self._list(one for one in after.distributions if one.name in named))
        may = apply_guard.allowed(named, (before, after), self._listed, self._guarded.sources)
        yield from self._unwritten((before, after), now)
        inside = [change for change in found if _in(change, self._guarded.environment) and self._counts(change, now)]
        foreign = list(apply_guard.foreign(inside, may, before, after))
        if foreign:
            others = self._list(one for one in (*before.distributions, *after.distributions))
            installed = (*before.distributions, *after.distributions)
            told = [
                Foreign(one.path, one.kind, apply_guard.owners(installed, others, one.path), self._blame(one, now, ran))
                for one in foreign
            ]
            yield from apply_guard.environment_findings(told, self._image.python)
        for name, subjects in self._guarded.kept.items():
            own = [
                Foreign(change.path, change.kind, (), self._blame(change, now, ran))
                for change in found
                if _in(change, subjects) and self._counts(change, now) and not _is_asked(change)
            ]
            if own:
                yield apply_guard.checkout_finding(name, self._image.baked[name].path, own)

    def _unwritten(self, looks: Sequence[Environment], now: Record) -> Iterator[Finding]:
        """An install that exits with 0 and writes nothing: what is imported may be new, what is installed is not."""
        for name, distributions in self._guarded.installs.items():
            records = [one for look in looks for one in look.distributions if one.name in distributions]
            paths = {path for one in records for path in (one.metadata, *self._listed.get(one.metadata, ()))}
            known = [path for path in paths if path in self._before.entries or path in now.entries]
            if known and not apply_guard.written(known, self._before, now):
                yield apply_guard.nothing_installed(name, self._image.baked[name].path, distributions)

    def _counts(self, change: Change, now: Record) -> bool:
        """A folder that came or went counts by its files; byte code of an import is nobody's."""
        entry = now.entries.get(change.path) or self._before.entries[change.path]
        if entry.kind == "folder" and change.kind in {"new", "gone"}:
            return False
        return "/__pycache__/" not in change.path

    def _blame(self, change: Change, now: Record, ran: Sequence[Ran]) -> str | None:
        return apply_guard.blame(change, now, ran)

    def _list(self, installed: Iterator[Installed]) -> dict[str, tuple[str, ...]]:
        return {one.metadata: self._files.of(one) for one in installed}


def _in(change: Change, subjects: Sequence[Subject]) -> bool:
    return any(is_at_or_below(change.path, one.path) for one in subjects)


def _is_asked(change: Change) -> bool:
    return change.path.endswith(_GIT_ASKED)


def sources_of(found: Mapping[str, Checkout | Unreadable], overridden: Sequence[str], project: str) -> tuple[str, ...]:
    """The folders that a `.pth` file may lead to."""
    real = [one.real for name in overridden if isinstance(one := found[name], Checkout)]
    return (*real, project)
