"""The series file of a folder of patches, as quilt writes it: a name a line, in the order of application."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from regraft.core.patterns import regex

LIMIT = 1024 * 1024  # bytes

_LINE = regex(r"(?:(#+)[ \t]*)?(\S+)((?:[ \t]+\S+)*?)(?:[ \t]+#.*)?[ \t]*")
_STRIP = regex(r"-p(\d{1,2}|ab)")
_PATCH = regex(r".+\.(?:patch|diff)")


class Listed(Struct, frozen=True):
    """One line: a path relative to the project, and the strip level where the line declares one."""

    line: int
    path: str
    strip: int | None


class Mistake(Struct, frozen=True):
    line: int
    message: str


class Order(Struct, frozen=True):
    """`retired` are names in lines that are commented out: known, and not applied."""

    listed: tuple[Listed, ...]
    retired: frozenset[str]
    mistakes: tuple[Mistake, ...]


def read_series(data: bytes, path: str) -> Order:
    """The order in a series file that lies at `path`, beside its patches."""
    folder = path.rpartition("/")[0]
    listed: list[Listed] = []
    retired: set[str] = set()
    mistakes: list[Mistake] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Order((), frozenset(), (Mistake(data[: error.start].count(b"\n") + 1, "is not UTF-8"),))
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.fullmatch(line.rstrip("\r"))
        if match is None:
            if line.strip():
                mistakes.append(Mistake(number, "cannot be read"))
        elif match[1]:
            retired.add(_joined(folder, match[2]))
        else:
            one = Listed(number, _joined(folder, match[2]), _strip(match[3]))
            mistakes += _judged(one, match[2], match[3], listed)
            listed.append(one)
    return Order(tuple(listed), frozenset(retired), tuple(mistakes))


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _strip(options: str) -> int | None:
    found = [match for option in options.split() if (match := _STRIP.fullmatch(option))]
    if not found:
        return None
    return 1 if found[-1][1] == "ab" else int(found[-1][1])


def _judged(one: Listed, name: str, options: str, before: Iterable[Listed]) -> Iterator[Mistake]:
    if not name.isprintable() or name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
        yield Mistake(one.line, f"{name[:200]!r} is no path below the series file's folder")
    for option in options.split():
        if not _STRIP.fullmatch(option):
            yield Mistake(
                one.line, f"{option[:60]!r} is not understood; only a strip level can stand there, such as -p0"
            )
    if any(other.path == one.path for other in before):
        yield Mistake(one.line, f"{name[:200]!r} is listed twice")


def unlisted(names: Iterable[str], order: Order, series: str) -> tuple[str, ...]:
    """Of the files in the folder (paths), the patches that the series does not mention."""
    known = {one.path for one in order.listed} | order.retired | {series}
    return tuple(sorted(name for name in names if name not in known and _PATCH.fullmatch(name)))
