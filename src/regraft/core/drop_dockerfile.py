"""What goes of a Dockerfile when the patch goes: its COPY, and the commands in RUN that apply it, remove it or ask for it."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from regraft.core.dockerfile_text import Dockerfile, Instruction, Word, read_dockerfile
from regraft.core.drop_command import judge_command
from regraft.core.drop_folders import emptied, folder_uses, for_the_patch
from regraft.core.drop_layout import Layout
from regraft.core.drop_records import left_empty, may_record
from regraft.core.drop_shell import cut_shell
from regraft.core.drop_target import WORKDIR, Target, Where, landing, matches, resolved
from regraft.core.drop_values import FileCut
from regraft.core.shell_text import command_texts
from regraft.core.shell_values import Command
from regraft.core.shell_values import Word as ShellWord
from regraft.core.spans import Edit, Span, edited, merged, without_item

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})


class _Stage(Struct):
    folder: str
    places: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)


class _Part(Struct, frozen=True):
    """What goes of one instruction, and the patterns in it that stay; folders of the image that it brings no more, and mounts of
    folders that are there no more.
    """

    spans: tuple[Span, ...] = ()
    globs: tuple[Span, ...] = ()
    emptied: tuple[str, ...] = ()
    mounts: tuple[Span, ...] = ()


def cut_dockerfile(data: bytes, path: str, target: Target) -> FileCut:
    """What to cut out of the Dockerfile at `path`. Each cut leaves every other instruction as it is, and is proved to."""
    read = read_dockerfile(data)
    reader = _Reader(read, path, target)
    parts = {index: reader.part(instruction) for index, instruction in enumerate(read.instructions)}
    cuts = {index: part.spans for index, part in parts.items() if part.spans}
    globs = tuple(span for part in parts.values() for span in part.globs)
    for index in left_empty(_scripts(read, cuts)) if cuts and may_record(data) else ():
        del cuts[index]
    while wrong := _wrong(read, cuts):
        cuts = {index: spans for index, spans in cuts.items() if index not in wrong}
    foreign = (
        bool(target.namesakes) and not reader.brings and target.path.encode("utf-8", "surrogateescape") not in data
    )
    whole = {index for index, spans in cuts.items() if read.instructions[index].span in spans}
    gone = {index: part.emptied for index, part in parts.items() if part.emptied and (index in whole or not part.spans)}
    needs = [*folder_uses(read, cuts, gone)] if gone else []
    needs += [span for index, part in parts.items() if index not in whole for span in part.mounts]
    return FileCut(
        tuple(merged(span for spans in cuts.values() for span in spans)), globs, foreign=foreign, needs=tuple(needs)
    )


def _scripts(read: Dockerfile, cuts: Mapping[int, Sequence[Span]]) -> Iterator[tuple[int, bytes, list[Span] | None]]:
    """What each RUN hands to a shell, with what goes of it."""
    for index, one in enumerate(read.instructions):
        if one.keyword != "RUN" or one.strings is not None:
            continue
        spans = cuts.get(index, ())
        whole = one.span in spans
        for body in [doc.body for doc in one.heredocs] or [one.value]:
            text = one.text if body == one.value else read.data[body.start : body.stop]
            inside = [Span(span.start - body.start, span.stop - body.start) for span in spans]
            yield index, text, None if whole else inside


def _wrong(read: Dockerfile, cuts: Mapping[int, Sequence[Span]]) -> set[int]:
    """The cuts that the result disproves. Read again, it has every other instruction byte for byte, and those of which
    something goes with their other words or commands in their order.
    """
    result = read_dockerfile(edited(read.data, [Edit(span) for spans in cuts.values() for span in spans]))
    whole = {index for index, spans in cuts.items() if any(one.holds(read.instructions[index].span) for one in spans)}
    kept = [index for index in range(len(read.instructions)) if index not in whole]
    if len(kept) != len(result.instructions):
        return {*cuts}
    wrong = set()
    for index, now in zip(kept, result.instructions, strict=True):
        if index not in cuts:
            if _bytes(read, read.instructions[index]) != _bytes(result, now):
                return {*cuts}
        elif not _same_rest(read.instructions[index], now, cuts[index]):
            wrong.add(index)
    return wrong


def _same_rest(before: Instruction, now: Instruction, spans: Sequence[Span]) -> bool:
    if now.keyword != before.keyword or len(now.heredocs) != len(before.heredocs):
        return False
    if now.keyword != "RUN" or now.strings is not None or now.heredocs:
        return bool(now.words)
    base, stop = before.value
    inside = [Span(max(one.start, base) - base, one.stop - base) for one in spans if base < one.stop <= stop]
    expected = command_texts(before.text, merged(inside))
    return expected is not None and command_texts(now.text) == expected


def _bytes(read: Dockerfile, instruction: Instruction) -> bytes:
    return read.data[instruction.span.start : instruction.span.stop].rstrip(b"\r\n")


class _Reader:
    """Goes through the instructions, and knows where in the image the patch stands."""

    def __init__(self, read: Dockerfile, path: str, target: Target) -> None:
        self._read = read
        self._target = target
        self._contexts = dict.fromkeys(("", posixpath.dirname(path), target.root.rstrip("/")))
        self._stages: dict[str, _Stage] = {}
        self._stage = _Stage(WORKDIR)
        self.brings = False  # whether any instruction brings the patch into the image

    def part(self, instruction: Instruction) -> _Part:
        match instruction.keyword:
            case "FROM":
                self._from(instruction)
            case "WORKDIR":
                self._stage.folder = resolved(self._stage.folder, _plain(instruction.words[0].text, instruction) if instruction.words else ".")  # fmt: skip
            case "ENV" | "ARG":
                self._variables(instruction)
            case "COPY" | "ADD":
                return self._copy(instruction)
            case "RUN":
                return self._run(instruction)
        return _Part()

    def _from(self, instruction: Instruction) -> None:
        words = [word.text for word in instruction.words]
        base = self._stages.get(words[0].lower()) if words else None
        number = instruction.stage
        self._stage = (
            _Stage(base.folder, {*base.places}, {*base.made}, {**base.variables})
            if base
            else _Stage(f"{WORKDIR}{number or ''}")
        )
        self._stages[str(number)] = self._stage
        if len(words) == 3 and words[1].lower() == "as":
            self._stages[words[2].lower()] = self._stage

    def _variables(self, instruction: Instruction) -> None:
        for word in instruction.words:
            name, equals, value = word.text.partition("=")
            if equals:
                self._stage.variables[name] = _plain(value, instruction)

    def _where(self) -> Where:
        stage = self._stage
        where = Where(self._target, stage.folder, {*stage.places}, made={*stage.made})
        where.places |= {f"${name}" for name, value in stage.variables.items() if where.is_patch(value)}
        return where

    def _copy(self, instruction: Instruction) -> _Part:
        *sources, last = instruction.words or (None,)
        if last is None or not sources:
            return _Part()
        origin = next((flag.text[7:] for flag in instruction.flags if flag.text.startswith("--from=")), None)
        goal = _plain(last.text, instruction)
        folder = goal.endswith("/") or goal in (".", "..") or len(sources) > 1
        gone, globs, lost = [], [], list[str]()
        for index, word in enumerate(sources):
            text = _plain(word.text, instruction)
            found = [*(self._in_context(text) if origin is None else self._in_stage(text, origin))]
            self.brings = self.brings or bool(found)
            for below, goes in found:
                landed = landing(resolved(self._stage.folder, goal), below or self._target.name, folder=folder or bool(below))  # fmt: skip
                self._stage.places.update(landed)
                lost += self._emptied(resolved(self._stage.folder, goal), below, goes=goes, folder=folder)
                if goes:
                    gone.append(index)
                elif "*" in text or "?" in text:
                    globs.append(word.span)
        if not gone:
            return _Part((), tuple(globs), tuple(lost))
        if len(gone) == len(sources):
            return _Part((instruction.span,), (), tuple(lost))
        return _Part(tuple(self._words(instruction, gone)), tuple(globs))

    def _emptied(self, goal: str, below: str, *, goes: bool, folder: bool) -> Iterator[str]:
        """The folder in the image that is not there when the patch is not."""
        if below:
            found = emptied(self._target, below, goal, whole=goes)
            yield from () if found is None else (found,)
        elif goes and folder and for_the_patch(goal):
            yield goal

    def _in_context(self, text: str) -> Iterator[tuple[str, bool]]:
        """(path below the goal, or "" for its own name; whether the source goes) where a source brings the patch."""
        if "$" in text or "://" in text:
            return
        source = posixpath.normpath(text.lstrip("/") or ".")
        for context in self._contexts:
            path = posixpath.normpath(posixpath.join(context, source))
            path = "" if path == "." else path
            if path == self._target.path:
                yield "", True
                return
            if path == "" or self._target.path.startswith(f"{path}/"):
                below = self._target.path[len(path) + 1 :] if path else self._target.path
                yield below, bool(path) and self._target.alone_in(path)
                return
            if matches(path, self._target.path):
                yield "", self._target.alone_under(path)
                return
            if path in self._target.tracked or not self._target.alone_in(path):
                return

    def _in_stage(self, text: str, origin: str) -> Iterator[tuple[str, bool]]:
        stage = self._stages.get(origin.lower())
        if stage is None:
            return
        path = resolved("", f"/{text.lstrip('/')}")
        for place in sorted(stage.places):
            if place == path:
                yield "", True
                return
            if place.startswith(f"{path.rstrip('/')}/"):
                yield place[len(path.rstrip("/")) + 1 :], False

    def _words(self, instruction: Instruction, gone: Sequence[int]) -> Iterator[Span]:
        words = instruction.words
        if instruction.strings is not None:
            close = self._read.data.rindex(b"]", 0, instruction.value.stop)
            yield from without_item(self._read.data, [word.span for word in words], gone, close)
            return
        layout = Layout(self._read.data, joined=True, escape=self._read.escape)
        for index in gone:
            own = layout.lines(words[index].span)
            if own is not None:
                yield own
            elif index == 0:
                yield Span(words[0].span.start, words[1].span.start)
            else:
                yield Span(words[index - 1].span.stop, words[index].span.stop)

    def _run(self, instruction: Instruction) -> _Part:
        where = self._where()
        mounted, missing = self._mounts(instruction, where)
        part = _Part()
        if instruction.strings is not None:
            part = self._exec(instruction, instruction.strings, where)
        elif instruction.heredocs:
            part = self._script(instruction, where)
        elif self._target.concerns(instruction.text) or _named(where, instruction.text):
            part = self._shell(instruction, instruction.value, instruction.text, where, joined=True)
        self._stage.places |= {place for place in where.places if not place.startswith("$") or "/" in place}
        self._stage.made |= where.made
        if part.spans and instruction.span not in part.spans:
            return _Part((*part.spans, *mounted), part.globs, (), tuple(missing))
        return part if part.spans else _Part((), part.globs, (), tuple(missing))

    def _mounts(self, instruction: Instruction, where: Where) -> tuple[list[Span], list[Span]]:
        """The flags of bind mounts that bring the patch alone; those of the mounts of a folder that is not there without it."""
        found, missing = list[Span](), list[Span]()
        before = instruction.span.start + len(instruction.keyword)
        for flag in instruction.flags:
            options = dict(one.partition("=")[::2] for one in flag.text.removeprefix("--mount=").split(","))
            source = options.get("source") or options.get("src") or ""
            goal = options.get("target") or options.get("dst") or options.get("destination") or ""
            if flag.text.startswith("--mount=") and options.get("type") == "bind" and "from" not in options and goal:
                for below, goes in self._in_context(source):
                    place = resolved(self._stage.folder, goal)
                    where.places.add(f"{place}/{below}" if below else place)
                    if goes:
                        (missing if below else found).append(flag.span if below else Span(before, flag.span.stop))
            before = flag.span.stop
        return found, missing

    def _exec(self, instruction: Instruction, strings: Sequence[Word], where: Where) -> _Part:
        words = tuple(ShellWord(word.span, word.text) for word in strings)
        verdict = judge_command(Command(instruction.value, words), where)
        if verdict.part == "whole":
            return _Part((instruction.span,))
        if verdict.part == "none":
            return _Part()
        gone = [index for index, word in enumerate(words) if word in verdict.words]
        return _Part(tuple(self._words(instruction, gone)))

    def _script(self, instruction: Instruction, where: Where) -> _Part:
        """The body of a here-document that a shell runs."""
        names = [word.text.rpartition("/")[2] for word in instruction.words]
        runs = len(instruction.heredocs) == 1 and all(name in _SHELLS or name.startswith(("-", "<<")) for name in names)
        body = instruction.heredocs[0].body
        text = self._read.data[body.start : body.stop]
        shell = not text.startswith(b"#!") or text.split(b"\n", 1)[0].rstrip().endswith(b"sh")
        if not runs or not shell or not (self._target.concerns(text) or _named(where, text)):
            return _Part()
        return self._shell(instruction, body, text, where, joined=False)

    def _shell(self, instruction: Instruction, span: Span, text: bytes, where: Where, *, joined: bool) -> _Part:
        raw = self._read.data[span.start : span.stop]
        cut = cut_shell(text, Layout(raw, joined, self._read.escape if joined else b"\\"), where)
        if cut is None:
            return _Part()
        globs = tuple(Span(one.start + span.start, one.stop + span.start) for one in cut.globs)
        if cut.whole:
            return _Part((instruction.span,), globs)
        return _Part(tuple(Span(one.start + span.start, one.stop + span.start) for one in cut.spans), globs)


def _named(where: Where, text: bytes) -> bool:
    """Whether a text names one of the places where the patch stands, which may be called otherwise there."""
    return any(place.rpartition("/")[2].encode("utf-8", "surrogateescape") in text for place in where.places)


def _plain(text: str, instruction: Instruction) -> str:
    """A word without the quotes that Docker takes off; the JSON form has none."""
    if instruction.strings is None and len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
