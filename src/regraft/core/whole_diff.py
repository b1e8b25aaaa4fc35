"""A diff that has git write what was made of files otherwise: each file's lines as a whole, so that no other content will do."""

from collections.abc import Mapping

from regraft.core.patch_names import quoted_name
from regraft.core.tree_view import Made, View


def whole_diff(results: Mapping[bytes, Made | None], view: View) -> bytes:
    """For `git apply -p1` on what `view` holds. Files that are there and stay are all that it is for; b"" where there are none."""
    pieces: list[bytes] = []
    for path, made in sorted(results.items()):
        entry = view.entry(path)
        if made is None or entry is None:
            continue
        old, new = view.content(entry), made.content
        before, after = quoted_name(b"a/" + path), quoted_name(b"b/" + path)
        pieces.append(b"diff --git %s %s\n--- %s\t\n+++ %s\t\n" % (before, after, before, after))
        pieces.append(b"@@ -%s +%s @@\n" % (_range(old), _range(new)))
        pieces += (_lines(b"-", old), _lines(b"+", new))
    return b"".join(pieces)


def _range(text: bytes) -> bytes:
    count = text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
    return b"1,%d" % count if count else b"0,0"


def _lines(mark: bytes, text: bytes) -> bytes:
    if not text:
        return b""
    body = mark + text.removesuffix(b"\n").replace(b"\n", b"\n" + mark) + b"\n"
    return body if text.endswith(b"\n") else body + b"\\ No newline at end of file\n"
