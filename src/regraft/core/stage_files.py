"""Which files of the repository stand where in an image, as far as its COPY and ADD tell."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from regraft.core.copy_sources import Taken
from regraft.core.shell_walk import at

LIMIT = 50_000  # files that are followed in one stage


class Written(Struct, frozen=True):
    """A file that a here-document of the Dockerfile writes; `line` is the first of its text there."""

    data: bytes
    line: int


class StageFiles:
    """Paths of the image, absolute, and the paths in the repository that they were copied from."""

    def __init__(self, placed: Mapping[str, str] | None = None, written: Mapping[str, Written] | None = None) -> None:
        self._placed = dict(placed or {})
        self._written = dict(written or {})

    def copy(self) -> "StageFiles":
        return StageFiles(self._placed, self._written)

    def write(self, name: str, data: Written, target: str, folder: str, *, many: bool) -> None:
        """What a here-document called `name` becomes at `target`."""
        place = at(folder, target)
        into = many or target.endswith(("/", "/.")) or target in (".", "..", "") or self._has(place)
        self._written[f"{place.rstrip('/')}/{name}" if into else place] = data

    def written(self, path: str) -> Written | None:
        """The here-document at `path`."""
        return self._written.get(path)

    def put(self, taken: Taken, target: str, folder: str, *, many: bool) -> None:
        """What a source becomes at `target`; `many`: it is one of several sources."""
        place = at(folder, target)
        into = many or taken.folder or target.endswith(("/", "/.")) or target in (".", "..", "") or self._has(place)
        for path, below in taken.files[:LIMIT]:
            if len(self._placed) < LIMIT:
                there = f"{place.rstrip('/')}/{below}" if into else place
                self._placed[there] = path
                self._written.pop(there, None)

    def take_over(self, other: "StageFiles", source: str, target: str, folder: str) -> None:
        """What a `COPY --from` of another stage brings along."""
        start, place = at("/", source), at(folder, target)
        for path, origin in list(other.items()):
            there = self._taken(path, start, place, target)
            if there is not None:
                self._placed[there] = origin
        for path, data in list(other._written.items()):  # noqa: SLF001 - of its own class
            there = self._taken(path, start, place, target)
            if there is not None:
                self._written[there] = data

    def _taken(self, path: str, start: str, place: str, target: str) -> str | None:
        """Where a path of the other stage comes to lie, where it is taken."""
        if path == start:
            name = path.rpartition("/")[2]
            return f"{place}/{name}" if target.endswith("/") or self._has(place) else place
        if path.startswith(f"{start.rstrip('/')}/"):
            return f"{place.rstrip('/')}/{path[len(start.rstrip('/')) + 1 :]}"
        return None

    def items(self) -> Iterator[tuple[str, str]]:
        yield from self._placed.items()

    def at(self, path: str) -> str | None:
        """The file in the repository of which the one at `path` is a copy."""
        return self._placed.get(path)

    def matching(self, pattern: str) -> list[str]:
        """Likewise, of all that a shell's pattern matches, in its order."""
        depth = pattern.count("/")
        names = sorted(one for one in self._placed if one.count("/") == depth and _matches(one, pattern))
        return [self._placed[one] for one in names]

    def folder(self, path: str) -> list[str]:
        """Likewise, of all below a folder."""
        start = f"{path.rstrip('/')}/"
        return [origin for name, origin in sorted(self._placed.items()) if name.startswith(start)]

    def _has(self, place: str) -> bool:
        return place not in self._placed and any(one.startswith(f"{place.rstrip('/')}/") for one in self._placed)


def _matches(path: str, pattern: str) -> bool:
    return all(fnmatchcase(a, b) for a, b in zip(path.split("/"), pattern.split("/"), strict=True))
