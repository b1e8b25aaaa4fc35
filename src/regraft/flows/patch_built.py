"""A series at what is really built: a patch can only go where every image that carries it can do without it.

The branch that is followed is where upstream is; what is built may be what the lock records, or what the image holds.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from regraft.core.baseline_document import decode_baseline, path_of
from regraft.core.document import LIMIT
from regraft.core.lock import LIMIT as LOCK_LIMIT
from regraft.core.lock import read_lock
from regraft.core.manifest import Package
from regraft.core.objects import Commit
from regraft.core.patch_history import SeriesHistory
from regraft.core.refs import HashRef, NameRef, Ref
from regraft.errors import InputError
from regraft.flows.patch_judging import Carrier, Case, Judging, LookUp, baked_version, judged
from regraft.flows.ports import ProjectFiles


class Built(Struct, frozen=True):
    """`what` names it. `case` is the series there; None: it cannot be told, and `why` says why."""

    what: str
    case: Case | None
    why: str = ""


class Elsewhere(Protocol):
    def __call__(self, case: Case, /) -> tuple[Built, ...]:
        """The same series at what is built, as far as that is another commit."""


class BuiltRefs(Struct):
    """Judges each of them once. Raises OutsideError where git, a server or the disk failed."""

    files: ProjectFiles
    look_up: LookUp
    judge: Callable[[Judging], SeriesHistory]
    _known: dict[object, tuple[Built, ...]] = field(default_factory=dict)

    def __call__(self, case: Case) -> tuple[Built, ...]:
        key = (case.carrier.image.name, case.carrier.dependency.name)
        if key not in self._known:
            self._known[key] = tuple(self._judged(case.carrier, what, ref) for what, ref in self._refs(case.carrier))
        return tuple(one for one in self._known[key] if one.case is None or one.case.commit != case.commit)

    def _judged(self, carrier: Carrier, what: str, ref: Ref | str) -> Built:
        if isinstance(ref, str):
            return Built(what, None, ref)
        places = tuple(range(len(carrier.baked.patches)))
        try:
            [case] = judged([(carrier, places)], [ref], self.look_up, self.files, self.judge)
        except InputError as mistake:
            return Built(what, None, mistake.message)
        return Built(what, case)

    def _refs(self, carrier: Carrier) -> Iterator[tuple[str, Ref | str]]:
        """Each thing that is built: what names it, and its ref, or why that is not known."""
        dependency, image = carrier.dependency, carrier.image.name
        if isinstance(dependency, Package):
            version = baked_version(carrier, self.files)
            if version is not None:
                yield f"the baseline of {image}", Ref(version, NameRef(version))
            return
        if dependency.lock is not None:
            lock = dependency.lock
            what = f"the lock {lock.file}"
            try:
                data = self.files.read(lock.file, LOCK_LIMIT)
                yield what, _hash(read_lock(data, replace(lock, file=self.files.place(lock.file))))
            except InputError as mistake:
                yield what, mistake.message
        data = self.files.read(path_of(image), LIMIT)
        if data is not None:
            held = decode_baseline(data, image, self.files.place(path_of(image))).dependencies.get(dependency.name)
            if held is not None and held.commit is not None:
                yield f"the baseline of {image}", _hash(held.commit)


def _hash(commit: Commit) -> Ref:
    return Ref(commit, HashRef(commit))
