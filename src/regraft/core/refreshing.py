"""The same change with new context: a patch's own runs of lines, carried over from the file that it was made on to the one that is there now.

Added and removed lines are those of the patch, one by one; only what stands around them, where it stands, and names and hashes
in the headers are new.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from regraft.core import three_way
from regraft.core.checkout_tree import object_hash
from regraft.core.contained import Run, runs_of
from regraft.core.hunk_state import judge_hunks
from regraft.core.line_diff import changed_blocks, split_lines
from regraft.core.patch_headers import renamed
from regraft.core.patch_text import Hunk, PatchText, Section
from regraft.core.patterns import regex

CONTEXT = 3
SHOWN = 40  # lines of each side of a conflict

_INDEX = regex(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})( [0-7]{6})?")
_HEADING = regex(rb"@@ -[0-9,]+ \+[0-9,]+ @@(.*)", re.DOTALL)


class Ground(Struct, frozen=True):
    """What one section is carried over: the file that it fits (`base`), and the one that is there now, perhaps at another path."""

    base: bytes
    ours: bytes
    path: bytes


class Placed(Run, frozen=True):
    """`hunk` is the number of the hunk that the run is of, from 0."""

    hunk: int


class Stuck(Struct, frozen=True):
    """Where a section cannot be carried over. The three sides are lines of text, for people."""

    path: bytes
    reason: str
    base: tuple[bytes, ...] = ()
    ours: tuple[bytes, ...] = ()
    theirs: tuple[bytes, ...] = ()


class NewSection(Struct, frozen=True):
    """Hunk lines with their headers, without newlines, and the content that they make."""

    lines: tuple[bytes, ...]
    content: bytes


def carried_over(section: Section, ground: Ground, headings: Sequence[bytes]) -> NewSection | Stuck:
    """One section's hunks on the file that is there now. `headings` are its old hunk headers."""
    base, ours = split_lines(ground.base), split_lines(ground.ours)
    runs = _runs(section, ground.base, base)
    if runs is None:
        return Stuck(ground.path, "the hunks do not fit the file that they were made on at one place each")
    theirs = _replaced(base, runs)
    blocks = changed_blocks(base, ours)
    moved: list[Placed] = []
    for run in runs:
        near = [block for block in blocks if block[0] <= run.end and run.start <= block[1]]
        if near:
            return _stuck(ground.path, run, near, base, ours)
        shift = sum((j2 - j1) - (i2 - i1) for i1, i2, j1, j2 in blocks if i2 <= run.start)
        moved.append(Placed(run.start + shift, run.end + shift, run.added, run.hunk))
    content = _replaced(ours, moved)
    if three_way.merge(ground.base, ground.ours, theirs) != content:
        return Stuck(ground.path, "the three-way merge is not clean")
    context = max(CONTEXT, *(_context(hunk) for hunk in section.hunks))
    return NewSection(tuple(_hunks(ours, moved, context, headings)), content)


def rewritten(
    data: bytes, text: PatchText, parts: Sequence[tuple[NewSection, Ground] | None], *, sha256: bool = False
) -> bytes | None:
    """The patch file with those sections renewed (None: as it is). None where its lines are not laid out as expected."""
    lines = data.split(b"\n")
    for section, part in reversed([*zip(text.sections, parts, strict=True)]):
        if part is None:
            continue
        new, ground = part
        first, at = section.hunks[0].line - 1, section.hunks[0].line - 1
        for hunk in section.hunks:
            if hunk.line - 1 != at:
                return None
            at += 1 + len(hunk.body)
        head = lines[section.line - 1 : first]
        old = section.path.removeprefix(text.root)
        now = ground.path.removeprefix(text.root)
        if ground.path != section.path and not ground.path.startswith(text.root):
            return None
        names = tuple(object_hash("blob", len(one), [one], sha256=sha256).hex() for one in (ground.ours, new.content))
        headers = [_header(line, old, now, names) for line in head]
        if None in headers:
            return None
        lines[section.line - 1 : at] = [*(one for one in headers if one is not None), *new.lines]
    return b"\n".join(lines)


def same_lines(old: PatchText, new: PatchText) -> bool:
    """Whether two patches add and remove the same lines, section by section, in the same order."""
    return len(old.sections) == len(new.sections) and all(
        _changed(one) == _changed(other) for one, other in zip(old.sections, new.sections, strict=True)
    )


def _changed(section: Section) -> tuple[str, list[bytes], list[bytes]]:
    body = [line for hunk in section.hunks for line in hunk.body]
    added, removed = ([line for line in body if line.startswith(sign)] for sign in (b"+", b"-"))
    return section.kind, added, removed


def _header(line: bytes, old: bytes, now: bytes, names: Sequence[str]) -> bytes | None:
    if match := _INDEX.fullmatch(line.rstrip(b"\r")):
        before, after = (name.encode("ascii")[: max(7, len(match[1]))] for name in names)
        return b"index " + before + b".." + after + (match[3] or b"")
    return renamed(line, old, now) if old != now else line


def _runs(section: Section, text: bytes, base: Sequence[bytes]) -> list[Placed] | None:
    verdict = judge_hunks(text, section.hunks, base=text)
    if verdict.state != "applies" or verdict.content is None:
        return None
    found: list[Placed] = []
    shift = 0
    for number, (hunk, judged) in enumerate(zip(section.hunks, verdict.hunks, strict=True)):
        at = max(hunk.new_start - 1, 0) - shift + (judged.offset or 0)
        found += [Placed(run.start, run.end, run.added, number) for run in runs_of(hunk, at)]
        shift += sum(line[:1] == b"+" for line in hunk.body) - sum(line[:1] == b"-" for line in hunk.body)
    return found if _replaced(base, found) == verdict.content else None


def _replaced(lines: Sequence[bytes], runs: Sequence[Placed]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for run in runs:
        pieces += (*lines[at : run.start], *run.added)
        at = run.end
    return b"".join([*pieces, *lines[at:]])


def _stuck(
    path: bytes, run: Placed, near: Sequence[tuple[int, int, int, int]], base: Sequence[bytes], ours: Sequence[bytes]
) -> Stuck:
    start, end = min(run.start, near[0][0]), max(run.end, near[-1][1])
    mine = ours[near[0][2] - (near[0][0] - start) : near[-1][3] + (end - near[-1][1])]
    patched = [*base[start : run.start], *run.added, *base[run.end : end]]
    where = f"line {start + 1}" if end <= start + 1 else f"lines {start + 1} to {end}"
    reason = f"hunk {run.hunk + 1}: both changed {where} of the file that it was made on"
    sides = (tuple(line.rstrip(b"\n") for line in side[:SHOWN]) for side in (base[start:end], mine, patched))
    return Stuck(path, reason, *sides)


def _context(hunk: Hunk) -> int:
    body = [line for line in hunk.body if not line.startswith(b"\\")]
    changed = [at for at, line in enumerate(body) if line.startswith((b"+", b"-"))]
    return max(changed[0], len(body) - 1 - changed[-1]) if changed else 0


def _hunks(ours: Sequence[bytes], runs: Sequence[Placed], context: int, headings: Sequence[bytes]) -> Iterator[bytes]:
    groups: list[list[Placed]] = []
    for run in runs:
        if groups and run.start - groups[-1][-1].end <= 2 * context:
            groups[-1].append(run)
        else:
            groups.append([run])
    moved = 0
    for group in groups:
        start, end = max(group[0].start - context, 0), min(group[-1].end + context, len(ours))
        grown = sum(len(run.added) - (run.end - run.start) for run in group)
        old, new = end - start, end - start + grown
        first, second = (at if count == 0 else at + 1 for at, count in ((start, old), (start + moved, new)))
        match = _HEADING.fullmatch(headings[group[0].hunk])
        yield b"@@ -%b +%b @@%b" % (_range(first, old), _range(second, new), match[1] if match else b"")
        at = start
        for run in group:
            yield from _signed(b" ", ours[at : run.start])
            yield from _signed(b"-", ours[run.start : run.end])
            yield from _signed(b"+", run.added)
            at = run.end
        yield from _signed(b" ", ours[at:end])
        moved += grown


def _range(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def _signed(sign: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield sign + line.removesuffix(b"\n")
        if not line.endswith(b"\n"):
            yield b"\\ No newline at end of file"
