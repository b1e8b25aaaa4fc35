"""Carried patches against one upstream commit: judged in memory, and what applies is applied by git itself in a temporary index."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core import hashing
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.partners import together
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import PatchText, bases_of
from regraft.core.patch_verdict import judge_patch, merges_of, some
from regraft.core.plan import PatchState, PlannedPatch
from regraft.core.removal import blob_oid
from regraft.core.series_state import FITS, SeriesVerdict, judge_series
from regraft.core.tree_view import Overlay, View, oid_of
from regraft.core.trees import Tracked, printable, shown
from regraft.core.whole_diff import whole_diff
from regraft.errors import OutsideError
from regraft.flows.judge_view import StoreView
from regraft.flows.patch_reading import PatchFile, confirmed, read_carried
from regraft.flows.ports import FetchBlobs, GateStore, ScratchIndex

__all__ = ["Judged", "PatchFile", "Series", "judge"]


class Judged(Struct, frozen=True):
    """`reason` is one line: why it does not fit, or what is to be known where it does.

    `merged`: it applies, and some of its files by a three-way merge only.
    """

    patch: PlannedPatch
    reason: str | None
    merged: bool = False


class Series(Struct, frozen=True):
    """`state` is None for a series without patches. `tree` is the commit's, with those patches that apply."""

    patches: tuple[Judged, ...]
    state: PatchState | None
    tree: Tree


def judge(
    commit: Commit,
    patches: Sequence[PatchFile],
    store: GateStore,
    fetch_blobs: FetchBlobs | None,
) -> Series:
    """Judge every patch, each on the tree that those before it leave; what does not fit is left out, and that is said.

    `fetch_blobs` is called at most once, with all that the patches touch and the store lacks, and with what they were made on.
    Raises OutsideError where git or the store failed: `missing-objects` among others; `engine-disagrees` where git makes something
    else of a patch than we do. That is never a state.
    """
    tree = store.commit_tree(commit)
    if not patches:
        return Series((), None, tree)
    tracked: Tracked = {entry.path: entry for entry in store.list_tree(tree)}
    texts = _read(patches, tracked, store)
    mended = [_without_returns(patch, text, tracked) for patch, text in zip(patches, texts, strict=True)]
    touched = _touched([*texts, *filter(None, mended)])
    made_on = _made_on(texts, tracked)
    _complete(touched, made_on, tracked, store, fetch_blobs)
    view = StoreView(tracked, store, touched, texts)
    verdict = judge_series(texts, view)
    verdict = replace(verdict, patches=together(texts, verdict.patches))
    index = store.read_tree(commit)
    _apply(verdict, patches, texts, index, view)
    judged: list[Judged] = []
    left_out: list[str] = []
    for patch, read, text, one in zip(patches, texts, mended, verdict.patches, strict=True):
        fits = f"; without the carriage returns it would {_fitting(text, verdict)}" if text is not None else ""
        said = [f"{one.reason or ''}{fits}"]
        if left_out:
            said.append(f"judged on the tree without {some(left_out)}, which does not fit")
        if one.state not in FITS:
            left_out.append(printable(patch.called))
            if lost := store.missing(sorted(_made_on([read], tracked))):
                said.append(
                    f"{len(lost)} of the files that it was made on could not be had, and might show more ({lost[0][:12]})"
                )
        sha256 = hashing.sha256(patch.data)
        planned = PlannedPatch(patch.path, sha256, one.state)
        judged.append(Judged(planned, "; ".join(filter(None, said)) or None, bool(merges_of(read, one))))
    return Series(tuple(judged), verdict.state, index.write_tree())


def _read(patches: Iterable[PatchFile], tracked: Tracked, store: GateStore) -> list[PatchText]:
    """Each patch, where the files exist that the tree has and those that earlier patches make."""
    known = set(tracked)
    texts = []
    for patch in patches:
        text = confirmed(read_carried(patch, known.__contains__), patch, store)
        known |= _touched([text])
        texts.append(text)
    return texts


def _without_returns(patch: PatchFile, text: PatchText, tracked: Tracked) -> PatchText | None:
    """The patch as it was before something rewrote its line ends, where that makes it readable."""
    if text.returns is None:
        return None
    data = patch.data.replace(b"\r\n", b"\n")
    mended = read_patch_text(data, strip=patch.strip, root=patch.root, exists=tracked.__contains__)
    return None if mended.problems else mended


def _fitting(text: PatchText, verdict: SeriesVerdict) -> str:
    return "fit" if judge_patch(text, verdict.overlay).state in FITS else "not fit either"


def _touched(texts: Iterable[PatchText]) -> frozenset[bytes]:
    sections = [section for text in texts if not text.problems for section in text.sections]
    return frozenset(path for section in sections for path in (section.path, section.old_path))


def _made_on(texts: Sequence[PatchText], tracked: Tracked) -> frozenset[Blob]:
    """What the patches were made on, where they tell its full name, as those do that delete a file."""
    sha256 = any(len(entry.oid) == 64 for entry in tracked.values())
    sections = [section for text in texts if not text.problems for section in text.sections]
    gone = [one for one in sections if one.kind == "delete" and one.hunks and one.path not in tracked]
    return frozenset(map(Blob, bases_of(texts))) | {Blob(blob_oid(one.hunks, sha256=sha256)) for one in gone}


def _complete(
    touched: Iterable[bytes],
    made_on: Iterable[Blob],
    tracked: Tracked,
    store: GateStore,
    fetch_blobs: FetchBlobs | None,
) -> None:
    """Have everything that the patches touch in the store, by one batch, and what they were made on where that can be had."""
    here = sorted(path for path in touched if path in tracked)
    wanted = [Blob(tracked[path].oid) for path in here if tracked[path].kind == "blob"]
    missing = store.missing(wanted)
    helpful = [one for one in store.missing(sorted(made_on)) if one not in missing]
    if (missing or helpful) and fetch_blobs is not None:
        fetch_blobs(missing, helpful)
        missing = store.missing(missing)
    if missing:
        raise OutsideError(
            "missing-objects",
            f"{len(missing)} files that the patches touch are not here, {missing[0]} among them",
            hint="fetch them first (a clone without blobs lacks them)",
        )


def _apply(
    verdict: SeriesVerdict, patches: Sequence[PatchFile], texts: Sequence[PatchText], index: ScratchIndex, view: View
) -> None:
    """Let git apply what applies, and compare what it makes of it. What is no diff, git writes as we made it."""
    applied = False
    before = Overlay(view)
    for patch, text, one in zip(patches, texts, verdict.patches, strict=True):
        if one.state == "applies":
            data = whole_diff(one.results, before) if text.substitutes else patch.data
            before.put(one.results)
            if not data:  # anchors alone, which change nothing
                continue
            outcome = index.apply(data, names=text.git_arguments, merges=merges_of(text, one))
            if outcome.verdict != "fits":
                raise _disagrees(f"{printable(patch.path)} applies, and git says {outcome.message!r:.200}")
            applied = True
    if not applied:
        return
    overlay = verdict.overlay
    entries = {entry.path: entry for entry in index.entries() if entry.path in overlay.made}
    for path in sorted(overlay.made):
        ours, theirs = overlay.entry(path), entries.get(path)
        same = (ours.mode, oid_of(overlay, ours)) if ours else None
        if same != ((theirs.mode, theirs.oid) if theirs else None):
            raise _disagrees(f"git makes something else of {shown(path)} than regraft does")


def _disagrees(message: str) -> OutsideError:
    hint = "this is a bug of regraft: please report it with the patch and the commit"
    return OutsideError("engine-disagrees", message, hint=hint)
