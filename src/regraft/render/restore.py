"""What a restore did, for people and for machines."""

import json

from regraft.core.restored import Outcome, Restored
from regraft.render import safe

SHOWN = 20  # of what is newer, for people
LISTED = 1000  # for machines

_SAID: dict[Outcome, str] = {
    "nothing": "nothing to restore: no apply left anything to give back here",
    "unchanged": "nothing to give back: the apply ended before it changed the image",
    "given-back": "the baseline is back",
    "incomplete": "the baseline is back, but for what is listed here; run it again when that is mended, or make the image anew",
    "no-snapshot": "the image was changed and is to be thrown away",
    "forgotten": "what was left to give back is forgotten; the image stays as it is",
}


def restored_lines(restored: Restored) -> list[str]:
    journal = restored.journal
    lines = [safe.log_line(line) for line in restored.named]
    kept = restored.kept
    if kept.paths:
        lines.append(f"made or changed since the apply, and taken away: {len(kept.paths)} files")
        lines += [safe.log_line(f"  {path}") for path in kept.paths[:SHOWN]]
        lines += [f"  and {len(kept.paths) - SHOWN} more"] if len(kept.paths) > SHOWN else []
        lines.append(safe.log_line(f"  their copies are in {kept.folder}"))
    lines.append(_SAID[restored.outcome])
    if journal is not None:
        lines.append(
            f"  it was the apply of plan {safe.text(journal.plan, 12)} for {safe.text(journal.image)}, begun {safe.text(journal.started)}"
        )
    return lines


def restored_json(restored: Restored) -> str:
    journal = restored.journal
    document = {
        "outcome": restored.outcome,
        "ok": restored.whole,
        "plan": journal.plan if journal else None,
        "image": journal.image if journal else None,
        "not_given_back": [*restored.named],
        "newer_than_apply": {
            "count": len(restored.kept.paths),
            "paths": [*restored.kept.paths[:LISTED]],
            "copies": restored.kept.folder or None,
        },
    }
    return json.dumps(document, indent=2)
