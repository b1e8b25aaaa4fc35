"""The released versions of a package, as an index lists them: which file stands for each, in which order, and which come before.

One kind of file is taken for all versions (wheels, or source distributions), since the two lay their files out differently and
a patch would seem to lose its target where the kind changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from regraft.core.objects import Sha256
from regraft.core.quoting import quoted
from regraft.errors import InputError

FileKind = Literal["wheel", "sdist"]

SHOWN = 8


class IndexFile(Struct, frozen=True):
    """One file that an index lists. `url` has no credentials and no fragment. `yanked` is None, or the reason ("" for none said)."""

    filename: str
    url: str
    sha256: Sha256 | None
    size: int | None = None
    requires_python: str | None = None
    yanked: str | None = None
    index: str = ""  # the index that listed it, without credentials


class Release(Struct, frozen=True):
    """One version, by its normalized name, and the file that stands for it."""

    version: str
    file: IndexFile

    @property
    def parsed(self) -> Version:
        return Version(self.version)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of it before it is installed."""
        said = []
        if self.file.yanked is not None:
            said.append(f"yanked{f' ({quoted(self.file.yanked)})' if self.file.yanked else ''}")
        if self.parsed.is_prerelease:
            said.append("a pre-release")
        if self.file.requires_python:
            said.append(f"needs Python {quoted(self.file.requires_python, 60).strip(chr(39))}")
        return tuple(said)


class Releases:
    """All versions of one package that have a file of one kind. `kind` is None for wheels where any version has one."""

    def __init__(self, package: str, files: Iterable[IndexFile], kind: FileKind | None = None) -> None:
        self.package = package
        found = _by_kind(package, files)
        self.kind: FileKind = kind or ("wheel" if found["wheel"] else "sdist")
        self.others = found["sdist" if self.kind == "wheel" else "wheel"].keys() - found[self.kind].keys()
        chosen = found[self.kind]
        self.all = tuple(Release(str(one), _best(chosen[one])) for one in sorted(chosen))
        self._by_version = {one.parsed: one for one in self.all}

    def newest(self) -> Release:
        """The highest version; one that is yanked or a pre-release only where there is no other, as pip has it.

        Raises InputError `no-release`.
        """
        kept = [one for one in self.all if one.file.yanked is None]
        final = [one for one in kept if not one.parsed.is_prerelease]
        for some in (final, kept, self.all):
            if some:
                return some[-1]
        other = f"; it has {'source distributions' if self.kind == 'wheel' else 'wheels'}" if self.others else ""
        word = "wheel" if self.kind == "wheel" else "source distribution"
        hint = "look at `package` and `files` in the manifest, and at pip's configuration here"
        raise InputError(
            "no-release", f"no version of {self.package} has a {word}{other}", where=self.package, hint=hint
        )

    def find(self, text: str) -> Release:
        """The version that `text` is by PEP 440 ("1.0" finds 1.0.0), whatever its marks. Raises InputError `no-such-version`."""
        try:
            wanted = Version(text)
        except InvalidVersion:
            hint = f"write one of {self._shown()}"
            message = f"{quoted(text)} is no version, and a package dependency takes versions as refs"
            raise InputError("no-such-version", message, where=self.package, hint=hint) from None
        found = self._by_version.get(wanted)
        if found is None and wanted.local is None:  # as pip: 1.0 is content with 1.0+cu12 where that is the only one
            local = [one for version, one in self._by_version.items() if Version(version.public) == wanted]
            found = local[-1] if local else None
        if found is None:
            why = f"{self.package} has no version {wanted}"
            if wanted in self.others:
                why = f"{self.package} {wanted} has no {'wheel' if self.kind == 'wheel' else 'source distribution'}"
            hint = f"its versions are {self._shown()}" if self.all else "look at `package` and `files` in the manifest"
            raise InputError("no-such-version", why, where=self.package, hint=hint)
        return found

    def before(self, one: Release) -> Release | None:
        """The next lower version that counts: yanked ones never do, pre-releases only below a pre-release."""
        pre = one.parsed.is_prerelease
        lower = [
            other
            for other in self.all
            if other.parsed < one.parsed and other.file.yanked is None and (pre or not other.parsed.is_prerelease)
        ]
        return lower[-1] if lower else None

    def _shown(self) -> str:
        some = [one.version for one in self.all[-SHOWN:]]
        more = f"{len(self.all) - SHOWN} older ones, " if len(self.all) > SHOWN else ""
        return f"{more}{', '.join(some)}"


def version_of(package: str, filename: str) -> tuple[FileKind, Version] | None:
    """The kind and the version of a file of that package, None for any other file."""
    try:
        if filename.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(filename)
            kind: FileKind = "wheel"
        else:
            name, version = parse_sdist_filename(filename)
            kind = "sdist"
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return (kind, version) if name == canonicalize_name(package) else None


def _by_kind(package: str, files: Iterable[IndexFile]) -> Mapping[FileKind, dict[Version, list[IndexFile]]]:
    found: dict[FileKind, dict[Version, list[IndexFile]]] = {"wheel": {}, "sdist": {}}
    for file in files:
        known = version_of(package, file.filename)
        if known is not None:
            found[known[0]].setdefault(known[1], []).append(file)
    return found


def _best(files: Sequence[IndexFile]) -> IndexFile:
    """Of the wheels of one version: for any machine, else for Linux on x86_64, else the first by name; always the same one.

    One that is not yanked comes before one that is.
    """

    def rank(file: IndexFile) -> tuple[bool, int, str]:
        name = file.filename
        if not name.endswith(".whl"):
            return file.yanked is not None, 0 if name.endswith(".tar.gz") else 1, name
        platform = name[:-4].rpartition("-")[2]
        place = 0 if platform == "any" else 1 if "linux" in platform and "x86_64" in platform else 2
        return file.yanked is not None, place, name

    return min(files, key=rank)
