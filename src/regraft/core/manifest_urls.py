"""Where a dependency's refs may be looked up: what git may be given as a URL, and what is refused before git sees it."""

import re

from regraft.core.manifest_shapes import Fault
from regraft.core.patterns import regex
from regraft.core.spelling import nearest

SCHEMES = ("https", "ssh", "git", "file", "http")

# What the schema can say: no control character, no blank at an end, no leading dash, no helper transport, no user in an HTTP URL.
PATTERN = (
    r"(?!-)(?![A-Za-z0-9+.-]+::)(?!https?://[^/]*@)(?!http://(?!(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?(?:/|$)))"
    r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?"
)
SAYS = "an https, ssh, git or file URL, user@host:path, or a path"

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_USER = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_AUTHORITY = regex(rf"(?:(?P<user>{_USER})@)?(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?")
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SCP = regex(rf"(?:{_USER}@)?[A-Za-z0-9][A-Za-z0-9._-]+:(?P<path>[^:]*)")
_LOOPBACK = regex(r"localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]")
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]|%[01][0-9A-Fa-f]|%7[fF]")
_GITHUB_PAGE = regex(r"(/[^/]+/[^/]+?)(?:\.git)?/.+")


def url_fault(url: str) -> Fault | None:
    """What is wrong with a dependency's URL. No message repeats it: it may hold a credential."""
    if url.startswith("-"):
        return Fault("must not begin with a dash: git would read it as an option")
    if _CONTROL.search(url):
        return Fault("holds a control character")
    if url != url.strip() or not url:
        return Fault("begins or ends with a blank" if url else f"must be {SAYS}, not empty")
    if re.match(r"[A-Za-z0-9+.-]+::", url):
        return Fault("names a helper program of git (`transport::address`), which could run anything", f"write {SAYS}")
    scheme = _SCHEME.fullmatch(url)
    if scheme:
        return _scheme_fault(scheme[1], scheme[2])
    return _local_fault(url)


def _scheme_fault(scheme: str, rest: str) -> Fault | None:
    if scheme not in SCHEMES:
        meant = nearest(scheme.rpartition("+")[2], SCHEMES)
        return Fault(f"has the scheme {scheme!r:.40}", f"write `{meant}://`" if meant else f"write {SAYS}")
    if re.search(r"\s", rest):
        return Fault("holds a blank", "write it as %20")
    authority, slash, path = rest.partition("/")
    if scheme == "file":
        return Fault("names a host", "write file:///path, with three slashes") if authority else _path_part(path)
    if "@" in authority and (scheme != "ssh" or ":" in authority.rpartition("@")[0]):
        return Fault(
            "holds credentials, which everybody who reads this file can use",
            "take them out, revoke them, and name an environment variable in `token-env`",
            "credentials-in-url",
        )
    match = _AUTHORITY.fullmatch(authority)
    if not match or int(match["port"] or 1) not in range(1, 65536):
        return Fault("has no valid host name", f"write {scheme}://host/owner/name")
    if scheme == "http" and not _LOOPBACK.fullmatch(match["host"]):
        return Fault("is plain http, which anybody on the way can change", "write https://; http:// is for 127.0.0.1")
    if not slash or not path.strip("/"):
        return Fault("names a host and no repository", f"write {scheme}://host/owner/name")
    return _page_fault(match["host"], f"/{path}") or _path_part(path)


def _path_part(path: str) -> Fault | None:
    if not path:
        return Fault("names no repository", "write file:///path")
    if "?" in path or "#" in path:
        return Fault("holds a query or a fragment", "write the repository's own URL; the branch goes into `branch`")
    return None


def _page_fault(host: str, path: str) -> Fault | None:
    page = _GITHUB_PAGE.fullmatch(path.rstrip("/"))
    if host.lower() == "github.com" and page:
        return Fault(
            "is a page inside a repository", f"write https://github.com{page[1]!s:.120}; a branch goes into `branch`"
        )
    return None


def _local_fault(url: str) -> Fault | None:
    """user@host:path, or a path. Git takes a colon before the first slash for a host."""
    if ":" in url.partition("/")[0]:
        scp = _SCP.fullmatch(url)
        if scp and scp["path"].strip("/") and not scp["path"].startswith("-"):
            return None
        return Fault("is neither user@host:path nor a path", "write `./` before a path that holds a colon")
    if url.startswith("~"):
        return Fault("begins with `~`, which only a shell expands", "write the whole path")
    if "\\" in url:
        return Fault("holds a backslash", "write the path with `/`")
    return None
