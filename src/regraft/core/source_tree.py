"""A checkout on a machine: which of its files are the planned tree's, and which merely lie there."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

from regraft.core.checkout_tree import is_importable
from regraft.core.globs import matching
from regraft.core.observation import Checkout, Environment, is_below

Standing = Literal["tracked", "compiled", "shadow", "generated", "stray", "environment", "elsewhere"]

_INIT = "__init__"


class SourceTree:
    """Paths that are given are real paths of the machine; paths that are answered are relative to the checkout."""

    def __init__(self, checkout: Checkout, environment: Environment, compiled: Iterable[str] = ()) -> None:
        """`compiled` are patterns of sources that are known to be compiled."""
        self.folder = checkout.real
        self._tracked = checkout.tracked
        self._sources = frozenset(checkout.source_folders)
        self._compiled = tuple(compiled)
        self._extensions = sorted(environment.extension_suffixes, key=len, reverse=True)
        real = dict(zip(environment.sys_path, environment.searched, strict=False))
        named = (environment.prefix, environment.purelib, environment.platlib)
        places = {*named, *(real.get(one, one) for one in named)}
        self._environment = tuple(one for one in places if one != self.folder and is_below(one, self.folder))

    def relative(self, path: str) -> str | None:
        """None where the path is not below the checkout; "" for the checkout itself."""
        return path[len(self.folder) :].strip("/") if is_below(path, self.folder) else None

    def is_environments(self, path: str) -> bool:
        """Whether it lies in the interpreter's own environment, where that lies in the checkout."""
        return any(is_below(path, one) for one in self._environment)

    def is_ours(self, path: str) -> bool:
        return is_below(path, self.folder) and not self.is_environments(path)

    def standing(self, name: str, path: str) -> Standing:
        """What the file that was found for the module `name` is. "tracked", "compiled" and "generated" are the plan's.

        "shadow": it stands beside the tracked source of the same module; "stray": that source is somewhere else in the
        tree, or the file lies where the tree has no modules.
        """
        inner = self.relative(path)
        if inner is None:
            return "elsewhere"
        if inner in self._tracked:
            return "tracked"
        if self.is_environments(path):
            return "environment"
        source = self.shadowed(inner) or self.origin(name)
        extension = self._is_extension(inner)
        if source is not None:
            if extension and self.is_compiled(source):
                return "compiled"
            return "shadow" if self.shadowed(inner) else "stray"
        known = extension or "/" not in inner or is_importable(inner, self._sources, frozenset())
        return "generated" if known else "stray"

    def holds(self, folder: str) -> bool:
        """Whether the planned tree has anything in the folder of a namespace package."""
        inner = self.relative(folder)
        return inner is not None and (inner in self._folders or (not inner and bool(self._tracked)))

    def origin(self, name: str) -> str | None:
        """The tracked source of a module, wherever in the tree its top is; None where there is none."""
        tail = name.replace(".", "/")
        for path in self._modules:
            for end in (f"{tail}.py", f"{tail}/{_INIT}.py"):
                if path == end or path.endswith(f"/{end}"):
                    above = path[: -len(end)].rstrip("/")
                    if not above or f"{above}/{_INIT}.py" not in self._tracked:
                        return path
        return None

    def shadowed(self, path: str) -> str | None:
        """The tracked source that an import passes over for the untracked file at `path` beside it."""
        folder, _, file = path.rpartition("/")
        stem = self._stem(file)
        if stem is None:
            return None
        beside = f"{folder}/{stem}.py".lstrip("/")
        if self._is_extension(path) and beside in self._tracked:
            return beside
        # A package goes before a module of the same name.
        if stem == _INIT and folder and f"{folder}.py" in self._tracked and beside not in self._tracked:
            return f"{folder}.py"
        return None

    def is_sourceless(self, path: str) -> bool:
        """Whether the byte code at `path` is a module of its own: not in a cache, and with no tracked source beside it."""
        file = path.rpartition("/")[2]
        if not file.endswith(".pyc") or path[:-1] in self._tracked:
            return False
        return file[:-4].isidentifier() and is_importable(path, self._sources, frozenset())

    def is_compiled(self, source: str) -> bool:
        return bool(matching(self._compiled, [source]))

    def children(self, folder: str) -> frozenset[str]:
        """The modules and packages that the planned tree has in the folder of a namespace package, by dotted name."""
        inner = self.relative(folder)
        start = f"{inner}/" if inner else ""
        found = set()
        for path in self._modules:
            if path.startswith(start):
                found.add(self._child(start, path[len(start) :].split("/")))
        return frozenset(found - {_INIT})

    def _child(self, start: str, parts: list[str]) -> str:
        for length in range(1, len(parts)):
            if f"{start}{'/'.join(parts[:length])}/{_INIT}.py" in self._tracked:
                return ".".join(parts[:length])
        return ".".join(parts).removesuffix(".py")

    def _stem(self, file: str) -> str | None:
        for suffix in (*self._extensions, ".py", ".pyc"):
            if file.endswith(suffix) and file[: -len(suffix)].isidentifier():
                return file[: -len(suffix)]
        return None

    def _is_extension(self, path: str) -> bool:
        file = path.rpartition("/")[2]
        return any(file.endswith(suffix) and file[: -len(suffix)].isidentifier() for suffix in self._extensions)

    @cached_property
    def _modules(self) -> tuple[str, ...]:
        return tuple(sorted(path for path in self._tracked if path.endswith(".py")))

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self._tracked for folder in _above(path))


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
