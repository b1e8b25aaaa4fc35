"""Patches at refs, for people and for machines."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from regraft.core.patch_address import in_short
from regraft.core.patch_health import WORDS, HunkState, Remark, Row
from regraft.core.patch_history import Culprit, Turn
from regraft.core.references import Reference, References
from regraft.render import safe

NO_PATCHES = "no patches: the manifest carries none here"
SHOWN = 10
ORDER = ("applies", "already-there", "partial", "conflict", "target-gone", "unreadable")


def status_lines(rows: Sequence[Row], remarks: Iterable[Remark], *, hunks: bool) -> Iterator[str]:
    """A table, a line for each patch at each ref, with what is known below it; then how many there are of each state."""
    if not rows:
        yield NO_PATCHES
        return
    cells = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row, cell in zip(rows, cells, strict=True):
        padded = (text.ljust(width) for text, width in zip(cell, widths, strict=True))
        yield safe.log_line("  ".join(padded).rstrip())
        yield from (safe.log_line(f"  {line}") for line in _below(row, hunks=hunks))
    yield from (safe.log_line(f"note: {one.message}") for one in remarks)
    yield _summary(rows)


def _cells(row: Row) -> tuple[str, str, str, str]:
    place = f"{safe.text(row.dependency)} in {safe.text(row.image)}"
    return row.state, safe.text(in_short(row.patch)), place, at(row)


def at(row: Row) -> str:
    """The ref, and what it leads to; a version that was written in full is both."""
    ref = safe.text(row.ref)
    return ref if row.ref == row.release else f"{ref} ({row.called})"


def _below(row: Row, *, hunks: bool) -> Iterator[str]:
    if row.reason:
        yield row.reason
    if row.culprit is not None and row.state != "applies":
        yield f"since {culprit_text(row.culprit)}"
    if row.advice.action != "nothing" or row.state != "applies":
        yield f"-> {WORDS[row.advice.action]}: {row.advice.grounds[0]}"
    yield from (f"note: {one.message}" for one in row.advice.remarks if one.code == "strip-level")
    if hunks:
        yield from _hunk_lines(row)


def _hunk_lines(row: Row) -> Iterator[str]:
    for one in row.hunks:
        name = f"hunk {one.index}" if one.index is not None else "whole"
        offset = f" (offset {one.offset:+d})" if one.offset else f" (line {one.line})" if one.line else ""
        reason = f": {one.reason}" if one.reason and one.reason not in (row.reason or "") else ""
        yield f"{one.file} {name} {one.state}{offset}{reason}"


def _summary(rows: Sequence[Row]) -> str:
    patches = len({row.patch for row in rows})
    refs = len({(row.dependency, row.commit) for row in rows})
    counts = ", ".join(f"{state} {count}" for state in ORDER if (count := sum(row.state == state for row in rows)))
    word = "release" if all(row.release for row in rows) else "commit"
    return f"{patches} patch{'es' if patches != 1 else ''} at {refs} {word}{'s' if refs != 1 else ''}: {counts}"


def status_json(rows: Iterable[Row]) -> str:
    return json.dumps([_row_json(row) for row in rows], indent=2)


def _row_json(row: Row) -> dict[str, Any]:
    culprit = row.culprit
    return {
        "image": row.image,
        "dependency": row.dependency,
        "patch": row.patch,
        "ref": row.ref,
        "commit": None if row.release else row.commit,
        **({"release": row.release} if row.release else {}),
        "state": row.state,
        "reason": row.reason,
        "hunks": [_hunk_json(one) for one in row.hunks],
        "culprit": _short(culprit) if culprit else None,
        "action": row.advice.action,
    }


def _short(culprit: Culprit) -> dict[str, Any]:
    short = {"commit": culprit.commit, "subject": culprit.subject, "pull": culprit.pull}
    return short | {"commit": None, "release": culprit.release} if culprit.release else short


def culprit_text(culprit: Culprit) -> str:
    """One line: the commit, its day, its subject and the pull request."""
    pull = f" (#{culprit.pull})" if culprit.pull is not None and f"#{culprit.pull}" not in culprit.subject else ""
    through = f", merged by {culprit.through[:12]}" if culprit.through else ""
    if culprit.release:
        return f"release {culprit.release}"
    return f"{culprit.called} {day(culprit.date)} {culprit.subject!r}{pull}{through}"


def did(culprit: Culprit) -> str | None:
    """What the commit did to the file that decided."""
    if culprit.deleted is not None:
        moved = f", and moved it to {culprit.renamed_to}" if culprit.renamed_to else ""
        alike = f" ({culprit.similarity} % alike)" if culprit.renamed_to and culprit.similarity is not None else ""
        return f"it took {culprit.deleted} away{moved}{alike}"
    if culprit.rewrote is not None:
        path, first, last = culprit.rewrote
        return f"it rewrote {path}, line{'s' if last > first else ''} {f'{first} to {last}' if last > first else first}"
    if culprit.retyped is not None:
        return f"it made {culprit.retyped[0]} a {culprit.retyped[1]}"
    return None


def day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def _hunk_json(one: HunkState) -> dict[str, Any]:
    found = {"file": one.file, "index": one.index, "state": one.state, "offset": one.offset}
    return found | ({"line": one.line} if one.line else {})


def history_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Each patch with each change of its state, newest first."""
    if not rows:
        yield NO_PATCHES
    for row in rows:
        yield safe.log_line(f"{safe.text(in_short(row.patch))}: {row.dependency} in {row.image}, {_range(row)}")
        reason = f": {row.reason}" if row.reason else ""
        yield safe.log_line(f"  {row.state} at {at(row)}{reason}")
        for turn in row.turns:
            yield safe.log_line(f"  {turn.before.state} -> {turn.after.state} by {culprit_text(turn.culprit)}")
            if what := did(turn.culprit):
                yield safe.log_line(f"    {what}")
        oldest = row.turns[-1].before.state if row.turns else row.state
        end = "since the beginning of history" if row.reaches else f"before that, as far as {_how_far(row)}"
        yield safe.log_line(f"  {oldest} {end}")


def _how_far(row: Row) -> str:
    if row.lacks:
        return f"the files are here: {row.lacks[:12]} is missing (a partial clone)"
    return f"history goes: it is cut off before {row.cut[:12]} (a shallow clone)" if row.cut else "was looked"


def _range(row: Row) -> str:
    word = "release" if row.release else "first-parent commit"
    return f"{row.commits} {word}{'s' if row.commits != 1 else ''}"


def history_json(rows: Iterable[Row]) -> str:
    found = [
        _row_json(row) | _cut(row) | {"commits": row.commits, "turns": [_turn_json(turn) for turn in row.turns]}
        for row in rows
    ]
    return json.dumps(found, indent=2)


def _cut(row: Row) -> dict[str, Any]:
    """What keeps history from being looked through, if anything does."""
    return ({"cut": row.cut} if row.cut else {}) | ({"lacks": row.lacks} if row.lacks else {})


def _turn_json(turn: Turn) -> dict[str, Any]:
    return {
        "commit": None if turn.by.release else turn.by.commit,
        **({"release": turn.by.release} if turn.by.release else {}),
        "date": turn.by.date,
        "before": turn.before.state,
        "after": turn.after.state,
        "reason": turn.after.reason,
        "culprit": culprit_json(turn.culprit),
    }


def culprit_json(culprit: Culprit) -> dict[str, Any]:
    rewrote, retyped = culprit.rewrote, culprit.retyped
    return _short(culprit) | {
        "date": culprit.date,
        "through": culprit.through,
        "deleted": culprit.deleted,
        "renamed_to": culprit.renamed_to,
        "similarity": culprit.similarity,
        "rewrote": {"path": rewrote[0], "first": rewrote[1], "last": rewrote[2]} if rewrote else None,
        "retyped": {"path": retyped[0], "to": retyped[1]} if retyped else None,
    }


def why_lines(rows: Sequence[Row]) -> Iterator[str]:
    """For each image and ref: the state, who changed it and how, what still refers to it, and what to do."""
    for row in rows:
        yield safe.log_line(f"{in_short(row.patch)}: {row.state} at {at(row)} of {row.dependency}, in {row.image}")
        yield from (safe.log_line(f"  {line}") for line in _why(row))


def _why(row: Row) -> Iterator[str]:
    if row.reason:
        yield f"reason    {row.reason}"
    yield from (f"hunk      {line}" for line in _hunk_lines(row))
    culprit = row.culprit
    if culprit is not None:
        turn = row.turns[0]
        yield f"changed   {turn.before.state} -> {turn.after.state} by {culprit_text(culprit)}"
        if what := did(culprit):
            yield f"          {what}"
    elif row.lacks is not None:
        yield f"changed   nobody knows: never in {_range(row)}, and of the file before that {row.lacks} is missing (a partial clone)"
    elif row.cut is not None:
        yield f"changed   nobody knows: never in {_range(row)}, and history is cut off before {row.cut[:12]} (a shallow clone)"
    else:
        whole = "in all of its history" if row.reaches else f"in {_range(row)}"
        yield f"changed   never, {whole}"
    if row.advice.references is not None:
        yield from _reference_lines(row.advice.references)
    for remark in row.advice.remarks:
        if row.reason is None or remark.message not in row.reason:
            yield f"note      {remark.message}"
    yield f"do        {WORDS[row.advice.action]}"
    yield from (f"          {ground}" for ground in row.advice.grounds)


def _reference_lines(found: References) -> Iterator[str]:
    where, count = "in every file there", len(found.found)
    if found.unsearched:
        where += f" but {found.unsearched} that {'is' if found.unsearched == 1 else 'are'} no text"
    refers = f"{count or 'nothing'} refer{'s' if count < 2 else ''} to it"
    if found.words:
        yield f"looked    for {', '.join(found.words)} {where}: {refers}"
    elif count:
        yield f"looked    for links to it alone, every word was set aside: {refers}"
    else:
        yield "looked    for no word: every one was set aside, so that this shows nothing"
    yield from (f"          {_reference(one)}" for one in found.found[:SHOWN])
    if len(found.found) > SHOWN:
        yield f"          and {len(found.found) - SHOWN} more"
    for one in found.exceptions[:SHOWN]:
        yield f"except    {_reference(one)} ({one.exception})"
    if len(found.exceptions) > SHOWN:
        yield f"except    {len(found.exceptions) - SHOWN} more"
    yield from (f"except    {word!r}: {why}" for word, why in found.left_out)


def _reference(one: Reference) -> str:
    return f"{one.path}:{one.line}: {one.text[:120]}" if one.line else f"{one.path} (its path)"


def why_json(rows: Iterable[Row]) -> str:
    return json.dumps([_why_json(row) for row in rows], indent=2)


def _why_json(row: Row) -> dict[str, Any]:
    references = row.advice.references
    return (
        _row_json(row)
        | _cut(row)
        | {
            "sha256": row.sha256,
            "changed": {"before": row.turns[0].before.state, "after": row.turns[0].after.state} if row.turns else None,
            "culprit": culprit_json(row.culprit) if row.culprit else None,
            "references": _references_json(references) if references else None,
            "grounds": [*row.advice.grounds],
            "notes": [{"code": one.code, "message": one.message} for one in row.advice.remarks],
        }
    )


def _references_json(found: References) -> dict[str, Any]:
    def plain(one: Reference) -> dict[str, Any]:
        return {"path": one.path, "line": one.line, "text": one.text, "kind": one.kind}

    return {
        "words": [*found.words],
        "left_out": [{"word": word, "reason": why} for word, why in found.left_out],
        "found": [plain(one) for one in found.found],
        "exceptions": [plain(one) | {"reason": one.exception} for one in found.exceptions],
        "unsearched": found.unsearched,
    }
