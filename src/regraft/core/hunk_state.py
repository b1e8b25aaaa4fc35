"""The hunks of one section against one file: which fit, and where; which are there already; what git makes of them.

Hunks are judged in their order on what the earlier ones leave, as git applies them. Whether a hunk is there already is looked up in the file
as it was given, so that what its neighbours write does not count.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from regraft.core.hunk_places import Sides, glues, places, sides, stands
from regraft.core.nearly import why_nowhere
from regraft.core.patch_text import Hunk
from regraft.core.plan import PatchState
from regraft.core.removal import removal_doubt

SHOWN = 5

HunkState = Literal["applies", "already-there", "conflict"]


class HunkVerdict(Struct, frozen=True):
    """`index` counts from 1 within the section, `line` is the hunk header's in the patch file.

    `offset`: how many lines below the line that the patch names it fits (where it fits). `also`: lines of the file where its old side stands as well.
    """

    index: int
    line: int
    state: HunkState
    offset: int | None = None
    reason: str | None = None
    also: tuple[int, ...] = ()


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


class _Run:
    def __init__(self, content: bytes, hunks: Sequence[Hunk], base: bytes | None) -> None:
        self._content = content
        self._hunks = hunks
        self._patched: bytes | None = None  # the base with the patch
        self._base = base
        self._written: list[tuple[int, int]] = []  # spans of the image that no later hunk may match again
        self._shifts: list[tuple[int, int]] = []  # where the image got longer, and by how many lines
        self._lost = 0  # lines by which the hunks that are nowhere would have moved the later ones
        self.image = content
        self.taking = True

    def judge(self, index: int, hunk: Hunk) -> HunkVerdict:
        both = sides(hunk)
        if both.broken or glues(self.image, both):
            return self._nowhere(
                index, hunk, both, "ambiguous: a line lacks its newline, and git would join it with the next"
            )
        found = places(self.image, both.pre, both, self._written)
        if not found:
            return self._not_here(index, hunk, both)
        wanted = max(hunk.new_start - 1, 0) - self._lost
        numbers = self._numbers(found)
        offset, at = self._nearest(found, numbers, wanted)
        also = tuple(
            number + 1 - self._shift(place) for place, number in zip(found, numbers, strict=True) if place != at
        )
        reason = self._ambiguous(both, offset, also)
        self._write(at, both)
        state: HunkState = "conflict" if reason else "applies"
        return HunkVerdict(index, hunk.line, state, offset, reason, also[:SHOWN])

    def _numbers(self, found: Sequence[int]) -> list[int]:
        numbers, line, last = [], 0, 0
        for at in found:
            line += self.image.count(b"\n", last, at)
            last = at
            numbers.append(line)
        return numbers

    @staticmethod
    def _nearest(found: Sequence[int], numbers: Sequence[int], wanted: int) -> tuple[int, int]:
        """Git's choice, as (offset, place): its own line, then the nearest, and of two as near the later one."""
        if len(found) == 1:
            return numbers[0] - wanted, found[0]
        _, _, number, at = min(
            (abs(number - wanted), number < wanted, number, at) for at, number in zip(found, numbers, strict=True)
        )
        return number - wanted, at

    def _ambiguous(self, both: Sides, offset: int, also: Sequence[int]) -> str | None:
        if offset and not both.context:
            return "ambiguous: it has no lines of context (diff -U0), and git would put it where it was not made for"
        if offset and also:
            return f"ambiguous: it fits at {len(also) + 1} places, and none of them is its own line"
        only_removes = both.removes and not both.adds
        if (offset or not only_removes) and stands(self._content, both.post, both) and not self._always_stood(both):
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
        now, before, _ = self._counts(both)
        return now > before

    def _counts(self, both: Sides) -> tuple[int, int, int]:
        """How often the result stands: now, in the base, and in the base with the patch."""
        assert self._base is not None
        if self._patched is None:
            self._patched = judge_hunks(self._base, self._hunks, base=self._base).content or self._base
        now, before, after = (len(places(text, both.post, both)) for text in (self._content, self._base, self._patched))
        return now, before, after

    def _not_here(self, index: int, hunk: Hunk, both: Sides) -> HunkVerdict:
        if not stands(self._content, both.post, both):
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
            return None if self._came_in(both) else "its result stood there before the patch was made"
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

    def _shift(self, place: int) -> int:
        return sum(lines for at, lines in self._shifts if at < place)

    def _write(self, at: int, both: Sides) -> None:
        longer = len(both.post) - len(both.pre)
        end = at + len(both.pre)
        self.image = b"".join((self.image[:at], both.post, self.image[end:]))
        self._written = [(a + longer, b + longer) if a >= end else (a, b) for a, b in self._written]
        self._shifts = [(a + longer, lines) if a >= end else (a, lines) for a, lines in self._shifts]
        self._written.append((at, at + len(both.post)))
        self._shifts.append((at, both.shift))
