"""What a drop does, for people and for machines."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

from regraft.core import document
from regraft.core.drop_values import Change, Drop, Evidence, Mention
from regraft.core.patch_address import in_short
from regraft.render import safe

WIDTH = 2000  # characters of a line that are shown


def drop_lines(drop: Drop, end: str, *, written: bool) -> list[str]:
    """The grounds, the diff, what is left to the reader, and `end`: what became of it. Lines are those of the files as they are."""
    lines = list(_grounds(drop))
    for change in drop.changes:
        lines += diff_lines(change)
    if drop.mentions:
        lines.append("left to you:")
        lines += [_mention(one, one.line if written else one.was) for one in drop.mentions]
    lines += [f"note: {safe.text(one, 1000)}" for one in drop.remarks]
    return [safe.log_line(line) for line in [*lines, end]]


def _grounds(drop: Drop) -> Iterator[str]:
    patch = safe.text(in_short(drop.patch))
    if not drop.proved:
        yield f"WITHOUT PROOF: nothing says that {patch} is needless; an image without it may lack what it does"
    for one in drop.evidence:
        yield f"{patch}: {_evidence(one)}"


def _evidence(one: Evidence) -> str:
    where = f"{one.state} at {safe.text(one.ref)} ({one.called}) of {one.dependency}, in {one.image}"
    return f"{where}; nothing there refers to what it edits" if one.referred is False else where


def diff_lines(change: Change) -> Iterator[str]:
    """A unified diff of one file; of a file that is deleted, its size."""
    path = safe.text(in_short(change.path))
    if change.after is None:
        lines = len(change.before.splitlines())
        yield f"deleted: {path} ({lines} lines)"
        return
    yield f"--- a/{path}"
    yield f"+++ b/{path}"
    old, new = (_lines(one) for one in (change.before, change.after))
    for number, line in enumerate(difflib.unified_diff(old, new, lineterm="", n=3)):
        if number > 1:
            yield safe.text(line, WIDTH)


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    last = lines.pop()
    return [*lines, *([f"{last}\\"] if last else [])]


def _mention(one: Mention, line: int) -> str:
    return f"  {safe.text(one.path)}:{line}:{one.column}: {one.kind}: {safe.text(one.text)}"


def drop_json(drop: Drop, *, written: bool, branch: str | None, commit: str | None) -> str:
    found: dict[str, Any] = {
        "patch": drop.patch,
        "sha256": drop.sha256,
        "proved": drop.proved,
        "evidence": [document.plain(one) for one in drop.evidence],
        "changes": [
            {"path": one.path, "deleted": one.after is None, "lines": [*one.lines], "diff": [*diff_lines(one)]}
            for one in drop.changes
        ],
        "mentions": [document.plain(one) for one in drop.mentions],
        "remarks": [*drop.remarks],
        "uses": [document.plain(one) for one in drop.uses],
        "written": written,
        "branch": branch,
        "commit": commit,
    }
    return json.dumps(found, indent=2)
