"""What one interpreter can import, and where from. Runs inside an image's Python (3.8 or newer), standard library only.

`regraft.adapters.machine` reads this file as text and starts `PYTHON -B -c TEXT REQUEST` in an empty folder. REQUEST is
a JSON object: {"answer": path of the file to make, "job": "describe" or "import", and what the job needs}. The answer
goes to that file as one JSON object, since code that is imported may print anything, or end the process.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import json
import os
import pkgutil
import platform
import re
import site
import sys
import sysconfig
import traceback
import types
from typing import Any, Iterator
from urllib.parse import unquote, urlsplit

FLOOR = (3, 8)
TEXT_LIMIT = 1024 * 1024  # bytes of one metadata file; what comes after the headers is prose
LINE_LIMIT = 500
LINES_LIMIT = 200
STANDARD_FINDERS: tuple[Any, ...] = (
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
)


def main() -> None:
    request = json.loads(sys.argv[1])
    sys.argv[:] = ["-c"]
    sys.path[:] = [entry for entry in sys.path if entry != ""]
    # Opened first: the code that is imported may change the folder, the user or the root.
    answer = os.open(request["answer"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if sys.version_info < FLOOR:
        found = {"too_old": version_text(sys.version_info)}
    elif request["job"] == "import":
        found = try_import(request["name"])
    else:
        found = describe(request)
    with os.fdopen(answer, "wb") as stream:
        stream.write(json.dumps(found).encode("ascii"))
    # What libraries do on the way out (and how they crash there) says nothing about the import.
    os._exit(0)


def describe(request: dict[str, Any]) -> dict[str, Any]:
    unread: list[str] = []
    installed, left_overs = distributions(unread)
    named = set(request["distributions"])
    return {
        "version": version_text(sys.version_info),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "purelib": sysconfig.get_path("purelib"),
        "platlib": sysconfig.get_path("platlib"),
        "scripts": sysconfig.get_path("scripts"),
        "externally_managed": externally_managed(),
        "sys_path": list(sys.path),
        "absent": [entry for entry in request["python_path"] if not os.path.exists(entry)],
        "markers": markers(),
        "distributions": installed,
        "left_overs": left_overs,
        "unread": unread,
        "path_files": path_files(),
        "finders": finders(),
        "modules": [module(name) for name in request["modules"]],
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
                unread.append("%s: %s" % (folder, error.strerror))
            continue
        if folder.endswith(".egg") and "EGG-INFO" in names:
            found.append(egg_info(folder, os.path.join(folder, "EGG-INFO"), os.path.basename(folder)))
        for name in names:
            if not name.endswith((".dist-info", ".egg-info", ".egg-link")):
                continue
            path = os.path.join(folder, name)
            if name.startswith("~"):
                left_overs.append(path)
                continue
            try:
                found.append(distribution(folder, path, name))
            except OSError as error:
                unread.append("%s: %s" % (path, error.strerror))
    return found, left_overs


def standard_zip(path: str) -> bool:
    return os.path.basename(path) == "python%d%d.zip" % sys.version_info[:2]


def distribution(folder: str, path: str, name: str) -> dict[str, Any]:
    if name.endswith(".egg-link"):
        return egg_link(folder, path, name)
    if name.endswith(".egg-info"):
        return egg_info(folder, path, name)
    headers = read_headers(os.path.join(path, "METADATA"))
    return record(folder, path, name, "dist-info", headers, headers.get("requires-dist", []))


def egg_info(folder: str, path: str, name: str) -> dict[str, Any]:
    if os.path.isfile(path):
        headers = read_headers(path)
        return record(folder, path, name, "egg-info", headers, headers.get("requires-dist", []))
    headers = read_headers(os.path.join(path, "PKG-INFO"))
    requires = headers.get("requires-dist") or egg_requires(read_text(os.path.join(path, "requires.txt")))
    return record(folder, path, name, "egg-info", headers, requires)


def egg_link(folder: str, path: str, name: str) -> dict[str, Any]:
    """The link of `setup.py develop`: its first line is where the source is."""
    lines = read_text(path).splitlines()
    target = lines[0].strip() if lines else ""
    found = record(folder, path, name, "egg-link", {}, [])
    found["editable"] = os.path.realpath(os.path.join(folder, target))
    return found


def record(
    folder: str, path: str, name: str, kind: str, headers: dict[str, list[str]], requires: list[str]
) -> dict[str, Any]:
    stem = name.rpartition(".")[0]
    base, _, rest = stem.partition("-")
    return {
        "name": normalized((headers.get("name") or [base])[0]),
        "version": (headers.get("version") or [rest.partition("-")[0]])[0],
        "requires": [line[:LINE_LIMIT] for line in requires],
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


def read_headers(path: str) -> dict[str, list[str]]:
    """{name in lower case: [value, ...]} of the headers, up to the first empty line."""
    headers: dict[str, list[str]] = {}
    values: list[str] = []
    for line in read_text(path).splitlines():
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


def egg_requires(text: str) -> list[str]:
    """`requires.txt`, with its [extra:marker] sections, as lines of Requires-Dist."""
    lines: list[str] = []
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            extra, _, marker = section.partition(":")
            conditions = ["(%s)" % marker] if marker else []
            conditions += ['extra == "%s"' % extra] if extra else []
            lines.append("%s ; %s" % (line, " and ".join(conditions)) if conditions else line)
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
    """The commands that a distribution declares, whether they are there, and whether what they call is."""
    section = ""
    for raw in read_text(os.path.join(found["metadata"], "entry_points.txt")).splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = line
        elif section in ("[console_scripts]", "[gui_scripts]") and "=" in line and not line.startswith("#"):
            name, _, target = (part.strip() for part in line.partition("="))
            target_module = target.partition(":")[0].partition("[")[0].strip()
            folder = sysconfig.get_path("scripts")
            yield {
                "distribution": found["name"],
                "name": name,
                "module": target_module,
                "exists": any(os.path.isfile(os.path.join(folder, name + end)) for end in ("", ".exe")),
                "found": effective(target_module)[0] is not None,
            }


# What leads the search


def path_files() -> list[dict[str, Any]]:
    """The `.pth` files that `site` reads at start, and their lines."""
    folders = list(site.getsitepackages()) if hasattr(site, "getsitepackages") else [sysconfig.get_path("purelib")]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for folder in folders:
        real = os.path.realpath(folder)
        if real in seen or not os.path.isdir(real):
            continue
        seen.add(real)
        for name in sorted(os.listdir(real)):
            if name.endswith(".pth"):
                path = os.path.join(real, name)
                lines = [line[:LINE_LIMIT] for line in read_text(path).splitlines()[:LINES_LIMIT]]
                found.append({"path": path, "lines": lines})
    return found


def finders() -> list[dict[str, Any]]:
    """Finders that somebody added, with the map from names to folders that setuptools' editable ones hold."""
    found: list[dict[str, Any]] = []
    for finder in added_finders():
        holder = sys.modules.get(str(getattr(finder, "__module__", "")))
        mapping = getattr(holder, "MAPPING", None)
        pairs = mapping.items() if isinstance(mapping, dict) else ()
        one = {"name": finder_name(finder), "mapping": {str(name): os.path.realpath(str(path)) for name, path in pairs}}
        if one not in found:  # `site` runs the `.pth` files of a virtual environment twice
            found.append(one)
    return found


def added_finders() -> list[Any]:
    return [one for one in sys.meta_path if one not in STANDARD_FINDERS and hasattr(one, "find_spec")]


def finder_name(finder: Any) -> str:
    kind = finder if isinstance(finder, type) else type(finder)
    return "%s.%s" % (kind.__module__, kind.__qualname__)


# Modules, without running any of their code


def module(name: str) -> dict[str, Any]:
    found, error = effective(name)
    return {"name": name, "effective": found, "error": error, "copies": copies(name)}


def effective(name: str) -> tuple[dict[str, Any] | None, str | None]:
    """(the place that an import of `name` would take, why there is none), found without importing its parents."""
    with contextlib.ExitStack() as pretended:
        path: list[str] | None = None
        full, spec = "", None
        for part in name.split("."):
            full = full + "." + part if full else part
            try:
                spec = first_spec(full, path)
            except Exception as error:  # a finder is anybody's code
                return None, "%s: %s" % (type(error).__name__, one_line(error))
            if spec is None:
                return None, "no module named %r" % full
            path = locations_of(spec)
            pretended.enter_context(pretend(full, path))
        return place(spec, ""), None


@contextlib.contextmanager
def pretend(name: str, path: list[str]) -> Iterator[None]:
    """An empty module in the place of one that was not imported: a namespace's path looks its parent up there."""
    if name in sys.modules:
        yield
        return
    stub = types.ModuleType(name)
    stub.__path__ = path
    sys.modules[name] = stub
    try:
        yield
    finally:
        sys.modules.pop(name, None)


def first_spec(full: str, path: list[str] | None) -> Any:
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(full, path) if find else None
        if spec is not None:
            return spec
    return None


def copies(name: str) -> list[dict[str, Any]]:
    """Every place that could be `name`, whatever stands before it: a later change of order brings it to light."""
    parent, _, _ = name.rpartition(".")
    above: list[dict[str, Any]] = copies(parent) if parent else [{"locations": list(sys.path), "via": None}]
    found: list[dict[str, Any]] = []
    seen = set()
    for one in above:
        with pretend(parent, one["locations"]) if parent else contextlib.nullcontext():
            for copy in places(name, one):
                key = (copy["file"], tuple(copy["locations"]))
                if key not in seen:
                    seen.add(key)
                    found.append(copy)
    return found


def places(full: str, parent: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for location in parent["locations"]:
        try:
            find = getattr(pkgutil.get_importer(location), "find_spec", None)
            spec = find(full) if find else None
        except Exception:  # a path hook is anybody's code, and a damaged archive raises
            continue
        if spec is not None:
            yield place(spec, parent["via"] or location)
    for added in added_finders():
        try:
            spec = added.find_spec(full, parent["locations"] if "." in full else None)
        except Exception:
            continue
        if spec is not None:
            yield place(spec, parent["via"] or finder_name(added))


def place(spec: Any, via: str) -> dict[str, Any]:
    """`file` is None for a namespace package and for what is built in."""
    has_file = spec.has_location and spec.origin is not None
    return {
        "file": os.path.realpath(spec.origin) if has_file else None,
        "locations": [os.path.realpath(one) if os.path.isabs(one) else one for one in locations_of(spec)],
        "built_in": not has_file and spec.submodule_search_locations is None,
        "via": via,
    }


def locations_of(spec: Any) -> list[str]:
    return [str(one) for one in spec.submodule_search_locations or ()]


# An import for real


def try_import(name: str) -> dict[str, Any]:
    try:
        found = importlib.import_module(name)
        return {"ok": True, "file": file_of(found), "paths": [os.path.realpath(str(one)) for one in path_of(found)]}
    except BaseException as error:  # SystemExit among them: a module may end the program
        ours = ("<frozen", "<string>", os.path.dirname(importlib.__file__))
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame[0].startswith(ours)]
        return {
            "ok": False,
            "error": "%s: %s" % (type(error).__name__, one_line(error)),
            "missing": error.name if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) else None,
            "frames": ["%s:%s in %s" % (frame[0], frame[1], frame[2]) for frame in frames[-4:]],
        }


def file_of(found: Any) -> str | None:
    path = getattr(found, "__file__", None)
    return os.path.realpath(path) if isinstance(path, str) else None


def path_of(found: Any) -> list[str]:
    return list(getattr(found, "__path__", None) or ())


def one_line(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:LINE_LIMIT]
    except Exception:
        return "(an error that cannot be shown)"


main()
