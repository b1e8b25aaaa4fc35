"""A patch rewritten with the names that git itself would give its files: `a/` and `b/`, from the top of the tree."""

import re

from regraft.core.patch_names import is_null
from regraft.core.patch_scan import Raw, scan_lines
from regraft.core.patch_text import PatchText, Section
from regraft.core.patterns import regex

_PLAIN = regex(rb'[^\0-\x1f"\\\x7f-\xff]+')
_STAMP = regex(rb"(?:\t| +)(?:\d\d)?\d\d-\d\d-\d\d[ \d:.+-]*\Z|\t.*\Z", re.DOTALL)
_NAMED = {b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n", b"\t": b"\\t"}


def with_prefixes(data: bytes, text: PatchText) -> bytes:
    """The same patch for strip level 1 and no root folder. `text` is what was read of it, without problems.

    Only header lines change, and no line is added or taken away.
    """
    scan = scan_lines(data)
    for raw, section in zip(scan.raws, text.sections, strict=True):
        for at in range(raw.first, raw.hunks_at):
            scan.lines[at] = _header(scan.lines[at], raw, section)
    return b"\n".join(scan.lines) + (b"\n" if scan.ended else b"")


def _header(line: bytes, raw: Raw, section: Section) -> bytes:
    old, new = section.old_path, section.path
    if line.startswith(b"diff --git "):
        return b"diff --git %s %s" % (quoted_name(b"a/" + old), quoted_name(b"b/" + new))
    for mark, prefixed in ((b"--- ", b"a/" + old), (b"+++ ", b"b/" + new)):
        if line.startswith(mark) and not is_null(line[4:]):
            return mark + quoted_name(prefixed) + _behind(line, prefixed, raw)
    if line.startswith((b"rename ", b"copy ")):
        word, side, _ = line.split(b" ", 2)
        return b"%s %s %s" % (word, side, quoted_name(old if side in (b"from", b"old") else new))
    return line


def _behind(line: bytes, name: bytes, raw: Raw) -> bytes:
    """What stands behind a name: diff's timestamp, or the tab that ends a name with blanks in it."""
    stamp = _STAMP.search(line)
    if stamp and not raw.git:
        return b"\t" + stamp[0].lstrip(b" \t")
    return b"\t" if b" " in name else b""


def quoted_name(name: bytes) -> bytes:
    """A name as git writes it in a header: in quotes where it holds what a reader would take for something else."""
    if _PLAIN.fullmatch(name):
        return name
    pieces = (bytes([byte]) for byte in name)
    escaped = (_NAMED.get(one) or (one if b" " <= one < b"\x7f" else b"\\%03o" % one[0]) for one in pieces)
    return b'"' + b"".join(escaped) + b'"'
