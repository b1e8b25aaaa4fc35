"""What was made or changed after an apply had ended, and would be lost with what the apply made."""

from collections.abc import Iterable, Iterator, Sequence

from regraft.core.journal import Subject
from regraft.core.observation import Checkout, Difference, DifferenceKind
from regraft.core.patterns import regex
from regraft.core.tree_record import Change, ChangeKind, Record, changes, clean, difference, is_at_or_below

_ASKED = frozenset({"index", "FETCH_HEAD", "ORIG_HEAD"})  # git writes them where it is only asked something
_OURS = regex(r"(?s)\.regraft-[0-9a-f]{12}-.*")  # half a file or folder, of a restore that was killed

_EDITS: dict[ChangeKind, tuple[DifferenceKind, str]] = {
    "new": ("modified", "it was added"),
    "gone": ("missing", "it was removed"),
    "type": ("type", "it became something else"),
    "mode": ("mode", "it can be executed now, or cannot any more"),
    "content": ("modified", "its content is another"),
    "target": ("modified", "it leads elsewhere"),
    "touched": ("modified", "it was written or replaced"),
}


def candidates(left: Record, now: Record) -> tuple[Change, ...]:
    """What is not as the apply left it. A folder counts by what is in it; owners, and permissions but for the right to
    execute, are nobody's work.
    """
    return tuple(change for change in changes(left, now) if _counts(change, left, now))


def _counts(change: Change, left: Record, now: Record) -> bool:
    old, new = left.entries.get(change.path), now.entries.get(change.path)
    if change.kind == "mode":
        return old is not None and new is not None and bool((old.mode ^ new.mode) & 0o111) and new.kind != "folder"
    one = new or old
    return change.kind == "type" or (change.kind != "owner" and one is not None and one.kind != "folder")


def newer(base: Record, now: Record, found: Iterable[Change], roots: Sequence[Subject]) -> Iterator[Change]:
    """Those of the candidates that are not as in the baseline either: a restore that was killed may have given it back."""
    repositories = [one.path for one in roots if one.kind == "git-dir"]
    for change in found:
        old, new = base.entries.get(change.path), now.entries.get(change.path)
        is_given_back = old is new if old is None or new is None else difference(old, new, base.since) is None
        if not is_given_back and not _is_nobodys(change.path, repositories):
            yield change


def _is_nobodys(path: str, repositories: Sequence[str]) -> bool:
    """Byte code, which any import makes; what git notes where it is only asked; and what a killed regraft leaves."""
    name = path.rpartition("/")[2]
    asked = name in _ASKED and ("/.git/" in path or any(is_at_or_below(path, one) for one in repositories))
    return asked or "/__pycache__/" in path or any(map(_OURS.fullmatch, path.split("/")))


def edits(found: Sequence[Change], checkout: Checkout) -> tuple[Difference, ...]:
    """The tracked files of a checkout among them. Where git cannot be asked any more, all that the apply had left."""
    edited = []
    for change in found:
        path = clean(change.path)
        if path == checkout.real or not is_at_or_below(path, checkout.real):
            continue
        inner = path[len(checkout.real.rstrip("/")) + 1 :]
        unknown = checkout.state != "repository" and change.kind != "new" and not inner.startswith(".git/")
        if inner in checkout.tracked or unknown:
            kind, detail = _EDITS[change.kind]
            edited.append(Difference(inner, kind, f"{detail} since the apply"))
    return tuple(edited)
