"""What a manifest says and the repository does not, and the other way round: by the same reading that `init` proposes from."""

from collections.abc import Iterator, Sequence
from itertools import filterfalse

from msgspec import Struct, field

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.init_drift import Drift, drifts, install_drift, suite_drift
from regraft.core.init_found import Found, identity, image_names, upstreams
from regraft.core.init_manifest import dotted
from regraft.core.init_propose import follows_branch
from regraft.core.init_values import Applied, Checkout, Held, Place
from regraft.core.manifest import Baked, Image, Manifest
from regraft.core.patch_address import is_address
from regraft.core.repository_url import parse_repository_url
from regraft.core.spelling import nearest
from regraft.core.toml_places import Path, TomlPlaces


class Comparing(Struct):
    """`asked` are the key paths of questions that are open in the manifest: what they ask is no finding."""

    manifest: Manifest
    found: Found
    places: TomlPlaces
    shown: str  # how the manifest is called
    asked: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)

    def compare(self) -> list[Finding]:
        """Every difference, those of the manifest's own lines first."""
        tracked = self.found.tracked
        for image in self.manifest.images.values():
            if image.dockerfile is not None and image.dockerfile not in tracked:
                path = ("images", image.name, "dockerfile")
                self._of_manifest("dockerfile-missing", path, f"the project has no {image.dockerfile}")
        for held in self.found.held:
            self._dockerfile(held)
        self._directives()
        self._references()
        for one in suite_drift(self.manifest, self.found):
            self._at(one.rule, one.keys, one.place, one.message, one.fix)
        declared = {identity(one.url) for one in self.manifest.dependencies.values()}
        for straight in self.found.from_git:
            if identity(straight.url) not in declared:
                message = f"pip installs {straight.url} from git, and no dependency has that url"
                self._at("dependency-undeclared", ("dependencies",), straight.place, message)
        order = {"error": 0, "warning": 1, "note": 2}
        return sorted(
            self.findings, key=lambda one: (one.path != self.shown, one.path, one.line or 0, order[one.severity])
        )

    def _dockerfile(self, held: Held) -> None:
        images = [one for one in self.manifest.images.values() if one.dockerfile == held.dockerfile]
        if not images and held.checkouts:
            first = next(iter(held.checkouts.values()))
            message = f"{held.dockerfile} has a checkout at {first.path}, and no image of the manifest is built from it"
            self._at("image-undeclared", ("images",), first.place, message)
        for image in images:
            Compared(self, image, held).compare()

    def called(self, held: Held, one: Checkout) -> str:
        """The name that `init` would give to the repository of a checkout."""
        names = image_names([held.dockerfile for held in self.found.held])
        uses = [(up.name, use) for up in upstreams(self.found, names) for use in up.uses]
        return next(name for name, use in uses if use.held is held and use.checkout is one)

    def _directives(self) -> None:
        declared = {one.directive for one in self.manifest.dependencies.values()}
        declared |= {one.directive for one in self.manifest.packages.values()}
        declared |= {one.tag_directive for one in self.manifest.images.values() if one.tag_directive is not None}
        for key, place in self.found.workflows.directives.items():
            if key not in declared and key not in self.asked:
                meant = nearest(key, declared)
                message = f"reads the directive {key}, which no dependency and no image of the manifest has"
                self._at(
                    "directive-undeclared", ("directives", key), place, message, f"is it {meant}?" if meant else None
                )

    def _references(self) -> None:
        """Jobs that run on another tag of an image's repository."""
        tags: dict[str, set[str]] = {}
        for image in self.manifest.images.values():
            if image.repository is not None and image.tag is not None:
                tags.setdefault(image.repository, set()).add(image.tag)
        for one in self.found.workflows.references:
            if one.job is not None and one.tag not in tags.get(one.repository, {one.tag}):
                known = ", ".join(sorted(tags[one.repository]))
                message = f"{one.job} runs on {one.repository}:{one.tag}, and the manifest has {known}"
                self._at("tag-differs", ("images",), one.place, message)

    def _open(self, path: Sequence[str]) -> bool:
        """Whether the manifest still asks about this key, its table, or something in it."""
        key = dotted(path)
        return any(one == key or one.startswith(f"{key}.") or key.startswith(f"{one}.") for one in self.asked)

    def _of_manifest(  # noqa: PLR0913, PLR0917 - a finding's fields
        self, rule: str, path: Path, message: str, place: Place | None = None, fix: str | None = None,
        severity: Severity = "error",
    ) -> None:  # fmt: skip
        if len(path) > 1 and self._open([str(part) for part in path if isinstance(part, str)]):
            return
        line, column = self.places.place(path, "value")
        witnesses = (Witness(place.path, place.line, "says so"),) if place is not None else ()
        self.findings.append(Finding(rule, severity, message, self.shown, line, column, witnesses=witnesses, fix=fix))

    def _at(self, rule: str, path: Sequence[str], place: Place, message: str, fix: str | None = None) -> None:
        if len(path) > 1 and self._open(path):
            return
        self.findings.append(Finding(rule, "error", message, place.path, place.line, fix=fix))


class Compared(Struct):
    """One image and the Dockerfile that it is built from."""

    on: Comparing
    image: Image
    held: Held

    def compare(self) -> None:
        matched: set[str] = set()
        for one in self.held.checkouts.values():
            if one.doubt is not None or not one.path.startswith("/") or "$" in one.path:
                continue
            baked = self._baked(one)
            if baked is not None and baked.path != one.path and baked.path in self.held.checkouts:
                continue  # another checkout of the same repository: a manifest has the one that it names
            if baked is None:
                self._undeclared(one)
            else:
                matched.add(baked.dependency)
                self._checkout(one, baked)
        for name in self.image.baked:
            if name not in matched and not self._could_be(name):
                message = f"{self.held.dockerfile} has no checkout of {name}, as far as it can be followed"
                self.on._of_manifest("baked-not-built", self._path(name), message)  # noqa: SLF001 - one comparison in two parts
        self._python()
        for drift in drifts(self.image, self.held, self.on.found):
            self._differs(drift, "images", self.image.name)

    def _differs(self, one: Drift, *table: str) -> None:
        self.on._of_manifest(one.rule, (*table, *one.keys), one.message, one.place, severity=one.severity)  # noqa: SLF001 - one comparison in two parts

    def _path(self, dependency: str, *keys: str) -> Path:
        return ("images", self.image.name, "baked", dependency, *keys)

    def _baked(self, one: Checkout) -> Baked | None:
        by_path = next((baked for baked in self.image.baked.values() if baked.path == one.path), None)
        if by_path is not None or one.url is None:
            return by_path
        wanted = identity(one.url.text)
        same = [
            baked
            for name, baked in self.image.baked.items()
            if identity(self.on.manifest.dependencies[name].url) == wanted
        ]
        return same[0] if len(same) == 1 else None

    def _could_be(self, name: str) -> bool:
        """Whether something that cannot be followed may hold it."""
        unsure = [one for one in self.held.checkouts.values() if one.doubt is not None or "$" in one.path]
        url = identity(self.on.manifest.dependencies[name].url)
        return any(one.url is None or identity(one.url.text) == url for one in unsure)

    def _undeclared(self, one: Checkout) -> None:
        names = [
            up
            for up in self.on.manifest.dependencies.values()
            if one.url and identity(up.url) == identity(one.url.text)
        ]
        name = names[0].name if names else self.on.called(self.held, one)
        message = f"{self.image.name} has a checkout at {one.path}, which the manifest does not bake"
        self.on._at("dependency-undeclared", ("images", self.image.name, "baked", name), one.place, message)  # noqa: SLF001 - as above

    def _checkout(self, one: Checkout, baked: Baked) -> None:
        differs = self.on._of_manifest  # noqa: SLF001 - as above
        name = baked.dependency
        if baked.path != one.path:
            differs("path-differs", self._path(name, "path"), f"{one.place} has it at {one.path}", one.place)
        dependency = self.on.manifest.dependencies[name]
        if one.url is not None and _other_repository(dependency.url, one.url.text):
            message = f"{one.url.place} takes it from {one.url.text}"
            differs("url-differs", ("dependencies", name, "url"), message, one.url.place)
        branch = follows_branch([one.branch] if one.branch else [])
        if branch is not None and dependency.branch is not None and branch.text != dependency.branch:
            message = f"{branch.place} builds {branch.text!r:.120}"
            differs("branch-differs", ("dependencies", name, "branch"), message, branch.place)
        self._patches(one, baked)
        for drift in install_drift(one, baked):
            self._differs(drift, *(str(key) for key in self._path(name)))

    def _patches(self, one: Checkout, baked: Baked) -> None:
        differs = self.on._of_manifest  # noqa: SLF001 - as above
        path = self._path(baked.dependency, "patches")
        if one.series is not None:
            if baked.series != one.series.text:
                message = f"{one.series.place} applies the series {one.series.text}"
                differs("patches-differ", path, message, one.series.place)
            return
        built = {patch.path: patch for patch in one.patches}
        for patch in one.patches:
            if patch.path not in baked.patches and patch.doubt is None:
                message = f"{patch.place} applies {patch.path}, which is not in the manifest"
                differs("patches-differ", path, message, patch.place)
        for listed in filterfalse(is_address, baked.patches):  # how a build comes to have those is not read
            if listed not in built and baked.series is None:
                message = f"nothing in {self.held.dockerfile} applies {listed}, as far as it can be followed"
                differs("patches-differ", path, message)
        both = [patch for patch in one.patches if patch.path in baked.patches and patch.pattern is None]
        order = [listed for listed in baked.patches if listed in {patch.path for patch in both}]
        if [patch.path for patch in both] != order:
            message = f"{self.held.dockerfile} applies them in another order: {', '.join(patch.path for patch in both)}"
            differs("patches-differ", path, message, both[0].place)
        for patch in one.patches:
            if patch.path in baked.patches:
                for message in _formats(patch, baked):
                    differs("patch-format-differs", path, f"{patch.path}: {message}", patch.place)

    def _python(self) -> None:
        told = {i.python: i.place for one in self.held.checkouts.values() for i in one.installs if i.python is not None}
        if len(told) == 1 and self.image.python not in (*told, "python3"):
            python, place = next(iter(told.items()))
            path = ("images", self.image.name, "python")
            self.on._of_manifest("python-differs", path, f"{place} installs for {python}", place)  # noqa: SLF001 - as above


def _formats(patch: Applied, baked: Baked) -> Iterator[str]:
    declared = baked.format(patch.path)
    if patch.strip is not None and declared.strip is not None and patch.strip != declared.strip:
        yield f"{patch.place} strips {patch.strip} leading folders, and the manifest {declared.strip}"
    if patch.root != declared.root:
        yield f"{patch.place} applies it in {patch.root or 'the top of the checkout'}, and the manifest in {declared.root or 'the top'}"
    if patch.merges and baked.apply == "exact":
        yield f'{patch.place} merges three-way, and the manifest has apply = "exact"'


def _other_repository(declared: str, built: str) -> bool:
    """Paths differ from machine to machine: of those only the last part counts."""
    left, right = parse_repository_url(declared), parse_repository_url(built)
    if left.local or right.local:
        ends = [one.path.rstrip("/").rpartition("/")[2].removesuffix(".git") for one in (left, right)]
        return ends[0].lower() != ends[1].lower()
    return identity(declared) != identity(built)
