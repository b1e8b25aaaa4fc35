"""The hunks of one section against one file: which fit, and where; which are there already; what git makes of them.

Hunks are judged in their order on what the earlier ones leave, as git applies them. Whether a hunk is there already is looked up in the file
as it was given, so that what its neighbours write does not count.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.hunk_places import Sides, both_places, glues, places, sides, stands
from regraft.core.nearly import why_nowhere
from regraft.core.own_place import ELSEWHERE, new_lines, stands_in_own_place
from regraft.core.patch_text import Hunk
from regraft.core.plan import PatchState
from regraft.core.removal import removal_doubt

SHOWN = 5

HunkState = Literal["applies", "already-there", "conflict"]


class HunkVerdict(Struct, frozen=True):
    """`index` counts from 1 within the section, `line` is the hunk header's in the patch file.

    `offset`: how many lines below the line that the patch names it fits (where it fits). `also`: lines of the file where its old side stands as well.
    `place`: the line of the file where it stands, of what names no line (an exact replacement, an anchor).
    """

    index: int
    line: int
    state: HunkState
    offset: int | None = None
    reason: str | None = None
    also: tuple[int, ...] = ()
    place: int | None = None


class HunksVerdict(Struct, frozen=True):
    """`content`: the resulting bytes where every hunk applies. `taken`: what git makes of it where git takes it, sensible or not."""

    hunks: tuple[HunkVerdict, ...]
    content: bytes | None
    taken: bytes | None

    @property
    def state(self) -> PatchState:
        """Of all hunks together: `partial` where some are there and the others apply."""
        states = {hunk.state for hunk in self.hunks}
        if "conflict" in states:
            return "conflict"
        if len(states) == 2:
            return "partial"
        return "already-there" if states == {"already-there"} else "applies"


def judge_hunks(content: bytes, hunks: Sequence[Hunk], *, base: bytes | None = None) -> HunksVerdict:
    """`base` is the file that the patch was made on, where it is known: it tells a result that came in from one that always stood there."""
    run = _Run(content, hunks, base)
    verdicts = tuple(run.judge(index, hunk) for index, hunk in enumerate(hunks, 1))
    fits = all(verdict.state == "applies" for verdict in verdicts)
    return HunksVerdict(verdicts, run.image if fits else None, run.image if run.taking else None)


class _Span(Struct, frozen=True):
    """What a hunk replaced: offsets of the text that places are looked for in, what stands there now, and how many lines more."""

    start: int
    end: int
    text: bytes
    shift: int


class _Run:
    def __init__(self, content: bytes, hunks: Sequence[Hunk], base: bytes | None) -> None:
        self._content = content
        self._hunks = hunks
        self._base = base
        self._patched: bytes | None = None  # the base with the patch
        self._text = content  # where places are looked for: as it was given, but for the odd hunk
        self._spans: list[_Span] = []  # of that text; no later hunk may match there again
        self._cursor = (0, 0)  # an offset of the text, and the line that begins there
        self._lost = 0  # lines by which the hunks that are nowhere would have moved the later ones
        self.taking = True

    def judge(self, index: int, hunk: Hunk) -> HunkVerdict:
        both = sides(hunk)
        if not both.pre:
            self._settle()
        if both.broken or glues(self._text, both):
            return self._nowhere(
                index, hunk, both, "ambiguous: a line lacks its newline, and git would join it with the next"
            )
        found, there = both_places(self._text, both)
        if self._text is not self._content:
            there = None
        if self._spans and found:
            found = self._free(found, len(both.pre))
        if not found:
            return self._not_here(index, hunk, both, there)
        wanted = max(hunk.new_start - 1, 0) - self._lost
        lines = [self._line(at) for at in found]
        offset, at = self._nearest(found, lines, wanted)
        also = tuple(line + 1 for place, line in zip(found, lines, strict=True) if place != at)
        reason = self._ambiguous(both, offset, also, there)
        self._write(at, both)
        state: HunkState = "conflict" if reason else "applies"
        return HunkVerdict(index, hunk.line, state, offset, reason, also[:SHOWN])

    @property
    def image(self) -> bytes:
        """The text with all that was replaced."""
        pieces: list[bytes] = []
        at = 0
        for span in sorted(self._spans, key=lambda span: (span.start, span.end)):
            pieces += (self._text[at : span.start], span.text)
            at = span.end
        return b"".join((*pieces, self._text[at:]))

    def _settle(self) -> None:
        """Go on with what the hunks made, where what they left out of the text would hide places."""
        at = moved = 0
        spans: list[_Span] = []
        for span in sorted(self._spans, key=lambda span: (span.start, span.end)):
            at = span.start + moved
            spans.append(_Span(at, at + len(span.text), span.text, 0))
            moved += len(span.text) - (span.end - span.start)
        self._text, self._spans, self._cursor = self.image, spans, (0, 0)

    def _free(self, found: Sequence[int], length: int) -> list[int]:
        return [at for at in found if not any(at < one.end and one.start < at + length for one in self._spans)]

    def _line(self, at: int) -> int:
        """The line that begins at an offset of the text."""
        start, line = self._cursor
        if at >= start:
            line += self._text.count(b"\n", start, at)
        elif at < start - at:
            line = self._text.count(b"\n", 0, at)
        else:
            line -= self._text.count(b"\n", at, start)
        self._cursor = (at, line)
        return line

    def _nearest(self, found: Sequence[int], lines: Sequence[int], wanted: int) -> tuple[int, int]:
        """Git's choice, as (offset, place): its own line, then the nearest, and of two as near the later one."""
        moved = [line + self._shift(at) for at, line in zip(found, lines, strict=True)]
        if len(found) == 1:
            return moved[0] - wanted, found[0]
        _, _, line, at = min(
            (abs(line - wanted), line < wanted, line, at) for at, line in zip(found, moved, strict=True)
        )
        return line - wanted, at

    def _shift(self, place: int) -> int:
        return sum(span.shift for span in self._spans if span.start < place)

    def _write(self, at: int, both: Sides) -> None:
        self._spans.append(_Span(at, at + len(both.pre), both.post, both.shift))
        if not both.post or not both.pre:
            self._settle()

    def _ambiguous(self, both: Sides, offset: int, also: Sequence[int], there: Sequence[int] | None) -> str | None:
        if offset and not both.context:
            return "ambiguous: it has no lines of context (diff -U0), and git would put it where it was not made for"
        if offset and also:
            return f"ambiguous: it fits at {len(also) + 1} places, and none of them is its own line"
        only_removes = both.removes and not both.adds
        if (offset or not only_removes) and self._stands(both, there) and not self._always_stood(both):
            return "ambiguous: it fits, and its result is there as well"
        return None

    def _always_stood(self, both: Sides) -> bool:
        """Whether the result is there as often as before the patch was made: then it is not the patch's.

        Told only where the patch makes it stand more often than that (among equal lines it may not).
        """
        if self._base is None:
            return False
        if self._base is self._content:
            return True
        now, before, after = self._counts(both)
        return before < after and now <= before

    def _came_in(self, both: Sides) -> bool:
        """Whether it is there more often than before, where the base is known."""
        if self._base is None:
            return True
        if self._base is self._content:  # and nothing came in
            return False
        now, before, _ = self._counts(both)
        return now > before

    def _in_own_place(self, hunk: Hunk) -> bool:
        """Where the base is known."""
        if self._base is None:
            return True
        return stands_in_own_place(hunk, self._base, self._content, new_lines(hunk, self._content))

    def _counts(self, both: Sides) -> tuple[int, int, int]:
        """How often the result stands: now, in the base, and in the base with the patch."""
        assert self._base is not None
        if self._patched is None:
            self._patched = judge_hunks(self._base, self._hunks, base=self._base).content or self._base
        now, before, after = (len(places(text, both.post, both)) for text in (self._content, self._base, self._patched))
        return now, before, after

    def _stands(self, both: Sides, there: Sequence[int] | None) -> bool:
        return stands(self._content, both.post, both) if there is None else bool(there)

    def _not_here(self, index: int, hunk: Hunk, both: Sides, there: Sequence[int] | None) -> HunkVerdict:
        if not self._stands(both, there):
            return self._nowhere(index, hunk, both, why_nowhere(hunk, self._content))
        doubt = self._doubt(hunk, both)
        if doubt is not None:
            return self._nowhere(index, hunk, both, doubt)
        self.taking = False
        return HunkVerdict(index, hunk.line, "already-there")

    def _doubt(self, hunk: Hunk, both: Sides) -> str | None:
        """Why the new side, which stands there, is no proof that the change came in."""
        if not both.context:
            return "it has no lines of context (diff -U0), which git refuses, and nothing tells whether it is there already"
        if both.adds:
            if not self._came_in(both):
                return "its result stood there before the patch was made"
            return None if self._in_own_place(hunk) else ELSEWHERE
        if self._base is None:
            return (
                "it only removes lines, and they are not there; the file that it was made on is not here, "
                "so that nothing shows that they ever were"
            )
        if not stands(self._base, both.pre, both):
            return "it only removes lines, which the file that it was made on does not have either"
        return removal_doubt(hunk, self._content)

    def _nowhere(self, index: int, hunk: Hunk, both: Sides, reason: str) -> HunkVerdict:
        self.taking = False
        self._lost += both.shift
        return HunkVerdict(index, hunk.line, "conflict", None, reason)
