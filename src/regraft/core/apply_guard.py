"""What an apply changed that it may not: files of distributions and checkouts that the run does not name."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from regraft.core.apply_allowed import Look
from regraft.core.apply_install import shown
from regraft.core.apply_values import Ran
from regraft.core.findings import Finding, Witness
from regraft.core.journal import Subject
from regraft.core.manifest import Image, Manifest
from regraft.core.observation import Environment, is_below, quoted
from regraft.core.plan import Plan
from regraft.core.requirements import normalized
from regraft.core.tree_record import Change, Record, clean, is_at_or_below

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
    "byte code": "is not made from the source beside it, or for another interpreter than the image's",
}


def named_distributions(plan: Plan, manifest: Manifest, image: Image) -> frozenset[str]:
    """The normalized names of what this run may change: the project's, and those of the overridden dependencies."""
    names = [*manifest.distributions]
    for baked in image.baked.values():
        planned = plan.dependencies.get(baked.dependency)
        if planned is not None and planned.action == "override":
            names += baked.distributions
    return frozenset(map(normalized, names))


def owners(look: Look, path: str) -> tuple[str, ...]:
    """The distributions whose record names the path, or whose metadata it is."""
    return tuple(
        dict.fromkeys(
            one.name
            for one in look.environment.distributions
            if is_below(path, one.metadata) or path in look.files.get(one.metadata, ())
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


def replaced(path: str) -> Finding:
    message = "this is not the folder that was here: a command moved it away, or put another one or a link in its place"
    fix = "install from the checkout as it stands, and leave its folder where it is"
    return Finding("folder-replaced", "error", message, clean(path), fix=fix)


def beyond(before: Environment, after: Environment, named: frozenset[str], saved: Sequence[Subject]) -> tuple[str, ...]:
    """A line for each distribution that came, went or changed, is not named, and lies in nothing that was saved.

    What was there, and only came on the path, is none.
    """
    folders = {*before.searched, *before.folders}
    one, other = (
        {
            (found.metadata, found.name, found.version)
            for found in look.distributions
            if found.name not in named and found.folder in folders
        }
        for look in (before, after)
    )
    differing = {metadata: f"{name} {version}" for metadata, name, version in sorted(one ^ other)}
    return tuple(
        f"{clean(metadata)}: the record of {quoted(what)} came, went or changed, and no copy was made of what lies there"
        for metadata, what in differing.items()
        if not any(is_at_or_below(metadata, subject.path) for subject in saved)
    )


def not_compared(count: int, why: str, python: str) -> Finding:
    message = f"byte code of {count} sources that this run may not change came or changed, and could not be compared with them: {why}"
    return Finding(
        "bytecode-not-compared", "error", message, python, fix="let no install command compile what it does not install"
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
