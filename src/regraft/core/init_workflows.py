"""What a project's workflows and scripts say: which images are built and used, which directives are read, how it is installed."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from regraft.core.drop_target import resolved
from regraft.core.init_builds import WORKSPACE, below, read_builds
from regraft.core.init_command import run_command
from regraft.core.init_expand import Copied, Files
from regraft.core.init_locks import project_lock
from regraft.core.init_shell import Shell
from regraft.core.init_values import Build, Held, Place, Reference, Workflows
from regraft.core.manifest_texts import REPOSITORY, TAG
from regraft.core.patterns import regex
from regraft.core.yaml_nodes import LIMIT, compose, get, pairs, scalars

_EXPRESSION = regex(r"\$\{\{\s{0,20}([^\n]{0,300}?)\s{0,20}\}\}")
_DIRECTIVE = regex(
    rb"(?<![\w$/.-])(ci-[a-z0-9]+(?:-[a-z0-9]+)*-pr|ci-(?:image-)?tag|ci-[a-z0-9]+(?:-[a-z0-9]+)*-(?:image-)?tag)(?=[\s\"'`\\:\[\](*)|]|$)(?!\s*-)"
)
_INPUT = regex(r"ci_[a-z0-9]+(?:_[a-z0-9]+)*_pr|ci_image_tag")
_DEFAULT = regex(r"[\w.-]+(?:\s*\|\|\s*[\w.-]+)*\s*\|\|\s*'([^']*)'")
_PASSING = regex(r"\$\{\{\s*github\.(?:sha|run_id|run_number)\s*\}\}|\$\{?GITHUB_(?:SHA|RUN_ID|RUN_NUMBER)\b\}?")
_UNTOLD = regex(r"[\w.-]+(?:[:/][\w.-]+)+(?:@sha256:[0-9a-f]+|:[^\s]*\$[^\n]*)")
_SUBFOLDER = "{{defaultContext}}:"


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
        self._top = ""  # where in the workspace the job's checkout of the project is

    def workflow(self, root: Any) -> None:
        for name, value in pairs(get(root, "on", "workflow_dispatch", "inputs")):
            if _INPUT.fullmatch(name):
                self._found.directives.setdefault(name.replace("_", "-"), self._place(value))
        outer = self._environment(root, {"github.workspace": WORKSPACE})
        folder = self._working(get(root, "defaults", "run"), WORKSPACE, outer)
        for job, body in pairs(get(root, "jobs")):
            for values in self._matrix(body):
                self._job(job, body, {**outer, **values}, folder)
        self._steps(get(root, "runs", "steps"), outer, WORKSPACE, None)

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
        """`text` with what an expression is; of `inputs.tag || 'latest'` what it is where nobody gives one."""

        def put(one: "re.Match[str]") -> str:
            default = _DEFAULT.fullmatch(one[1])
            known = (values[part] for part in (text.strip() for text in one[1].split("||")) if part in values)
            return next(known, default[1] if default else one[0])

        return _EXPRESSION.sub(put, text)

    def _working(self, node: Any, folder: str, values: Mapping[str, str]) -> str:
        own = get(node, "working-directory")
        known = own is not None and own.id == "scalar"
        return resolved(WORKSPACE, self._put(own.value, values)) if known else folder

    def _job(self, name: str, job: Any, values: Mapping[str, str], folder: str) -> None:
        values = self._environment(job, values)
        folder = self._working(get(job, "defaults", "run"), folder, values)
        self._top = self._checked_out(get(job, "steps"), values)
        container = get(job, "container")
        image = container if container is not None and container.id == "scalar" else get(container, "image")
        if image is not None and image.id == "scalar":
            self._reference(self._put(image.value, values), self._place(image), job=name)
        if get(job, "uses") is not None:
            for value in scalars(get(job, "with")):
                self._reference(self._put(value.value, values), self._place(value), job=name, loose=True)
        self._steps(get(job, "steps"), values, folder, name)

    def _checked_out(self, steps: Any, values: Mapping[str, str]) -> str:
        """The folder of the workspace that actions/checkout puts the project into."""
        for step in steps.value if steps is not None and steps.id == "sequence" else ():
            uses, path = get(step, "uses"), get(step, "with", "path")
            ours = uses is not None and uses.id == "scalar" and uses.value.startswith("actions/checkout@")
            if ours and get(step, "with", "repository") is None:
                return _folder(self._put(path.value, values)) if path is not None and path.id == "scalar" else ""
        return ""

    def _steps(self, steps: Any, values: Mapping[str, str], folder: str, job: str | None) -> None:
        for step in steps.value if steps is not None and steps.id == "sequence" else ():
            own = self._environment(step, values)
            uses, run = get(step, "uses"), get(step, "run")
            if uses is not None and uses.id == "scalar" and "build-push-action" in uses.value:
                self._pushed(step, own)
            if run is not None and run.id == "scalar":
                self._script(run, own, self._working(step, folder, own), job)

    def _pushed(self, step: Any, values: Mapping[str, str]) -> None:
        """docker/build-push-action: `context`, `file`, `tags`, `target`, `build-args`."""
        text = {key: self._put(value.value, values) for key, value in pairs(get(step, "with")) if value.id == "scalar"}
        given = text.get("context", _SUBFOLDER)
        inner = _folder(given.removeprefix(_SUBFOLDER)) if given.startswith(_SUBFOLDER) else None
        context = inner if inner is not None else below(resolved(WORKSPACE, given), self._top)
        context = None if "://" in given else context
        file = text.get("file")
        if inner is not None or file is None:
            path = None if context is None else posixpath.join(context, file or "Dockerfile")
        else:
            path = below(resolved(WORKSPACE, file), self._top)
        arguments = [_argument(line) for line in text.get("build-args", "").splitlines() if line.strip()]
        pushes = text.get("push", "false").strip().lower() not in {"false", ""}
        pushes = pushes or any(one in text.get("outputs", "") for one in ("type=registry", "push=true"))
        build = _build(self._place(step), context, text.get("target") or None, arguments)
        tags = _EXPRESSION.sub(lambda one: "${{" + "".join(one[1].split()) + "}}", text.get("tags", ""))
        self._built(path, re.split(r"[\s,]+", tags), build, pushed=pushes)

    def _built(self, path: str | None, tags: Sequence[str], build: Build, *, pushed: bool) -> None:
        if path is None or (path := posixpath.normpath(path)) not in self._tracked:
            return
        if any("$" in _PASSING.sub("", tag) for tag in tags):
            build = replace(build, unsure=(*build.unsure, "tags"))
        self._found.built.setdefault(path, []).append(build)
        for tag in tags:
            self._reference(tag, build.place, dockerfile=path, pushed=pushed)

    def _reference(  # noqa: PLR0913 - keyword-only but for what is named, and where
        self,
        text: str,
        place: Place,
        *,
        job: str | None = None,
        dockerfile: str | None = None,
        loose: bool = False,
        pushed: bool = False,
    ) -> None:
        name, _, tag = text.strip().partition("@")[0].rpartition(":")
        if "/" in tag or not name or "$" in text or "\n" in text.strip() or (loose and "/" not in name):
            if job is not None and (untold := _UNTOLD.fullmatch(text.strip())):
                self._found.untold.setdefault(job, (untold[0], place))
            return
        if REPOSITORY.judge(name) is None and TAG.judge(tag) is None:
            one = Reference(name, tag, place, job, dockerfile, pushed)
            if not any(
                (name, tag, job, dockerfile) == (o.repository, o.tag, o.job, o.dockerfile) and o.pushed >= pushed
                for o in self._found.references
            ):
                self._found.references.append(one)

    def _script(self, run: Any, values: Mapping[str, str], folder: str, job: str | None) -> None:
        text = self._put(run.value, {**values, "github.workspace": "$GITHUB_WORKSPACE"})
        place = self._place(run)
        first = place.line + (run.style in ("|", ">"))
        masked = _EXPRESSION.sub(lambda one: "$" + "_" * (len(one[0]) - 1), text).encode("utf-8", "surrogateescape")

        def at(offset: int) -> Place:
            return Place(self._path, first + masked.count(b"\n", 0, offset) if run.style == "|" else place.line)

        if b"docker" in masked or b"podman" in masked or b"buildah" in masked:
            self._builds(masked, values, at, folder, job)
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

    def _builds(self, script: bytes, values: Mapping[str, str], at: Any, folder: str, job: str | None) -> None:
        variables = {name.removeprefix("env."): value for name, value in values.items() if name.startswith("env.")}
        read = read_builds(script, variables, folder, self._top, self._tracked)
        for one in read.made:
            place = at(one.at)
            self._locks(one.arguments, place)
            build = _build(place, one.context, one.target, [_argument(text) for text in one.arguments])
            self._built(one.file, one.tags, build, pushed=one.pushes)
        self._found.pushed.update(read.pushed)
        for offset, words in read.ran if job is not None else ():
            for word in words:
                if not word.startswith("-"):
                    self._reference(word, at(offset), job=job, loose=True)


def _folder(text: str) -> str:
    """A build context as a folder of the project; the top where it is none."""
    if text.startswith(("/", "$", "{")) or ":" in text:
        return ""
    folder = posixpath.normpath(text)
    return "" if folder == "." or folder.startswith("..") else folder


def _build(place: Place, context: str | None, target: str | None, arguments: Iterable[tuple[str, str | None]]) -> Build:
    told = target is None or "$" not in target
    unsure = tuple(key for key, sure in (("context", context is not None), ("target", told)) if not sure)
    return Build(place, context or "", target if told else None, tuple(arguments), unsure)


def _argument(text: str) -> tuple[str, str | None]:
    """`NAME=VALUE` as a build passes it; without a value that is written there, None."""
    name, equals, value = text.strip().partition("=")
    return name, value if equals and "$" not in value else None
