"""A series of patches against a tree: each on what its predecessors leave, and what has landed from the series' end."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from regraft.core.patch_state import fold_series
from regraft.core.patch_text import PatchText
from regraft.core.patch_verdict import PatchVerdict, judge_patch, undone
from regraft.core.plan import PatchState
from regraft.core.tree_view import Overlay, View

FITS: tuple[PatchState, ...] = ("applies", "already-there")


class SeriesVerdict(Struct, frozen=True):
    """`overlay` is the tree with those patches that apply. `state` is None for a series without patches."""

    patches: tuple[PatchVerdict, ...]
    state: PatchState | None
    overlay: Overlay


JudgePatch = Callable[[PatchText, View], PatchVerdict]


def judge_series(texts: Sequence[PatchText], view: View, *, judge: JudgePatch = judge_patch) -> SeriesVerdict:
    """Every patch is judged; what does not fit is left out of the tree that later ones are judged on.

    `judge` may be one that remembers.
    """
    overlay = Overlay(view)
    verdicts: list[PatchVerdict] = []
    for text in texts:
        verdict = judge(text, overlay)
        overlay.put(verdict.results)
        verdicts.append(verdict)
    for number, verdict in _landed_below(texts, verdicts, view, judge).items():
        verdicts[number] = verdict
    return SeriesVerdict(tuple(verdicts), fold_series(one.state for one in verdicts), overlay)


def _landed_below(
    texts: Sequence[PatchText], verdicts: Sequence[PatchVerdict], view: View, judge: JudgePatch
) -> dict[int, PatchVerdict]:
    """Patches that do not show because later ones of the series, which are there too, changed the same lines."""
    open_ones = [number for number, one in enumerate(verdicts) if one.state in ("conflict", "partial", "target-gone")]
    there = [number for number, one in enumerate(verdicts) if one.state == "already-there"]
    if not open_ones or not there:
        return {}
    touched = [{path for one in text.sections for path in (one.path, one.old_path)} for text in texts]
    if not any(number < later and touched[number] & touched[later] for number in open_ones for later in there):
        return {}
    found: dict[int, PatchVerdict] = {}
    under = Overlay(view)
    for number in range(len(texts) - 1, open_ones[0] - 1, -1):
        if texts[number].problems:
            continue
        verdict = judge(texts[number], under)
        if verdict.state != "already-there":
            continue
        if number in open_ones:
            reason = "it is there below later patches of the series, which are there too"
            found[number] = PatchVerdict("already-there", reason, verdict.files)
        back = undone(texts[number], under)
        if back is not None:
            under.put(back)
    return found
