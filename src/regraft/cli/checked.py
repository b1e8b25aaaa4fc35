"""What a command that checks has found: for people or machines, and for the page of a run in GitHub Actions."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from regraft import __version__

if TYPE_CHECKING:
    from regraft.core.findings import Finding


FORMATS = ("text", "json", "sarif", "github")


class Checked(Protocol):
    """`looked_at` is how many there were of what was looked at, by its name."""

    @property
    def findings(self) -> "Sequence[Finding]": ...

    @property
    def looked_at(self) -> Mapping[str, int]: ...

    @property
    def failed(self) -> bool: ...


class Sources(NamedTuple):
    """What SARIF has beside the findings: what each rule is about, the files that findings are in, by their paths, and what
    paths of the repository begin with, which it leaves out.
    """

    rules: Mapping[str, str] = MappingProxyType({})
    texts: Mapping[str, bytes] = MappingProxyType({})
    top: str = ""


_NO_SOURCES = Sources()


def hand_out(checked: Checked, command: str, form: str, sources: Sources = _NO_SOURCES) -> int:
    """Print it as `form` (one of FORMATS) says, with annotations and a summary in Actions. The exit code: 1 where it failed."""
    from regraft.render import actions  # noqa: PLC0415 - `--help` pays for nothing
    from regraft.render import findings as render  # noqa: PLC0415

    summary = render.looked_at_text(checked.looked_at, checked.findings)
    match form:
        case "json":
            found = {"findings": render.findings_json(checked.findings), "checked": checked.looked_at}
            print(json.dumps(found, indent=2))
        case "sarif":
            from regraft.render.sarif import sarif  # noqa: PLC0415 - only who asks for it pays for it

            print(sarif(checked.findings, __version__, *sources))
        case "github":
            print(actions.finding_annotations(checked.findings), end="")
        case _:
            print("\n".join(filter(None, (render.findings_text(checked.findings), summary))))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from regraft.adapters import files  # noqa: PLC0415

        if form != "github":
            print(actions.finding_annotations(checked.findings), end="", file=sys.stderr)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            text = f"### regraft {command}\n\n{render.findings_markdown(checked.findings)}\n{summary}\n"
            files.append(Path(path), text.encode())
    return 1 if checked.failed else 0
