"""Which requirements of an environment are not met, and which of those were met before."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from regraft.core.baseline import Distribution
from regraft.core.patterns import regex

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_SEPARATORS = regex(r"[-_.]+")


class Violation(Struct, frozen=True):
    """`found` is the version that is there, or None where nothing of that name is."""

    distribution: str
    requirement: str  # normalized text
    needs: str  # the name that is required, normalized
    found: str | None

    @property
    def key(self) -> tuple[str, str]:
        return self.distribution, self.requirement


class Requirements(Struct, frozen=True):
    """`unjudged` are lines that could not be read or compared, as "distribution: line"."""

    violations: tuple[Violation, ...]
    unjudged: tuple[str, ...]


def check(environment: Sequence[Distribution], markers: Mapping[str, str]) -> Requirements:
    """Every requirement of every distribution, with `markers` (PEP 508, without `extra`) of the image's interpreter.

    Extras count where some distribution asks for them: what `lib[email]` adds holds as soon as something requires that.
    """
    unjudged: list[str] = []
    read = {one.name: list(_read(one, unjudged)) for one in environment}
    extras = _extras(read, markers)
    versions = {one.name: one.version for one in environment}
    violations = []
    for name, requirements in read.items():
        for requirement in requirements:
            if not _holds(requirement, extras[name], markers):
                continue
            needs = normalized(requirement.name)
            found = versions.get(needs)
            met = found is not None and _met(requirement, found)
            if met is None:
                unjudged.append(f"{name}: {requirement} with version {found!r:.80}")
            elif not met:
                violations.append(Violation(name, str(requirement), needs, found))
    return Requirements(tuple(dict.fromkeys(violations)), tuple(unjudged))


def newly_violated(now: Iterable[Violation], before: Iterable[Violation]) -> tuple[Violation, ...]:
    """Those that were not violated in the baseline; a version that is wrong in another way is no news."""
    known = {one.key for one in before}
    return tuple(one for one in now if one.key not in known)


def normalized(name: str) -> str:
    """The name by PEP 503."""
    return _SEPARATORS.sub("-", name).lower()


def _read(distribution: Distribution, unjudged: list[str]) -> Iterable["Requirement"]:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - only verify needs it

    for line in distribution.requires:
        try:
            yield Requirement(line)
        except InvalidRequirement:
            unjudged.append(f"{distribution.name}: {line!r:.200}")


def _extras(read: Mapping[str, Sequence["Requirement"]], markers: Mapping[str, str]) -> dict[str, set[str]]:
    """The extras that are asked for, until no requirement adds one."""
    extras: dict[str, set[str]] = {name: set() for name in read}
    waiting = list(read)
    while waiting:
        name = waiting.pop()
        for requirement in read[name]:
            wanted = extras.get(normalized(requirement.name))
            if wanted is None or requirement.extras <= wanted or not _holds(requirement, extras[name], markers):
                continue
            wanted |= requirement.extras
            waiting.append(normalized(requirement.name))
    return extras


def _holds(requirement: "Requirement", extras: Iterable[str], markers: Mapping[str, str]) -> bool:
    if requirement.marker is None:
        return True
    marker = requirement.marker
    return any(marker.evaluate({**markers, "extra": extra}) for extra in ("", *extras))


def _met(requirement: "Requirement", version: str) -> bool | None:
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - only verify needs it

    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return None if str(requirement.specifier) else True
