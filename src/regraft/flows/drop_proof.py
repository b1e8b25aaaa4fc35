"""Whether a carried patch can go, judged at the refs that were named, or at the branch that its dependency follows."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.drop_values import Evidence
from regraft.core.manifest import Baked, Dependency, Manifest
from regraft.core.objects import Blob
from regraft.core.refs import Ref
from regraft.core.trees import Entry
from regraft.errors import raise_all
from regraft.flows.judge import judge
from regraft.flows.patch_files import PatchFiles
from regraft.flows.patch_reading import PatchFile, read_carried
from regraft.flows.ports import GateStore, ProjectFiles, Upstream
from regraft.flows.resolve import Pin, Wanted, resolve

LARGEST = 1024 * 1024  # bytes of a file that is looked into for what refers to a patch's target

FetchBlobs = Callable[[Pin, Dependency, Sequence[Blob]], None]


class JudgedProof(Struct, frozen=True):
    """`patch_drop.Proof`, by judging each series that has the patch. `at` are the refs; none: the followed branch."""

    manifest: Manifest
    files: ProjectFiles
    upstream: Upstream
    store: GateStore
    fetch_blobs: FetchBlobs
    at: tuple[Ref, ...] = ()

    def of(self, patch: str) -> tuple[Evidence, ...]:
        """Raises what `resolve`, `judge` and reading the patch files raise."""
        carriers = [
            (image, baked)
            for image in self.manifest.images.values()
            for baked in image.baked.values()
            if patch in baked.patches
        ]
        patches = PatchFiles(self.files, [image for image, _ in carriers])
        raise_all(patches.mistakes)
        wanted = [
            (image.name, baked, Wanted(self.manifest.dependencies[baked.dependency], ref, "--at"))
            for image, baked in carriers
            for ref in (self.at or (None,))
        ]
        pins = resolve([one for _, _, one in wanted], self.upstream)
        return tuple(
            self._evidence(name, baked, question, pin, patches.of(baked), patch)
            for (name, baked, question), pin in zip(wanted, pins, strict=True)
        )

    def _evidence(  # noqa: PLR0913, PLR0917 - what one judgement is about
        self, image: str, baked: Baked, question: Wanted, pin: Pin, series: Sequence[PatchFile], patch: str
    ) -> Evidence:
        def fetch(blobs: Sequence[Blob]) -> None:
            self.fetch_blobs(pin, question.dependency, blobs)

        index = baked.patches.index(patch)
        judged = judge(pin.commit, series, self.store, fetch).patches[index]
        state = judged.patch.state
        assert state is not None
        referred = self._referred(series[index], pin, fetch) if state == "target-gone" else None
        target = question.target
        ref = target.text if isinstance(target, Ref) else pin.name or pin.commit
        return Evidence(image, baked.dependency, ref, pin.commit, state, judged.reason, referred)

    def _referred(self, patch: PatchFile, pin: Pin, fetch: Callable[[Sequence[Blob]], None]) -> bool:
        """Whether anything at a commit refers to what the patch edits, by the last name of it, or is still edited by it."""
        tracked = {entry.path: entry for entry in self.store.list_tree(pin.tree)}
        touched = read_carried(patch, tracked.__contains__).touched
        if not touched or touched & tracked.keys():
            return True
        words = sorted({_leaf(path) for path in touched})
        pattern = re.compile(rb"(?<![A-Za-z0-9_])(?:" + b"|".join(map(re.escape, words)) + rb")(?![A-Za-z0-9_])")
        if any(pattern.search(path) for path in tracked):
            return True
        blobs = [Blob(oid) for oid in dict.fromkeys(_blobs(tracked))]
        if missing := self.store.missing(blobs):
            fetch(missing)
        return any(pattern.search(data[:LARGEST]) for _, data in self.store.each_blob(blobs))


def _blobs(tracked: Mapping[bytes, Entry]) -> Iterator[str]:
    return (entry.oid for entry in tracked.values() if entry.kind == "blob")


def _leaf(path: bytes) -> bytes:
    """The name by which others refer to a file: its own without the ending, or its folder's for `__init__.py`."""
    folder, _, name = path.rpartition(b"/")
    stem = name.partition(b".")[0] or name
    return folder.rpartition(b"/")[2] if stem == b"__init__" and folder else stem
