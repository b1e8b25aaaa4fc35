"""What the example needs from outside, kept in .cache/real-image: sdists, wheels, programs, an operating system."""

import hashlib
import os
import re
import shutil
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steps import Place, must, say

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
RELEASES = ("8.1.6", "8.1.7", "8.1.8", "8.2.0", "8.2.1", "8.3.1")
PROGRAMS = {"buildah": "buildah", "mmdebstrap": "mmdebstrap"}  # program -> Debian's package
APT = ("--quiet=2", "--option", "Acquire::Retries=3")
PACKAGES = ("python3", "python3-venv", "git")  # in the container's operating system
LEAN = (  # nobody reads a manual there, and what is made is thrown away where the power fails
    "--dpkgopt=force-unsafe-io",
    *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "man")),
)
FORMATS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
BUILDERS = ("flit_core==3.12.0", "setuptools==80.9.0", "wheel==0.45.1", "hatchling==1.27.0")


@dataclass(frozen=True, slots=True)
class Supplies:
    cache: Path
    machine: Place  # this machine, with all of its environment: pip and apt are set up there

    @property
    def tools(self) -> Path:
        """The Python of an environment that can read and build sdists."""
        return self.cache / "tools/bin/python"

    def prepare_tools(self) -> None:
        if not (self.cache / "tools/ready").exists():
            say("Making an environment that builds sdists and wheels.")
            must(self.machine, sys.executable, "-m", "venv", "--clear", str(self.cache / "tools"))
            self._pip("install", *BUILDERS)
            (self.cache / "tools/ready").touch()

    def sdists(self) -> list[Path]:
        folder = self.cache / "sdists"
        paths = [folder / f"click-{version}.tar.gz" for version in RELEASES]
        for version, path in zip(RELEASES, paths, strict=True):
            if not path.exists():
                say(f"Downloading the sdist of click {version}.")
                how = ("--no-binary", ":all:", "--no-deps", "--no-build-isolation", "--dest", str(folder))
                self._pip("download", *how, f"click=={version}")
        return paths

    def image_wheels(self) -> Path:
        """What the image's environment is made of: wheels for any Python and machine."""
        folder = self.cache / "wheels/image"
        wanted = HERE / "image-requirements.txt"
        self._fill(folder, wanted.read_text(), "--only-binary", ":all:", "--requirement", str(wanted))
        return folder

    def regraft_wheels(self, python: str) -> Path:
        """The wheel of this checkout as it is, and what it needs on Python `python` (`3.11`) on Linux."""
        folder = self.cache / f"wheels/regraft-{python}"
        for old in folder.glob("regraft-*.whl"):
            old.unlink()
        self._pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(REPOSITORY))
        platforms = [word for name in FORMATS for word in ("--platform", f"{name}_{os.uname().machine}")]
        constraints = REPOSITORY / "constraints.txt"
        wanted = constraints.read_text() + (REPOSITORY / "pyproject.toml").read_text()
        how = ("--only-binary", ":all:", "--python-version", python, *platforms, "--constraint", str(constraints))
        self._fill(folder, wanted, *how, *map(str, folder.glob("regraft-*.whl")))
        return folder

    def _fill(self, folder: Path, wanted: str, *what: str) -> None:
        """Download into `folder`, unless the same was `wanted` when that was done the last time."""
        stamp = folder / "wanted"
        if not stamp.exists() or stamp.read_text() != wanted:
            say(f"Downloading the wheels in {folder.relative_to(self.cache)}.")
            self._pip("download", "--dest", str(folder), *what)
            stamp.write_text(wanted)

    def _pip(self, *arguments: str) -> None:
        must(self.machine, str(self.tools), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)

    def rootfs(self) -> Path:
        """A tar of a minimal operating system, of the release and from the package sources of this machine."""
        release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
        suite = release["VERSION_CODENAME"].strip('"')
        key = hashlib.sha256(" ".join([suite, *PACKAGES, *LEAN]).encode()).hexdigest()[:12]
        path = self.cache / f"system-{suite}-{key}/rootfs.tar"
        if not path.exists():
            say(f"Making a minimal {suite} from this machine's package sources; this takes about two minutes.")
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_name("half.tar")
            unpack = (
                "--variant=minbase",
                f"--include={','.join(PACKAGES)}",
                "--quiet",
                '--aptopt=Acquire::Retries "3"',
            )
            must(self.machine, "mmdebstrap", *unpack, *LEAN, suite, str(half), str(_package_sources()))
            half.rename(path)
        return path


def programs(machine: Place) -> None:
    """Install what is missing. Raises SystemExit where that fails."""
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        say(f"Installing {' and '.join(missing)} by apt-get, since this machine has no such program.")
        must(machine, "apt-get", *APT, "update")
        must(machine, "apt-get", *APT, "install", "--yes", "--no-install-recommends", *missing)


def python_of(rootfs: Path) -> str:
    """The version of the system's Python, as `3.11`."""
    with tarfile.open(rootfs) as archive:
        for member in archive:
            found = re.fullmatch(r"(?:\./)?usr/bin/python(3\.\d+)", member.name)
            if found:
                return found[1]
    raise SystemExit(f"{rootfs} holds no Python")


def _package_sources() -> Path:
    candidates: Sequence[str] = ("sources.list.d/debian.sources", "sources.list.d/ubuntu.sources", "sources.list")
    for name in candidates:
        path = Path("/etc/apt") / name
        if path.exists():
            return path
    raise SystemExit("this machine has no package sources in /etc/apt: the container half needs Debian or Ubuntu")
