"""Where in a file something runs: a name that stands there is a use. Everywhere else it is a text."""

import re
from collections.abc import Iterable, Iterator

from regraft.core.dockerfile_text import Instruction, read_dockerfile
from regraft.core.drop_workflow import run_spans
from regraft.core.patterns import regex
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, Group, Node, Pipeline, inside
from regraft.core.spans import Span

_USES = frozenset({"COPY", "ADD", "RUN", "ENV", "ARG", "CMD", "ENTRYPOINT"})
_TALK = frozenset({"echo", "printf"})
_COMMENT = regex(rb"(?:^|[ \t])#[^\n]*", 8)  # MULTILINE
_QUILT = regex(rb"(?<![\w./-])quilt\b[^\n;&|]*\bpush\b(?![^\n]*\|\|)")
_QUOTES = (b"'", b'"', b"`")


def uses_of(kind: str, data: bytes) -> list[Span]:
    """Spans of a file of that kind (`drop_edits.kind_of`), in order."""
    match kind:
        case "dockerfile":
            return [
                span for one in read_dockerfile(data).instructions if one.keyword in _USES for span in _run(one, data)
            ]
        case "workflow":
            return [part for span in run_spans(data) for part in _spoken(data, span)]
        case "script":
            return [*_spoken(data, Span(0, len(data)))]
        case "text":
            return []
        case _:
            return [*_without(Span(0, len(data)), _comments(data, Span(0, len(data))))]


def quilt_runs(kind: str, data: bytes) -> Iterator[int]:
    """Where `quilt push` runs, which ends with 2 where the series is empty, and nothing on its line catches that."""
    spans = uses_of(kind, data) if b"quilt" in data and kind != "text" else []
    for span in spans:
        yield from (match.start() for match in _QUILT.finditer(data, span.start, span.stop))


def folder_runs(kind: str, data: bytes, folders: Iterable[str]) -> Iterator[int]:
    """Where a script, a workflow or a Makefile needs one of these folders of the project, and does not first look or make it.

    A name alone may be anything: it is a folder where a command that takes folders comes before it.
    """
    for folder in folders if kind in ("script", "workflow", "build") else ():
        name = re.escape(folder.encode("utf-8", "surrogateescape"))
        if re.search(rb"(?:-[de]|mkdir(?: -p)?) +[\"']?(?:\./|[^\s\"']*/)?" + name + rb"(?![\w.-])", data):
            continue
        before = rb"(?<![\w.-])" if "/" in folder else rb"\b(?:cd|pushd|ls|find|cp|rsync|tar)\b[^\n;&|]*?[ =](?:\./)?"
        pattern = re.compile(before + rb"(" + name + rb")/?(?![\w.*/?{$-])")
        for span in uses_of(kind, data):
            yield from (match.start(1) for match in pattern.finditer(data, span.start, span.stop))


def _run(one: Instruction, data: bytes) -> Iterator[Span]:
    """An instruction without its comments and what it only says."""
    if one.keyword != "RUN" or one.strings is not None:
        yield from _without(one.span, one.comments)
        return
    base = one.value[0]
    said = [] if one.heredocs else [Span(span.start + base, span.stop + base) for span in _said(one.text)]
    for doc in one.heredocs:
        said += [
            Span(span.start + doc.body.start, span.stop + doc.body.start)
            for span in _said(data[doc.body.start : doc.body.stop])
        ]
        said += _comments(data, doc.body)
    yield from _without(one.span, sorted([*one.comments, *said]))


def _spoken(data: bytes, span: Span) -> Iterator[Span]:
    said = [Span(one.start + span.start, one.stop + span.start) for one in _said(data[span.start : span.stop])]
    yield from _without(span, sorted([*said, *_comments(data, span)]))


def _said(script: bytes) -> Iterator[Span]:
    """Commands that put out words of their own, and do nothing with what these name."""
    waiting: list[Node | None] = [read_shell(script)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Command) and _only_says(node):
            yield node.span
        elif node is not None and not (isinstance(node, Pipeline) or (isinstance(node, Group) and node.redirects)):
            waiting += inside(node)


def _only_says(command: Command) -> bool:
    return (
        command.name in _TALK
        and all(word.plain for word in command.words)
        and all(one.operator == ">&" for one in command.redirects)
    )


def _comments(data: bytes, span: Span) -> list[Span]:
    """What is surely a comment: nothing on its line before it is quoted."""
    found = []
    for match in _COMMENT.finditer(data, span.start, span.stop):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if not any(quote in before for quote in _QUOTES):
            found.append(Span(*match.span()))
    return found


def _without(span: Span, gaps: "list[Span] | tuple[Span, ...]") -> Iterator[Span]:
    at = span.start
    for gap in gaps:
        if gap.start > at:
            yield Span(at, gap.start)
        at = max(at, gap.stop)
    if span.stop > at:
        yield Span(at, span.stop)
