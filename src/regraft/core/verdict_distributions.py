"""The distributions that the manifest names: are they there, once, from the checkout, and in a version that is one?"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.observation import Environment, Installed, is_below, quoted
from regraft.core.requirements import normalized
from regraft.core.verdict_environment import effective, records_by_name
from regraft.core.versions import is_computed, is_fallback


class Owner(Struct, frozen=True):
    """Whose distributions: a dependency's, or the project's. `folder` is the real path of its checkout, where known.

    `before` holds the versions of the baseline by normalized name; None: not known. `newer_tags` are tags of the
    checkout that are higher than the version and no ancestors of HEAD. `installs`: this run has commands that install
    them, so that they must be there, whatever the image had.
    """

    name: str
    path: str
    distributions: tuple[str, ...]
    folder: str | None
    kept: bool
    before: Mapping[str, str] | None
    newer_tags: tuple[str, ...] = ()
    installs: bool = False
    is_project: bool = False

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        witnesses: tuple[Witness, ...] = (),
        *,
        fix: str | None = None,
    ) -> Finding:
        return Finding(rule, severity, f"{self.name}: {message}", self.path, witnesses=witnesses, fix=fix)


def judge_distributions(owner: Owner, environment: Environment) -> Iterator[Finding]:
    records = records_by_name(environment)
    for declared in owner.distributions:
        name = normalized(declared)
        yield from _links(owner, name, environment)
        found = records.get(name)
        if not found:
            yield _missing(owner, name)
            continue
        yield from _several(owner, name, found)
        yield from _elsewhere(owner, found[0])
        yield from _version(owner, found[0])
        yield from _commands(owner, name, environment)


def _missing(owner: Owner, name: str) -> Finding:
    baked = not owner.installs and owner.before is not None and name not in owner.before
    return owner.finding(
        "distribution-missing",
        "warning" if baked else "error",
        f"the distribution {quoted(name)} is not installed" + (", and was not in the image either" if baked else ""),
        fix="look why the install did not bring it, or take it out of `distributions`"
        if owner.installs
        else "install it, or take it out of `distributions`",
    )


def _links(owner: Owner, name: str, environment: Environment) -> Iterator[Finding]:
    for one in environment.distributions:
        if one.name == name and one.kind == "egg-link" and not _is_ours(owner, one.editable):
            yield owner.finding(
                "distribution-elsewhere",
                "error",
                f"an egg-link of {quoted(name)} points to {quoted(one.editable or '')}, not into the checkout",
                witnesses=(Witness(one.metadata, 1, "the link"),),
                fix="remove the egg-link, and its line in easy-install.pth",
            )


def _several(owner: Owner, name: str, found: Sequence[Installed]) -> Iterator[Finding]:
    """A build leaves an egg-info beside the source, which an editable install has on the search path: no second install."""
    installs = [one for one in found if not _beside_source(owner, one)]
    traces = [one for one in found if _beside_source(owner, one)]
    if len(installs) > 1:
        fix = "uninstall until none is left, then install from the checkout"
        yield owner.finding("several-metadata", "error", *_listed(name, found), fix=fix)
    elif len({one.version for one in found}) > 1:
        assert traces
        fix = "remove what an older build left in the checkout"
        yield owner.finding("several-metadata", "warning", *_listed(name, found), fix=fix)


def _listed(name: str, found: Sequence[Installed]) -> tuple[str, tuple[Witness, ...]]:
    listed = " and ".join(f"{quoted(one.version)} ({quoted(one.metadata)})" for one in found)
    witnesses = tuple(Witness(one.metadata, None, f"version {quoted(one.version)}") for one in found)
    return f"{quoted(name)} is installed {len(found)} times: {listed}; the first is seen", witnesses


def _beside_source(owner: Owner, one: Installed) -> bool:
    return one.kind == "egg-info" and owner.folder is not None and is_below(one.metadata, owner.folder)


def _elsewhere(owner: Owner, one: Installed) -> Iterator[Finding]:
    if not one.complete:
        message = f"the record of {quoted(one.name)} names no version: an install that did not end"
        yield owner.finding("stale-metadata", "error", message, witnesses=(Witness(one.metadata, None, "the record"),))
    if one.editable is not None and not _is_ours(owner, one.editable):
        yield owner.finding(
            "distribution-elsewhere",
            "error",
            f"{quoted(one.name)} {quoted(one.version)} is an editable install of {quoted(one.editable)}, not of the checkout",
            witnesses=(Witness(one.metadata, None, "direct_url.json says so"),),
            fix="install it from the checkout",
        )


def _is_ours(owner: Owner, folder: str | None) -> bool:
    return owner.folder is None or (folder is not None and is_below(folder, owner.folder))


def _version(owner: Owner, one: Installed) -> Iterator[Finding]:
    before = owner.before.get(one.name) if owner.before is not None else None
    witnesses = (Witness(one.metadata, None, f"version {quoted(one.version)}"),)
    if owner.folder is None or owner.is_project:
        return
    if is_fallback(one.version, before):
        old = before is not None and is_fallback(before, None)
        baked = f"; the baked version is {quoted(before)}" if before else ""
        yield owner.finding(
            "fallback-version",
            "warning" if old or owner.kept else "error",
            f"{quoted(one.name)} {quoted(one.version)} is what a build says that finds no tag{baked}",
            witnesses=witnesses,
            fix="fetch the tags, and enough depth to reach the nearest one, then install again",
        )
    elif owner.newer_tags and is_computed(one.version):
        tag = owner.newer_tags[0]
        yield owner.finding(
            "newer-tag-aside",
            "note",
            f"{quoted(one.name)} {quoted(one.version)} derives from an older tag; the newer tag {quoted(tag)} is not an ancestor",
            witnesses=witnesses,
        )


def _commands(owner: Owner, name: str, environment: Environment) -> Iterator[Finding]:
    for command in environment.commands:
        if command.distribution != name:
            continue
        if not command.found:
            yield owner.finding(
                "command-broken",
                "warning" if owner.kept else "error",
                f"the command {quoted(command.name)} calls {quoted(command.module)}, which is not there",
                fix="install again: the metadata is of another version than the source",
            )
        elif not command.exists:
            message = f"the command {quoted(command.name)} is declared, and is not in {quoted(environment.scripts)}"
            yield owner.finding("command-missing", "warning", message, fix="install again")


def installed_versions(environment: Environment, distributions: tuple[str, ...]) -> dict[str, str]:
    """Normalized name -> version, of those among `distributions` that are installed."""
    found = effective(environment)
    names = [normalized(name) for name in distributions]
    return {name: found[name].version for name in names if name in found}
