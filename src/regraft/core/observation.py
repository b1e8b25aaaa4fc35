"""What was found on a machine: the image's Python environment, and the checkouts. Facts only; `verdict` judges them.

Folders and files are real paths of the machine, which lie below `--root` where that is given. Text that came from the
machine is clean: what is not UTF-8 stands there as an escape.
"""

from typing import Literal

from msgspec import Struct, field

from regraft.core.baseline import Site
from regraft.core.objects import Commit, Sha256, Tree


class Installed(Struct, frozen=True):
    """One record of an installed distribution. Several of one name may be there: the first is the one that is seen."""

    name: str  # normalized (PEP 503)
    version: str
    requires: tuple[str, ...]
    kind: Literal["dist-info", "egg-info", "egg-link"]
    folder: str  # the entry of sys.path that holds the record
    metadata: str
    complete: bool  # False: the record lacks the file that names the version
    editable: str | None  # the folder that an editable install points to
    record: Sha256 | None = None  # of its RECORD, or of its metadata's files where it has none


class PathFile(Struct, frozen=True):
    """A `.pth` file that the interpreter reads at start."""

    path: str
    lines: tuple[str, ...]


class Finder(Struct, frozen=True):
    """A finder that somebody added to sys.meta_path, with its map from module names to folders where it has one."""

    name: str
    mapping: tuple[tuple[str, str], ...]


class Place(Struct, frozen=True):
    """Where one module is. A namespace package has no `file`, and one location for each portion."""

    file: str | None
    locations: tuple[str, ...]
    built_in: bool
    via: str  # the entry of sys.path, or the finder, that leads there

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.file,) if self.file is not None else self.locations


class Portion(Struct, frozen=True):
    """One folder of a namespace package, and the modules and packages in it by their dotted names below the namespace."""

    location: str
    children: tuple[str, ...]
    whole: bool = True  # False: there are more than were listed


class Module(Struct, frozen=True):
    """`effective` is what an import would take, as far as that can be said without running code; `error` says why none."""

    name: str
    effective: Place | None
    error: str | None
    copies: tuple[Place, ...]
    portions: tuple[Portion, ...] = ()  # of a namespace package


class Command(Struct, frozen=True):
    """A console command that a distribution declares."""

    distribution: str
    name: str
    module: str
    exists: bool  # in the environment's folder of scripts
    found: bool  # the module that it calls


class Import(Struct, frozen=True):
    """One import in an interpreter of its own."""

    name: str
    ok: bool
    file: str | None = None
    paths: tuple[str, ...] = ()  # of a package, its __path__
    error: str | None = None  # one line
    missing: str | None = None  # the module that was not there, where that was the reason
    frames: tuple[str, ...] = ()  # "file:line in function", the last ones
    swallowed: tuple[tuple[str, str], ...] = ()  # (what could not be imported on the way, the module that wanted it)

    @property
    def places(self) -> tuple[str, ...]:
        return (self.file,) if self.file is not None else self.paths


class Environment(Struct, frozen=True):
    version: str  # "3.12.3"
    executable: str
    prefix: str
    purelib: str
    platlib: str
    scripts: str
    externally_managed: str | None  # the path of PEP 668's marker
    sys_path: tuple[str, ...]
    searched: tuple[str, ...]  # the real paths of what is on it
    python_path: tuple[str, ...]  # the manifest's, as places of this machine
    absent: tuple[str, ...]  # entries of `python_path` that are not there
    ambient_python_path: str | None  # PYTHONPATH as regraft found it
    markers: dict[str, str]
    distributions: tuple[Installed, ...]  # in the order of sys.path
    left_overs: tuple[str, ...]  # `~name.dist-info`, from an uninstall that did not end
    unread: tuple[str, ...]  # entries of sys.path that could not be looked into, and why
    path_files: tuple[PathFile, ...]
    finders: tuple[Finder, ...]
    modules: dict[str, Module]
    commands: tuple[Command, ...]
    complaints: str  # what the interpreter wrote to stderr at start, bounded
    extension_suffixes: tuple[str, ...] = ()  # of the compiled modules that this interpreter loads
    project: str | None = None  # the real path of the project's own checkout
    site: Site | None = None  # None: not looked at
    ambient_modules: tuple[tuple[str, str], ...] = ()  # (folder of the caller's PYTHONPATH, declared module in it)
    folders: tuple[str, ...] = ()  # of sys.path and of `site`, outside the standard library, there or not; real paths


class Unreadable(Struct, frozen=True):
    """Why something could not be looked at; the fields of an `errors.OutsideError`."""

    code: str
    message: str
    hint: str | None = None


DifferenceKind = Literal["modified", "missing", "type", "mode", "filter", "submodule", "submodule-empty", "unreadable"]
ExtraKind = Literal["left-over", "untracked", "ignored"]
Outcome = Literal["applied", "does-not-apply", "not-tried"]
CheckoutState = Literal["repository", "absent", "no-folder", "no-repository", "dangling", "damaged"]


class Difference(Struct, frozen=True):
    """A tracked path that is not what the tree says. "filter": it is, but for what a filter of git's does to it."""

    path: str
    kind: DifferenceKind
    detail: str
    inside: str = ""  # the outermost submodule that holds it


class Extra(Struct, frozen=True):
    """A file that the tree has not. "left-over": the machine's own HEAD tracks it."""

    path: str
    kind: ExtraKind
    sha256: Sha256 | None = None  # of what a module by its name holds, where it is untracked and can be read


class FoundPatch(Struct, frozen=True):
    """A carried patch, as the project has it now; `sha256` is None where the project has no such file."""

    path: str
    sha256: Sha256 | None
    outcome: Outcome


class Checkout(Struct, frozen=True):
    """One dependency's source tree.

    `judged` says how the content was compared: against each planned entry ("entries"), by the hash of the whole tree
    over the tracked paths ("paths") or over all files that are not ignored ("content"), or not at all ("nothing").
    `tree` is the hash of what is on the disk, in the form that git would store it.
    """

    dependency: str
    path: str  # as the manifest has it
    real: str
    state: CheckoutState
    trouble: str | None = None  # what is wrong with the repository
    head: Commit | None = None
    head_tree: Tree | None = None
    descends: bool | None = None  # HEAD has the planned commit among its ancestors; None: not known, or no question
    shallow: bool = False
    unfinished: tuple[str, ...] = ()  # rebase-merge, index.lock, ...
    credentials: tuple[str, ...] = ()  # keys of the checkout's own configuration that hold a secret; never the values
    judged: Literal["entries", "paths", "content", "nothing"] = "nothing"
    reason: str | None = None  # why it was not judged against each entry
    expected: Tree | None = None  # what the planned commit and patches made here
    tree: Tree | None = None
    differences: tuple[Difference, ...] = ()
    extras: tuple[Extra, ...] = ()
    patches: tuple[FoundPatch, ...] = ()
    touched: tuple[str, ...] = ()  # paths that the carried patches change; that of a submodule ends in /
    source_folders: tuple[
        str, ...
    ] = ()  # folders, those inside submodules too, that hold Python modules; "" is the root
    pointers: tuple[str, ...] = ()  # of Git LFS, with the pointer's text where their content should be
    texts: tuple[tuple[str, bytes], ...] = ()  # (path, content) of what `Wanted.texts` names, from the expected tree
    tracked: frozenset[str] = frozenset()  # the paths that are compared, those inside submodules as well


class CarriedPatch(Struct, frozen=True):
    """A patch as the project has it. `data` is None where it is not to be tried: absent, or not the planned one.

    `strip` and `root` are what the manifest declares of it. `merges`: a three-way merge is good enough.
    """

    path: str
    sha256: Sha256 | None
    data: bytes | None
    strip: int | None = None
    root: str = ""
    merges: bool = False


class Wanted(Struct, frozen=True):
    """What a checkout is compared with: a commit and patches on it, which together make `tree`.

    Without a commit and without a tree it is compared with its own HEAD; with a tree alone, by content.
    `texts` are paths whose content in the expected tree is wanted as well.
    """

    commit: Commit | None
    tree: Tree | None
    patches: tuple[CarriedPatch, ...] = ()
    texts: tuple[str, ...] = ()


class StaleCode(Struct, frozen=True):
    """Byte code that an import would take in place of the source, and that is not this source's."""

    path: str
    why: str


class ByteCode(Struct, frozen=True):
    """The byte code that the interpreter would take for a checkout's tracked sources, compared with those.

    `left` counts the sources beyond the limit, whose byte code was not compared; `trouble` says why nothing was.
    """

    compared: int
    stale: tuple[StaleCode, ...] = ()
    left: int = 0
    trouble: str | None = None


class Observation(Struct, frozen=True):
    """One machine, as one image's manifest describes it. `imports` is empty where the environment is unreadable.

    `byte_code` is by dependency, and empty where nobody asked for it.
    """

    image: str
    environment: Environment | Unreadable
    imports: dict[str, Import]
    checkouts: dict[str, Checkout | Unreadable]
    byte_code: dict[str, ByteCode] = field(default_factory=dict)


def is_below(path: str, folder: str) -> bool:
    """Whether a real path is `folder` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def quoted(text: str, limit: int = 200) -> str:
    """The text as it is where it is harmless in a message, else with escapes, at most `limit` characters."""
    shown = text if text and text.isprintable() and "'" not in text else repr(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
