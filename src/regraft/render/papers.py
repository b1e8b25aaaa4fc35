"""Plans, receipts and baselines as people read them, and what differs between two."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from regraft.core.baseline import Baseline
from regraft.core.papers import Change, Paper
from regraft.core.plan import Plan
from regraft.core.receipt import Receipt
from regraft.render import safe
from regraft.render.plan import finding_lines, note_lines, plan_lines


class Commits(Protocol):
    """What lies between two pins: (hash, subject), newest first."""

    @property
    def commits(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def known(self) -> bool: ...
    @property
    def diverged(self) -> bool: ...


def paper_lines(paper: Paper) -> Iterator[str]:
    """One document, a line each, safe to print."""
    match paper:
        case Plan():
            yield "plan"
            yield from plan_lines(paper)
        case Receipt():
            yield from receipt_lines(paper)
        case Baseline():
            yield f"baseline of {safe.text(paper.image)} ({safe.text(paper.reference or 'a lane of checkouts')})"
            for name, held in paper.dependencies.items():
                yield f"  {safe.text(name)}: commit {held.commit or 'unknown'}, tree {held.tree or 'unknown'}"
            yield f"  {len(paper.environment)} distributions, Python {safe.text(paper.python or 'unknown')}"


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """What was planned and what was found, per dependency, then the verdict."""
    yield f"receipt of {safe.text(receipt.image.name)}, plan {receipt.plan[:12]}"
    for name, found in receipt.dependencies.items():
        yield f"  {safe.text(name)}: {found.planned.action}"
        yield f"    planned   commit {found.planned.commit or 'unknown'} tree {found.planned.tree or 'unknown'}"
        yield f"    before    commit {found.before.commit or 'unknown'} tree {found.before.tree or 'unknown'}"
        if found.after is None:
            yield "    after     not looked at"
        else:
            yield f"    after     commit {found.after.commit or 'unknown'} tree {found.after.tree or 'unknown'}"
        for distribution, version in ((found.after and found.after.distributions) or {}).items():
            was = (found.before.distributions or {}).get(distribution, "unknown")
            yield f"    {safe.text(distribution)} {safe.text(was)} -> {safe.text(version)}"
        for one in found.imports:
            yield f"    import {safe.text(one.name)}: {safe.text(', '.join(one.places) or 'not found')}"
    yield from note_lines(receipt.notes)
    yield from finding_lines(receipt.findings)
    if receipt.error is not None:
        yield safe.log_line(f"  error     {receipt.error.message} [{receipt.error.code}]")
    if receipt.outcome is not None:
        yield f"  outcome   {receipt.outcome}"
    yield f"  verdict   {receipt.verdict}"


def receipt_summary(receipt: Receipt) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`: asked, planned, baked before and found after, then what is wrong."""
    md = safe.markdown
    said = f"verify: {receipt.verdict}" if receipt.outcome is None else f"apply: {receipt.outcome}"
    lines = [f"### regraft {said}", "", "| dependency | action | ref | planned | before | after |"]
    lines.append("|---|---|---|---|---|---|")
    for name, found in receipt.dependencies.items():
        commits = (found.planned.commit, found.before.commit, found.after and found.after.commit)
        planned, before, after = (commit or "unknown" for commit in commits)
        ref = md(found.planned.ref or "")
        lines.append(f"| {md(name)} | {found.planned.action} | {ref} | {planned} | {before} | {after} |")
    lines += ["", *(f"- **{one.severity}** {md(one.path)}: {md(one.message, 2000)}" for one in receipt.findings), ""]
    return "\n".join(lines) + "\n"


def changes_lines(changes: Iterable[Change], between: Mapping[str, Commits], unknown: Iterable[str]) -> Iterator[str]:
    """Each difference on a line, then the upstream commits between two pins where they are at hand."""
    count = 0
    for count, change in enumerate(changes, start=1):  # noqa: B007 - the count is what is printed below
        yield safe.log_line(f"{change.place}: {change.before or 'nothing'} -> {change.after or 'nothing'}")
    yield f"{count} differences"
    for name, found in between.items():
        if not found.known:
            yield f"{safe.text(name)}: the repository given does not hold both commits"
            continue
        note = " (diverged: the first is no ancestor of the second)" if found.diverged else ""
        yield f"{safe.text(name)}: {len(found.commits)} upstream commits between{note}"
        yield from (safe.log_line(f"  {commit[:12]} {subject}") for commit, subject in found.commits)
    for name in unknown:
        yield f"{safe.text(name)}: commits between are not known here; --checkout {safe.text(name)}=DIR names a repository"


def changes_json(changes: Iterable[Change], between: Mapping[str, Commits]) -> str:
    document: dict[str, Any] = {
        "changes": [{"place": one.place, "before": one.before, "after": one.after} for one in changes],
        "commits": {
            name: {
                "known": found.known,
                "diverged": found.diverged,
                "commits": [{"commit": commit, "subject": subject} for commit, subject in found.commits],
            }
            for name, found in between.items()
        },
    }
    return json.dumps(document, indent=2)
