"""What each image of a run gets, decided before anything is looked up."""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.asked import Asked
from regraft.core.lock import read_lock
from regraft.core.manifest import Baked, Dependency, Image, Manifest
from regraft.core.objects import Commit
from regraft.core.plan import Note, Source
from regraft.core.precedence import Choice, TagChoice, choose, choose_tag
from regraft.errors import InputError, MistakesError
from regraft.flows.baselines import Held, Labelled, Registries, read_baseline, read_label
from regraft.flows.image_choice import OwnImage, OwnUnknown, choose_image
from regraft.flows.ports import ProjectFiles
from regraft.flows.resolve import Wanted

OwnOf = Callable[[Image], OwnImage | OwnUnknown | None]

LOCK_LIMIT = 4 * 1024 * 1024


class Decision(Struct, frozen=True):
    """One dependency in one image: `wanted` is None where it is kept."""

    dependency: Dependency
    baked: Baked
    choice: Choice | None
    wanted: Wanted | None
    source: Source


class Draft(Struct, frozen=True):
    image: Image
    reference: str | None
    digest: str | None  # what the reference stood for at its registry
    tag: TagChoice | None  # where it is the image that the run takes
    held: Held
    decisions: tuple[Decision, ...]
    notes: tuple[Note, ...]


class Drafting:
    """Drafts for several images; `mistakes` gathers what the manifest's own files have wrong."""

    def __init__(
        self,
        manifest: Manifest,
        asked: Asked,
        files: ProjectFiles,
        registries: Registries | None = None,
        own_of: OwnOf | None = None,
    ) -> None:
        self._manifest = manifest
        self._asked = asked
        self._files = files
        self._registries = registries
        self._own_of = own_of
        self._locks: dict[str, Commit | None] = {}
        self.mistakes: list[InputError] = []

    def draft(self, image: Image) -> Draft:
        named = choose_tag(image.tag_directive, image.name, self._asked.tags) if image.tag_directive else None
        chosen = choose_image(image, named, self._own_of, self._registries)
        reference = f"{image.repository}:{chosen.tag}" if chosen else None
        tag = chosen.named if chosen else None
        labelled = self._labelled(image, reference, tag)
        held = labelled.held or self._held(image, reference)
        decisions = tuple(self._decide(image, baked, held) for baked in image.baked.values())
        tags = chosen.notes if chosen else ()
        notes = (*labelled.notes, *held.notes, *_losers(image, decisions), *tags, *self._behind_lock(decisions, held))
        return Draft(image, reference, labelled.digest, tag, held, decisions, notes)

    def _labelled(self, image: Image, reference: str | None, tag: TagChoice | None) -> Labelled:
        if reference is None or self._registries is None:
            return Labelled()
        found = read_label(image.name, reference, tag.winner.where if tag else None, self._registries)
        if found.stop is not None:
            self._mistake(found.stop)
        return found

    def _held(self, image: Image, reference: str | None) -> Held:
        try:
            return read_baseline(image.name, reference, self._files)
        except InputError as error:
            self._mistake(error)
            return Held(None, None, ())

    def _decide(self, image: Image, baked: Baked, held: Held) -> Decision:
        dependency = self._manifest.dependencies[baked.dependency]
        also = self._baseline_commit(baked, held)
        choice = choose(dependency.name, image.name, self._asked.directives)
        if choice is not None:
            directive = choice.winner
            wanted = Wanted(dependency, directive.ref, directive.where, also)
            return Decision(dependency, baked, choice, wanted, directive.source)
        for policy in image.unnamed:
            if policy == "lock" and dependency.lock is not None:
                commit = self._lock(dependency)
                target = Wanted(dependency, commit, f"lock {dependency.lock.file}", also) if commit else None
                return Decision(dependency, baked, None, target, Source("lock"))
            if policy == "head" and dependency.branch is not None:
                wanted = Wanted(dependency, None, f"dependencies.{dependency.name}.branch", also)
                return Decision(dependency, baked, None, wanted, Source("head"))
            if policy == "keep":
                break
        return Decision(dependency, baked, None, None, Source("unnamed"))

    def _baseline_commit(self, baked: Baked, held: Held) -> Commit | None:
        """The commit to compare trees with, where the manifest names paths that must not differ."""
        if held.baseline is None or not (baked.not_installed or baked.rebuild_when):
            return None
        known = held.baseline.dependencies.get(baked.dependency)
        return known.commit if known else None

    def _lock(self, dependency: Dependency) -> Commit | None:
        lock = dependency.lock
        if lock is None:
            return None
        if dependency.name not in self._locks:
            self._locks[dependency.name] = None
            try:
                data = self._files.read(lock.file, LOCK_LIMIT)
                self._locks[dependency.name] = read_lock(data, replace(lock, file=self._files.place(lock.file)))
            except InputError as error:
                self._mistake(error)
        return self._locks[dependency.name]

    def _behind_lock(self, decisions: tuple[Decision, ...], held: Held) -> Iterator[Note]:
        """A kept dependency that is not what the project's own lock says: both are shown before the first test."""
        for decision in decisions:
            baked = held.baseline.dependencies.get(decision.dependency.name) if held.baseline else None
            if decision.wanted is not None or baked is None or decision.source.kind == "lock":
                continue
            locked = self._lock(decision.dependency)
            if locked is not None and locked != baked.commit:
                name = decision.dependency.name
                yield Note("warning", "not-the-lock", f"{name}: the image holds {baked.commit}, the lock says {locked}")

    def _mistake(self, error: InputError) -> None:
        self.mistakes += error.mistakes if isinstance(error, MistakesError) else (error,)


def _losers(image: Image, decisions: tuple[Decision, ...]) -> Iterator[Note]:
    for decision in decisions:
        if decision.choice:
            for loser in decision.choice.losers:
                won = decision.choice.winner
                message = (
                    f"{image.name}: {loser.ref.text!r:.120} ({loser.where}) loses to "
                    f"{won.ref.text!r:.120} ({won.where})"
                )
                yield Note("notice", "overruled", message, loser.source.line, loser.source.column)
