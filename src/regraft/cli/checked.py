"""What a command that checks has found: for people or machines, and for the page of a run in GitHub Actions."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from regraft.core.findings import Finding


class Checked(Protocol):
    """`looked_at` is how many there were of what was looked at, by its name."""

    @property
    def findings(self) -> "Sequence[Finding]": ...

    @property
    def looked_at(self) -> Mapping[str, int]: ...

    @property
    def failed(self) -> bool: ...


def hand_out(checked: Checked, command: str, form: str) -> int:
    """Print it as `form` (text, json) says, with annotations and a summary in Actions. The exit code: 1 where it failed."""
    from regraft.render import findings as render  # noqa: PLC0415 - `--help` pays for nothing

    summary = render.looked_at_text(checked.looked_at, checked.findings)
    if form == "json":
        print(json.dumps({"findings": render.findings_json(checked.findings), "checked": checked.looked_at}, indent=2))
    else:
        print("\n".join(filter(None, (render.findings_text(checked.findings), summary))))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from regraft.adapters import files  # noqa: PLC0415
        from regraft.render import actions  # noqa: PLC0415

        print(actions.finding_annotations(checked.findings), end="", file=sys.stderr)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            text = f"### regraft {command}\n\n{render.findings_markdown(checked.findings)}\n{summary}\n"
            files.append(Path(path), text.encode())
    return 1 if checked.failed else 0
