"""Reads what a patch file announces, beside git: git skips what it cannot read, and that must not pass for success.

The lines are walked as git's own reader does (apply.c), in unified diffs with or without `diff --git` headers.
"""

from regraft.core.patch_paths import unquote
from regraft.core.patch_text import BinaryPart, BinaryPatch, Hunk, PatchText, Problem, Section
from regraft.core.patterns import regex

_HUNK = regex(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADER = regex(
    rb"(?:--- |\+\+\+ |old mode |new mode |deleted file mode |new file mode |copy from |copy to |rename old |rename new "
    rb"|rename from |rename to |similarity index |dissimilarity index |index )"
)
_INDEX = regex(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]{6}))?")
_EPOCH = regex(rb".*\t(?:1969-12-31|1970-01-01) (\d\d):(\d\d):00(?:\.0+)? ([-+])(\d\d):?(\d\d)")
_PREFIXES = frozenset({b"a", b"b", b"c", b"i", b"o", b"w"})  # git's own; diff -ru has two that differ
_NULL = b"/dev/null"


def scan(data: bytes) -> PatchText:
    """Everything that the patch file announces, whether or not git will read it."""
    return _Scanner(data).scan()


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self._lines = data.split(b"\n")
        if self._lines[-1] == b"":
            self._lines.pop()
        self._at = 0
        self._prefixes = set(_PREFIXES)
        self._found = PatchText()

    def scan(self) -> PatchText:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"diff --git "):
                self._git_section()
            elif line.startswith(b"--- ") and self._peek(1).startswith(b"+++ "):
                self._plain_section()
            else:
                self._between(line)
                self._at += 1
        return self._found

    def _peek(self, ahead: int = 0) -> bytes:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else b""

    def _problem(self, message: str, line: int | None = None) -> None:
        self._found.problems.append(Problem(self._at + 1 if line is None else line, message))

    def _between(self, line: bytes) -> None:
        """A line outside of every file's section. Prose may stand there, parts of a diff may not."""
        if line.startswith(b"@@"):
            self._problem("a hunk that belongs to no file, or whose header cannot be read")
        elif line.startswith(b"Binary files ") and line.rstrip(b"\r").endswith(b" differ"):
            self._problem("says that binary files differ, without their content")
        elif line.startswith(b"GIT binary patch"):
            self._problem("binary content that belongs to no file")
        elif line.startswith(b"***************"):
            self._problem("a context diff; only unified diffs can be judged (diff -u)")
        elif line.startswith(b"\xef\xbb\xbfdiff --git "):
            self._problem("a byte order mark hides the first header")

    def _note_return(self) -> bytes:
        """The header line at hand, without the carriage return that it must not have."""
        line = self._peek()
        if line.endswith(b"\r") and self._found.returns is None:
            self._found.returns = self._at + 1
        return line.rstrip(b"\r")

    def _git_section(self) -> None:
        section = Section(self._at + 1)
        header = self._note_return()
        names: list[bytes] = []
        self._at += 1
        while _HEADER.match(self._peek()):
            self._extended(section, self._note_return(), names)
            self._at += 1
        halves = header[len(b"diff --git ") :]
        middle = len(halves) // 2
        if halves[:middle] == halves[middle + 1 :] or (names and halves == b" ".join(names)):
            self._unprefixed(halves[:middle], section.line)
        self._body(section)

    def _extended(self, section: Section, line: bytes, names: list[bytes]) -> None:
        if line.startswith((b"--- ", b"+++ ")):
            self._absolute(line[4:])
        elif line.startswith(b"old mode "):
            section.old_mode = _text(line[9:])
        elif line.startswith(b"new mode "):
            section.new_mode = _text(line[9:])
        elif line.startswith(b"new file mode "):
            section.kind, section.new_mode = "create", _text(line[14:])
        elif line.startswith(b"deleted file mode "):
            section.kind, section.old_mode = "delete", _text(line[18:])
        elif line.startswith((b"rename from ", b"rename old ", b"copy from ")):
            section.kind = "copy" if line.startswith(b"copy") else "rename"
            names.append(line.split(b" ", 2)[2])
            section.origin = unquote(names[-1])
        elif line.startswith((b"rename to ", b"rename new ", b"copy to ")):
            names.append(line.split(b" ", 2)[2])
        elif match := _INDEX.fullmatch(line):
            section.old_oid, section.new_oid = _text(match[1]), _text(match[2])
            section.index_mode = _text(match[3]) if match[3] else None

    def _plain_section(self) -> None:
        section = Section(self._at + 1)
        old, new = (self._plain_name() for _ in range(2))
        if old == _NULL:
            section.kind = "create"
        elif new == _NULL:
            section.kind = "delete"
        firsts = [name.lstrip(b'"').split(b"/", 1)[0] for name in (old, new) if name != _NULL]
        single = any(b"/" not in name for name in (old, new))
        same = len(firsts) == 2 and firsts[0] == firsts[1] and firsts[0] not in self._prefixes
        lone = len(firsts) == 1 and firsts[0] not in self._prefixes
        if single or same or lone:
            self._unprefixed(new if new != _NULL else old, section.line)
        else:
            self._prefixes.update(firsts)
        if not self._peek().startswith(b"@@ -"):
            self._problem("announces a file, and no hunk that can be read follows", section.line)
            self._found.sections.append(section)
            return
        self._body(section)
        if section.kind == "edit" and _is_epoch(self._lines[section.line - 1]):
            section.kind = "create"
        elif section.kind == "edit" and _is_epoch(self._lines[section.line]):
            section.kind = "delete"

    def _plain_name(self) -> bytes:
        name = self._note_return()[4:].split(b"\t", 1)[0]
        self._absolute(name)
        self._at += 1
        return name

    def _absolute(self, name: bytes) -> None:
        if name.lstrip(b'"').startswith(b"/") and name.split(b"\t", 1)[0].rstrip(b" ") != _NULL:
            self._problem("names an absolute path; a patch stays within its tree")

    def _unprefixed(self, name: bytes, line: int) -> None:
        quoted = ascii(name.decode("utf-8", "replace"))[:120]
        self._problem(f"{quoted} has no a/ and b/ before it; write the patch with them (git diff, strip level 1)", line)

    def _body(self, section: Section) -> None:
        self._found.sections.append(section)
        line = self._peek()
        if line.startswith(b"GIT binary patch"):
            self._binary(section)
        elif line.startswith(b"Binary files ") and line.rstrip(b"\r").endswith(b" differ"):
            self._problem("says that a binary file differs, without its content; write it with git diff --binary")
            section.binary = BinaryPatch(BinaryPart(self._at + 1, "literal", 0, ()))
            self._at += 1
        else:
            self._hunks(section)
        if section.kind == "edit" and not (section.changes_content or section.changes_mode):
            self._problem("announces a file, and changes nothing in it that can be read", section.line)

    def _binary(self, section: Section) -> None:
        section.binary = BinaryPatch(BinaryPart(self._at + 1, "literal", 0, ()))
        self._at += 1
        while self._peek().startswith((b"literal ", b"delta ")):
            while self._peek().rstrip(b"\r"):
                self._at += 1
            self._at += 1

    def _hunks(self, section: Section) -> None:
        while match := _HUNK.match(self._peek()):
            if self._peek().endswith(b"@@\r"):
                self._note_return()
            header, self._at = self._at + 1, self._at + 1
            body = self._hunk_body(header, int(match[2] or 1), int(match[4] or 1))
            section.hunks.append(Hunk(header, int(match[1]), int(match[3]), body))
        if section.hunks:
            self._excess(section.hunks[-1].line)

    def _hunk_body(self, header: int, old: int, new: int) -> tuple[bytes, ...]:
        first, old_seen, new_seen = self._at, 0, 0
        while (old_seen < old or new_seen < new) and self._at < len(self._lines):
            line = self._peek()
            mark = line[:1]
            if mark not in (b"", b" ", b"-", b"+", b"\\", b"\r"):
                break
            old_seen += mark in (b"", b" ", b"-", b"\r")
            new_seen += mark in (b"", b" ", b"+", b"\r")
            if mark in (b"", b"\r"):
                self._found.bare.append(self._at + 1)
            self._at += 1
        if self._peek().startswith(b"\\ "):
            self._at += 1
        if (old_seen, new_seen) != (old, new):
            self._problem(
                f"the header says {old} old and {new} new lines, the body has {old_seen} and {new_seen}", header
            )
        return tuple(self._lines[first : self._at])

    def _excess(self, header: int) -> None:
        """What looks like the body of a hunk after the lines that its header counts: git would skip it in silence."""
        ahead = 0
        while self._at + ahead < len(self._lines) and not self._peek(ahead).strip():
            if self._peek(ahead).startswith(b" "):
                break
            ahead += 1
        line = self._peek(ahead).rstrip(b"\r")
        heads = line.startswith(b"--- ") and self._peek(ahead + 1).startswith(b"+++ ")
        signature = line in (b"-- ", b"--")
        if line.startswith((b" ", b"+", b"-")) and not heads and not signature:
            self._problem(
                f"the hunk of line {header} goes on after the lines that its header counts", self._at + ahead + 1
            )


def _text(value: bytes) -> str:
    return value.decode("ascii", "replace").strip()


def _is_epoch(line: bytes) -> bool:
    """Whether diff's timestamp says that this side does not exist: the beginning of 1970, in any time zone."""
    match = _EPOCH.fullmatch(line.rstrip(b"\r"))
    if match is None:
        return False
    hour, minute, sign, zone_hour, zone_minute = match.groups()
    shift = (int(zone_hour) * 60 + int(zone_minute)) * (1 if sign == b"+" else -1)
    clock = int(hour) * 60 + int(minute) - (24 * 60 if b"1969-12-31" in line else 0)
    return clock == shift
