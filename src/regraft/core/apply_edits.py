"""Edits in a baked tree: those that the carried patches explain are the baseline, and of the others the manifest decides."""

from collections.abc import Sequence
from typing import Literal

from regraft.core.baseline import BaselineDependency
from regraft.core.observation import CarriedPatch, Checkout, Difference, quoted
from regraft.core.trees import printable
from regraft.errors import RefusedError

SHOWN = 20
_NO_EDIT = frozenset({"filter", "submodule-empty"})


def is_as_recorded(found: Checkout, held: BaselineDependency | None) -> bool:
    """Whether the baseline has recorded just this tree."""
    return held is not None and held.tree is not None and found.tree == held.tree and found.head == held.commit


def edits(looks: Sequence[Checkout]) -> tuple[Difference, ...]:
    """What no look explains. Each look compares the same files with HEAD and some of the carried patches."""
    first, *others = looks
    explained = [{one.path for one in other.differences if one.kind not in _NO_EDIT} for other in others]
    return tuple(
        one
        for one in first.differences
        if one.kind not in _NO_EDIT and all(one.path in differing for differing in explained)
    )


def prefixes(patches: Sequence[CarriedPatch]) -> tuple[tuple[CarriedPatch, ...], ...]:
    """What an image may have been built with, when the project's series has changed since: fewer of its patches."""
    return tuple(tuple(patches[:count]) for count in range(len(patches) - 1, -1, -1))


def decide(
    dependency: str,
    path: str,
    found: Sequence[Difference],
    policy: Literal["stop", "carry", "drop"],
    *,
    kept_by_plan: frozenset[str],
) -> str | None:
    """What is to be said of local edits that go; None where there are none. Raises RefusedError `local-edits`.

    `kept_by_plan` are edited paths that the planned tree holds just as they are. To carry more than these is not possible:
    the plan's tree cannot know them, and the checkout would not be what was planned.
    """
    lost = [one for one in found if one.path not in kept_by_plan]
    if not lost:
        return None
    listed = ", ".join(f"{quoted(one.path)} ({one.detail})" for one in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    message = f"{dependency}: {len(lost)} tracked files were edited, and no carried patch explains it: {listed}{more}"
    if policy == "drop":
        return f"{message}; local-edits = drop: they go"
    hint = 'make them a carried patch (`git diff` in the image), or set `local-edits = "drop"`'
    if policy == "carry":
        message += "; local-edits = carry, and the planned tree does not have them"
    raise RefusedError("local-edits", printable(message, 4000), where=path, hint=hint)
