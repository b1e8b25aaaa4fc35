"""Let others have an image that was built and looked into: by its digest first, and the rolling tags last."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from regraft.core.engine_commands import Job, Volume
from regraft.core.image_decision import mixed
from regraft.core.image_published import Absent, Found, Part, Published, part_of
from regraft.core.image_reference import Digest, Reference, Repository, parse_image_tag
from regraft.errors import OutsideError, RegraftError
from regraft.flows.image_steps import RedError, Steps


class Ran(Protocol):
    @property
    def returncode(self) -> int: ...
    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...


class Engine(Protocol):
    """A container engine. Each method raises OutsideError, and RefusedError where the answer is no."""

    def build(self, job: Job) -> None: ...
    def seal(self, image: str, tag: str, *, baseline: bytes | None, place: str, labels: Mapping[str, str]) -> None: ...
    def run(self, image: str, argv: Sequence[str], *, volumes: Sequence[Volume], env: Mapping[str, str]) -> Ran: ...
    def layers(self, image: str) -> tuple[Digest, ...]: ...
    def push(self, image: str, reference: str, *, local: bool) -> None: ...
    def remove(self, image: str) -> None: ...


class Registry(Protocol):
    def look(self, reference: Reference) -> Published | None: ...
    def find(self, reference: Reference) -> Found: ...
    def put_tag(self, repository: Repository, tag: str, published: Published) -> None: ...
    def delete_tag(self, repository: Repository, tag: str) -> str | None: ...
    def attach(self, repository: Repository, part: Part, baseline: bytes) -> Digest: ...


class Publishing(Struct):
    """How far it got."""

    digest: Digest | None = None
    moved: list[str] = field(default_factory=list)


class Publisher(Struct, frozen=True):
    """`candidate` is a tag that is this build's alone, `sealed` the image's name in the engine's store."""

    steps: Steps
    engine: Engine
    registry: Registry
    repository: Repository
    candidate: str
    tags: tuple[str, ...]
    platform: str
    sealed: str
    baseline: bytes

    def run(self, given: Mapping[str, str], done: Publishing) -> None:
        """Raises RedError, and OutsideError where the registry cannot be asked."""
        reference = f"{self.repository.text}:{self.candidate}"
        local = self.repository.local
        self.steps.act("push", lambda: self.engine.push(self.sealed, reference, local=local), reference)
        try:
            published = self._checked(reference, given)
            done.digest = published.digest
            self._attach(published)
            self._same_content(published)
            for tag in self.tags:
                self._move(tag, published)
                done.moved.append(tag)
        except (RedError, RegraftError):
            self._clear()
            raise
        if not self.tags:
            self.steps.notes.append(f"the tag {self.candidate} stays: no other names the image")
            return
        self._clear()
        for tag in done.moved:
            self._stays(tag, published)

    def _checked(self, reference: str, given: Mapping[str, str]) -> Published:
        """What the registry has now; from here on it is known by its digest."""
        found = self.registry.look(Reference(self.repository, self.candidate, None))
        if found is None:
            self.steps.red("check", f"{reference} was pushed, and the registry has no such image")
        assert found is not None
        part = part_of(found, self.platform)
        different = [name for name, value in given.items() if part is None or part.config.labels.get(name) != value]
        layers = self.engine.layers(self.sealed)
        if part is None or different or part.config.layers != layers or mixed(found) is not None:
            differ = ", ".join(different[:3]) or "other layers"
            self.steps.red("check", f"{reference} is not what was built here: {differ} differ")
        self.steps.did("check", f"{self.repository.text}@{found.digest}")
        return found

    def _attach(self, published: Published) -> None:
        """The baseline, before anybody can find the image by a tag. It is in the image too, so that this turns nothing red."""
        part = part_of(published, self.platform)
        assert part is not None  # as was checked
        try:
            digest = self.registry.attach(self.repository, part, self.baseline)
        except RegraftError as error:
            self.steps.notes.append(f"the baseline is not attached to the image: {error}")
        else:
            self.steps.did("attach", f"{self.repository.text}@{digest}")

    def _move(self, tag: str, published: Published) -> None:
        try:
            self.registry.put_tag(self.repository, parse_image_tag(tag), published)
        except OutsideError as error:
            self.steps.red("tag", str(error))
        self.steps.did("tag", f"{self.repository.text}:{tag} -> {published.digest}")

    def _clear(self) -> None:
        """Take the tag of this build alone away. What cannot be done takes space, and is said."""
        try:
            why = self.registry.delete_tag(self.repository, self.candidate)
        except RegraftError as error:
            why = str(error)
        if why is not None:
            self.steps.notes.append(f"the tag {self.candidate} is still there: {why}")

    def _stays(self, tag: str, published: Published) -> None:
        """A registry that takes the image away with one of its tags gets it back: its layers go later, if at all."""
        found = self.registry.find(Reference(self.repository, parse_image_tag(tag), None))
        if isinstance(found, Absent):
            self.steps.notes.append(f"with {self.candidate} the registry took {tag} away too: it was moved once more")
            self._move(tag, published)

    def _same_content(self, published: Published) -> None:
        """Whether what the tag named before has the same layers below the last one."""
        for tag in self.tags[:1]:
            before = self.registry.find(Reference(self.repository, parse_image_tag(tag), None))
            old = part_of(before, self.platform) if isinstance(before, Published) else None
            new = part_of(published, self.platform)
            if old is not None and new is not None and old.config.layers[:-1] == new.config.layers[:-1]:
                self.steps.notes.append(f"rebuilt, and the same content as {tag} had: only labels and baseline are new")
