"""Where a repository is: the few forms of a git URL, and the repositories beside it on the same server."""

import re

from msgspec import Struct

from regraft.core.globs import matching
from regraft.core.patterns import regex
from regraft.core.refs import Repository

_SCHEME = regex(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/]*)(?P<path>/.*)", re.DOTALL)
_SCP = regex(r"(?P<authority>[^/:]+):(?P<path>.+)", re.DOTALL)
_LAST_TWO = regex(r"(?P<before>|.*[/:])(?P<owner>[^/:]+)/(?P<name>[^/]+?)(?P<suffix>\.git)?/*", re.DOTALL)


class RepositoryUrl(Struct, frozen=True):
    """A URL as it is written, its host in lower case (None for `file:` and a path), and the path on it."""

    text: str
    host: str | None
    path: str

    @property
    def local(self) -> bool:
        """A folder on this machine."""
        return self.host is None

    @property
    def repository(self) -> Repository | None:
        """The last two parts of the path, without `.git`; None where there are no two such parts."""
        match = _LAST_TWO.fullmatch(self.path)
        if match is None or {match["owner"], match["name"]} & {".", ".."}:
            return None
        return Repository(match["owner"], match["name"])

    def beside(self, repository: Repository) -> str | None:
        """The URL of another repository on the same server, or None where this one has no owner and name."""
        own = self.repository
        if own is None:
            return None
        if same_repository(own, repository, self):
            return self.text
        stem = self.text.removesuffix(self.path)
        match = _LAST_TWO.fullmatch(self.path)
        assert match is not None
        return f"{stem}{match['before']}{repository.owner}/{repository.name}{match['suffix'] or ''}"


def parse_repository_url(text: str) -> RepositoryUrl:
    """`https://host/owner/name.git`, `ssh://`, `git://`, `file:///`, `user@host:owner/name`, or a path."""
    if match := _SCHEME.fullmatch(text):
        local = match["scheme"].lower() == "file"
        return RepositoryUrl(text, None if local else _host(match["authority"]), match["path"])
    scp = _SCP.fullmatch(text)
    if scp and "/" not in scp["authority"] and not text.startswith(("/", ".")):
        return RepositoryUrl(text, _host(scp["authority"]), scp["path"])
    return RepositoryUrl(text, None, text)


def public(text: str) -> str:
    """`text` without a password, and without any user name in an HTTP URL (it may be a token)."""
    match = _SCHEME.fullmatch(text)
    if match is None or "@" not in match["authority"]:
        return text
    login, _, rest = match["authority"].rpartition("@")
    user = "" if match["scheme"].lower() in {"http", "https"} else f"{login.partition(':')[0]}@"
    return f"{match['scheme']}://{user}{rest}{match['path']}"


def same_repository(left: Repository, right: Repository, url: RepositoryUrl) -> bool:
    """Forges ignore case in owner and name; a file system does not."""
    return str(left) == str(right) if url.local else str(left).casefold() == str(right).casefold()


def allowed(repository: Repository, patterns: tuple[str, ...], url: RepositoryUrl) -> bool:
    """Whether one of the `owner/name` globs matches; `*` stays within its part, and case counts on a file system only."""
    for pattern in patterns:
        owner, slash, name = pattern.partition("/")
        parts = ((repository.owner, owner), (repository.name, name))
        if slash and all(_matches(value, glob, fold=not url.local) for value, glob in parts):
            return True
    return False


def _matches(value: str, glob: str, *, fold: bool) -> bool:
    return bool(matching((glob.casefold(),), (value.casefold(),)) if fold else matching((glob,), (value,)))


def _host(authority: str) -> str:
    return re.sub(r":[0-9]*$", "", authority.rpartition("@")[2]).lower()
