"""What a refresh does, or what stands in its way."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from regraft.core.drop_values import Change
from regraft.core.patch_address import in_short, is_address
from regraft.core.patch_health import Row
from regraft.core.refreshing import Stuck
from regraft.render import safe
from regraft.render.patch_drop import diff_lines
from regraft.render.patch_rows import at, culprit_json, culprit_text, did


class Refused(Protocol):
    @property
    def row(self) -> Row: ...
    @property
    def reason(self) -> str: ...
    @property
    def stuck(self) -> tuple[Stuck, ...]: ...


class Refresh(Protocol):
    @property
    def rows(self) -> tuple[Row, ...]: ...
    @property
    def refused(self) -> Sequence[Refused]: ...
    @property
    def change(self) -> Change | None: ...
    @property
    def moved(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def pinned(self) -> bool: ...


def refresh_lines(found: Refresh, *, written: bool) -> Iterator[str]:
    """The diff of the patch file, or each conflict with who made it; then what became of it."""
    for one in found.refused:
        yield from (safe.log_line(line) for line in _refused(one))
    yield from (safe.log_line(f"{old} is {new} now") for old, new in found.moved if found.change)
    if found.change is not None:
        yield from (safe.log_line(line) for line in diff_lines(found.change))
        if found.pinned and not is_address(found.change.path):
            yield "note: the manifest pins the old bytes; put the new sha256 there"
        yield f"{safe.text(in_short(found.change.path))}: {_end(found.change, written=written)}"
    elif found.refused:
        yield "nothing was written"
    else:
        yield f"{safe.text(in_short(found.rows[0].patch))}: nothing to refresh, it fits at its own lines"


def _end(change: Change, *, written: bool) -> str:
    if is_address(change.path):
        instead = "put the new text into a file of the project, and list that in its place"
        return f"it stands at an address, where nothing can be written: {instead}"
    return "refreshed" if written else "would be refreshed; nothing was written"


def _refused(one: Refused) -> Iterator[str]:
    row = one.row
    yield f"{in_short(row.patch)}: {row.state} at {at(row)} of {row.dependency}, in {row.image}: {one.reason}"
    if row.culprit is not None:
        yield f"  since {culprit_text(row.culprit)}"
        if what := did(row.culprit):
            yield f"    {what}"
    for stuck in one.stuck:
        yield f"  {_text(stuck.path)}: {stuck.reason}"
        if stuck.base or stuck.ours or stuck.theirs:
            sides = (
                ("<<<<<<< upstream", stuck.ours),
                ("||||||| made on", stuck.base),
                ("======= the patch", stuck.theirs),
            )
            for head, lines in sides:
                yield f"    {head}"
                yield from (f"    {_text(line)}" for line in lines)
            yield "    >>>>>>>"


def refresh_json(found: Refresh, *, written: bool) -> str:
    change = found.change
    document: dict[str, Any] = {
        "patch": found.rows[0].patch,
        "written": written,
        "diff": [*diff_lines(change)] if change else [],
        "moved": [{"from": old, "to": new} for old, new in found.moved],
        "refused": [_refused_json(one) for one in found.refused],
    }
    return json.dumps(document, indent=2)


def _refused_json(one: Refused) -> dict[str, Any]:
    row = one.row
    return {
        "image": row.image,
        "dependency": row.dependency,
        "ref": row.ref,
        "commit": None if row.release else row.commit,
        **({"release": row.release} if row.release else {}),
        "state": row.state,
        "reason": one.reason,
        "culprit": culprit_json(row.culprit) if row.culprit else None,
        "conflicts": [
            {
                "path": _text(stuck.path),
                "reason": stuck.reason,
                "base": [*map(_text, stuck.base)],
                "upstream": [*map(_text, stuck.ours)],
                "patch": [*map(_text, stuck.theirs)],
            }
            for stuck in one.stuck
        ],
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
