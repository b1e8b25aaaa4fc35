"""What is found by trying, for a patch that does not fit: behind another patch, without the earlier ones, at another path."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from regraft.core.lines_elsewhere import Sought, sought, stand_in, stood_in
from regraft.core.patch_verdict import judge_patch, some
from regraft.core.section_fit import state_on
from regraft.core.series_state import judge_series
from regraft.core.tree_view import Overlay
from regraft.core.trees import shown
from regraft.flows.patch_judging import Case, view_of

SHOWN = 4  # things that are said of the files in which lines of the patch stand
LINES = 20_000  # lines of a tree that are the same as one of the patch's; more are not read


def fits_after(case: Case, index: int) -> str | None:
    """The path of a later patch of the series behind which it fits; found by trying, not from names."""
    view = view_of(case.upstream, case.tree, case.texts)
    before = judge_series(case.texts[:index], view).overlay
    for number in range(index + 1, len(case.texts)):
        if case.texts[number].problems:
            continue
        overlay = Overlay(before)
        first = judge_patch(case.texts[number], overlay)
        if first.state != "applies":
            continue
        overlay.put(first.results)
        if judge_patch(case.texts[index], overlay).state == "applies":
            return case.files[number].called
    return None


def fits_without(case: Case, index: int) -> str | None:
    """The earlier patch of the series that changed what this one needs, where it fits the upstream's own tree."""
    view = view_of(case.upstream, case.tree, case.texts)
    text = case.texts[index]
    if not index or judge_patch(text, view).state != "applies":
        return None
    touched = text.touched
    earlier = [file.called for file, one in zip(case.files[:index], case.texts, strict=False) if one.touched & touched]
    return earlier[-1] if earlier else None


def other_place(case: Case, index: int) -> str | None:
    """A rewritten header, where the only file of the same name is one that the hunks fit."""
    source, tree = case.upstream.source, case.tree
    for section in case.texts[index].sections:
        changes = section.hunks or section.substitutions
        if section.kind != "edit" or not changes or source.version(tree, section.path) is not None:
            continue
        leaf = section.path.rpartition(b"/")[2]
        alike = [one for one in source.listing(tree) if one.path.rpartition(b"/")[2] == leaf and one.kind == "blob"]
        if len(alike) != 1:
            continue
        source.complete([alike[0].oid])
        content = source.blob(alike[0].oid)
        if content is not None and state_on(section, content) == "applies":
            path = shown(alike[0].path)
            if section.substitutions:
                return f"its entries fit {path}, the only file of that name: `file` would be that"
            return f"the hunks fit {path}, the only file of that name; its header would be: --- a/{path} +++ b/{path}"
    return None


def lines_elsewhere(case: Case, index: int) -> str | None:
    """Where most lines of a hunk came to stand whose own file is gone, with the header that the patch would have there if it fits."""
    tree, source, text = case.tree, case.upstream.source, case.texts[index]
    gone = [pair for pair in enumerate(text.sections) if source.version(tree, pair[1].old_path) is None]
    wanted = sought(gone)
    words = tuple(dict.fromkeys(line for one in wanted for line in one.lines))
    hits = case.upstream.grep(tree, words, most=LINES)
    found = _came(case, wanted, stand_in(wanted, hits))
    if not found:
        return None
    names = some([shown(path) for path in sorted(found)])
    return "; ".join([f"most of the lines that it edits stand in {names} now", *_fitting(case, index, found)][:SHOWN])


def _came(case: Case, wanted: Sequence[Sought], found: Mapping[bytes, set[int]]) -> dict[bytes, set[int]]:
    """Without the files that had the lines all along, beside the target: those are others of its kind."""
    if not found:
        return {}
    source = case.upstream.source
    oldest = source.line(case.commit, (), last=max(case.history.commits, 1)).commits[-1]
    tree = source.commit(oldest).tree
    came: dict[bytes, set[int]] = {}
    for path, numbers in found.items():
        there = source.version(tree, path)
        content = source.blob(there.oid) if there is not None else None
        new = {one for one in numbers if content is None or not stood_in(wanted, one, content)}
        if new:
            came[path] = new
    return came


def _fitting(case: Case, index: int, found: Mapping[bytes, Collection[int]]) -> Iterator[str]:
    """What is to be said of those files in which the change of one of these sections fits, or is."""
    source, sections = case.upstream.source, case.texts[index].sections
    for path, numbers in sorted(found.items()):
        there, name = source.version(case.tree, path), shown(path)
        content = source.blob(there.oid) if there is not None else None
        if content is None:
            continue
        for number in sorted(numbers):
            state = state_on(sections[number], content)
            if state == "already-there":
                yield f"its change stands in {name}"
            elif state == "applies" and sections[number].substitutions:
                yield f"its entries fit there: `file` would be {name}"
            elif state == "applies":
                yield f"the hunks fit {name}; its header would be: --- a/{name} +++ b/{name}"
