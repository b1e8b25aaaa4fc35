"""What an image held before the run, as far as the project knows."""

from msgspec import Struct

from regraft.core.baseline import Baseline
from regraft.core.baseline_document import decode_baseline, path_of
from regraft.core.canonical import digest
from regraft.core.document import LIMIT, plain
from regraft.core.plan import BaselineSource, Note, Plan
from regraft.errors import InputError
from regraft.flows.ports import ProjectFiles


class Held(Struct, frozen=True):
    """A baseline and where it comes from, or two times None; the notes say why there is none."""

    baseline: Baseline | None
    source: BaselineSource | None
    notes: tuple[Note, ...]


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


def baseline_of(plan: Plan, files: ProjectFiles) -> Baseline | None:
    """The baseline that a plan was made with. Raises InputError `other-baseline` where the project's is another now."""
    held = read_baseline(plan.image.name, plan.image.reference, files)
    planned, found = plan.baseline, held.source
    if planned is not None and planned.source == "file" and planned != found:
        raise InputError(
            "other-baseline",
            f"the plan was made with baseline {planned.digest[:12]}, and the one here is {found.digest[:12] if found else 'missing'}",
            where=files.place(path_of(plan.image.name)),
            hint="check out the commit that was planned, or plan again",
        )
    return held.baseline


def _unknown(why: str) -> Held:
    message = f"{why}; kept dependencies cannot be compared, `regraft image probe --write` records them"
    return Held(None, None, (Note("notice", "baseline-unknown", message),))
