"""Git's patch-id of what a patch does to one file, and whether a commit did just that to it.

`git patch-id --stable` hashes each file's part of a diff by itself, without line numbers, index lines, hunk headers, notes about a
missing newline, and white space (builtin/patch-id.c). A commit made a patch's own change to a file where its difference, cut into
the patch's hunks, has the patch's id.
"""

import hashlib
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from regraft.core.patch_names import quoted_name
from regraft.core.patch_text import Hunk, Section
from regraft.core.patterns import regex

_SPACE = b" \t\n\v\f\r"
_LITERAL = regex(rb"[\"'`]")
_TELLING = regex(rb"\w{3}")


def file_patch_id(section: Section) -> str:
    """Of a text diff that edits, makes or deletes one file: 40 hexadecimal digits, as git says of a patch of just this file."""
    digest = hashlib.sha1(usedforsecurity=False)
    for line in (*_header(section), *(line for hunk in section.hunks for line in hunk.body if line[:1] != b"\\")):
        digest.update((line or b" ").translate(None, _SPACE))
    return digest.hexdigest()


def _header(section: Section) -> Iterator[bytes]:
    old, new = (quoted_name(side + section.path) for side in (b"a/", b"b/"))
    yield b"diff --git " + old + b" " + new
    if section.kind == "create":
        yield b"new file mode " + (section.new_mode or "100644").encode()
    if section.kind == "delete":
        yield b"deleted file mode " + (section.old_mode or "100644").encode()
    yield b"--- " + (b"/dev/null" if section.kind == "create" else old)
    yield b"+++ " + (b"/dev/null" if section.kind == "delete" else new)


def landed_hunks(section: Section, before: bytes, after: bytes) -> tuple[Hunk, ...] | None:
    """The hunks as the commit made them, which took the file from `before` to `after`: with its own white space, and at the lines
    where they stand (`new_start`, from 1). None where it made another change, or more than this one.

    A hunk without context, or that changes nothing but white space, proves nothing; nor do lines that differ in white
    space and hold a quote, where it may be part of a text.
    """
    hunks = section.hunks
    if section.kind != "edit" or not hunks or section.binary is not None or section.changes_mode:
        return None
    if after.count(b"\n") - before.count(b"\n") not in _shifts(hunks) or not all(map(_tells, hunks)):
        return None
    old, new = _lines(before), _lines(after)
    bare_old, bare_new = list(map(_bare, old)), list(map(_bare, new))
    at, shift = 0, 0
    found: list[Hunk] = []
    for hunk in hunks:
        pre, post = (
            [_bare(line[1:]) for line in hunk.body if line[:1] not in signs] for signs in ((b"+", b"\\"), (b"-", b"\\"))
        )
        start = _place(pre, post, at, shift, (old, bare_old), (new, bare_new))
        made = _as_made(hunk, old, new, start, start + shift) if start is not None else None
        if start is None or made is None:
            return None
        found.append(made)
        at = start + len(pre)
        shift += len(post) - len(pre)
    if old[at:] != new[at + shift :]:
        return None
    same = file_patch_id(section) == file_patch_id(replace(section, hunks=found))
    return tuple(found) if same else None


def _shifts(hunks: Sequence[Hunk]) -> range:
    """How many lines longer the file gets; one more or less where the last one loses its newline, or gets one."""
    signs = [line[:1] for hunk in hunks for line in hunk.body]
    shift = signs.count(b"+") - signs.count(b"-")
    return range(shift - 1, shift + 2) if b"\\" in signs else range(shift, shift + 1)


def _tells(hunk: Hunk) -> bool:
    changed = [[line[1:] for line in hunk.body if line.startswith(sign)] for sign in (b"-", b"+")]
    removed, added = (b"".join(map(_bare, lines)) for lines in changed)
    return hunk.has_context and removed != added and any(map(_TELLING.search, (removed, added)))


def _bare(line: bytes) -> bytes:
    return line.translate(None, _SPACE)


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines if lines[-1] else lines[:-1]


Lined = tuple[Sequence[bytes], Sequence[bytes]]
"""The lines of a file, and the same without white space."""


def _place(  # noqa: PLR0913, PLR0917 - what stands where, in both files
    pre: Sequence[bytes], post: Sequence[bytes], at: int, shift: int, before: Lined, after: Lined
) -> int | None:
    """The first line from `at` on where the one side stands in the file before and the other in the file after, nothing else between."""
    (old, bare_old), (new, bare_new) = before, after
    for start in range(at, len(old) - len(pre) + 1):
        there = start + shift
        if bare_old[start : start + len(pre)] == pre and bare_new[there : there + len(post)] == post:
            return start
        if there >= len(new) or old[start] != new[there]:
            return None
    return None


def _as_made(hunk: Hunk, old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> Hunk | None:
    """The hunk in the commit's own words, at line `i` of the old file and `j` of the new one (from 0)."""
    body: list[bytes] = []
    start, new_start = i + 1, j + 1
    for line in hunk.body:
        sign, text = line[:1] or b" ", line[1:]
        if sign == b"\\":
            continue
        here = new[j] if sign != b"-" else old[i]
        if not _alike(text, here) or (sign not in (b"+", b"-") and old[i] != here):
            return None
        body.append((sign if sign in (b"+", b"-") else b" ") + here)
        i, j = i + (sign != b"+"), j + (sign != b"-")
    return Hunk(hunk.line, start, new_start, tuple(body))


def _alike(one: bytes, other: bytes) -> bool:
    """But for white space; not within what may be a text."""
    return one.split() == other.split() or not (_LITERAL.search(one) or _LITERAL.search(other))
