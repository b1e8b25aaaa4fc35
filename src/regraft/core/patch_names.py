"""Names in the headers of a patch, as `git apply` takes them: quotes, tabs, timestamps, strip level, root folder.

The rules are those of git 2.25 and later: an absent name is None, and what that means is the caller's to judge.
"""

import re

from regraft.core.patterns import regex

_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ESCAPES |= {b'"': b'"', b"\\": b"\\"}
_QUOTED = regex(rb'"((?:[^"\\\0]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*)"')
_ESCAPED = regex(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_STAMP = regex(
    rb"(?:\t| +)(?:\d\d)?\d\d-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?)?(?: [-+]\d{4}| [-+]\d\d:\d\d)?\Z"
)  # of diff, at the end of a line
_EPOCH = regex(rb".*\t(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([-+])([0-2]\d):?([0-5]\d)", re.DOTALL)
_NULL = regex(rb"/dev/null(?:[ \t\r]|\Z)")
_TO_TAB = regex(rb"[^\t\r]*")
_TO_RETURN = regex(rb"[^\r]*")
_PLAIN = regex(rb'[^\0-\x1f"\\\x7f-\xff]+')
_NAMED = {b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n", b"\t": b"\\t"}


def unquote_at(text: bytes, start: int = 0) -> tuple[bytes, int] | None:
    """A C-style quoted name that begins at `start`, and where it ends; None where there is none that git can read."""
    match = _QUOTED.match(text, start)
    if match is None:
        return None
    return _ESCAPED.sub(_unescaped, match[1]), match.end()


def _unescaped(match: re.Match[bytes]) -> bytes:
    mark = match[1]
    return bytes([int(mark, 8)]) if len(mark) == 3 else _ESCAPES[mark]


def is_null(text: bytes) -> bool:
    """Whether what follows `--- ` or `+++ ` is /dev/null."""
    return _NULL.match(text) is not None


def is_epoch(text: bytes) -> bool:
    """Whether diff's timestamp says that this side does not exist: the beginning of 1970, in any time zone."""
    match = _EPOCH.fullmatch(text)
    if match is None:
        return False
    day, hour, minute, sign, zone_hour, zone_minute = match.groups()
    shift = (int(zone_hour) * 60 + int(zone_minute)) * (1 if sign == b"+" else -1)
    return int(hour) * 60 + int(minute) - shift == (24 * 60 if day == b"1969-12-31" else 0)


def without_stamp(text: bytes) -> bytes:
    """A name as the patch writes it after `--- ` or `+++ `: unquoted, and without what diff puts behind it."""
    if quoted := unquote_at(text):
        return quoted[0]
    if stamp := _STAMP.search(text):
        return text[: stamp.start()]
    return _match(_TO_TAB, text)


def header_name(text: bytes, strip: int, root: bytes, *, to_tab: bool = True) -> bytes | None:
    """The name in a header of git: what follows `--- ` (to the tab), or `rename from ` (to the end)."""
    if quoted := _quoted_name(text, strip, root):
        return quoted
    return _common(_match(_TO_TAB if to_tab else _TO_RETURN, text), strip, root, None)


def plain_name(text: bytes, strip: int, root: bytes, other: bytes | None = None) -> bytes | None:
    """The name in a header of a plain diff. `other` is the old side's, which is taken where it is the shorter one."""
    if quoted := _quoted_name(text, strip, root):
        return quoted
    stamp = _STAMP.search(text)
    return _common(text[: stamp.start()] if stamp else _match(_TO_TAB, text), strip, root, other)


def _match(pattern: re.Pattern[bytes], text: bytes) -> bytes:
    match = pattern.match(text)
    return match[0] if match else b""


def _quoted_name(text: bytes, strip: int, root: bytes) -> bytes | None:
    quoted = unquote_at(text)
    parts = quoted[0].split(b"/", strip) if quoted else []
    return _squashed(root + parts[strip]) if len(parts) > strip else None


def _common(name: bytes, strip: int, root: bytes, other: bytes | None) -> bytes | None:
    parts = name.split(b"/", strip)
    if len(parts) <= strip or not parts[strip]:
        return other
    stripped = parts[strip]
    if other is not None and len(other) < len(stripped) and stripped.startswith(other):
        return other  # the other side has something tacked on, as in `file.orig`
    return _squashed(root + stripped)


def _squashed(name: bytes) -> bytes:
    return re.sub(rb"/{2,}", b"/", name)


def common_name(text: bytes, strip: int) -> bytes | None:
    """The one name that both halves of a `diff --git` line stand for, where they do; `text` is what follows `diff --git `."""
    if text.startswith(b'"'):
        return _both_quoted(text, strip)
    name = _skipped(text, strip)
    if name is None:
        return None
    quote = name.find(b'"')
    if quote >= 0:
        second = unquote_at(name, quote)
        stripped = _skipped(second[0], strip) if second else None
        same = stripped is not None and len(stripped) < quote and name.startswith(stripped)
        return stripped if same and name[len(stripped or b"")] in b" \t\r" else None
    for gap in re.finditer(rb"[ \t]", name):
        second_half = _skipped(name[gap.end() :], strip)
        if second_half is not None and second_half == name[: gap.start()]:
            return second_half
    return None


def _both_quoted(text: bytes, strip: int) -> bytes | None:
    first = unquote_at(text)
    second = unquote_at(text, len(text) - len(text[first[1] :].lstrip(b" \t\r"))) if first else None
    if first is None or second is None:
        return None
    names = _skipped(first[0], strip), _skipped(second[0], strip)
    return names[0] if names[0] == names[1] else None


def _skipped(path: bytes, strip: int) -> bytes | None:
    """What is left of an unquoted path; None where it has too few folders, or is absolute."""
    parts = path.split(b"/", strip)
    if len(parts) <= strip or (strip < 2 and path.startswith(b"/")):
        return None
    return parts[strip]


def quoted_name(name: bytes) -> bytes:
    """A name as git writes it in a header: in quotes where it holds what a reader would take for something else."""
    if _PLAIN.fullmatch(name):
        return name
    pieces = (bytes([byte]) for byte in name)
    escaped = (_NAMED.get(one) or (one if b" " <= one < b"\x7f" else b"\\%03o" % one[0]) for one in pieces)
    return b'"' + b"".join(escaped) + b'"'
