"""What goes of a workflow or a composite action when the patch goes: lines of a step's script, or the step."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from regraft.core.drop_layout import Layout
from regraft.core.drop_records import left_empty, may_record
from regraft.core.drop_shell import cut_shell
from regraft.core.drop_target import PROJECT, Target, Where, resolved
from regraft.core.drop_values import FileCut
from regraft.core.patterns import regex
from regraft.core.spans import Edit, Span, edited, line_start, line_stop, merged

LIMIT = 1024 * 1024  # bytes

_EXPRESSION = regex(rb"\$\{\{.*?\}\}", 16)  # DOTALL
_SHELLS = ("bash", "sh")
_TEXTS = frozenset({"name", "run-name", "description", "on"})
# A step by its id, or, without a name, every step: `steps.x`, `steps['x']`, `steps[...]`, `steps.*`, `toJSON(steps)`.
_ASKED = regex(
    r"(?<![\w.-])steps\s*(?:(?:\.\s*(?P<name>[A-Za-z_][\w-]*)|\[\s*'(?P<quoted>[^']*)'\s*\])(?:\s*\.\s*(?P<key>\w+))?|\.\s*\*|\[)"
    r"|[(,]\s*steps\s*[,)]",
    re.IGNORECASE,
)
_WORKSPACE = regex(rb"\$\{\{\s*github\.workspace\s*\}\}|\$\{?GITHUB_WORKSPACE\}?")


class _Script(Struct, frozen=True):
    """A step's script: its text, and for each line of it where that begins in the file and how far it is indented."""

    text: bytes
    starts: tuple[int, ...]  # of the lines in the text
    places: tuple[int, ...]  # of the same lines' text in the file
    stop: int  # where the script ends in the file
    block: bool

    def span(self, span: Span, data: bytes) -> Span:
        """A span of the text as one of the file. Whole lines are whole lines there, with what they are indented by."""
        first = bisect_right(self.starts, span.start) - 1
        start = self.places[first] + span.start - self.starts[first]
        if span.stop >= len(self.text):
            stop = self.stop
        else:
            last = bisect_right(self.starts, span.stop) - 1
            stop = self.places[last] + span.stop - self.starts[last]
        begins = self.block and span.start == self.starts[first]
        ends = span.stop >= len(self.text) or span.stop in self.starts
        if begins and ends:
            return Span(line_start(data, start), stop if stop == self.stop else line_start(data, stop))
        return Span(start, stop)

    def inside(self, spans: Sequence[Span]) -> list[Span]:
        """Spans of the file as those of the text."""
        return [Span(self._back(one.start), self._back(one.stop)) for one in spans]

    def _back(self, at: int) -> int:
        line = max(bisect_right(self.places, at) - 1, 0)
        stop = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        return min(max(at - self.places[line], 0) + self.starts[line], stop)


def cut_workflow(data: bytes, target: Target) -> FileCut:
    """What to cut out of a workflow. Nothing where it is no YAML, or is larger than `LIMIT`."""
    if len(data) > LIMIT or not target.concerns(data):
        return FileCut()
    document = _Document.of(data)
    if document is None:
        return FileCut()
    spans: list[Span] = []
    globs: list[Span] = []
    for steps in document.step_lists():
        gone: list[Span] = []
        parts = [document.step(step, target) for step in steps.value]
        globs += (span for part in parts for span in part.globs)
        kept = left_empty(document.scripts(steps.value, parts)) if may_record(data) else set()
        for number, (step, part) in enumerate(zip(steps.value, parts, strict=True)):
            if number in kept:
                continue
            if part.spans and part.spans[0] == document.item(step):
                gone.append(part.spans[0])
            else:
                spans += part.spans
        if len(gone) < len(steps.value):
            spans += gone
    cut = FileCut(tuple(merged(spans)), tuple(globs))
    return cut if not cut.spans or document.proved(cut.spans) else FileCut(globs=cut.globs)


def run_spans(data: bytes) -> list[Span]:
    """Where a workflow runs something, or hands it to what does: all but names, descriptions and what starts it.

    All of it where it cannot be read.
    """
    document = _Document.of(data) if len(data) <= LIMIT else None
    return [Span(0, len(data))] if document is None else merged(document.values())


class _Document:
    def __init__(self, data: bytes, text: str, root: Any, anchors: list[int]) -> None:
        self._data = data
        self._text = text
        self._root = root
        self._anchors = anchors
        self._wide = None if text.isascii() else text

    @classmethod
    def of(cls, data: bytes) -> "_Document | None":
        import yaml  # noqa: PLC0415 - only what edits or judges workflows needs it

        try:
            text = data.decode("utf-8")
            if text.startswith("\ufeff"):
                return None
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            root = yaml.compose(text, Loader=loader)
            events = yaml.parse(text, Loader=loader)
            anchors = [one.start_mark.index for one in events if getattr(one, "anchor", None)]
        except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError):
            return None
        return cls(data, text, root, anchors)

    def _byte(self, index: int) -> int:
        """The byte at which a character stands."""
        return index if self._wide is None else len(self._text[:index].encode())

    def values(self) -> Iterator[Span]:
        """The scalars that are no names of things."""
        seen: set[int] = set()
        waiting = [] if self._root is None else [self._root]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.id == "scalar":
                start = self._byte(node.start_mark.index)
                yield Span(
                    line_stop(self._data, start) if node.style in ("|", ">") else start, self._byte(node.end_mark.index)
                )
            elif node.id == "sequence":
                waiting += node.value
            else:
                waiting += (value for key, value in node.value if key.id != "scalar" or key.value not in _TEXTS)

    def step_lists(self) -> Iterator[Any]:
        """The list below each key `steps`, each once, whatever refers to it."""
        seen: set[int] = set()
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if node.id == "mapping":
                for key, value in node.value:
                    if key.value == "steps" and value.id == "sequence":
                        yield value
                    waiting.append(value)
            elif node.id == "sequence":
                waiting += node.value

    def scripts(self, steps: Sequence[Any], parts: Sequence[FileCut]) -> Iterator[tuple[int, bytes, list[Span] | None]]:
        """Each step's script, with what goes of it."""
        for number, (step, part) in enumerate(zip(steps, parts, strict=True)):
            run = _keys(step).get("run")
            script = self._script(run) if run is not None and run.id == "scalar" else None
            if script is not None:
                whole = bool(part.spans) and part.spans[0] == self.item(step)
                yield number, _masked(script.text), None if whole else script.inside(part.spans)

    def step(self, step: Any, target: Target) -> FileCut:
        keys = _keys(step)
        run = keys.get("run")
        shell = keys.get("shell")
        if run is None or run.id != "scalar" or (shell is not None and not str(shell.value).startswith(_SHELLS)):
            return FileCut()
        script = self._script(run)
        if script is None:
            return FileCut()
        folder = keys.get("working-directory")
        where = Where(target, PROJECT, {f"{PROJECT}/{target.path}"}, loose=True)
        if folder is not None and folder.id == "scalar":
            where.folder = resolved(PROJECT, str(folder.value).replace("${{", "$_").replace(" ", ""))
        cut = cut_shell(_masked(script.text), Layout(script.text), where)
        if cut is None:
            return FileCut()
        globs = tuple(script.span(one, self._data) for one in cut.globs)
        asked = self._asked(str(keys["id"].value)) if "id" in keys else None
        if cut.whole:
            item = self.item(step)
            return FileCut((item,) if item is not None and asked is None else (), globs)
        if asked == "state":
            return FileCut((), globs)
        return FileCut(tuple(script.span(one, self._data) for one in cut.spans), globs)

    def _asked(self, name: str) -> Literal["outputs", "state"] | None:
        """What something else in the file asks of the step with this id: its outputs alone, or how it went. Ids ignore case."""
        found = set()
        for match in _ASKED.finditer(self._text):
            one = match["name"] or match["quoted"]
            if one is None or one.lower() == name.lower():
                found.add((match["key"] or "").lower() == "outputs")
        return None if not found else "outputs" if all(found) else "state"

    def _script(self, node: Any) -> _Script | None:
        start, stop = self._byte(node.start_mark.index), self._byte(node.end_mark.index)
        if node.style == "|":
            return self._block(start, stop, str(node.value))
        raw = self._data[start:stop]
        if node.style in ("'", '"'):
            start, stop = start + 1, stop - 1
            raw = self._data[start:stop]
        if node.style == ">" or b"\n" in raw or raw.decode() != node.value:
            return None
        return _Script(raw, (0,), (start,), stop, block=False)

    def _block(self, start: int, stop: int, value: str) -> _Script | None:
        """The lines of a block scalar, without what they are indented by."""
        at = line_stop(self._data, start)
        lines: list[tuple[int, bytes]] = []
        indent: int | None = None
        while at < stop:
            end = min(line_stop(self._data, at), len(self._data))
            line = self._data[at:end]
            if line.strip():
                wide = len(line) - len(line.lstrip(b" "))
                indent = wide if indent is None else indent
                if wide < indent:
                    break
            cut = min(indent or 0, len(line.rstrip(b"\r\n")))
            lines.append((at + cut, line[cut:]))
            at = end
        while lines and not lines[-1][1].strip():
            at = line_start(self._data, lines.pop()[0])
        text = b"".join(line for _, line in lines)
        starts, places, size = [], [], 0
        for place, line in lines:
            starts.append(size)
            places.append(place)
            size += len(line)
        if not lines or text.replace(b"\r\n", b"\n").decode().rstrip("\n") != value.rstrip("\n"):
            return None
        return _Script(text, tuple(starts), tuple(places), places[-1] + len(lines[-1][1]), block=True)

    def item(self, step: Any) -> Span | None:
        """The lines of a step, from its dash; None where it shares them, or where an anchor in it would be lost."""
        start = self._byte(step.start_mark.index)
        first = line_start(self._data, start)
        if step.flow_style or self._data[first:start].strip() != b"-":
            return None
        last = max(self._byte(index) for index in _leaf_ends(step))
        stop = last if self._data[last - 1 : last] == b"\n" else line_stop(self._data, last)
        while self._data[line_start(self._data, stop - 1) : stop].strip() == b"":
            stop = line_start(self._data, stop - 1)
        span = Span(first, stop)
        if any(span.start <= self._byte(at) < span.stop for at in self._anchors):
            return None
        return span

    def proved(self, spans: tuple[Span, ...]) -> bool:
        """By reading the result: it is YAML, and everything but scripts and steps is what it was."""
        after = _Document.of(edited(self._data, [Edit(span) for span in spans]))
        return after is not None and _without_runs(after._root) == _without_runs(self._root, self, spans)  # noqa: SLF001 - of its own kind


def _keys(step: Any) -> dict[str, Any]:
    return {key.value: value for key, value in step.value if key.id == "scalar"} if step.id == "mapping" else {}


def _masked(text: bytes) -> bytes:
    """Expressions as variables of the same length."""
    text = _WORKSPACE.sub(lambda match: b"$" + b"_" * (len(match[0]) - 1), text)
    return _EXPRESSION.sub(lambda match: b"$" + b"_" * (len(match[0]) - 1), text)


def _leaf_ends(node: Any) -> Iterator[int]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.id == "scalar" or one.flow_style or not one.value:
            yield one.end_mark.index
        elif one.id == "mapping":
            waiting += [part for pair in one.value for part in pair]
        else:
            waiting += one.value


def _without_runs(node: Any, document: _Document | None = None, spans: tuple[Span, ...] = ()) -> Any:
    """A tree of the document's values, without scripts and without the steps that go. Shared nodes are told once."""
    seen: dict[int, int] = {}

    def tell(one: Any) -> Any:
        if one is None or id(one) in seen:
            return seen.get(id(one))
        seen[id(one)] = len(seen)
        if one.id == "scalar":
            return one.value
        if one.id == "sequence":
            return [tell(part) for part in one.value if not _goes(part)]
        pairs = [(tell(key), value) for key, value in one.value]
        return [(key, None if key == "run" and value.id == "scalar" else tell(value)) for key, value in pairs]

    def _goes(one: Any) -> bool:
        item = document.item(one) if document is not None and one.id == "mapping" else None
        return item is not None and any(span.holds(item) for span in spans)

    return tell(node)
