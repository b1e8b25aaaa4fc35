"""Findings of any check, for people and for machines."""

from collections.abc import Iterable, Mapping
from typing import Any

from regraft.core import document
from regraft.core.findings import Finding
from regraft.render import safe


def findings_text(findings: Iterable[Finding]) -> str:
    """A line per finding, its witnesses and its mend below it; empty where there are none."""
    lines = []
    for one in findings:
        place = ":".join(str(part) for part in (safe.text(one.path), one.line, one.column) if part is not None)
        lines.append(safe.log_line(f"{place}: {one.severity}: {safe.text(one.message, 1000)} [{one.rule}]"))
        for witness in one.witnesses:
            line = f":{witness.line}" if witness.line is not None else ""
            lines.append(f"  | {safe.text(witness.path)}{line}: {safe.text(witness.message)}")
        if one.fix:
            lines.append(f"  -> {safe.text(one.fix)}")
    return "\n".join(lines)


def findings_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The one shape of findings in JSON: {rule, severity, confidence, path, line, column, message, witnesses, fix}."""
    plain = map(document.plain, findings)
    return [{key: one[key] for key in _KEYS} for one in plain]


def findings_markdown(findings: Iterable[Finding]) -> str:
    """A list for the step summary; empty where there are none."""
    return "".join(
        f"- **{one.severity}** {safe.markdown(one.path)}{f' line {one.line}' if one.line else ''}: "
        f"{safe.markdown(one.message, 1000)} ({safe.markdown(one.rule)})\n"
        for one in findings
    )


def looked_at_text(looked_at: Mapping[str, int], findings: Iterable[Finding]) -> str:
    """One line that says what was judged and with what result, zeros included."""
    severities = [one.severity for one in findings]
    judged = ", ".join(f"{word} {count}" for word, count in looked_at.items())
    found = ", ".join(f"{word}s {severities.count(word)}" for word in ("error", "warning", "note"))
    return f"checked: {judged}; found: {found}"


_KEYS = ("rule", "severity", "confidence", "path", "line", "column", "message", "witnesses", "fix")
