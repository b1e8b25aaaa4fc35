"""Exact replacements and anchors against one file: which apply, and where; which are there already; what the file then holds.

Replacements are judged in their order, each on what the earlier ones leave, and anchors on what all of them leave. Whether a new
text is there already is looked up in the file as it was given. What `applies` is proved by a second look: once made, every
replacement must be seen as there.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Literal

from msgspec import Struct

from regraft.core.hunk_state import HunkVerdict
from regraft.core.patch_text import Substitution
from regraft.core.plan import PatchState
from regraft.core.substitution_near import nearest_text

SHOWN = 5
MOST = 2_000  # places of one text

REMOVES = "it only takes text away, so that nothing shows whether it was there"
UNTOLD = (
    "ambiguous: once made, it could not be told from what else stands there; take more of the text around it into both"
)


class SubstitutedVerdict(Struct, frozen=True):
    """`content` is what the file holds then, where it applies. `watches`: it has anchors, and each is there."""

    state: PatchState
    reason: str | None
    hunks: tuple[HunkVerdict, ...]
    content: bytes | None = None
    watches: bool = False


def judge_substitutions(content: bytes, entries: Sequence[Substitution]) -> SubstitutedVerdict:
    """Of anchors alone, which change nothing, the state is `applies`; beside replacements that are there already they do not count."""
    hunks, made = _judged(content, entries)
    state = _state(hunks, entries)
    if state == "applies":
        hunks = _told(hunks, entries, made)
        state = _state(hunks, entries)
    watches = state != "conflict" and any(one.is_anchor for one in entries)
    content_then = made if state == "applies" else None
    return SubstitutedVerdict(state, _reason(state, hunks, entries), tuple(hunks), content_then, watches)


def _state(hunks: Sequence[HunkVerdict], entries: Sequence[Substitution]) -> PatchState:
    if any(hunk.state == "conflict" for hunk in hunks):
        return "conflict"
    states = {hunk.state for hunk, one in zip(hunks, entries, strict=True) if not one.is_anchor}
    if len(states) == 2:
        return "partial"
    return "already-there" if states == {"already-there"} else "applies"


def _judged(content: bytes, entries: Sequence[Substitution]) -> tuple[list[HunkVerdict], bytes]:
    """A verdict for each, and the text with those that apply."""
    text = content
    found: dict[int, HunkVerdict] = {}
    for number, one in enumerate(entries):
        if not one.is_anchor:
            found[number], text = _replaced(number + 1, one, text, content)
    if any(verdict.state == "conflict" for verdict in found.values()):
        found.update(_landed_below(content, entries, found))
    found.update((number, _anchored(number + 1, one, text)) for number, one in enumerate(entries) if one.is_anchor)
    return [found[number] for number in range(len(entries))], text


def _landed_below(
    content: bytes, entries: Sequence[Substitution], verdicts: dict[int, HunkVerdict]
) -> dict[int, HunkVerdict]:
    """Those that do not show because later ones, which are there, changed what they made: looked for from the end."""
    found: dict[int, HunkVerdict] = {}
    under = content
    for number in sorted(verdicts, reverse=True):
        one = entries[number]
        verdict, _ = _replaced(number + 1, one, under, under)
        if verdict.state != "already-there":
            continue
        if verdicts[number].state == "conflict":
            found[number] = verdict
        under = _with(under, _made(under, one), one.new, one.old)
    return found


def _told(hunks: Sequence[HunkVerdict], entries: Sequence[Substitution], made: bytes) -> list[HunkVerdict]:
    """The verdicts, where a second run would not say of a replacement that it is there: that one as a conflict.

    Of one that only takes text away it is enough that it would not apply again.
    """
    again, _ = _judged(made, entries)
    said = []
    for hunk, then, one in zip(hunks, again, entries, strict=True):
        wanted = then.state != "applies" if one.new in one.old else then.state == "already-there"
        said.append(hunk if wanted or one.is_anchor else _conflict(hunk.index, one, UNTOLD))
    return said


def _replaced(index: int, one: Substitution, text: bytes, given: bytes) -> tuple[HunkVerdict, bytes]:
    """The verdict on a replacement, and the text after it."""
    if len(_places(text, one.old)) > MOST:
        return _conflict(index, one, f"ambiguous: its old text stands at more than {MOST} places"), text
    old, removes = _free(text, one.old, one.new), one.new in one.old
    new = [] if removes else _made(given, one)
    if len(old) == one.count and not _overlap(old, len(one.old)):
        if new:
            lines = _lines(given, new)
            return _conflict(index, one, f"ambiguous: its new text stands there as well ({lines})"), text
        return _at(index, one, "applies", text, old), _with(text, old, one.old, one.new)
    if old:
        return _conflict(index, one, _too_many(one, text, old, new)), text
    if removes:
        return _conflict(index, one, f"{nearest_text(one.old, text)}; {REMOVES}"), text
    if len(new) == one.count:
        return _at(index, one, "already-there", given, new), text
    if new:
        why = f"ambiguous: its old text is nowhere, and its new one stands at {len(new)} places ({_lines(given, new)})"
        return _conflict(index, one, why), text
    return _conflict(index, one, nearest_text(one.old, text)), text


def _anchored(index: int, one: Substitution, text: bytes) -> HunkVerdict:
    found = _places(text, one.old)
    if len(found) == 1:
        return _at(index, one, "applies", text, found)
    if found:
        return _conflict(index, one, f"ambiguous: it stands at {len(found)} places ({_lines(text, found)})")
    return _conflict(index, one, nearest_text(one.old, text))


def _too_many(one: Substitution, text: bytes, old: Sequence[int], new: Sequence[int]) -> str:
    places = "place" if len(old) == 1 else "places"
    wanted = "one is expected" if one.count == 1 else f"{one.count} are declared"
    beside = f", and its new text at {len(new)}" if new else ""
    overlap = " that overlap" if _overlap(old, len(one.old)) else ""
    return f"ambiguous: its old text stands at {len(old)} {places}{overlap}{beside} ({_lines(text, old)}); {wanted}"


def _at(
    index: int, one: Substitution, state: Literal["applies", "already-there"], text: bytes, places: Sequence[int]
) -> HunkVerdict:
    lines = [text.count(b"\n", 0, at) + 1 for at in places[: SHOWN + 1]]
    return HunkVerdict(index, one.line, state, None, None, tuple(lines[1:]), place=lines[0])


def _conflict(index: int, one: Substitution, reason: str) -> HunkVerdict:
    return HunkVerdict(index, one.line, "conflict", None, reason)


def _places(text: bytes, piece: bytes) -> list[int]:
    """Every offset where it stands, those that overlap too; of more than `MOST` no more are looked for."""
    found: list[int] = []
    at = text.find(piece) if piece else -1
    while at >= 0 and len(found) <= MOST:
        found.append(at)
        at = text.find(piece, at + 1)
    return found


def _free(text: bytes, piece: bytes, other: bytes) -> list[int]:
    """The places of a text without those within the other one, where that contains it."""
    found = _places(text, piece)
    if piece not in other or not found:
        return found
    others, room = _places(text, other), len(other) - len(piece)
    return [at for at in found if bisect_right(others, at) == bisect_left(others, at - room)]


def _made(text: bytes, one: Substitution) -> list[int]:
    """The places of its new text, where what it changes does not go on as a longer word: 30 is not in 300."""
    both = list(zip(one.old, one.new, strict=False))
    begin = next((at for at, (old, new) in enumerate(both) if old != new), len(both))
    ends = zip(reversed(one.old[begin:]), reversed(one.new[begin:]), strict=False)
    open_end = any(old == new for old, new in islice(ends, 1))
    return [
        at
        for at in _places(text, one.new)
        if (begin or not _within_word(text, at)) and (open_end or not _within_word(text, at + len(one.new)))
    ]


def _within_word(text: bytes, at: int) -> bool:
    return 0 < at < len(text) and all(
        chr(byte).isalnum() or byte in b"_" or byte > 127 for byte in text[at - 1 : at + 1]
    )


def _overlap(places: Sequence[int], length: int) -> bool:
    return any(later - at < length for at, later in pairwise(places))


def _with(text: bytes, places: Sequence[int], old: bytes, new: bytes) -> bytes:
    pieces: list[bytes] = []
    end = 0
    for at in places:
        pieces += (text[end:at], new)
        end = at + len(old)
    return b"".join((*pieces, text[end:]))


def _lines(text: bytes, places: Sequence[int]) -> str:
    lines = [str(text.count(b"\n", 0, at) + 1) for at in places[:SHOWN]]
    more = ", …" if len(places) > SHOWN else ""
    return f"line{'s' if len(places) > 1 else ''} {', '.join(lines)}{more}"


def _reason(state: PatchState, hunks: Sequence[HunkVerdict], entries: Sequence[Substitution]) -> str | None:
    """What decided: the entry that does not fit, by its place in the file that declares it."""
    if state == "partial":
        there = [str(hunk.index) for hunk in hunks if hunk.state == "already-there"]
        shown = ", ".join(there[:SHOWN]) + (", …" if len(there) > SHOWN else "")
        return f"entry {shown} of {len(hunks)} is there already, the others still fit"
    failing = [hunk for hunk in hunks if hunk.state == "conflict"]
    if not failing:
        return None
    clear = [hunk for hunk in failing if not (hunk.reason or "").startswith("ambiguous")]
    worst = (clear or failing)[0]
    word = "anchor" if entries[worst.index - 1].is_anchor else "replacement"
    place = f"{word}, entry {worst.index} of {len(hunks)}, declared in line {worst.line}"
    if not clear:
        return f"{worst.reason} ({place})"
    more = f"; {len(failing) - 1} more do not fit either" if len(failing) > 1 else ""
    return f"{worst.reason} ({place}){more}"
