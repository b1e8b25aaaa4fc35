"""When workflows start, and which images they build: what a change of a file sets off."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from regraft.core.init_values import Workflows
from regraft.core.init_workflows import read_nodes
from regraft.core.path_filters import Pattern
from regraft.core.patterns import regex
from regraft.core.yaml_nodes import compose, get, items, line_of, pairs, scalars

MOST = 400  # workflows

WORKFLOW = regex(r"\.github/workflows/[^/]+\.ya?ml|(?:.+/)?action\.ya?ml")
_BUILDS = regex(rb"docker|podman|buildah|nerdctl|regraft|\./")
_REGRAFT = regex(r"regraft +(?:--\S+ +)*image +(?:build|decide)\b((?:[^\n;&|\\]|\\\n)*)")
_IMAGE = regex(r"--image[ =]+([A-Za-z0-9._-]+)")
_HASH = regex(r"hashFiles\(((?:\s*'(?:[^'\n]|'')*'\s*,?)+)\)")
_LITERAL = regex(r"'((?:[^'\n]|'')*)'")

_EVENTS = {"push": "push", "pull_request": "pull_request", "pull_request_target": "pull_request"}


class Trigger(Struct, frozen=True):
    """`occasion` is `push` or `pull_request`; no filter: whatever changes."""

    occasion: str
    paths: tuple[Pattern, ...] | None
    ignored: tuple[Pattern, ...] | None
    line: int


class Hashed(Struct, frozen=True):
    """A `hashFiles`. `builds`: it stands in a step that builds an image."""

    patterns: tuple[Pattern, ...]
    line: int
    builds: bool


class Building(Struct, frozen=True):
    """A workflow or an action. `dockerfiles` are what it builds itself; `images` those of the manifest that it has regraft
    build, None for all of them; `calls` are the workflows and actions of the repository that it uses.
    """

    path: str
    triggers: tuple[Trigger, ...]
    dockerfiles: frozenset[str]
    images: frozenset[str] | None
    calls: frozenset[str]
    hashes: tuple[Hashed, ...]

    def builds(self, dockerfile: str, image: str) -> bool:
        return dockerfile in self.dockerfiles or self.images is None or image in self.images


def read_buildings(paths: Iterable[str], read: Callable[[str], bytes | None]) -> tuple[Building, ...]:
    """Every workflow and action among these paths that can be read and that may have to do with an image."""
    tracked = frozenset(paths)
    wanted = sorted(path for path in tracked if WORKFLOW.fullmatch(path))[:MOST]
    found = []
    for path in wanted:
        data = read(path)
        if data is None or not _BUILDS.search(data):
            continue
        try:
            root = compose(data)
        except ValueError:  # no workflow, so nothing that it would set off
            continue
        if root is not None and root.id == "mapping":
            found.append(_building(root, path, tracked))
    return tuple(found)


def callers(buildings: Iterable[Building], dockerfile: str, image: str) -> tuple[Building, ...]:
    """Those that build an image, by what they use too."""
    every = tuple(buildings)
    known = {one.path for one in every if one.builds(dockerfile, image)}
    while True:
        more = {one.path for one in every if one.path not in known and one.calls & known}
        if not more:
            return tuple(one for one in every if one.path in known)
        known |= more


def _building(root: Any, path: str, tracked: frozenset[str]) -> Building:
    found = Workflows()
    read_nodes(root, path, tracked, found)
    lines = {one.place.line for builds in found.built.values() for one in builds}
    steps = list(_steps(root))
    spans = [(first, last) for first, last in map(_span, steps) if any(first <= line <= last for line in lines)]
    return Building(
        path,
        tuple(_triggers(get(root, "on"))),
        frozenset(found.built),
        _by_regraft(steps),
        frozenset(_calls(root, steps, tracked)),
        tuple(_hashes(root, spans)),
    )


def _span(node: Any) -> tuple[int, int]:
    """The first and the last line. What follows a block is where YAML has it end."""
    end = node.end_mark
    return line_of(node), end.line + (end.column > node.start_mark.column)


def _steps(root: Any) -> Iterator[Any]:
    for _, job in pairs(get(root, "jobs")):
        yield from items(get(job, "steps"))
    yield from items(get(root, "runs", "steps"))


def _by_regraft(steps: Iterable[Any]) -> frozenset[str] | None:
    found: set[str] = set()
    for step in steps:
        run = get(step, "run")
        for match in _REGRAFT.finditer(run.value) if run is not None and run.id == "scalar" else ():
            names = _IMAGE.findall(match[1])
            if not names:
                return None
            found.update(names)
    return frozenset(found)


def _calls(root: Any, steps: Iterable[Any], tracked: frozenset[str]) -> Iterator[str]:
    used = [get(one, "uses") for one in (*steps, *(job for _, job in pairs(get(root, "jobs"))))]
    for node in used:
        if node is None or node.id != "scalar" or not node.value.startswith("./"):
            continue
        path = posixpath.normpath(node.value)
        yield from (one for one in (path, f"{path}/action.yml", f"{path}/action.yaml") if one in tracked)


def _triggers(node: Any) -> Iterator[Trigger]:
    if node is None:
        return
    if node.id != "mapping":
        for one in items(node) or [node]:
            if one.id == "scalar" and one.value in _EVENTS:
                yield Trigger(_EVENTS[one.value], None, None, line_of(one))
        return
    for name, event in pairs(node):
        keys: Mapping[str, Any] = dict(pairs(event))
        tags_only = {"tags", "tags-ignore"} & keys.keys() and not {"branches", "branches-ignore"} & keys.keys()
        if name not in _EVENTS or tags_only:
            continue
        paths, ignored = (keys.get(key) for key in ("paths", "paths-ignore"))
        line = line_of(event) - 1 if paths is None and ignored is None else line_of(paths or ignored)
        yield Trigger(_EVENTS[name], _patterns(paths), _patterns(ignored), line)


def _patterns(node: Any) -> tuple[Pattern, ...] | None:
    if node is None or (node.id == "scalar" and node.value in ("", "~", "null")):
        return None
    return tuple(_pattern(one.value, line_of(one)) for one in items(node) or [node] if one.id == "scalar")


def _pattern(text: str, line: int) -> Pattern:
    return Pattern(text.removeprefix("!"), text.startswith("!"), line)


def _hashes(root: Any, spans: Iterable[tuple[int, int]]) -> Iterator[Hashed]:
    for node in scalars(root):
        for match in _HASH.finditer(node.value) if "hashFiles" in node.value else ():
            first = line_of(node) + (1 if node.style in ("|", ">") else 0)
            line = first + node.value.count("\n", 0, match.start()) if node.style == "|" else line_of(node)
            texts = [one[1].replace("''", "'") for one in _LITERAL.finditer(match[1])]
            lines = [one.strip() for text in texts for one in text.split("\n")]
            patterns = tuple(_pattern(one, line) for one in lines if one and not one.startswith("#"))
            yield Hashed(patterns, line, any(start <= line <= end for start, end in spans))
