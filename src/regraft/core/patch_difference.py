"""What two texts of one patch do differently, in a line."""

from collections import Counter
from collections.abc import Sequence

from regraft.core.patch_read import read_patch_text
from regraft.core.patch_text import Section
from regraft.core.trees import shown

SHOWN = 3

Change = tuple[bytes, tuple[bytes, ...]]
"""The path that a hunk changes, and the lines that it adds and removes, in their order."""


def difference(ours: bytes, theirs: bytes, here: str, there: str) -> str:
    """Which hunks only one of them has, by what they add and remove; `here` and `there` name the two.

    Where one cannot be read as a diff it is counted by lines.
    """
    mine, other = _changes(ours), _changes(theirs)
    if mine is None or other is None:
        first, second = Counter(ours.split(b"\n")), Counter(theirs.split(b"\n"))
        return f"{(first - second).total()} lines stand only at {here}, {(second - first).total()} only at {there}"
    same = (mine & other).total()
    said = [f"{same} hunk{'s are' if same != 1 else ' is'} the same"]
    said += [f"only at {name}: {_told(only)}" for name, only in ((here, mine - other), (there, other - mine)) if only]
    if len(said) == 1:
        return "they change the same lines, with other context, places or words around them"
    return "; ".join(said if same else said[1:])


def _changes(data: bytes) -> Counter[Change] | None:
    text = read_patch_text(data, exists=lambda _: False)
    if text.problems:
        return None
    return Counter(one for section in text.sections for one in _of(section))


def _of(section: Section) -> Sequence[Change]:
    """What is no hunk (a mode, a rename, binary content) counts as one that changes nothing but itself."""
    whole = (
        section.kind.encode(),
        *(str(one).encode() for one in (section.new_mode, section.old_oid, section.new_oid)),
    )
    hunks = [(section.path, tuple(line for line in hunk.body if line[:1] in (b"+", b"-"))) for hunk in section.hunks]
    return hunks or [(section.path, whole)]


def _told(changes: Counter[Change]) -> str:
    said = []
    for path, lines in list(changes.elements())[:SHOWN]:
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in (b"+", b"-"))
        said.append(f"{shown(path)} (+{added} -{removed})")
    more = changes.total() - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "")
