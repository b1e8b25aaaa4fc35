"""Is an installed version the one that the planned source declares? An install that did nothing leaves the old one."""

import tomllib
from collections.abc import Iterator

from regraft.core.findings import Finding, Severity, Witness
from regraft.core.manifest import Baked
from regraft.core.observation import Checkout, Environment, quoted
from regraft.core.patterns import regex
from regraft.core.requirements import normalized
from regraft.core.verdict_environment import effective
from regraft.core.versions import is_same

_TAGGED = regex(rb"(?m:^[ \t]*tag[-_](?:build|date|svn_revision)[ \t]*[=:])")


def judge_declared_versions(
    baked: Baked, found: Checkout, environment: Environment, *, kept: bool
) -> Iterator[Finding]:
    """For the `pyproject.toml` files that were read from the planned tree. What a build computes is not known here."""
    installed = effective(environment)
    named = {normalized(name) for name in baked.distributions}
    texts = dict(found.texts)
    for path, data in found.texts:
        folder, _, file = path.rpartition("/")
        if file != "pyproject.toml" or _TAGGED.search(texts.get(f"{folder}/setup.cfg".lstrip("/"), b"")):
            continue
        declared = declared_version(data)
        one = installed.get(declared[0]) if declared is not None and declared[0] in named else None
        if declared is None or one is None or is_same(one.version, declared[1]):
            continue
        severity: Severity = "warning" if kept else "error"
        message = (
            f"{baked.dependency}: {quoted(one.name)} is installed as {quoted(one.version)}, and the planned source "
            f"declares {quoted(declared[1])}"
        )
        witnesses = (
            Witness(one.metadata, None, f"version {quoted(one.version)}"),
            Witness(f"{baked.path}/{path}", None, f"version {quoted(declared[1])}"),
        )
        fix = "install it again from the checkout"
        yield Finding("stale-version", severity, message, baked.path, witnesses=witnesses, fix=fix)


def declared_version(data: bytes) -> tuple[str, str] | None:
    """(normalized name, version) where a `pyproject.toml` has both as plain text, and the version is not dynamic."""
    try:
        project = tomllib.loads(data.decode("utf-8")).get("project")
    except ValueError:
        return None
    if not isinstance(project, dict):
        return None
    name, version, dynamic = project.get("name"), project.get("version"), project.get("dynamic", [])
    computed = not isinstance(dynamic, list) or "version" in dynamic
    return (normalized(name), version) if isinstance(name, str) and isinstance(version, str) and not computed else None
