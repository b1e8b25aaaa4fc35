"""A Dockerfile, read by spans: which instruction stands where, and what a shell would see of it.

The rules are BuildKit's (frontend/dockerfile/parser): parser directives at the top, lines that end in the escape character go
on, comment lines and empty lines between them do not end an instruction, here-documents of RUN, COPY and ADD follow it.
Nothing is expanded, and nothing is an error: what is no Dockerfile has instructions with odd keywords.
"""

import json

from msgspec import Struct

from regraft.core.patterns import regex
from regraft.core.spans import Span, line_stop

HEREDOC_KEYWORDS = frozenset({"RUN", "COPY", "ADD"})

_DIRECTIVE = regex(rb"#[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*(\S.*?)[ \t]*")
_KEYWORD = regex(rb"[ \t]*([^\s\\`]+)")
_WORD = regex(rb"(?:(?!\\\r?\n)\S)+")
_SHELL_WORD = regex(rb"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+""", 16)  # DOTALL
_HEREDOC = regex(rb"\d*<<(-?)([^<]+)")
_STRING = regex(r'"(?:[^"\\]|\\.)*"')
_DIRECTIVES = frozenset({b"escape", b"syntax", b"check"})


class Word(Struct, frozen=True):
    """`text` as written, or what a JSON string means; bytes that are not UTF-8 stand in it as surrogates."""

    span: Span
    text: str


class Heredoc(Struct, frozen=True):
    """`body` are its lines, `span` those and the one that ends it."""

    name: bytes
    body: Span
    span: Span
    expand: bool  # False where the name was quoted
    chomp: bool  # `<<-`: leading tabs are dropped
    closed: bool = True  # False where the file ends in it


class Instruction(Struct, frozen=True):
    """One instruction. `line` starts at 1. `span` are its whole lines, its here-documents included.

    `value` is what follows the keyword and its flags, without the last end of line. `text` has the same length, and is
    what a shell would read: comment and empty lines between are blanks, and each line that goes on ends in a backslash.
    """

    keyword: str  # upper case
    line: int
    span: Span
    flags: tuple[Word, ...]
    value: Span
    text: bytes
    comments: tuple[Span, ...]  # comment and empty lines between its own, whole
    heredocs: tuple[Heredoc, ...]
    stage: int  # 0 for the first FROM and what follows it, -1 before
    padding: tuple[
        Span, ...
    ] = ()  # blanks of `text` that stand for those after the escape character at the end of a line

    @property
    def strings(self) -> tuple[Word, ...] | None:
        """The words of the JSON form, `["a", "b"]`; None for the other form."""
        text = self.text.replace(b"\\\n", b"  ").decode("latin-1")
        if not text.lstrip().startswith("["):
            return None
        try:
            values = json.loads(text.encode("latin-1").decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return None
        found = [*_STRING.finditer(text)]
        if not isinstance(values, list) or len(values) != len(found) or not all(isinstance(one, str) for one in values):
            return None
        base = self.value.start
        return tuple(
            Word(Span(base + one.start(), base + one.end()), value) for one, value in zip(found, values, strict=True)
        )

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the value: those of the JSON form, else what stands between blanks."""
        strings = self.strings
        return strings if strings is not None else _words(self.text, self.value.start)


class Directive(Struct, frozen=True):
    """A parser directive, `# name=value`; `name` is lower case."""

    line: int
    name: str
    value: str


class Dockerfile(Struct, frozen=True):
    data: bytes
    escape: bytes
    instructions: tuple[Instruction, ...]
    directives: tuple[Directive, ...] = ()


def read_dockerfile(data: bytes) -> Dockerfile:
    """Every instruction in `data`, in order. Takes time linear in its size."""
    reader = _Reader(data)
    return Dockerfile(data, reader.escape, tuple(reader.instructions), tuple(reader.directives))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.escape = b"\\"
        self.instructions: list[Instruction] = []
        self.directives: list[Directive] = []
        self._stage = -1
        self._line = 1
        at = self._directives(3 if data.startswith(b"\xef\xbb\xbf") else 0)
        while at < len(data):
            stop = line_stop(data, at)
            line = data[at:stop].strip()
            if not line or line.startswith(b"#"):
                self._line += 1
                at = stop
            else:
                at = self._instruction(at)

    def _directives(self, at: int) -> int:
        while at < len(self.data):
            stop = line_stop(self.data, at)
            match = _DIRECTIVE.fullmatch(self.data[at:stop].strip())
            if match is None or match[1].lower() not in _DIRECTIVES:
                break
            self.directives.append(Directive(self._line, _text(match[1]).lower(), _text(match[2])))
            if match[1].lower() == b"escape" and match[2] in (b"\\", b"`"):
                self.escape = match[2]
            self._line += 1
            at = stop
        return at

    def _instruction(self, start: int) -> int:
        data, at, first = self.data, start, self._line
        shell = bytearray()
        comments: list[Span] = []
        padding: list[Span] = []
        stop, size = start, 0
        while at < len(data):
            end = line_stop(data, at)
            line = data[at:end]
            bare = line.strip()
            self._line += 1
            if at > start and (not bare or bare.startswith(b"#")):
                comments.append(Span(at, end))
                shell += b" " * len(line)
                at = end
                continue
            body, blanks = self._joined(line)
            shell += body
            at = stop = end
            size = len(shell)
            if blanks is None:
                break
            if blanks:
                padding.append(Span(end - 2 - blanks, end - 2))
        self._line -= data.count(b"\n", stop, at)  # comments after the last of its lines are not its own
        comments = [one for one in comments if one.stop <= stop]
        text = bytes(shell[:size])
        self._add(Span(start, stop), first, text, (tuple(comments), tuple(padding)))
        return self.instructions[-1].span.stop

    def _joined(self, line: bytes) -> tuple[bytes, int | None]:
        """A line as a shell would read it, in as many bytes; and, where the next one belongs to it, how many blanks fill it up."""
        body = line.rstrip(b"\r\n")
        end = line[len(body) :]
        bare = body.rstrip(b" \t")
        if not end or not bare.endswith(self.escape) or bare[-2:-1] == self.escape:
            return line, None
        blanks = len(line) - len(bare) - 1
        return bare[:-1] + b" " * blanks + b"\\\n", blanks

    def _add(self, lines: Span, line: int, shell: bytes, between: tuple[tuple[Span, ...], tuple[Span, ...]]) -> None:
        match = _KEYWORD.match(shell)
        keyword = match[1].decode("ascii", "replace").upper() if match else ""
        at = match.end() if match else 0
        flags = []
        for word in _WORD.finditer(shell, at):
            if not word[0].startswith(b"--"):
                break
            flags.append(Word(Span(lines.start + word.start(), lines.start + word.end()), _text(word[0])))
            at = word.end()
        value = shell[at:].rstrip(b"\r\n")
        self._stage += keyword == "FROM"
        span = Span(lines.start + at, lines.start + at + len(value))
        heredocs = self._heredocs(value, lines.stop) if b"<<" in value and _takes_documents(keyword, value) else ()
        whole = Span(lines.start, heredocs[-1].span.stop if heredocs else lines.stop)
        self.instructions.append(
            Instruction(keyword, line, whole, tuple(flags), span, value, between[0], heredocs, self._stage, between[1])
        )

    def _heredocs(self, value: bytes, at: int) -> tuple[Heredoc, ...]:
        found = []
        for word in _SHELL_WORD.finditer(value):
            match = _HEREDOC.fullmatch(word[0])
            name = match[2].replace(b'"', b"").replace(b"'", b"").replace(b"\\", b"") if match else b""
            if not match or not name.isascii() or not name.replace(b"_", b"a").replace(b"-", b"a").isalnum():
                continue
            body = at
            stop = at
            closed = False
            while at < len(self.data):
                end = line_stop(self.data, at)
                line = self.data[at:end].rstrip(b"\r\n")
                self._line += 1
                stop, at = at, end
                closed = (line.lstrip(b"\t") if match[1] else line) == name
                if closed:
                    break
            else:
                stop = at
            found.append(Heredoc(name, Span(body, stop), Span(body, at), name == match[2], bool(match[1]), closed))
        return tuple(found)


def _takes_documents(keyword: str, value: bytes) -> bool:
    """An ONBUILD takes what its own instruction does (heredocCompoundDirectives of BuildKit's parser)."""
    if keyword == "ONBUILD" and (inner := _KEYWORD.match(value)):
        keyword = inner[1].decode("ascii", "replace").upper()
    return keyword in HEREDOC_KEYWORDS


def _words(text: bytes, base: int) -> tuple[Word, ...]:
    found = _WORD.finditer(text)
    return tuple(Word(Span(base + one.start(), base + one.end()), _text(one[0])) for one in found)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
