"""A diff that has git write what was made of files otherwise: each file's lines as a whole, so that no other content will do."""

from collections.abc import Mapping

from regraft.core.tree_view import Made, View

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+@")


def whole_diff(results: Mapping[bytes, Made | None], view: View) -> bytes:
    """For `git apply -p1` on what `view` holds. Files that are there and stay are all that it is for; b"" where there are none."""
    pieces: list[bytes] = []
    for path, made in sorted(results.items()):
        entry = view.entry(path)
        if made is None or entry is None:
            continue
        old, new = view.content(entry), made.content
        name = _quoted(path)
        pieces.append(b'diff --git "a/%s" "b/%s"\n--- "a/%s"\n+++ "b/%s"\n' % (name, name, name, name))
        pieces.append(b"@@ -%s +%s @@\n" % (_range(old), _range(new)))
        pieces += (_lines(b"-", old), _lines(b"+", new))
    return b"".join(pieces)


def _quoted(path: bytes) -> bytes:
    return b"".join(b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte for byte in path)


def _range(text: bytes) -> bytes:
    count = text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
    return b"1,%d" % count if count else b"0,0"


def _lines(mark: bytes, text: bytes) -> bytes:
    if not text:
        return b""
    body = mark + text.removesuffix(b"\n").replace(b"\n", b"\n" + mark) + b"\n"
    return body if text.endswith(b"\n") else body + b"\\ No newline at end of file\n"
