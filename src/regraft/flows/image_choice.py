"""Which image a run takes: by the manifest's order, of those that are named, the pull request's own and the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from regraft.core.plan import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from regraft.core.manifest import Image
    from regraft.core.precedence import TagChoice
    from regraft.flows.baselines import Registries


class OwnImage(Struct, frozen=True):
    """The image that a pull request would have of its own. `changes`: it changes what the image is made of, for sure."""

    tag: str
    where: str
    changes: bool


class OwnUnknown(Struct, frozen=True):
    """Whether it has one cannot be told."""

    why: str


class Chosen(Struct, frozen=True):
    """`named` is the directive that holds, where one does."""

    tag: str
    named: TagChoice | None
    notes: tuple[Note, ...]


class _Candidate(Struct, frozen=True):
    kind: str
    tag: str
    where: str
    line: int | None = None
    column: int | None = None


def choose_image(
    image: Image,
    named: TagChoice | None,
    own_of: Callable[[Image], OwnImage | OwnUnknown | None] | None,
    registries: Registries | None,
) -> Chosen | None:
    """The tag that the run takes, None for a lane without an image. An image of the pull request's own counts where the registry has it."""
    if image.repository is None or image.tag is None:
        return None
    own = own_of(image) if own_of is not None and image.dockerfile is not None else None
    order: dict[str, int] = {kind: rank for rank, kind in enumerate(image.prefer)}
    ranked = sorted(_candidates(image, named, own), key=lambda one: order.get(one.kind, len(order)))
    notes = [*_unknown(image, own)]
    if isinstance(own, OwnImage) and ranked[0].kind == "own" and (why := _unusable(image, own, registries)):
        ranked.pop(0)
        told = "changes" if own.changes else "may change"
        message = f"{image.name}: the pull request {told} what the image is made of, and {why}; {ranked[0].tag} is used"
        notes.append(Note("warning" if own.changes else "notice", "own-absent", message))
    winner, *losers = ranked
    for one in losers:
        message = f"{image.name}: tag {one.tag!r:.140} ({one.where}) is overruled"
        notes.append(Note("notice", "overruled", message, one.line, one.column))
    return Chosen(winner.tag, named if winner.kind == "directive" else None, tuple(notes))


def _unknown(image: Image, own: OwnImage | OwnUnknown | None) -> Iterator[Note]:
    if isinstance(own, OwnUnknown):
        message = f"{image.name}: whether the pull request has an image of its own is not known: {own.why}"
        yield Note("notice", "own-unknown", message)


def _candidates(image: Image, named: TagChoice | None, own: OwnImage | OwnUnknown | None) -> Iterator[_Candidate]:
    for one in (named.winner, *named.losers) if named is not None else ():
        yield _Candidate("directive", one.tag, one.where, one.source.line, one.source.column)
    if isinstance(own, OwnImage):
        yield _Candidate("own", own.tag, own.where)
    assert image.tag is not None
    yield _Candidate("default", image.tag, f"images.{image.name}.tag")


def _unusable(image: Image, own: OwnImage, registries: Registries | None) -> str | None:
    """Why an image of the pull request's own cannot be taken; None where it is there."""
    from regraft.core.image_published import Absent, Published  # noqa: PLC0415 - only a pull request that changes an image
    from regraft.core.image_reference import Reference, parse_repository  # noqa: PLC0415

    if registries is None:
        return f"no registry is asked whether {own.tag} was built"
    assert image.repository is not None
    found = registries.find(Reference(parse_repository(image.repository), own.tag, None))
    if isinstance(found, Published):
        return None
    if isinstance(found, Absent):
        return f"the registry has no {own.tag}: build it with `regraft image build --push --tag {own.tag}`"
    return f"whether {own.tag} was built could not be asked: {found.message}"
