"""Comments that say which finding of a line is meant to stay, and why.

    - run: make || true   # regraft: ignore[swallowed-failure] the target does not exist on old branches

A comment on a line of its own speaks of the next line that is no comment. Without a reason it is a finding itself. In a
script that is written as a block (`run: |`) a comment of the shell is one too; a quoted text is none.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from regraft.core.findings import Finding
from regraft.core.patterns import regex
from regraft.core.spelling import nearest

MOST = 20  # texts in one line that look like such a comment

_IGNORE = regex(r"(?<![^ \t])#[ \t]*regraft:[ \t]*ignore(?:\[([^\]\n]{0,400})\])?[ \t]*([^\n]{0,400})")
_ONLY_COMMENT = regex(r"[ \t]*#[^\n]*")
_UNQUOTED = regex(r"(?:[^'\"\\\n]++|\\.|'[^'\n]*+'|\"(?:[^\"\\\n]|\\.)*+\")*+")


class Ignore(Struct, frozen=True):
    """`line` is where it stands, `about` the line it speaks of; `rules` is empty where none is named."""

    path: str
    line: int
    column: int
    about: int
    rules: tuple[str, ...]
    reason: str


def read_ignores(path: str, data: bytes) -> list[Ignore]:
    """Every such comment in a YAML text."""
    if b"regraft:" not in data:
        return []
    text = data.decode("utf-8-sig", "replace")
    lines = text.split("\n")
    scalars = _Scalars(text)
    found = []
    begin = 0
    for at, line in enumerate(lines):
        match = next((one for one in _looks_like(line) if scalars.has_comment(begin, line, one.start())), None)
        begin += len(line) + 1
        if match is None:
            continue
        about = at
        if _ONLY_COMMENT.fullmatch(line[: match.start() + 1]):
            about = next((n for n in range(at + 1, len(lines)) if not _ONLY_COMMENT.fullmatch(lines[n].rstrip())), at)
        rules = tuple(word.strip() for word in (match[1] or "").split(",") if word.strip())
        reason = match[2].strip(" \t\r-:")
        found.append(Ignore(path, at + 1, match.start() + 1, about + 1, rules, reason))
    return found


def _looks_like(line: str) -> Iterator[re.Match[str]]:
    """What looks like such a comment in a line; one may stand in the reason of another."""
    match = _IGNORE.search(line)
    count = 0
    while match is not None and count < MOST:
        yield match
        match = _IGNORE.search(line, match.start() + 1)
        count += 1


class _Scalars:
    """Where the quoted and the block scalars of a text are, by its characters; those that stand before a mistake of its YAML."""

    def __init__(self, text: str) -> None:
        import yaml  # noqa: PLC0415 - only a text with such a comment needs it

        self._starts: list[int] = []
        self._ends: list[tuple[int, str]] = []
        try:
            tokens: Iterable[Any] = yaml.scan(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
            for one in tokens:
                if isinstance(one, yaml.ScalarToken) and one.style:
                    start = one.start_mark.index
                    if one.style in "|>":
                        start = text.find("\n", start)  # a comment beside the `|` is none of the text
                    self._starts.append(start)
                    self._ends.append((one.end_mark.index, one.style))
        except (yaml.YAMLError, ValueError):
            pass

    def has_comment(self, begin: int, line: str, column: int) -> bool:
        """Whether the `#` in a line that begins at the character `begin` is a comment of YAML, or of a script."""
        nearest_one = bisect_right(self._starts, begin + column) - 1
        end, style = self._ends[nearest_one] if nearest_one >= 0 else (0, "")
        if begin + column >= end:
            return True
        before = line[:column]
        return style in "|>" and (before.lstrip()[:1] == "#" or _UNQUOTED.fullmatch(before) is not None)


def without_ignored(
    findings: Sequence[Finding],
    ignores: Iterable[Ignore],
    rules: Mapping[str, str],
    ran: Container[str],
    lasting: Collection[str] = (),
) -> tuple[list[Finding], int]:
    """The findings that stay, those about the comments among them; and how many were ignored.

    `rules` are the known ids, `ran` those that were looked for: a comment about another one is not called unused. `lasting`
    are ids that no comment ignores.
    """
    at: dict[tuple[str, int], list[Ignore]] = {}
    wrong: list[Finding] = []
    for one in ignores:
        mistake = _mistake(one, rules, lasting)
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


def _mistake(one: Ignore, rules: Mapping[str, str], lasting: Collection[str]) -> Finding | None:
    form = "write `# regraft: ignore[RULE] REASON`"
    if not one.rules:
        message = "the comment names no rule, and ignores nothing"
        return Finding("ignore-without-rule", "error", message, one.path, one.line, one.column, fix=form)
    for rule in one.rules:
        if rule in lasting:
            message = f"the comment ignores nothing: `{rule}` is of the whole file, and cannot be ignored"
            return Finding("ignore-unknown-rule", "error", message, one.path, one.line, one.column, fix="mend the file")
        if rule not in rules:
            meant = nearest(rule, rules)
            fix = f"did you mean {meant}?" if meant else "`regraft workflow check --rules` lists the rules"
            message = f"there is no rule {rule!r:.80}"
            return Finding("ignore-unknown-rule", "error", message, one.path, one.line, one.column, fix=fix)
    if not one.reason:
        message = f"the comment says no reason why {', '.join(one.rules)} is ignored, and ignores nothing"
        return Finding("ignore-without-reason", "error", message, one.path, one.line, one.column, fix=form)
    return None
