"""Comments that say which finding of a line is meant to stay, and why.

    - run: make || true   # regraft: ignore[swallowed-failure] the target does not exist on old branches

A comment on a line of its own speaks of the next line that is no comment. Without a reason it is a finding itself.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec import Struct

from regraft.core.findings import Finding
from regraft.core.patterns import regex
from regraft.core.spelling import nearest

_IGNORE = regex(rb"#[ \t]*regraft:[ \t]*ignore(?:\[([^\]\n]{0,400})\])?[ \t]*([^\n]{0,400})")
_ONLY_COMMENT = regex(rb"[ \t]*#[^\n]*")


class Ignore(Struct, frozen=True):
    """`line` is where it stands, `about` the line it speaks of; `rules` is empty where none is named."""

    path: str
    line: int
    column: int
    about: int
    rules: tuple[str, ...]
    reason: str


def read_ignores(path: str, data: bytes) -> list[Ignore]:
    """Every such comment in a text whose comments begin with `#`."""
    if b"regraft:" not in data:
        return []
    lines = data.split(b"\n")
    found = []
    for at, line in enumerate(lines):
        match = _IGNORE.search(line)
        if match is None:
            continue
        about = at
        if _ONLY_COMMENT.fullmatch(line[: match.start() + 1]):
            about = next((n for n in range(at + 1, len(lines)) if not _ONLY_COMMENT.fullmatch(lines[n].rstrip())), at)
        named = (match[1] or b"").decode("utf-8", "replace").split(",")
        rules = tuple(word.strip() for word in named if word.strip())
        reason = match[2].decode("utf-8", "replace").strip(" \t\r-:")
        found.append(Ignore(path, at + 1, match.start() + 1, about + 1, rules, reason))
    return found


def without_ignored(
    findings: Sequence[Finding], ignores: Iterable[Ignore], rules: Mapping[str, str], ran: Container[str]
) -> tuple[list[Finding], int]:
    """The findings that stay, those about the comments among them; and how many were ignored.

    `rules` are the known ids, `ran` those that were looked for: a comment about another one is not called unused.
    """
    at: dict[tuple[str, int], list[Ignore]] = {}
    wrong: list[Finding] = []
    for one in ignores:
        mistake = _mistake(one, rules)
        if mistake is not None:
            wrong.append(mistake)
        else:
            at.setdefault((one.path, one.about), []).append(one)
    used: set[Ignore] = set()
    left: list[Finding] = []
    for finding in findings:
        meant = [one for one in at.get((finding.path, finding.line or 0), ()) if finding.rule in one.rules]
        used.update(meant)
        if not meant:
            left.append(finding)
    for one in (one for group in at.values() for one in group if one not in used):
        if not all(rule in ran for rule in one.rules):
            continue
        message = f"nothing of {', '.join(one.rules)} is found at line {one.about}: the comment ignores nothing"
        wrong.append(Finding("ignore-unused", "note", message, one.path, one.line, one.column, fix="take it out"))
    return [*left, *wrong], len(findings) - len(left)


def _mistake(one: Ignore, rules: Mapping[str, str]) -> Finding | None:
    form = "write `# regraft: ignore[RULE] REASON`"
    if not one.rules:
        message = "the comment names no rule, and ignores nothing"
        return Finding("ignore-without-rule", "error", message, one.path, one.line, one.column, fix=form)
    for rule in one.rules:
        if rule not in rules:
            meant = nearest(rule, rules)
            fix = f"did you mean {meant}?" if meant else "`regraft workflow check --rules` lists the rules"
            message = f"there is no rule {rule!r:.80}"
            return Finding("ignore-unknown-rule", "error", message, one.path, one.line, one.column, fix=fix)
    if not one.reason:
        message = f"the comment says no reason why {', '.join(one.rules)} is ignored, and ignores nothing"
        return Finding("ignore-without-reason", "error", message, one.path, one.line, one.column, fix=form)
    return None
