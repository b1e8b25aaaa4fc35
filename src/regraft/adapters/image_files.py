"""What lies in an image's site folders. Runs inside the image's Python (3.8 or newer), standard library only.

Started by `regraft.adapters.machine` like `image_probe.py`. REQUEST is {"answer": file to make, "checkouts": [real folder],
"limit": bytes}: what leads into a checkout or lies there is left out, since others judge that. The files of a distribution,
and those of a folder that no distribution owns, are read where they hold no more than `limit` bytes together: whether
they are does not hang on anything else that is installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.machinery
import json
import os
import re
import site
import stat
import sys
import sysconfig
from typing import Any, Iterable, Iterator

MODULES = (".py", ".pyc", ".so", ".pyd")
CUSTOM = ("sitecustomize", "usercustomize")  # `site` imports them, wherever they are
LIMIT = 20_000  # entries of one list
FILE_LIMIT = 64 * 1024 * 1024  # bytes of a RECORD or a `.pth` file
SLACK = 2  # seconds
STANDARD_FINDERS: tuple[Any, ...] = (
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
)
# What old versions of setuptools write around the lines of easy-install.pth: it moves them, and leads nowhere.
AROUND = re.compile(r"import sys; (sys\.__plen = len\(sys\.path\)|new ?= ?sys\.path\[sys\.__plen:\].*)")


class Listing:
    """Which distribution owns which file, by absolute path, and the rows of each RECORD that say what it holds."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}
        self.owners: dict[str, list[str]] = {}
        self.folders: set[str] = set()
        # (distribution, path, "sha256=...", size, time of RECORD)
        self.rows: list[tuple[str, str, str, int, float]] = []

    def add(self, folder: str, name: str) -> None:
        """`name` is that of a metadata folder, or of an egg-info file."""
        path = os.path.join(folder, name)
        self.records[os.path.realpath(path)] = record_hash(path)
        distribution = re.sub(r"[-_.]+", "-", name.rpartition(".")[0].partition("-")[0]).lower()
        if name.endswith(".dist-info"):
            record = os.path.join(path, "RECORD")
            written = stat_of(record).st_mtime
            for row in csv.reader(text_of(record).splitlines()):
                if row and row[0]:
                    owned = self.own(distribution, folder, row[0])
                    if len(row) == 3 and "=" in row[1] and row[2].isdigit():
                        self.rows.append((distribution, owned, row[1], int(row[2]), written))
        else:
            for line in text_of(os.path.join(path, "installed-files.txt")).splitlines():
                self.own(distribution, path, line)

    def own(self, distribution: str, folder: str, name: str) -> str:
        odd = folder == "/" or name[:1] in ("", "/", ".") or name[-1] == "/" or "/." in name or "//" in name
        owned = os.path.normpath(os.path.join(folder, name)) if odd else folder + "/" + name  # most are plain
        self.owners.setdefault(owned, []).append(distribution)
        above = owned.rpartition("/")[0]
        while above.strip("/") and above not in self.folders:
            self.folders.add(above)
            above = above.rpartition("/")[0]
        return owned

    def of(self, path: str) -> list[str]:
        return sorted(set(self.owners.get(os.path.normpath(path), ())))


def main() -> None:
    request = json.loads(sys.argv[1])
    sys.path[:] = [entry for entry in sys.path if is_text(entry) and entry != ""]
    checkouts = request["checkouts"]
    folders = [one for one in searched() if not in_checkout(one, checkouts)]
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    sites = [one for one in folders if is_site(one) or not {one, os.path.dirname(one)} & standard]
    listing = Listing()
    for folder in sites:
        for name in names_in(folder):
            if name.endswith((".dist-info", ".egg-info")) and not name.startswith("~"):
                listing.add(folder, name)
            elif name == "EGG-INFO" and folder.endswith(".egg"):
                listing.records[os.path.join(folder, name)] = record_hash(os.path.join(folder, name))
    loose = [one for folder in folders for one in customs(folder)]
    for folder in filter(is_site, sites):
        loose += loose_in(folder, listing, checkouts, request["limit"])
    found = {
        "records": listing.records,
        "path_files": path_files(listing, checkouts),
        "finders": finders(listing, checkouts),
        "loose": loose[:LIMIT],
        "edited": list(edited(listing, request["limit"]))[:LIMIT],
    }
    answer = os.open(request["answer"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(answer, "wb") as stream:
        stream.write(json.dumps(found).encode("ascii"))


def is_text(entry: object) -> bool:
    return isinstance(entry, str)


def searched() -> list[str]:
    """The folders of sys.path, each once, and those that `site` reads."""
    every = [*sys.path, *site_folders()]
    return [one for one in dict.fromkeys(os.path.realpath(entry) for entry in every) if os.path.isdir(one)]


def site_folders() -> list[str]:
    folders = list(site.getsitepackages()) if hasattr(site, "getsitepackages") else []
    folders += [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return [*folders, site.getusersitepackages()] if site.ENABLE_USER_SITE else folders


def is_site(folder: str) -> bool:
    named = os.path.basename(folder) in ("site-packages", "dist-packages")
    return named or folder in {os.path.realpath(one) for one in site_folders()}


def shown(path: str) -> str:
    """Relative to the environment where it lies there, so that it names no place of one machine."""
    prefix = os.path.realpath(sys.prefix)
    return os.path.relpath(path, prefix) if is_below(path, [prefix]) else path


# Modules that no RECORD names


def customs(folder: str) -> Iterator[dict[str, Any]]:
    if is_site(folder):
        return
    for name in names_in(folder):
        path = os.path.join(folder, name)
        if name.partition(".")[0] in CUSTOM and (is_module(path) or os.path.isdir(path)):
            kind = "package" if os.path.isdir(path) else "module"
            yield {"path": shown(path), "kind": kind, "sha256": file_hash(path)}


def loose_in(folder: str, listing: Listing, checkouts: list[str], limit: int) -> Iterator[dict[str, Any]]:
    """Files and folders that an import finds, and that no distribution has a record of; not what is in them again."""
    for name in names_in(folder):
        path = folder + "/" + name
        if path in listing.owners or in_checkout(path, checkouts):
            continue
        if is_module(path):
            yield {"path": shown(path), "kind": "module", "sha256": file_hash(path)}
        elif name.isidentifier() and name != "__pycache__" and os.path.isdir(path):
            if path in listing.folders:
                yield from loose_in(path, listing, checkouts, limit)
                continue
            modules = list(modules_below(path))
            kind = "package" if any(one.rpartition(".")[0] == "__init__" for one in modules) else "folder"
            if modules:
                yield {"path": shown(path), "kind": kind, "sha256": folder_hash(path, modules, limit)}


def is_module(path: str) -> bool:
    name = os.path.basename(path)
    return name.endswith(MODULES) and name.partition(".")[0].isidentifier() and os.path.isfile(path)


def modules_below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            path = os.path.join(place, name)
            if is_module(path):
                yield os.path.relpath(path, folder)


def folder_hash(folder: str, modules: list[str], limit: int) -> str | None:
    """One hash of the modules below a folder, or None where they hold more than is to be read."""
    paths = [os.path.join(folder, name) for name in modules]
    if sum(stat_of(path).st_size for path in paths) > limit:
        return None
    digest = hashlib.sha256()
    for name, path in zip(modules, paths):
        digest.update(os.fsencode(name) + b"\0" + (file_hash(path) or "").encode("ascii") + b"\n")
    return digest.hexdigest()


# What starts with the interpreter


def path_files(listing: Listing, checkouts: list[str]) -> list[dict[str, Any]]:
    """The `.pth` files, by a hash of the lines that do something and do not lead into a checkout."""
    found: list[dict[str, Any]] = []
    for folder in dict.fromkeys(os.path.realpath(one) for one in site_folders()):
        for name in names_in(folder):
            path = os.path.join(folder, name)
            lines = [line for line in pth_lines(path) if not leads_into(line, folder, checkouts)]
            if name.endswith(".pth") and lines:
                held = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
                found.append({"path": shown(path), "sha256": held, "owners": listing.of(path)})
    return found


def pth_lines(path: str) -> list[str]:
    if not path.endswith(".pth"):
        return []
    lines = [line.strip() for line in text_of(path).splitlines()]
    return [line for line in lines if line and not line.startswith("#") and not AROUND.fullmatch(line)]


def leads_into(line: str, folder: str, checkouts: list[str]) -> bool:
    """Or into an egg, which is a distribution with a version of its own."""
    if line.startswith(("import ", "import\t")) or "\0" in line:
        return False
    return line.endswith(".egg") or in_checkout(os.path.join(folder, line), checkouts)


def finders(listing: Listing, checkouts: list[str]) -> list[dict[str, Any]]:
    """Finders that somebody added to sys.meta_path, but those that only map names to folders of checkouts."""
    found: list[dict[str, Any]] = []
    for finder in sys.meta_path:
        if finder in STANDARD_FINDERS:
            continue
        kind = finder if isinstance(finder, type) else type(finder)
        holder = sys.modules.get(str(kind.__module__))
        mapping = getattr(holder, "MAPPING", None)
        folders = mapping.values() if isinstance(mapping, dict) else ()
        if folders and all(in_checkout(str(one), checkouts) for one in folders):
            continue
        file = getattr(holder, "__file__", None)
        owners = listing.of(os.path.realpath(file)) if isinstance(file, str) else []
        one = {"name": f"{kind.__module__}.{kind.__qualname__}", "owners": owners}
        if one not in found:
            found.append(one)
    return found


# Installed files


def edited(listing: Listing, limit: int) -> Iterator[dict[str, Any]]:
    """Files that are not what their RECORD says. In a distribution of more than `limit` bytes only those are read that
    have another size, or are newer than the RECORD.
    """
    totals: dict[str, int] = {}
    for row in listing.rows:
        totals[row[0]] = totals.get(row[0], 0) + row[3]
    for distribution, path, expected, size, written in listing.rows:
        try:
            found = os.stat(path)
        except OSError:
            yield {"distribution": distribution, "path": shown(path), "sha256": None}
            continue
        if found.st_size == size:
            newer = found.st_mtime > written + SLACK and size <= limit
            if (totals[distribution] > limit and not newer) or holds(path, expected):
                continue
        yield {"distribution": distribution, "path": shown(path), "sha256": file_hash(path)}


def holds(path: str, expected: str) -> bool:
    """Whether a file has the hash of a RECORD's row; one by an algorithm that is not known here is taken for right."""
    algorithm, _, value = expected.partition("=")
    try:
        digest = hashlib.new(algorithm)
    except (ValueError, TypeError):
        return True
    if read_into(digest, path):
        return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=") == value.rstrip("=").encode("ascii", "replace")
    return False


# Files


def record_hash(path: str) -> str:
    """Of the RECORD of a metadata folder; of the names and the content of its files where it has none."""
    held = file_hash(os.path.join(path, "RECORD")) or (file_hash(path) if os.path.isfile(path) else None)
    if held is not None:
        return held
    digest = hashlib.sha256()
    for place, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(place, name)
            line = os.fsencode(os.path.relpath(file, path)) + b"\0" + (file_hash(file) or "").encode("ascii") + b"\n"
            digest.update(line)
    return digest.hexdigest()


def file_hash(path: str) -> str | None:
    digest = hashlib.sha256()
    return digest.hexdigest() if read_into(digest, path) else None


def read_into(digest: Any, path: str) -> bool:
    """False where there is no such regular file, or where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return False
            for piece in iter(lambda: stream.read(1024 * 1024), b""):
                digest.update(piece)
    except OSError:
        return False
    return True


def text_of(path: str) -> str:
    """A file's text, or "" where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as stream:
            regular = stat.S_ISREG(os.fstat(handle).st_mode)
            return stream.read(FILE_LIMIT).decode("utf-8", "surrogateescape") if regular else ""
    except OSError:
        return ""


def stat_of(path: str) -> os.stat_result:
    """Zeros where nothing is there."""
    try:
        return os.stat(path)
    except OSError:
        return os.stat_result((0,) * 10)


def names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def in_checkout(path: str, checkouts: list[str]) -> bool:
    """Whether a path leads into a checkout: an environment that somebody made within one is no part of it."""
    real, prefix = os.path.realpath(path), os.path.realpath(sys.prefix)
    around = [one for one in checkouts if is_below(real, [one])]
    return bool(around) and not (is_below(real, [prefix]) and all(is_below(prefix, [one]) for one in around))


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


main()
