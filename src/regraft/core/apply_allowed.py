"""What an apply may change in an environment: by the records of before, by what came new, by the lines of `.pth` files."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.observation import Environment, Installed, PathFile, is_below
from regraft.core.patterns import regex
from regraft.core.tree_record import Change, parents

_CUSTOM = frozenset({"sitecustomize", "usercustomize"})
_CACHED = regex(r"(?P<folder>.*/)?__pycache__/(?P<stem>[^/]+?)\.(?P<tag>[^/.]+(?:\.opt-[^/.]+)?)\.pyc")
_FINDER = regex(r"import (?P<name>\w+)(?:; ?(?P=name)\.\w+\(\))?;?")

# What setuptools before 80 wraps the lines of easy-install.pth in, without blanks: whole lines, since each is run at start.
_WRAPPING = frozenset(
    [
        "importsys;sys.__plen=len(sys.path)",
        "importsys;new=sys.path[sys.__plen:];delsys.path[sys.__plen:];p=getattr(sys,'__egginsert',0);sys.path[p:p]=new;sys.__egginsert=p+len(new)",
    ]
)


class Allowed(Struct, frozen=True):
    """What this run may change in an environment.

    What was there before is judged by the records of before: a record that the install itself wrote may claim anything.
    """

    old: frozenset[str]  # files that a named distribution had before
    old_folders: tuple[str, ...]  # everything below them was a named distribution's
    new: frozenset[str]  # files that a named distribution has now
    new_folders: tuple[str, ...]
    others: frozenset[str]  # files that a distribution that is not named had before
    other_folders: frozenset[str]  # its metadata
    there: Container[str]  # the paths that were there before
    sites: tuple[str, ...]  # folders where every interpreter looks for `sitecustomize`, and in some for `.pth` files
    sources: tuple[str, ...]  # checkouts that a line of a `.pth` file may name

    def has(self, path: str) -> bool:
        """Whether a file may change in whatever way. What every interpreter runs at its start may not, where it is new."""
        if path in self.others or not self.other_folders.isdisjoint(parents(path)):
            return False
        if path in self.there:
            return path in self.old or any(is_below(path, folder) for folder in self.old_folders)
        if is_run_at_start(path, self.sites):
            return False
        return path in self.new or any(is_below(path, folder) for folder in self.new_folders)


class Look(Struct, frozen=True):
    """An environment, and the files that the record of each distribution lists, by the path of its metadata."""

    environment: Environment
    files: Mapping[str, Sequence[str]]

    def of(self, named: frozenset[str], *, others: bool = False) -> tuple[Installed, ...]:
        """The distributions that are named, or the others."""
        return tuple(one for one in self.environment.distributions if (one.name in named) is not others)

    def listed(self, installed: Iterable[Installed]) -> frozenset[str]:
        return frozenset(path for one in installed for path in self.files.get(one.metadata, ()))


def allowed(named: frozenset[str], before: Look, after: Look, there: Container[str], sources: Sequence[str]) -> Allowed:
    """`there` are the paths that were there before; of `after` only the named distributions count."""
    unnamed = before.of(named, others=True)
    first = before.environment
    return Allowed(
        old=before.listed(before.of(named)) | _scripts(first, named),
        old_folders=_folders(before.of(named)),
        new=after.listed(after.of(named)) | _scripts(after.environment, named),
        new_folders=_folders(after.of(named)),
        others=before.listed(unnamed),
        other_folders=frozenset(one.metadata for one in unnamed),
        there=there,
        sites=tuple(dict.fromkeys((first.purelib, first.platlib, *first.folders))),
        sources=tuple(sources),
    )


def _folders(installed: Iterable[Installed]) -> tuple[str, ...]:
    """An egg belongs to its distribution as a whole."""
    eggs = [(one.metadata, one.metadata.rpartition("/")[0]) for one in installed]
    return tuple(dict.fromkeys(egg if egg.endswith(".egg") else metadata for metadata, egg in eggs))


def _scripts(environment: Environment, named: frozenset[str]) -> frozenset[str]:
    folder = environment.scripts.rstrip("/")
    return frozenset(f"{folder}/{one.name}" for one in environment.commands if one.distribution in named)


def foreign(changed: Iterable[Change], may: Allowed, before: Environment, after: Environment) -> Iterator[Change]:
    """Those of the changes that nothing allows, but for what lies in a `__pycache__`: `byte_code` tells what of that counts."""
    lines = _other_lines(before.path_files, after.path_files, may)
    for change in changed:
        is_led = change.path.endswith(".pth") and change.path in lines and not lines[change.path]
        if not (is_led or "/__pycache__/" in change.path or may.has(change.path)):
            yield change


class ByteCode(Struct, frozen=True):
    """Byte code that came or changed, and that is not a named distribution's: what an import of the image's interpreter
    could take, by its source, and what is for another interpreter.
    """

    by_source: dict[str, Change]
    others: tuple[Change, ...]


def byte_code(changed: Iterable[Change], may: Allowed, version: str) -> ByteCode:
    """`version` is the interpreter's. What is gone is left out: an import takes the source then."""
    own = re.compile(rf"[a-z]+-?{''.join(version.split('.')[:2])}t?")
    by_source: dict[str, Change] = {}
    others: list[Change] = []
    for change in changed:
        match = _CACHED.fullmatch(change.path)
        source = f"{match['folder'] or ''}{match['stem']}.py" if match else ""
        if match is None or change.kind == "gone" or may.has(source):
            continue
        if own.fullmatch(match["tag"]):
            by_source[source] = change
        else:
            others.append(change)
    return ByteCode(by_source, tuple(others))


def is_run_at_start(path: str, sites: Sequence[str]) -> bool:
    """Whether every interpreter that has these site folders runs the file when it starts, or may."""
    for site in sites:
        if path.startswith(f"{site.rstrip('/')}/"):
            first, *below = path[len(site.rstrip("/")) + 1 :].split("/")
            if first.partition(".")[0] in _CUSTOM or (first.endswith(".pth") and not below):
                return True
    return False


def _other_lines(before: Sequence[PathFile], after: Sequence[PathFile], may: Allowed) -> dict[str, tuple[str, ...]]:
    """For each `.pth` file before and after: the lines that came or went and do not only lead to the sources."""
    old, new = ({one.path: set(one.lines) for one in files} for files in (before, after))
    found = {}
    for path in old.keys() | new.keys():
        differing = [line for line in sorted(old.get(path, set()) ^ new.get(path, set())) if line.strip()]
        found[path] = tuple(line for line in differing if not _leads_to_sources(line, path, may))
    return found


def _leads_to_sources(line: str, path: str, may: Allowed) -> bool:
    if line.startswith("#") or any(is_below(line.strip().rstrip("/"), source) for source in may.sources):
        return True
    if path.endswith("/easy-install.pth"):
        return "".join(line.split()) in _WRAPPING
    # The finder of an editable install: a module beside the file, in the same new record as this.
    match = _FINDER.fullmatch(line.strip())
    beside = f"{path.rpartition('/')[0]}/{match['name']}.py" if match else ""
    return path in may.new and path not in may.there and beside in may.new and may.has(beside)
