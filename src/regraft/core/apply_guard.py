"""What an apply changed that it may not: files of distributions and checkouts that the run does not name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.apply_install import shown
from regraft.core.apply_values import Ran
from regraft.core.findings import Finding, Witness
from regraft.core.manifest import Image, Manifest
from regraft.core.observation import Environment, Installed, PathFile, is_below
from regraft.core.plan import Plan
from regraft.core.requirements import normalized
from regraft.core.tree_record import Change, Record, clean

SHOWN = 50

_WORDS = {
    "new": "was added",
    "gone": "was removed",
    "type": "became something else",
    "mode": "got other permissions",
    "owner": "got another owner",
    "content": "was rewritten",
    "target": "leads elsewhere",
    "touched": "was written or replaced",
}
_CACHED = re.compile(r"(?P<folder>.*/)?__pycache__/[^/]+\.pyc")


class Allowed(Struct, frozen=True):
    """What this run may change in an environment: whole files, everything below a folder, and lines of `.pth` files."""

    files: frozenset[str]
    folders: tuple[str, ...]
    sources: tuple[str, ...]  # checkouts that a line of a `.pth` file may name

    def has(self, path: str) -> bool:
        return path in self.files or any(is_below(path, folder) for folder in self.folders)


def named_distributions(plan: Plan, manifest: Manifest, image: Image) -> frozenset[str]:
    """The normalized names of what this run may change: the project's, and those of the overridden dependencies."""
    names = [*manifest.distributions]
    for baked in image.baked.values():
        planned = plan.dependencies.get(baked.dependency)
        if planned is not None and planned.action == "override":
            names += baked.distributions
    return frozenset(map(normalized, names))


def allowed(
    named: frozenset[str],
    looks: Sequence[Environment],
    files: Mapping[str, Sequence[str]],
    sources: Sequence[str],
) -> Allowed:
    """`looks` are the environment before and after, `files` the paths of each named record by its metadata path."""
    paths: set[str] = set()
    folders: list[str] = []
    for environment in looks:
        for one in environment.distributions:
            if one.name in named:
                egg = one.metadata.rpartition("/")[0]
                folders.append(egg if egg.endswith(".egg") else one.metadata)
                paths.update(files.get(one.metadata, ()))
        scripts = environment.scripts.rstrip("/")
        for command in environment.commands:
            if command.distribution in named:
                paths.add(f"{scripts}/{command.name}")
    return Allowed(frozenset(paths), tuple(dict.fromkeys(folders)), tuple(sources))


def foreign(changed: Iterable[Change], may: Allowed, before: Environment, after: Environment) -> Iterator[Change]:
    """Those of the changes that nothing allows.

    Byte code in a `__pycache__` is made by any import of a module that lies beside it, and is judged by that module. A
    folder counts by the files in it.
    """
    changes = tuple(changed)
    lines = _other_lines(before.path_files, after.path_files, may.sources)
    for change in changes:
        if may.has(change.path) or _CACHED.fullmatch(change.path) or change.path.endswith("/__pycache__"):
            continue
        if change.path.endswith(".pth") and change.path in lines and not lines[change.path]:
            continue
        yield change


def _other_lines(
    before: Sequence[PathFile], after: Sequence[PathFile], sources: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """For each `.pth` file before and after: the lines that came or went and do not name one of the sources."""
    old, new = ({one.path: set(one.lines) for one in files} for files in (before, after))
    found = {}
    for path in old.keys() | new.keys():
        differing = old.get(path, set()) ^ new.get(path, set())
        wrapped = _WRAPPING if path.endswith("/easy-install.pth") else frozenset()
        lines = [line for line in sorted(differing) if line.strip() and "".join(line.split()) not in wrapped]
        found[path] = tuple(line for line in lines if not _names(line.strip(), sources))
    return found


def _names(line: str, sources: Sequence[str]) -> bool:
    return any(is_below(line.rstrip("/"), source) for source in sources)


# What setuptools before 80 wraps the lines of easy-install.pth in, without blanks: whole lines, since each is run at start.
_WRAPPING = frozenset(
    [
        "importsys;sys.__plen=len(sys.path)",
        "importsys;new=sys.path[sys.__plen:];delsys.path[sys.__plen:];p=getattr(sys,'__egginsert',0);sys.path[p:p]=new;sys.__egginsert=p+len(new)",
    ]
)


def owners(installed: Iterable[Installed], files: Mapping[str, Sequence[str]], path: str) -> tuple[str, ...]:
    """The distributions whose record names the path, or whose metadata it is."""
    return tuple(
        dict.fromkeys(
            one.name for one in installed if is_below(path, one.metadata) or path in files.get(one.metadata, ())
        )
    )


def blame(change: Change, after: Record, ran: Sequence[Ran]) -> str | None:
    """The command during which the kernel noted the change, if its clock and ours were not set meanwhile."""
    entry = after.entries.get(change.path) or after.entries.get(change.path.rpartition("/")[0])
    if entry is None:
        return None
    # The kernel's clock for files lags behind by up to a tick; a command hardly writes in its first one.
    for slack in (0, 10_000_000):
        found = [one for one in ran if one.begin - slack <= entry.ctime_ns <= one.end]
        if found:
            return shown(found[0].argv) if len(found) == 1 else None
    return None


class Foreign(Struct, frozen=True):
    path: str
    kind: str
    owners: tuple[str, ...]
    command: str | None


def environment_findings(found: Sequence[Foreign], python: str) -> Iterator[Finding]:
    """One finding for each distribution that was changed and may not be, and one for files of nobody."""
    by_owner: dict[str, list[Foreign]] = {}
    for one in found:
        for owner in one.owners or ("",):
            by_owner.setdefault(owner, []).append(one)
    for owner, changes in sorted(by_owner.items()):
        what = f"{len(changes)} files of {owner}" if owner else f"{len(changes)} files of no distribution that is named"
        yield Finding(
            "foreign-change",
            "error",
            f"{what} changed, and this run may not change them{_during(changes)}",
            python,
            witnesses=_witnesses(changes),
            fix="install with --no-deps, or name the distribution under `distributions`",
        )


def written(paths: Iterable[str], before: Record, after: Record) -> bool:
    """Whether anything at these paths was written at all, be it with the same content."""

    def stamp(record: Record, path: str) -> tuple[int, int, int] | None:
        entry = record.entries.get(path)
        return (entry.inode, entry.mtime_ns, entry.ctime_ns) if entry else None

    return any(stamp(before, path) != stamp(after, path) for path in paths)


def nothing_installed(dependency: str, path: str, distributions: Iterable[str]) -> Finding:
    names = ", ".join(sorted(distributions))
    message = (
        f"{dependency}: the install commands ended well and installed nothing: the record of {names} is the old one"
    )
    fix = "make the command install again (pip: --force-reinstall; uv: --reinstall-package)"
    return Finding("nothing-installed", "error", message, path, fix=fix)


def checkout_finding(dependency: str, path: str, found: Sequence[Foreign]) -> Finding:
    return Finding(
        "foreign-change",
        "error",
        f"{dependency}: {len(found)} files of a checkout that is kept changed{_during(found)}",
        path,
        witnesses=_witnesses(found),
        fix="a command of another dependency, or the project's own, writes there",
    )


def _during(found: Sequence[Foreign]) -> str:
    commands = dict.fromkeys(one.command for one in found if one.command)
    return f", during {' and '.join(f'`{one}`' for one in commands)}" if commands else ""


def _witnesses(found: Sequence[Foreign]) -> tuple[Witness, ...]:
    listed = [Witness(clean(one.path), None, _WORDS.get(one.kind, one.kind)) for one in found[:SHOWN]]
    rest = len(found) - len(listed)
    return (*listed, Witness("", None, f"and {rest} more")) if rest else tuple(listed)
