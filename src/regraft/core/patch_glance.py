"""Whether a file is a diff at all: the first look at a carried patch, before git judges it."""

import re

from regraft.core.patterns import regex

_BEGINS = regex(rb"(?m)^(?:diff --git |--- [^\r\n]+\r?\n\+\+\+ )")
_COMBINED = regex(rb"(?m)^diff --(?:cc|combined) ")
_PAGE = regex(rb"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)


def patch_fault(data: bytes) -> str | None:
    """Why no part of `data` can be a patch ("is empty", "is an HTML page ..."), or None where it holds a diff."""
    if not data.strip():
        return "is empty"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is UTF-16, which git does not read; save it as UTF-8"
    if _PAGE.match(data):
        return "is an HTML page, as a download that failed leaves behind"
    if data.startswith(b"version https://git-lfs.github.com/"):
        return "is a Git LFS pointer and not the patch itself"
    if _COMBINED.search(data):
        return "is the combined diff of a merge, which git does not apply"
    if not _BEGINS.search(data):
        return "holds no diff"
    return None
