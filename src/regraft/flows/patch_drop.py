"""`regraft patch drop`: take a carried patch out of a project, with every use of it that can be edited safely."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from regraft.core.drop_edits import cut_file, find_mentions, kind_of
from regraft.core.drop_target import Target
from regraft.core.drop_values import Change, Drop, Evidence, FileCut, Mention
from regraft.core.manifest import Manifest
from regraft.core.objects import Sha256
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

    def paths(self) -> tuple[str, ...]:
        """Of every regular file, relative to the project, in order."""

    def each(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes]]:
        """The bytes of those files that are there and hold at most `limit` bytes."""


def plan_drop(patch: str, files: TrackedFiles, proof: Proof | None, manifest: Manifest | None = None) -> Drop:
    """Every edit that takes `patch` (a path in the project) out, and every mention that is left. Writes nothing.

    `proof` is None for a drop without proof.
    Raises InputError (no-such-patch, not-a-patch), RefusedError (no-proof, not-proved), and what `proof` and `files` raise.
    """
    tracked = files.paths()
    baked = [one for image in manifest.images.values() for one in image.carried.values()] if manifest else []
    _check(patch, tracked, {path for one in baked for path in one.patches})
    evidence = proof.of(patch) if proof is not None else ()
    if proof is not None:
        _demand(patch, evidence)
    target = Target(patch, frozenset(tracked), frozenset(one.series for one in baked if one.series is not None))
    changes: list[Change] = []
    mentions: list[Mention] = []
    cuts: dict[str, FileCut] = {}
    digest = b""
    read = 0
    for path, data in files.each(tracked, FILE_LIMIT):
        read += 1
        if path == patch:
            digest = data
            continue
        cut = cut_file(path, data, target)
        after = edited(data, [Edit(span) for span in cut.spans])
        if cut.spans:
            places = Places(data)
            lines = tuple(dict.fromkeys(places.of(span.start)[0] for span in cut.spans))
            changes.append(Change(path, data, after, lines))
        cuts[path] = cut
        mentions += [] if b"\0" in data[:8000] else find_mentions(path, data, after, cut, target)
    changes.append(Change(patch, digest, None))
    remarks = tuple(_remarks(target, changes, mentions, cuts, unread=len(tracked) - read))
    sha256 = Sha256(hashlib.sha256(digest).hexdigest())
    return Drop(patch, sha256, evidence, proof is not None, tuple(changes), tuple(mentions), remarks)


def _check(patch: str, tracked: Sequence[str], carried: set[str]) -> None:
    if patch not in tracked:
        end = f"/{patch.rpartition('/')[2]}"
        like = next((one for one in tracked if f"/{one}".endswith(end)), None) or nearest(patch, tracked)
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
            else "nobody looked for what still refers to it"
        )
        return f"{state}: {looked}"
    return f"{state}: {one.reason}" if one.reason else state


def _remarks(
    target: Target,
    changes: Sequence[Change],
    mentions: Sequence[Mention],
    cuts: Mapping[str, FileCut],
    *,
    unread: int,
) -> Iterator[str]:
    running = [one for one in changes if one.after is not None and _runs(one)]
    needed = [one for one in mentions if one.kind == "use" and kind_of(one.path, b"") != "manifest"]
    if not running and not needed and not any(one.kind == "pattern" for one in mentions):
        yield "no Dockerfile, workflow or script applies it"
    if len(running) > 1:
        places = ", ".join(f"{one.path}:{one.lines[0]}" for one in running)
        yield f"it was used in {len(running)} files: {places}"
    if needed:
        places = ", ".join(dict.fromkeys(f"{one.path}:{one.line}" for one in needed))
        yield f"this still needs the file, and could not be edited safely: {places}"
    patterns = [one for one in mentions if one.kind == "pattern"]
    folder = target.path.rpartition("/")[0]
    others = target.tracked - {target.path}
    if patterns and not any(one.rpartition("/")[0] == folder and one.endswith(_ENDS) for one in others):
        yield f"no other patch is left in {folder or 'that folder'}: what a pattern stands for there may be nothing"
    for path, cut in cuts.items():
        if cut.empty:
            yield f"nothing of use is left in {path}"
    if unread:
        yield f"{unread} tracked files are not there, or hold more than {FILE_LIMIT} bytes, and were not read"


def _runs(change: Change) -> bool:
    return kind_of(change.path, change.before) in ("dockerfile", "workflow", "script")
