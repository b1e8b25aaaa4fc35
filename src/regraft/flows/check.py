"""What can be judged offline about a project: its manifest, and the files that the manifest names."""

from msgspec import Struct, field

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.init_questions import answers, open_questions
from regraft.core.lock import LIMIT as LOCK_LIMIT
from regraft.core.lock import read_lock
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.manifest_advice import advice
from regraft.core.patch_address import in_short, is_address
from regraft.core.patch_glance import patch_fault
from regraft.core.patch_read import LIMIT as PATCH_LIMIT
from regraft.core.spelling import nearest
from regraft.core.substitution_read import declares
from regraft.core.toml_places import At, Path, TomlPlaces
from regraft.errors import InputError
from regraft.flows.patch_files import other_bytes
from regraft.flows.patch_reading import PatchFile, read_carried
from regraft.flows.ports import ProjectFiles
from regraft.flows.project import MANIFEST, open_manifest

SHOWN = 5  # remarks on one patch
FILE_LIMIT = 16 * 1024 * 1024  # bytes of any other file


class CheckResult(Struct, frozen=True):
    """`looked_at` counts what was judged, by its name in the plural: that nothing was there to judge is an answer too."""

    manifest: Manifest
    findings: tuple[Finding, ...]
    looked_at: dict[str, int]

    @property
    def failed(self) -> bool:
        return any(one.severity == "error" for one in self.findings)


def check(files: ProjectFiles) -> CheckResult:
    """Judge a project without network, git or image.

    Raises what `open_manifest` raises; OutsideError where a file cannot be read.
    """
    manifest, data = open_manifest(files)
    checking = _Checking(files, TomlPlaces(data), data)
    checking.judge(manifest)
    first = files.place(MANIFEST)
    ordered = sorted(checking.findings, key=lambda one: (one.path != first, one.path, one.line or 0, one.column or 0))
    return CheckResult(manifest, tuple(ordered), checking.looked_at)


class _Checking(Struct):
    files: ProjectFiles
    places: TomlPlaces
    data: bytes
    findings: list[Finding] = field(default_factory=list)
    looked_at: dict[str, int] = field(default_factory=dict)
    _patches: set[str] = field(default_factory=set)

    def judge(self, manifest: Manifest) -> None:
        self.looked_at = {
            "dependencies": len(manifest.dependencies) + len(manifest.packages),
            "images": len(manifest.images),
            "suites": len(manifest.suites),
            "patch files": 0,
            "locks": 0,
            "dockerfiles": 0,
            "baselines": 0,
        }
        asked = open_questions(self.data)
        if asked:
            self.looked_at["open questions"] = len(asked)
        for one in advice(manifest):
            if answers(one, asked):  # the question stands in the file, and says more
                continue
            self._say(one.path, one.at, one.severity, one.rule, one.message, one.fix)
        self._locks(manifest)
        for image in manifest.images.values():
            self._dockerfile(image)
            self._baseline(image)
            for dependency, baked in image.carried.items():
                for index, path in enumerate(baked.patches):
                    last: Path = ("series",) if baked.series else ("patches", index)
                    self._patch(path, baked, ("images", image.name, "baked", dependency, *last))

    def _patch(self, path: str, baked: Baked, named: Path) -> None:
        """A patch that several images carry is judged once."""
        if path in self._patches:
            return
        self._patches.add(path)
        data = (
            self._address(path, named)
            if is_address(path)
            else self._named_file(path, PATCH_LIMIT, named, "patch", "patch files")
        )
        if data is None:
            return
        wanted = baked.format(path).sha256
        if wanted is not None and (message := other_bytes(data, wanted)):
            self._say_of(path, named, "patch-differs", message, "put the pinned bytes there again, or pin these")
        if not declares(path) and (fault := patch_fault(data)):
            fix = "put the patch there again, or take it out of `patches`"
            self._say_of(path, named, "patch-unreadable", f"the patch {fault}", fix)
        else:
            self._patch_text(PatchFile(path, data, baked.format(path).strip), named)

    def _address(self, address: str, named: Path) -> bytes | None:
        """The bytes behind an address, as far as the cache has them: nothing is fetched here."""
        self.looked_at["patch files"] += 1
        data = self.files.read(address, PATCH_LIMIT)
        if data is None:
            message = f"{in_short(address)} is not in the cache: its bytes were not looked at"
            self._say(named, "value", "note", "patch-not-cached", message, "`regraft patch status` fetches it")
        return data

    def _patch_text(self, patch: PatchFile, named: Path) -> None:
        """What can be said of a patch without the files that it is for."""
        text = read_carried(patch, lambda _: False)
        each = declares(patch.path)  # one slip in a diff makes many of them
        for problem in text.problems if each else text.problems[:1]:
            more = f" ({len(text.problems)} such places)" if len(text.problems) > 1 and not each else ""
            fix = f"a mechanical repair would do: {', '.join(text.offered)}" if text.offered else None
            message = f"line {problem.line}: {problem.message}{more}"
            self._say_of(patch.path, named, "patch-unreadable", message, fix)
        if not text.problems:
            for remark in text.tolerated[:SHOWN]:
                self._say_of(
                    patch.path, named, "patch-tolerated", f"line {remark.line}: {remark.message}", None, "note"
                )

    def _locks(self, manifest: Manifest) -> None:
        for dependency in manifest.dependencies.values():
            if dependency.lock is None:
                continue
            named: Path = ("dependencies", dependency.name, "lock", "file")
            data = self._named_file(dependency.lock.file, LOCK_LIMIT, named, "lock", "locks")
            if data is None:
                continue
            try:
                read_lock(data, dependency.lock)
            except InputError as error:
                self._say_of(dependency.lock.file, named, error.code, f"{dependency.name}: {error.message}", error.hint)

    def _dockerfile(self, image: Image) -> None:
        if image.dockerfile is not None:
            self._named_file(
                image.dockerfile, FILE_LIMIT, ("images", image.name, "dockerfile"), "dockerfile", "dockerfiles"
            )

    def _baseline(self, image: Image) -> None:
        from regraft.core.baseline_document import decode_baseline, path_of  # noqa: PLC0415 - msgspec, for a project that has one

        path = path_of(image.name)
        try:
            data = self.files.read(path, FILE_LIMIT)
            if data is None:
                return
            self.looked_at["baselines"] += 1
            baseline = decode_baseline(data, image.name)
        except InputError as error:
            hint = error.hint or f"probe the image again: `regraft image probe --image {image.name} --write`"
            self._say_of(path, ("images", image.name), "baseline-unreadable", error.message, hint)
            return
        for dependency in sorted(image.baked.keys() - baseline.dependencies.keys()):
            message = f"the baseline of {image.name} says nothing about {dependency}"
            self._say_of(
                path, ("images", image.name, "baked", dependency), "baseline-incomplete", message, None, "warning"
            )

    def _named_file(self, path: str, limit: int, named: Path, word: str, counted: str) -> bytes | None:
        """The bytes of a file that the manifest names, or None where that is a finding."""
        self.looked_at[counted] += 1
        try:
            data = self.files.read(path, limit)
        except InputError as error:
            self._say(named, "value", "error", error.code, f"{path}: {error.message}", error.hint)
            return None
        if data is None:
            meant = self._near(path)
            fix = f"{f'write {meant}' if meant else 'add the file'}, or take it out of the manifest"
            self._say(named, "value", "error", f"{word}-missing", f"the project has no file {path}", fix)
        return data

    def _near(self, path: str) -> str | None:
        """The file that was probably meant."""
        folder, _, name = path.rpartition("/")
        meant = nearest(name, self.files.names(folder))
        return f"{folder}/{meant}".lstrip("/") if meant else None

    def _say(self, path: Path, at: At, severity: Severity, rule: str, message: str, fix: str | None) -> None:  # noqa: PLR0913, PLR0917 - a finding's fields
        line, column = self.places.place(path, at)
        self.findings.append(Finding(rule, severity, message, self.files.place(MANIFEST), line, column, fix=fix))

    def _say_of(  # noqa: PLR0913, PLR0917 - likewise
        self, path: str, named: Path, rule: str, message: str, fix: str | None, severity: Severity = "error"
    ) -> None:
        """A finding in another file than the manifest; the line that names it is the witness. An address is no file here."""
        place = self.files.place
        if is_address(path):
            self._say(named, "value", severity, rule, f"{place(path)}: {message}", fix)
            return
        witness = Witness(place(MANIFEST), self.places.place(named, "value").line, "named here")
        self.findings.append(Finding(rule, severity, message, place(path), witnesses=(witness,), fix=fix))
