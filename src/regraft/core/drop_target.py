"""Which words of a Dockerfile or a script mean the patch that is to go."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from msgspec import Struct, field
from msgspec.structs import replace

from regraft.core.patterns import regex

UNKNOWN = "$?"  # a folder that nobody knows; what is below it equals nothing
PROJECT = "$:project"  # the top of the project's checkout, wherever that is
WORKDIR = "$:workdir"  # the folder that an image begins in

_VARIABLE = regex(r"\$\w+|\$\{[^}]*\}|\$:?\w+")


class Target(Struct, frozen=True):
    """The patch's path in the project, and every path that is tracked there, itself included.

    `series` and `dockerfiles` are the files that the manifest names as such; `links` says by which links a file is reached too;
    `root` is the project's folder in its repository, with a slash at its end. `strict`: a pattern stands for the patch
    only where that is known to be, and not where its last folders are called alike. `emptied`: the folder that goes with the patch,
    from the top of the repository and from the project's.
    """

    path: str
    tracked: frozenset[str]
    series: frozenset[str] = frozenset()
    dockerfiles: frozenset[str] = frozenset()
    links: dict[str, tuple[str, ...]] = {}
    root: str = ""
    strict: bool = False
    emptied: tuple[str, ...] = ()

    @property
    def listed(self) -> str:
        """As the manifest names it."""
        return self.path.removeprefix(self.root)

    def names(self, path: str) -> tuple[str, ...]:
        """A file's own path, and the links that lead to it."""
        return (path, *self.links.get(path, ()))

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def namesakes(self) -> tuple[str, ...]:
        """Other tracked files of the same name."""
        end = f"/{self.name}"
        return tuple(one for one in self.tracked if one != self.path and (one == self.name or one.endswith(end)))

    def far(self, path: str) -> tuple[bool, str]:
        """Sorts files of the patch's own folder first."""
        return path.rpartition("/")[0] != self.path.rpartition("/")[0], path

    def alone_in(self, folder: str) -> bool:
        """Whether nothing else is tracked below `folder`."""
        start = f"{folder}/" if folder else ""
        return not any(one.startswith(start) for one in self.tracked if one != self.path)

    def with_emptied(self) -> "Target":
        """The same, knowing the outermost folder in which nothing else is tracked. Looks at every path some times."""
        parts = self.path.split("/")[:-1]
        folders = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        folder = next((one for one in folders if self.alone_in(one)), None)
        names = () if folder is None else tuple(dict.fromkeys((folder, folder.removeprefix(self.root))))
        return replace(self, emptied=names)

    def alone_under(self, pattern: str) -> bool:
        """Whether a pattern matches the patch, and nothing else that is tracked."""
        return matches(pattern, self.path) and not any(
            matches(pattern, one) for one in self.tracked if one != self.path
        )

    def concerns(self, text: bytes) -> bool:
        """Whether a text could be about the patch at all: by name, or by a pattern beside a tool that applies patches."""
        stem = _bytes(self.stem)
        if _bytes(self.name) in text or (
            stem in text and re.search(rb"(?<![\w-])" + re.escape(stem) + rb"(?![\w-])", text)
        ):
            return True
        return (b"*" in text or b"{" in text) and (b"apply" in text or b"patch" in text or b" am" in text)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern of a shell or of Docker matches a whole path: `*` stays within one name."""
    wanted, have = pattern.split("/"), path.split("/")
    return len(wanted) == len(have) and all(map(fnmatchcase, have, wanted))


class Where(Struct):
    """What a shell knows at one point: its folder (`UNKNOWN` where nobody can tell) and the paths where the patch stands.

    `loose`: the script runs in a checkout of the project, so that a relative path that names one tracked file names that.
    """

    target: Target
    folder: str
    places: set[str]
    loose: bool = False
    made: set[str] = field(default_factory=set)  # files that the script itself writes

    def path(self, text: str) -> str:
        """`text` from the folder at hand, without `.` and `..` where they can be resolved."""
        for here in ("$PWD", "$(pwd)", "`pwd`"):
            if text == here or text.startswith(f"{here}/"):
                text = f"{self.folder}{text[len(here) :]}"
        return resolved(self.folder, text)

    def is_patch(self, text: str) -> bool:
        path = self.path(text)
        if path in self.made:
            return False
        if path in self.places or text in self.places:
            return True
        if path.rpartition("/")[2] != self.target.name:
            return False
        return self._by_whole_path(path) or (self.loose and self._by_its_end(text))

    def _by_whole_path(self, path: str) -> bool:
        """The path ends in the patch's own, and in that of no other file that is tracked."""
        own = self.target.path
        if "/" not in own or not path.endswith(f"/{own}"):
            return False
        return not any(len(one) > len(own) and path.endswith(f"/{one}") for one in self.target.namesakes)

    def _by_its_end(self, text: str) -> bool:
        if text.startswith(("/", "~")) or self.path(text) in self.target.tracked:
            return False
        parts = [part for part in _VARIABLE.sub("$", text).split("/") if part not in ("", ".")]
        while parts and (parts[0] == ".." or "$" in parts[0]):
            parts.pop(0)
        tail = "/".join(parts)
        if not tail or "$" in tail:
            return False
        ends = [one for one in (self.target.path, *self.target.namesakes) if f"/{one}".endswith(f"/{tail}")]
        return ends == [self.target.path]

    def may_match(self, pattern: str) -> bool:
        """Whether a pattern of this shell could stand for the patch, among others."""
        name = pattern.rpartition("/")[2]
        if "{" in name:
            return any(fnmatchcase(self.target.name, one) for one in _braces(name))
        if not fnmatchcase(self.target.name, name):
            return False
        path, folders = self.path(pattern), _folders(pattern)
        if any(matches(path, place) for place in self.places):
            return True
        if self.target.strict:
            return False
        end = "/".join(["", *folders, self.target.name])
        return bool(folders or self.loose) and f"/{self.target.path}".endswith(end)

    def inner(self) -> "Where":
        """A subshell's: its folder ends with it."""
        return Where(self.target, self.folder, self.places, self.loose, self.made)

    def change_folder(self, text: str | None) -> None:
        self.folder = UNKNOWN if text is None or text == "-" else self.path(text)


def resolved(folder: str, text: str) -> str:
    """`text` as a path from `folder`. What begins with a variable is absolute as it is."""
    path = text if text.startswith(("/", "$", "~")) else f"{folder}/{text}"
    if "$?" in path:
        return f"{UNKNOWN}/{text}"
    head, slash, rest = path.partition("/")
    parts: list[str] = []
    for part in rest.split("/"):
        if part == ".." and parts and parts[-1] != ".." and "$" not in parts[-1]:
            parts.pop()
        elif part == ".." and not head and not parts:
            continue
        elif part not in ("", "."):
            parts.append(part)
    return "/".join([head, *parts]) if slash else head


def landing(target: str, name: str, *, folder: bool) -> Iterator[str]:
    """Where a file called `name` stands after a copy to `target`: below it where that is a folder, or may be one."""
    if not folder:
        yield target
    yield posixpath.join(target, name)


def _braces(name: str) -> Iterable[str]:
    start, stop = name.find("{"), name.find("}")
    if stop < start or start < 0:
        return (name,)
    return [f"{name[:start]}{one}{name[stop + 1 :]}" for one in name[start + 1 : stop].split(",")]


def _folders(pattern: str) -> list[str]:
    """The named folders right before a pattern's last part."""
    found: list[str] = []
    for part in reversed(pattern.split("/")[:-1]):
        if part in ("", ".", "..") or any(char in part for char in "$*?["):
            break
        found.insert(0, part)
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
