"""The patches that were asked about, each series judged at each ref along its first-parent history."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from regraft.core.baseline_document import decode_baseline, path_of
from regraft.core.document import LIMIT
from regraft.core.history_view import HistoryView, known_at
from regraft.core.manifest import Baked, Dependency, Image, Manifest, Package
from regraft.core.objects import Blob, Commit, Tree
from regraft.core.patch_address import file_name, names_of
from regraft.core.patch_history import SeriesHistory
from regraft.core.patch_memo import Recall, paths_of
from regraft.core.patch_text import PatchText
from regraft.core.quoting import quoted
from regraft.core.references import Hit
from regraft.core.refs import NameRef, Ref
from regraft.core.series_state import FITS
from regraft.core.spelling import nearest
from regraft.core.trees import SUBMODULE, Announced
from regraft.errors import InputError, raise_all
from regraft.flows.patch_files import PatchFiles
from regraft.flows.patch_history import Listing, deleted_names, walk
from regraft.flows.patch_reading import PatchFile, confirmed, read_carried
from regraft.flows.ports import GateStore, HistorySource, ProjectFiles

DEPTHS: tuple[int | None, ...] = (500, 5_000, None)
"""First-parent commits that are looked through for the one that changed a state, until it is found; None: all there are."""


RELEASES = (2, 4, 8, 16, 32)
"""Likewise for releases, each of which has to be downloaded."""


class PatchUpstream(Protocol):
    """One upstream's objects. OutsideError where git or the server failed."""

    @property
    def url(self) -> str: ...
    @property
    def source(self) -> HistorySource: ...
    @property
    def store(self) -> GateStore: ...
    @property
    def recall(self) -> Recall: ...
    @property
    def engine(self) -> bytes: ...
    @property
    def tags(self) -> Mapping[Commit, str]: ...
    @property
    def releases(self) -> Mapping[Commit, Sequence[str]]:
        """Of an upstream whose commits stand for releases: the version of each, and what is to be known of it."""

    def head(self, branch: str | None, /) -> Commit | None:
        """The commit of a branch, or the newest release."""

    def find(self, digits: str, /) -> Commit | None:
        """The commit whose hash begins so."""

    def fetch_blobs(self, blobs: Sequence[Blob], helpful: Sequence[Blob] = (), /) -> None:
        """`ports.FetchBlobs`."""

    def is_ancestor(self, old: Commit, new: Commit, /) -> bool: ...

    def grep(self, tree: Tree, words: Sequence[bytes], /, most: int = 2_000) -> Sequence[Hit]:
        """The lines of a tree's text files in which one of the words stands as a whole: `most` of them."""

    def grep_others(self, tree: Tree, words: Sequence[bytes], /) -> tuple[Sequence[Hit], int]:
        """The same in the files that are no text, one line of each; and how many of those were not looked into."""


class LookUp(Protocol):
    def __call__(
        self, wanted: Sequence[tuple[Dependency | Package, Ref | None]], /
    ) -> Sequence[tuple[PatchUpstream, str, str | None, Commit]]:
        """Of each ref (None: the dependency's branch, or its newest release) the upstream, the ref as written, its full name, and the commit."""


class Progress(Protocol):
    def __call__(self, what: str, done: int, of: int, /) -> None: ...


class Carrier(Struct, frozen=True):
    image: Image
    baked: Baked
    dependency: Dependency | Package


class Case(Struct):
    """One series at one ref. `chosen` are the patches that were asked about, by their place in the series."""

    carrier: Carrier
    chosen: tuple[int, ...]
    upstream: PatchUpstream
    ref: str
    name: str | None  # the full ref name
    commit: Commit
    files: tuple[PatchFile, ...]
    texts: tuple[PatchText, ...]
    history: SeriesHistory

    @property
    def tree(self) -> Tree:
        return self.upstream.source.commit(self.commit).tree

    def called(self, commit: Commit) -> str:
        """What a commit is called in a message: the beginning of its hash, or the version of the release."""
        return called(self.upstream, commit)


def carriers(
    manifest: Manifest, patches: Sequence[str], image: str | None = None, dependency: str | None = None
) -> list[tuple[Carrier, tuple[int, ...]]]:
    """Who carries these patches (none: all), and which of the series they are. Series without patches are left out.

    A patch is named by its path in the project, or by its file name where that is the only one.
    Raises InputError: no-such-patch, no-such-image, no-such-dependency, each with the nearest name.
    """
    mistakes = _unknown_names(manifest, image, dependency)
    raise_all(mistakes)
    every = [
        Carrier(one, baked, manifest.packages.get(name) or manifest.dependencies[name])
        for one in manifest.images.values()
        for name, baked in one.carried.items()
        if image in (None, one.name) and dependency in (None, name)
    ]
    known = list(dict.fromkeys(path for one in every for path in one.baked.patches))
    wanted = [_meant(patch, known, mistakes) for patch in patches]
    raise_all(mistakes)
    found = []
    for one in every:
        chosen = tuple(at for at, path in enumerate(one.baked.patches) if not patches or path in wanted)
        if chosen:
            found.append((one, chosen))
    return found


def judged(
    chosen: Sequence[tuple[Carrier, tuple[int, ...]]],
    refs: Sequence[Ref],
    look_up: LookUp,
    files: ProjectFiles,
    judge: Callable[["Judging"], SeriesHistory],
) -> list[Case]:
    """Each series at each ref (none: the branch that its dependency follows), in that order.

    Raises InputError for refs and patch files, all at once; OutsideError where git, a server or the disk failed.
    """
    patches = PatchFiles(files, [one.image for one, _ in chosen])
    raise_all(patches.mistakes)
    asked = [(carrier, places, ref) for carrier, places in chosen for ref in (refs or followed(carrier, files))]
    answers = look_up([(carrier.dependency, ref) for carrier, _, ref in asked])
    cases: list[Case] = []
    seen: set[tuple[str, str, Commit]] = set()
    known: dict[object, tuple[tuple[PatchText, ...], SeriesHistory]] = {}
    for (carrier, places, _), (upstream, ref, name, commit) in zip(asked, answers, strict=True):
        place = (carrier.image.name, carrier.dependency.name, commit)
        if not refs and place in seen:  # the image holds the newest release
            continue
        seen.add(place)
        series = patches.of(carrier.baked)
        key = (upstream.url, commit, series)
        if key not in known:
            texts = read_series(series, upstream, upstream.source.commit(commit).tree)
            known[key] = texts, judge(Judging(carrier, upstream, commit, texts))
        texts, history = known[key]
        cases.append(Case(carrier, places, upstream, ref, name, commit, series, texts, history))
    return cases


class Judging(Struct, frozen=True):
    """What a series' history is asked of."""

    carrier: Carrier
    upstream: PatchUpstream
    commit: Commit
    texts: tuple[PatchText, ...]

    def along(self, progress: Progress, last: int | None = None, since: Commit | None = None) -> SeriesHistory:
        def say(done: int, of: int) -> None:
            progress(f"{self.carrier.dependency.name} at {called(self.upstream, self.commit)}", done, of)

        one = self.upstream
        return walk(
            self.texts,
            self.commit,
            one.source,
            last=last,
            since=since,
            recall=one.recall,
            engine=one.engine,
            progress=say,
        )

    def deep_enough(self, progress: Progress) -> SeriesHistory:
        """As far back as the last change of every state that would stop a run, or is to be acted on."""
        for last in RELEASES if isinstance(self.carrier.dependency, Package) else DEPTHS:
            history = self.along(progress, last)
            if (
                history.reaches
                or history.cut
                or history.lacks
                or all(one.turns or one.now.state in ("applies", "unreadable") for one in history.patches)
            ):
                break
        return history


def called(upstream: PatchUpstream, commit: Commit) -> str:
    release = upstream.releases.get(commit)
    return release[0] if release else commit[:12]


def followed(carrier: Carrier, files: ProjectFiles) -> Sequence[Ref | None]:
    """What is looked at where no ref is named: the branch that is followed; of a package the version that the image holds, as
    far as its baseline tells, and the newest release. InputError: the baseline is damaged.
    """
    version = baked_version(carrier, files)
    return (None,) if version is None else (Ref(version, NameRef(version)), None)


def baked_version(carrier: Carrier, files: ProjectFiles) -> str | None:
    """The version of a package that the image's baseline lists."""
    if not isinstance(carrier.dependency, Package):
        return None
    path = path_of(carrier.image.name)
    data = files.read(path, LIMIT)
    if data is None:
        return None
    held = decode_baseline(data, carrier.image.name, files.place(path)).environment
    return next((one.version for one in held if one.name == carrier.dependency.package), None)


def read_series(series: Sequence[PatchFile], upstream: PatchUpstream, tree: Tree) -> tuple[PatchText, ...]:
    """Each patch as it is read where the tree's files exist and those that earlier patches make; git's word counts."""
    made: set[bytes] = set()

    def exists(path: bytes) -> bool:
        return path in made or upstream.source.version(tree, path) is not None

    texts = []
    for patch in series:
        text = confirmed(read_carried(patch, exists), patch, _Remembered(upstream))
        if not text.problems:
            made |= text.touched
        texts.append(text)
    return tuple(texts)


def view_of(upstream: PatchUpstream, tree: Tree, texts: Sequence[PatchText], *, hints: bool = False) -> HistoryView:
    """A commit's tree as far as these patches touch it."""
    paths = paths_of(texts)
    known = known_at(tree, paths, deleted_names(texts), upstream.source)
    upstream.source.complete({one.oid for one in known.values() if one.mode != SUBMODULE})
    return HistoryView(known, frozenset(paths), upstream.source, Listing(upstream.source, tree) if hints else None)


def left_out(case: Case, index: int) -> list[str]:
    """The earlier patches of the series that do not fit: this one was judged on the tree without them."""
    return [
        file.called
        for file, one in zip(case.files[:index], case.history.patches[:index], strict=True)
        if one.now.state not in FITS
    ]


class _Remembered(Struct):
    """What git says of the same bytes is the same tomorrow."""

    upstream: PatchUpstream

    def numstat(self, patch: bytes, *, names: Sequence[str] = ("-p1",)) -> Announced:
        asked = msgspec.msgpack.encode(("numstat", self.upstream.engine, names, patch))
        key = hashlib.sha256(asked).digest()
        known = self.upstream.recall.get(key)
        if known is not None:
            return msgspec.msgpack.decode(known, type=Announced)
        announced = self.upstream.store.numstat(patch, names=names)
        self.upstream.recall.put(key, msgspec.msgpack.encode(announced))
        return announced


def _unknown_names(manifest: Manifest, image: str | None, dependency: str | None) -> list[InputError]:
    mistakes = []
    declared = {**manifest.dependencies, **manifest.packages}
    for word, name, known in (("image", image, manifest.images), ("dependency", dependency, declared)):
        if name is not None and name not in known:
            meant = nearest(name, known)
            hint = f"did you mean {meant}?" if meant else f"the manifest has {', '.join(known) or 'none'}"
            message = f"the manifest has no {word} {quoted(name)}"
            mistakes.append(InputError(f"no-such-{word}", message, where=f"--{word}", hint=hint))
    return mistakes


def _meant(patch: str, known: Sequence[str], mistakes: list[InputError]) -> str:
    path = patch.removeprefix("./")
    if path in known:
        return path
    named = [one for one in known if path in names_of(one)]
    if len(named) == 1:
        return named[0]
    meant = named[0] if named else _near(path, known)
    hint = f"did you mean {meant}?" if meant else "`regraft patch status` lists those that the manifest has"
    why = (
        f"{len(named)} patches are called {quoted(patch)}"
        if named
        else f"nothing in the manifest carries {quoted(patch)}"
    )
    mistakes.append(InputError("no-such-patch", why, hint=hint))
    return path


def _near(path: str, known: Sequence[str]) -> str | None:
    if meant := nearest(path, known):
        return meant
    leaf = nearest(file_name(path), [file_name(one) for one in known])
    return next((one for one in known if file_name(one) == leaf), None)
