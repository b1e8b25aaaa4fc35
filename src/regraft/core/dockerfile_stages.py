"""The stages of a Dockerfile: what each is built on, what it takes from the others, and what is known at each instruction."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from regraft.core import dockerfile_args as args
from regraft.core.dockerfile_args import BadSubstitutionError, Expanded, Scope, expand
from regraft.core.dockerfile_steps import From, Stage, Step, joined
from regraft.core.dockerfile_text import Directive, Dockerfile, Instruction, read_dockerfile
from regraft.core.patterns import regex
from regraft.core.spelling import nearest
from regraft.errors import InputError

SHELL = ("/bin/sh", "-c")
KEYWORDS = frozenset(
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR".split()  # noqa: SIM905
)

_STAGE_NAME = regex(r"[a-z][a-z0-9._-]*")
_LONE = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_IMAGE_NAME = regex(r"[a-z0-9][A-Za-z0-9./:@_-]*")


class Stages(Struct, frozen=True):
    """`mistakes` are what Docker would refuse, in order; `before` is what `ARG`s before the first FROM hold."""

    path: str
    stages: tuple[Stage, ...]
    before: Scope
    arguments: tuple[Step, ...]  # the ARGs before the first FROM
    mistakes: tuple[InputError, ...]
    directives: tuple[Directive, ...] = ()

    def reached(self, target: str | None) -> tuple[Stage, ...]:
        """The stages that the target (the last one by default) is made of, itself last. Raises InputError `no-such-stage`."""
        if not self.stages:
            return ()
        last = self.stages[-1] if target is None else self._named(target)
        found: set[int] = set()
        waiting = [last.index]
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting += self.stages[index].needs
        return tuple(self.stages[index] for index in sorted(found))

    def _named(self, target: str) -> Stage:
        for stage in reversed(self.stages):
            if target.lower() in (stage.name, str(stage.index)):
                return stage
        names = [stage.name for stage in self.stages if stage.name]
        meant = nearest(target, names)
        hint = f"write `{meant}`" if meant else f"its stages are {', '.join(names)}" if names else "none has a name"
        raise InputError("no-such-stage", f"there is no stage {target!r:.120}", where=self.path, hint=hint)


def _is_named(one: Instruction) -> bool:
    return one.keyword == "FROM" and len(one.words) == 3


def read_stages(dockerfile: Dockerfile, path: str, given: Mapping[str, str]) -> Stages:
    """The stages of a Dockerfile that is built with the build arguments `given`."""
    reader = _Reader(dockerfile, path, given)
    return Stages(
        path,
        tuple(reader.stages),
        reader.before,
        tuple(reader.arguments),
        tuple(reader.mistakes),
        dockerfile.directives,
    )


class _Here(Struct):
    """A stage while it is read."""

    index: int
    name: str | None
    base: From
    line: int
    scope: Scope
    folder: str = "/"
    shell: tuple[str, ...] = SHELL
    steps: list[Step] = []
    left: list[Instruction] = []  # by ONBUILD
    flags: tuple[str, ...] = ()


class _Reader:
    def __init__(self, dockerfile: Dockerfile, path: str, given: Mapping[str, str]) -> None:
        self._data = dockerfile.data
        self._escape = dockerfile.escape.decode()
        self._path = path
        self._given = given
        self.before = Scope({name: given.get(name) for name in sorted(args.PLATFORM)})
        self.arguments: list[Step] = []
        self.stages: list[Stage] = []
        self.mistakes: list[InputError] = []
        self._ends: list[_Here] = []
        self._names = {one.words[2].text.lower() for one in dockerfile.instructions if _is_named(one)}
        here: _Here | None = None
        for one in dockerfile.instructions:
            for doc in one.heredocs:
                if not doc.closed:
                    name = doc.name.decode("utf-8", "replace")
                    hint = f"end it with a line that is {name}"
                    self._wrong(one.line, "bad-dockerfile", f"the here-document {name!r:.80} is not closed", hint)
            if one.keyword == "FROM":
                self._close(here)
                here = self._from(one)
            elif here is None:
                self._first(one)
            else:
                self._step(here, one, self._data, one.line)
        self._close(here)
        if here is None:
            self._wrong(1, "no-stage", "no FROM: this builds nothing", "begin with FROM IMAGE")

    def _wrong(self, line: int, code: str, message: str, hint: str | None = None) -> None:
        self.mistakes.append(InputError(code, message, where=f"{self._path}:{line}", hint=hint))

    def _close(self, here: _Here | None) -> None:
        if here is not None:
            self.stages.append(Stage(here.index, here.name, here.base, here.line, tuple(here.steps), here.flags))
            self._ends.append(here)

    def _expanded(self, text: str, scope: Scope, line: int) -> Expanded:
        try:
            return expand(text, scope, self._escape)
        except BadSubstitutionError as error:
            self._wrong(line, "bad-substitution", str(error))
            return Expanded(text, ("?",))

    def _first(self, one: Instruction) -> None:
        step = Step(one, self._data, one.line, self.before.copy(), "/", SHELL)
        if one.keyword == "ARG":
            self.arguments.append(step)
            for name, value in self._assignments(step):
                default = self._expanded(value, self.before, one.line) if value is not None else None
                args.declared(self.before, name, default, self._given, Scope())
        elif one.keyword in KEYWORDS:
            self._wrong(one.line, "no-stage", f"{one.keyword} stands before the first FROM", "only ARG may")
        else:
            self._unknown(one)

    def _unknown(self, one: Instruction) -> None:
        meant = nearest(one.keyword, KEYWORDS)
        message = f"{one.keyword!r:.60} is no instruction of a Dockerfile"
        self._wrong(one.line, "bad-dockerfile", message, f"write {meant}" if meant else None)

    def _from(self, one: Instruction) -> _Here:
        words = [word.text for word in one.words]
        name = words[2].lower() if len(words) == 3 and words[1].lower() == "as" else None
        if len(words) not in (1, 3) or (len(words) == 3 and name is None):
            self._wrong(one.line, "bad-dockerfile", "FROM takes IMAGE, or IMAGE AS NAME")
        if name is not None and not _STAGE_NAME.fullmatch(name):
            self._wrong(one.line, "bad-dockerfile", f"{name!r:.80} is no name for a stage")
        expanded = self._expanded(words[0] if words else "", self.before, one.line)
        base = self._base(expanded, one.line, words[0] if words else "")
        index = len(self.stages)
        flags = tuple(flag.text for flag in one.flags)
        if base.kind != "stage":
            return _Here(index, name, base, one.line, Scope(open=base.kind == "image"), steps=[], left=[], flags=flags)
        below = self._ends[base.stage]
        here = _Here(index, name, base, one.line, below.scope.copy(), below.folder, below.shell, [], [], flags)
        for trigger in below.left:
            self._trigger(here, trigger)
        return here

    def _base(self, expanded: Expanded, line: int, written: str) -> From:
        text = expanded.text
        if expanded.known:
            if text == "scratch":
                return From("scratch", text, line)
            for stage in reversed(self.stages):
                if stage.name == text.lower():
                    return From("stage", text, line, stage.index, used=expanded.used)
            if not _IMAGE_NAME.fullmatch(text):
                self._wrong(line, "bad-base", f"FROM names no image: {text!r:.120}")
        pattern = args.on_every_platform(expanded)
        named = [one.index for one in self.stages if pattern and one.name and fnmatchcase(one.name, pattern.lower())]
        if named:
            return From("stage", text, line, named[-1], used=expanded.used, stages=tuple(named))
        lone = _LONE.fullmatch(written.strip('"'))
        argument = lone[1] if lone and expanded.used == (lone[1],) else None
        return From(
            "image", text, line, unknown=expanded.unknown, used=expanded.used, argument=argument, pattern=pattern
        )

    def _trigger(self, here: _Here, trigger: Instruction) -> None:
        text = joined(trigger).encode("utf-8", "surrogateescape")
        if trigger.heredocs:
            text += b"\n" + self._data[trigger.heredocs[0].span.start : trigger.heredocs[-1].span.stop]
        for one in read_dockerfile(text).instructions:
            if one.keyword in ("FROM", "ONBUILD", "MAINTAINER"):
                self._wrong(trigger.line, "bad-dockerfile", f"ONBUILD {one.keyword} is not allowed")
            else:
                self._step(here, one, text, trigger.line)

    def _step(self, here: _Here, one: Instruction, data: bytes, line: int) -> None:
        if one.keyword not in KEYWORDS:
            self._unknown(one)
            return
        sources = tuple(self._sources(here, one, line))
        step = Step(one, data, line, here.scope.copy(), here.folder, here.shell, sources)
        here.steps.append(step)
        match one.keyword:
            case "ARG":
                for name, value in self._assignments(step):
                    default = self._expanded(value, step.scope, line) if value is not None else None
                    args.declared(here.scope, name, default, self._given, self.before)
            case "ENV":
                for name, value in self._environment(step):
                    expanded = self._expanded(value, step.scope, line)
                    here.scope.environment[name] = expanded.text if expanded.known else None
            case "WORKDIR":
                text = self._expanded(joined(one), step.scope, line).text
                here.folder = text if text.startswith("/") else f"{here.folder.rstrip('/')}/{text}"
            case "SHELL":
                words = one.strings
                if not words:
                    self._wrong(line, "bad-dockerfile", "SHELL takes a JSON list", 'such as ["/bin/bash", "-c"]')
                here.shell = tuple(word.text for word in words) if words else here.shell
            case "ONBUILD":
                here.left.append(one)
            case _:
                pass

    def _assignments(self, step: Step) -> list[tuple[str, str | None]]:
        words = args.split_words(joined(step.instruction), self._escape)
        try:
            found = [*args.assignments(words)]
        except ValueError as error:
            self._wrong(step.line, "bad-dockerfile", f"ARG: {error}")
            return []
        if not found:
            self._wrong(step.line, "bad-dockerfile", "ARG names nothing")
        return found

    def _environment(self, step: Step) -> list[tuple[str, str]]:
        try:
            return args.environment_words(joined(step.instruction), self._escape)
        except ValueError as error:
            self._wrong(step.line, "bad-dockerfile", f"ENV: {error}")
            return []

    def _sources(self, here: _Here, one: Instruction, line: int) -> Iterator[From]:
        if one.keyword in ("COPY", "ADD"):
            for flag in one.flags:
                if flag.text.startswith("--from="):
                    yield self._source(here, flag.text[7:], line)
        elif one.keyword == "RUN":
            for flag in one.flags:
                if flag.text.startswith("--mount="):
                    for pair in flag.text[8:].split(","):
                        key, _, value = pair.partition("=")
                        if key.lower() == "from":
                            yield self._source(here, value, line)

    def _source(self, here: _Here, text: str, line: int) -> From:
        if "$" in text:
            hint = "give the image a stage of its own: FROM … AS NAME"
            self._wrong(line, "bad-stage", f"--from={text[:80]}: variables are not replaced there", hint)
            return From("image", text, line, unknown=("?",))
        name = text.strip("\"'").lower()
        if name.isdecimal():
            if int(name) < here.index:
                return From("stage", name, line, int(name))
            self._wrong(line, "no-such-stage", f"--from={name}: there is no stage {name} before this one")
            return From("scratch", name, line)
        names = [stage.name for stage in self.stages]
        if name in names:
            return From("stage", name, line, len(names) - 1 - names[::-1].index(name))
        if name in self._names:
            self._wrong(line, "no-such-stage", f"--from={name}: that stage does not come before this one")
            return From("scratch", name, line)
        meant = nearest(name, [one for one in names if one])
        if meant and not any(char in name for char in "/:@"):
            message = f"--from={text[:80]}: there is no stage of that name before this one"
            self._wrong(line, "no-such-stage", message, f"write --from={meant}")
            return From("scratch", name, line)
        return From("image", text.strip("\"'"), line)
