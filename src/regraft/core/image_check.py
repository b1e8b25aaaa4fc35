"""What is wrong in how a project's images are built, as findings."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from regraft.core.copy_sources import is_dockerfile
from regraft.core.findings import Finding
from regraft.core.git_clones import VERSION, clones
from regraft.core.globs import matching
from regraft.core.image_applies import PATCHES, Applied, applied_in, hidden_in, used_by
from regraft.core.image_apply_rules import after_install, missing, twice, unchecked
from regraft.core.image_filters import Fed, filter_findings
from regraft.core.image_inputs import missing_message, unused
from regraft.core.image_loose import loose_of
from regraft.core.image_rules import finding
from regraft.core.image_values import Place
from regraft.core.image_view import Recipe, View, view
from regraft.core.trees import Entry, printable
from regraft.errors import InputError, MistakesError

Read = Callable[[str], bytes | None]


class Built(Struct, frozen=True):
    """An image of the manifest that has a Dockerfile. `patches` are those that it carries, `inputs` patterns of what else
    feeds it; `locks` dependency -> commit.
    """

    recipe: Recipe
    patches: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    locks: Mapping[str, tuple[str, str, Place]] = {}  # dependency -> url, commit, the file that says so


class Case(Struct):
    """Everything that the rules look at. `applied` is by image, as `views` are."""

    built: tuple[Built, ...]
    tree: Mapping[str, Entry]
    read: Read
    views: list[View] = field(default_factory=list)
    applied: list[list[Applied]] = field(default_factory=list)
    started: list[list[Applied]] = field(default_factory=list)
    refused: list[InputError] = field(default_factory=list)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The patch files that are somebody's business: carried, beside one that is applied, or below a Dockerfile's folder."""
        used = {path for some in self.applied for path in used_by(some)}
        used |= {path for one in self.built for path in one.patches}
        folders = {posixpath.dirname(path) for path in used}
        tops = {posixpath.dirname(one.recipe.dockerfile) for one in self.built} - {""}
        found = []
        for path in self.tree:
            if path.endswith(PATCHES):
                inside = any(path.startswith(f"{top}/") for top in tops)
                if path in used or posixpath.dirname(path) in folders or inside:
                    found.append(path)
        return tuple(sorted(found))


def judge(built: Iterable[Built], tree: Mapping[str, Entry], read: Read) -> tuple[Finding, ...]:
    """All findings, in the order of their places; each is said once."""
    case = Case(tuple(built), tree, read)
    for one in case.built:
        try:
            found = view(one.recipe, tree, read)
        except InputError as error:
            case.refused += error.mistakes if isinstance(error, MistakesError) else [error]
            continue
        case.views.append(found)
        case.applied.append(applied_in(found.followed.scripts))
        case.started.append(applied_in(found.started.scripts))
    findings = [one for rule in _RULES for one in rule(case)]
    unique = {(one.rule, one.path, one.line, one.message): one for one in findings}
    return tuple(sorted(unique.values(), key=lambda one: (one.path, one.line or 0, one.rule, one.message)))


def _wrong(case: Case) -> Iterator[Finding]:
    for error in (*case.refused, *(one for found in case.views for one in found.mistakes)):
        path, _, line = (error.where or "").rpartition(":")
        place = Place(path, int(line)) if line.isdecimal() else Place(error.where or "")
        yield finding("dockerfile-wrong", place, error.message, error.hint)


def _copies(case: Case) -> Iterator[Finding]:
    for found in case.views:
        built = next(one for one in case.built if one.recipe is found.recipe)
        for one in found.missing:
            path = f"{found.recipe.context}/{posixpath.normpath(f'/{one.source}')[1:]}".lstrip("/")
            if not matching(built.generated, [path]):
                message, hint = missing_message(one, found.recipe)
                yield finding("copy-missing", one.place, message, hint)


def _applies(case: Case) -> Iterator[Finding]:
    for found, applied, started in zip(case.views, case.applied, case.started, strict=True):
        yield from missing(applied)
        yield from unchecked((*applied, *started), (*found.followed.scripts, *found.started.scripts))
        yield from twice(applied, started)
        yield from after_install(found, applied, case.read)


def _unread(case: Case) -> Iterator[Finding]:
    for found in case.views:
        for script in found.followed.scripts:
            if script.block is None:
                yield finding(
                    "script-unread",
                    script.place(0),
                    "this cannot be read as a shell script: nothing in it was looked at",
                )


def _unused(case: Case) -> Iterator[Finding]:
    """Only where every image could be looked at: else nobody knows what the others use."""
    if case.refused or not case.views:
        return
    used = {path for some in (*case.applied, *case.started) for path in used_by(some)}
    used |= {path for one in case.views for path in hidden_in((*one.followed.scripts, *one.started.scripts))}
    for path in case.candidates:
        if path in used:
            continue
        mentions = tuple(_mentions(case, posixpath.basename(path)))
        names = ", ".join(dict.fromkeys(one.recipe.dockerfile for one in case.views))
        carried = [one.recipe.image for one in case.built if path in one.patches]
        message = (
            f"{carried[0]} carries this patch, and its Dockerfile does not apply it"
            if carried
            else f"no image applies this patch; looked at {printable(names)}"
        )
        yield finding("patch-unused", Place(path), message, "apply it, or remove the file", mentions[:5])


def _mentions(case: Case, name: str) -> Iterator[tuple[Place, str]]:
    """Where a Dockerfile names the patch all the same, in a comment above all."""
    for path in dict.fromkeys(one.recipe.dockerfile for one in case.views):
        for number, line in enumerate((case.read(path) or b"").split(b"\n"), 1):
            if name.encode("utf-8", "surrogateescape") in line:
                yield Place(path, number), "commented out here" if line.lstrip().startswith(b"#") else "named here"


def _identical(case: Case) -> Iterator[Finding]:
    by_content: dict[bytes, list[str]] = {}
    dockerfiles = [path for path in case.tree if is_dockerfile(path)]
    for path in (*case.candidates, *dockerfiles):
        data = case.read(path) if case.tree[path].mode.startswith("100") else None
        if data:
            by_content.setdefault(data, []).append(path)
    for paths in by_content.values():
        for other in paths[1:]:
            message = f"byte for byte the same as {printable(paths[0])}"
            yield finding(
                "patch-copied", Place(other), message, "keep one, and name that", ((Place(paths[0]), "the other"),)
            )


def _clones(case: Case) -> Iterator[Finding]:
    for found in case.views:
        for one in loose_of(found, case.read):
            if one.kind not in ("clone", "pip") or one.argument is not None:
                continue
            if one.ref is not None and VERSION.fullmatch(one.ref):
                continue  # a release's tag: listed as not covered, and no fault
            fix = "take the commit as an ARG, and check that out: then the layer is keyed by it"
            message = (
                f"{one.what}: the layer is keyed by the command's text, and keeps whatever commit it was built with"
            )
            yield finding("clone-moving", one.place, message, fix)


def _outside(case: Case) -> Iterator[Finding]:
    for found in case.views:
        built = next(one for one in case.built if one.recipe is found.recipe)
        if not built.within:
            continue
        for use in found.uses:
            out = [path for path, _ in use.taken.files if not matching(built.within, [path])]
            for number, path in enumerate(out[:3], 1):
                more = f" (and {len(out) - 3} more)" if number == 3 and len(out) > 3 else ""
                message = f"{printable(path)} feeds {built.recipe.image}, and lies outside of its `inputs-within`{more}"
                yield finding("input-outside", use.place, message, "add it to the list, or do not use it")


def _filters(case: Case) -> Iterator[Finding]:
    yield from filter_findings((_fed(case, found) for found in case.views), case.tree, case.read)


def _fed(case: Case, found: View) -> Fed:
    recipe = found.recipe
    built = next(one for one in case.built if one.recipe is recipe)
    inputs: dict[str, Place | None] = {recipe.dockerfile: None}
    inputs |= {
        path: use.place for use in found.uses for path in (*(one for one, _ in use.taken.files), *use.taken.links)
    }
    others = (*built.patches, *matching(built.inputs, case.tree), *(place.path for _, _, place in built.locks.values()))
    inputs |= dict.fromkeys(path for path in others if path not in inputs and path in case.tree)
    return Fed(recipe.image, recipe.dockerfile, inputs)


def _arguments(case: Case) -> Iterator[Finding]:
    for found in case.views:
        for name in unused(found):
            message = f"{found.recipe.image} passes the build argument {name}, which this does not declare"
            yield finding(
                "argument-unused",
                Place(found.recipe.dockerfile),
                message,
                f"add ARG {name}, or take it out of `build-args`",
            )


def _unbuilt(case: Case) -> Iterator[Finding]:
    known = {one.recipe.dockerfile for one in case.built}
    others = [path for path in case.tree if is_dockerfile(path) and path not in known]
    if not others:
        return
    texts = [case.read(path) or b"" for path in case.tree if _may_build(path)]
    for path in others:
        name, folder = posixpath.basename(path), posixpath.dirname(path)
        plain = name in ("Dockerfile", "Containerfile")
        wanted = [path, *([] if plain else [name]), *([folder] if plain and folder else [])]
        if plain and not folder:
            wanted = ["docker build", "docker buildx", "build-push-action"]
        if not any(word.encode("utf-8", "surrogateescape") in text for word in wanted for text in texts):
            message = "no image of the manifest is built from this, and no workflow, script or Makefile names it"
            yield finding("image-unbuilt", Place(path), message, "add it to the manifest, or remove it")


def _may_build(path: str) -> bool:
    name = posixpath.basename(path)
    ends = (".yml", ".yaml", ".sh", ".hcl", ".mk", ".toml", ".json", ".groovy", ".py")
    return name.endswith(ends) or name in ("Makefile", "justfile", "Jenkinsfile", "Justfile", "GNUmakefile")


class _Pin(Struct, frozen=True):
    url: str
    commit: str
    place: Place
    patches: frozenset[str]


def _pins(case: Case) -> Iterator[Finding]:
    """A patch that two builds apply to different commits, and a lock that says another commit than the build."""
    pins: dict[str, list[_Pin]] = {}
    for found, applied in zip(case.views, case.applied, strict=True):
        for clone in clones(found.followed.scripts):
            if clone.pinned and clone.ref is not None:
                url = _plain(clone.url)
                own = [one for one in applied if _within(one.folder, clone.folder)]
                patches = frozenset(path for one in own for path in one.paths)
                pins.setdefault(url, []).append(_Pin(url, clone.ref, clone.ref_place or clone.place, patches))
    for built in case.built:
        for name, (url, commit, place) in built.locks.items():
            for pin in pins.get(_plain(url), ()):
                if pin.place.path == built.recipe.dockerfile and not commit.startswith(pin.commit):
                    message = f"{name} is built at {pin.commit[:12]}, and the lock records {commit[:12]}"
                    yield finding(
                        "pin-differs", pin.place, message, "let both name the same commit", ((place, "the lock"),)
                    )
    for some in pins.values():
        first = some[0]
        for pin in some[1:]:
            shared = sorted(first.patches & pin.patches)
            same = pin.commit.startswith(first.commit) or first.commit.startswith(pin.commit)
            if shared and not same:
                message = (
                    f"{printable(shared[0])} is applied to {pin.commit[:12]} here, and to {first.commit[:12]} elsewhere"
                )
                fix = "pin the same commit, or carry a patch of its own for each"
                yield finding("pin-differs", pin.place, message, fix, ((first.place, f"to {first.commit[:12]}"),))


def _within(folder: str, clone: str) -> bool:
    return folder == clone or folder.startswith(f"{clone}/")


def _plain(url: str) -> str:
    return url.rstrip("/").removesuffix(".git").lower().replace("git@github.com:", "https://github.com/")


_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    _wrong, _copies, _applies, _unread, _unused, _identical, _clones, _outside, _arguments, _unbuilt, _pins, _filters,
)  # fmt: skip
