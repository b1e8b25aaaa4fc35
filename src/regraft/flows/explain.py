"""What each baked checkout of an image is made of, from one observation and the project's own files."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from regraft.core.explained import CarriedState, Expected, Explained, explain
from regraft.core.imports import modules_of
from regraft.core.init_dockerfile import held_by
from regraft.core.init_git import COMMIT
from regraft.core.init_values import Build, Place
from regraft.core.lock import read_lock
from regraft.core.manifest import Baked, Dependency, Image, Manifest
from regraft.core.objects import Commit, Tree
from regraft.core.observation import Checkout, Observation, Unreadable, Wanted
from regraft.errors import InputError
from regraft.flows.draft import LOCK_LIMIT
from regraft.flows.judge import judge
from regraft.flows.observe import unread_checkouts
from regraft.flows.patch_files import PatchFiles
from regraft.flows.patch_judging import LookUp, PatchUpstream
from regraft.flows.patch_reading import PatchFile, read_carried
from regraft.flows.ports import Checkouts, ProjectFiles

FILE_LIMIT = 16 * 1024 * 1024  # bytes of a Dockerfile


class Search(Struct, frozen=True):
    """Where candidate commits come from, and how many of the newest of the followed branch are tried."""

    look_up: LookUp
    most: int
    progress: Callable[[str, int, int], None] = lambda *_: None


def explained(  # noqa: PLR0913 - keyword-only but for what is explained
    image: Image,
    manifest: Manifest,
    observation: Observation,
    *,
    files: ProjectFiles,
    checkouts: Checkouts,
    search: Search | None = None,
) -> tuple[Explained, ...]:
    """One for each dependency that could be looked at, in the manifest's order. Raises InputError for patch files; OutsideError where git or a server failed."""
    patches = PatchFiles(files, [image])
    pins = _pins(image, files)
    found = []
    missing = unread_checkouts(observation, image)
    for name, baked in image.baked.items():
        if name in missing:
            continue
        dependency = manifest.dependencies[name]
        carried = patches.of(baked) if not patches.mistakes else ()
        one = _one(baked, observation, carried, checkouts)
        expected = (*_locked(dependency, files), *pins.get(baked.path, ()))
        one = replace(one, expected=expected)
        if one.commit is None and search is not None:
            one = _searched(one, baked, dependency, observation, carried, checkouts, search)
        found.append(one)
    return tuple(found)


def _one(baked: Baked, observation: Observation, carried: Sequence[PatchFile], checkouts: Checkouts) -> Explained:
    there = observation.checkouts[baked.dependency]
    edits = {one.path: _edits(one) for one in carried}
    unpatched: list[str] = []
    if isinstance(there, Checkout) and there.head is not None and there.differences and edits:
        bare = checkouts.look(baked.dependency, baked.path, Wanted(None, None))  # what differs without any patch
        unpatched = [
            one for files in edits.values() for one in files or () if one not in {d.path for d in bare.differences}
        ]
    return explain(
        there,
        dependency=baked.dependency,
        path=baked.path,
        edits=edits,
        unpatched=unpatched,
        distributions=baked.distributions,
        modules=modules_of(baked),
        environment=observation.environment,
        imports=observation.imports,
        expected=(),
    )


def _edits(patch: PatchFile) -> frozenset[str] | None:
    text = read_carried(patch, lambda _: False)
    return None if text.problems else frozenset(one.decode("utf-8", "replace") for one in text.touched)


def _locked(dependency: Dependency, files: ProjectFiles) -> Iterator[Expected]:
    lock = dependency.lock
    if lock is None:
        return
    data = files.read(lock.file, LOCK_LIMIT)
    try:
        yield Expected(lock.file, read_lock(data, replace(lock, file=files.place(lock.file))))
    except InputError:  # `regraft check` says why
        return


def _pins(image: Image, files: ProjectFiles) -> Mapping[str, list[Expected]]:
    """The commits that the image's Dockerfile checks out, by the path of the checkout."""
    data = files.read(image.dockerfile, FILE_LIMIT) if image.dockerfile is not None else None
    if data is None or image.dockerfile is None:
        return {}
    found: dict[str, list[Expected]] = {}
    build = Build(
        Place(image.dockerfile, 1), image.build.context, image.build.target, (*image.build.arguments.items(),)
    )
    for path, one in held_by(data, image.dockerfile, frozenset(), lambda _: None, build).checkouts.items():
        if one.ref is not None and one.ref.text is not None and COMMIT.fullmatch(one.ref.text) and one.doubt is None:
            place = f"{files.place(one.ref.place.path)}:{one.ref.place.line}"
            found.setdefault(path, []).append(Expected(place, Commit(one.ref.text)))
    return found


def _searched(  # noqa: PLR0913, PLR0917 - what is searched, and where
    one: Explained,
    baked: Baked,
    dependency: Dependency,
    observation: Observation,
    carried: Sequence[PatchFile],
    checkouts: Checkouts,
    search: Search,
) -> Explained:
    """The candidate whose files, with the patches that are carried, are exactly those that are there; else still unknown.

    With the patches first, and then without: an image that was built before its patches is one too.
    """
    there = observation.checkouts[baked.dependency]
    if isinstance(there, Unreadable) or there.tree is None:
        return one
    ((upstream, _, _, tip),) = search.look_up([(dependency, None)])
    candidates = _candidates(upstream, tip, [known.commit for known in one.expected], search.most)
    for tried, commit in enumerate(candidates, 1):
        search.progress(f"files of {dependency.name}", tried, len(candidates))
        for patches in (carried, ()) if carried else ((),):
            tree = judge(commit, patches, upstream.store, upstream.fetch_blobs).tree
            if _is(there, tree, baked, checkouts):
                own = upstream.source.commit(commit).tree
                alike = [other for other in candidates if other != commit and upstream.source.commit(other).tree == own]
                return _as_found(replace(one, commit=commit, compared=tried, alike=tuple(alike)), carried, patches)
    return replace(one, compared=len(candidates))


def _as_found(one: Explained, carried: Sequence[PatchFile], inside: Sequence[PatchFile]) -> Explained:
    states = tuple(CarriedState(patch.path, "in" if inside else "not-in") for patch in carried)
    by_patch = {file: patch.path for patch in inside for file in sorted(_edits(patch) or ())}
    return replace(one, how="found", patches=states, by_patch=by_patch, by_nothing=())


def _is(there: Checkout, tree: Tree, baked: Baked, checkouts: Checkouts) -> bool:
    if tree == there.tree:
        return True
    return checkouts.look(baked.dependency, baked.path, Wanted(None, tree)).tree == tree


def _candidates(upstream: PatchUpstream, tip: Commit, expected: Sequence[Commit], most: int) -> list[Commit]:
    """What is expected, then the branch from its tip along first parents, then tags; at most `most`."""
    seen = [one for one in dict.fromkeys(expected) if upstream.source.find(one) is not None]
    at: Commit | None = tip
    while at is not None and len(seen) < most:
        if at not in seen:
            seen.append(at)
        known = upstream.source.find(at)
        at = known.parents[0] if known is not None and known.parents else None
    seen += [one for one in upstream.tags if one not in seen and upstream.source.find(one) is not None]
    return seen[:most]
