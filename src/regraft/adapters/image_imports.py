"""Where modules are, and whether they import. Runs inside an image's Python (3.8 or newer), standard library only.

Started by `regraft.adapters.machine` like `image_probe.py`. REQUEST is {"answer": file to make, "find": [module name]},
or {"answer", "import": module name}: that code may print anything, and may end the process before there is an answer.
"""

from __future__ import annotations

import sys

SOURCES_ALONE, sys.pycache_prefix = sys.pycache_prefix, None  # for the standard library its byte code is good enough

import builtins
import contextlib
import importlib
import importlib.machinery
import itertools
import json
import os
import pkgutil
import traceback
import types
from typing import Any, Iterator

sys.pycache_prefix = SOURCES_ALONE

LINE_LIMIT = 500
SWALLOWED_LIMIT = 200
CHILDREN_LIMIT = 20_000  # of one portion of a namespace
DEPTH = 8  # of namespaces in a namespace
STANDARD_FINDERS: tuple[Any, ...] = (
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
)


def main() -> None:
    request = json.loads(sys.argv[1])
    sys.argv[:] = ["-c"]
    sys.path[:] = [entry for entry in sys.path if is_text(entry) and entry != ""]
    # Opened first: the code that is imported may change the folder, the user or the root.
    answer = os.open(request["answer"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if "find" in request:
        found: Any = [module(name) for name in request["find"]]
    else:
        found = try_import(request["import"])
    with os.fdopen(answer, "wb") as stream:
        stream.write(json.dumps(found).encode("ascii"))
    # What libraries do on the way out (and how they crash there) says nothing about the import.
    os._exit(0)


def is_text(entry: object) -> bool:
    """An import passes over everything else on sys.path."""
    return isinstance(entry, str)


def module(name: str) -> dict[str, Any]:
    found, error = effective(name)
    spaces = found["locations"] if found and found["file"] is None else []
    return {
        "name": name,
        "effective": found,
        "error": error,
        "copies": copies(name),
        "portions": [portion(location) for location in spaces if os.path.isdir(location)],
    }


def effective(name: str) -> tuple[dict[str, Any] | None, str | None]:
    """(the place that an import of `name` would take, why there is none), found without importing its parents."""
    with contextlib.ExitStack() as pretended:
        path: list[str] | None = None
        full, spec = "", None
        for part in name.split("."):
            full = full + "." + part if full else part
            try:
                spec = first_spec(full, path)
            except Exception as error:  # noqa: BLE001 - a finder is anybody's code
                return None, f"{type(error).__name__}: {one_line(error)}"
            if spec is None:
                return None, f"no module named {full!r}"
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
        spec = find(full, path, None) if find else None  # with three values, as an import calls it
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
            spec = find(full, None) if find else None
        except Exception:  # noqa: BLE001, S112 - a path hook is anybody's code, and a damaged archive raises
            continue
        if spec is not None:
            yield place(spec, parent["via"] or location)
    for added in sys.meta_path:
        if added in STANDARD_FINDERS or not hasattr(added, "find_spec"):
            continue
        try:
            spec = added.find_spec(full, parent["locations"] if "." in full else None, None)
        except Exception:  # noqa: BLE001, S112 - a finder is anybody's code
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


def portion(location: str) -> dict[str, Any]:
    listed = list(itertools.islice(children(location, "", DEPTH), CHILDREN_LIMIT + 1))
    return {
        "location": location,
        "children": sorted(set(listed[:CHILDREN_LIMIT])),
        "whole": len(listed) <= CHILDREN_LIMIT,
    }


def children(folder: str, prefix: str, depth: int) -> Iterator[str]:
    """The modules and packages of a folder that is part of a namespace; folders without an `__init__` are namespaces too."""
    suffixes = sorted(importlib.machinery.all_suffixes(), key=len, reverse=True)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.isidentifier() and os.path.isdir(path):
            if any(os.path.isfile(os.path.join(path, "__init__" + suffix)) for suffix in suffixes):
                yield prefix + name
            elif depth and name != "__pycache__":
                yield from children(path, prefix + name + ".", depth - 1)
            continue
        suffix = next((one for one in suffixes if name.endswith(one)), None)
        if suffix is not None and name[: -len(suffix)].isidentifier():
            yield prefix + name[: -len(suffix)]


# An import for real


def try_import(name: str) -> dict[str, Any]:
    try:
        with watching() as failed:
            found = importlib.import_module(name)
        paths = [os.path.realpath(str(one)) for one in path_of(found)]
        return {"ok": True, "file": file_of(found), "paths": paths, "swallowed": list(failed.items())}
    except BaseException as error:  # noqa: BLE001 - SystemExit among them: a module may end the program
        ours = ("<frozen", "<string>", os.path.dirname(importlib.__file__))
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame[0].startswith(ours)]
        return {
            "ok": False,
            "error": f"{type(error).__name__}: {one_line(error)}",
            "missing": error.name if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) else None,
            "frames": [f"{frame[0]}:{frame[1]} in {frame[2]}" for frame in frames[-4:]],
        }


@contextlib.contextmanager
def watching() -> Iterator[dict[str, str]]:
    """What could not be imported meanwhile -> the module that wanted it. Where all went well, somebody swallowed that."""
    original = builtins.__import__
    failed: dict[str, str] = {}

    def note(name: Any, by: Any) -> None:
        if isinstance(name, str) and isinstance(by, str) and len(failed) < SWALLOWED_LIMIT:
            failed.setdefault(name[:LINE_LIMIT], by[:LINE_LIMIT])

    def watched(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002
        by = globals.get("__name__") if isinstance(globals, dict) else None
        try:
            found = original(name, globals, locals, fromlist, level)
        except ImportError as error:
            note(error.name or name, by)
            raise
        for one in fromlist or ():
            with contextlib.suppress(Exception):
                whole = found.__name__ + "." + one
                if one != "*" and not hasattr(found, one) and whole not in sys.modules:
                    note(whole, by)
        return found

    builtins.__import__ = watched
    try:
        yield failed
    finally:
        builtins.__import__ = original


def file_of(found: Any) -> str | None:
    path = getattr(found, "__file__", None)
    return os.path.realpath(path) if isinstance(path, str) else None


def path_of(found: Any) -> list[str]:
    return list(getattr(found, "__path__", None) or ())


def one_line(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:LINE_LIMIT]
    except Exception:  # noqa: BLE001 - an exception's own text is anybody's code
        return "(an error that cannot be shown)"


def finder_name(finder: Any) -> str:
    kind = finder if isinstance(finder, type) else type(finder)
    return f"{kind.__module__}.{kind.__qualname__}"


main()
