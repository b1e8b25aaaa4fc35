"""What a project's workflows and scripts say: which images are built and used, which directives are read, how it is installed."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from regraft.core.drop_target import resolved
from regraft.core.init_command import run_command
from regraft.core.init_expand import Copied, Files, expand
from regraft.core.init_locks import project_lock
from regraft.core.init_shell import Shell
from regraft.core.init_values import Build, Held, Place, Reference, Workflows
from regraft.core.init_words import parted
from regraft.core.manifest_texts import REPOSITORY, TAG
from regraft.core.patterns import regex
from regraft.core.shell_text import read_shell
from regraft.core.shell_values import commands_of
from regraft.core.yaml_nodes import LIMIT, compose, get, pairs, scalars

_EXPRESSION = regex(r"\$\{\{\s{0,20}([^\n]{0,300}?)\s{0,20}\}\}")
_DIRECTIVE = regex(
    rb"(?<![\w$/.-])(ci-[a-z0-9]+(?:-[a-z0-9]+)*-pr|ci-(?:image-)?tag|ci-[a-z0-9]+(?:-[a-z0-9]+)*-(?:image-)?tag)(?=[\s\"'`\\:\[\](*)|]|$)(?!\s*-)"
)
_INPUT = regex(r"ci_[a-z0-9]+(?:_[a-z0-9]+)*_pr|ci_image_tag")
_BUILD = frozenset({"-t", "--tag", "-f", "--file", "--target", "--build-arg", "--platform", "--label", "--cache-from", "--cache-to", "--progress", "--secret", "--ssh", "-o", "--output", "--build-context", "--network", "--builder", "--iidfile", "--metadata-file", "--isolation", "--layers"})  # fmt: skip
_TAGS, _ARGS = ("-t", "--tag"), ("--build-arg",)
_BUILDERS = frozenset({"docker", "podman", "buildah", "nerdctl"})


def read_script(data: bytes, path: str, found: Workflows) -> None:
    """Any text of the project that may read a directive."""
    for match in _DIRECTIVE.finditer(data):
        line = data.count(b"\n", 0, match.start()) + 1
        found.directives.setdefault(match[1].decode("ascii"), Place(path, line))


def read_workflow(data: bytes, path: str, tracked: frozenset[str], found: Workflows) -> None:
    """One workflow or composite action. One that is no YAML says nothing but for the words in it."""
    read_script(data, path, found)
    if len(data) > LIMIT:
        return
    try:
        root = compose(data)
    except ValueError:
        found.unread.append(Place(path, 1))
        return
    read_nodes(root, path, tracked, found)


def read_nodes(root: Any, path: str, tracked: frozenset[str], found: Workflows) -> None:
    """The same of its nodes, without the words."""
    if root is not None and root.id == "mapping":
        _Reader(path, tracked, found).workflow(root)


class _Reader:
    def __init__(self, path: str, tracked: frozenset[str], found: Workflows) -> None:
        self._path = path
        self._tracked = tracked
        self._found = found

    def workflow(self, root: Any) -> None:
        for name, value in pairs(get(root, "on", "workflow_dispatch", "inputs")):
            if _INPUT.fullmatch(name):
                self._found.directives.setdefault(name.replace("_", "-"), self._place(value))
        outer = self._environment(root, {})
        for job, body in pairs(get(root, "jobs")):
            for values in self._matrix(body):
                self._job(job, body, {**outer, **values})
        self._steps(get(root, "runs", "steps"), outer)

    def _place(self, node: Any) -> Place:
        return Place(self._path, node.start_mark.line + 1)

    def _environment(self, node: Any, outer: Mapping[str, str]) -> dict[str, str]:
        found = dict(outer)
        for name, value in pairs(get(node, "env")):
            if value.id == "scalar":
                found[f"env.{name}"] = self._put(value.value, outer)
        return found

    def _matrix(self, job: Any) -> list[dict[str, str]]:
        """The values that `matrix.NAME` has, one set for each value; enough to see every image that is named."""
        found: list[dict[str, str]] = [{}]
        for name, node in pairs(get(job, "strategy", "matrix")):
            for one in node.value if node.id == "sequence" else ():
                if one.id == "scalar":
                    found.append({f"matrix.{name}": one.value})
                elif one.id == "mapping":
                    prefix = "matrix." if name == "include" else f"matrix.{name}."
                    found.append({f"{prefix}{key}": value.value for key, value in pairs(one) if value.id == "scalar"})
        return found if len(found) > 1 else [{}]

    def _put(self, text: str, values: Mapping[str, str]) -> str:
        return _EXPRESSION.sub(lambda one: values.get(one[1], one[0]), text)

    def _job(self, name: str, job: Any, values: Mapping[str, str]) -> None:
        values = self._environment(job, values)
        container = get(job, "container")
        image = container if container is not None and container.id == "scalar" else get(container, "image")
        if image is not None and image.id == "scalar":
            self._reference(self._put(image.value, values), self._place(image), job=name)
        if get(job, "uses") is not None:
            for value in scalars(get(job, "with")):
                self._reference(self._put(value.value, values), self._place(value), job=name, loose=True)
        self._steps(get(job, "steps"), values)

    def _steps(self, steps: Any, values: Mapping[str, str]) -> None:
        for step in steps.value if steps is not None and steps.id == "sequence" else ():
            own = self._environment(step, values)
            uses, run = get(step, "uses"), get(step, "run")
            if uses is not None and uses.id == "scalar" and "build-push-action" in uses.value:
                self._pushed(step, own)
            if run is not None and run.id == "scalar":
                self._script(run, own)

    def _pushed(self, step: Any, values: Mapping[str, str]) -> None:
        """docker/build-push-action: `context`, `file`, `tags`, `target`, `build-args`."""
        text = {key: self._put(value.value, values) for key, value in pairs(get(step, "with")) if value.id == "scalar"}
        context = _folder(text.get("context", "."))
        file = text.get("file") or posixpath.join(context, "Dockerfile")
        arguments = [_argument(line) for line in text.get("build-args", "").splitlines() if line.strip()]
        build = Build(self._place(step), context, text.get("target") or None, tuple(arguments))
        self._built(file, re.split(r"[\s,]+", text.get("tags", "")), build)

    def _built(self, file: str, tags: Iterable[str], build: Build) -> None:
        path = resolved("", file).lstrip("/")
        if path not in self._tracked:
            return
        if "$" in (build.target or "") or "$" in build.context:
            build = replace(build, target=None, context="")
        self._found.built.setdefault(path, []).append(build)
        for tag in tags:
            self._reference(tag, build.place, dockerfile=path)

    def _reference(
        self, text: str, place: Place, *, job: str | None = None, dockerfile: str | None = None, loose: bool = False
    ) -> None:
        name, _, tag = text.strip().partition("@")[0].rpartition(":")
        if "/" in tag or not name or "$" in text or "\n" in text.strip() or (loose and "/" not in name):
            return
        if REPOSITORY.judge(name) is None and TAG.judge(tag) is None:
            one = Reference(name, tag, place, job, dockerfile)
            if not any(
                (name, tag, job, dockerfile) == (o.repository, o.tag, o.job, o.dockerfile)
                for o in self._found.references
            ):
                self._found.references.append(one)

    def _script(self, run: Any, values: Mapping[str, str]) -> None:
        text = self._put(run.value, values)
        place = self._place(run)
        first = place.line + (run.style in ("|", ">"))
        masked = _EXPRESSION.sub(lambda one: "$" + "_" * (len(one[0]) - 1), text).encode("utf-8", "surrogateescape")

        def at(offset: int) -> Place:
            return Place(self._path, first + masked.count(b"\n", 0, offset) if run.style == "|" else place.line)

        if b"docker" in masked or b"podman" in masked or b"buildah" in masked:
            self._builds(masked, values, at)
        if b"pip" in masked:
            held = Held(self._path)
            files = Files(self._tracked, [Copied("$:project", "")])
            shell = Shell(held, files, "$:project", {}, at, run_command, lambda _: None, project="$:project")
            shell.script(masked, at)
            self._found.installs += held.project_installs

    def _locks(self, arguments: Iterable[str], place: Place) -> None:
        for text in arguments:
            name, _, value = text.partition("=")
            lock = project_lock(value, place, self._tracked)
            if lock is not None:
                self._found.locked.setdefault(name, (lock.file, lock.key, place))

    def _builds(self, script: bytes, values: Mapping[str, str], at: Any) -> None:
        block = read_shell(script)
        variables = {name.removeprefix("env."): value for name, value in values.items() if name.startswith("env.")}
        for command in commands_of(block) if block is not None else ():
            for name, word in command.assignments:
                if word is not None:
                    variables[name] = expand(word.text, variables).text
            words = [expand(word.text, variables) for word in command.words]
            texts = [word.text for word in words]
            start = _build_at(texts)
            if start is None:
                continue
            options = parted(words[start:], _BUILD, "tf")
            file = options.last("-f", "--file")
            context = _folder(options.operands[0].text if options.operands else ".")
            path = file.text if file is not None else posixpath.join(context, "Dockerfile")
            named = {
                name: [v.text for n, v in options.options if n in name and v is not None] for name in (_TAGS, _ARGS)
            }
            target = options.last("--target")
            arguments = tuple(_argument(text) for text in named[_ARGS])
            place = at(command.span.start)
            self._locks(named[_ARGS], place)
            self._built(path, named[_TAGS], Build(place, context, target.text if target else None, arguments))


def _folder(text: str) -> str:
    """A build context as a folder of the project; the top where it is none."""
    if text.startswith(("/", "$", "{")) or ":" in text:
        return ""
    folder = posixpath.normpath(text)
    return "" if folder == "." or folder.startswith("..") else folder


def _argument(text: str) -> tuple[str, str | None]:
    """`NAME=VALUE` as a build passes it; without a value that is written there, None."""
    name, equals, value = text.strip().partition("=")
    return name, value if equals and "$" not in value else None


def _build_at(texts: Sequence[str]) -> int | None:
    """Where the options of an image build begin."""
    if not texts or texts[0].rpartition("/")[2] not in _BUILDERS:
        return None
    for at, text in enumerate(texts[1:4], 1):
        if text in ("build", "bud"):
            return at + 1
    return None
