"""Which bytes go with a statement, a link of a chain or a word, so that what is left stands as its owner wrote it."""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core.shell_values import Block, Operator, Word
from regraft.core.spans import Span, line_start, line_stop


class Layout(Struct, frozen=True):
    """`raw` is the script as it stands; with `joined`, in a Dockerfile's instruction, whose comment lines are none of it.

    `escape` ends a line that goes on.
    """

    raw: bytes
    joined: bool = False
    escape: bytes = b"\\"

    def lines(self, span: Span) -> Span | None:
        """The lines of `span`, if it has them to itself and the line before goes on as the last of them does."""
        start, stop = line_start(self.raw, span.start), line_stop(self.raw, span.stop)
        if span.stop > span.start and self.raw[span.stop - 1 : span.stop] == b"\n":
            stop = span.stop
        after = self.raw[span.stop : stop]
        if self.raw[start : span.start].strip() or not self._ends(after):
            return None
        if start == 0 and self.joined:
            return None
        if self._goes_on(after) != self._goes_on(self._before(start)) or not after.endswith(b"\n"):
            return None if self.joined or self._goes_on(self._before(start)) else Span(start, stop)
        return Span(start, stop)

    def _ends(self, text: bytes) -> bool:
        bare = text.strip()
        return not bare or bare == self.escape

    def _goes_on(self, line: bytes) -> bool:
        return line.rstrip().endswith(self.escape) and line.endswith(b"\n")

    def _before(self, start: int) -> bytes:
        """The line before, past the comment and empty lines that an instruction leaves out."""
        while start > 0:
            above = line_start(self.raw, start - 1)
            line = self.raw[above:start]
            if not self.joined or (line.strip() and not line.lstrip().startswith(b"#")):
                return line
            start = above
        return self.escape + b"\n" if self.joined else b""

    def has_comment(self, span: Span) -> bool:
        """Whether a comment line lies between: it belongs to what stays."""
        lines = self.raw[span.start : span.stop].split(b"\n")
        return any(line.lstrip().startswith(b"#") for line in lines[1:-1])

    def _past_blanks(self, at: int) -> int:
        while self.raw[at : at + 1] in (b" ", b"\t"):
            at += 1
        return at

    def links(self, spans: Sequence[Span], operators: Sequence[Operator], first: int, last: int) -> Span:
        """What goes with the items `first` to `last` of a chain, with one operator for each of them."""
        start, stop = spans[first].start, spans[last].stop
        if last == len(spans) - 1:
            return Span(spans[first - 1].stop, stop)
        after = operators[last]
        if first == 0:
            gap = Span(after.span.stop, spans[last + 1].start)
            return Span(start, self._past_blanks(after.span.stop) if self.has_comment(gap) else gap.stop)
        before = operators[first - 1]
        if before.text == after.text:
            trailing = self.lines(Span(start, after.span.stop))
            if trailing is not None:
                return trailing
        leading = self.lines(Span(before.span.start, stop))
        if leading is not None:
            return leading
        if before.text == after.text and not self.has_comment(Span(after.span.stop, spans[last + 1].start)):
            return Span(start, spans[last + 1].start)
        return Span(spans[first - 1].stop, stop)

    def statement(self, block: Block, index: int) -> Span:
        """What goes with one statement of a block."""
        span, end = block.items[index].span, block.stops[index]
        own = end is not None and end.text == ";"
        whole = Span(span.start, end.span.stop if end is not None and own else span.stop)
        lines = self.lines(whole)
        final = index == len(block.items) - 1
        if lines is not None and block.span.start <= lines.start and (own or not final or not self.joined):
            return lines
        if own:
            gap = Span(whole.stop, block.items[index + 1].span.start) if not final else whole
            stop = gap.stop if not final and not self.has_comment(gap) and b"\n" not in self._between(gap) else self._past_blanks(whole.stop)  # fmt: skip
            return Span(span.start, stop)
        if final and index > 0:
            before = block.stops[index - 1]
            keep = before is not None and before.text == "&"
            return Span(
                before.span.stop if before is not None and keep else block.items[index - 1].span.stop, span.stop
            )
        return whole

    def _between(self, gap: Span) -> bytes:
        """What lies between two statements, but for lines that go on."""
        return b"" if self.joined else self.raw[gap.start : gap.stop]

    def word(self, before: Span, word: Word) -> Span:
        """A word, with the blanks that part it from the one before it; or its line, if it has one to itself."""
        return self.lines(word.span) or Span(before.stop, word.span.stop)
