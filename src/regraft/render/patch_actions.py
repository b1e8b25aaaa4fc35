"""Patches at refs as GitHub's runner takes them: an annotation for each that would stop a run, and a table for the summary page."""

from collections.abc import Iterable, Iterator, Sequence

from regraft.core.findings import Finding, Severity
from regraft.core.patch_address import in_short
from regraft.core.patch_health import WORDS, Row
from regraft.render import safe


def row_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """What would stop a run is an error, what can be dropped a note; what applies is nothing."""
    for row in rows:
        if row.state == "applies":
            continue
        do = f"{WORDS[row.advice.action]}: {row.advice.grounds[0]}"
        message = f"{row.state} at {row.ref} ({row.called}) of {row.dependency}, in {row.image}"
        reason = f": {row.reason}" if row.reason else ""
        severity: Severity = "error" if row.stops else "note"
        yield Finding(f"patch-{row.state}", severity, f"{message}{reason}; {do}", in_short(row.patch))


def rows_markdown(rows: Sequence[Row], command: str = "status") -> str:
    """A table for `$GITHUB_STEP_SUMMARY`."""
    md = safe.markdown
    lines = [f"### regraft patch {command}", "", "| state | patch | dependency | image | ref | reason | do |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows:
        names = f"{md(in_short(row.patch))} | {md(row.dependency)} | {md(row.image)} | {md(row.ref)} {row.called}"
        lines.append(f"| {row.state} | {names} | {md(row.reason or '')} | {WORDS[row.advice.action]} |")
    return "\n".join([*lines, "", ""]) if rows else f"### regraft patch {command}\n\nno patches\n\n"
