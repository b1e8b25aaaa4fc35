"""What a restore did, for people and for machines."""

import json

from regraft.core.restored import Outcome, Restored
from regraft.render import safe

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
    }
    return json.dumps(document, indent=2)
