"""`regraft check --beside REV`: what two branches bring that cannot both stay: one patch path, with different content."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from regraft.core.findings import Finding, Witness
from regraft.core.manifest import Manifest
from regraft.core.objects import Commit
from regraft.core.patch_address import is_address
from regraft.core.patch_difference import difference
from regraft.core.trees import SUBMODULE, Entry, printable
from regraft.errors import InputError
from regraft.flows.image_inputs import SourceFiles, manifest_of

HEAD = "HEAD"
SHOWN = 100  # paths that are told in full

_ENDS = (".patch", ".diff")


class Branches(Protocol):
    """The commits of the project's repository."""

    def at(self, revision: str, /) -> SourceFiles:
        """Raises InputError `no-such-revision`."""

    def merge_bases(self, one: Commit, other: Commit, /) -> Sequence[Commit]:
        """Their best common ancestors, as far as history is here."""

    def last_change(self, path: str, at: Commit, since: Sequence[Commit], /) -> Commit | None:
        """The newest commit of those that `since` does not lead to that changed a path."""


def beside(manifest: Manifest, revision: str, branches: Branches, place: Callable[[str], str]) -> tuple[Finding, ...]:
    """A warning for each patch path that HEAD and `revision` both add or change, each in its own way. Commits count alone;
    `place` is `ProjectFiles.place`.

    A patch is what either manifest lists, and what is called so (`.patch`, `.diff`).
    Raises InputError (no-such-revision, no-merge-base) and OutsideError.
    """
    ours, theirs = branches.at(HEAD), branches.at(revision)
    bases = branches.merge_bases(ours.commit, theirs.commit)
    if not bases:
        message = f"HEAD and {revision!r:.120} have no common commit here"
        hint = "fetch more history of both (`git fetch --deepen`; `fetch-depth: 0` of actions/checkout)"
        raise InputError("no-merge-base", message, where="--beside", hint=hint)
    before = [branches.at(base) for base in bases]
    patches = _listed(manifest)
    findings: list[Finding] = []
    try:
        patches |= _listed(manifest_of(theirs))
    except InputError as error:
        message = f"its manifest cannot be read ({error.message}): of its patches only *.patch and *.diff are compared"
        findings.append(Finding("beside-unread", "note", message, printable(revision)))
    both = [path for path in _both(ours.tree, theirs.tree, [one.tree for one in before]) if _is_patch(path, patches)]
    for path in both[:SHOWN]:
        added = not any(path in one.tree for one in before)
        sides = ((HEAD, ours), (printable(revision), theirs))
        since = (branches.last_change(path, one.commit, bases) or one.commit for _, one in sides)
        witnesses = tuple(
            Witness(place(path), None, f"{name} has it so since {commit[:12]}")
            for (name, _), commit in zip(sides, since, strict=True)
        )
        word = "add" if added else "change"
        differs = difference(ours.read(path) or b"", theirs.read(path) or b"", *(name for name, _ in sides))
        message = f"HEAD and {printable(revision)} both {word} this patch, with different content: {differs}"
        fix = "give one of them another name, or make one patch of both, before the second is merged"
        findings.append(Finding("patch-beside", "warning", message, place(path), witnesses=witnesses, fix=fix))
    if len(both) > SHOWN:
        message = f"{len(both) - SHOWN} more patch paths are added or changed on both, with different content"
        findings.append(Finding("patch-beside", "warning", message, printable(revision)))
    return tuple(findings)


def _listed(manifest: Manifest) -> set[str]:
    every = (baked for image in manifest.images.values() for baked in image.carried.values())
    return {path for baked in every for path in baked.patches if not is_address(path)}


def _is_patch(path: str, listed: set[str]) -> bool:
    return path in listed or path.endswith(_ENDS)


def _both(
    ours: Mapping[str, Entry], theirs: Mapping[str, Entry], before: Sequence[Mapping[str, Entry]]
) -> Iterator[str]:
    """The files that both sides have, each another than the other and than every common ancestor had."""
    for path in sorted(ours.keys() & theirs.keys()):
        mine, other = ours[path], theirs[path]
        if mine.oid == other.oid or SUBMODULE in {mine.mode, other.mode}:
            continue
        if not {mine.oid, other.oid} & {one[path].oid for one in before if path in one}:
            yield path
