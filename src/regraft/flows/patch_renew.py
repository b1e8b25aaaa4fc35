"""The same change with new context, proved: or what stands in its way."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.file_state import judge_file
from regraft.core.hunk_state import judge_hunks
from regraft.core.objects import Tree
from regraft.core.patch_text import PatchText, Section
from regraft.core.patch_verdict import connected, judge_patch, some
from regraft.core.refreshing import Ground, NewSection, Stuck, carried_over, rewritten, same_lines
from regraft.core.series_state import FITS, judge_series
from regraft.core.tree_view import Overlay
from regraft.core.trees import shown
from regraft.flows.patch_judging import Case, view_of
from regraft.flows.patch_moves import copies, moves
from regraft.flows.patch_reading import PatchFile, read_carried

LEAST_DIGITS = 7
NO_MERGE = (
    "exact replacements and anchors are not carried over by a merge: write their texts anew, as the file has them now"
)
TURNS = 8


class Renewed(Struct, frozen=True):
    """`moved`: files that the patch now edits under another name."""

    file: PatchFile
    moved: tuple[tuple[str, str], ...]


class Standing(Struct, frozen=True):
    """The tree before a patch of the series: the commit's, with the earlier patches that fit."""

    tree: Tree
    overlay: Overlay


def standing(case: Case, index: int, tree: Tree) -> Standing:
    view = view_of(case.upstream, tree, case.texts)
    return Standing(tree, judge_series(case.texts[:index], view).overlay)


def last_good(case: Case, index: int) -> Tree | None:
    """The newest tree in the history that was looked through on which the patch fitted."""
    for turn in case.history.patches[index].turns:
        if turn.before.state == "applies" and turn.by.parents:
            return case.upstream.source.commit(turn.by.parents[0]).tree
    return None


def _before_turns(case: Case, index: int) -> list[Tree]:
    """The trees before the newest commits that changed the state of the patch, or of an earlier one of the series."""
    source = case.upstream.source
    turns = [turn for one in case.history.patches[: index + 1] for turn in one.turns if turn.by.parents]
    return [source.commit(turn.by.parents[0]).tree for turn in turns[:TURNS]]


def renew(case: Case, index: int) -> Renewed | tuple[Stuck, ...]:
    """The patch file for the tree that is there now. Nothing but what was proved: the base is known, the three-way merge is clean,
    the new text applies at its own lines, and it adds and removes the lines that the old one did.
    """
    file, text = case.files[index], case.texts[index]
    if text.problems:
        return (Stuck(file.path.encode(), "it cannot be read"),)
    if text.substitutes:
        fits = case.history.patches[index].now.state == "applies"
        return Renewed(file, ()) if fits else (Stuck(file.path.encode(), NO_MERGE),)
    if (first := broken_before(case, index)) is not None:
        return (Stuck(file.path.encode(), f"{first} does not fit, and this one is made on it: refresh that first"),)
    now = standing(case, index, case.tree)
    good = last_good(case, index)
    before = standing(case, index, good) if good is not None else None
    moved = moves(case, index, now.tree)
    if split := [*_split(case, index, moved)]:
        return tuple(split)
    headers = file.data.split(b"\n")
    parts: list[tuple[NewSection, Ground] | None] = []
    stuck: list[Stuck] = []
    tangled = {number for group in connected(text.sections) if len(group) > 1 for number in group}
    for number, section in enumerate(text.sections):
        part = _part(section, _Case(case, index, now, before, moved, number in tangled), headers)
        if isinstance(part, Stuck):
            stuck.append(part)
        else:
            parts.append(part)
    if stuck:
        return tuple(stuck)
    data = rewritten(file.data, text, parts)
    if data is None:
        return (Stuck(file.path.encode(), "the patch file is laid out in a way that is not rewritten"),)
    renewed = PatchFile(file.path, data, file.strip, file.root)
    if why := _doubt(case, index, renewed, parts):
        return (Stuck(file.path.encode(), why),)
    names = ((shown(old), shown(new)) for old, new in moved.items())
    return Renewed(renewed, tuple(names))


def _split(case: Case, index: int, moved: Mapping[bytes, bytes]) -> Iterator[Stuck]:
    """Targets that went to more than one place at once: which of them the patch is for, nobody can tell."""
    for path in moved:
        names = [shown(one) for one in copies(case, index, path)]
        if len(names) > 1:
            yield Stuck(path, f"it went to {some(names)}, and the hunks fit each: decide which the patch is for")


def broken_before(case: Case, index: int) -> str | None:
    """The first earlier patch of the series that touches the same files and does not fit: the tree is judged without it."""
    touched = case.texts[index].touched
    for file, text, one in zip(case.files[:index], case.texts, case.history.patches, strict=False):
        if one.now.state not in FITS and text.touched & touched:
            return file.called
    return None


class _Case(Struct, frozen=True):
    case: Case
    index: int
    now: Standing
    before: Standing | None
    moved: Mapping[bytes, bytes]
    tangled: bool


def _part(section: Section, one: _Case, headers: Sequence[bytes]) -> tuple[NewSection, Ground] | Stuck | None:
    overlay = one.now.overlay
    verdict = judge_file(section, overlay)
    exact = verdict.state == "applies" and not any(hunk.offset for hunk in verdict.hunks)
    if (why := _beyond(section, one)) is not None:
        return None if exact else Stuck(section.path, f"{verdict.reason or verdict.state}; {why}")
    source = section.old_path
    path = one.moved.get(source, source) if section.kind == "edit" else section.path
    ours = _content(one, path if section.kind == "edit" else source)
    if ours is None:
        return Stuck(section.path, verdict.reason or "it is not there")
    bases = _bases(section, one, ours, fits=verdict.state == "applies" and path == section.path)
    stuck = Stuck(
        path, "the file that it was made on is not known: no object here has its name, and it fitted at no commit"
    )
    headings = [headers[hunk.line - 1] for hunk in section.hunks]
    for base in bases:
        ground = Ground(base, ours, path)
        part = carried_over(section, ground, headings)
        if not isinstance(part, Stuck):
            return part, ground
        stuck = part
    return stuck


def _beyond(section: Section, one: _Case) -> str | None:
    """Why a section is none that is carried over: only lines are, from one file that is there to one that is."""
    if one.tangled:
        return "more than one section of the patch is about this file, which is not carried over: make one of them"
    if section.binary is not None:
        return "a binary change is not carried over"
    if section.kind in ("create", "delete"):
        return f"what {section.kind}s a file is not carried over"
    if not section.hunks:
        return "it changes no lines"
    if section.kind != "edit" and section.old_path in one.moved:
        return "upstream moved the file that the patch moves"
    return None


def _content(one: _Case, path: bytes) -> bytes | None:
    overlay, source = one.now.overlay, one.case.upstream.source
    if (entry := overlay.entry(path)) is not None:
        return overlay.content(entry)
    there = source.version(one.now.tree, path)
    return source.blob(there.oid) if there is not None else None


def _bases(section: Section, one: _Case, ours: bytes, *, fits: bool) -> list[bytes]:
    """Files that the hunks fit, the likeliest first: the one that is there, the one that the index line names, the last good one."""
    if fits:
        return [ours]
    found: list[bytes] = []
    name = section.old_oid or ""
    named = one.now.overlay.blob(name) if len(name) >= LEAST_DIGITS and name.strip("0") else None
    if named is not None:
        found.append(named)
    if one.before is not None and (entry := one.before.overlay.entry(section.old_path)) is not None:
        found.append(one.before.overlay.content(entry))
    backs = (_with_earlier(section, one, tree) for tree in _before_turns(one.case, one.index))
    found += [back for back in backs if back is not None]
    return [base for base in found if judge_hunks(base, section.hunks, base=base).state == "applies"]


def _with_earlier(section: Section, one: _Case, tree: Tree) -> bytes | None:
    """A file as it was on which the patch fitted, with the earlier patches that fit now: each as it is, or carried back to it."""
    versions = [one.case.upstream.source.version(at, section.old_path) for at in (one.now.tree, tree)]
    now, then = (one.case.upstream.source.blob(there.oid) if there is not None else None for there in versions)
    for text in one.case.texts[: one.index]:
        for other in text.sections:
            if section.old_path not in (other.path, other.old_path):
                continue
            if now is None or then is None or other.kind != "edit" or not other.hunks:
                return None
            fits, fitted = (judge_hunks(content, other.hunks, base=content) for content in (now, then))
            if fits.content is None:
                continue
            if fitted.content is not None:
                then = fitted.content
            else:
                part = carried_over(other, Ground(now, then, other.path), [b""] * len(other.hunks))
                then = part.content if isinstance(part, NewSection) else None
            now = fits.content
    return then


def _doubt(case: Case, index: int, renewed: PatchFile, parts: Sequence[tuple[NewSection, Ground] | None]) -> str | None:
    """What keeps the new text from being taken, or None."""
    old, source = case.texts[index], case.upstream.source
    tree = case.tree
    text = read_carried(renewed, lambda path: source.version(tree, path) is not None)
    if text.problems:
        return f"the new text cannot be read: {text.problems[0].message}"
    paths = [part[1].path if part else section.path for section, part in zip(old.sections, parts, strict=True)]
    if not same_lines(old, text) or [section.path for section in text.sections] != paths:
        return "the new text would not add and remove the same lines in the same files"
    texts: list[PatchText] = [*case.texts[:index], text]
    overlay = judge_series(texts[:-1], view_of(case.upstream, tree, texts)).overlay
    verdict = judge_patch(text, overlay)
    if verdict.state != "applies" or any(hunk.offset for one in verdict.files for hunk in one.hunks):
        return f"the new text does not apply at its own lines: {verdict.reason or verdict.state}"
    for path, part in zip(paths, parts, strict=True):
        made = verdict.results.get(path)
        if part is not None and (made is None or made.content != part[0].content):
            return "the new text makes something else than the three-way merge"
    return None
