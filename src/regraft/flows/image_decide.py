"""For each image: is there one that was built from these inputs, or does one have to be built?"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core import image_labels as labels
from regraft.core.between import Between
from regraft.core.image_decided import Decided
from regraft.core.image_decision import Candidate, Facts, Judged, Occasion, Reason, choose, decide, moved_line
from regraft.core.image_labels import Pin, Pins
from regraft.core.image_published import Found, Published, of_platform
from regraft.core.image_reference import Reference, Repository, parse_image_tag, parse_repository
from regraft.core.image_values import ImageInputs, Moved
from regraft.core.manifest import Image
from regraft.core.objects import Commit, parse_commit
from regraft.core.precedence import TagChoice
from regraft.errors import InputError, RegraftError
from regraft.flows.image_choice import OwnImage, OwnUnknown


class Question(Struct, frozen=True):
    """What the run is, and what was asked of it. `max_age` is in seconds, `number` the pull request's.

    `head` and `merge` are the pull request's commits, `other` is the ref of a run that is not of the default branch.
    """

    occasion: Occasion
    number: int | None = None
    fork: bool = False
    tag: TagChoice | None = None
    requested: str | None = None
    max_age: float | None = None
    platform: str = "linux/amd64"
    source: str | None = None  # the project's address, for its label
    head: str | None = None
    merge: str | None = None
    other: str | None = None


class Ports(Struct, frozen=True):
    """`inputs` of an image at a revision; `parents` of one, none where history is cut off; `now` in seconds since 1970."""

    inputs: Callable[[Image, str], ImageInputs]
    compare: Callable[[ImageInputs, ImageInputs], Sequence[Moved]]
    parents: Callable[[Commit], Sequence[Commit]]
    pins: Callable[[ImageInputs, Image], Pins]
    find: Callable[[Reference], Found]
    now: Callable[[], float]
    between: Callable[[Image, Pin | None, Commit, Commit], Between | None] = lambda *_: None
    """The commits from one to another: of the upstream of a pin, or of the project itself."""


def decide_image(image: Image, question: Question, ports: Ports) -> Decided:
    """Raises InputError: no-repository, and what the inputs raise where they cannot be read; for those nothing is right."""
    if image.repository is None or image.tag is None:
        message = f"{image.name} has no `repository` and no `tag`: there is nothing to reuse"
        raise InputError("no-repository", message, where=f"images.{image.name}", hint="name both, or decide of another")
    repository = parse_repository(image.repository)
    inputs = ports.inputs(image, "HEAD")
    pins = ports.pins(inputs, image)
    base, notes = _base(image, inputs, question, ports)
    winner, losers = choose(image.prefer, _candidates(image, question, inputs, base))
    judging = _Judging(image, repository, question, ports, inputs, base, pins, ports.now())
    judged, more = judging.of(winner)
    if judged.answer == "rebuild" and question.occasion == "pull_request" and winner.kind == "default":
        losers = (winner, *(one for one in losers if one.kind != "own"))
        winner = _own(question, inputs)
        earlier, (judged, again) = judged, judging.of(winner)
        more = (*more, *again)
        if judged.answer == "rebuild":
            judged = replace(judged, reasons=tuple(dict.fromkeys((*earlier.reasons, *judged.reasons))))
    return Decided(
        image=image.name,
        repository=image.repository,
        judged=judged,
        winner=winner,
        losers=losers,
        inputs=inputs,
        pins=pins,
        labels=labels.labels_of(
            image.name, inputs.hash, inputs.commit, pins=pins.pins, source=question.source, now=judging.now
        ),
        build_arguments={**inputs.build_arguments, **pins.arguments},
        publish=judged.answer == "rebuild" and not question.fork and question.other is None,
        notes=(
            *_other_branch(image, question),
            *dict.fromkeys((*judged.notes, *notes, *_own_changes(inputs, base, ports), *more)),
            *(Reason("not-covered", line) for line in pins.uncovered),
        ),
        requested=question.requested is not None and judged.answer == "rebuild",
    )


class _Judging(Struct, frozen=True):
    """What is the same for each candidate of one image."""

    image: Image
    repository: Repository
    question: Question
    ports: Ports
    inputs: ImageInputs
    base: ImageInputs | None
    pins: Pins
    now: float

    def of(self, candidate: Candidate) -> tuple[Judged, tuple[Reason, ...]]:
        """What is to be done if that one is taken, and what could not be told."""
        question = self.question
        found = self.ports.find(Reference(self.repository, parse_image_tag(candidate.tag), None))
        since, moves = self._counted(found)
        changed, notes = _changed(self.image, self.inputs, found, question.platform, self.ports)
        facts = Facts(
            image=self.image.name,
            occasion=question.occasion,
            commit=self.inputs.commit,
            inputs=self.inputs.hash,
            base=self.base.hash if self.base else None,
            changed=changed,
            pins=self.pins.pins,
            unresolved=self.pins.unresolved,
            winner=candidate,
            found=found,
            requested=question.requested,
            fork=question.fork,
            platform=question.platform,
            now=self.now,
            max_age=question.max_age if candidate.kind == "default" else None,
            since=since,
            moves=moves,
        )
        return decide(facts), notes

    def _counted(self, found: Found) -> tuple[str | None, dict[str, str]]:
        """The commits between what the published image was made of and what is there now, where somebody can count them."""
        part = of_platform(found, self.question.platform) if isinstance(found, Published) else None
        told = part.config.labels if part else {}
        known = labels.pins_of(told)
        moves = {pin.name: self._between(pin, known.get(pin.name, ""), pin.value) for pin in self.pins.pins}
        since = self._between(None, told.get(labels.REVISION, ""), self.inputs.commit)
        return since, {name: text for name, text in moves.items() if text is not None}

    def _between(self, pin: Pin | None, old: str, new: str) -> str | None:
        try:
            before, after = parse_commit(old), parse_commit(new)
        except ValueError:  # no commit, but a digest, or nothing that anybody recorded
            return None
        if before == after:
            return None
        found = self.ports.between(self.image, pin, before, after)
        return found.text if found is not None else None


def _own_changes(inputs: ImageInputs, base: ImageInputs | None, ports: Ports) -> Iterator[Reason]:
    if base is not None and base.hash != inputs.hash:
        yield from (Reason("changed-here", moved_line(one)) for one in ports.compare(base, inputs))


def _base(
    image: Image, inputs: ImageInputs, question: Question, ports: Ports
) -> tuple[ImageInputs | None, tuple[Reason, ...]]:
    """The inputs of what a pull request is merged into, where `HEAD` is that merge, or the pull request's own commit."""
    if question.occasion != "pull_request":
        return None, ()
    if question.head is not None and inputs.commit != question.merge:
        here = inputs.commit[:12]
        if inputs.commit == question.head:  # it may be a merge all the same, of the base into the branch
            message = f"{here} is the pull request's branch, and no merge of it: check out refs/pull/N/merge, with a depth of 2"
            return None, (Reason("no-merge-commit", message),)
        if question.head not in ports.parents(inputs.commit)[1:2]:
            message = f"{here} is not the merge of {question.head[:12]}: what this pull request changes is not in it"
            return None, (Reason("other-checkout", message),)
    return merged_into(image, inputs, ports.inputs, ports.parents)


def _other_branch(image: Image, question: Question) -> Iterator[Reason]:
    if question.other is not None:
        message = f"this run is of {question.other!r:.200}, and {image.tag} is the default branch's: nothing is to be published"
        yield Reason("other-branch", message)


def merged_into(
    image: Image,
    inputs: ImageInputs,
    inputs_of: Callable[[Image, str], ImageInputs],
    parents_of: Callable[[Commit], Sequence[Commit]],
) -> tuple[ImageInputs | None, tuple[Reason, ...]]:
    """The inputs at the first parent of a merge commit, or why they are not known."""
    parents = parents_of(inputs.commit)
    if len(parents) != 2:
        state = "has no parent here" if not parents else f"has {len(parents)} parent{'s' * (len(parents) > 1)}"
        message = (
            f"{inputs.commit[:12]} {state}, and is no merge commit: check out refs/pull/N/merge, with a depth of 2"
        )
        return None, (Reason("no-merge-commit", message),)
    try:
        return inputs_of(image, parents[0]), ()
    except RegraftError as error:
        message = f"the inputs at the first parent {parents[0][:12]} cannot be read: {error}"
        return None, (Reason("base-unreadable", message),)


def own_image(
    image: Image,
    number: int,
    head: str,
    inputs_of: Callable[[Image, str], ImageInputs],
    parents_of: Callable[[Commit], Sequence[Commit]],
) -> OwnImage | OwnUnknown | None:
    """The image that a pull request has of its own, None where it changes nothing that the image is made of.

    `head` is the commit of its branch. Raises what reading the inputs raises.
    """
    inputs = inputs_of(image, "HEAD")
    parents = parents_of(inputs.commit)
    if len(parents) == 2 and parents[1] != head:
        return OwnUnknown(f"{inputs.commit[:12]} is the merge of {parents[1][:12]}, and its branch is at {head[:12]!r}")
    base, _ = merged_into(image, inputs, inputs_of, parents_of)
    if base is not None and base.hash == inputs.hash:
        return None
    return OwnImage(own_tag(number, inputs), f"pull request {number}", base is not None)


def _candidates(
    image: Image, question: Question, inputs: ImageInputs, base: ImageInputs | None
) -> tuple[Candidate, ...]:
    assert image.tag is not None
    found = []
    if question.tag is not None:
        found += [Candidate("directive", one.tag, one.where) for one in (question.tag.winner, *question.tag.losers)]
    if question.occasion == "pull_request" and (base is None or base.hash != inputs.hash):
        found.append(_own(question, inputs))
    return (*found, Candidate("default", image.tag, f"images.{image.name}.tag"))


def _own(question: Question, inputs: ImageInputs) -> Candidate:
    return Candidate("own", own_tag(question.number, inputs), f"pull request {question.number or '?'}")


def own_tag(number: int | None, inputs: ImageInputs) -> str:
    """The tag of a pull request's own image: another one for other inputs, so that a push never meets an older build."""
    return f"pr-{number if number is not None else 'x'}-{inputs.hash[:16]}"


def _changed(
    image: Image, inputs: ImageInputs, found: Found, platform: str, ports: Ports
) -> tuple[tuple[Moved, ...], tuple[Reason, ...]]:
    """What differs from the commit that the published image was built from, where the labels name one that is here."""
    part = of_platform(found, platform) if isinstance(found, Published) else None
    told = part.config.labels if part else {}
    if part is None or told.get(labels.INPUTS) == inputs.hash or labels.INPUTS not in told:
        return (), ()
    revision = told.get(labels.REVISION, "")
    try:
        before = ports.inputs(image, parse_commit(revision))
    except (ValueError, RegraftError) as error:
        message = f"which input changed cannot be told: the image's revision is {revision[:40]!r}: {str(error)[:200]}"
        return (), (Reason("revision-unknown", message),)
    if before.hash != told[labels.INPUTS]:
        message = f"the image's label of its inputs is not that of its revision {revision[:12]}: it was built from something else"
        return (), (Reason("label-contradicts", message),)
    return tuple(ports.compare(before, inputs)), ()
