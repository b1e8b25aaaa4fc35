"""Patches of a series that only put back what an earlier one takes away: without that one nothing is left of them."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from regraft.core.patch_text import PatchText, Section
from regraft.core.patch_verdict import PatchVerdict
from regraft.core.patterns import regex
from regraft.core.plan import PatchState
from regraft.core.series_state import FITS

_TELLING = regex(rb"\w{3}")

Change = tuple[tuple[bytes, ...], tuple[bytes, ...]]
"""Lines that are removed, and lines that stand in their place."""


def partners(texts: Sequence[PatchText]) -> dict[int, int]:
    """Of each patch that only takes back an earlier one, or a part of it, that earlier one; by their places in the series."""
    found = {}
    changes = [None if text.problems else _changes(text) for text in texts]
    for later, mine in enumerate(changes):
        if not mine:
            continue
        for earlier in range(later - 1, -1, -1):
            theirs = changes[earlier]
            if theirs and all(_undoes(one, theirs.get(path, ())) for path, ones in mine.items() for one in ones):
                found[later] = earlier
                break
    return found


def _changes(text: PatchText) -> dict[bytes, list[Change]] | None:
    """What a patch does to each path; None where it does more than change lines."""
    found: dict[bytes, list[Change]] = {}
    for section in text.sections:
        plain = section.kind in {"edit", "create", "delete"} and section.binary is None and not section.changes_mode
        if not plain or not section.hunks:
            return None
        found.setdefault(section.path, []).extend(_of_section(section))
    return found


def _of_section(section: Section) -> Iterator[Change]:
    for hunk in section.hunks:
        removed: list[bytes] = []
        added: list[bytes] = []
        for line in (*hunk.body, b" "):
            if line.startswith(b"-"):
                removed.append(line[1:])
            elif line.startswith(b"+"):
                added.append(line[1:])
            elif not line.startswith(b"\\"):
                if removed or added:
                    yield tuple(removed), tuple(added)
                removed, added = [], []


def _undoes(one: Change, others: Sequence[Change]) -> bool:
    """Whether it takes away what one of the others adds, and puts there what that takes away."""
    removed, added = one
    telling = any(_TELLING.search(line) for line in (*removed, *added))
    return telling and any(_within(added, taken) and _within(removed, put) for taken, put in others)


def _within(lines: Sequence[bytes], block: Sequence[bytes]) -> bool:
    size = len(lines)
    return any(tuple(block[at : at + size]) == tuple(lines) for at in range(len(block) - size + 1))


def stuck_pairs(texts: Sequence[PatchText], states: Sequence[PatchState]) -> dict[int, int]:
    """Of `partners`, those of which the earlier one does not fit: nothing is left to be put back."""
    if not any(state not in FITS for state in states[:-1]):
        return {}
    pairs = partners(texts).items()
    return {later: earlier for later, earlier in pairs if states[earlier] not in FITS and states[later] != "applies"}


def together(texts: Sequence[PatchText], verdicts: Sequence[PatchVerdict]) -> tuple[PatchVerdict, ...]:
    """The verdicts on a series, where both say that they belong together: the one that does not fit, and what only takes it back."""
    said = list(verdicts)
    for later, earlier in stuck_pairs(texts, [one.state for one in verdicts]).items():
        back = f"it only puts back what patch {earlier + 1} of the series takes away, and that does not fit"
        said[later] = _saying(said[later], f"{back}: drop both together")
        forth = f"patch {later + 1} of the series only puts back what it takes away"
        said[earlier] = _saying(said[earlier], f"{forth}: drop both together")
    return tuple(said)


def _saying(verdict: PatchVerdict, what: str) -> PatchVerdict:
    return replace(verdict, reason=f"{verdict.reason}; {what}" if verdict.reason else what)
