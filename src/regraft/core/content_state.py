"""The content of one file against what a patch changes in it: hunk by hunk, or as a whole where it is binary."""

from collections.abc import Sequence

from msgspec import Struct

from regraft.core import three_way
from regraft.core.binary_patch import apply_part
from regraft.core.checkout_tree import object_hash
from regraft.core.contained import contained
from regraft.core.hunk_places import sides
from regraft.core.hunk_state import HunksVerdict, HunkVerdict, judge_hunks
from regraft.core.merged import SAID, by_merge, merged
from regraft.core.patch_text import Section
from regraft.core.plan import PatchState
from regraft.core.removal import lives_on
from regraft.core.tree_view import View, oid_of
from regraft.core.trees import SUBMODULE, Entry

SHOWN = 5
LEAST_DIGITS = 7


class ContentVerdict(Struct, frozen=True):
    """`content` is the result where it applies; `taken` what git makes of it where git takes it.

    `base` is the full name of the blob from which a three-way merge made it.
    """

    state: PatchState
    reason: str | None = None
    content: bytes | None = None
    taken: bytes | None = None
    hunks: tuple[HunkVerdict, ...] = ()
    base: str | None = None


def judge_content(  # noqa: PLR0913 - one file, and how it is to be judged
    section: Section,
    content: bytes,
    entry: Entry | None,
    view: View,
    bare: Sequence[int] = (),
    *,
    merges: bool = False,
) -> ContentVerdict:
    """`content` is what stands there now, of `entry` (None: of a file that does not exist yet).

    With `merges`, what does not fit exactly applies where a three-way merge from its base is clean.
    """
    if section.binary is not None:
        return _binary(section, content, entry, view)
    if not section.hunks:
        return ContentVerdict("applies", None, content, content)
    if entry is not None and entry.mode == SUBMODULE and _moved_on(section, content):
        return ContentVerdict("already-there", hunks=(HunkVerdict(1, section.hunks[0].line, "already-there"),))
    verdict = judge_hunks(content, section.hunks)
    note = base = None
    if verdict.state != "applies" and (base := _base(section, content, entry, view)) is not None:
        verdict = judge_hunks(content, section.hunks, base=base)
        verdict, note = _with_base(verdict, section, content, base)
    reason = note or _reason(verdict, section, bare)
    if merges and verdict.state not in ("applies", "already-there"):
        return _merging(section, content, verdict, base, reason or "", view)
    return ContentVerdict(verdict.state, reason, verdict.content, verdict.taken, verdict.hunks)


def _moved_on(section: Section, content: bytes) -> bool:
    """Whether a submodule is at the commit that the patch sets: its one line is all there is, and needs no context."""
    return len(section.hunks) == 1 and sides(section.hunks[0]).post == content != sides(section.hunks[0]).pre


def _merging(  # noqa: PLR0913, PLR0917 - what is known of one file
    section: Section, content: bytes, verdict: HunksVerdict, base: bytes | None, reason: str, view: View
) -> ContentVerdict:
    """What does not fit exactly, and may be merged."""
    made = _no_base(section, view) if base is None else merged(section, content, verdict, base)
    if base is not None and isinstance(made, bytes):
        oid = object_hash("blob", len(base), [base], sha256=view.sha256).hex()
        note = f"it goes on {SAID} with the file that it was made on ({oid[:12]})"
        return ContentVerdict("applies", note, made, None, by_merge(verdict.hunks), oid)
    return ContentVerdict(verdict.state, f"{reason}; {made!s}", verdict.content, verdict.taken, verdict.hunks)


def _no_base(section: Section, view: View) -> str:
    name = section.old_oid or ""
    if len(name) < LEAST_DIGITS or not name.strip("0"):
        return "no index line names the file that it was made on, so that nothing can be merged"
    if view.blob(name) is None:
        return f"cannot decide: blob missing ({name}, which it was made on), so that nothing can be merged"
    return f"it does not fit the file that its index line names ({name}) either, so that nothing can be merged"


def _base(section: Section, content: bytes, entry: Entry | None, view: View) -> bytes | None:
    """The file that the patch was made on, by the index line; None where that is not here, or the hunks do not fit it."""
    name = section.old_oid or ""
    if len(name) < LEAST_DIGITS or not name.strip("0"):
        return None
    here = entry is not None and oid_of(view, entry).startswith(name)
    base = content if here else view.blob(name)
    if base is None:
        return None
    made = judge_hunks(base, section.hunks, base=base)
    honest = made.state == "applies" and not any(hunk.offset for hunk in made.hunks)
    return base if honest else None


def _with_base(verdict: HunksVerdict, section: Section, content: bytes, base: bytes) -> tuple[HunksVerdict, str | None]:
    """The proofs that need the base: the three-way result is what stands there, or a larger change contains the hunk."""
    if verdict.state in ("applies", "already-there") or base is content:
        return verdict, None
    theirs = judge_hunks(base, section.hunks, base=base).content
    whole = theirs is not None and theirs != base and three_way.merge(base, content, theirs) == content
    if whole:
        proved = frozenset(number for number, hunk in enumerate(section.hunks) if not lives_on(hunk, content))
        said = "a three-way merge with the file that it was made on changes nothing"
    else:
        larger = contained(base, content, section.hunks)
        proved = frozenset(number for number in larger if verdict.hunks[number].state == "conflict")
        said = "a larger change contains it"
    hunks = tuple(_there(hunk) if number in proved else hunk for number, hunk in enumerate(verdict.hunks))
    changed = HunksVerdict(hunks, None, verdict.taken)
    if changed.state == "already-there":
        return changed, said
    # Where git takes all of it, a part that is there already makes it ambiguous.
    return (changed if verdict.taken is None else verdict), None


def _there(hunk: HunkVerdict) -> HunkVerdict:
    return HunkVerdict(hunk.index, hunk.line, "already-there")


def _reason(verdict: HunksVerdict, section: Section, bare: Sequence[int]) -> str | None:
    if verdict.state == "partial":
        there = [str(hunk.index) for hunk in verdict.hunks if hunk.state == "already-there"]
        return f"hunk {_some(there)} of {len(verdict.hunks)} is there already, the others still fit"
    failing = [hunk for hunk in verdict.hunks if hunk.state == "conflict"]
    if not failing:
        return None
    clear = [hunk for hunk in failing if not (hunk.reason or "").startswith("ambiguous")]
    worst = (clear or failing)[0]
    hunk = section.hunks[worst.index - 1]
    place = f"hunk {worst.index} of {len(verdict.hunks)}"
    lost = _stripped(section, worst.index, bare)
    if not clear:
        return f"{worst.reason} ({place}, line {hunk.start} of the file)"
    more = f"; {len(failing) - 1} more do not fit either" if len(failing) > 1 else ""
    return f"{place} does not fit (line {hunk.start} of the file); {worst.reason}{lost}{more}"


def _stripped(section: Section, index: int, bare: Sequence[int]) -> str:
    """An editor or a hook that takes trailing blanks away turns an empty line of context into nothing."""
    hunk = section.hunks[index - 1]
    lines = [str(line) for line in bare if hunk.line < line <= hunk.line + len(hunk.body)]
    return f"; lines {_some(lines)} of the patch lost their trailing blank" if lines else ""


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:SHOWN]) + (", …" if len(texts) > SHOWN else "")


def _binary(section: Section, content: bytes, entry: Entry | None, view: View) -> ContentVerdict:
    """By the full names of the index line, as git does: nothing but the very same content will do."""
    old, new = section.old_oid or "", section.new_oid or ""
    length = 64 if view.sha256 else 40
    if len(old) != length or len(new) != length:
        return ContentVerdict("conflict", "it is binary, and its index line has no full names, which git needs")
    now = oid_of(view, entry) if entry is not None else None
    if now == new:
        return ContentVerdict("already-there")
    if now is not None and now != old:
        return ContentVerdict(
            "conflict", "it is binary, and what stands there is neither the old content nor the new one"
        )
    result = _binary_result(section, content, new, view)
    if result is None:
        return ContentVerdict("conflict", "its binary content does not make the file that its index line names")
    return ContentVerdict("applies", None, result, result)


def _binary_result(section: Section, content: bytes, new: str, view: View) -> bytes | None:
    assert section.binary is not None
    if not new.strip("0"):
        return b""
    try:
        result = apply_part(section.binary.forward, content)
    except ValueError:
        result = None
    if result is not None and object_hash("blob", len(result), [result], sha256=view.sha256).hex() == new:
        return result
    return view.blob(new)  # as git does where it has the new content anyway
