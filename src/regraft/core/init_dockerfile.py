"""What an image holds, as far as its Dockerfile says: each stage followed instruction by instruction."""

import copy
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from regraft.core.dockerfile_text import Dockerfile, Instruction, read_dockerfile
from regraft.core.drop_target import WORKDIR, resolved
from regraft.core.init_command import run_command
from regraft.core.init_context import context_of
from regraft.core.init_expand import Copied, Files, Value, copied_by, expand
from regraft.core.init_git import COMMIT, told_url
from regraft.core.init_shell import Shell
from regraft.core.init_values import Build, Checkout, Held, Place, Ref, Told
from regraft.core.patterns import regex
from regraft.core.spans import Places

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_PAIR = regex(r"""([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)""")
_GIT_SOURCE = regex(r"(?P<url>(?:https?|ssh|git)://[^#]+\.git|git@[^#]+\.git)(?:#(?P<ref>[^:]*)(?::.*)?)?")
_COMMENTED = regex(rb"(?m)^[ \t]*#.*?\b(?:git apply|git am|patch)\b.*$")


class _Stage(Struct):
    name: str | None
    held: Held
    folder: str = WORKDIR
    variables: dict[str, str | None] = field(default_factory=dict)
    copied: list[Copied] = field(default_factory=list)


def held_by(
    data: bytes, path: str, tracked: frozenset[str], read: Callable[[str], bytes | None], build: Build | None = None
) -> Held:
    """What the stage that `build` names (else the last one) of the Dockerfile at `path` holds. Nothing is an error here.

    Where `build` does not tell the context, the COPY lines may: it is in the answer.
    """
    recipe = read_dockerfile(data)
    reader = _Reader(recipe, path, tracked, read)
    if build is not None:
        reader.context, reader.passed = build.context, dict(build.arguments)
    context = context_of(recipe, path, tracked) if build is None or "context" in build.unsure else None
    if context is not None and len(context.folders) == 1:
        reader.context = context.folders[0]
    target = build.target if build is not None else None
    reader.follow()
    if not reader.stages:
        return Held(path)
    named = [one for one in reader.stages if target is not None and (one.name or "").lower() == target.lower()]
    held = (named or reader.stages)[-1].held
    held.context, held.declared = context, frozenset(_declared(recipe))
    places = Places(data)
    for match in _COMMENTED.finditer(data):
        line = places.of(match.start())[0]
        held.commented.append(Told(match[0].decode("utf-8", "replace").strip(), Place(path, line)))
    return held


def _declared(recipe: Dockerfile) -> Iterator[str]:
    for one in recipe.instructions:
        if one.keyword == "ARG":
            text = one.text.decode("utf-8", "surrogateescape").replace("\\\n", " ")
            yield from (part.partition("=")[0] for part in _split(text))


class _Reader:
    def __init__(
        self, read: Dockerfile, path: str, tracked: frozenset[str], file: Callable[[str], bytes | None]
    ) -> None:
        self._read = read
        self._path = path
        self._tracked = tracked
        self._file = file
        self._places = Places(read.data)
        self._global: dict[str, str | None] = {}
        self.stages: list[_Stage] = []
        self.context = ""
        self.passed: dict[str, str | None] = {}

    def follow(self) -> None:
        for one in self._read.instructions:
            if one.keyword == "FROM":
                self._from(one)
            elif not self.stages:
                if one.keyword == "ARG":
                    self._arguments(one, self._global, self._global)
            else:
                self._instruction(one, self.stages[-1])

    def _place(self, offset: int) -> Place:
        return Place(self._path, self._places.of(offset)[0])

    def _from(self, one: Instruction) -> None:
        words = [word.text for word in one.words]
        base = words[0] if words else ""
        name = words[2] if len(words) > 2 and words[1].lower() == "as" else None
        earlier = self._stage(base)
        if earlier is not None:
            stage = copy.deepcopy(earlier)
            stage.name = name
            stage.variables = {key: value for key, value in stage.variables.items() if not key.startswith("ARG ")}
        else:
            stage = _Stage(name, Held(self._path, Told(expand(base, self._global).text, Place(self._path, one.line))))
        self.stages.append(stage)

    def _stage(self, name: str) -> _Stage | None:
        if name.isdecimal():
            return self.stages[int(name)] if int(name) < len(self.stages) else None
        return next((one for one in reversed(self.stages) if one.name and one.name.lower() == name.lower()), None)

    def _instruction(self, one: Instruction, stage: _Stage) -> None:
        match one.keyword:
            case "ARG":
                self._arguments(one, stage.variables, self._global)
            case "ENV":
                self._environment(one, stage)
            case "WORKDIR":
                stage.folder = resolved(stage.folder, expand(_joined(one), stage.variables).text)
            case "COPY" | "ADD":
                self._copy(one, stage)
            case "RUN":
                self._run(one, stage)

    def _arguments(self, one: Instruction, variables: dict[str, str | None], outer: Mapping[str, str | None]) -> None:
        text = one.text.decode("utf-8", "surrogateescape").replace("\\\n", " ")
        for part in _split(text):
            name, equals, value = part.partition("=")
            default = _unquoted(value, variables) if equals else outer.get(name)
            variables[name] = self.passed.get(name, default)

    def _environment(self, one: Instruction, stage: _Stage) -> None:
        text = one.text.decode("utf-8", "surrogateescape").replace("\\\n", " ").strip()
        pairs = [(match[1], match[2]) for match in _PAIR.finditer(text)]
        if not pairs or not _PAIR.match(text):
            name, _, value = text.partition(" ")
            pairs = [(name, value.strip())]
        for name, value in pairs:
            if name == "PYTHONPATH":
                self._python_path(one, value, stage)
            if name == "PATH":
                stage.variables.setdefault("PATH", "")
            stage.variables[name] = _unquoted(value, stage.variables)

    def _python_path(self, one: Instruction, value: str, stage: _Stage) -> None:
        place = Place(self._path, one.line)
        done = expand(value.strip("\"'"), {**stage.variables, "PYTHONPATH": stage.variables.get("PYTHONPATH") or ""})
        for part in done.text.split(":"):
            known = [told.text for told in stage.held.python_path]
            if part.startswith("/") and "$" not in part and posixpath.normpath(part) not in known:
                stage.held.python_path.append(Told(posixpath.normpath(part), place))

    def _copy(self, one: Instruction, stage: _Stage) -> None:
        flags = dict(flag.text.partition("=")[::2] for flag in one.flags)
        words = [expand(word.text, stage.variables).text for word in one.words if not word.text.startswith("<<")]
        if len(words) < 2:
            return
        *sources, target = words
        inside = resolved(stage.folder, target)
        if "--from" in flags:
            self._from_stage(flags["--from"], sources, inside, target, stage)
        elif one.keyword == "ADD" and (source := _GIT_SOURCE.fullmatch(sources[0])):
            self._added(source["url"], source["ref"], inside, stage, Place(self._path, one.line))
        else:
            shown = f"{inside.rstrip('/')}/" if target.endswith("/") or target in (".", "./") else inside
            listed = len(sources) > 1 or target.endswith("/") or target == "."
            stage.copied += copied_by(sources, shown if listed else inside, self._tracked, self.context)

    def _added(self, url: str, ref: str | None, path: str, stage: _Stage, place: Place) -> None:
        made = Checkout(path, place, told_url(Value(url, known=True), place))
        if ref:
            made.ref = Ref(ref if "$" not in ref else None, place, named=COMMIT.fullmatch(ref) is None)
            made.branch = made.ref if made.ref.named else None
        stage.held.checkouts[path] = made

    def _from_stage(self, name: str, sources: Sequence[str], inside: str, target: str, stage: _Stage) -> None:
        other = self._stage(name)
        if other is None:
            return
        for source in sources:
            path = posixpath.normpath(source if source.startswith("/") else f"/{source}")
            many = len(sources) > 1
            for there, one in other.held.checkouts.items():
                if there == path or there.startswith(f"{path.rstrip('/')}/"):
                    rest = there[len(path.rstrip("/")) :]
                    moved = copy.deepcopy(one)
                    moved.path = posixpath.normpath(f"{inside}/{rest}" if not many or rest else inside)
                    stage.held.checkouts[moved.path] = moved
            for copied in list(other.copied):
                if copied.inside == path or copied.inside.startswith(f"{path.rstrip('/')}/"):
                    rest = copied.inside[len(path.rstrip("/")) :]
                    below = posixpath.normpath(f"{inside}{rest}")
                    stage.copied.append(
                        Copied(
                            posixpath.join(below, path.rpartition("/")[2])
                            if target.endswith("/") and not rest and copied.project in self._tracked
                            else below,
                            copied.project,
                        )
                    )
            venvs = other.variables.get("$venvs")
            if venvs and path in venvs.split("\n"):
                stage.variables["$venvs"] = f"{stage.variables.get('$venvs') or ''}\n{inside}"

    def _run(self, one: Instruction, stage: _Stage) -> None:
        extra = [copied for flag in one.flags for copied in self._mounted(flag.text, stage)]
        files = Files(self._tracked, [*stage.copied, *extra])
        size = len(files.copied)
        shell = Shell(
            stage.held, files, stage.folder, dict(stage.variables), lambda at: self._place(one.value.start + at),
            run_command, self._file, project=self._project(stage),
        )  # fmt: skip
        words = one.strings
        if words is not None:
            self._exec(shell, [word.text for word in words], Place(self._path, one.line))
        elif not one.heredocs:
            shell.script(one.text, shell.place)
        else:
            self._heredoc(one, shell)
        stage.copied += files.copied[size:]
        if (venvs := shell.variables.get("$venvs")) is not None:
            stage.variables["$venvs"] = venvs

    def _heredoc(self, one: Instruction, shell: Shell) -> None:
        head = one.text.split(b"<<", 1)[0].split()
        name = head[0].decode("utf-8", "replace").rpartition("/")[2] if head else "sh"
        for doc in one.heredocs:
            body = self._read.data[doc.body.start : doc.body.stop]
            place = self._place(doc.body.start)
            if body.startswith(b"#!") and not any(
                shell_name.encode() in body.split(b"\n")[0] for shell_name in _SHELLS
            ):
                shell.say("a script for another program than a shell is not followed", place)
            elif name in _SHELLS:
                start = doc.body.start
                shell.script(body, lambda at, start=start: self._place(start + at))  # type: ignore[misc]  # bound early

    def _exec(self, shell: Shell, words: Sequence[str], place: Place) -> None:
        name = words[0].rpartition("/")[2] if words else ""
        if name in _SHELLS and len(words) > 2 and words[1].endswith("c"):
            shell.script(words[2].encode("utf-8", "surrogateescape"), lambda _: place)
        elif words:
            quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
            shell.script(quoted.encode("utf-8", "surrogateescape"), lambda _: place)

    def _mounted(self, flag: str, stage: _Stage) -> list[Copied]:
        """What a bind mount of the context shows to one RUN."""
        name, _, value = flag.partition("=")
        if name != "--mount":
            return []
        settings = dict(part.partition("=")[::2] for part in value.split(","))
        if settings.get("type", "bind") != "bind" or "from" in settings:
            return []
        source = settings.get("source") or settings.get("src") or "."
        target = settings.get("target") or settings.get("dst") or settings.get("destination")
        if target is None:
            return []
        return list(copied_by([source], resolved(stage.folder, target), self._tracked, self.context))

    def _project(self, stage: _Stage) -> str | None:
        return next((one.inside for one in reversed(stage.copied) if one.project == ""), None)


def _joined(one: Instruction) -> str:
    return " ".join(word.text for word in one.words).strip("\"'")


def _split(text: str) -> list[str]:
    import shlex  # noqa: PLC0415 - only what reads Dockerfiles needs it

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _unquoted(value: str, variables: Mapping[str, str | None]) -> str | None:
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    done = expand(bare, variables)
    return done.text if done.known or (bare != value and value[0] == "'") else _path_like(done.text)


def _path_like(text: str) -> str | None:
    """PATH=/opt/venv/bin:$PATH: what comes first is known."""
    return text if text.startswith("/") and ":" in text else None
