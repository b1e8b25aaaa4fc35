"""What an image held before the run: by its own label, or as far as the project knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from regraft.core.baseline import Baseline
from regraft.core.baseline_document import decode_baseline, path_of
from regraft.core.canonical import digest
from regraft.core.document import LIMIT, plain
from regraft.core.plan import BaselineSource, Note, Plan
from regraft.errors import InputError, OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from regraft.core.image_published import Found, Published
    from regraft.core.image_reference import Digest, Reference, Repository
    from regraft.flows.ports import ProjectFiles

INSIDE = "/usr/share/regraft/baselines"  # where an image holds its own


class Held(Struct, frozen=True):
    """A baseline and where it comes from, or two times None; the notes say why there is none."""

    baseline: Baseline | None
    source: BaselineSource | None
    notes: tuple[Note, ...]


class Registries(Struct, frozen=True):
    """Where images are asked for what they are, and the platform (`linux/amd64`) that counts in a list of them.

    `attached` gives the different baselines that are attached to an image; it raises OutsideError.
    """

    find: Callable[[Reference], Found]
    platform: str
    attached: Callable[[Repository, Digest], Sequence[bytes]] = lambda _repository, _digest: ()


class Labelled(Struct, frozen=True):
    """What a reference stood for at its registry: its digest, and the baseline of its label; `stop` is why no run may use it."""

    digest: Digest | None = None
    held: Held | None = None
    notes: tuple[Note, ...] = ()
    stop: InputError | None = None


def read_label(image: str, reference: str, where: str | None, registries: Registries) -> Labelled:
    """The image behind a reference, asked once. `where` is the place of the directive that named its tag.

    What cannot be read is a note; a tag that somebody named and that is not there, and a list that contradicts itself, are stops.
    """
    from regraft.core.image_decision import mixed  # noqa: PLC0415 - only where an image has a repository
    from regraft.core.image_published import Absent, Unread  # noqa: PLC0415
    from regraft.core.image_reference import parse_reference  # noqa: PLC0415

    found = registries.find(parse_reference(reference))
    if isinstance(found, Unread):
        message = f"{image}: what {reference} stands for could not be asked: {found.message}; no digest is in the plan"
        return Labelled(notes=(Note("notice", "registry-unread", message),))
    if isinstance(found, Absent):
        message = f"the registry has no image {reference}"
        if where is None:
            return Labelled(notes=(Note("warning", "no-such-image", f"{image}: {message}"),))
        return Labelled(stop=InputError("no-such-tag", message, where=where, hint="name a tag that was published"))
    if (contradiction := mixed(found)) is not None:
        hint = "publish its parts from one commit, and let one workflow write the tag"
        return Labelled(stop=InputError("mixed-list", contradiction, where=where or reference, hint=hint))
    return _of_published(image, found, registries)


def _of_published(image: str, found: Published, registries: Registries) -> Labelled:
    from regraft.core import image_labels as labels  # noqa: PLC0415
    from regraft.core.image_published import part_of  # noqa: PLC0415

    part = part_of(found, registries.platform)
    text = part.config.labels.get(labels.BASELINE) if part else None
    if part is None:
        return Labelled(found.digest)
    if text is None:
        return _of_attached(image, found, part.digest, registries) or Labelled(found.digest)
    if labels.inherited(part.config):
        message = (
            f"{image}: {found.reference} has the baseline of its base image, which does not say what it holds itself"
        )
        note = Note("warning", "inherited-label", message)
        return _of_attached(image, found, part.digest, registries) or Labelled(found.digest, notes=(note,))
    try:
        baseline = labels.unpack_baseline(text, image, found.reference)
    except InputError as error:
        return Labelled(found.digest, notes=(Note("warning", "bad-baseline-label", f"{image}: {error}"),))
    return Labelled(found.digest, Held(baseline, BaselineSource("label", digest(plain(baseline))), ()))


def _of_attached(image: str, found: Published, subject: Digest, registries: Registries) -> Labelled | None:
    """By the manifest that `image build` attached to this very digest; None where there is none."""
    from regraft.core.image_reference import parse_reference  # noqa: PLC0415 - as above

    where = f"what is attached to {found.reference}"
    try:
        texts = registries.attached(parse_reference(found.reference).repository, subject)
    except OutsideError as error:
        return Labelled(found.digest, notes=(Note("notice", "attached-unread", f"{image}: {where}: {error}"),))
    if not texts:
        return None
    if len(texts) > 1:
        message = f"{image}: {where} are {len(texts)} different baselines, and none of them counts"
        return Labelled(found.digest, notes=(Note("warning", "attached-differ", message),))
    try:
        baseline = decode_baseline(texts[0], image, where)
    except InputError as error:
        return Labelled(found.digest, notes=(Note("warning", "bad-attached", f"{image}: {error}"),))
    return Labelled(found.digest, Held(baseline, BaselineSource("attached", digest(plain(baseline))), ()))


def read_baseline(image: str, reference: str | None, files: ProjectFiles) -> Held:
    """The committed baseline of an image that is started as `reference`.

    A baseline that was taken from another reference says nothing about this one. Raises InputError where the file is
    damaged.
    """
    path = path_of(image)
    data = files.read(path, LIMIT)
    if data is None:
        return _unknown(f"what {image} holds is not known: there is no {path}")
    baseline = decode_baseline(data, image, files.place(path))
    if baseline.reference != reference:
        return _unknown(f"{path} was taken from {baseline.reference}, and this run uses {reference}")
    return Held(baseline, BaselineSource("file", digest(plain(baseline))), ())


def baseline_of(
    plan: Plan, files: ProjectFiles, inside: Callable[[str], bytes | None] = lambda _: None
) -> Baseline | None:
    """The baseline that a plan was made with. Raises InputError `other-baseline` where there is another here, or none.

    `inside` reads a file of the image: one whose label was planned with holds the same as a file.
    """
    planned = plan.baseline
    if planned is not None and planned.source in ("label", "attached"):
        path = f"{INSIDE}/{plan.image.name}.json"
        data = inside(path)
        baseline = None if data is None else decode_baseline(data, plan.image.name, path)
        found = BaselineSource(planned.source, digest(plain(baseline))) if baseline else None
        if planned != found:
            hint = "run this in the image that was planned, by its digest, or plan again"
            raise _other(planned, found, path, hint)
        return baseline
    held = read_baseline(plan.image.name, plan.image.reference, files)
    if planned is not None and planned.source == "file" and planned != held.source:
        hint = "check out the commit that was planned, or plan again"
        raise _other(planned, held.source, files.place(path_of(plan.image.name)), hint)
    return held.baseline


def _other(planned: BaselineSource, found: BaselineSource | None, where: str, hint: str) -> InputError:
    here = found.digest[:12] if found else "missing"
    message = f"the plan was made with baseline {planned.digest[:12]}, and the one here is {here}"
    return InputError("other-baseline", message, where=where, hint=hint)


def _unknown(why: str) -> Held:
    message = f"{why}; kept dependencies cannot be compared, `regraft image probe --write` records them"
    return Held(None, None, (Note("notice", "baseline-unknown", message),))
