"""What an image's environment holds. Runs inside the image's Python (3.8 or newer), standard library only.

`regraft.adapters.machine` reads this file as text and starts `PYTHON -B -c TEXT REQUEST` in an empty folder. REQUEST is
a JSON object: {"answer": the file to make, "python_path": [folder], "distributions": [normalized name]}. The answer
goes to that file as one JSON object: what starts with the interpreter (a `.pth` file) may print anything.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import platform
import re
import site
import sys
import sysconfig
from typing import Any, Iterator
from urllib.parse import unquote, urlsplit

FLOOR = (3, 8)
TEXT_LIMIT = 1024 * 1024  # bytes of one metadata file; what comes after the headers is prose
LINE_LIMIT = 500  # characters of a line that is shown
REQUIREMENT_LIMIT = 20_000
LINES_LIMIT = 200
STANDARD_FINDERS: tuple[Any, ...] = (
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
)


def main() -> None:
    request = json.loads(sys.argv[1])
    passed_over = [
        f"{entry!r} on sys.path is no text: an import passes over it" for entry in sys.path if not is_text(entry)
    ]
    sys.path[:] = [entry for entry in sys.path if is_text(entry) and entry != ""]
    if sys.version_info < FLOOR:
        found = {"too_old": version_text(sys.version_info)}
    else:
        found = describe(request, passed_over)
    answer = os.open(request["answer"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(answer, "wb") as stream:
        stream.write(json.dumps(found).encode("ascii"))


def is_text(entry: object) -> bool:
    return isinstance(entry, str)


def describe(request: dict[str, Any], unread: list[str]) -> dict[str, Any]:
    installed, left_overs = distributions(unread)
    named = set(request["distributions"])
    return {
        "version": version_text(sys.version_info),
        "executable": sys.executable,
        "prefix": os.path.realpath(sys.prefix),
        "purelib": os.path.realpath(sysconfig.get_path("purelib")),
        "platlib": os.path.realpath(sysconfig.get_path("platlib")),
        "scripts": os.path.realpath(sysconfig.get_path("scripts")),
        "externally_managed": externally_managed(),
        "extension_suffixes": list(importlib.machinery.EXTENSION_SUFFIXES),
        "sys_path": list(sys.path),
        "searched": [os.path.realpath(entry) for entry in sys.path],
        "folders": folders(),
        "absent": [entry for entry in request["python_path"] if not os.path.exists(entry)],
        "markers": markers(),
        "distributions": installed,
        "left_overs": left_overs,
        "unread": unread,
        "path_files": path_files(),
        "finders": finders(),
        "commands": [command for one in installed if one["name"] in named for command in commands(one)],
    }


def version_text(info: Any) -> str:
    text = "{}.{}.{}".format(*info[:3])
    return text if info[3] == "final" else text + info[3][0] + str(info[4])


def markers() -> dict[str, str]:
    """The variables of PEP 508, but `extra`."""
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": version_text(sys.implementation.version),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def externally_managed() -> str | None:
    """The path of the marker of PEP 668, which holds outside virtual environments only."""
    if sys.prefix != sys.base_prefix:
        return None
    path = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    return path if os.path.isfile(path) else None


# Distributions


def distributions(unread: list[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """What is installed, in the order of `sys.path`: the first of one name is the one that is seen."""
    found: list[dict[str, Any]] = []
    left_overs: list[str] = []
    seen: set[str] = set()
    for entry in sys.path:
        folder = os.path.realpath(entry)
        if folder in seen or not os.path.exists(folder):
            continue
        seen.add(folder)
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            if not standard_zip(folder):
                unread.append(f"{folder}: {error.strerror}")
            continue
        if folder.endswith(".egg") and "EGG-INFO" in names:
            found.append(egg_info(os.path.join(folder, "EGG-INFO")))
        for name in names:
            if not name.endswith((".dist-info", ".egg-info", ".egg-link")):
                continue
            path = os.path.join(folder, name)
            if name.startswith("~"):
                left_overs.append(path)
                continue
            try:
                found.append(distribution(path))
            except OSError as error:
                unread.append(f"{path}: {error.strerror}")
    return found, left_overs


def standard_zip(path: str) -> bool:
    return os.path.basename(path) == "python{}{}.zip".format(*sys.version_info[:2])


def distribution(path: str) -> dict[str, Any]:
    if path.endswith(".egg-link"):
        return egg_link(path)
    if path.endswith(".egg-info"):
        return egg_info(path)
    headers = read_headers(os.path.join(path, "METADATA"))
    return record(path, "dist-info", headers, headers.get("requires-dist", []))


def egg_info(path: str) -> dict[str, Any]:
    if os.path.isfile(path):
        headers = read_headers(path)
        return record(path, "egg-info", headers, headers.get("requires-dist", []))
    headers = read_headers(os.path.join(path, "PKG-INFO"))
    requires = headers.get("requires-dist") or egg_requires(lines_of(os.path.join(path, "requires.txt")))
    return record(path, "egg-info", headers, requires)


def egg_link(path: str) -> dict[str, Any]:
    """The link of `setup.py develop`: its first line is where the source is."""
    lines = lines_of(path)
    target = lines[0].strip() if lines else ""
    found = record(path, "egg-link", {}, [])
    found["editable"] = os.path.realpath(os.path.join(os.path.dirname(path), target))
    return found


def record(path: str, kind: str, headers: dict[str, list[str]], requires: list[str]) -> dict[str, Any]:
    folder, name = os.path.split(path)
    base, _, rest = name.rpartition(".")[0].partition("-")
    return {
        "name": normalized((headers.get("name") or [base])[0]),
        "version": (headers.get("version") or [rest.partition("-")[0]])[0],
        "requires": [line[:REQUIREMENT_LIMIT] for line in requires],
        "kind": kind,
        "folder": folder,
        "metadata": os.path.realpath(path),
        "complete": bool(headers.get("version")) or kind == "egg-link",
        "editable": editable(path),
    }


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def read_text(path: str) -> str:
    """The beginning of a file, or "" where there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read(TEXT_LIMIT).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def lines_of(path: str) -> list[str]:
    """Lines as a file has them: `splitlines` would cut at characters that are part of a text."""
    text = read_text(path).replace("\r\n", "\n")
    return (text[:-1] if text.endswith("\n") else text).split("\n")


def read_headers(path: str) -> dict[str, list[str]]:
    """{name in lower case: [value, ...]} of the headers, up to the first empty line."""
    headers: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines_of(path):
        if not line.strip():
            break
        if line[0] in " \t":
            if values:
                values[-1] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        values = headers.setdefault(name.strip().lower(), []) if colon else []
        values.append(value.strip())
    return headers


def egg_requires(raw_lines: list[str]) -> list[str]:
    """`requires.txt`, with its [extra:marker] sections, as lines of Requires-Dist."""
    lines: list[str] = []
    section = ""
    for raw in raw_lines:
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            extra, _, marker = section.partition(":")
            conditions = [f"({marker})"] if marker else []
            conditions += [f'extra == "{extra}"'] if extra else []
            lines.append("{} ; {}".format(line, " and ".join(conditions)) if conditions else line)
    return lines


def editable(path: str) -> str | None:
    """The folder of an editable install, from PEP 610's record."""
    try:
        origin = json.loads(read_text(os.path.join(path, "direct_url.json")) or "{}")
        if not origin.get("dir_info", {}).get("editable"):
            return None
        return os.path.realpath(unquote(urlsplit(origin["url"]).path))
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def commands(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The commands that a distribution declares, and whether they are there."""
    section = ""
    for raw in lines_of(os.path.join(found["metadata"], "entry_points.txt")):
        line = raw.strip()
        if line.startswith("["):
            section = line
        elif section in ("[console_scripts]", "[gui_scripts]") and "=" in line and not line.startswith("#"):
            name, _, target = (part.strip() for part in line.partition("="))
            folder = sysconfig.get_path("scripts")
            yield {
                "distribution": found["name"],
                "name": name,
                "module": target.partition(":")[0].partition("[")[0].strip(),
                "exists": any(os.path.isfile(os.path.join(folder, name + end)) for end in ("", ".exe")),
            }


# What leads the search


def site_folders() -> list[str]:
    """Those that `site` reads `.pth` files in, whether or not they are there yet."""
    found = list(site.getsitepackages()) if hasattr(site, "getsitepackages") else [sysconfig.get_path("purelib")]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return found


def folders() -> list[str]:
    """Where a distribution or a module can come from, outside the standard library."""
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    sites = [os.path.realpath(folder) for folder in site_folders()]
    searched = [os.path.realpath(entry) for entry in sys.path]
    others = [
        one
        for one in searched
        if not ({one, os.path.dirname(one)} & standard or standard_zip(one)) and one not in sites
    ]
    return list(dict.fromkeys([*sites, *others]))


def path_files() -> list[dict[str, Any]]:
    """The `.pth` files that `site` reads at start, and their lines."""
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for folder in site_folders():
        real = os.path.realpath(folder)
        if real in seen or not os.path.isdir(real):
            continue
        seen.add(real)
        for name in sorted(os.listdir(real)):
            if name.endswith(".pth"):
                path = os.path.join(real, name)
                lines = [line[:LINE_LIMIT] for line in lines_of(path)[:LINES_LIMIT]]
                found.append({"path": path, "lines": lines})
    return found


def finders() -> list[dict[str, Any]]:
    """Finders that somebody added, with the map from names to folders that setuptools' editable ones hold."""
    found: list[dict[str, Any]] = []
    for finder in sys.meta_path:
        if finder in STANDARD_FINDERS:
            continue
        holder = sys.modules.get(str(getattr(finder, "__module__", "")))
        mapping = getattr(holder, "MAPPING", None)
        pairs = mapping.items() if isinstance(mapping, dict) else ()
        one = {"name": finder_name(finder), "mapping": {str(name): os.path.realpath(str(path)) for name, path in pairs}}
        if one not in found:  # `site` runs the `.pth` files of a virtual environment twice
            found.append(one)
    return found


def finder_name(finder: Any) -> str:
    kind = finder if isinstance(finder, type) else type(finder)
    return f"{kind.__module__}.{kind.__qualname__}"


main()
