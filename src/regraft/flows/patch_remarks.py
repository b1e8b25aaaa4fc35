"""What else is to be known of a patch at a ref: what it was made for, the bytes that were judged, and hints."""

import hashlib
from collections.abc import Iterator

from regraft.core.objects import Commit
from regraft.core.patch_address import file_name
from regraft.core.patch_health import Remark
from regraft.core.patch_verdict import judge_patch, some
from regraft.core.patterns import regex
from regraft.core.series_state import FITS
from regraft.core.solved import looks_solved
from regraft.core.trees import printable, shown
from regraft.flows.patch_judging import Case, left_out, read_series, view_of
from regraft.flows.patch_reading import PatchFile, read_carried
from regraft.flows.patch_renew import last_good, standing

SHOWN = 5

_BASE = regex(rb"(?im)^(?:#[ \t]*)?(?:base-commit|base|made-for|applies-to):[ \t]*([\w./+-]{1,100})[ \t]*\r?$")
_IN_NAME = regex(r"(?<![0-9a-zA-Z])([0-9a-f]{7,40})(?![0-9a-zA-Z])")
_HASH = regex(r"[0-9a-f]{7,40}")


def remarks(case: Case, index: int) -> Iterator[Remark]:
    """In the order in which they are told."""
    if (made := _made_for(case, index)) is not None:
        yield made
    if case.texts[index].strip not in (None, 1) and not case.texts[index].problems:
        yield Remark("strip-level", f"its paths are read at strip level {case.texts[index].strip} (`-p`)")
    if release := case.upstream.releases.get(case.commit):
        yield from (Remark("release", f"{release[0]}: {one}") for one in release[1:])
    state = case.history.patches[index].now.state
    if skipped := left_out(case, index):
        fit = "does not fit" if len(skipped) == 1 else "do not fit"
        yield Remark("judged-without", f"judged on the tree without {some(skipped)}, which {fit}")
    if state in FITS:
        return
    yield from _without_returns(case, index)
    yield from _commit_in_name(case, index)
    if state == "conflict" and (hint := _solved(case, index)) is not None:
        yield hint
    yield _bytes(case, index)


def _made_for(case: Case, index: int) -> Remark | None:
    """A base that the patch records, where the target is another one."""
    head = case.files[index].data.split(b"\n@@ ", 1)[0]
    tail = case.files[index].data[-4096:]
    match = _BASE.search(head) or _BASE.search(tail)
    if match is None:
        return None
    word = match[1].decode("ascii", "replace")
    by_tag = next((commit for commit, tag in case.upstream.tags.items() if tag == word), None)
    commit = by_tag or (case.upstream.find(word) if _HASH.fullmatch(word) else None)
    if commit == case.commit:
        return None
    made = _called(case, commit, None) if commit else printable(word)
    return Remark("made-for", f"made for {made}, target is {_called(case, case.commit, case.ref)}")


def _called(case: Case, commit: Commit, ref: str | None) -> str:
    return case.upstream.tags.get(commit) or (f"{printable(ref)} ({commit[:12]})" if ref else case.called(commit))


def _without_returns(case: Case, index: int) -> Iterator[Remark]:
    """Something rewrote the file's line ends: would it fit without the carriage returns?"""
    text, file = case.texts[index], case.files[index]
    if text.returns is None:
        return
    tree, source = case.tree, case.upstream.source
    bare = PatchFile(file.path, file.data.replace(b"\r\n", b"\n"), file.strip, file.root)
    mended = read_carried(bare, lambda path: source.version(tree, path) is not None)
    if not mended.problems:
        fits = judge_patch(mended, view_of(case.upstream, tree, [mended])).state in FITS
        words = "it would fit" if fits else "it would not fit either"
        yield Remark("carriage-returns", f"without the carriage returns {words}")


def _commit_in_name(case: Case, index: int) -> Iterator[Remark]:
    """A patch that is called after a commit was perhaps made for that one."""
    name = file_name(case.files[index].path)
    for match in _IN_NAME.finditer(name):
        commit = case.upstream.find(match[1])
        if commit is None or commit == case.commit:
            continue
        tree = case.upstream.source.commit(commit).tree
        texts = read_series([case.files[index]], case.upstream, tree)
        state = judge_patch(texts[0], view_of(case.upstream, tree, texts)).state
        says = "fits there" if state in FITS else "does not fit there either"
        yield Remark("commit-in-name", f"its name holds commit {commit[:12]}: it {says} ({state})")


def _solved(case: Case, index: int) -> Remark | None:
    """Upstream's own change looks like the patch's. A hint for people, never more."""
    turns = case.history.patches[index].turns
    good = last_good(case, index)
    if not turns or good is None:
        return None
    now, before = standing(case, index, case.tree).overlay, standing(case, index, good).overlay
    for section in case.texts[index].sections:
        here, there = now.entry(section.path), before.entry(section.old_path)
        if not section.hunks or here is None or there is None:
            continue
        if looks_solved(section.hunks, before.content(there), now.content(here)):
            by = next(turn for turn in turns if turn.before.state == "applies").culprit
            pull = f" (#{by.pull})" if by.pull is not None else ""
            made = f"release {by.release}" if by.release else f"commit {by.called}"
            message = f"looks solved upstream in {made}{pull}, not identical; compare by hand"
            return Remark("looks-solved", message)
    return None


def _bytes(case: Case, index: int) -> Remark:
    """What was judged: so that two machines that differ can tell which of the two bytes they disagree on."""
    file, text = case.files[index], case.texts[index]
    tree, source = case.tree, case.upstream.source
    files = []
    for path in sorted(text.touched)[:SHOWN]:
        version = source.version(tree, path)
        files.append(f"{shown(path)} {version.oid[:12] if version else 'is not there'}")
    digest = hashlib.sha256(file.data).hexdigest()
    return Remark("judged-bytes", f"the patch's bytes have the sha256 {digest[:16]}; {', '.join(files) or 'no file'}")
