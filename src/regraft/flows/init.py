"""`regraft init`: what a repository's own files say of its images, as a manifest."""

import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.findings import Finding
from regraft.core.init_compare import Comparing
from regraft.core.init_dockerfile import held_by
from regraft.core.init_found import Found, image_names, locks_of, upstreams
from regraft.core.init_manifest import Proposal, manifest_text
from regraft.core.init_pip import requirement_lines
from regraft.core.init_propose import propose as proposed_of
from regraft.core.init_questions import open_questions
from regraft.core.init_values import Build, Place, Told, Workflows
from regraft.core.init_workflows import read_script, read_workflow
from regraft.core.lock import read_lock
from regraft.core.manifest import Lock, Manifest
from regraft.core.manifest_reader import read_manifest
from regraft.core.manifest_texts import PROJECT
from regraft.core.patch_read import read_patch_text
from regraft.core.patch_series import read_series
from regraft.core.patterns import regex
from regraft.core.requirements import normalized
from regraft.core.toml_places import TomlPlaces
from regraft.errors import InputError, RefusedError
from regraft.flows.ports import ListedFiles
from regraft.flows.project import MANIFEST, open_manifest

LIMIT = 1024 * 1024  # bytes of one file that is read
MOST = 400  # files of one kind
MOST_SOURCES = 3000

_DOCKERFILE = regex(r"(?i)(?:[^/]+/)*(?:(?:docker|container)file(?:[._-][^/]+)?|[^/]+\.(?:docker|container)file)")
_NO_DOCKERFILE = (
    ".dockerignore",
    ".md",
    ".j2",
    ".jinja",
    ".jinja2",
    ".tmpl",
    ".template",
    ".rst",
    ".patch",
    ".diff",
    ".py",
)
_WORKFLOW = regex(r"\.github/(?:workflows/[^/]+|actions/(?:.+/)?action)\.ya?ml")
_SCRIPT = regex(r"(?:\.github|\.ci|ci|scripts?|tools?|\.buildkite|\.circleci)/.*|[^/]+\.sh|.*/ci/.*\.(?:sh|py)")
_REQUIREMENTS = regex(r"(?:.*/)?requirements[^/]*\.(?:txt|in)|(?:.*/)?requirements/[^/]+\.(?:txt|in)")
_NAME = regex(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[|[<>=!~;@ (]|$)")
_IMPORT = regex(rb"(?m)^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)")
_SKIPPED = frozenset({"node_modules"})


class Proposed(Struct, frozen=True):
    """What a repository's manifest would be: `text` is the file, `manifest` what it says, `questions` how many it asks."""

    text: bytes
    manifest: Manifest
    proposal: Proposal
    found: Found

    @property
    def questions(self) -> int:
        return self.proposal.questions


def propose(files: ListedFiles) -> Proposed:
    """Raises OutsideError where a file cannot be read. Writes nothing."""
    found = gather(files)
    proposal = proposed_of(found)
    text = manifest_text(proposal).encode()
    return Proposed(text, read_manifest(text, f"{files.place(MANIFEST)} (proposed)"), proposal, found)


def init(files: ListedFiles, *, force: bool = False) -> Proposed:
    """The same, to be written: RefusedError `manifest-exists` where there is one, unless `force`."""
    if not force and files.exists(MANIFEST):
        hint = "`regraft init --check` compares with it, `--stdout` shows another, and `--force` writes over it"
        raise RefusedError("manifest-exists", f"there is a {MANIFEST} already", where=files.place(MANIFEST), hint=hint)
    return propose(files)


class Comparison(Struct, frozen=True):
    """`looked_at` counts what was compared."""

    findings: tuple[Finding, ...]
    looked_at: dict[str, int]

    @property
    def failed(self) -> bool:
        return any(one.severity == "error" for one in self.findings)


def compare(files: ListedFiles) -> Comparison:
    """What the project's manifest and its other files say differently. Raises what `open_manifest` raises, and OutsideError."""
    manifest, data = open_manifest(files)
    found = gather(files, manifest)
    proposed_of(found)  # leaves only the Dockerfiles that bake something
    comparing = Comparing(manifest, found, TomlPlaces(data), files.place(MANIFEST), open_questions(data))
    looked_at = {
        "dockerfiles": len(found.held),
        "checkouts": sum(len(one.checkouts) for one in found.held),
        "patches": sum(len(one.patches) for held in found.held for one in held.checkouts.values()),
        "directives": len(found.workflows.directives),
        "image references": len(found.workflows.references),
    }
    placed = [
        replace(one, path=files.place(one.path)) if one.path in found.tracked else one for one in comparing.compare()
    ]
    return Comparison(tuple(placed), looked_at)


class ProposedFiles:
    """A project without a manifest as if the proposed one were there: `ProjectFiles` for the commands that only read."""

    def __init__(self, files: ListedFiles, proposed: Proposed) -> None:
        self._files = files
        self._proposed = proposed

    def read(self, path: str, limit: int) -> bytes | None:
        return self._proposed.text if path == MANIFEST else self._files.read(path, limit)

    def names(self, folder: str) -> tuple[str, ...]:
        return self._files.names(folder)

    def place(self, path: str) -> str:
        """The proposed manifest is no file: its place says so."""
        return f"{self._files.place(path)} (proposed)" if path == MANIFEST else self._files.place(path)


def gather(files: ListedFiles, manifest: Manifest | None = None) -> Found:
    """Everything that is read of a repository. Raises OutsideError where a file cannot be read.

    What no workflow tells of a build is taken from `manifest`, so that the same reading is compared with it.
    """
    return _Gathering(files, manifest).found()


class _Gathering:
    def __init__(self, files: ListedFiles, manifest: Manifest | None) -> None:
        self._files = files
        self._images = [*manifest.images.values()] if manifest is not None else []
        self._paths = [one for one in files.paths() if not _SKIPPED & {*one.split("/")}]
        self._tracked = frozenset(self._paths)

    def read(self, path: str) -> bytes | None:
        """A file, or None where there is none, or one that is too large or leads out of the project."""
        try:
            return self._files.read(path, LIMIT)
        except InputError:
            return None

    def found(self) -> Found:
        workflows = self._workflows()
        name, requires, straight = self._project()
        found = Found(name, self._files.folder, self._tracked, [], workflows, requires, from_git=straight)
        for path in self._named(_DOCKERFILE):
            data = self.read(path) if not path.lower().endswith(_NO_DOCKERFILE) else None
            if data is not None:
                found.held.append(held_by(data, path, self._tracked, self.read, self._build(path, workflows)))
        self._patches(found)
        self._locks(found)
        found.imported = self._imports(found)
        return found

    def _build(self, path: str, workflows: Workflows) -> Build | None:
        told = workflows.build_of(path)
        images = [one for one in self._images if one.dockerfile == path]
        if len(images) != 1:
            return told
        own = images[0].build
        context, target = own.context, own.target
        if told is None:
            return Build(Place(MANIFEST, 1), context, target, tuple(own.arguments.items()), ("context",))
        context = context if "context" in told.unsure else told.context
        target = target if "target" in told.unsure else told.target
        return replace(told, context=context, target=target, arguments=(*own.arguments.items(), *told.arguments))

    def _named(self, pattern: Any, most: int = MOST) -> list[str]:
        return [path for path in self._paths if pattern.fullmatch(path)][:most]

    def _workflows(self) -> Workflows:
        found = Workflows()
        workflows = self._named(_WORKFLOW)
        for path in workflows:
            if (data := self.read(path)) is not None:
                read_workflow(data, path, self._tracked, found)
        for path in self._named(_SCRIPT):
            data = self.read(path) if path not in workflows else None
            if data is not None and b"ci-" in data and b"\0" not in data[:1000]:
                read_script(data, path, found)
        return found

    def _project(self) -> tuple[Told | None, dict[str, Place], list[Any]]:
        name: Told | None = None
        requires: dict[str, Place] = {}
        straight: list[Any] = []
        data = self.read("pyproject.toml")
        if data is not None:
            name = _pyproject(data, requires, straight)
        for path in self._named(_REQUIREMENTS):
            text = self.read(path)
            if text is None:
                continue
            straight += requirement_lines(text, path)
            for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
                if (match := _NAME.match(line)) and "git+" not in line:
                    requires.setdefault(normalized(match[1]), Place(path, number))
        return name, requires, straight

    def _patches(self, found: Found) -> None:
        for held in found.held:
            for one in held.checkouts.values():
                for patch in one.patches if len(one.patches) > 1 else ():
                    if patch.pattern and patch.path not in found.touched:
                        found.touched[patch.path] = self._touched(patch.path, patch.strip, patch.root)
                if one.series is not None and (data := self.read(one.series.text)) is not None:
                    order = read_series(data, one.series.text)
                    found.series[one.series.text] = tuple(line.path for line in order.listed)

    def _locks(self, found: Found) -> None:
        names = image_names([one.dockerfile for one in found.held])
        for one in (lock for upstream in upstreams(found, names) for lock in locks_of(found, upstream)):
            try:
                read_lock(self.read(one.file), Lock(one.file, one.key))
            except InputError:
                found.locked[one.file, one.key] = False
            else:
                found.locked[one.file, one.key] = True

    def _touched(self, path: str, strip: int | None, root: str) -> frozenset[bytes] | None:
        data = self.read(path)
        if data is None:
            return None
        text = read_patch_text(data, strip=strip, root=root.encode(), exists=lambda _: False)
        return None if text.problems else text.touched

    def _imports(self, found: Found) -> dict[str, Place]:
        names = image_names([one.dockerfile for one in found.held])
        wanted = {one.name.replace("-", "_").replace(".", "_").encode() for one in upstreams(found, names)}
        imported: dict[str, Place] = {}
        for path in [one for one in self._paths if one.endswith(".py")][:MOST_SOURCES]:
            if not wanted:
                break
            data = self.read(path)
            if data is None or not any(one in data for one in wanted):
                continue
            for match in _IMPORT.finditer(data):
                if match[1] in wanted:
                    imported[match[1].decode()] = Place(path, data.count(b"\n", 0, match.start()) + 1)
                    wanted.discard(match[1])
        return imported


def _pyproject(data: bytes, requires: dict[str, Place], straight: list[Any]) -> Told | None:
    """The project's own name; what it requires goes into the others."""
    from regraft.core.init_pip import from_git  # noqa: PLC0415 - only a project that has the file needs it

    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text).get("project")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return None
    if not isinstance(table, dict):
        return None
    for requirement in _listed(table):
        place = Place("pyproject.toml", _line_of(text, requirement))
        if (one := from_git(requirement, place)) is not None:
            straight.append(one)
        elif match := _NAME.match(requirement):
            requires.setdefault(normalized(match[1]), place)
    name = table.get("name")
    if not isinstance(name, str) or PROJECT.judge(name) is not None:
        return None
    return Told(name, Place("pyproject.toml", _line_of(text, name, "name")))


def _listed(table: dict[str, Any]) -> Iterator[str]:
    optional = table.get("optional-dependencies")
    groups = [table.get("dependencies"), *(optional.values() if isinstance(optional, dict) else ())]
    for group in groups:
        for one in group if isinstance(group, list) else ():
            if isinstance(one, str):
                yield one


def _line_of(text: str, value: str, key: str = "") -> int:
    """The line of a value that was read; 1 where it is written in another way."""
    for number, line in enumerate(text.split("\n"), 1):
        if value in line and line.lstrip().startswith(key):
            return number
    return 1
