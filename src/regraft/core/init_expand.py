"""Variables of a shell and of a Dockerfile, put in where their values are known, and the project's files in an image."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from regraft.core.drop_target import matches
from regraft.core.patterns import regex
from regraft.core.shell_values import Word

_VARIABLE = regex(r"\$(?:\{(\w+)(?:(:?[-+=?])([^{}]*))?\}|([A-Za-z_]\w*))")
_LEFT = regex(r"\$[\w{(@*#?!$-]|`")
LONGEST = 65_536  # characters of one word
_MOST = 500  # files that one pattern stands for


class Value(Struct, frozen=True):
    """`known`: nothing is left in it that only a running shell could say. `names` are the variables that were put in."""

    text: str
    known: bool
    names: tuple[str, ...] = ()


def expand(text: str, variables: Mapping[str, str | None]) -> Value:
    """`text` with `$NAME`, `${NAME}`, `${NAME:-other}` and `${NAME:+other}` put in; a variable that is None has no value yet."""
    names: list[str] = []
    unknown: list[str] = []

    def put(name: str, operator: str, other: str, whole: str) -> str:
        names.append(name)
        value = variables.get(name)
        if operator.endswith("+"):
            return expand(other, variables).text if value else ""
        if value is not None and (value or not operator):
            return value
        if operator.endswith(("-", "=")):
            return expand(other, variables).text
        unknown.append(whole)
        return whole

    done = _VARIABLE.sub(lambda one: put(one[1] or one[4], one[2] or "", one[3] or "", one[0]), text)
    if len(done) > LONGEST:  # a value that doubles with each line
        return Value(text[:LONGEST], known=False, names=tuple(names))
    return Value(done, not unknown and _LEFT.search(done) is None, tuple(names))


def value_of(word: Word, variables: Mapping[str, str | None]) -> Value:
    return Value(word.text, known=True) if word.plain else expand(word.text, variables)


class Copied(Struct, frozen=True):
    """A folder or file of the project as an image has it. Both are without a slash at the end; "" is the project's root."""

    inside: str
    project: str


class Files(Struct):
    """The project's tracked files, and where an image has them. `copied` are in the order in which they came."""

    tracked: frozenset[str]
    copied: list[Copied]

    def project_path(self, path: str) -> str | None:
        """Which path of the project stands at `path` in the image; that it exists is not said."""
        for one in reversed(self.copied):
            if path == one.inside:
                return one.project
            if path.startswith(f"{one.inside}/") or one.inside == "/":
                rest = path[len(one.inside) :].lstrip("/")
                return f"{one.project}/{rest}" if one.project else rest
        return None

    def find(self, path: str) -> str | None:
        """The tracked file that stands at a path in the image, or whose whole path ends it."""
        for one in reversed(self.copied):
            single = Files(self.tracked, [one]).project_path(path)
            if single is not None and single in self.tracked:
                return single
        if self.project_path(path) is not None:
            return None
        ends = [one for one in _ends(path) if one in self.tracked and "/" in one]
        return ends[0] if ends else None

    def missing(self, path: str) -> str | None:
        """The project's path that stands at `path` in the image by a COPY, where no such file is tracked."""
        there = self.project_path(path)
        return there if there is not None and there not in self.tracked else None

    def matching(self, pattern: str) -> tuple[tuple[str, str], ...]:
        """The tracked files that a pattern in the image stands for, as (path there, path here), in the order of their bytes."""
        found: dict[str, str] = {}
        for one in self.copied:
            for path in self._below(one.project):
                rest = path[len(one.project) :].lstrip("/") if one.project else path
                inside = posixpath.join(one.inside, rest) if rest else one.inside
                if matches(pattern, inside):
                    found[inside] = path
        if not found:
            for tail in _ends(pattern):
                found = {one: one for one in self.tracked if "/" in tail and matches(tail, one)}
                if found:
                    break
        return tuple(sorted(found.items()))[:_MOST]

    def _below(self, folder: str) -> Iterator[str]:
        start = f"{folder}/" if folder else ""
        return (one for one in self.tracked if one == folder or one.startswith(start))


def _ends(path: str) -> Iterable[str]:
    """The ends of a path at its slashes, the longest first."""
    parts = path.strip("/").split("/")
    return ("/".join(parts[at:]) for at in range(len(parts)))


def copied_by(sources: Iterable[str], target: str, tracked: frozenset[str], context: str = "") -> Iterator[Copied]:
    """What `COPY SOURCES... TARGET` brings: a folder's content, a file below a folder, or a file under a new name.

    `context` is the folder of the project that the sources are relative to.
    """
    listed = list(sources)
    many = len(listed) > 1 or target.endswith("/")
    inside = posixpath.normpath(target) if target not in ("", "/") else "/"
    for source in listed:
        path = posixpath.normpath(posixpath.join(context, source.lstrip("/")) or ".")
        if path == ".":
            yield Copied(inside, "")
        elif any(char in path for char in "*?["):
            for one in sorted(tracked):
                if matches(path, one):
                    yield Copied(posixpath.join(inside, one.rpartition("/")[2]), one)
                elif (folder := _matched_folder(path, one)) is not None:
                    yield Copied(inside, folder)
        elif path in tracked or not any(one.startswith(f"{path}/") for one in tracked):
            name = path.rpartition("/")[2]
            yield Copied(posixpath.join(inside, name) if many else inside, path)
        else:
            yield Copied(inside, path)


def _matched_folder(pattern: str, path: str) -> str | None:
    parts = path.split("/")
    size = pattern.count("/") + 1
    head = "/".join(parts[:size])
    return head if size < len(parts) and matches(pattern, head) else None
