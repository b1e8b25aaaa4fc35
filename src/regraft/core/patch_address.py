"""A patch that is given by its web address: `https://host/name.patch#sha256=HEX`.

The checksum is part of the name, so that no list of patches can mean other bytes tomorrow. It is
written as package indexes write theirs (https://peps.python.org/pep-0503/): in the fragment, which no server sees.
"""

import re

from msgspec import Struct

from regraft.core.manifest_shapes import Fault
from regraft.core.objects import Sha256
from regraft.core.patterns import regex

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

SAYS = "https://host/name.patch#sha256=HEX"

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_OWN_HOST = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?"
_PATH = r"/[^\s\\#\x00-\x20\x7f-\x9f]+"

PATTERN = rf"(?:https://{_HOST}|http://{_OWN_HOST}){_PATH}#sha256=[0-9a-f]{{64}}"
"""The same in Python and in ECMA-262."""

_ADDRESS = regex(rf"(?P<url>(?:https://{_HOST}|http://{_OWN_HOST}){_PATH})#sha256=(?P<sha256>[0-9a-f]{{64}})")
_OWN = regex(_OWN_HOST)
_BEGINS = regex(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PINNED = regex(r"[^#]*#sha256=[0-9a-f]{64}")


class PatchAddress(Struct, frozen=True):
    """Where the bytes are, and which they are."""

    url: str
    sha256: Sha256


def is_address(patch: str) -> bool:
    """Whether a patch of the manifest is no path of the project. No path in its normal form holds `//`."""
    return _BEGINS.match(patch) is not None


def parse_address(patch: str) -> PatchAddress:
    """Of one that the manifest's reader took, or that a plan says. Raises ValueError."""
    match = _ADDRESS.fullmatch(patch)
    if match is None:
        raise ValueError(f"{patch[:200]!r} is not {SAYS}")
    return PatchAddress(match["url"], Sha256(match["sha256"]))


def address_fault(patch: str) -> Fault | None:
    """What is wrong with an entry that begins as an address does, and what to do."""
    address, mark, _ = patch.partition("#")
    scheme, _, rest = address.partition("://")
    authority = rest.partition("/")[0]
    if "@" in authority:
        hint = "take them out and revoke them; a patch behind a login is carried as a file"
        return Fault("holds credentials, which everybody who reads this file can use", hint, "credentials-in-url")
    if scheme == "http" and not _OWN.fullmatch(authority):
        return Fault("is plain http", "write https://; http:// is for 127.0.0.1")
    if scheme not in ("https", "http"):
        return Fault(f"has the scheme {scheme!r:.40}", f"write {SAYS}, or the path of a file in the project")
    if re.search(r"[\s\\\x00-\x20\x7f-\x9f]", patch):
        return Fault(
            "holds a blank, a backslash or a control character", "write it as %20, as the browser's address has it"
        )
    if not mark or not _PINNED.fullmatch(patch):
        return Fault(
            "is an address without the checksum of its bytes" if not mark else "has no checksum that can be read",
            "end it with #sha256= and 64 hexadecimal digits in lower case: once you have read the patch,"
            " `curl -fsSL ADDRESS | sha256sum` prints them",
            "no-checksum",
        )
    return None if _ADDRESS.fullmatch(patch) else Fault("has no host, or no path", f"write {SAYS}")


def next_address(url: str, target: str) -> str:
    """Where a server at `url` sends us by `target`, its Location header. Raises ValueError for what is not followed: all but https,
    credentials, and from elsewhere this machine's own servers, which only it may ask. Between those plain http will do.
    """
    from urllib.parse import urljoin, urlsplit  # noqa: PLC0415 - only where something is fetched

    try:
        found = urljoin(url, target)
        parts, before = urlsplit(found), urlsplit(url)
        host, here = parts.hostname, before.hostname in _LOOPBACK
    except ValueError:
        host = None
    if not target or host is None:
        raise ValueError(f"it leads to {target[:200]!r}, which is no address")
    if "@" in parts.netloc:
        raise ValueError("it leads to an address with credentials")
    if host in _LOOPBACK and not here:
        raise ValueError(f"it leads to {target[:200]!r}, which is this machine")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
        raise ValueError(f"it leads to {target[:200]!r}, which is not https")
    return found


def names_of(patch: str) -> tuple[str, ...]:
    """By what a patch may be called: its whole name, and its file name; an address without its checksum too."""
    if not is_address(patch):
        return patch, patch.rpartition("/")[2]
    url = patch.partition("#")[0]
    return patch, url, file_name(patch)


def file_name(patch: str) -> str:
    """The last part of its path: `x.patch` of `patches/x.patch`, and of an address, without its query and its checksum."""
    if not is_address(patch):
        return patch.rpartition("/")[2]
    return patch.partition("#")[0].partition("?")[0].rpartition("/")[2]


def in_short(patch: str) -> str:
    """For people: an address without its checksum, with which nobody can do anything on a line of a table."""
    return patch.partition("#")[0] if is_address(patch) else patch
