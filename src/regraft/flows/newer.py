"""A further apply on a machine that somebody has worked on since the first: what is newer is seen before anything goes back."""

from collections.abc import Iterator, Sequence

from regraft.core import apply_edits
from regraft.core import newer as core
from regraft.core.findings import Finding, Witness
from regraft.core.manifest import Baked, Image
from regraft.core.observation import Difference
from regraft.core.plan import Plan, PlannedDependency
from regraft.core.restored import Kept
from regraft.core.tree_record import Change
from regraft.flows.observe import as_baked
from regraft.flows.ports import Checkouts, ProjectFiles
from regraft.flows.verify import wanted_of

SHOWN = 20


def decide(
    found: Sequence[Change], plan: Plan, image: Image, files: ProjectFiles, checkouts: Checkouts
) -> Iterator[Finding]:
    """What is to be said of tracked files that were edited since the apply. Raises RefusedError `local-edits`, OutsideError."""
    if not found:
        return
    for name, wanted in as_baked(image, files).items():
        baked = image.baked[name]
        edits = core.edits(found, checkouts.look(name, baked.path, wanted))
        if not edits:
            continue
        held: frozenset[str] = frozenset()
        if baked.local_edits == "carry":
            held = _held_by_plan(edits, plan.dependencies.get(name), baked, files, checkouts)
        said = apply_edits.decide(name, baked.path, edits, baked.local_edits, kept_by_plan=held)
        if said is not None:
            yield Finding("local-edits", "warning", said, baked.path)


def _held_by_plan(
    edits: Sequence[Difference],
    planned: PlannedDependency | None,
    baked: Baked,
    files: ProjectFiles,
    checkouts: Checkouts,
) -> frozenset[str]:
    """The edits that the planned tree has just so, as far as its commit is in the checkout already."""
    if planned is None or planned.commit is None:
        return frozenset()
    seen = checkouts.look(baked.dependency, baked.path, wanted_of(planned, baked, files))
    if seen.judged != "entries":
        return frozenset()
    differing = {one.path for one in seen.differences} | {one.path for one in seen.extras}
    return frozenset(one.path for one in edits) - differing


def said_of(kept: Kept, image: Image) -> Iterator[Finding]:
    """That what was newer is not where it was any more."""
    if kept.paths:
        yield Finding(
            "newer-than-apply",
            "warning",
            f"{len(kept.paths)} files were made or changed since the earlier apply; their copies are in {kept.folder}",
            image.python,
            witnesses=tuple(Witness(path, None, "") for path in kept.paths[:SHOWN]),
        )
