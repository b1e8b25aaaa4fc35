"""Walks the lines of a patch file as `git apply` does (apply.c), without asking what its names mean.

The names depend on the strip level (`patch_sections`); where a file's section begins and ends does not.
"""

from msgspec import Struct, field

from regraft.core.patch_binary_lines import BinaryFault, read_part
from regraft.core.patch_text import BinaryPatch, Hunk
from regraft.core.patterns import regex

HUNK = regex(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
HEADERS = (
    *(b"--- ", b"+++ ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode "),
    *(b"copy from ", b"copy to ", b"rename old ", b"rename new ", b"rename from ", b"rename to "),
    *(b"similarity index ", b"dissimilarity index ", b"index "),
)
_LEAST = 6  # bytes: what git takes for the beginning of a header has at least as many behind it
_NO_END = 12  # bytes of a line that says that a newline is missing, at least


class Raw(Struct):
    """One file's section. Numbers are indices of lines, from 0; `last` is the line after it.

    `counted` is the number that git gives to the header's first line: it counts some lines twice, and some not at all.
    `lingering` are `diff --git` lines without a header below them, whose names git still has in mind: (index, git's number).
    """

    first: int
    git: bool
    counted: int
    hunks_at: int = 0
    last: int = 0
    hunks: list[Hunk] = field(default_factory=list)
    old_lines: int = 0
    new_lines: int = 0
    binary: BinaryPatch | None = None
    says_differ: bool = False
    lingering: tuple[tuple[int, int], ...] = ()

    @property
    def empty(self) -> bool:
        return not self.hunks and self.binary is None and not self.says_differ


class Stop(Struct, frozen=True):
    """Where git stops to read (an index), and what it says. `silent`: it takes what it has read so far, and calls that a success."""

    at: int
    said: str
    silent: bool = False


class Scan(Struct):
    """`stop` is the first fault in the lines themselves; with `in_last` it lies in the body of the last section.

    `lingering` are those after the last section.
    """

    lines: list[bytes]
    ended: bool  # the last line has a newline
    raws: list[Raw] = field(default_factory=list)
    stop: Stop | None = None
    in_last: bool = False
    lingering: tuple[tuple[int, int], ...] = ()

    def line(self, at: int) -> bytes:
        return self.lines[at] if at < len(self.lines) else b""

    def whole(self, at: int) -> bool:
        """Whether there is a line, with a newline at its end."""
        return at + 1 < len(self.lines) or (at + 1 == len(self.lines) and self.ended)

    def behind(self, at: int, most: int) -> int:
        """The bytes from line `at` on; not counted further than `most`."""
        if at + most < len(self.lines):
            return most  # a line has one byte at least
        size = sum(len(line) + 1 for line in self.lines[at : at + most])
        return size - (0 if self.ended or at + most < len(self.lines) or at >= len(self.lines) else 1)


def scan_lines(data: bytes) -> Scan:
    """All sections up to the first fault in the lines themselves."""
    lines = data.split(b"\n")
    ended = lines[-1] == b""
    if ended:
        lines.pop()
    return _Walk(Scan(lines, ended)).walk()


class _Walk:
    def __init__(self, found: Scan) -> None:
        self._scan = found
        self._drift = 0  # git's number of a line, less our index

    def walk(self) -> Scan:
        at = 0
        self._drift = 1
        while at < len(self._scan.lines) and self._scan.stop is None:
            at = self._section(at)
        return self._scan

    def _section(self, at: int) -> int:
        found = self._scan
        lingering: list[tuple[int, int]] = []
        while at < len(found.lines):
            line = found.lines[at]
            size = len(line) + found.whole(at)
            if size >= _LEAST and line.startswith(b"@@ -") and found.whole(at) and HUNK.match(line):
                self._stop(at, f"patch fragment without header at line {at + self._drift}: {_text(line)}")
                break
            if size >= _LEAST and found.behind(at + 1, _LEAST) < _LEAST:
                break
            if line.startswith(b"diff --git "):
                hunks_at = self._header_end(at)
                if hunks_at > at + 1:
                    return self._body(Raw(at, True, at + self._drift, hunks_at, lingering=tuple(lingering)))
                lingering.append((at, at + self._drift))
                self._drift += 1
            elif line.startswith(b"--- ") and self._plain_header(at):
                return self._body(Raw(at, False, at + self._drift, at + 2, lingering=tuple(lingering)))
            at += 1
        found.lingering = tuple(lingering)
        return len(found.lines)

    def _plain_header(self, at: int) -> bool:
        found = self._scan
        if not (found.line(at + 1).startswith(b"+++ ") and found.line(at + 2).startswith(b"@@ -")):
            return False
        return len(found.line(at)) + 1 + found.behind(at + 2, 14) >= 14

    def _header_end(self, at: int) -> int:
        at += 1
        while self._scan.whole(at) and self._scan.line(at).startswith(HEADERS):
            at += 1
        return at

    def _stop(self, at: int, said: str, *, silent: bool = False) -> None:
        self._scan.stop = Stop(at, said, silent)

    def _body(self, raw: Raw) -> int:
        found = self._scan
        found.raws.append(raw)
        at = raw.hunks_at
        while found.line(at).startswith(b"@@ -") and found.behind(at, 5) > 4:
            after = self._hunk(raw, at)
            if after is None:
                found.in_last = True
                raw.last = len(found.lines)
                return raw.last
            at = after
        if not raw.hunks:
            at = self._no_hunks(raw, at)
        raw.last = at
        return at

    def _hunk(self, raw: Raw, header: int) -> int | None:
        """The line after a hunk, or None where it cannot be read."""
        found = self._scan
        match = HUNK.match(found.line(header)) if found.whole(header) else None
        if match is None:
            return self._corrupt(header)
        old, new = (1 if count is None else _number(count) for count in (match[2], match[4]))
        raw.old_lines, raw.new_lines = raw.old_lines + old, raw.new_lines + new
        at, changes, lines = header + 1, False, found.lines
        whole = len(lines) - (not found.ended)
        while (old or new) and at < len(lines):
            mark = lines[at][:1]
            if at >= whole:
                return self._corrupt(at)
            if mark in (b" ", b""):
                old, new = old - 1, new - 1
            elif mark == b"-":
                old, changes = old - 1, True
            elif mark == b"+":
                new, changes = new - 1, True
            elif len(lines[at]) + 1 < _NO_END or not lines[at].startswith(b"\\ "):
                return self._corrupt(at)
            at += 1
        if old or new or not changes:
            return self._corrupt(at)
        if found.line(at).startswith(b"\\ ") and found.behind(at, _NO_END + 1) > _NO_END:
            at += 1
            self._drift -= 1
        body = tuple(found.lines[header + 1 : at])
        raw.hunks.append(Hunk(header + 1, _number(match[1]), _number(match[3]), body))
        return at

    def _corrupt(self, at: int) -> int | None:
        self._stop(at, f"corrupt patch at line {at + self._drift}")
        return None

    def _no_hunks(self, raw: Raw, at: int) -> int:
        found = self._scan
        line = found.line(at)
        if line == b"GIT binary patch" and found.whole(at):
            return self._binary(raw, at + 1)
        if line.startswith((b"Binary files ", b"Files ")) and line.endswith(b" differ") and found.whole(at):
            raw.says_differ = True
            return at + 1
        return at

    def _binary(self, raw: Raw, at: int) -> int:
        found = self._scan
        try:
            forward = read_part(found.lines, at, ended=found.ended)
            if forward is None:
                self._stop(at - 1, f"unrecognized binary patch at line {at - 1 + self._drift}", silent=True)
                return len(found.lines)
            at += len(forward.lines) + 2
            reverse = read_part(found.lines, at, ended=found.ended)
        except BinaryFault as fault:
            self._stop(
                fault.at, f"corrupt binary patch at line {fault.at + self._drift}: {_text(fault.line)}", silent=True
            )
            return len(found.lines)
        raw.binary = BinaryPatch(forward, reverse)
        return at if reverse is None else at + len(reverse.lines) + 2


def _number(digits: bytes) -> int:
    """As C reads it: what is too large is the largest."""
    short = digits.lstrip(b"0")
    return min(int(short or b"0"), 2**64 - 1) if len(short) < 25 else 2**64 - 1


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
