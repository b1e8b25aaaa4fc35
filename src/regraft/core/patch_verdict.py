"""A whole patch against a tree: its sections, those that touch the same paths together, and the state that they fold into."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from regraft.core.as_git import as_git
from regraft.core.file_state import FileVerdict, judge_file
from regraft.core.patch_reverse import reversed_section
from regraft.core.patch_state import fold_patch
from regraft.core.patch_text import PatchText, Section
from regraft.core.plan import PatchState
from regraft.core.target import gone
from regraft.core.tree_view import Made, Overlay, View
from regraft.core.trees import Merge, shown

SHOWN = 5

WATCHES = "what it replaces is there already: take that out of the file; its anchors are found, and stay"

TWICE = "an earlier section of the patch makes the same change, so that git refuses this one"

Results = Mapping[bytes, Made | None]


class PatchVerdict(Struct, frozen=True):
    """`files`: one verdict a section, in the patch's order. `results`: what it makes of each path where it applies.

    `reason` is one line: why it does not fit, or what is to be known where it does.
    """

    state: PatchState
    reason: str | None = None
    files: tuple[FileVerdict, ...] = ()
    results: Results = field(default_factory=dict)


def merges_of(text: PatchText, verdict: PatchVerdict) -> tuple[Merge, ...]:
    """The files of a patch that applies which are merged three-way."""
    if verdict.state != "applies":
        return ()
    pairs = zip(text.sections, verdict.files, strict=True)
    return tuple(Merge(section.path, section.old_path, one.base) for section, one in pairs if one.base is not None)


JudgeGroup = Callable[[PatchText, Sequence[int], View, frozenset[bytes]], Sequence[FileVerdict]]
"""Judges sections (by their numbers) that hang together; the paths are those that the patch takes away."""


def judge_patch(text: PatchText, view: View, *, judge: JudgeGroup | None = None) -> PatchVerdict:
    """`judge` stands in for `judge_group`: one that remembers. Raises what the view raises where content is missing."""
    if text.problems:
        return PatchVerdict("unreadable", _problems(text))
    vacated = frozenset(one.old_path for one in text.sections if one.kind in ("delete", "rename"))
    files: dict[int, FileVerdict] = {}
    for group in connected(text.sections):
        verdicts = (judge or judge_group)(text, group, view, vacated)
        files.update(zip(group, verdicts, strict=True))
    ordered = tuple(files[number] for number in range(len(text.sections)))
    return folded(ordered, text)


def judge_group(text: PatchText, group: Sequence[int], view: View, vacated: frozenset[bytes]) -> Sequence[FileVerdict]:
    """A verdict for each of the sections, which hang together."""
    sections = [text.sections[number] for number in group]
    if len(group) == 1:
        return [judge_file(sections[0], view, vacated=vacated, bare=text.bare, merges=text.merges)]
    if all(section.kind == "edit" for section in sections):
        return _stacked(sections, view, text.bare)
    return _tangled(sections, view, text.bare)


def connected(sections: Sequence[Section]) -> list[list[int]]:
    """The sections (by their numbers) that hang together: by a name, old or new, that both have."""
    groups: list[tuple[set[bytes], list[int]]] = []
    by_path: dict[bytes, tuple[set[bytes], list[int]]] = {}
    for number, section in enumerate(sections):
        paths, numbers = {section.path, section.old_path}, [number]
        joined = [by_path[path] for path in paths if path in by_path]
        for group in joined:
            if group in groups:
                groups.remove(group)
                paths |= group[0]
                numbers = group[1] + numbers
        merged = (paths, sorted(numbers))
        groups.append(merged)
        by_path.update(dict.fromkeys(paths, merged))
    return sorted(numbers for _, numbers in groups)


def undone(text: PatchText, view: View) -> Results | None:
    """What taking the patch back makes of each path, or None where that does not work everywhere."""
    overlay = Overlay(view)
    for section in reversed(text.sections):
        verdict = judge_file(reversed_section(section), overlay)
        if verdict.state != "applies":
            return None
        overlay.put(verdict.results)
    return overlay.made


def _stacked(sections: Sequence[Section], view: View, bare: Sequence[int]) -> list[FileVerdict]:
    """Several edits of one file: each on what the earlier ones leave; what has landed is looked for from the last one."""
    overlay = Overlay(view)
    verdicts: list[FileVerdict] = []
    for section in sections:
        verdict = judge_file(section, overlay, bare=bare)
        overlay.put(verdict.results)
        verdicts.append(verdict)
    verdicts = _not_its_own(verdicts, sections, view, bare)
    if not any(verdict.state in ("conflict", "partial") for verdict in verdicts):
        return _as_one(verdicts, sections, overlay)
    under = Overlay(view)
    landed = list(verdicts)
    for number in range(len(sections) - 1, -1, -1):
        verdict = judge_file(sections[number], under, bare=bare)
        if verdict.state != "already-there":
            continue
        if verdicts[number].state in ("conflict", "partial"):
            landed[number] = verdict
        back = judge_file(reversed_section(sections[number]), under)
        under.put(back.results)
    whole = all(one.state == "already-there" for one in landed)
    return landed if whole or as_git(sections, view) is None else verdicts


def _not_its_own(
    verdicts: Sequence[FileVerdict], sections: Sequence[Section], view: View, bare: Sequence[int]
) -> list[FileVerdict]:
    """What an earlier section of the patch makes is not there already: git refuses a change that comes twice."""
    found: list[FileVerdict] = []
    for section, one in zip(sections, verdicts, strict=True):
        twice = one.state == "already-there" and any(before.state == "applies" for before in found)
        if twice and judge_file(section, view, bare=bare).state != "already-there":
            found.append(FileVerdict(one.path, "conflict", TWICE, one.hunks))
        else:
            found.append(one)
    return found


def _as_one(verdicts: list[FileVerdict], sections: Sequence[Section], overlay: Overlay) -> list[FileVerdict]:
    """Every verdict of the file with its last content, so that the order of what is written does not count."""
    path = sections[0].path
    if path not in overlay.made:
        return verdicts
    results = {path: overlay.made[path]}
    return [replace(one, results=results if one.results else {}) for one in verdicts]


def _tangled(sections: Sequence[Section], view: View, bare: Sequence[int]) -> list[FileVerdict]:
    """Renames, deletions and new files that share names: all of them are there, or all apply, or it is a conflict."""
    taken, in_order = as_git(sections, view), _in_order(sections, view)
    if taken is not None:
        if dict(taken) == in_order or _independent(sections):
            first, *others = [FileVerdict(section.path, "applies") for section in sections]
            return [FileVerdict(first.path, "applies", results=taken), *others]
        return _all(
            sections, "conflict", "ambiguous: the patch touches it more than once, and git does not apply that in order"
        )
    backwards = [reversed_section(section) for section in reversed(sections)]
    back = as_git(backwards, view)
    if back is not None and not any(section.changes_mode for section in sections) and _shows(sections, back, view):
        return _all(sections, "already-there", None)
    alone = [judge_file(section, view, bare=bare) for section in sections]
    made: set[bytes] = set()
    for section in sections:
        reads = section.kind != "create" and section.old_path not in made
        if back is None and reads and section.kind != "delete" and (reason := gone(section.old_path, section, view)):
            return _all(sections, "target-gone", reason)
        made.add(section.path)
    reasons = [one.reason for one in alone if one.reason and not one.reason.startswith("ambiguous")]
    return _all(
        sections, "conflict", "the patch touches it more than once; " + (reasons[0] if reasons else "decide by hand")
    )


def _all(sections: Sequence[Section], state: PatchState, reason: str | None) -> list[FileVerdict]:
    return [FileVerdict(section.path, state, reason) for section in sections]


def _in_order(sections: Sequence[Section], view: View) -> Results | None:
    overlay = Overlay(view)
    for section in sections:
        verdict = judge_file(section, overlay)
        if verdict.state != "applies":
            return None
        overlay.put(verdict.results)
    return overlay.made


def _independent(sections: Sequence[Section]) -> bool:
    """Whether the sections can be of one diff: each name is made once, and taken away once, and not edited then."""
    made = [section.path for section in sections if section.kind != "delete"]
    away = [section.old_path for section in sections if section.kind in ("delete", "rename")]
    edited = {section.path for section in sections if section.kind == "edit"}
    return len(set(made)) == len(made) and len(set(away)) == len(away) and not edited & set(away)


def _shows(sections: Sequence[Section], back: Results, view: View) -> bool:
    """Whether applying to what the reverse leaves gives what is there: then the reverse lost nothing."""
    under = Overlay(view)
    under.put(back)
    again = as_git(sections, under)
    if again is None or any(
        hunk.removed and not _adds(hunk.body) for one in sections for hunk in one.hunks if one.kind != "delete"
    ):
        return False
    for path, made in again.items():
        entry = view.entry(path)
        if (made is None) != (entry is None):
            return False
        if made is not None and entry is not None and (made.mode, made.content) != (entry.mode, view.content(entry)):
            return False
    return True


def _adds(body: Iterable[bytes]) -> bool:
    return any(line.startswith(b"+") for line in body)


def folded(files: tuple[FileVerdict, ...], text: PatchText) -> PatchVerdict:
    """The verdict on a patch from those on its sections."""
    counting = [
        one.state for one in files if not (one.mode_only and one.state == "already-there") and not _only_looks(one)
    ]
    state = fold_patch(counting or [one.state for one in files])
    if state == "already-there" and any(one.watches for one in files):
        return PatchVerdict("applies", WATCHES, files)
    if state == "partial" and all(one.state == "applies" or one.again or one.mode_only for one in files):
        reason = f"ambiguous: git takes all of it, and {_reason(state, files)}"
        return PatchVerdict("conflict", reason, files)
    if state != "applies":
        return PatchVerdict(state, _reason(state, files), files)
    results: dict[bytes, Made | None] = {}
    for one in files:
        results.update(one.results)
    if clash := _clash(results):
        return PatchVerdict("conflict", f"{shown(clash)}: the patch makes it, and files below it", files)
    return PatchVerdict("applies", _notes(files, text), files, results)


def _only_looks(one: FileVerdict) -> bool:
    """Whether it is a file in which nothing but anchors is found: that says nothing of what else is there already."""
    return one.watches and one.state == "applies" and not one.results


def _clash(results: Results) -> bytes | None:
    """A path that would be a file and a folder."""
    made = {path for path, one in results.items() if one is not None}
    if len(made) < 2:
        return None
    for path in made:
        above = path.rpartition(b"/")[0]
        while above:
            if above in made:
                return above
            above = above.rpartition(b"/")[0]
    return None


def _notes(files: Sequence[FileVerdict], text: PatchText) -> str | None:
    offsets = [hunk.offset for one in files for hunk in one.hunks if hunk.offset]
    notes = [f"{shown(one.path)}: {one.reason}" for one in files if one.reason]
    notes += [
        f"{shown(one.path)}: its mode is there already"
        for one in files
        if one.mode_only and one.state == "already-there"
    ]
    notes += [f"line {one.line}: {one.message}" for one in text.tolerated]
    if offsets:
        lines = ", ".join(f"{offset:+d}" for offset in offsets[:SHOWN])
        more = ", …" if len(offsets) > SHOWN else ""
        notes.insert(0, f"{len(offsets)} hunks fit away from their own lines ({lines}{more})")
    return some(notes, "; ") if notes else None


def _problems(text: PatchText) -> str:
    said = [f"line {problem.line}: {problem.message}" for problem in text.problems[:3]]
    if len(text.problems) > 3:
        said.append(f"and {len(text.problems) - 3} more")
    if text.offered:
        said.append(f"a mechanical repair would do: {', '.join(text.offered)}")
    return "; ".join(said)


def _reason(state: PatchState, files: Sequence[FileVerdict]) -> str | None:
    """What decided: the files in that state, or for a mixture both kinds."""
    if state == "already-there":
        notes = dict.fromkeys(f"{shown(one.path)}: {one.reason}" for one in files if one.reason)
        return some(list(notes), "; ") if notes else None
    if state == "partial":
        there = some([shown(one.path) for one in files if one.state == "already-there"])
        fits = some([shown(one.path) for one in files if one.state == "applies"])
        inside = [f"{shown(one.path)}: {one.reason}" for one in files if one.reason and one.state == "partial"]
        sides = [f"{there} there already" if there else "", f"{fits} still to be changed" if fits else ""]
        return "; ".join(filter(None, (*sides, *inside)))
    deciding = dict.fromkeys(
        f"{shown(one.path)}: {one.reason}" if one.reason else shown(one.path) for one in files if one.state == state
    )
    return some(list(deciding), "; ") + _fitting(files)


def _fitting(files: Sequence[FileVerdict]) -> str:
    """How much of it would fit: files, or entries of what is no diff."""
    hunks = [hunk for one in files for hunk in one.hunks]
    if any(hunk.place is not None for hunk in hunks) and all(one.hunks for one in files):
        return f"; {sum(hunk.state == 'applies' for hunk in hunks)} of {len(hunks)} entries would fit"
    fitting = sum(one.state == "applies" for one in files)
    return f"; {fitting} of {len(files)} files would fit" if fitting else ""


def some(texts: Sequence[str], separator: str = ", ") -> str:
    """The first few, and how many more there are."""
    more = f"{separator}and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return separator.join(texts[:SHOWN]) + more
