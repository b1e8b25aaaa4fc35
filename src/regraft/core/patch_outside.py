"""The lines of a patch file that belong to no file's section. Prose may stand there, parts of a diff may not: git skips both in silence."""

from collections.abc import Iterator

from regraft.core.patch_scan import Raw, Scan
from regraft.core.patch_text import Problem, Remark
from regraft.core.patterns import regex

_PROLOGUE = regex(
    rb"Index: |={20,}|diff |RCS file: |retrieving revision |Property changes on: |_{20,}|From [0-9a-f]{40} |---\r?\Z"
)
_MAIL = regex(rb"From [0-9a-f]{40} ")
_SIGNATURE = (b"-- ", b"--")


def outside(scan: Scan) -> tuple[list[Problem], list[Remark]]:
    """What is wrong there, and what is skipped and to be known."""
    problems: list[Problem] = []
    remarks: list[Remark] = []
    at = 0
    previous: Raw | None = None
    last = scan.stop.at if scan.stop else len(scan.lines)
    for raw in (*scan.raws, None):
        end = raw.first if raw else last
        after_hunk = previous.hunks[-1].line if previous and previous.hunks else None
        problems += _gap(scan, at, end, after_hunk)
        if previous:
            remarks += _prose(scan, at, end)
        at = raw.last if raw else end
        previous = raw
    return problems, remarks


def _gap(scan: Scan, at: int, end: int, hunk: int | None) -> Iterator[Problem]:
    first = next(
        (one for one in range(at, end) if scan.lines[one].strip(b"\r") or scan.lines[one].startswith(b" ")), end
    )
    for one in range(at, end):
        line = scan.lines[one].rstrip(b"\r")
        message = _part(scan, one, line)
        if message is None and hunk and one == first and line.startswith((b" ", b"+", b"-")) and line not in _SIGNATURE:
            message = f"the hunk of line {hunk} goes on after the lines that its header counts"
        if message is not None:
            yield Problem(one + 1, message)


def _part(scan: Scan, at: int, line: bytes) -> str | None:
    """What part of a diff a line is."""
    if line.startswith(b"@@"):
        return "a hunk that belongs to no file, or whose header cannot be read"
    if line.startswith((b"Binary files ", b"Files ")) and line.endswith(b" differ"):
        return "says that binary files differ, without their content; write it with git diff --binary"
    if line.startswith(b"GIT binary patch"):
        return "binary content that belongs to no file"
    if line.startswith(b"***************"):
        return "a context diff; only unified diffs can be judged (diff -u)"
    if line.startswith((b"\xef\xbb\xbfdiff --git ", b"\xef\xbb\xbf--- ")):
        return "a byte order mark hides the first header"
    if line.startswith((b"diff --cc ", b"diff --combined ")):
        return "the combined diff of a merge, which git does not apply"
    if line.startswith(b"diff --git "):
        return "announces a file, and changes nothing in it that can be read"
    if line.startswith(b"--- ") and scan.line(at + 1).startswith(b"+++ "):
        return "announces a file, and no hunk that can be read follows"
    return None


def _prose(scan: Scan, at: int, end: int) -> Iterator[Remark]:
    """Text between two sections, or after the last one, that is none of what tools write there."""
    skipping = False
    for one in range(at, end):
        line = scan.lines[one]
        if line.startswith(b"Only in "):
            yield Remark(one + 1, "a file on one side only, which the patch leaves out (diff -N takes it in)")
        elif skipping or _MAIL.match(line) or line.rstrip(b"\r") in _SIGNATURE:
            skipping = True
        elif line.strip() and not _PROLOGUE.match(line):
            yield Remark(one + 1, "text that belongs to no file's section; git skips it")
            return
