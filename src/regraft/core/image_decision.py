"""Reuse an image, rebuild it, or refuse: a function of what is known. Whatever is not known means rebuild."""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from regraft.core import image_labels as labels
from regraft.core.image_published import Absent, Found, Part, Published, Unread, of_platform
from regraft.core.image_reference import Digest
from regraft.core.image_values import Moved
from regraft.core.objects import Commit, Sha256

Occasion = Literal["pull_request", "push", "schedule", "manual"]
Kind = Literal["directive", "own", "default"]
Answer = Literal["reuse", "rebuild", "refuse"]

CLOCKS = 300.0  # seconds that two machines' clocks may differ


class Candidate(Struct, frozen=True):
    """A tag that a run could use: named by a directive, of the pull request's own inputs, or the manifest's."""

    kind: Kind
    tag: str
    where: str  # `body:3:1`, `regraft.toml`, `pull request 7`


class Reason(Struct, frozen=True):
    code: str
    message: str


class Facts(Struct, frozen=True):
    """`base` is the hash of the inputs at the first parent, None where that could not be told; `found` is of the winner.

    `now` is in seconds since 1970, `max_age` in seconds; None: age does not count.
    """

    image: str
    occasion: Occasion
    commit: Commit
    inputs: Sha256
    base: Sha256 | None
    changed: tuple[Moved, ...]  # from the published image's commit to this one, where that can be told
    pins: tuple[labels.Pin, ...]
    unresolved: tuple[str, ...]  # moving names that could not be resolved, a line each
    winner: Candidate
    found: Found
    requested: str | None  # who asked for a rebuild
    fork: bool
    platform: str
    now: float
    max_age: float | None = None
    since: str | None = None  # the commits from the published image's to this one, in words; None: not counted
    moves: Mapping[str, str] = {}  # the same of each pin that moved, by its name


class Judged(Struct, frozen=True):
    answer: Answer
    reasons: tuple[Reason, ...]
    notes: tuple[Reason, ...]
    digest: Digest | None  # of what is reused

    @property
    def exit_code(self) -> int:
        """0 reuse; 1 rebuild, or an image that contradicts itself; 2 a tag that is not there; 3 no answer about one."""
        if self.answer != "refuse":
            return 0 if self.answer == "reuse" else 1
        return {"no-such-tag": 2, "mixed-list": 1, "no-such-platform": 2}.get(self.reasons[0].code, 3)


def choose(order: tuple[Kind, ...], candidates: tuple[Candidate, ...]) -> tuple[Candidate, tuple[Candidate, ...]]:
    """(the candidate that is used, those that lose), by the manifest's order of kinds."""
    ranked = sorted(candidates, key=lambda one: order.index(one.kind) if one.kind in order else len(order))
    return ranked[0], tuple(ranked[1:])


def decide(facts: Facts) -> Judged:
    """The answer with every reason for it, the first one being what settled it."""
    if facts.winner.kind == "directive":
        return _named(facts)
    reasons = tuple(_reasons(facts))
    if reasons:
        return Judged("rebuild", reasons, tuple(_notes(facts)), None)
    assert isinstance(facts.found, Published)
    message = f"{facts.found.reference} was built from these inputs ({facts.inputs[:12]})"
    return Judged("reuse", (Reason("same-inputs", message),), tuple(_notes(facts)), facts.found.digest)


def mixed(found: Published) -> str | None:
    """What contradicts itself in a list whose parts were built from different things."""
    for label in (labels.REVISION, labels.INPUTS):
        values = {part.config.platform: part.config.labels.get(label) for part in found.parts}
        if len(set(values.values())) > 1:
            shown = ", ".join(f"{platform}: {str(value)[:12]}" for platform, value in values.items())
            return f"{found.reference} is a list whose parts differ in {label} ({shown})"
    return None


def _named(facts: Facts) -> Judged:
    """A tag that somebody named is used as it is, or not at all: nothing is built in its place."""
    found, where = facts.found, facts.winner.where
    if isinstance(found, Absent):
        reason = Reason("no-such-tag", f"{where} names {found.reference}, and the registry has no such image")
    elif isinstance(found, Unread):
        reason = Reason(
            found.code, f"{where} names {found.reference}, and whether it is there is not known: {found.message}"
        )
    elif (contradiction := mixed(found)) is not None:
        reason = Reason("mixed-list", contradiction)
    elif (part := of_platform(found, facts.platform)) is None:
        reason = Reason("no-such-platform", f"{found.reference} has no image for {facts.platform}")
    else:
        told = part.config.labels.get(labels.INPUTS)
        of = f"of the inputs {told[:12]}" if told else "without a label of its inputs"
        notes = (
            []
            if told == facts.inputs
            else [Reason("other-inputs", f"{found.reference} is {of}, and this commit's are {facts.inputs[:12]}")]
        )
        notes += (
            [Reason("requested-in-vain", f"{facts.requested}, but {where} names an image")] if facts.requested else []
        )
        return Judged("reuse", (Reason("named", f"{where} names it"),), tuple(notes), found.digest)
    return Judged("refuse", (reason,), (), None)


def _reasons(facts: Facts) -> Iterator[Reason]:
    """Why the image that is there cannot be used."""
    if facts.requested:
        yield Reason("requested", facts.requested)
    found = facts.found
    if isinstance(found, Absent):
        yield Reason("absent", f"the registry has no {found.reference}: no image of these inputs was finished")
        return
    if isinstance(found, Unread):
        yield Reason("state-unreadable", f"what {found.reference} holds cannot be read: {found.message} [{found.code}]")
        return
    if (contradiction := mixed(found)) is not None:
        yield Reason("mixed-list", contradiction)
    part = of_platform(found, facts.platform)
    if part is None:
        yield Reason("no-such-platform", f"{found.reference} has no image for {facts.platform}")
        return
    yield from _of_labels(facts, found, part)
    if facts.occasion != "pull_request":
        yield from _moved(facts, part)
        yield from (Reason("pin-unknown", line) for line in facts.unresolved)
    if facts.max_age is not None:
        yield from _age(facts, found, part)


def _of_labels(facts: Facts, found: Published, part: Part) -> Iterator[Reason]:
    known = part.config.labels
    told = known.get(labels.INPUTS)
    if told is None:
        yield Reason("no-label", f"{found.reference} has no label {labels.INPUTS}: what it was built from is not known")
    elif labels.inherited(part.config):
        yield Reason("inherited-label", f"{found.reference} has its labels from a base image, not from its own build")
    elif known.get(labels.IMAGE, facts.image) != facts.image:
        yield Reason("other-image", f"{found.reference} was built as {known[labels.IMAGE]!r:.80}, not as {facts.image}")
    elif told != facts.inputs:
        yield Reason(
            "inputs-changed", f"{found.reference} was built from {told[:12]!r}, the inputs are {facts.inputs[:12]} now"
        )
        yield from (Reason("input-changed", moved_line(one)) for one in facts.changed)


def moved_line(one: Moved) -> str:
    """An input that changed, in a line."""
    what = "is new" if one.before is None else "is gone" if one.after is None else "changed"
    values = f": {one.before} -> {one.after}" if one.before and one.after and one.kind != "file" else ""
    at = f" ({one.place})" if one.place and str(one.place) != one.name else ""
    return f"{one.kind} {one.name} {what}{values}{at}"


def _moved(facts: Facts, part: Part) -> Iterator[Reason]:
    known = labels.pins_of(part.config.labels)
    for pin in facts.pins:
        before = known.get(pin.name)
        if before is None:
            yield Reason(
                "pin-unrecorded", f"{pin.ref} is {pin.value} now; what the image was built from is not recorded"
            )
        elif before != pin.value:
            message = f"{pin.ref} is {pin.value} now, the image was built from {before[:140]}"
            yield Reason("upstream-moved", _counted(message, facts.moves.get(pin.name)))


def _counted(message: str, commits: str | None) -> str:
    return f"{message}: {commits}" if commits else message


def _age(facts: Facts, found: Published, part: Part) -> Iterator[Reason]:
    assert facts.max_age is not None
    made = labels.created_at(part.config.labels)
    if made is None:
        yield Reason("age-unreadable", f"when {found.reference} was built is not known: {labels.CREATED} is no time")
    elif made > facts.now + CLOCKS:
        yield Reason("age-unreadable", f"{found.reference} says that it was built in the future")
    elif facts.now - made > facts.max_age:
        hours = (facts.now - made) / 3600
        yield Reason(
            "too-old",
            f"{found.reference} was built {hours:.1f} hours ago; at most {facts.max_age / 3600:g} are allowed",
        )


def _notes(facts: Facts) -> Iterator[Reason]:
    if facts.occasion == "pull_request":
        if facts.base is None:
            yield Reason(
                "base-unknown",
                "the inputs at the first parent are not known, so it is taken that this pull request changes them",
            )
        elif facts.base == facts.inputs:
            yield Reason("untouched", "this pull request changes nothing that the image is made of")
        if isinstance(facts.found, Published) and (part := of_platform(facts.found, facts.platform)) is not None:
            yield from (Reason("upstream-moved", one.message) for one in _moved(facts, part))
        yield from (Reason("pin-unknown", line) for line in facts.unresolved)
    if isinstance(facts.found, Published) and (part := of_platform(facts.found, facts.platform)) is not None:
        built = part.config.labels.get(labels.REVISION)
        if built and built != facts.commit:
            message = f"{facts.found.reference} was built from {built[:40]!r}, and this is {facts.commit}"
            yield Reason("other-revision", _counted(message, facts.since))
    if facts.fork:
        yield Reason(
            "fork-cannot-publish",
            "a fork's pull request has no right to publish an image: what is built stays in its job",
        )
