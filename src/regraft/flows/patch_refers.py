"""What at a ref still refers to what a patch edits, and whether its targets are gone for good."""

from collections.abc import Collection, Iterable, Iterator

from regraft.core.references import Hit, References, by_links, in_paths, sorted_out, wanted
from regraft.core.trees import LINK, Entry
from regraft.flows.patch_judging import Case
from regraft.flows.patch_moves import moves
from regraft.flows.ports import HistorySource


def refer(case: Case, index: int, *, gone: bool) -> References:
    """What at the ref refers to the files that the patch edits: those that are gone, or all of them, from elsewhere."""
    tree, source, text = case.tree, case.upstream.source, case.texts[index]
    edited = [one for one in text.sections if not gone or source.version(tree, one.old_path) is None]
    headers = case.files[index].data.split(b"\n")
    look = wanted(edited, [headers[hunk.line - 1].rpartition(b"@@")[2] for one in edited for hunk in one.hunks])
    entries = sorted(source.listing(tree), key=lambda entry: entry.path)
    paths = in_paths(look, (entry.path for entry in entries))
    lines = case.upstream.grep(tree, look.words)
    others, unsearched = case.upstream.grep_others(tree, look.words)
    hits = (*paths, *_linked(source, entries, {one.old_path for one in edited}), *lines, *others)
    return sorted_out(look, [hit for hit in hits if gone or hit.path not in text.touched], unsearched)


def _linked(source: HistorySource, entries: Iterable[Entry], paths: Collection[bytes]) -> Iterator[Hit]:
    links = [entry for entry in entries if entry.mode == LINK]
    source.complete({one.oid for one in links})
    yield from by_links(paths, ((one.path, source.blob(one.oid) or b"") for one in links))


def dead(case: Case, index: int, references: References) -> bool:
    """Whether all that the patch edits is gone, moved nowhere, and referred to by nothing."""
    tree, source = case.tree, case.upstream.source
    there = any(source.version(tree, path) is not None for path in case.texts[index].touched)
    return not (there or references.found or not references.words or moves(case, index, tree))


def never_there(case: Case, index: int) -> list[bytes]:
    """The files that the patch edits, and that no commit took away of the history that was looked through.

    A path may be misspelt, a new file described as a change, or the file may come later: none of that is a target that went.
    """
    source, tree = case.upstream.source, case.tree
    absent = [path for one in case.texts[index].sections if source.version(tree, path := one.old_path) is None]
    if not absent:
        return []
    line = source.line(case.commit, absent, last=max(case.history.commits, 1))
    took = {one.path for touch in line.touches for one in touch.changes if one.old is not None}
    return [path for path in dict.fromkeys(absent) if path not in took]
