"""Reads a patch file: what it changes, under which names, what git refuses in it, and what git would skip in silence."""

from collections.abc import Callable

from regraft.core.patch_body import body_counts, first_header_return
from regraft.core.patch_glance import patch_fault
from regraft.core.patch_outside import outside
from regraft.core.patch_paths import unsafe
from regraft.core.patch_scan import HUNK, Scan, Stop, scan_lines
from regraft.core.patch_sections import RefusedHeader, read_lingering, read_section
from regraft.core.patch_strip import find_level
from regraft.core.patch_text import PatchText, Problem, Remark, Section
from regraft.core.trees import printable, shown

LIMIT = 16 * 1024 * 1024  # bytes of a patch file
NOTHING = "No valid patches in input"


def read_patch_text(
    data: bytes, *, strip: int | None = None, root: bytes = b"", exists: Callable[[bytes], bool]
) -> PatchText:
    """All of `data`, or why it is unreadable: `problems`, of which `said` is git's own word where git refuses it too.

    `strip` is the declared level; None: the names themselves tell it, or else the files that exist.
    `root` is the folder below which the stripped names lie. `exists` is asked for paths with it.
    """
    root = root.strip(b"/") + b"/" if root.strip(b"/") else b""
    if len(data) > LIMIT:
        return PatchText(
            problems=[Problem(1, f"the file holds {len(data)} bytes; at most {LIMIT} are read")], root=root
        )
    return place(scan_lines(data), data, strip=strip, root=root, exists=exists)


def place(scan: Scan, data: bytes, *, strip: int | None, root: bytes, exists: Callable[[bytes], bool]) -> PatchText:
    """The same, of lines that were scanned before: only the names depend on what exists."""
    text = PatchText(root=root)
    if fault := patch_fault(data):
        text.problems.append(Problem(1, f"the file {fault}"))
    level = find_level(scan, root, exists) if strip is None and scan.raws else None
    text.strip = strip if strip is not None else level.strip if level else 1
    said = _sections(text, scan)
    if level and level.remark:
        text.tolerated.append(level.remark)
    _own_problems(text, scan, said, fault is None)
    if level and level.doubt and not text.problems:
        text.problems.append(Problem(scan.raws[0].first + 1, level.doubt))
    text.problems.sort(key=lambda one: one.line)
    text.tolerated.sort(key=lambda one: one.line)
    return text


def _sections(text: PatchText, scan: Scan) -> Stop | None:
    """Fill in the sections that git reads; the answer is where it stops."""
    for raw in scan.raws:
        broken = scan.in_last and raw is scan.raws[-1]
        try:
            section = read_section(scan, raw, text.strip, text.root)
        except RefusedHeader as refused:
            return Stop(refused.at, refused.said)
        if not broken and not (scan.stop and scan.stop.silent and raw is scan.raws[-1]):
            text.sections.append(section)
    try:
        read_lingering(scan, scan.lingering, text.strip)
    except RefusedHeader as refused:
        return Stop(refused.at, refused.said)
    if not text.sections and (scan.stop is None or scan.stop.silent):
        return Stop(scan.stop.at if scan.stop else 0, scan.stop.said if scan.stop else NOTHING)
    return scan.stop


def _own_problems(text: PatchText, scan: Scan, stop: Stop | None, a_diff: bool) -> None:
    """What git says, in words that name the cause, and what it does not say."""
    text.returns = first_header_return(scan)
    if text.returns is not None:
        message = "a diff header ends in a carriage return; something rewrote the file's line ends"
        text.problems.append(Problem(text.returns, message))
    if stop is not None:
        text.problems += _stopped(scan, stop, a_diff)
    if a_diff:
        problems, remarks = outside(scan)
        known = {one.line for one in text.problems}
        text.problems += [one for one in problems if one.line not in known]
        text.tolerated += remarks
    for raw, section in zip(scan.raws, text.sections, strict=False):
        _section_problems(text, section, says_differ=raw.says_differ)
        text.bare += [hunk.line + 1 + at for hunk in section.hunks for at, line in enumerate(hunk.body) if not line]
    if text.bare:
        text.tolerated.append(Remark(text.bare[0], f"{_lines(text.bare)} lost the blank of an empty line of context"))


def _lines(numbers: list[int]) -> str:
    shown_ones = ", ".join(map(str, numbers[:5]))
    return f"line{'s' if len(numbers) > 1 else ''} {shown_ones}{', …' if len(numbers) > 5 else ''}"


def _stopped(scan: Scan, stop: Stop, a_diff: bool) -> list[Problem]:
    said = printable(stop.said)
    if not a_diff:
        return [Problem(1, f"git says {said!r}", said)] if not stop.silent else []
    word = None if stop.silent else said
    line = min(stop.at + 1, max(1, len(scan.lines)))
    raw = scan.raws[-1] if scan.in_last and scan.raws else None
    if raw is None or not stop.said.startswith("corrupt patch"):
        silent = "; it takes what stands before that, and calls it a success" if stop.silent else ""
        return [Problem(line, f"git says {said!r}{silent}", word)]
    header = raw.hunks[-1].line + len(raw.hunks[-1].body) if raw.hunks else raw.hunks_at
    match = HUNK.match(scan.line(header))
    if match is None:
        return [Problem(header + 1, f"a hunk header that cannot be read; git says {said!r}", word)]
    old, new = (int(match[at][:20]) if match[at] is not None else 1 for at in (2, 4))
    counts = body_counts(scan.lines, header + 1)
    if (old, new) != counts:
        why = f"the header says {old} old and {new} new lines, the body has {counts[0]} and {counts[1]}"
    elif stop.at + 1 >= len(scan.lines) and not scan.ended:
        why = "the last line of the file has no newline at its end"
    else:
        why = "the hunk changes nothing, or holds a line that is none of a hunk"
    return [Problem(header + 1, f"{why}; git says {said!r}", word)]


def _section_problems(text: PatchText, section: Section, *, says_differ: bool) -> None:
    def problem(message: str) -> None:
        text.problems.append(Problem(section.line, message))

    if says_differ:
        problem("says that a binary file differs, without its content; write it with git diff --binary")
    elif section.kind == "edit" and not (section.changes_content or section.changes_mode):
        text.problems.append(Problem(section.line, "announces a file, and changes nothing in it that can be read"))
    for path in dict.fromkeys((section.path, section.old_path)):
        if why := unsafe(path):
            problem(f"the path {shown(path)} {why}")
    if section.path.startswith(text.root + b"dev/null") or section.old_path == text.root + b"dev/null":
        problem("one side is /dev/null, and the header does not say that the file is new or deleted")
    _section_remarks(text, section)


def _section_remarks(text: PatchText, section: Section) -> None:
    new = section.kind == "create" or section.creates_if_absent
    first = section.hunks[0].body[0] if section.hunks and section.hunks[0].body else b""
    if new and section.new_mode is None and first.startswith(b"+#!"):
        message = f"{shown(section.path)} begins with an interpreter line, and the patch carries no mode: it will not be executable"
        text.tolerated.append(Remark(section.line, message))
