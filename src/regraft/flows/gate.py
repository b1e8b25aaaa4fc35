"""One override, judged before a machine with an accelerator is asked for."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from regraft.core.baseline import Baseline
from regraft.core.findings import Finding
from regraft.core.manifest import Baked, Dependency
from regraft.core.objects import Blob, Tree
from regraft.core.patch_address import in_short
from regraft.core.plan import Note, PlannedPatch
from regraft.core.python_requires import candidate_folders, requires_python, satisfies
from regraft.errors import InputError
from regraft.flows.judge import PatchFile, Series, judge
from regraft.flows.ports import GateStore
from regraft.flows.resolve import Pin
from regraft.flows.submodules import FetchSubmodule, check_submodules

SHOWN = 5
METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
METADATA_LIMIT = 4 * 1024 * 1024


class FetchFiles(Protocol):
    def __call__(
        self, pin: Pin, dependency: Dependency, blobs: Sequence[Blob], helpful: Sequence[Blob] = (), /
    ) -> None:
        """`ports.FetchBlobs`, of one pin's repository."""


class Verdict(Struct, frozen=True):
    """What an override will be, and what is to be said of it. An error among the findings is a stop."""

    pin: Pin
    tree: Tree
    patches: tuple[PlannedPatch, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]


class Gate(Struct, frozen=True):
    """The store that holds what was fetched, and how to fetch what is still missing from it."""

    store: GateStore
    fetch_blobs: FetchFiles
    fetch_submodule: FetchSubmodule

    def judge(
        self,
        dependency: Dependency,
        baked: Baked,
        pin: Pin,
        patches: Sequence[PatchFile],
        baseline: Baseline | None,
    ) -> Verdict:
        """Patches, submodules, `requires-python`, and what the manifest says must not differ from the baseline.

        Raises InputError for a submodule that cannot be had, OutsideError where a tool or a server failed.
        """
        metadata = self._metadata(baked, pin) if baseline and baseline.python else {}

        def fetch(blobs: Sequence[Blob], helpful: Sequence[Blob] = ()) -> None:
            """One batch for everything: what patches touch, and what tells `requires-python`."""
            self.fetch_blobs(pin, dependency, [*blobs, *self.store.missing([*metadata.values()])], helpful)

        series = judge(pin.commit, patches, self.store, fetch)
        check_submodules(pin.url, pin.commit, self.store, self.fetch_submodule)
        if missing := self.store.missing([*metadata.values()]):
            self.fetch_blobs(pin, dependency, missing)
        findings = [*_patch_findings(dependency, pin, series), *self._python(dependency, pin, metadata, baseline)]
        changed, notes = self._changed(dependency, baked, pin, baseline)
        said = [*pin.notes, *_patch_notes(series), *notes]
        planned = tuple(one.patch for one in series.patches)
        return Verdict(pin, series.tree, planned, (*findings, *changed), tuple(said))

    def _metadata(self, baked: Baked, pin: Pin) -> dict[str, Blob]:
        """The files that name `requires-python`, in the folders that the install commands install from."""
        folders = candidate_folders(baked.install)
        wanted = {f"{folder}/{name}".lstrip("/") for folder in folders for name in METADATA}
        entries = self.store.list_tree(pin.tree)
        return {entry.name: Blob(entry.oid) for entry in entries if entry.kind == "blob" and entry.name in wanted}

    def _python(
        self, dependency: Dependency, pin: Pin, metadata: dict[str, Blob], baseline: Baseline | None
    ) -> Iterator[Finding]:
        if baseline is None or baseline.python is None:
            return
        by_folder: dict[str, dict[str, bytes]] = {}
        for path, blob in metadata.items():
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, {})[name] = self.store.read_blob(blob, METADATA_LIMIT)
        for folder, files in by_folder.items():
            where = f"{dependency.name}@{pin.commit[:12]}:{folder or '.'}"
            try:
                specifier = requires_python(files)
                fits = specifier is None or satisfies(baseline.python, specifier)
            except InputError as error:
                yield Finding("requires-python", "warning", error.message, where)
                continue
            if not fits:
                message = (
                    f"{dependency.name} at {pin.commit[:12]} needs Python {specifier}, the image has {baseline.python}"
                )
                fix = "rebuild the image with another Python, or name an older ref"
                yield Finding("requires-python", "error", message, where, fix=fix)

    def _changed(
        self, dependency: Dependency, baked: Baked, pin: Pin, baseline: Baseline | None
    ) -> tuple[list[Finding], list[Note]]:
        """Paths that the install does not bring in, or does not rebuild, and that differ from the baseline's."""
        rules = [
            ("not-installed", baked.not_installed, "the install commands do not bring this in"),
            ("rebuild-when", baked.rebuild_when, "what is compiled from this is not rebuilt by the install commands"),
        ]
        watched = [rule for rule in rules if rule[1]]
        if not watched:
            return [], []
        held = baseline.dependencies.get(dependency.name) if baseline else None
        if held is None or held.commit is None or not pin.has_also:
            message = f"{dependency.name}: whether compiled inputs differ from the image's is not known here, and is left to `verify`"
            return [], [Note("warning", "changes-unknown", message)]
        findings = []
        for rule, globs, why in watched:
            paths = self.store.changed_paths(held.commit, pin.commit, globs)
            if paths:
                shown = ", ".join(paths[:SHOWN]) + (f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else "")
                message = (
                    f"{dependency.name}: {len(paths)} changed between the baked {held.commit[:12]} and {pin.commit[:12]}, "
                    f"and {why}: {shown}"
                )
                fix = "rebuild the image with this ref"
                findings.append(Finding(rule, "error", message, f"{dependency.name}@{pin.commit[:12]}", fix=fix))
        return findings, []


def _patch_findings(dependency: Dependency, pin: Pin, series: Series) -> Iterator[Finding]:
    for one in series.patches:
        if one.patch.state in ("applies", "already-there"):
            continue
        reason = f": {one.reason}" if one.reason else ""
        message = f"{one.patch.state} on {dependency.name} at {pin.commit[:12]}{reason}"
        yield Finding(f"patch-{one.patch.state}", "error", message, one.patch.path)


def _patch_notes(series: Series) -> Iterator[Note]:
    for one in series.patches:
        if one.patch.state == "already-there":
            message = f"{in_short(one.patch.path)} is in this commit already: drop it once every followed ref holds it"
            yield Note("notice", "patch-already-there", message)
        elif one.merged:
            yield Note("notice", "patch-merged", f"{in_short(one.patch.path)} does not fit exactly: {one.reason}")
