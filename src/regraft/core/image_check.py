"""What is wrong in how a project's images are built, as findings."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from regraft.core.copy_sources import Taken, is_dockerfile
from regraft.core.findings import Finding
from regraft.core.git_clones import VERSION
from regraft.core.globs import matching
from regraft.core.image_applies import Applied, applied_in, hidden_in, used_by
from regraft.core.image_apply_rules import missing, unchecked
from regraft.core.image_filters import Fed, filter_findings
from regraft.core.image_handed import PATCHES, handed_in
from regraft.core.image_inputs import missing_message, unused
from regraft.core.image_loose import loose_of
from regraft.core.image_order_rules import after_install, twice
from regraft.core.image_pin_rules import Locks, pins
from regraft.core.image_rules import finding
from regraft.core.image_unbuilt import unbuilt
from regraft.core.image_values import Place
from regraft.core.image_view import Missing, Recipe, View, view
from regraft.core.trees import Entry, printable
from regraft.errors import InputError, MistakesError

Read = Callable[[str], bytes | None]


class Built(Struct, frozen=True):
    """An image of the manifest that has a Dockerfile. `patches` are those that it carries, `inputs` patterns of what else
    feeds it.
    """

    recipe: Recipe
    patches: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    locks: Locks = {}


class Case(Struct):
    """Everything that the rules look at. `applied` is by image, as `views` are.

    `others` are built too, and not judged; `elsewhere` are the patches that they use, None where that is not known.
    """

    built: tuple[Built, ...]
    others: tuple[Built, ...]
    tree: Mapping[str, Entry]
    read: Read
    views: list[View] = field(default_factory=list)
    applied: list[list[Applied]] = field(default_factory=list)
    started: list[list[Applied]] = field(default_factory=list)
    refused: list[InputError] = field(default_factory=list)
    elsewhere: set[str] | None = field(default_factory=set)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The patch files that are somebody's business: carried, beside one that is applied, below a Dockerfile's folder, or
        copied as patches.
        """
        used = {path for some in self.applied for path in used_by(some)}
        used |= {path for one in self.built for path in one.patches}
        folders = {posixpath.dirname(path) for path in used}
        tops = {posixpath.dirname(one.recipe.dockerfile) for one in self.built} - {""}
        copied = {path for one in self.views for use in one.uses for path in copied_patches(use.taken)}
        found = []
        for path in self.tree:
            if path.endswith(PATCHES):
                inside = path in copied or any(path.startswith(f"{top}/") for top in tops)
                if path in used or posixpath.dirname(path) in folders or inside:
                    found.append(path)
        return tuple(sorted(found))


def copied_patches(taken: Taken) -> Iterator[str]:
    """The patches that are copied as such: by name, by a pattern, or in a folder that is for patches."""
    here = [path for path, below in taken.files if path.endswith(PATCHES) and (not taken.folder or "/" not in below)]
    direct = [path for path, below in taken.files if "/" not in below]
    if not taken.folder or (taken.source and len(here) * 2 >= len(direct)):
        yield from here
    for path, _ in taken.files:
        if path.endswith(PATCHES) and taken.source and "patch" in posixpath.basename(taken.source.rstrip("/")).lower():
            yield path


def judge(
    built: Iterable[Built], tree: Mapping[str, Entry], read: Read, others: Iterable[Built] = ()
) -> tuple[Finding, ...]:
    """All findings, in the order of their places; each is said once. `others` are images that are only not to be forgotten."""
    case = Case(tuple(built), tuple(others), tree, read)
    for one in case.built:
        try:
            found = view(one.recipe, tree, read)
        except InputError as error:
            case.refused += error.mistakes if isinstance(error, MistakesError) else [error]
            continue
        case.views.append(found)
        case.applied.append(applied_in(found.followed.scripts))
        case.started.append(applied_in(found.started.scripts))
    case.elsewhere = _elsewhere(case)
    findings = [one for rule in _RULES for one in rule(case)]
    unique = {(one.rule, one.path, one.line, one.message): one for one in findings}
    return tuple(sorted(unique.values(), key=lambda one: (one.path, one.line or 0, one.rule, one.message)))


def _elsewhere(case: Case) -> set[str] | None:
    found: set[str] = set()
    for one in case.others:
        try:
            found |= _used_in(view(one.recipe, case.tree, case.read), case.read)
        except InputError:
            return None
    return found


def _used_in(found: View, read: Read) -> set[str]:
    """The patches that an image may use."""
    scripts = (*found.followed.scripts, *found.started.scripts)
    return used_by(applied_in(scripts)) | hidden_in(scripts) | handed_in(scripts, read)


def _wrong(case: Case) -> Iterator[Finding]:
    for error in (*case.refused, *(one for found in case.views for one in found.mistakes)):
        path, _, line = (error.where or "").rpartition(":")
        place = Place(path, int(line)) if line.isdecimal() else Place(error.where or "")
        yield finding("dockerfile-wrong", place, error.message, error.hint)


def _copies(case: Case) -> Iterator[Finding]:
    for found in case.views:
        for one in _lost(case, found):
            message, hint = missing_message(one, found.recipe)
            yield finding("copy-missing", one.place, message, hint)


def _lost(case: Case, found: View) -> Iterator[Missing]:
    """What is copied and is not there, unless a step before the build makes it."""
    built = next(one for one in case.built if one.recipe is found.recipe)
    for one in found.missing:
        path = f"{found.recipe.context}/{posixpath.normpath(f'/{one.source}')[1:]}".lstrip("/")
        if not matching(built.generated, [path]):
            yield one


def _applies(case: Case) -> Iterator[Finding]:
    for found, applied, started in zip(case.views, case.applied, case.started, strict=True):
        yield from missing(applied)
        yield from unchecked((*applied, *started), (*found.followed.scripts, *found.started.scripts))
        yield from twice(found, applied, started)
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
    """Only where every image could be looked at: else nobody knows what the others use, or what would have been copied."""
    if case.refused or not case.views or case.elsewhere is None:
        return
    if any(True for found in case.views for _ in _lost(case, found)):
        return
    used = case.elsewhere.union(*(_used_in(one, case.read) for one in case.views))
    for path in case.candidates:
        if path in used:
            continue
        mentions = tuple(_mentions(case, posixpath.basename(path)))
        names = ", ".join(dict.fromkeys(one.recipe.dockerfile for one in (*case.built, *case.others)))
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
    """Copies of a Dockerfile, and of a patch that is somebody's business, wherever they lie."""
    by_content: dict[bytes, list[str]] = {}
    ours = [*case.candidates, *(path for path in case.tree if is_dockerfile(path))]
    mine = set(ours)
    for path in (*ours, *(path for path in case.tree if path.endswith(PATCHES) and path not in mine)):
        data = case.read(path) if case.tree[path].mode.startswith("100") else None
        if data and (path in mine or data in by_content):
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
    known = {one.recipe.dockerfile for one in (*case.built, *case.others)}
    yield from unbuilt(known, case.tree, case.read)


def _pins(case: Case) -> Iterator[Finding]:
    locks = ((one.recipe.dockerfile, one.locks) for one in case.built)
    yield from pins(zip(case.views, case.applied, strict=True), locks)


_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    _wrong, _copies, _applies, _unread, _unused, _identical, _clones, _outside, _arguments, _unbuilt, _pins, _filters,
)  # fmt: skip
