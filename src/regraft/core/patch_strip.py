"""Which strip level a patch was made for.

Two sides with different first folders (`a/` and `b/`, `old/` and `new/`) say it themselves. Else the files that the patch edits
decide, by where they exist; files that it creates never do.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from regraft.core.patch_names import is_null, unquote_at, without_stamp
from regraft.core.patch_scan import Raw, Scan
from regraft.core.patch_sections import RefusedHeader, read_section
from regraft.core.patch_text import Remark, Section
from regraft.core.trees import shown

_DEEPEST = 24  # levels that are tried
_PREFIXES = frozenset({b"a", b"b", b"c", b"i", b"o", b"w", b"1", b"2"})  # git's own

Exists = Callable[[bytes], bool]


class Level(Struct, frozen=True):
    """`doubt` is why the level is not certain: the patch cannot be used before somebody declares it."""

    strip: int
    doubt: str | None = None
    remark: Remark | None = None


def find_level(scan: Scan, root: bytes, exists: Exists) -> Level:
    """The level for all sections together."""
    pairs = [_names(scan, raw) for raw in scan.raws]
    said = {level for level in map(_said, pairs) if level is not None}
    deepest = max((name.count(b"/") for pair in pairs for name in pair if name is not None), default=0)
    levels = range(min(deepest, _DEEPEST) + 1)
    if len(said) == 1:
        [level] = said
        needed = _Trial(scan, level, root).needed()
        if not needed or any(map(exists, needed)):
            return Level(level)
        return Level(level, remark=_elsewhere(level, _viable(scan, levels, root), exists))
    return _found(scan, _viable(scan, levels, root), exists)


def _viable(scan: Scan, levels: Iterable[int], root: bytes) -> dict[int, "_Trial"]:
    """The levels under which git takes every name."""
    tried = {strip: _Trial(scan, strip, root) for strip in levels}
    return {strip: trial for strip, trial in tried.items() if trial.sections is not None}


class _Trial:
    """The sections under one level, or None where git refuses one of them."""

    def __init__(self, scan: Scan, strip: int, root: bytes) -> None:
        self.sections: list[Section] | None
        try:
            self.sections = [read_section(scan, raw, strip, root) for raw in scan.raws]
        except RefusedHeader:
            self.sections = None

    def needed(self) -> list[bytes]:
        """Old names of files that must be there."""
        sections = self.sections or ()
        return [one.old_path for one in sections if one.kind != "create" and not one.creates_if_absent]


def _found(scan: Scan, viable: dict[int, _Trial], exists: Exists) -> Level:
    if not viable:
        return Level(1)  # which git refuses, and the reader says why
    if not any(trial.needed() for trial in viable.values()):
        if len(viable) == 1:
            return Level(min(viable))
        return Level(min(viable), _undeclared("it only creates files, which do not tell", [*viable]))
    there = {strip: sum(map(exists, trial.needed())) for strip, trial in viable.items()}
    whole = [strip for strip, count in there.items() if count == len(viable[strip].needed()) and _kept(viable, strip)]
    some = [strip for strip, count in there.items() if count and _kept(viable, strip)]
    for levels in (whole, some):
        if len(levels) == 1:
            return Level(levels[0])
        if levels:
            places = ", ".join(f"{shown(_first_there(viable[one], exists))} at level {one}" for one in levels[:3])
            return Level(levels[0], _undeclared(f"there is {places}", levels))
    absolute = any(name is not None and name.startswith(b"/") for raw in scan.raws for name in _names(scan, raw))
    if absolute:
        return Level(
            min(viable), _undeclared("it names absolute paths, and no such file exists at any level", [*viable])
        )
    return Level(min(viable))


def _kept(viable: dict[int, _Trial], strip: int) -> bool:
    """Whether a level leaves more than bare file names. Those exist in many a place, and prove nothing of a deep path."""
    return strip < 2 or any(b"/" in path for path in viable[strip].needed())


def _undeclared(why: str, levels: Sequence[int]) -> str:
    choices = ", ".join(map(str, levels[:6]))
    return f"the strip level is not clear ({why}); declare `strip` for this patch in the manifest: {choices}"


def _first_there(trial: _Trial, exists: Exists) -> bytes:
    return next(path for path in trial.needed() if exists(path))


def _elsewhere(level: int, viable: dict[int, _Trial], exists: Exists) -> Remark | None:
    """No file is where the patch says, and all of them are at another level: somebody may have to declare it."""
    for strip, trial in viable.items():
        needed = trial.needed()
        if strip != level and needed and all(map(exists, needed)):
            sections = trial.sections or [Section(1)]
            message = f"no file that it edits exists at strip level {level}, and {shown(needed[0])} at level {strip}"
            return Remark(sections[0].line, f"{message}: declare `strip` if that one is meant")
    return None


def _names(scan: Scan, raw: Raw) -> tuple[bytes | None, bytes | None]:
    """The old and the new name of a section as written, None for /dev/null."""
    lines = scan.lines
    if raw.git:
        halves = _halves(lines[raw.first][len(b"diff --git ") :])
        if halves is not None:
            return halves
    sides: list[bytes | None] = [None, None]
    for at in range(raw.first, raw.hunks_at):
        for side, mark in enumerate((b"--- ", b"+++ ")):
            if lines[at].startswith(mark) and not is_null(lines[at][4:]):
                sides[side] = without_stamp(lines[at][4:])
    return sides[0], sides[1]


def _halves(text: bytes) -> tuple[bytes, bytes] | None:
    """The two names of a `diff --git` line, where it is plain where the one ends."""
    text = text.rstrip(b"\r")
    if first := unquote_at(text):
        second = unquote_at(text, first[1] + 1)
        return (first[0], second[0]) if second else None
    parts = text.split(b" ")
    middle = len(parts) // 2
    if len(parts) % 2 or not parts[0]:
        return None
    return b" ".join(parts[:middle]), b" ".join(parts[middle:])


def _said(pair: tuple[bytes | None, bytes | None]) -> int | None:
    """The level that a section's own names tell, or None where they do not."""
    old, new = pair
    if old is None or new is None:
        name = old if new is None else new
        first = name.split(b"/", 1) if name is not None else []
        return 1 if len(first) == 2 and first[0] in _PREFIXES else None
    steps = list(zip(old.split(b"/"), new.split(b"/"), strict=False))
    differ = next((level for level, (one, other) in enumerate(steps) if one != other), None)
    if differ is None or differ + 1 >= min(old.count(b"/"), new.count(b"/")) + 1:
        return None
    if old.split(b"/")[differ + 1 :] == new.split(b"/")[differ + 1 :]:
        return differ + 1
    return 1 if differ == 0 and {steps[0][0], steps[0][1]} <= _PREFIXES else None
