"""What the header of one section says under a strip level: names, kind and modes, or why git refuses it."""

import re
from collections.abc import Sequence

from msgspec import Struct

from regraft.core.patch_names import common_name, header_name, is_epoch, is_null, plain_name
from regraft.core.patch_scan import Raw, Scan
from regraft.core.patch_text import Kind, Section
from regraft.core.patterns import regex

_MODE = regex(rb"[ \t\v\f]*([-+]?[0-7]+)(?=[ \t\r]|\Z)")
_INDEX = regex(rb"([^.]*)\.\.([^ ]*)( .*)?", re.DOTALL)
_OID = regex(rb"[0-9a-f]{4,64}")


class RefusedHeader(Exception):  # noqa: N818 - git's word against a section, made into a problem by the reader
    """Why git refuses a section. `at` is the index of the line, `said` what git says of it."""

    def __init__(self, at: int, said: str) -> None:
        super().__init__(said)
        self.at = at
        self.said = said


class _Names(Struct):
    """Where git stands while it reads a header. `drift` makes git's number of a line out of its index."""

    scan: Scan
    raw: Raw
    strip: int
    root: bytes
    section: Section
    old: bytes | None = None
    new: bytes | None = None
    common: bytes | None = None
    flags: tuple[str, ...] = ()  # new, deleted, renamed, copied: one of them at most
    flagged_at: int = 0

    @property
    def drift(self) -> int:
        return self.raw.counted - self.raw.first


def read_section(scan: Scan, raw: Raw, strip: int, root: bytes) -> Section:
    """The section with its hunks. Raises RefusedHeader."""
    binary = raw.binary
    section = Section(line=raw.first + 1, hunks=raw.hunks, binary=binary)
    names = _Names(scan, raw, strip, root, section)
    _linger(names)
    if raw.git:
        _git(names)
    else:
        _plain(names)
    _consistent(names)
    section.kind = _kind(names)
    shown = names.old if section.kind == "delete" else names.new
    section.path = shown or names.new or names.old or b""
    if section.kind in ("rename", "copy"):
        section.origin = names.old
    return section


def read_lingering(scan: Scan, lingering: Sequence[tuple[int, int]], strip: int) -> bytes | None:
    """The name that `diff --git` lines without a header below them leave behind. Raises RefusedHeader."""
    for at, counted in lingering:
        name = common_name(scan.lines[at][len(b"diff --git ") :], strip)
        if name is None:
            raise _lacking(strip, at, counted + 1)
        return name
    return None


def _linger(names: _Names) -> None:
    name = read_lingering(names.scan, names.raw.lingering, names.strip)
    if name is not None:
        names.old = names.new = names.root + name


def _lacking(strip: int, at: int, line: int) -> RefusedHeader:
    word = "component" if strip == 1 else "components"
    lacks = "git diff header lacks filename information when removing"
    return RefusedHeader(at, f"{lacks} {strip} leading pathname {word} (line {line})")


def _common(names: _Names, at: int) -> bytes | None:
    name = common_name(names.scan.lines[at][len(b"diff --git ") :], names.strip)
    return names.root + name if name is not None else None


def _git(names: _Names) -> None:
    raw, lines = names.raw, names.scan.lines
    names.common = _common(names, raw.first)
    end = raw.hunks_at
    for at in range(raw.first + 1, end):
        _header(names, at, lines[at])
        if len(names.flags) > 1:
            counted = at + names.drift
            raise RefusedHeader(at, f"inconsistent header lines {names.flagged_at} and {counted}")
        if names.flags and not names.flagged_at:
            names.flagged_at = at + names.drift
    if names.old is None and names.new is None:
        if names.common is None:
            raise _lacking(names.strip, raw.first, end + names.drift)
        names.old = names.new = names.common
    if (names.new is None and "deleted" not in names.flags) or (names.old is None and "new" not in names.flags):
        raise RefusedHeader(raw.first, f"git diff header lacks filename information (line {end + names.drift})")


def _header(names: _Names, at: int, line: bytes) -> None:
    section = names.section
    if line.startswith(b"--- "):
        names.old = _verified(names, at, line[4:], names.old, "old")
    elif line.startswith(b"+++ "):
        names.new = _verified(names, at, line[4:], names.new, "new")
    elif line.startswith(b"old mode "):
        section.old_mode = _mode(names, at, line[9:])
    elif line.startswith(b"new mode "):
        section.new_mode = _mode(names, at, line[9:])
    elif line.startswith(b"deleted file mode "):
        _flag(names, "deleted")
        names.old = names.common
        section.old_mode = _mode(names, at, line[18:])
    elif line.startswith(b"new file mode "):
        _flag(names, "new")
        names.new = names.common
        section.new_mode = _mode(names, at, line[14:])
    elif line.startswith((b"copy ", b"rename ")):
        _moved(names, line)
    elif line.startswith(b"index "):
        _index(names, at, line[6:])


def _flag(names: _Names, flag: str) -> None:
    if flag not in names.flags:
        names.flags = (*names.flags, flag)


def _moved(names: _Names, line: bytes) -> None:
    word, side, path = line.split(b" ", 2)
    _flag(names, "copied" if word == b"copy" else "renamed")
    name = header_name(path, max(0, names.strip - 1), names.root, to_tab=False)
    if side in (b"from", b"old"):
        names.old = name
    else:
        names.new = name


def _verified(names: _Names, at: int, text: bytes, known: bytes | None, side: str) -> bytes | None:
    """The name of one side, which has to agree with what the header has said of it before."""
    null = ("new" if side == "old" else "deleted") in names.flags
    counted = names.raw.counted + 1  # git gives the number of the line after `diff --git`, whichever it means
    if known is None and null:
        if not is_null(text):
            raise RefusedHeader(at, f"git apply: bad git-diff - expected /dev/null on line {counted}")
        return None
    if known is not None and null:
        said = known.decode("utf-8", "replace")
        raise RefusedHeader(at, f"git apply: bad git-diff - expected /dev/null, got {said} on line {counted}")
    name = header_name(text, names.strip, names.root)
    if known is not None and name != known:
        raise RefusedHeader(at, f"git apply: bad git-diff - inconsistent {side} filename on line {counted}")
    return name


def _mode(names: _Names, at: int, text: bytes) -> str:
    match = _MODE.match(text)
    if match is None:
        said = text.decode("utf-8", "replace")
        raise RefusedHeader(at, f"invalid mode on line {names.raw.counted + 1}: {said}")
    digits = match[1].decode("ascii")
    return digits if digits.isdigit() and len(digits) <= 6 else format(int(digits, 8) & 0xFFFFFFFF, "06o")


def _index(names: _Names, at: int, text: bytes) -> None:
    match = _INDEX.fullmatch(text)
    if match is None or len(match[1]) > 40 or len(match[2].rstrip(b"\r")) > 64:
        return
    old, new = (_OID.fullmatch(part.rstrip(b"\r")) for part in (match[1], match[2]))
    section = names.section
    if old and new:
        section.old_oid, section.new_oid = old[0].decode("ascii"), new[0].decode("ascii")
    if match[3] and len(match[2]) <= 40:
        section.index_mode = _mode(names, at, match[3][1:])


def _plain(names: _Names) -> None:
    raw, lines = names.raw, names.scan.lines
    old, new = lines[raw.first][4:], lines[raw.first + 1][4:]
    strip, root = names.strip, names.root
    if is_null(old):
        names.flags = ("new",)
        names.new = name = plain_name(new, strip, root)
    elif is_null(new):
        names.flags = ("deleted",)
        names.old = name = plain_name(old, strip, root)
    else:
        name = plain_name(new, strip, root, plain_name(old, strip, root))
        if is_epoch(old):
            names.flags, names.new = ("new",), name
        elif is_epoch(new):
            names.flags, names.old = ("deleted",), name
        else:
            names.old = names.new = name
            names.section.creates_if_absent = not (raw.old_lines or raw.lingering) and len(raw.hunks) == 1
    if name is None:
        raise RefusedHeader(raw.first, f"unable to find filename in patch at line {raw.counted}")


def _consistent(names: _Names) -> None:
    """What git asks of the hunks once it has read them all. A fault in them comes before."""
    raw = names.raw
    if names.scan.in_last and raw is names.scan.raws[-1]:
        return
    if "new" in names.flags and raw.old_lines:
        said = (names.new or b"").decode("utf-8", "replace")
        raise RefusedHeader(raw.hunks_at, f"new file {said} depends on old contents")
    if "deleted" in names.flags and raw.new_lines:
        said = (names.old or b"").decode("utf-8", "replace")
        raise RefusedHeader(raw.hunks_at, f"deleted file {said} still has contents")


_KINDS: dict[str, Kind] = {"new": "create", "deleted": "delete", "renamed": "rename", "copied": "copy"}


def _kind(names: _Names) -> Kind:
    if names.flags:
        return _KINDS[names.flags[0]]
    return "edit" if names.old == names.new else "rename"
