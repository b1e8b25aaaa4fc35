"""`regraft patch drop`: take a carried patch out of a project, with every use of it that can be edited safely."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from regraft.core.drop_edits import cut_file, find_mentions, find_quilt, kind_of
from regraft.core.drop_target import Target
from regraft.core.drop_values import Change, Drop, Evidence, FileCut, Mention
from regraft.core.manifest import Manifest
from regraft.core.objects import Sha256
from regraft.core.patch_address import is_address, names_of
from regraft.core.quoting import quoted
from regraft.core.spans import Edit, Places, edited
from regraft.core.spelling import nearest
from regraft.errors import InputError, RefusedError

FILE_LIMIT = 4 * 1024 * 1024  # bytes of one file that is read for mentions
_ENDS = (".patch", ".diff")


class Proof(Protocol):
    """What the engine knows of a patch at the commits that its dependencies follow."""

    def of(self, patch: str) -> tuple[Evidence, ...]:
        """One for each image, dependency and ref that carries it; none where nothing does."""


class TrackedFiles(Protocol):
    """The files that the project's repository tracks: in the work tree, or in a commit."""

    @property
    def root(self) -> str:
        """The project's folder below the top of its repository, with a slash at its end; "" at the top."""

    def paths(self) -> tuple[str, ...]:
        """Of every regular file, relative to the top of the repository, in order."""

    def links(self) -> Mapping[str, str]:
        """Tracked links, and the tracked file that each leads to in the end. What leads elsewhere is left out."""

    def each(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes]]:
        """The bytes of those files that are there and hold at most `limit` bytes."""


def plan_drop(patch: str, files: TrackedFiles, proof: Proof | None, manifest: Manifest | None = None) -> Drop:
    """Every edit that takes `patch` (a path in the project) out, and every mention that is left. Writes nothing.

    The patch may be named by its file name alone, where the manifest carries one of that name. What a drop would break is in its
    `uses`. `proof` is None for a drop without proof.
    Raises InputError (no-such-patch, not-a-patch), RefusedError (no-proof, not-proved), and what `proof` and `files` raise.
    """
    tracked = files.paths()
    baked = [one for image in manifest.images.values() for one in image.carried.values()] if manifest else []
    links, root = files.links(), files.root
    known = dict.fromkeys(path for one in baked for path in one.patches)
    patch = _meant(patch, known, {*tracked, *links}, root)
    path = f"{root}{patch}"
    if not is_address(patch):
        _check(patch, {one.removeprefix(root) for one in (*tracked, *links) if one.startswith(root)}, known)
    evidence = proof.of(patch) if proof is not None else ()
    if proof is not None:
        _demand(patch, evidence)
    if is_address(patch):
        from regraft.flows.patch_drop_address import drop_address  # noqa: PLC0415 - hardly any patch is one

        target = _target(patch, tracked, links, root, manifest)
        return drop_address(patch, files.each(tracked, FILE_LIMIT), target, evidence, proved=proof is not None)
    target = _target(path, tracked, links, root, manifest)
    changes: list[Change] = []
    mentions: list[Mention] = []
    cuts: dict[str, FileCut] = {}
    quilt: list[Mention] = []
    digest = b""
    read = 0
    for name, data in files.each(tracked, FILE_LIMIT):
        read += 1
        if name == links.get(path, path):
            digest = data
        if name == path:
            continue
        cut = cut_file(name, data, target)
        after = edited(data, [Edit(span) for span in cut.spans])
        if cut.spans:
            places = Places(data)
            lines = tuple(dict.fromkeys(places.of(span.start)[0] for span in cut.spans))
            changes.append(Change(name, data, after, lines))
        cuts[name] = cut
        mentions += [] if b"\0" in data[:8000] else find_mentions(name, data, after, cut, target)
        quilt += find_quilt(name, data, after, cut, target)
    changes.append(Change(path, digest, None))
    if any(cut.empty and kind_of(name, b"", target) == "series" for name, cut in cuts.items()):
        mentions += quilt
    uses = tuple(one for one in mentions if one.kind == "use" and kind_of(one.path, b"", target) != "manifest")
    sha256 = Sha256(hashlib.sha256(digest).hexdigest())
    drop = Drop(patch, sha256, evidence, proof is not None, tuple(changes), tuple(mentions), uses=uses)
    remarks = [*_remarks(target, drop, cuts, unread=len(tracked) - read)]
    if path in links:
        remarks.append(f"it is a link: {links[path]}, which it leads to, stays")
    return replace(drop, remarks=tuple(remarks))


def _target(
    path: str, tracked: Sequence[str], links: Mapping[str, str], root: str, manifest: Manifest | None
) -> Target:
    images = list(manifest.images.values()) if manifest else []
    series = frozenset(f"{root}{one.series}" for image in images for one in image.carried.values() if one.series)
    dockerfiles = frozenset(f"{root}{image.dockerfile}" for image in images if image.dockerfile)
    names: dict[str, tuple[str, ...]] = {}
    for link, name in links.items():
        names[name] = (*names.get(name, ()), link)
    return Target(path, frozenset({*tracked, path}), series, dockerfiles, names, root).with_emptied()


def _meant(patch: str, carried: Collection[str], tracked: Collection[str], root: str) -> str:
    """The patch that is named, perhaps by its file name alone. Raises InputError for an address that nothing carries."""
    path = patch.removeprefix("./")
    named = [one for one in carried if path in names_of(one)]
    if path in carried or f"{root}{path}" in tracked:
        return path
    if not named:
        if is_address(path):
            hint = "name it as the manifest does"
            raise InputError("no-such-patch", f"nothing in the manifest carries {quoted(path)}", hint=hint)
        return path
    if len(named) > 1:
        hint = f"did you mean {named[0]}?"
        raise InputError("no-such-patch", f"{len(named)} patches are called {quoted(patch)}", hint=hint)
    return named[0]


def _check(patch: str, tracked: Collection[str], carried: Collection[str]) -> None:
    if patch not in tracked:
        end = f"/{patch.rpartition('/')[2]}"
        like = next((one for one in sorted(tracked) if f"/{one}".endswith(end)), None) or nearest(
            patch, sorted(tracked)
        )
        hint = f"did you mean {like}?" if like else "name it as `git ls-files` does"
        raise InputError("no-such-patch", f"the project tracks no file {quoted(patch)}", hint=hint)
    if patch not in carried and not patch.endswith(_ENDS):
        hint = "name a file that the manifest lists under `patches`, or one that ends in .patch or .diff"
        raise InputError("not-a-patch", f"{quoted(patch)} is no patch of the project", hint=hint)


def _demand(patch: str, evidence: Sequence[Evidence]) -> None:
    """Raise RefusedError unless every ref that carries the patch can do without it."""
    if not evidence:
        message = f"nothing in the manifest carries {quoted(patch)}, so no upstream commit proves that it can go"
        raise RefusedError("no-proof", message, hint="look yourself, then say --without-proof")
    needed = [one for one in evidence if not one.droppable]
    if needed:
        told = "\n".join(_needed(one) for one in needed)
        hint = "keep it; or look yourself, then say --without-proof"
        raise RefusedError("not-proved", f"{quoted(patch)} cannot be proved to be needless\n{told}", hint=hint)


def _needed(one: Evidence) -> str:
    state = f"{one.state} at {one.ref} ({one.called}) of {one.dependency}, in {one.image}"
    if one.state == "target-gone":
        looked = (
            "something there still refers to what it edits"
            if one.referred
            else one.reason or "nobody looked for what still refers to it"
        )
        return f"{state}: {looked}"
    return f"{state}: {one.reason}" if one.reason else state


def _remarks(target: Target, drop: Drop, cuts: Mapping[str, FileCut], *, unread: int) -> Iterator[str]:
    running = [one for one in drop.changes if one.after is not None and _runs(one, target)]
    if not running and not drop.uses and not any(one.kind == "pattern" for one in drop.mentions):
        yield "no Dockerfile, workflow or script applies it"
    if len(running) > 1:
        places = ", ".join(f"{one.path}:{one.lines[0]}" for one in running)
        yield f"it was used in {len(running)} files: {places}"
    for path, cut in cuts.items():
        if cut.empty:
            yield f"nothing of use is left in {path}"
    if unread:
        yield f"{unread} tracked files are not there, or hold more than {FILE_LIMIT} bytes, and were not read"


def _runs(change: Change, target: Target) -> bool:
    return kind_of(change.path, change.before, target) in ("dockerfile", "workflow", "script")
