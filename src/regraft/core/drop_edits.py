"""Which spans of a project's files go with a patch, and which mentions of it are left for a reader."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from regraft.core.drop_dockerfile import cut_dockerfile
from regraft.core.drop_layout import Layout
from regraft.core.drop_lists import cut_manifest, cut_series
from regraft.core.drop_records import left_empty, may_record
from regraft.core.drop_shell import cut_shell
from regraft.core.drop_target import PROJECT, UNKNOWN, Target, Where
from regraft.core.drop_uses import folder_runs, quilt_runs, uses_of
from regraft.core.drop_values import FileCut, Mention, MentionKind
from regraft.core.drop_workflow import cut_workflow
from regraft.core.patterns import regex
from regraft.core.spans import Places, Span

MANIFEST = "regraft.toml"
SHOWN = 200  # characters of a line that a mention shows
OTHERS = 50  # patches that are tried for a pattern

_DOCKERFILE = regex(r"(?:.*/)?(?:(?:Dockerfile|Containerfile)(?:[._-].*)?|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))")
_WORKFLOW = regex(r"(?:.*/)?\.github/(?:workflows|actions)/.*\.ya?ml|(?:.*/)?action\.ya?ml")
_SERIES = regex(r"(?:.*/)?(?:series|[^/]*\.series)")
_SCRIPT = regex(r".*\.(?:sh|bash)")
_BUILD = regex(
    r"(?:.*/)?(?:(?:GNUm|[Mm])akefile|[Jj]ustfile|Jenkinsfile|CMakeLists\.txt|\.gitlab-ci\.yml|[^/]*\.(?:mk|cmake))"
)
_SHEBANG = regex(rb"#![^\n]*\b(?:ba|da|a|z)?sh\b")


def kind_of(path: str, data: bytes, target: Target) -> str:
    """`dockerfile`, `workflow`, `series`, `manifest`, `script`, `build` or `text`: how the file is read."""
    names = target.names(path)
    if f"{target.root}{MANIFEST}" in names:
        return "manifest"
    if not target.series.isdisjoint(names):
        return "series"
    if not target.dockerfiles.isdisjoint(names):
        return "dockerfile"
    for kind, pattern in (
        ("dockerfile", _DOCKERFILE),
        ("workflow", _WORKFLOW),
        ("series", _SERIES),
        ("script", _SCRIPT),
        ("build", _BUILD),
    ):
        if any(map(pattern.fullmatch, names)):
            return kind
    return "script" if _SHEBANG.match(data) else "text"


def cut_file(path: str, data: bytes, target: Target) -> FileCut:
    """What to cut out of one tracked file. Nothing where it is of no kind that can be edited safely."""
    match kind_of(path, data, target):
        case "manifest":
            return cut_manifest(data, target)
        case "dockerfile":
            return cut_dockerfile(data, path, target)
        case "workflow":
            return cut_workflow(data, target)
        case "series":
            return cut_series(data, path, target)
        case "script":
            return _cut_script(data, target)
        case _:
            return FileCut()


def _cut_script(data: bytes, target: Target) -> FileCut:
    if not target.concerns(data):
        return FileCut()
    where = Where(target, UNKNOWN, {f"{PROJECT}/{target.path}"}, loose=True)
    cut = cut_shell(data, Layout(data), where)
    if cut is None:
        return FileCut()
    if may_record(data) and left_empty([("", data, cut.spans)]):
        return FileCut(globs=cut.globs)
    return FileCut(cut.spans, cut.globs, empty=cut.whole)


def find_quilt(path: str, before: bytes, after: bytes, cut: FileCut, target: Target) -> list[Mention]:
    """What runs quilt over a series in which no patch is left."""
    found = quilt_runs(kind_of(path, before, target), after)
    return [*_mentions([(at, "use") for at in found], path, before, after, cut)]


def find_mentions(path: str, before: bytes, after: bytes, cut: FileCut, target: Target) -> list[Mention]:
    """Every reference to the patch that is left in a file, by its path or its name, and every pattern that may match it."""
    name = target.name.encode("utf-8", "surrogateescape")
    patterns = [Span(*(_moved(at, cut.spans) for at in one)) for one in cut.globs]
    needs = [Span(*(_moved(at, cut.spans) for at in one)) for one in cut.needs]
    kind = kind_of(path, before, target)
    needs += [Span(at, at) for at in folder_runs(kind, after, target.emptied)]
    if name not in after and not patterns and not needs:
        return []
    places = Places(after)
    fed = _fed(path, after, patterns, target) if patterns else set()
    found: list[tuple[int, MentionKind]] = [(one.start, "pattern" if one in fed else "use") for one in patterns]
    if not cut.foreign:
        uses = uses_of(kind, after)
        found += [
            (at, "use" if any(one.start <= at < one.stop for one in uses) else "text")
            for at in _named(after, name, target)
        ]
    told = {places.of(at)[0] for at, _ in found}
    found += [(one.start, "use") for one in needs if places.of(one.start)[0] not in told]
    return [*_mentions(found, path, before, after, cut)]


def _mentions(
    found: Iterable[tuple[int, MentionKind]], path: str, before: bytes, after: bytes, cut: FileCut
) -> Iterator[Mention]:
    places, old = Places(after), Places(before)
    for at, what in sorted(dict.fromkeys(found)):
        line, column = places.of(at)
        text = places.line(line).decode("utf-8", "replace")
        was, _ = old.of(_unmoved(at, cut.spans))
        yield Mention(path, line, column, what, _window(text, column), was)


def _fed(path: str, data: bytes, patterns: Sequence[Span], target: Target) -> set[Span]:
    """The patterns that stand for another patch too, where that is known to be."""
    end = target.name[len(target.stem) :]
    others = sorted((one for one in target.tracked if one != target.path and one.endswith(end)), key=target.far)
    strict = kind_of(path, data, target) == "dockerfile"  # it says itself what stands where
    fed: set[Span] = set()
    for other in others[:OTHERS]:
        open_ = [one for one in patterns if one not in fed and b"{" not in data[one.start : one.stop]]
        if not open_:
            break
        cut = cut_file(path, data, replace(target, path=other, tracked=target.tracked - {target.path}, strict=strict))
        fed |= {one for one in open_ if one in cut.globs or any(span.holds(one) for span in cut.spans)}
    return fed


def _moved(offset: int, spans: tuple[Span, ...]) -> int:
    return offset - sum(min(one.stop, offset) - one.start for one in spans if one.start < offset)


def _unmoved(offset: int, spans: tuple[Span, ...]) -> int:
    for one in spans:
        if one.start <= offset:
            offset += one.stop - one.start
    return offset


def _named(data: bytes, name: bytes, target: Target) -> Iterator[int]:
    """Where the name stands as a whole, but for where it is another tracked file's; the path before it is part of it."""
    pattern = re.compile(rb"(?<![\w.-])" + re.escape(name) + rb"(?![\w-])", re.ASCII)
    own = target.path.encode("utf-8", "surrogateescape")
    others = [one.encode("utf-8", "surrogateescape") for one in target.namesakes]
    for match in pattern.finditer(data):
        start = match.start()
        while start > 0 and data[start - 1 : start] not in b" \t\r\n\"'`()[]<>=,:;|&" and match.start() - start < 4096:
            start -= 1
        token = data[start : match.end()]
        if any(_is_end(token, one) for one in others) and not _is_end(token, own):
            continue
        yield match.end() - len(own) if token.endswith(own) else start


def _is_end(token: bytes, path: bytes) -> bool:
    return token == path or token.endswith(b"/" + path)


def _window(text: str, column: int) -> str:
    """The part of a long line around its column."""
    start = max(0, column - 1 - SHOWN // 2) if len(text) > SHOWN else 0
    return text[start : start + SHOWN].strip()
