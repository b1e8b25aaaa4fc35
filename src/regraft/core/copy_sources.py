"""Which files of a build context a source of `COPY`, `ADD` or a bind mount takes in."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from regraft.core.dockerignore import STAR, Ignored, read_dockerignore, without_return
from regraft.core.patterns import regex
from regraft.core.spelling import nearest
from regraft.core.trees import LINK, SUBMODULE, Entry

_GLOB = regex(r"[*?\[]")
_LINKS = 40  # as many as the kernel follows


class LinkOutError(ValueError):
    """A link that leads out of the context; the text says where it lies and where to."""


class Taken(Struct, frozen=True):
    """`files` are paths in the repository with the path below the destination; empty: there is no such thing.

    `folder`: a folder was named, of which the content is copied. `links` were followed to get there, and count too.
    """

    source: str
    files: tuple[tuple[str, str], ...]
    folder: bool = False
    links: tuple[str, ...] = ()


class Context:
    """The files of a build context, as a commit has them. Paths that are asked for are relative to the context."""

    def __init__(
        self, tree: Mapping[str, Entry], root: str, ignored: Ignored, links: Mapping[str, bytes] | None = None
    ) -> None:
        """`root` is the context in the repository, "" for its top. `links` are the targets of the links, by path there."""
        self.root = root
        self._start = f"{root}/" if root else ""
        self._ignored = ignored
        cut = len(self._start)
        self._all = {path[cut:]: entry for path, entry in tree.items() if path.startswith(self._start)}
        self._files = {path: entry for path, entry in self._all.items() if not ignored(path)}
        self._links = {path[cut:]: data for path, data in (links or {}).items() if path.startswith(self._start)}
        self._below: dict[str, list[str]] = {"": []}
        for path in sorted(self._files):
            folder = path
            while folder:
                folder = folder.rpartition("/")[0]
                self._below.setdefault(folder, []).append(path)

    def take(self, source: str, excludes: Iterable[str] = ()) -> tuple[Taken, ...]:
        """One for each thing that a source stands for. Raises LinkOutError."""
        path = _normal(source)
        if (module := self._submodule(path)) is not None:
            return (module,)
        if _GLOB.search(path):
            return tuple(self._one(name, excludes) for name in self._matching(path))
        one = self._one(path.replace("\\", "") if "\\" in path else path, excludes)
        return (one,) if one.files or one.folder else ()

    def take_with_parents(self, source: str, excludes: Iterable[str] = ()) -> tuple[Taken, ...]:
        """The same for `COPY --parents`: a `**` crosses folders, and the folders above stay, from a `/./` on where there is one.

        Raises LinkOutError, BadPatternError.
        """
        path, top = _normal(source), _below_pivot(source)
        names = self._anywhere(path) if _GLOB.search(path) else [path]
        found = []
        for name in names:
            one = self._one(name, excludes)
            kept = top(name)
            files = tuple((file, f"{kept}/{below}".strip("/") if one.folder else kept) for file, below in one.files)
            if files or one.folder:
                found.append(Taken(name, files, folder=True, links=one.links))
        return tuple(found)

    def _anywhere(self, pattern: str) -> list[str]:
        expression = _crossing(pattern)
        return [name for name in sorted({*self._files, *self._below} - {""}) if expression.fullmatch(name)]

    def _submodule(self, path: str) -> Taken | None:
        """The submodule that it lies in: its commit stands for what is in it."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            entry = self._files.get(above)
            if entry is not None and entry.mode == SUBMODULE:
                return Taken(path, ((f"{self._start}{above}", parts[-1]),))
        return None

    def is_ignored(self, source: str) -> bool:
        """Whether it is there, and `.dockerignore` hides it."""
        path = _normal(source)
        return path not in self._files and (
            path in self._all or (path not in self._below and any(one.startswith(f"{path}/") for one in self._all))
        )

    def hides(self, path: str) -> bool:
        """Whether `.dockerignore` leaves it out, tracked or not."""
        return self._ignored(path)

    def near(self, source: str) -> str | None:
        """The file or folder that was probably meant."""
        path = _normal(source)
        folder, _, name = path.rpartition("/")
        beside = {one[len(folder) :].lstrip("/").partition("/")[0] for one in self._below.get(folder, ())}
        if meant := nearest(name, sorted(beside - {name})):
            return f"{folder}/{meant}".lstrip("/")
        same = [one for one in self._files if one.rpartition("/")[2] == name]
        if len(same) == 1:
            return same[0]
        return nearest(path, self._below) if folder and folder not in self._below else None

    def _matching(self, pattern: str) -> list[str]:
        """The files and folders that a pattern names, part by part: a `*` does not cross a slash."""
        depth = pattern.count("/") + 1
        names = {"/".join(path.split("/")[:depth]) for path in self._files if path.count("/") + 1 >= depth}
        expression = _glob(pattern)
        return sorted(name for name in names if expression.fullmatch(name))

    def _one(self, path: str, excludes: Iterable[str]) -> Taken:
        links: list[str] = []
        real = self._real(path, links)
        follow = tuple(f"{self._start}{one}" for one in links)
        if real in self._files:
            return Taken(path, ((f"{self._start}{real}", path.rpartition("/")[2]),), links=follow)
        if real not in self._below:
            return Taken(path, (), links=follow)
        out = _excluded(excludes)
        below = [(f"{self._start}{one}", one[len(real) :].lstrip("/")) for one in self._below[real]]
        return Taken(path, tuple(one for one in below if not out(one[1])), folder=True, links=follow)

    def _real(self, path: str, links: list[str]) -> str:
        """Where a path leads through links, each of which is noted."""
        done: list[str] = []
        waiting = [part for part in path.split("/") if part]
        while waiting:
            part = waiting.pop(0)
            if part == "..":
                if not done:
                    raise LinkOutError(f"{links[-1]!r:.200} is a link that leads out of the build context")
                done.pop()
                continue
            if part == ".":
                continue
            here = "/".join([*done, part])
            entry = self._files.get(here)
            if entry is None or entry.mode != LINK or here not in self._links:
                done.append(part)
                continue
            links.append(here)
            target = self._links[here].decode("utf-8", "surrogateescape")
            if target.startswith("/") or len(links) > _LINKS:
                what = "goes round in a circle" if len(links) > _LINKS else f"leads to {target!r:.200}"
                raise LinkOutError(f"{here!r:.200} is a link that {what}, outside of the repository")
            waiting = [one for one in target.split("/") if one] + waiting
        return "/".join(done)


def _normal(source: str) -> str:
    """As BuildKit reads a source: from the top of the context, which no `..` leaves."""
    path = posixpath.normpath(f"/{source}").lstrip("/")
    return "" if path == "." else path


def is_pattern(source: str) -> bool:
    return _GLOB.search(source) is not None


def with_parents(source: str, target: str) -> str:
    """Where a source that is no pattern comes to lie with `--parents`."""
    return f"{target.rstrip('/')}/{_below_pivot(source)(_normal(source))}"


def _below_pivot(source: str) -> Callable[[str], str]:
    """What is left of a path that `source` names when the folders before its `/./` are cut off. Raises BadPatternError."""
    head, pivot, _ = source.partition("/./")
    above = _normal(head)
    if not pivot or not above:
        return str
    expression = _crossing(above)

    def cut(path: str) -> str:
        parts = path.split("/")
        return next(
            ("/".join(parts[at:]) for at in range(1, len(parts)) if expression.fullmatch("/".join(parts[:at]))), path
        )

    return cut


def _excluded(patterns: Iterable[str]) -> Ignored:
    text = "\n".join(patterns).encode("utf-8", "surrogateescape")
    return Ignored(read_dockerignore(text))


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """Go's filepath.Match. What is no pattern there matches nothing."""
    try:
        return re.compile(without_return([*_tokens(pattern)]), re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")


def _crossing(pattern: str) -> re.Pattern[str]:
    """As `.dockerignore` has them, with `**`. Raises BadPatternError."""
    found = read_dockerignore(pattern.encode("utf-8", "surrogateescape"))
    return re.compile(found[0].expression if found else r"(?!)", re.DOTALL)


def _tokens(pattern: str) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        char = pattern[at]
        close = pattern.find("]", at + 2) if char == "[" else -1
        if char == "*":
            yield STAR
        elif char == "?":
            yield "[^/]"
        elif close > 0:
            inside = pattern[at + 1 : close]
            no = inside.startswith("^")
            body = re.escape(inside[1:] if no else inside).replace(r"\-", "-")
            yield f"(?!/)[{'^' if no else ''}{body}]"
            at = close
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            yield re.escape(pattern[at])
        else:
            yield re.escape(char)
        at += 1


def is_dockerfile(path: str) -> bool:
    """Whether a tracked file is a Dockerfile by its name."""
    return _DOCKERFILE.fullmatch(path.rpartition("/")[2]) is not None


_DOCKERFILE = regex(
    r"(?:Dockerfile|Containerfile)(?:[.-](?!.*(?:md|dockerignore|txt|sh)$)[\w.-]+)?|[\w.-]+\.[Dd]ockerfile"
)
