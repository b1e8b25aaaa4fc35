"""What the version of a distribution tells about the clone that it was computed in."""

import re
from collections.abc import Iterable

from regraft.core.patterns import regex

# setuptools-scm, versioneer, hatch-vcs and pbr say one of these where no tag is in reach.
_FALLBACK = regex(
    r"0(?:\.0)*(?:\.dev\d+|\.post\d+(?:\.dev\d+)?)?(?:\+.*)?"  # 0.0.0, 0.0.0.dev1+g12ab, 0.0.post1.dev3
    r"|0\.1\.dev\d+\+.*"  # 0.1.dev12+g12ab
    r"|0\+unknown.*",
    re.DOTALL,
)
_FIRST = regex(r"0\.1\.dev\d+")
_COMPUTED = regex(r".*(?:\.dev\d+|\+g[0-9a-f]{4,}.*|\.post\d+\.dev\d+.*)", re.DOTALL)
_TAG = regex(r"(?:.*[-_/])?v?(\d+(?:\.\d+)+.*)")


def is_fallback(version: str, baseline: str | None) -> bool:
    """Whether a version says "no tag was in reach" rather than which version it is.

    `0.1.dev1` alone may be a young project's own; it counts where the baseline's is higher.
    """
    if _FALLBACK.fullmatch(version):
        return True
    return bool(_FIRST.fullmatch(version)) and baseline is not None and is_lower(version, baseline) is True


def is_computed(version: str) -> bool:
    """Whether it was derived from a tag and the commits since."""
    return bool(_COMPUTED.fullmatch(version))


def is_lower(version: str, other: str) -> bool | None:
    """None where one of the two is no version by PEP 440."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - only verify needs it

    try:
        return Version(version) < Version(other)
    except InvalidVersion:
        return None


def is_same(installed: str, declared: str) -> bool:
    """Whether a version that is installed is the one that its source declares; a build may add a local part of its own."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - only verify needs it

    try:
        have, want = Version(installed), Version(declared)
    except InvalidVersion:
        return installed == declared
    return have == want or (want.local is None and Version(have.public) == want)


def newer_tags(version: str, tags: Iterable[str]) -> tuple[str, ...]:
    """The tags that name a version higher than `version`, highest first."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - only verify needs it

    try:
        base = Version(version)
    except InvalidVersion:
        return ()
    found = []
    for tag in tags:
        match = _TAG.fullmatch(tag)
        try:
            named = Version(match[1]) if match else None
        except InvalidVersion:
            continue
        if named is not None and named > base:
            found.append((named, tag))
    return tuple(tag for _, tag in sorted(found, reverse=True))
