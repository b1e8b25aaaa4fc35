"""What of a Dockerfile that stays needs a folder that is there no more: nothing but the patch was in it."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field

from regraft.core.dockerfile_text import Dockerfile, Instruction
from regraft.core.drop_command import TESTS, bare_words
from regraft.core.drop_target import WORKDIR, Target, resolved
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import Command, For, If, Node, commands_of, inside
from regraft.core.spans import Span

_SAYS = frozenset({"echo", "printf", ":", "true", "mkdir"})
_OF_THE_BASE = frozenset({"", "/", "/tmp", "/root", "/opt", "/usr", "/usr/src", "/usr/local", "/usr/local/bin", "/usr/bin", "/home", "/mnt", "/srv", "/var", "/var/tmp", "/etc", "/app", "/workspace"})  # fmt: skip  # noqa: S108 - of an image
_RUNS = frozenset({"RUN", "ENV", "ARG", "CMD", "ENTRYPOINT"})


def emptied(target: Target, below: str, goal: str, *, whole: bool) -> str | None:
    """The outermost folder in the image that the patch alone was for. `below` is the patch's path below `goal`.

    `whole`: nothing else comes to `goal` by the same source.
    """
    if whole:
        return None if goal in _OF_THE_BASE else goal
    folders = below.split("/")[:-1]
    above = target.path.split("/")[: -len(folders) - 1]
    for count in range(1, len(folders) + 1):
        if target.alone_in("/".join([*above, *folders[:count]])):
            return "/".join([goal.rstrip("/"), *folders[:count]])
    return None


def for_the_patch(folder: str) -> bool:
    """Whether a folder that one file was copied to was made by that: no base image has it."""
    name = folder.rpartition("/")[2]
    return folder not in _OF_THE_BASE and (folder.startswith("/tmp/") or "patch" in name.lower())  # noqa: S108 - of an image


class _Stage(Struct):
    folder: str
    missing: set[str] = field(default_factory=set)
    there: set[str] = field(default_factory=set)

    def has(self, path: str) -> None:
        self.there.add(path)
        self.missing = {one for one in self.missing if not _within(path, one)}

    def lost(self, path: str) -> None:
        if not any(_within(one, path) for one in self.there):
            self.missing.add(path)


def folder_uses(
    read: Dockerfile, cuts: Mapping[int, Sequence[Span]], gone: Mapping[int, Collection[str]]
) -> Iterator[Span]:
    """Where it is needed. `cuts` is what goes of each instruction, `gone` the folders that its COPY does not bring any more."""
    stages: dict[str, _Stage] = {}
    stage = _Stage(WORKDIR)
    for index, one in enumerate(read.instructions):
        words = [word.text for word in one.words]
        whole = one.span in cuts.get(index, ())
        match one.keyword:
            case "FROM" if words:
                base = stages.get(words[0].lower())
                stage = _Stage(base.folder, {*base.missing}, {*base.there}) if base else _Stage(WORKDIR)
                stages[str(one.stage)] = stage
                stages[words[-1].lower()] = stage
            case "WORKDIR" if words:
                stage.folder = resolved(stage.folder, words[0].strip("\"'"))
                stage.has(stage.folder)
            case "COPY" | "ADD" if not whole and len(words) > 1:
                yield from _copied(one, stages)
                if index not in gone:
                    stage.has(resolved(stage.folder, words[-1]))
            case _ if one.keyword in _RUNS and not whole and stage.missing:
                spans = cuts.get(index, ())
                yield from (span for span in _needs(one, stage, read.data) if not any(cut.holds(span) for cut in spans))
        for path in gone.get(index, ()):
            stage.lost(path)


def _copied(one: Instruction, stages: Mapping[str, _Stage]) -> Iterator[Span]:
    """What a COPY takes from where nothing is any more, in another stage."""
    origin = next((flag.text[7:].lower() for flag in one.flags if flag.text.startswith("--from=")), None)
    stage = stages.get(origin or "")
    if stage is None:
        return
    for word in one.words[:-1]:
        if any(_within(resolved("", f"/{word.text.lstrip('/')}"), path) for path in stage.missing):
            yield word.span


def _needs(one: Instruction, stage: _Stage, data: bytes) -> Iterator[Span]:
    if one.keyword != "RUN" or one.strings is not None:
        yield from _named(data, one.span, stage, one.comments)
        return
    for body in [doc.body for doc in one.heredocs] or [one.value]:
        text = one.text if body == one.value else data[body.start : body.stop]
        block = read_shell(text)
        if block is None:
            yield from _named(data, body, stage, one.comments)
            continue
        for command in _unguarded(block, stage):
            yield from (Span(at.start + body.start, at.stop + body.start) for at in _of_command(command, stage))


def _unguarded(node: Node, stage: _Stage) -> Iterator[Command]:
    """The commands that run whether the folder is there or not, in order."""
    if isinstance(node, If):
        asked = [
            command for condition, _ in node.branches if condition is not None for command in commands_of(condition)
        ]
        if any(command.name in TESTS and [*_of_words(command, stage)] for command in asked):
            return
    if isinstance(node, Command):
        yield node
    if isinstance(node, For):
        yield Command(node.span, node.words)
    for part in inside(node):
        yield from _unguarded(part, stage)


def _of_command(command: Command, stage: _Stage) -> Iterator[Span]:
    words = bare_words(command.words)
    name = words[0].text.rpartition("/")[2] if words else ""
    options = "".join(word.text for word in words[1:] if word.text.startswith("-"))
    if name == "mkdir":
        for word in words[1:]:
            stage.has(resolved(stage.folder, word.text))
    if name not in _SAYS and not (name == "rm" and "f" in options):
        yield from _of_words(command, stage)


def _of_words(command: Command, stage: _Stage) -> Iterator[Span]:
    given = [value for _, value in command.assignments if value is not None]
    targets = [one.target for one in command.redirects if one.target is not None]
    for word in [*command.words, *given, *targets]:
        path = resolved(stage.folder, word.text) if " " not in word.text else ""
        if any(_within(path, one) or _naming(one).search(word.text) for one in stage.missing):
            yield word.span


def _named(data: bytes, span: Span, stage: _Stage, comments: Sequence[Span]) -> Iterator[Span]:
    """By its whole path, where no shell is read."""
    text = data[span.start : span.stop].decode("latin-1")
    for path in sorted(stage.missing):
        pattern = _naming(path.encode("utf-8", "surrogateescape").decode("latin-1"))
        for match in pattern.finditer(text):
            found = Span(match.start() + span.start, match.end() + span.start)
            if not any(one.holds(found) for one in comments):
                yield found


def _naming(path: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w.-])")


def _within(path: str, folder: str) -> bool:
    return posixpath.join(path, "").startswith(posixpath.join(folder, ""))
